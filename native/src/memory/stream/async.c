/* async: stream-ordered allocation and memory pools.
 *
 * The library charges what a pool has reserved, not what a program took from it. So addresses need no entry, and a free goes straight to
 * the driver. While a stream captures, an allocation only becomes a node of a graph. It is forwarded unchanged, and graph.c charges the
 * graph. */
#include "driver/driver.h"
#include "tenant/gpu.h"
#include "memory/closing.h"
#include "memory/deferred.h"
#include "memory/stream/graph.h"
#include "memory/stream/graph_charge.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "driver/stream.h"
#include "memory/pool.h"
#include "memory/pool_take.h"
#include "real.h"
#include "tenant/tenant.h"

enum { LOCATION_DEVICE = 1, TYPE_MANAGED = 2, NOT_CAPTURING = 0 };

/* The driver's functions of the same variant as the hooked call, so that the number of a default stream means the same stream. */
typedef struct {
    CUresult (*is_capturing)(CUstream stream, CUstreamCaptureStatus *status);
    CUresult (*get_device)(CUstream stream, CUdevice *device);
    CUresult (*get_context)(CUstream stream, CUcontext *context);
    CUresult (*free)(CUdeviceptr address, CUstream stream);
    CUresult (*query)(CUstream stream);
} stream_calls_t;

#define STREAM_CALLS(twin)                                                                              \
    (&(stream_calls_t){real.cuStreamIsCapturing##twin, real.cuStreamGetDevice##twin, real.cuStreamGetCtx##twin, \
                       real.cuMemFreeAsync##twin, real.cuStreamQuery##twin})

/* Drivers before CUDA 12.8 tell only the device of the current context. */
static bool device_of_context(CUcontext context, CUdevice *device) {
    if (!real.cuCtxPushCurrent_v2 || !real.cuCtxPopCurrent_v2 || !real.cuCtxGetDevice ||
        real.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return false;
    bool found = real.cuCtxGetDevice(device) == CUDA_SUCCESS;
    real.cuCtxPopCurrent_v2(&context);
    return found;
}

static bool device_of(CUstream stream, const stream_calls_t *calls, CUdevice *device) {
    CUcontext context;
    if (sl_gpu_is_alone())
        return *device = 0, true;
    if (calls->get_device && calls->get_device(stream, device) == CUDA_SUCCESS)
        return true;
    return calls->get_context && calls->get_context(stream, &context) == CUDA_SUCCESS && device_of_context(context, device);
}

/* A pool that the program neither made nor asked for by location belongs to a device. The driver tells which. */
static sl_pool_t *learn(CUmemoryPool handle, CUdevice nearest) {
    int devices = 0;
    CUmemoryPool of_device;
    if (real.cuDeviceGetCount && real.cuDeviceGetDefaultMemPool && real.cuDeviceGetCount(&devices) == CUDA_SUCCESS)
        for (CUdevice device = 0; device < devices; device++)
            if (real.cuDeviceGetDefaultMemPool(&of_device, device) == CUDA_SUCCESS && of_device == handle)
                nearest = device;
    return sl_pool_open(handle, sl_gpu_find(nearest));
}

static sl_pool_t *current_pool(CUdevice device) {
    CUmemoryPool handle;
    unsigned question = sl_pool_question();
    if (!real.cuDeviceGetMemPool || real.cuDeviceGetMemPool(&handle, device) != CUDA_SUCCESS || !handle)
        return NULL;
    sl_pool_t *pool = sl_pool_find(handle);
    if (!pool)
        pool = sl_pool_open(handle, sl_gpu_find(device));
    if (pool)
        sl_pool_answer(device, pool, question);
    return pool;
}

static sl_pool_t *pool_of(CUmemoryPool handle, CUstream stream, const stream_calls_t *calls) {
    CUdevice device = 0;
    sl_pool_t *pool = sl_pool_find(handle);
    if (pool)
        return pool;
    if (!device_of(stream, calls, &device))
        return NULL;
    if (handle)
        return learn(handle, device);
    pool = sl_pool_current(device);
    return pool ? pool : current_pool(device);
}

/* If the driver refuses to describe a stream, it also refuses the allocation, with the right error. */
static bool is_ordinary(CUstream stream, const stream_calls_t *calls) {
    CUstreamCaptureStatus status = NOT_CAPTURING;
    if (atomic_load_explicit(&sl_stream_open_captures, memory_order_acquire) <= 0)
        return true;
    if (calls->is_capturing && calls->is_capturing(stream, &status) != CUDA_SUCCESS)
        return false;
    if (SL_UNLIKELY(status != NOT_CAPTURING))
        sl_graph_note_allocation();
    return status == NOT_CAPTURING;
}

static CUresult allocate(sl_pool_request_t *request, const stream_calls_t *calls) {
    sl_tenant_state_t state = sl_tenant_attach();
    if (state == SL_TENANT_REFUSE)
        return CUDA_ERROR_NOT_PERMITTED;
    if (SL_UNLIKELY(sl_closing_has(request->handle)))
        return CUDA_ERROR_INVALID_VALUE;
    if (state != SL_TENANT_ATTACHED || !request->bytes || !is_ordinary(request->stream, calls))
        return request->allocate(request);
    sl_pool_t *pool = pool_of(request->handle, request->stream, calls);
    int gpu = pool ? pool->gpu : SL_GPU_UNCOUNTED;
    sl_tenant_count_call(gpu >= 0);
    if (gpu < 0)
        return gpu == SL_GPU_REFUSED ? CUDA_ERROR_NOT_PERMITTED : request->allocate(request);
    request->free = calls->free;
    request->query = calls->query;
    return sl_pool_take(pool, pool->handle, request);
}

/* A handle of NULL stands for the pool of the stream's device. */
#define ALLOCATE_HOOK(function, twin, named, parameters, ...)                                             \
    static CUresult ask_##function##twin(const sl_pool_request_t *request) {                               \
        return real.function##twin(__VA_ARGS__);                                                          \
    }                                                                                                     \
    CUresult hook_##function##twin parameters {                                                           \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function##twin)))                                                  \
            return CUDA_ERROR_NOT_FOUND;                                                                  \
        sl_pool_request_t request = {.allocate = ask_##function##twin, .address = dptr, .bytes = bytesize, \
                                     .handle = named, .stream = hStream};                                 \
        return allocate(&request, STREAM_CALLS(twin));                                                    \
    }
#define FROM_DEVICE (CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
#define FROM_POOL (CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
#define DEVICE_NAMES request->address, request->bytes, request->stream
#define POOL_NAMES request->address, request->bytes, request->handle, request->stream
ALLOCATE_HOOK(cuMemAllocAsync, , NULL, FROM_DEVICE, DEVICE_NAMES)
ALLOCATE_HOOK(cuMemAllocAsync, _ptsz, NULL, FROM_DEVICE, DEVICE_NAMES)
ALLOCATE_HOOK(cuMemAllocFromPoolAsync, , pool, FROM_POOL, POOL_NAMES)
ALLOCATE_HOOK(cuMemAllocFromPoolAsync, _ptsz, pool, FROM_POOL, POOL_NAMES)

static bool attached(void) {
    return sl_tenant_attach() == SL_TENANT_ATTACHED;
}

/* Managed memory without a preferred device is charged to the GPU of the current context. */
static int gpu_at(const CUmemLocation *location, CUmemAllocationType type) {
    if (location->type == LOCATION_DEVICE)
        return sl_gpu_find(location->id);
    return type == TYPE_MANAGED && location->type == 0 ? sl_gpu_current() : SL_GPU_UNCOUNTED;
}

/* A known pool, locked; NULL: it is not known. */
static sl_pool_t *lock_known(CUmemoryPool handle) {
    sl_pool_t *pool = attached() ? sl_pool_find(handle) : NULL;
    if (!pool)
        return NULL;
    sl_pool_charge_lock(pool);
    if (pool->open && pool->handle == handle)
        return pool;
    sl_pool_charge_unlock(pool);
    return NULL;
}

/* A pool that went with its context may have had the same handle. */
static sl_pool_t *open_new(CUmemoryPool handle, int gpu) {
    sl_pool_t *old = lock_known(handle);
    if (old) {
        sl_pool_close(old);
        sl_pool_charge_unlock(old);
    }
    return sl_pool_open(handle, gpu);
}

static void open_made(CUmemoryPool handle, const CUmemPoolProps *properties) {
    sl_pool_t *pool = open_new(handle, gpu_at(&properties->location, properties->allocType));
    if (!pool)
        return;
    sl_pool_charge_lock(pool);
    pool->made = true;
    pool->place = properties->location;
    pool->type = properties->allocType;
    sl_pool_charge_unlock(pool);
}

CUresult hook_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
    if (!SL_DRIVER_HAS(cuMemPoolCreate))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemPoolCreate(pool, poolProps);
    if (status == CUDA_SUCCESS && attached())
        open_made(*pool, poolProps);
    return status;
}

/* The process that made an imported pool is charged for its memory, and this process cannot allocate from it. */
CUresult hook_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle, CUmemAllocationHandleType handleType,
                                                 unsigned long long flags) {
    if (!SL_DRIVER_HAS(cuMemPoolImportFromShareableHandle))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemPoolImportFromShareableHandle(pool_out, handle, handleType, flags);
    if (status == CUDA_SUCCESS && attached())
        open_new(*pool_out, SL_GPU_UNCOUNTED);
    return status;
}

#define PLACE_HOOK(function)                                                                                  \
    CUresult hook_##function(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type) {      \
        if (!SL_DRIVER_HAS(function))                                                                         \
            return CUDA_ERROR_NOT_FOUND;                                                                      \
        CUresult status = real.function(pool_out, location, type);                                            \
        if (status == CUDA_SUCCESS && *pool_out && attached() && !sl_pool_find(*pool_out))                    \
            sl_pool_open(*pool_out, gpu_at(location, type));                                                  \
        return status;                                                                                        \
    }
PLACE_HOOK(cuMemGetDefaultMemPool)
PLACE_HOOK(cuMemGetMemPool)

CUresult hook_cuMemPoolDestroy(CUmemoryPool pool) {
    if (!SL_DRIVER_HAS(cuMemPoolDestroy))
        return CUDA_ERROR_NOT_FOUND;
    sl_closing_make_room();
    sl_pool_t *known = lock_known(pool);
    if (!known)
        return real.cuMemPoolDestroy(pool);
    CUresult status = sl_closing_begin(known);
    sl_pool_charge_unlock(known);
    return status;
}

#define CHOOSE_HOOK(function, parameters, ...)                  \
    CUresult hook_##function parameters {                       \
        if (!SL_DRIVER_HAS(function))                           \
            return CUDA_ERROR_NOT_FOUND;                        \
        if (SL_UNLIKELY(sl_closing_has(pool)))                  \
            return CUDA_ERROR_INVALID_VALUE;                    \
        CUresult status = real.function(__VA_ARGS__);           \
        sl_pool_ask_again();                                    \
        return status;                                          \
    }
CHOOSE_HOOK(cuDeviceSetMemPool, (CUdevice dev, CUmemoryPool pool), dev, pool)
CHOOSE_HOOK(cuMemSetMemPool, (CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool), location, type, pool)

#define CHANGE_HOOK(function, parameters, ...)                              \
    CUresult hook_##function parameters {                                   \
        if (!SL_DRIVER_HAS(function))                                       \
            return CUDA_ERROR_NOT_FOUND;                                    \
        if (SL_UNLIKELY(sl_closing_has(pool)))                              \
            return CUDA_ERROR_INVALID_VALUE;                                \
        sl_pool_t *known = lock_known(pool);                                \
        CUresult status = real.function(pool, __VA_ARGS__);                 \
        if (known && known->gpu >= 0)                                       \
            sl_pool_charge_follow(known);                                   \
        if (known)                                                          \
            sl_pool_charge_unlock(known);                                   \
        return status;                                                      \
    }
CHANGE_HOOK(cuMemPoolTrimTo, (CUmemoryPool pool, size_t minBytesToKeep), minBytesToKeep)
CHANGE_HOOK(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value), attr, value)
