/* What a context remembers and answers without acting on it: limits, cache and bank preferences, peers. */
#include "sim.h"

enum { LIMIT_DEVICE_SYNC_DEPTH = 3, LIMIT_COUNT = 9 };

CUresult sim_cuCtxGetLimit(size_t *value, CUlimit limit) {
    CUcontext context;
    SIM_REQUIRE(value && limit >= 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(limit != LIMIT_DEVICE_SYNC_DEPTH && limit < LIMIT_COUNT, CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value) {
    CUcontext context;
    SIM_REQUIRE(limit >= 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(limit != LIMIT_DEVICE_SYNC_DEPTH && limit < LIMIT_COUNT, CUDA_ERROR_UNSUPPORTED_LIMIT);
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(sim_context_is_known(peer), CUDA_ERROR_INVALID_CONTEXT);
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
