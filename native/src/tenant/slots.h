/* slots: which processes take part in a region. */
#ifndef SL_SLOTS_H
#define SL_SLOTS_H

#include <sys/types.h>

#include "tenant/region.h"

typedef struct {
    uint64_t identity;
    uint64_t image;
    uint64_t pid_namespace;
    uint64_t seen_identity; /* by the agent; 0 = it has not said */
    void *sign;             /* of the slot that it has; NULL: none, or the slot is without one */
} sl_slots_owner_t;

/* The process in an owner word. */
#define SL_SLOTS_IDENTITY ((1ull << 62) - 1)

/* The identity of this process; false when /proc does not show it. */
bool sl_slots_self(sl_slots_owner_t *self, sl_reason_t *reason);
/* The number of the slot, or one of these with a reason. */
enum { SL_SLOTS_FULL = -1, SL_SLOTS_TAKEN_BY_A_COPY = -2 };
int sl_slots_claim(const sl_region_t *region, sl_slots_owner_t *self, sl_reason_t *reason);
/* Call this before closing the region of the slot: to other processes, this process is gone. */
void sl_slots_leave(sl_slots_owner_t *self);
/* Empties the slots of dead processes; returns how many. */
unsigned sl_slots_reap(const sl_region_t *region, const sl_slots_owner_t *self);
/* The process in a slot, as the caller's pid namespace numbers it; 0: it is gone or cannot be seen from there. */
pid_t sl_slots_pid(const sl_region_t *region, unsigned number, const sl_slots_owner_t *self);
/* Whether the tenant has ended: its first process and all processes that attached are gone. */
bool sl_slots_ended(const sl_region_t *region);

#endif
