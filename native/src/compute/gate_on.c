/* gate_on: whether calls have to pass the gate at all. */
#define _GNU_SOURCE
#include "compute/gate_on.h"

#include "os/fork.h"
#include "tenant/tenant.h"
#include "trace/nvtx.h"
#include "trace/trace.h"

static const _Atomic uint32_t no_epoch = 1; /* while the process is not attached */
SL_HOT_DATA _Atomic uint32_t sl_gate_off_epoch; /* at first not that of no_epoch, so that the first call decides */
SL_HOT_DATA const _Atomic uint32_t *_Atomic sl_gate_epoch = &no_epoch;

static bool asks_for_compute(const sl_region_limits_t *limits) {
    bool asks = limits->turns != 0 || limits->metered || sl_trace_is_wanted();
    for (int i = 0; i < 16; i++)
        asks |= limits->compute_permille[i] != 0;
    return asks;
}

/* With limits on GPU time every call passes the gate. Without them no call does until the limits change. */
bool sl_gate_decide(void) {
    if (sl_tenant_attach() != SL_TENANT_ATTACHED) {
        atomic_store(&sl_gate_epoch, &no_epoch);
        atomic_store(&sl_gate_off_epoch, no_epoch);
        return false;
    }
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    uint32_t epoch = atomic_load_explicit(&limits->epoch, memory_order_acquire);
    bool on = asks_for_compute(limits);
    if (on)
        sl_nvtx_look();
    atomic_store(&sl_gate_epoch, &limits->epoch);
    atomic_store(&sl_gate_off_epoch, on ? SL_GATE_ON : epoch);
    return on;
}

static void forget(void) {
    atomic_store(&sl_gate_off_epoch, 0);
    atomic_store(&sl_gate_epoch, &no_epoch);
}
SL_FORK_FORGETS(forget);
