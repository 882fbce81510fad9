/* allocations: what this process has allocated: address → what was charged for it.
 *
 * Open addressing with linear probing in shards that double; an entry is found in one or two cache lines, however many
 * there are. A block and the small allocations in it share a shard, so that one lock covers both. */
#define _GNU_SOURCE
#include "ledger/allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "os/latch.h"

#define SHARDS 16
#define FIRST_CAPACITY 128
#define GPUS 16
#define UNIT 512u
#define MIX 0x9e3779b97f4a7c15ull

typedef struct {
    sl_latch_t latch;
    sl_allocation_t *table;
    uint64_t capacity; /* a power of two; never more than half full */
    uint64_t count;
} __attribute__((aligned(64))) shard_t;

static shard_t shards[SHARDS];
static _Atomic uint64_t block_room[GPUS]; /* bytes that the blocks of a GPU have left */
static _Atomic uint32_t teardowns;

static shard_t *shard_of(uint64_t address) {
    return &shards[(address / SL_BLOCK_BYTES * MIX) >> 60];
}

/* Small allocations lie 512-aligned, so an odd address can name their block. */
static uint64_t block_address(uint64_t address) {
    return (address & ~(uint64_t)(SL_BLOCK_BYTES - 1)) | 1;
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

static uint64_t small_bytes(const sl_allocation_t *allocation) {
    return (allocation->bytes + UNIT - 1) / UNIT * UNIT;
}

static bool leave_block(shard_t *shard, const sl_allocation_t *allocation) {
    sl_allocation_t *block = find(shard, block_address(allocation->address));
    if (!block)
        return false;
    block_room[allocation->gpu] += small_bytes(allocation);
    if (--block->bytes)
        return false;
    block_room[allocation->gpu] -= SL_BLOCK_BYTES;
    take_out(shard, block);
    return true;
}

static void drop(shard_t *shard, sl_allocation_t *entry, sl_allocations_taken_t taken) {
    sl_allocation_t allocation = *entry;
    take_out(shard, entry);
    taken(&allocation, allocation.kind == SL_SMALL && leave_block(shard, &allocation));
}

static sl_added_t add_small(shard_t *shard, const sl_allocation_t *allocation, bool only_to_block) {
    sl_allocation_t *block = find(shard, block_address(allocation->address));
    if (!block && only_to_block)
        return SL_NOT_ADDED;
    if (block) {
        block->bytes++;
    } else {
        sl_allocation_t new_block = *allocation;
        new_block.address = block_address(allocation->address);
        new_block.kind = SL_BLOCK;
        new_block.bytes = 1;
        put(shard, &new_block);
        block_room[allocation->gpu] += SL_BLOCK_BYTES;
    }
    block_room[allocation->gpu] -= small_bytes(allocation);
    put(shard, allocation);
    return block ? SL_ADDED_TO_BLOCK : SL_ADDED;
}

SL_HOT sl_added_t sl_allocations_add(sl_allocation_t allocation, bool only_to_block, sl_allocations_taken_t stale) {
    shard_t *shard = shard_of(allocation.address);
    allocation.epoch = teardowns;
    sl_added_t added = SL_NOT_ADDED;
    sl_latch_lock(&shard->latch);
    if (make_room(shard, 2)) {
        sl_allocation_t *entry = find(shard, allocation.address);
        if (entry)
            drop(shard, entry, stale);
        added = SL_ADDED;
        if (allocation.kind == SL_SMALL)
            added = add_small(shard, &allocation, only_to_block);
        else
            put(shard, &allocation);
    }
    sl_latch_unlock(&shard->latch);
    return added;
}

SL_HOT bool sl_allocations_take(uint64_t address, sl_allocation_t *allocation) {
    shard_t *shard = shard_of(address);
    sl_latch_lock(&shard->latch);
    sl_allocation_t *entry = find(shard, address);
    bool found = entry && entry->kind != SL_BLOCK;
    if (found) {
        *allocation = *entry;
        take_out(shard, entry);
    }
    sl_latch_unlock(&shard->latch);
    return found;
}

void sl_allocations_restore(const sl_allocation_t *allocation) {
    shard_t *shard = shard_of(allocation->address);
    sl_latch_lock(&shard->latch);
    if (make_room(shard, 1))
        put(shard, allocation);
    sl_latch_unlock(&shard->latch);
}

bool sl_allocations_leave_block(const sl_allocation_t *allocation) {
    shard_t *shard = shard_of(allocation->address);
    sl_latch_lock(&shard->latch);
    bool last = leave_block(shard, allocation);
    sl_latch_unlock(&shard->latch);
    return last;
}

bool sl_allocations_have_room(unsigned gpu, uint64_t bytes) {
    return block_room[gpu] >= bytes;
}

uint32_t sl_allocations_begin_teardown(void) {
    return teardowns++;
}

static bool drain_shard(shard_t *shard, CUcontext context, uint32_t teardown, sl_allocations_taken_t taken) {
    bool any = false;
    for (uint64_t i = 0; i < shard->capacity;) {
        const sl_allocation_t *entry = &shard->table[i];
        if (entry->kind == SL_FREE_ENTRY || entry->kind == SL_BLOCK || entry->context != context ||
            (int32_t)(entry->epoch - teardown) > 0) {
            i++;
            continue;
        }
        drop(shard, &shard->table[i], taken);
        any = true;
    }
    return any;
}

void sl_allocations_drain(CUcontext context, uint32_t teardown, sl_allocations_taken_t taken) {
    for (shard_t *shard = shards; shard < shards + SHARDS; shard++) {
        sl_latch_lock(&shard->latch);
        while (drain_shard(shard, context, teardown, taken))
            ; /* again, because taking an entry out moves others, also to places already passed */
        sl_latch_unlock(&shard->latch);
    }
}

/* Another thread of the parent may have been changing a table, so even to unmap it is not safe. */
void sl_allocations_forget(void) {
    for (shard_t *shard = shards; shard < shards + SHARDS; shard++)
        *shard = (shard_t){.capacity = 0};
    for (int gpu = 0; gpu < GPUS; gpu++)
        block_room[gpu] = 0;
}
