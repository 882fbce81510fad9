/* allocations: what this process has allocated: address → what was charged for it. One table for each place. */
#include "ledger/allocations.h"

#include <stdatomic.h>

#include "ledger/places.h"
#include "os/fork.h"
#include "os/index.h"

#define BATCH 64

typedef struct {
    sl_index_t table; /* of sl_allocation_t, by address */
    _Atomic uint64_t count; /* of the table, for readers without the lock */
} __attribute__((aligned(64))) shard_t;

#define EMPTY {.table = {.record_bytes = sizeof(sl_allocation_t)}}

sl_place_t sl_places[SL_PLACES];
static shard_t shards[SL_PLACES] = {[0 ... SL_PLACES - 1] = EMPTY};
static _Atomic uint32_t teardowns;

static shard_t *shard_of(uint64_t address) {
    return &shards[sl_place_of(address)];
}

static void publish_count(shard_t *shard) {
    atomic_store_explicit(&shard->count, shard->table.count, memory_order_relaxed);
}

static void take_out(shard_t *shard, sl_allocation_t *entry) {
    sl_index_remove_sized(&shard->table, sizeof *entry, entry);
    publish_count(shard);
}

/* The entry of the address, a free one where there is none; NULL: no memory. */
static sl_allocation_t *entry_of(shard_t *shard, uint64_t address) {
    sl_allocation_t *entry = sl_index_put_sized(&shard->table, sizeof *entry, address);
    publish_count(shard);
    return entry;
}

SL_HOT bool sl_allocations_add(const sl_allocation_t *allocation, sl_allocation_t *stale) {
    sl_allocation_t *entry = entry_of(shard_of(allocation->address), allocation->address);
    stale->kind = SL_FREE_ENTRY;
    if (!entry)
        return false;
    if (SL_UNLIKELY(entry->kind != SL_FREE_ENTRY))
        *stale = *entry;
    *entry = *allocation;
    entry->epoch = teardowns;
    return true;
}

/* A thread that frees an allocation knows its address from the thread that added it. So it sees that count or a later one, which
 * still includes the allocation. */
SL_HOT bool sl_allocations_may_have(uint64_t address) {
    return atomic_load_explicit(&shard_of(address)->count, memory_order_relaxed);
}

SL_HOT bool sl_allocations_take(uint64_t address, sl_allocation_t *allocation) {
    shard_t *shard = shard_of(address);
    sl_allocation_t *entry = sl_index_find_sized(&shard->table, sizeof *entry, address);
    if (entry) {
        *allocation = *entry;
        take_out(shard, entry);
    }
    return entry;
}

void sl_allocations_restore(const sl_allocation_t *allocation) {
    sl_allocation_t *entry = entry_of(shard_of(allocation->address), allocation->address);
    if (entry)
        *entry = *allocation;
}

uint32_t sl_allocations_begin_teardown(void) {
    return teardowns++;
}

static bool is_gone(const sl_allocation_t *entry, CUcontext context, uint32_t teardown) {
    return entry && entry->context == context && (int32_t)(entry->epoch - teardown) <= 0;
}

/* Takes up to BATCH entries of the context out. A removal may move a later entry to the free place, so the loop visits that place again.
 * The caller repeats the scan until it finds nothing. */
static unsigned collect(shard_t *shard, CUcontext context, uint32_t teardown, sl_allocation_t batch[BATCH]) {
    unsigned count = 0;
    sl_mutex_t *lock = &sl_places[shard - shards].lock;
    sl_mutex_lock_briefly(lock);
    for (uint64_t i = 0; i < shard->table.capacity && count < BATCH;) {
        sl_allocation_t *entry = sl_index_at(&shard->table, i);
        if (!is_gone(entry, context, teardown)) {
            i++;
            continue;
        }
        batch[count++] = *entry;
        take_out(shard, entry);
    }
    sl_mutex_unlock(lock);
    return count;
}

void sl_allocations_drain(CUcontext context, uint32_t teardown, void (*settle)(const sl_allocation_t *allocation)) {
    sl_allocation_t batch[BATCH];
    for (shard_t *shard = shards; shard < shards + SL_PLACES; shard++)
        for (unsigned count; (count = collect(shard, context, teardown, batch)) > 0;)
            for (unsigned i = 0; i < count; i++)
                settle(&batch[i]);
}

CUcontext sl_allocations_context(unsigned gpu) {
    CUcontext context = NULL;
    for (shard_t *shard = shards; shard < shards + SL_PLACES && !context; shard++) {
        sl_mutex_t *lock = &sl_places[shard - shards].lock;
        sl_mutex_lock_briefly(lock);
        for (uint64_t i = 0; i < shard->table.capacity && !context; i++) {
            const sl_allocation_t *entry = sl_index_at(&shard->table, i);
            context = entry && entry->gpu == gpu ? entry->context : NULL;
        }
        sl_mutex_unlock(lock);
    }
    return context;
}

/* Another thread of the parent may have been changing a table, so unmapping it is not safe either. */
void sl_allocations_forget(void) {
    for (shard_t *shard = shards; shard < shards + SL_PLACES; shard++)
        *shard = (shard_t)EMPTY;
    for (sl_place_t *place = sl_places; place < sl_places + SL_PLACES; place++)
        place->lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
}
SL_FORK_FORGETS(sl_allocations_forget);
