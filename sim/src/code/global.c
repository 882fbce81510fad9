/* Global variables of modules. They lie together in one piece of memory of the context they are loaded in, which is freed with the
 * module or the context. */
#include "code/module.h"

struct sim_global {
    sim_global_t *next;
    CUdeviceptr address;
    size_t bytes;
    char name[];
};

static CUresult add(CUmodule module, const sim_symbol_t *symbol, CUdeviceptr address) {
    size_t length = strlen(symbol->name);
    sim_global_t *global = calloc(1, sizeof *global + length + 1);
    SIM_REQUIRE(global, CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(global->name, symbol->name, length);
    global->bytes = symbol->bytes;
    global->address = address;
    global->next = module->globals;
    module->globals = global;
    return CUDA_SUCCESS;
}

CUresult sim_global_load(CUmodule module, CUcontext context, const sim_image_t *image) {
    size_t values_at = SIM_ROUND(image->empty_bytes, 16u);
    module->context = context;
    module->context_id = context->id;
    SIM_REQUIRE(image->empty_bytes <= 1ull << 44 && image->value_bytes <= 1ull << 44, CUDA_ERROR_OUT_OF_MEMORY);
    if (values_at + image->value_bytes) SIM_TRY(sim_memory_take(context, values_at + image->value_bytes, false, &module->variables));
    for (const sim_symbol_t *symbol = image->first; symbol; symbol = symbol->next)
        if (!symbol->is_kernel) SIM_TRY(add(module, symbol, module->variables + symbol->offset + (symbol->has_value ? values_at : 0)));
    return CUDA_SUCCESS;
}

void sim_global_unload(CUmodule module) {
    bool there = module->context && module->context->alive && module->context->id == module->context_id;
    if (there && module->variables) sim_memory_give(module->variables);
    for (sim_global_t *global = module->globals, *next; global; global = next) {
        next = global->next;
        free(global);
    }
    module->globals = NULL;
    module->variables = 0;
}

CUresult sim_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    SIM_REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    for (const sim_global_t *global = module->globals; global; global = global->next) {
        if (strcmp(global->name, name) != 0) continue;
        if (address) *address = global->address;
        if (bytes) *bytes = global->bytes;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
    return sim_cuModuleGetGlobal_v2(address, bytes, (CUmodule)library, name);
}
