/* The linker: puts the kernels and variables of several images into one cubin. Code is not translated. */
#define _GNU_SOURCE
#include "code/module.h"

#include <stdio.h>

enum { INPUT_CUBIN = 0, INPUT_PTX = 1, INPUT_COUNT = 6 };

struct CUlinkState_opaque {
    sim_image_t image;
    void *cubin;
};

CUresult sim_cuLinkCreate_v2(unsigned int count, CUjit_option *options, void **values, CUlinkState *result) {
    (void)count, (void)options, (void)values;
    CUcontext context;
    SIM_REQUIRE(result, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    *result = calloc(1, sizeof **result);
    return *result ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Variables of each image get places behind those that came before. */
static CUresult merge(sim_image_t *to, const sim_image_t *from) {
    for (const sim_symbol_t *each = from->first; each; each = each->next) {
        sim_symbol_t *symbol;
        if (!each->is_kernel) SIM_TRY(sim_image_add_variable(to, each->name, strlen(each->name), each->bytes, each->has_value));
        if (!each->is_kernel) continue;
        SIM_TRY(sim_image_add(to, each->name, strlen(each->name), &symbol));
        symbol->is_kernel = true;
    }
    return CUDA_SUCCESS;
}

static CUresult add_ptx(CUlinkState state, const void *data, size_t bytes) {
    char *text = strndup(data, bytes);
    SIM_REQUIRE(text, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult read = strstr(text, ".version") ? sim_ptx_read(text, &state->image) : CUDA_ERROR_INVALID_PTX;
    free(text);
    return read;
}

CUresult sim_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name, unsigned int count,
                              CUjit_option *options, void **values) {
    (void)name, (void)count, (void)options, (void)values;
    SIM_REQUIRE(state && data && bytes && type >= 0 && type < INPUT_COUNT, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!state->cubin, CUDA_ERROR_INVALID_VALUE);
    if (type == INPUT_PTX) return add_ptx(state, data, bytes);
    SIM_REQUIRE(type == INPUT_CUBIN, CUDA_ERROR_NOT_SUPPORTED);
    sim_image_t image = {0};
    CUresult read = bytes > 64 ? sim_cubin_read(data, &image) : CUDA_ERROR_INVALID_IMAGE;
    if (!read) read = merge(&state->image, &image);
    sim_image_drop(&image);
    return read;
}

CUresult sim_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int count, CUjit_option *options, void **values) {
    size_t bytes;
    char *data;
    SIM_TRY(sim_module_read_file(path, &data, &bytes));
    CUresult added = sim_cuLinkAddData_v2(state, type, data, bytes, path, count, options, values);
    free(data);
    return added;
}

CUresult sim_cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes) {
    size_t written = 0;
    SIM_REQUIRE(state && cubin && !state->cubin, CUDA_ERROR_INVALID_VALUE);
    state->cubin = sim_cubin_write(&state->image, &written);
    SIM_REQUIRE(state->cubin, CUDA_ERROR_OUT_OF_MEMORY);
    *cubin = state->cubin;
    if (bytes) *bytes = written;
    return CUDA_SUCCESS;
}

CUresult sim_cuLinkDestroy(CUlinkState state) {
    SIM_REQUIRE(state, CUDA_ERROR_INVALID_VALUE);
    sim_image_drop(&state->image);
    free(state->cubin);
    free(state);
    return CUDA_SUCCESS;
}

CUresult sim_cuLinkCreate(unsigned int count, CUjit_option *options, void **values, CUlinkState *state) {
    return sim_cuLinkCreate_v2(count, options, values, state);
}

CUresult sim_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name, unsigned int count,
                           CUjit_option *options, void **values) {
    return sim_cuLinkAddData_v2(state, type, data, bytes, name, count, options, values);
}

CUresult sim_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int count, CUjit_option *options, void **values) {
    return sim_cuLinkAddFile_v2(state, type, path, count, options, values);
}
