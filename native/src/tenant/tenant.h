/* tenant: this process as a part of its tenant. */
#ifndef SL_TENANT_H
#define SL_TENANT_H

#include <stdatomic.h>

#include "driver/entry.h"
#include "tenant/switches/options.h"
#include "tenant/region.h"
#include "tenant/slots.h"

typedef enum {
    SL_TENANT_UNKNOWN,
    SL_TENANT_PASS,   /* no limits wanted, or they cannot be enforced and the user chose to run */
    SL_TENANT_REFUSE, /* they cannot be enforced and the user chose to fail */
    SL_TENANT_ATTACHED,
} sl_tenant_state_t;

typedef struct {
    _Atomic sl_tenant_state_t state;
    sl_region_t region;
    sl_slots_owner_t self;
    unsigned slot;
    char trace_directory[400]; /* where the environment asks to record this process; "": nowhere */
    const sl_options_windows_t *windows; /* of culocker; NULL: its switches are not in use */
} sl_tenant_t;

extern sl_tenant_t sl_tenant;

sl_tenant_state_t sl_tenant_attach_slowly(void);

/* Takes part in the tenant's region from the first hooked call on, and again after a fork. */
static inline sl_tenant_state_t sl_tenant_attach(void) {
    sl_tenant_state_t state = atomic_load_explicit(&sl_tenant.state, memory_order_acquire);
    return SL_UNLIKELY(state == SL_TENANT_UNKNOWN) ? sl_tenant_attach_slowly() : state;
}

/* A hooked call of an attached process, and whether it could be accounted. */
static inline void sl_tenant_count_call(bool accounted) {
    sl_region_slot_t *slot = &sl_tenant.region.slots[sl_tenant.slot];
    atomic_fetch_add_explicit(&slot->calls, 1, memory_order_relaxed);
    if (SL_UNLIKELY(!accounted))
        atomic_fetch_add_explicit(&slot->passed_calls, 1, memory_order_relaxed);
}

/* Called when the process has attached to its tenant: after its first call, and after a fork. A higher room defines it. */
void sl_tenant_attached(void);
/* The environment asks to record this process to a directory; before the process attaches. */
void sl_tenant_trace_to(const char *directory);
/* A limit cannot be enforced although the process is attached: reports it, and returns whether calls must fail. */
bool sl_tenant_must_refuse(const sl_reason_t *reason);

#endif
