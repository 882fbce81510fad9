/* Modules: finds `.entry NAME` in PTX text. A binary image is accepted, but nobody looks into it: any kernel asked for is
 * there and does nothing. */
#define _GNU_SOURCE
#include "module.h"

#include <ctype.h>
#include <stdio.h>

enum { LAZY_LOADING = 2 };

static sim_kernel_kind_t kind_of(const char *name) {
    static const char *const known[] = {"", "sluice_spin", "sluice_stamp", "sluice_fill", "sluice_add"};
    for (int kind = SIM_KERNEL_SPIN; kind <= SIM_KERNEL_ADD; kind++)
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

static bool is_name(char letter) { return isalnum((unsigned char)letter) || letter == '_' || letter == '$'; }

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

/* Without a context the code is there, but its variables are not. */
static CUresult load(CUmodule *result, const void *image, CUcontext context) {
    SIM_REQUIRE(result && image, CUDA_ERROR_INVALID_VALUE);
    bool binary = is_binary(image);
    SIM_REQUIRE(binary || strstr(image, ".version"), CUDA_ERROR_INVALID_IMAGE);
    CUmodule module = calloc(1, sizeof *module);
    SIM_REQUIRE(module, CUDA_ERROR_OUT_OF_MEMORY);
    module->binary = binary;
    for (const char *at = binary ? NULL : image; at && (at = strstr(at, ".entry"));) {
        at += strlen(".entry");
        while (isspace((unsigned char)*at)) at++;
        const char *end = at;
        while (is_name(*end)) end++;
        if (end > at && !add(module, at, (size_t)(end - at))) return unload(module), CUDA_ERROR_OUT_OF_MEMORY;
        at = end;
    }
    CUresult problem = binary || !context ? CUDA_SUCCESS : sim_global_load(module, context, image);
    if (problem) return unload(module), problem;
    *result = module;
    return CUDA_SUCCESS;
}

static CUresult load_file(CUmodule *result, const char *path, CUcontext context) {
    SIM_REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
    FILE *file = fopen(path, "rbe");
    SIM_REQUIRE(file, CUDA_ERROR_FILE_NOT_FOUND);
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', file);
    fclose(file);
    CUresult loaded = length >= 4 ? load(result, text, context) : CUDA_ERROR_INVALID_IMAGE;
    free(text);
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
    SIM_REQUIRE(module->binary, CUDA_ERROR_NOT_FOUND);
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

