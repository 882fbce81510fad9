/* Properties of functions: names, attributes, occupancy as an H200's multiprocessors would allow. */
#include "code/module.h"

enum { THREADS_PER_SM = 2048, BLOCKS_PER_SM = 32, SHARED_PER_SM = 233472, SHARED_RESERVED = 1024, SHARED_MOST = 232448, THREADS_PER_BLOCK = 1024 };
enum { DYNAMIC_SHARED = 8, CARVEOUT = 9, ATTRIBUTES = 16 };

CUresult sim_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    static const int fixed[ATTRIBUTES] = {THREADS_PER_BLOCK, 0, 0, 0, 16, 90, 90};
    SIM_REQUIRE(value && attribute >= 0 && attribute < ATTRIBUTES, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    *value = attribute == DYNAMIC_SHARED ? function->dynamic_shared_bytes : attribute == CARVEOUT ? function->carveout : fixed[attribute];
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    SIM_REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(attribute >= DYNAMIC_SHARED && attribute < ATTRIBUTES, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(attribute != DYNAMIC_SHARED || (value >= 0 && value <= SHARED_MOST), CUDA_ERROR_INVALID_VALUE);
    if (attribute == DYNAMIC_SHARED) function->dynamic_shared_bytes = value;
    if (attribute == CARVEOUT) function->carveout = value;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    return sim_cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult sim_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    return sim_cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult sim_cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    SIM_REQUIRE(config >= 0 && config <= 3, CUDA_ERROR_INVALID_VALUE);
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuFuncGetModule(CUmodule *module, CUfunction function) {
    SIM_REQUIRE(module, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    *module = function->module;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetName(const char **name, CUfunction function) {
    SIM_REQUIRE(name && function, CUDA_ERROR_INVALID_VALUE);
    *name = function->name;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetName(const char **name, CUkernel kernel) { return sim_cuFuncGetName(name, (CUfunction)kernel); }

CUresult sim_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    SIM_REQUIRE(function, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(kernel, CUDA_ERROR_INVALID_HANDLE);
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) { return sim_cuFuncGetModule((CUmodule *)library, (CUfunction)kernel); }

CUresult sim_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    SIM_REQUIRE(state && function, CUDA_ERROR_INVALID_VALUE);
    *state = 1;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncLoad(CUfunction function) { return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size, size_t shared) {
    SIM_REQUIRE(blocks && function && block_size > 0, CUDA_ERROR_INVALID_VALUE);
    int by_threads = block_size > THREADS_PER_BLOCK ? 0 : THREADS_PER_SM / (int)SIM_ROUND((unsigned)block_size, 32u);
    int by_shared = shared > SHARED_MOST ? 0 : (int)(SHARED_PER_SM / (shared + SHARED_RESERVED));
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    if (*blocks > BLOCKS_PER_SM) *blocks = BLOCKS_PER_SM;
    return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_size,
                                                                  size_t shared, unsigned int flags) {
    SIM_REQUIRE(flags <= 1, CUDA_ERROR_INVALID_VALUE);
    return sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared);
}

CUresult sim_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_for,
                                              size_t shared, int limit) {
    SIM_REQUIRE(grid && block && function, CUDA_ERROR_INVALID_VALUE);
    int blocks;
    *block = limit > 0 && limit < THREADS_PER_BLOCK ? limit : THREADS_PER_BLOCK;
    SIM_TRY(sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, *block, shared_for ? shared_for(*block) : shared));
    *grid = blocks * sim_settings()->sms;
    return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                       CUoccupancyB2DSize shared_for, size_t shared, int limit, unsigned int flags) {
    SIM_REQUIRE(flags <= 1, CUDA_ERROR_INVALID_VALUE);
    return sim_cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_for, shared, limit);
}

CUresult sim_cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int block_size) {
    SIM_REQUIRE(bytes && function && blocks > 0 && block_size > 0, CUDA_ERROR_INVALID_VALUE);
    *bytes = (size_t)(SHARED_PER_SM / blocks - SHARED_RESERVED);
    if (*bytes > (size_t)function->dynamic_shared_bytes) *bytes = (size_t)function->dynamic_shared_bytes;
    return CUDA_SUCCESS;
}
