/* wait: calls that wait for the GPU. The gate must know of them, because a waiting thread submits nothing. The ledger must know of
 * them, because the driver frees memory then. */
#include "compute/gate.h"
#include "driver/driver.h"
#include "hooks.h"
#include "memory/deferred.h"
#include "memory/stream/graph_charge.h"
#include "memory/pool.h"
#include "real.h"
#include "tenant/tenant.h"

/* When the program waits, the driver frees memory of a pool above its threshold. */
static void settle_wait(CUresult status, CUcontext context, unsigned launches) {
    if (status != CUDA_SUCCESS || sl_tenant_attach() != SL_TENANT_ATTACHED)
        return;
    sl_pool_refresh_all();
    if (SL_UNLIKELY(launches) && context)
        sl_graph_charge_idle(context, launches);
}

static CUcontext current_context(void) {
    CUcontext context = NULL;
    return real.cuCtxGetCurrent && real.cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : NULL;
}

/* context: all work of this context has ended after the call; NULL: the call waits for some work only. */
#define WAIT_HOOK(function, context, end_deferred, parameters, ...) \
    CUresult hook_##function parameters {                    \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))           \
            return CUDA_ERROR_NOT_FOUND;                     \
        unsigned launches = sl_graph_charge_launches();      \
        uint64_t deferred = sl_deferred_begin();             \
        bool blocked = sl_gate_before_wait();                \
        CUresult status = real.function(__VA_ARGS__);        \
        sl_gate_after_wait(blocked);                         \
        settle_wait(status, launches ? (context) : NULL, launches); \
        if (status == CUDA_SUCCESS)                          \
            end_deferred;                                    \
        return status;                                       \
    }
WAIT_HOOK(cuCtxSynchronize, current_context(), sl_deferred_end(deferred, NULL, NULL), (void), )
WAIT_HOOK(cuCtxSynchronize_v2, ctx, sl_deferred_end(deferred, ctx, NULL), (CUcontext ctx), ctx)
WAIT_HOOK(cuStreamSynchronize, NULL, sl_deferred_end(deferred, NULL, hStream ? hStream : SL_DEFERRED_LEGACY), (CUstream hStream), hStream)
WAIT_HOOK(cuStreamSynchronize_ptsz, NULL, sl_deferred_end(deferred, NULL, hStream ? hStream : SL_DEFERRED_PER_THREAD), (CUstream hStream), hStream)
WAIT_HOOK(cuEventSynchronize, NULL, (void)deferred, (CUevent hEvent), hEvent)
