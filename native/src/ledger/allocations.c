/* allocations: what this process has allocated: address → what was charged for it.
 *
 * Open addressing with linear probing in shards that double; an entry is found in one or two cache lines, however many
 * there are. */
#define _GNU_SOURCE
#include "ledger/allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "os/latch.h"

#define SHARDS 16
#define FIRST_CAPACITY 128
#define PLACE_BYTES (2u << 20) /* addresses this near share a shard */
#define BATCH 64
#define MIX 0x9e3779b97f4a7c15ull

typedef struct {
    sl_latch_t latch;
    sl_allocation_t *table;
    uint64_t capacity; /* a power of two; never more than half full */
    uint64_t count;
} __attribute__((aligned(64))) shard_t;

static shard_t shards[SHARDS];
static _Atomic uint32_t teardowns;

static shard_t *shard_of(uint64_t address) {
    return &shards[(address / PLACE_BYTES * MIX) >> 60];
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

static bool make_room(shard_t *shard, uint64_t more) {
    if (shard->table && (shard->count + more) * 2 <= shard->capacity)
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

static void put(shard_t *shard, const sl_allocation_t *allocation) {
    sl_allocation_t *entry = probe(shard, allocation->address);
    shard->count += entry->kind == SL_FREE_ENTRY;
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
    shard->count--;
}

SL_HOT bool sl_allocations_add(sl_allocation_t allocation, sl_allocation_t *stale) {
    shard_t *shard = shard_of(allocation.address);
    allocation.epoch = teardowns;
    stale->kind = SL_FREE_ENTRY;
    sl_latch_lock(&shard->latch);
    bool added = make_room(shard, 1);
    if (added) {
        const sl_allocation_t *entry = find(shard, allocation.address);
        if (SL_UNLIKELY(entry))
            *stale = *entry;
        put(shard, &allocation);
    }
    sl_latch_unlock(&shard->latch);
    return added;
}

SL_HOT bool sl_allocations_take(uint64_t address, sl_allocation_t *allocation) {
    shard_t *shard = shard_of(address);
    sl_latch_lock(&shard->latch);
    sl_allocation_t *entry = find(shard, address);
    if (entry) {
        *allocation = *entry;
        take_out(shard, entry);
    }
    sl_latch_unlock(&shard->latch);
    return entry;
}

void sl_allocations_restore(const sl_allocation_t *allocation) {
    shard_t *shard = shard_of(allocation->address);
    sl_latch_lock(&shard->latch);
    if (make_room(shard, 1))
        put(shard, allocation);
    sl_latch_unlock(&shard->latch);
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
    sl_latch_lock(&shard->latch);
    for (uint64_t i = 0; i < shard->capacity && count < BATCH;) {
        if (!is_gone(&shard->table[i], context, teardown)) {
            i++;
            continue;
        }
        batch[count++] = shard->table[i];
        take_out(shard, &shard->table[i]);
    }
    sl_latch_unlock(&shard->latch);
    return count;
}

void sl_allocations_drain(CUcontext context, uint32_t teardown, void (*settle)(const sl_allocation_t *allocation)) {
    sl_allocation_t batch[BATCH];
    for (shard_t *shard = shards; shard < shards + SHARDS; shard++)
        for (unsigned count; (count = collect(shard, context, teardown, batch)) > 0;)
            for (unsigned i = 0; i < count; i++)
                settle(&batch[i]);
}

/* Another thread of the parent may have been changing a table, so even to unmap it is not safe. */
void sl_allocations_forget(void) {
    for (shard_t *shard = shards; shard < shards + SHARDS; shard++)
        *shard = (shard_t){.capacity = 0};
}
