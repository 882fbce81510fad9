/* Modules: PTX text and cubins, whose kernels and variables are found. A fat binary is accepted, but not read: every kernel name exists,
 * and the kernel does nothing. */
#define _GNU_SOURCE
#include "code/module.h"

#include <stdio.h>

enum { LAZY_LOADING = 2 };

static sim_kernel_kind_t kind_of(const char *name) {
    static const char *const known[] = {"", "sluice_spin", "sluice_stamp", "sluice_fill", "sluice_add", "sluice_heap", "sluice_print"};
    for (int kind = SIM_KERNEL_SPIN; kind <= SIM_KERNEL_PRINT; kind++)
        if (strcmp(name, known[kind]) == 0) return kind;
    return SIM_KERNEL_UNKNOWN;
}

static CUfunction add(CUmodule module, const char *name, size_t length) {
    CUfunction function = calloc(1, sizeof *function + length + 1);
    if (!function) return NULL;
    memcpy(function->name, name, length);
    function->module = module;
    function->kind = kind_of(function->name);
    function->dynamic_shared_bytes = 49152;
    function->carveout = -1;
    function->next = module->functions;
    return module->functions = function;
}

static bool is_binary(const void *image) {
    static const unsigned char starts[][4] = {{0x7f, 'E', 'L', 'F'}, {0x50, 0xed, 0x55, 0xba}, {0xb1, 0x43, 0x62, 0x46}};
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++)
        if (memcmp(image, starts[i], 4) == 0) return true;
    return false;
}

static void unload(CUmodule module) {
    sim_global_unload(module);
    for (CUfunction function = module->functions, next; function; function = next) {
        next = function->next;
        free(function);
    }
    free(module);
}

static CUresult fill(CUmodule module, const sim_image_t *image, CUcontext context) {
    for (const sim_symbol_t *symbol = image->first; symbol; symbol = symbol->next)
        if (symbol->is_kernel) SIM_REQUIRE(add(module, symbol->name, strlen(symbol->name)), CUDA_ERROR_OUT_OF_MEMORY);
    return context ? sim_global_load(module, context, image) : CUDA_SUCCESS;
}

/* Without a context the code is there, but its variables are not. */
static CUresult load(CUmodule *result, const void *data, CUcontext context) {
    SIM_REQUIRE(result && data, CUDA_ERROR_INVALID_VALUE);
    sim_image_t image = {0};
    bool binary = is_binary(data), cubin = binary && sim_cubin_is_one(data);
    CUresult problem = cubin ? sim_cubin_read(data, &image) : binary ? CUDA_SUCCESS : sim_ptx_read(data, &image);
    CUmodule module = problem ? NULL : calloc(1, sizeof *module);
    if (module) {
        module->unread = binary && !cubin;
        problem = fill(module, &image, context);
        if (problem) unload(module);
    }
    sim_image_drop(&image);
    SIM_REQUIRE(problem || module, CUDA_ERROR_OUT_OF_MEMORY);
    if (!problem) *result = module;
    return problem;
}

/* With a zero behind it, for text. */
CUresult sim_module_read_file(const char *path, char **data, size_t *bytes) {
    SIM_REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
    FILE *file = fopen(path, "rbe");
    SIM_REQUIRE(file, CUDA_ERROR_FILE_NOT_FOUND);
    FILE *copy = open_memstream(data, bytes);
    char part[4096];
    for (size_t length; copy && (length = fread(part, 1, sizeof part, file)) > 0;) fwrite(part, 1, length, copy);
    fclose(file);
    return copy && fclose(copy) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult load_file(CUmodule *result, const char *path, CUcontext context) {
    char *data;
    size_t bytes;
    SIM_TRY(sim_module_read_file(path, &data, &bytes));
    CUresult loaded = bytes >= 4 ? load(result, data, context) : CUDA_ERROR_INVALID_IMAGE;
    free(data);
    return loaded;
}

static CUresult load_in_context(CUmodule *module, const void *image) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    return load(module, image, context);
}

CUresult sim_cuModuleLoadData(CUmodule *module, const void *image) { return load_in_context(module, image); }
CUresult sim_cuModuleLoadFatBinary(CUmodule *module, const void *image) { return load_in_context(module, image); }

CUresult sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, CUjit_option *options, void **values) {
    (void)count, (void)options, (void)values;
    return load_in_context(module, image);
}

CUresult sim_cuModuleLoad(CUmodule *module, const char *path) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    return load_file(module, path, context);
}

CUresult sim_cuModuleUnload(CUmodule module) {
    CUcontext context;
    SIM_REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_context_drain(context));
    unload(module);
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetFunction(CUfunction *result, CUmodule module, const char *name) {
    SIM_REQUIRE(result && name && *name, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    for (CUfunction function = module->functions; function; function = function->next)
        if (strcmp(function->name, name) == 0) return *result = function, CUDA_SUCCESS;
    SIM_REQUIRE(module->unread, CUDA_ERROR_NOT_FOUND);
    *result = add(module, name, strlen(name));
    return *result ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    SIM_REQUIRE(mode, CUDA_ERROR_INVALID_VALUE);
    *mode = LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values, unsigned int count,
                               CUlibraryOption *library_options, void **library_values, unsigned int library_count) {
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    CUcontext context;
    return load((CUmodule *)library, code, sim_context_current(&context) == CUDA_SUCCESS ? context : NULL);
}

CUresult sim_cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values, unsigned int count,
                                   CUlibraryOption *library_options, void **library_values, unsigned int library_count) {
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    CUcontext context;
    return load_file((CUmodule *)library, path, sim_context_current(&context) == CUDA_SUCCESS ? context : NULL);
}

CUresult sim_cuLibraryUnload(CUlibrary library) {
    SIM_REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    unload((CUmodule)library);
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    return sim_cuModuleGetFunction((CUfunction *)kernel, (CUmodule)library, name);
}

CUresult sim_cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    SIM_REQUIRE(module, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}

