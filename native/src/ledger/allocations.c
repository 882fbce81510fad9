/* allocations: what this process has allocated: address → what was charged for it.
 *
 * Open addressing with linear probing in shards that double, one for each place; an entry is found in one or two cache lines, however many
 * there are. */
#define _GNU_SOURCE
#include "ledger/allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "ledger/places.h"
#include "os/fork.h"

#define FIRST_CAPACITY 128
#define BATCH 64
#define MIX 0x9e3779b97f4a7c15ull

typedef struct {
    sl_allocation_t *table;
    uint64_t capacity; /* a power of two; never more than half full */
    _Atomic uint64_t count; /* changed with the place locked */
} __attribute__((aligned(64))) shard_t;

sl_place_t sl_places[SL_PLACES];
static shard_t shards[SL_PLACES];
static _Atomic uint32_t teardowns;

static shard_t *shard_of(uint64_t address) {
    return &shards[sl_place_of(address)];
}

static uint64_t home(const shard_t *shard, uint64_t address) {
    return ((address ^ address >> 32) * MIX >> 20) & (shard->capacity - 1);
}

/* Where the address is, or the free place where it belongs. */
static sl_allocation_t *probe(const shard_t *shard, uint64_t address) {
    uint64_t at = home(shard, address);
    while (shard->table[at].kind != SL_FREE_ENTRY && shard->table[at].address != address)
        at = (at + 1) & (shard->capacity - 1);
    return &shard->table[at];
}

static sl_allocation_t *find(const shard_t *shard, uint64_t address) {
    sl_allocation_t *entry = shard->table ? probe(shard, address) : NULL;
    return entry && entry->kind != SL_FREE_ENTRY ? entry : NULL;
}

static uint64_t count_of(const shard_t *shard) {
    return atomic_load_explicit(&shard->count, memory_order_relaxed);
}

static void change_count(shard_t *shard, int by) {
    atomic_store_explicit(&shard->count, count_of(shard) + (uint64_t)by, memory_order_relaxed);
}

static bool make_room(shard_t *shard, uint64_t more) {
    if (shard->table && (count_of(shard) + more) * 2 <= shard->capacity)
        return true;
    int saved = errno;
    shard_t larger = {.capacity = shard->capacity ? shard->capacity * 2 : FIRST_CAPACITY};
    larger.table = mmap(NULL, larger.capacity * sizeof *larger.table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (larger.table == MAP_FAILED)
        return false;
    for (uint64_t i = 0; i < shard->capacity; i++)
        if (shard->table[i].kind != SL_FREE_ENTRY)
            *probe(&larger, shard->table[i].address) = shard->table[i];
    if (shard->table)
        munmap(shard->table, shard->capacity * sizeof *shard->table);
    shard->table = larger.table;
    shard->capacity = larger.capacity;
    return true;
}

static void put(shard_t *shard, sl_allocation_t *entry, const sl_allocation_t *allocation) {
    if (entry->kind == SL_FREE_ENTRY)
        change_count(shard, 1);
    *entry = *allocation;
}

/* Entries behind the gap move up when the gap lies on their way from home, so a probe never stops early. */
static void take_out(shard_t *shard, sl_allocation_t *entry) {
    uint64_t mask = shard->capacity - 1, gap = (uint64_t)(entry - shard->table);
    for (uint64_t at = (gap + 1) & mask; shard->table[at].kind != SL_FREE_ENTRY; at = (at + 1) & mask) {
        uint64_t from_home = (at - home(shard, shard->table[at].address)) & mask;
        if (from_home >= ((at - gap) & mask)) {
            shard->table[gap] = shard->table[at];
            gap = at;
        }
    }
    shard->table[gap].kind = SL_FREE_ENTRY;
    change_count(shard, -1);
}

SL_HOT bool sl_allocations_add(const sl_allocation_t *allocation, sl_allocation_t *stale) {
    shard_t *shard = shard_of(allocation->address);
    stale->kind = SL_FREE_ENTRY;
    if (!make_room(shard, 1))
        return false;
    sl_allocation_t *entry = probe(shard, allocation->address);
    if (SL_UNLIKELY(entry->kind != SL_FREE_ENTRY))
        *stale = *entry;
    put(shard, entry, allocation);
    entry->epoch = teardowns;
    return true;
}

/* A thread that frees an allocation knows its address from the thread that added it, so it sees that count or a later one, in which
 * the allocation still is. */
SL_HOT bool sl_allocations_may_have(uint64_t address) {
    return count_of(shard_of(address));
}

SL_HOT bool sl_allocations_take(uint64_t address, sl_allocation_t *allocation) {
    shard_t *shard = shard_of(address);
    sl_allocation_t *entry = find(shard, address);
    if (entry) {
        *allocation = *entry;
        take_out(shard, entry);
    }
    return entry;
}

void sl_allocations_restore(const sl_allocation_t *allocation) {
    shard_t *shard = shard_of(allocation->address);
    if (make_room(shard, 1))
        put(shard, probe(shard, allocation->address), allocation);
}

uint32_t sl_allocations_begin_teardown(void) {
    return teardowns++;
}

static bool is_gone(const sl_allocation_t *entry, CUcontext context, uint32_t teardown) {
    return entry->kind != SL_FREE_ENTRY && entry->context == context && (int32_t)(entry->epoch - teardown) <= 0;
}

/* Up to BATCH entries of the context. Taking an entry out moves another one to its place, so that place is looked at again.
 * What moves to the front across the end of the table is found by the next call: the last one finds nothing. */
static unsigned collect(shard_t *shard, CUcontext context, uint32_t teardown, sl_allocation_t batch[BATCH]) {
    unsigned count = 0;
    sl_latch_t *latch = &sl_places[shard - shards].latch;
    sl_latch_lock_briefly(latch);
    for (uint64_t i = 0; i < shard->capacity && count < BATCH;) {
        if (!is_gone(&shard->table[i], context, teardown)) {
            i++;
            continue;
        }
        batch[count++] = shard->table[i];
        take_out(shard, &shard->table[i]);
    }
    sl_latch_unlock(latch);
    return count;
}

void sl_allocations_drain(CUcontext context, uint32_t teardown, void (*settle)(const sl_allocation_t *allocation)) {
    sl_allocation_t batch[BATCH];
    for (shard_t *shard = shards; shard < shards + SL_PLACES; shard++)
        for (unsigned count; (count = collect(shard, context, teardown, batch)) > 0;)
            for (unsigned i = 0; i < count; i++)
                settle(&batch[i]);
}

/* Another thread of the parent may have been changing a table, so even to unmap it is not safe. */
void sl_allocations_forget(void) {
    for (shard_t *shard = shards; shard < shards + SL_PLACES; shard++)
        *shard = (shard_t){.capacity = 0};
    for (sl_place_t *place = sl_places; place < sl_places + SL_PLACES; place++)
        place->latch = (sl_latch_t)SL_LATCH_INITIALIZER;
}
SL_FORK_FORGETS(sl_allocations_forget);
