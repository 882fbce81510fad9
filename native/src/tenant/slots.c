/* slots: which processes take part in a region. Living processes claim slots; slots of dead processes are emptied.
 *
 * A process that has or changes a slot holds the slot's sign (life.h), and sets SIGNED in the word that names it. The sign shows every
 * process, in any pid namespace, whether the writer of that word lives. It also keeps other processes from changing the slot. If a
 * process can take no sign, only a process of the same namespace can see by /proc whether it lives.
 *
 * A slot changes its owner only through BUSY | identity of the process that changes it. If that process dies before it is done, the word
 * names it, and the next process finishes the work. Without a sign, an identity may come back by execve. So a process that has seized a
 * slot checks again whether the owner came back to it. */
#include "tenant/slots.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "os/life.h"
#include "os/os.h"

#define BUSY (1ull << 63)
#define SIGNED (1ull << 62)
#define IDENTITY SL_SLOTS_IDENTITY
#define ATTACH_NANOS 600000000000ull /* a tenant's first process attaches within this time */

/* A look at the slots of one region. */
typedef struct {
    const sl_region_t *region;
    const sl_slots_owner_t *self;
    int fd; /* of the region's file */
} look_t;

static look_t begin_look(const sl_region_t *region, const sl_slots_owner_t *self) {
    return (look_t){region, self, sl_region_borrow(region)};
}

static void end_look(const look_t *look) {
    sl_region_return(look->region, look->fd);
}

bool sl_slots_self(sl_slots_owner_t *self, sl_reason_t *reason) {
    sl_os_process_t process;
    if (!sl_os_process(0, &process))
        return sl_report_fail(reason, "cannot read /proc/self/stat; mount /proc");
    *self = (sl_slots_owner_t){.identity = sl_os_identity(getpid(), &process) & IDENTITY, .image = sl_os_image(&process),
                               .pid_namespace = sl_os_pid_namespace()};
    return true;
}

static uint64_t sign_place(unsigned number) {
    return SL_REGION_SLOT_OFFSET + number * sizeof(sl_region_slot_t);
}

static bool same_namespace(const sl_region_slot_t *slot, const sl_slots_owner_t *self) {
    uint64_t namespace = slot->pid_namespace;
    return !namespace || namespace == self->pid_namespace;
}

static bool is_self(const sl_region_slot_t *slot, uint64_t owner, const sl_slots_owner_t *self) {
    return (owner & IDENTITY) == self->identity && same_namespace(slot, self);
}

/* Whether the process that wrote the owner word lives. A killed process loses its sign some time before its files and its memory on the
 * GPU. If it is visible here, it counts until its memory is gone. */
static bool lives(const look_t *look, unsigned number, uint64_t owner) {
    const sl_region_slot_t *slot = &look->region->slots[number];
    sl_life_t life = owner & SIGNED ? sl_life_of(look->fd, sign_place(number)) : SL_LIFE_UNKNOWN;
    if (life == SL_LIFE_ALIVE)
        return true;
    bool visible = same_namespace(slot, look->self);
    if (life == SL_LIFE_ENDED)
        return visible && sl_os_is_ending(owner & IDENTITY);
    return !visible || sl_os_alive(owner & IDENTITY, owner & BUSY ? 0 : slot->image);
}

static void clear(const sl_region_t *region, unsigned number) {
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        sl_region_clear_account(sl_region_account(region, number, gpu));
    sl_region_clear_pause(&region->pauses[number]);
    sl_region_slot_t *slot = &region->slots[number];
    slot->pid_namespace = 0;
    slot->attached_nanos = 0;
    slot->image = 0;
    slot->calls = 0;
    slot->passed_calls = 0;
    slot->limits_page = 0;
    slot->seen_identity = 0;
    slot->answer = 0;
    slot->features = 0;
    slot->slices = slot->slice_micros = 0;
    slot->stored_nanos = 0;
    memset(slot->unused_bytes, 0, sizeof slot->unused_bytes); /* fields of later versions */
}

/* Changes the owner word from the owner that this process saw to BUSY, with the sign where there are signs. From here on the
 * slot counts for nothing. Returns the word that is there now; 0: another process is changing the slot. */
static uint64_t seize(const look_t *look, unsigned number, uint64_t seen, void **sign) {
    *sign = sl_life_begin(look->fd, sign_place(number));
    if (!*sign && sl_life_of(look->fd, sign_place(number)) == SL_LIFE_ALIVE)
        return 0;
    uint64_t busy = BUSY | (*sign ? SIGNED : 0) | look->self->identity;
    if (atomic_compare_exchange_strong(&look->region->slots[number].owner, &seen, busy))
        return busy;
    sl_life_end(*sign);
    return 0;
}

static bool empty(const look_t *look, unsigned number, uint64_t seen) {
    sl_region_slot_t *slot = &look->region->slots[number];
    void *sign;
    uint64_t busy = seize(look, number, seen, &sign);
    if (!busy)
        return false;
    bool judged = seen & (BUSY | SIGNED) || is_self(slot, seen, look->self);
    bool is_back = !judged && same_namespace(slot, look->self) && sl_os_alive(seen, slot->image);
    if (!is_back)
        clear(look->region, number);
    bool emptied = atomic_compare_exchange_strong(&slot->owner, &busy, is_back ? seen : 0) && !is_back;
    sl_life_end(sign);
    return emptied;
}

unsigned sl_slots_reap(const sl_region_t *region, const sl_slots_owner_t *self) {
    int saved = errno;
    unsigned emptied = 0;
    look_t look = begin_look(region, self);
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        const sl_region_slot_t *slot = &region->slots[number];
        uint64_t owner = slot->owner;
        if (owner && !is_self(slot, owner, self) && !lives(&look, number, owner))
            emptied += empty(&look, number, owner);
    }
    end_look(&look);
    errno = saved;
    return emptied;
}

pid_t sl_slots_pid(const sl_region_t *region, unsigned number, const sl_slots_owner_t *self) {
    const sl_region_slot_t *slot = &region->slots[number];
    uint64_t owner = slot->owner;
    if (!owner || owner & BUSY || !same_namespace(slot, self) || !sl_os_alive(owner & IDENTITY, slot->image))
        return 0;
    return sl_os_pid(owner & IDENTITY);
}

/* This process cannot know whether a process of another namespace lives. Such a tenant lives by its slots alone, once it has had a slot. */
static bool root_lives(const sl_region_t *region, const sl_slots_owner_t *self) {
    uint64_t namespace = region->header->pid_namespace, created = region->header->created_nanos, now = sl_os_wall_nanos();
    if (!namespace || namespace == self->pid_namespace)
        return sl_os_alive(region->header->root_identity, 0);
    bool used = region->gpus[0].owner != 0;
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++)
        used |= region->slots[number].owner != 0;
    return !used && created <= now && now - created < ATTACH_NANOS;
}

bool sl_slots_ended(const sl_region_t *region) {
    sl_slots_owner_t self = {.pid_namespace = sl_os_pid_namespace()};
    if (root_lives(region, &self))
        return false;
    look_t look = begin_look(region, &self);
    bool ended = true;
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT && ended; number++) {
        uint64_t owner = region->slots[number].owner;
        ended = !owner || !lives(&look, number, owner);
    }
    end_look(&look);
    return ended;
}

/* The sign belongs to a copy of the library in this process: it has the random bytes that the kernel gave to this image. */
static bool is_of_a_copy(const look_t *look, unsigned number, uint64_t owner) {
    bool same = !(owner & BUSY) && look->region->slots[number].image == look->self->image;
    return same && (!(owner & SIGNED) || sl_life_of(look->fd, sign_place(number)) != SL_LIFE_ENDED);
}

/* What this process left before it called execve, or what a process of the same pid and clock tick left. */
static bool empty_own(const look_t *look) {
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        const sl_region_slot_t *slot = &look->region->slots[number];
        uint64_t owner = slot->owner;
        if (!owner || !is_self(slot, owner, look->self))
            continue;
        if (is_of_a_copy(look, number, owner))
            return false;
        empty(look, number, owner);
    }
    return true;
}

static int claim_free(const look_t *look, sl_slots_owner_t *self) {
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        sl_region_slot_t *slot = &look->region->slots[number];
        void *sign;
        uint64_t busy = slot->owner ? 0 : seize(look, number, 0, &sign);
        if (!busy)
            continue;
        clear(look->region, number);
        slot->pid_namespace = self->pid_namespace;
        slot->attached_nanos = sl_os_wall_nanos();
        slot->image = self->image;
        slot->seen_identity = self->seen_identity;
        slot->features = SL_REGION_FEATURES;
        if (atomic_compare_exchange_strong(&slot->owner, &busy, busy & ~BUSY)) {
            self->sign = sign;
            return (int)number;
        }
        sl_life_end(sign);
    }
    return SL_SLOTS_FULL;
}

int sl_slots_claim(const sl_region_t *region, sl_slots_owner_t *self, sl_reason_t *reason) {
    look_t look = begin_look(region, self);
    int number = empty_own(&look) ? claim_free(&look, self) : SL_SLOTS_TAKEN_BY_A_COPY;
    if (number == SL_SLOTS_FULL && sl_slots_reap(region, self))
        number = claim_free(&look, self);
    end_look(&look);
    if (number == SL_SLOTS_TAKEN_BY_A_COPY)
        sl_report_fail(reason, "another copy of Sluice in this process counts already");
    if (number == SL_SLOTS_FULL)
        sl_report_fail(reason, "tenant %.63s has %d processes already, which is the most", region->header->tenant,
                       SL_REGION_SLOT_COUNT);
    return number;
}

void sl_slots_leave(sl_slots_owner_t *self) {
    sl_life_end(self->sign);
    self->sign = NULL;
}
