/* context: cuInit, and the calls that end a context and free all memory in it at once. */
#include "memory/plain/context.h"

#include "driver/driver.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "memory/deferred.h"
#include "memory/mapped/mapped.h"
#include "memory/plain/linear.h"
#include "memory/look.h"
#include "memory/overhead.h"
#include "memory/pool.h"
#include "memory/promise.h"
#include "real.h"
#include "tenant/tenant.h"

CUresult hook_cuInit(unsigned int Flags) {
    if (!SL_DRIVER_HAS(cuInit))
        return CUDA_ERROR_NO_DEVICE;
    if (sl_tenant_attach() == SL_TENANT_REFUSE)
        return CUDA_ERROR_NOT_PERMITTED;
    sl_context_beginning();
    return real.cuInit(Flags);
}

static bool attached(void) {
    return sl_tenant_attach() == SL_TENANT_ATTACHED;
}

static void leave(CUcontext context) {
    sl_context_leave(context);
    sl_mapped_leave(context);
}

static void left(CUcontext context, bool gone) {
    sl_context_left(context, gone);
    sl_mapped_left(context, gone);
}

static CUresult settle_destroyed(CUresult status, CUcontext context, uint32_t teardown) {
    if (context)
        left(context, status == CUDA_SUCCESS);
    if (status == CUDA_SUCCESS && context && attached()) {
        sl_allocations_drain(context, teardown, sl_linear_refund);
        sl_deferred_end(SL_DEFERRED_ANY, context, NULL);
        sl_pool_refresh_all();
        sl_promise_end_context(context);
    }
    return status;
}

/* Until the end is booked, charged memory may be gone. No look may take that for a fall of the overhead. */
static uint32_t begin_end(void) {
    sl_look_begin_end();
    return sl_allocations_begin_teardown();
}

static CUresult finish(CUresult status) {
    sl_look_end_end();
    if (status == CUDA_SUCCESS && attached())
        sl_overhead_refresh();
    return status;
}

CUresult sl_context_settle_primary(CUresult status, CUdevice device, CUcontext context, uint32_t teardown) {
    int gpu = status == CUDA_SUCCESS && attached() ? sl_gpu_find(device) : SL_GPU_UNCOUNTED;
    if (gpu >= 0)
        sl_pool_end((unsigned)gpu);
    return settle_destroyed(status, context, teardown);
}

#define DESTROY_HOOK(function)                                       \
    CUresult hook_##function(CUcontext ctx) {                        \
        if (!SL_DRIVER_HAS(function))                                \
            return CUDA_ERROR_NOT_FOUND;                             \
        sl_context_ending(ctx);                                      \
        uint32_t teardown = begin_end();                             \
        leave(ctx);                                                  \
        return finish(settle_destroyed(real.function(ctx), ctx, teardown)); \
    }
DESTROY_HOOK(cuCtxDestroy_v2)
DESTROY_HOOK(cuCtxDestroy)

/* Drops one use of the context. The last one ends it. */
CUresult hook_cuCtxDetach(CUcontext ctx) {
    if (!SL_DRIVER_HAS(cuCtxDetach))
        return CUDA_ERROR_NOT_FOUND;
    uint32_t teardown = begin_end();
    leave(ctx);
    CUresult status = real.cuCtxDetach(ctx);
    unsigned int version;
    bool gone = !real.cuCtxGetApiVersion || real.cuCtxGetApiVersion(ctx, &version) != CUDA_SUCCESS;
    if (!gone)
        left(ctx, false);
    return finish(gone ? settle_destroyed(status, ctx, teardown) : status);
}

bool sl_context_primary_active(CUdevice device) {
    unsigned int flags;
    int active = 0;
    return real.cuDevicePrimaryCtxGetState && real.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS &&
           active;
}

/* Only retaining it tells its address. That changes nothing while the context is active. */
static CUcontext primary_context(CUdevice device) {
    CUcontext context = NULL;
    if (!attached() || !sl_context_primary_active(device) || !real.cuDevicePrimaryCtxRetain || !real.cuDevicePrimaryCtxRelease_v2)
        return NULL;
    if (real.cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return NULL;
    real.cuDevicePrimaryCtxRelease_v2(device);
    return context;
}

/* A release ends the context only if it is the last one, which nothing tells before. */
#define PRIMARY_HOOK(function, resets, gone)                                                           \
    CUresult hook_##function(CUdevice dev) {                                                           \
        if (!SL_DRIVER_HAS(function))                                                                  \
            return CUDA_ERROR_NOT_FOUND;                                                               \
        CUcontext context = primary_context(dev);                                                      \
        if (context && resets)                                                                         \
            sl_context_ending(context);                                                                \
        uint32_t teardown = begin_end();                                                               \
        leave(context);                                                                                \
        CUresult status = real.function(dev);                                                          \
        bool ended = gone;                                                                             \
        if (context && !ended)                                                                         \
            left(context, false);                                                                      \
        return finish(context && ended ? sl_context_settle_primary(status, dev, context, teardown) : status); \
    }
PRIMARY_HOOK(cuDevicePrimaryCtxRelease, false, !sl_context_primary_active(dev))
PRIMARY_HOOK(cuDevicePrimaryCtxRelease_v2, false, !sl_context_primary_active(dev))
PRIMARY_HOOK(cuDevicePrimaryCtxReset, true, true)
PRIMARY_HOOK(cuDevicePrimaryCtxReset_v2, true, true)
