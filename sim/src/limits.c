/* What a context remembers: limits, of which a larger stack takes memory at once, cache and bank preferences. */
#include "sim.h"

enum { LIMIT_STACK_SIZE = 0, LIMIT_DEVICE_SYNC_DEPTH = 3, LIMIT_COUNT = 9 };

CUresult sim_cuCtxGetLimit(size_t *value, CUlimit limit) {
    CUcontext context;
    SIM_REQUIRE(value && limit >= 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(limit != LIMIT_DEVICE_SYNC_DEPTH && limit < LIMIT_COUNT, CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

#define THREADS_PER_SM 2048u
#define STACK_DEFAULT 1024u

/* For every thread that can be resident; as on an H200, where 16 KiB took 4152360960 bytes. The default comes with the context. */
static CUresult set_stack(CUcontext context, size_t value) {
    uint64_t threads = (uint64_t)sim_unit_sms(sim_settings(), sim_device_gpu(context->device)) * THREADS_PER_SM, more = value > STACK_DEFAULT ? value - STACK_DEFAULT : 0;
    SIM_REQUIRE(more <= sim_device_memory(context->device) / threads, CUDA_ERROR_INVALID_VALUE);
    int gpu = sim_device_gpu(context->device);
    uint64_t bytes = more * threads;
    if (bytes > context->stack_bytes) SIM_REQUIRE(sim_state_take(gpu, bytes - context->stack_bytes), CUDA_ERROR_OUT_OF_MEMORY);
    if (bytes < context->stack_bytes) sim_state_give(gpu, context->stack_bytes - bytes);
    context->stack_bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value) {
    CUcontext context;
    SIM_REQUIRE(limit >= 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(limit != LIMIT_DEVICE_SYNC_DEPTH && limit < LIMIT_COUNT, CUDA_ERROR_UNSUPPORTED_LIMIT);
    if (limit == LIMIT_STACK_SIZE) SIM_TRY(set_stack(context, value));
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
