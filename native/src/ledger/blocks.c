/* blocks: small allocations share blocks of 2 MiB.
 *
 * An occupant leaves its block before the driver frees it. So every block in the table exists in the driver, too. The one
 * exception is a destroyed context: the driver frees all its blocks, and the table follows. Meanwhile another context may
 * get a block at the same address. So a block belongs to a context and a GPU, and a block of another owner is replaced. */
#include "ledger/blocks.h"

#include <stdatomic.h>

#include "driver/entry.h"
#include "os/fork.h"
#include "os/index.h"
#include "ledger/places.h"

#define GPUS 16
#define UNIT 512u

typedef struct {
    uint64_t number; /* address / SL_BLOCK_BYTES + 1 */
    CUcontext context;
    uint32_t gpu;
    uint32_t occupants;
    uint64_t left; /* free bytes */
} block_t;

typedef struct {
    sl_index_t blocks;
    _Atomic uint64_t room[GPUS]; /* bytes that the blocks of a GPU have left; changed with the place locked */
} __attribute__((aligned(64))) shard_t;

static shard_t shards[SL_PLACES] = {[0 ... SL_PLACES - 1] = {.blocks = {.record_bytes = sizeof(block_t)}}};

_Static_assert(SL_BLOCK_BYTES == SL_PLACE_BYTES, "a block is in one place");

static uint64_t number_of(const sl_allocation_t *occupant) {
    return occupant->address / SL_BLOCK_BYTES + 1;
}

static shard_t *shard_of(const sl_allocation_t *occupant) {
    return &shards[sl_place_of(occupant->address)];
}

static uint64_t room_of(const shard_t *shard, unsigned gpu) {
    return atomic_load_explicit(&shard->room[gpu], memory_order_relaxed);
}

static void add_room(shard_t *shard, unsigned gpu, uint64_t bytes) {
    atomic_store_explicit(&shard->room[gpu], room_of(shard, gpu) + bytes, memory_order_relaxed);
}

static uint64_t padded(const sl_allocation_t *occupant) {
    return (occupant->bytes + UNIT - 1) / UNIT * UNIT;
}

static bool is_of(const block_t *block, const sl_allocation_t *occupant) {
    return block->context == occupant->context && block->gpu == occupant->gpu;
}

static void occupy(shard_t *shard, block_t *block, const sl_allocation_t *occupant) {
    block->occupants++;
    block->left -= padded(occupant);
    add_room(shard, block->gpu, 0 - padded(occupant));
}

/* The driver has no such block any more. */
static unsigned drop(shard_t *shard, block_t *block) {
    unsigned gpu = block->gpu;
    add_room(shard, gpu, 0 - block->left);
    sl_index_remove_sized(&shard->blocks, sizeof(block_t), block);
    return gpu;
}

static block_t *make(shard_t *shard, const sl_allocation_t *occupant) {
    block_t *block = sl_index_put_sized(&shard->blocks, sizeof(block_t), number_of(occupant));
    if (block) {
        *block = (block_t){number_of(occupant), occupant->context, occupant->gpu, 0, SL_BLOCK_BYTES};
        add_room(shard, occupant->gpu, SL_BLOCK_BYTES);
    }
    return block;
}

SL_HOT sl_block_t sl_blocks_enter(const sl_allocation_t *occupant, bool may_make, int *replaced) {
    shard_t *shard = shard_of(occupant);
    *replaced = -1;
    block_t *block = sl_index_find_sized(&shard->blocks, sizeof(block_t), number_of(occupant));
    if (SL_UNLIKELY(block && !is_of(block, occupant))) {
        *replaced = (int)drop(shard, block);
        block = NULL;
    }
    sl_block_t entered = block ? SL_BLOCK_SHARED : SL_BLOCK_NEW;
    if (!block && may_make)
        block = make(shard, occupant);
    if (block)
        occupy(shard, block, occupant);
    else
        entered = SL_BLOCK_NONE;
    return entered;
}

SL_HOT bool sl_blocks_leave(const sl_allocation_t *occupant) {
    shard_t *shard = shard_of(occupant);
    bool last = false;
    block_t *block = sl_index_find_sized(&shard->blocks, sizeof(block_t), number_of(occupant));
    if (block && is_of(block, occupant)) {
        block->left += padded(occupant);
        add_room(shard, block->gpu, padded(occupant));
        last = --block->occupants == 0;
        if (last)
            drop(shard, block);
    }
    return last;
}

bool sl_blocks_have_room(unsigned gpu, uint64_t bytes) {
    uint64_t room = 0;
    for (const shard_t *shard = shards; shard < shards + SL_PLACES; shard++)
        room += room_of(shard, gpu);
    return room >= bytes;
}

/* Another thread of the parent may have been changing a table, so even to unmap it is not safe. */
static void forget(void) {
    for (shard_t *shard = shards; shard < shards + SL_PLACES; shard++)
        *shard = (shard_t){.blocks = {.record_bytes = sizeof(block_t)}};
}
SL_FORK_FORGETS(forget);
