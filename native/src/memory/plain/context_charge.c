/* context_charge: the calls that make a context.
 *
 * A context takes memory by itself, half a GiB on an H200. The first context of the tenant on a GPU shows how much, with a quota or
 * without. From then on the library reserves that much before it asks the driver. The charge is in the table of allocations, under the
 * address of the context. So every call that ends the context refunds it. The driver counts the uses of a primary context; this file
 * only asks whether it is active. */
#include "memory/plain/context.h"
#include "driver/driver.h"
#include "driver/nvml.h"
#include "os/fork.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/mapped/mapped.h"
#include "memory/plain/linear.h"
#include "memory/look.h"
#include "memory/overhead.h"
#include "real.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

typedef struct {
    int gpu; /* negative: not accounted */
    bool measured;
    bool alone;      /* no other context was being made at the begin */
    unsigned number; /* among those of this process */
    uint64_t reserved;
    uint64_t used;
    sl_overhead_look_t before;
} making_t;

static atomic_uint begun, under_way;             /* contexts that this process began to make; those that are being measured */
static _Atomic(CUcontext) primaries[SL_GPU_DEVICES]; /* those that were ever retained */

/* Before cuInit, or for a wrong number, the driver returns an error, which says nothing about the GPU. */
static bool is_device(CUdevice device) {
    enum { MAX_THREADS_PER_BLOCK = 1 };
    int value;
    return real.cuDeviceGetAttribute && real.cuDeviceGetAttribute(&value, MAX_THREADS_PER_BLOCK, device) == CUDA_SUCCESS;
}

#define BEING_MEASURED 1u

static void learn(sl_region_gpu_t *gpu, uint64_t bytes) {
    uint64_t known = gpu->context_bytes;
    while ((known <= BEING_MEASURED || bytes < known) && !atomic_compare_exchange_weak(&gpu->context_bytes, &known, bytes))
        ;
}

static void give_up_learning(sl_region_gpu_t *gpu) {
    uint64_t measured = BEING_MEASURED;
    atomic_compare_exchange_strong(&gpu->context_bytes, &measured, 0);
}

/* Every process of the tenant can write the field, so the value is checked. */
static uint64_t learned_bytes(const sl_region_gpu_t *gpu) {
    uint64_t bytes = gpu->context_bytes;
    return bytes > BEING_MEASURED && bytes <= gpu->total_bytes ? bytes : 0;
}

/* Many processes may start at once, and NVML takes milliseconds to load. So only one process looks before its context, and the others
 * find its result when they have their contexts. A process that finds none uses its own figure, which was 0 before. */
static void begin_measuring(making_t *making, unsigned gpu) {
    uint64_t unknown = 0;
    making->measured = true;
    making->alone = under_way++ == 0;
    bool first = atomic_compare_exchange_strong(&sl_tenant.region.gpus[gpu].context_bytes, &unknown, BEING_MEASURED);
    if (first || making->number > 1)
        making->before = sl_overhead_look(gpu);
    else
        making->before = (sl_overhead_look_t){.gpu = gpu, .process_known = true};
}

/* Without NVML the context would not be counted. If on-error is run, the first look that finds enough free descriptors books it as
 * overhead: at the first allocation after 100 ms or more. */
static CUresult check_that_nvml_opens(void) {
    static const char problem[] = "the process has no file descriptors left for NVML, so its context on the GPU cannot be counted";
    if (!sl_nvml_lacks_descriptors())
        return CUDA_SUCCESS;
    if (sl_tenant.region.header->on_error == 0) {
        sl_report(SL_WARN, "%s until some are free; raise ulimit -n", problem);
        return CUDA_SUCCESS;
    }
    sl_report(SL_ERROR, "%s; raise ulimit -n. CUDA calls fail, because on-error is fail", problem);
    return CUDA_ERROR_NOT_PERMITTED;
}

static CUresult prepare(making_t *making, CUdevice device) {
    *making = (making_t){.gpu = SL_GPU_UNCOUNTED};
    sl_tenant_state_t state = sl_tenant_attach();
    if (state != SL_TENANT_ATTACHED)
        return state == SL_TENANT_REFUSE ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    sl_context_making();
    making->gpu = is_device(device) ? sl_gpu_find(device) : SL_GPU_UNCOUNTED;
    sl_tenant_count_call(making->gpu >= 0);
    if (making->gpu < 0)
        return making->gpu == SL_GPU_REFUSED ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    unsigned gpu = (unsigned)making->gpu;
    making->number = ++begun;
    uint64_t bytes = learned_bytes(&sl_tenant.region.gpus[gpu]);
    if (bytes) {
        making->used = sl_ledger_reserve(gpu, bytes);
        making->reserved = making->used ? bytes : 0;
        if (!making->used)
            sl_ledger_refuse(gpu, bytes);
        return making->used ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult status = sl_accounts_limit(gpu) ? check_that_nvml_opens() : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        begin_measuring(making, gpu);
    return status;
}

/* The first context of the tenant on this GPU shows how much a context takes. False: the quota does not allow it. */
static bool measure(making_t *making) {
    unsigned gpu = (unsigned)making->gpu;
    sl_region_gpu_t *entry = &sl_tenant.region.gpus[gpu];
    uint64_t bytes = learned_bytes(entry);
    if (!bytes) {
        bytes = sl_overhead_growth(&making->before);
        if (!making->alone || begun != making->number)
            bytes = 0; /* a look books as overhead what the context took */
        if (bytes)
            learn(entry, bytes);
        else
            give_up_learning(entry);
    }
    under_way--;
    if (!bytes)
        return true;
    making->used = sl_ledger_reserve(gpu, bytes);
    making->reserved = making->used ? bytes : 0;
    if (!making->used)
        sl_ledger_refuse(gpu, bytes);
    return making->used != 0;
}

static void book(const making_t *making, CUcontext context) {
    unsigned gpu = (unsigned)making->gpu;
    sl_allocation_t charge = {.address = (uintptr_t)context, .bytes = making->reserved, .context = context,
                              .gpu = (uint8_t)gpu, .kind = SL_CONTEXT};
    if (sl_linear_keep(charge))
        sl_ledger_commit(gpu, SL_USE_CONTEXT, making->reserved, making->used);
    else
        sl_ledger_cancel(gpu, making->reserved);
}

/* False: the caller must undo the call. */
static bool settle(making_t *making, CUresult status, CUcontext context) {
    if (status == CUDA_SUCCESS)
        sl_context_made(context);
    if (making->gpu < 0)
        return true;
    unsigned gpu = (unsigned)making->gpu;
    if (status != CUDA_SUCCESS) {
        if (making->reserved)
            sl_ledger_cancel(gpu, making->reserved);
        if (making->measured) {
            give_up_learning(&sl_tenant.region.gpus[gpu]);
            under_way--;
        }
        return true;
    }
    if (making->measured && !measure(making))
        return false;
    if (making->reserved)
        book(making, context);
    sl_overhead_watch(gpu);
    if (making->measured && !making->reserved)
        sl_overhead_came_back(gpu);
    sl_context_counted(gpu);
    return true;
}

static CUresult undo(CUresult (*end)(CUcontext), CUcontext *context) {
    if (end)
        end(*context);
    *context = NULL;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

#define CREATE_HOOK(function, result, device, parameters, ...)                                  \
    CUresult hook_##function parameters {                                                       \
        if (!SL_DRIVER_HAS(function))                                                           \
            return CUDA_ERROR_NOT_FOUND;                                                        \
        making_t making;                                                                    \
        CUresult status = prepare(&making, device);                                           \
        if (status != CUDA_SUCCESS)                                                             \
            return status;                                                                      \
        status = real.function(__VA_ARGS__);                                                    \
        bool done = settle(&making, status, status == CUDA_SUCCESS ? *result : NULL);         \
        return done ? status : undo(real.cuCtxDestroy_v2, result);                              \
    }
CREATE_HOOK(cuCtxCreate, pctx, dev, (CUcontext *pctx, unsigned int flags, CUdevice dev), pctx, flags, dev)
CREATE_HOOK(cuCtxCreate_v2, pctx, dev, (CUcontext *pctx, unsigned int flags, CUdevice dev), pctx, flags, dev)
CREATE_HOOK(cuCtxCreate_v3, pctx, dev,
            (CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags, CUdevice dev),
            pctx, paramsArray, numParams, flags, dev)
CREATE_HOOK(cuCtxCreate_v4, pctx, dev,
            (CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev),
            pctx, ctxCreateParams, flags, dev)
CREATE_HOOK(cuGLCtxCreate, pCtx, device, (CUcontext *pCtx, unsigned int Flags, CUdevice device), pCtx, Flags, device)
CREATE_HOOK(cuGLCtxCreate_v2, pCtx, device, (CUcontext *pCtx, unsigned int Flags, CUdevice device), pCtx, Flags, device)
#define VDPAU_PARAMETERS                                                      \
    (CUcontext *pCtx, unsigned int flags, CUdevice device, VdpDevice vdpDevice, \
     VdpGetProcAddress *vdpGetProcAddress)
CREATE_HOOK(cuVDPAUCtxCreate, pCtx, device, VDPAU_PARAMETERS, pCtx, flags, device, vdpDevice, vdpGetProcAddress)
CREATE_HOOK(cuVDPAUCtxCreate_v2, pCtx, device, VDPAU_PARAMETERS, pCtx, flags, device, vdpDevice, vdpGetProcAddress)

CUresult hook_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    if (!SL_DRIVER_HAS(cuDevicePrimaryCtxRetain))
        return CUDA_ERROR_NOT_FOUND;
    making_t making = {.gpu = SL_GPU_UNCOUNTED};
    CUresult status = sl_tenant_attach() == SL_TENANT_ATTACHED && sl_context_primary_active(dev) ? CUDA_SUCCESS : prepare(&making, dev);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuDevicePrimaryCtxRetain(pctx, dev);
    if (status == CUDA_SUCCESS && dev >= 0 && dev < SL_GPU_DEVICES)
        primaries[dev] = *pctx;
    if (settle(&making, status, status == CUDA_SUCCESS ? *pctx : NULL))
        return status;
    if (real.cuDevicePrimaryCtxRelease_v2)
        real.cuDevicePrimaryCtxRelease_v2(dev);
    return undo(NULL, pctx);
}

/* A green context retains the primary context. The library makes the primary context first, to see what the green context itself
 * takes. That is not known before, so it is booked as overhead. */
CUresult hook_cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags) {
    if (!SL_DRIVER_HAS(cuGreenCtxCreate))
        return CUDA_ERROR_NOT_FOUND;
    CUcontext primary;
    bool accounted = sl_tenant_attach() == SL_TENANT_ATTACHED && is_device(dev), raised = accounted && !sl_context_primary_active(dev);
    CUresult status = raised ? hook_cuDevicePrimaryCtxRetain(&primary, dev) : CUDA_SUCCESS;
    if (status != CUDA_SUCCESS)
        return status;
    sl_overhead_call_t call;
    sl_overhead_begin(&call, accounted ? sl_gpu_find(dev) : SL_GPU_UNCOUNTED, 0, false);
    status = real.cuGreenCtxCreate(phCtx, desc, dev, flags);
    if (!sl_overhead_end(&call, true) && status == CUDA_SUCCESS && real.cuGreenCtxDestroy) {
        real.cuGreenCtxDestroy(*phCtx);
        *phCtx = NULL;
        sl_overhead_refuse(&call);
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (raised)
        hook_cuDevicePrimaryCtxRelease_v2(dev);
    return status;
}

CUresult hook_cuGreenCtxDestroy(CUgreenCtx hCtx) {
    if (!SL_DRIVER_HAS(cuGreenCtxDestroy))
        return CUDA_ERROR_NOT_FOUND;
    sl_overhead_call_t call;
    sl_overhead_begin(&call, sl_tenant_attach() == SL_TENANT_ATTACHED ? SL_OVERHEAD_ALL : SL_GPU_UNCOUNTED, 0, false);
    sl_look_begin_end();
    uint32_t teardown = sl_allocations_begin_teardown();
    CUcontext context = NULL;
    if (sl_mapped_is_on() && (!real.cuCtxFromGreenCtx || real.cuCtxFromGreenCtx(&context, hCtx) != CUDA_SUCCESS))
        context = NULL;
    CUresult status = real.cuGreenCtxDestroy(hCtx);
    if (status == CUDA_SUCCESS)
        sl_mapped_lose_context(context);
    for (CUdevice device = 0; sl_tenant_attach() == SL_TENANT_ATTACHED && status == CUDA_SUCCESS && device < SL_GPU_DEVICES; device++)
        if (primaries[device] && !sl_context_primary_active(device))
            sl_context_settle_primary(status, device, primaries[device], teardown);
    sl_look_end_end();
    sl_overhead_end(&call, true);
    return status;
}

CUresult hook_cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx) {
    if (!SL_DRIVER_HAS(cuCtxFromGreenCtx))
        return CUDA_ERROR_NOT_FOUND;
    sl_overhead_call_t call;
    sl_overhead_begin(&call, sl_tenant_attach() == SL_TENANT_ATTACHED ? SL_OVERHEAD_ALL : SL_GPU_UNCOUNTED, 0, false);
    CUresult status = real.cuCtxFromGreenCtx(pContext, hCtx);
    sl_overhead_end(&call, true); /* the green context may stay, so there is nothing to undo */
    return status;
}

/* The child of a fork has no contexts. */
static void forget(void) {
    begun = under_way = 0;
    for (CUdevice device = 0; device < SL_GPU_DEVICES; device++)
        primaries[device] = NULL;
}
SL_FORK_FORGETS(forget);
