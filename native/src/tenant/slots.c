/* slots: which processes take part in a region: claimed by the living, emptied for the dead.
 *
 * A slot changes hands only through BUSY | identity of who changes it, so that a process that dies meanwhile leaves a
 * word that names it, and the next one finishes the work. An identity never comes back but by execve, so a
 * compare-and-swap of it hits no other process; who has seized a slot looks again whether its owner came back to it. */
#include "tenant/slots.h"

#include <errno.h>
#include <unistd.h>

#include "os/os.h"

#define BUSY (1ull << 63)

bool sl_slots_self(sl_slots_owner_t *self, sl_reason_t *reason) {
    sl_os_process_t process;
    pid_t pid = getpid();
    if (!sl_os_process(pid, &process))
        return sl_report_fail(reason, "cannot read /proc/%d/stat; mount /proc", (int)pid);
    *self = (sl_slots_owner_t){.identity = sl_os_identity(pid, &process), .image = process.image, .pid_namespace = sl_os_pid_namespace()};
    return true;
}

static bool same_namespace(const sl_region_slot_t *slot, const sl_slots_owner_t *self) {
    return !slot->pid_namespace || slot->pid_namespace == self->pid_namespace;
}

static void clear(const sl_region_t *region, unsigned number) {
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++) {
        _Atomic uint64_t *words = (_Atomic uint64_t *)sl_region_account(region, number, gpu);
        for (unsigned i = 0; i < sizeof(sl_region_account_t) / sizeof *words; i++)
            words[i] = 0;
    }
    sl_region_slot_t *slot = &region->slots[number];
    slot->pid_namespace = 0;
    slot->attached_nanos = 0;
    slot->image = 0;
    slot->calls = 0;
    slot->passed_calls = 0;
    slot->limits_page = 0;
    slot->seen_identity = 0;
}

/* From the owner seen to BUSY by us; the slot counts for nothing from here on. */
static bool seize(sl_region_slot_t *slot, uint64_t seen, const sl_slots_owner_t *self) {
    return atomic_compare_exchange_strong(&slot->owner, &seen, BUSY | self->identity);
}

static bool empty(const sl_region_t *region, unsigned number, uint64_t seen, const sl_slots_owner_t *self) {
    sl_region_slot_t *slot = &region->slots[number];
    if (!seize(slot, seen, self))
        return false;
    bool is_back = !(seen & BUSY) && seen != self->identity && sl_os_alive(seen, slot->image);
    if (!is_back)
        clear(region, number);
    uint64_t busy = BUSY | self->identity;
    return atomic_compare_exchange_strong(&slot->owner, &busy, is_back ? seen : 0) && !is_back;
}

unsigned sl_slots_reap(const sl_region_t *region, const sl_slots_owner_t *self) {
    int saved = errno;
    unsigned emptied = 0;
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        sl_region_slot_t *slot = &region->slots[number];
        uint64_t owner = slot->owner, identity = owner & ~BUSY;
        if (!owner || identity == self->identity || !same_namespace(slot, self))
            continue;
        if (!sl_os_alive(identity, owner & BUSY ? 0 : slot->image))
            emptied += empty(region, number, owner, self);
    }
    errno = saved;
    return emptied;
}

pid_t sl_slots_pid(const sl_region_t *region, unsigned number, const sl_slots_owner_t *self) {
    const sl_region_slot_t *slot = &region->slots[number];
    uint64_t owner = slot->owner;
    if (!owner || owner & BUSY || !same_namespace(slot, self) || !sl_os_alive(owner, slot->image))
        return 0;
    return sl_os_pid(owner);
}

bool sl_slots_ended(const sl_region_t *region) {
    sl_slots_owner_t self = {.pid_namespace = sl_os_pid_namespace()};
    if (sl_os_alive(region->header->root_identity, 0))
        return false;
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        const sl_region_slot_t *slot = &region->slots[number];
        uint64_t owner = slot->owner;
        if (owner && (!same_namespace(slot, &self) || sl_os_alive(owner & ~BUSY, 0)))
            return false;
    }
    return true;
}

/* What this very process left in a slot before it called execve. */
static bool empty_own(const sl_region_t *region, const sl_slots_owner_t *self) {
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        sl_region_slot_t *slot = &region->slots[number];
        uint64_t owner = slot->owner;
        if ((owner & ~BUSY) != self->identity || !same_namespace(slot, self))
            continue;
        if (owner == self->identity && slot->image && slot->image == self->image)
            return false;
        empty(region, number, owner, self);
    }
    return true;
}

static int claim_free(const sl_region_t *region, const sl_slots_owner_t *self) {
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        sl_region_slot_t *slot = &region->slots[number];
        if (slot->owner || !seize(slot, 0, self))
            continue;
        clear(region, number);
        slot->pid_namespace = self->pid_namespace;
        slot->attached_nanos = sl_os_wall_nanos();
        slot->image = self->image;
        slot->seen_identity = self->seen_identity;
        uint64_t busy = BUSY | self->identity;
        if (atomic_compare_exchange_strong(&slot->owner, &busy, self->identity))
            return (int)number;
    }
    return SL_SLOTS_FULL;
}

int sl_slots_claim(const sl_region_t *region, const sl_slots_owner_t *self, sl_reason_t *reason) {
    if (!empty_own(region, self)) {
        sl_report_fail(reason, "another copy of Sluice in this process counts already");
        return SL_SLOTS_TAKEN_BY_A_COPY;
    }
    int number = claim_free(region, self);
    if (number < 0 && sl_slots_reap(region, self))
        number = claim_free(region, self);
    if (number < 0)
        sl_report_fail(reason, "tenant %s has %d processes already, which is the most", region->header->tenant,
                       SL_REGION_SLOT_COUNT);
    return number;
}
