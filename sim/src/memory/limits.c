/* Settings of a context: limits, and cache and bank preferences. A larger stack takes memory at once, the malloc heap when a kernel first
 * needs it. As on an H200 the printf buffer takes no memory of the GPU. */
#include "code/module.h"

enum { LIMIT_STACK_SIZE = 0, LIMIT_PRINTF = 1, LIMIT_HEAP = 2, LIMIT_DEVICE_SYNC_DEPTH = 3, LIMIT_COUNT = 9 };

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

/* On an H200 it takes a block more than its limit says. */
static CUresult need_heap(CUcontext context) {
    uint64_t limit = context->limits[LIMIT_HEAP], bytes = SIM_ROUND(limit, SIM_BLOCK) + SIM_BLOCK;
    if (context->heap_bytes) return CUDA_SUCCESS;
    SIM_REQUIRE(limit <= 1ull << 44 && sim_state_take(sim_device_gpu(context->device), bytes), CUDA_ERROR_OUT_OF_MEMORY);
    context->heap_bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult sim_limits_prepare(CUcontext context, const sim_work_t *work) {
    if (work->kind != SIM_WORK_KERNEL) return CUDA_SUCCESS;
    if (work->kernel.function->kind == SIM_KERNEL_PRINT) context->has_printed = true;
    return work->kernel.function->kind == SIM_KERNEL_HEAP ? need_heap(context) : CUDA_SUCCESS;
}

void sim_limits_drop(CUcontext context) {
    sim_state_give(sim_device_gpu(context->device), context->stack_bytes + context->heap_bytes);
    context->stack_bytes = context->heap_bytes = 0;
}

/* The heap and the buffer keep the size that they have when they are first used. */
CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value) {
    CUcontext context;
    SIM_REQUIRE(limit >= 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(limit != LIMIT_DEVICE_SYNC_DEPTH && limit < LIMIT_COUNT, CUDA_ERROR_UNSUPPORTED_LIMIT);
    if (limit == LIMIT_STACK_SIZE) SIM_TRY(set_stack(context, value));
    if (limit == LIMIT_HEAP) SIM_REQUIRE(!context->heap_bytes, CUDA_ERROR_INVALID_VALUE);
    if (limit == LIMIT_PRINTF) SIM_REQUIRE(!context->has_printed, CUDA_ERROR_INVALID_VALUE);
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
