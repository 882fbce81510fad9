/* blocks: small allocations share blocks of 2 MiB.
 *
 * An occupant leaves its block before the driver frees it, so a block in the table is one that the driver has. The one
 * exception is a destroyed context: the driver frees all its blocks, and the table follows. Meanwhile another context may
 * get a block at the same address. So a block belongs to a context and a GPU, and one of another owner is replaced. */
#include "ledger/blocks.h"

#include <stdatomic.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "os/index.h"
#include "os/latch.h"

#define SHARDS 16
#define GPUS 16
#define UNIT 512u
#define MIX 0x9e3779b97f4a7c15ull

typedef struct {
    uint64_t number; /* address / SL_BLOCK_BYTES + 1 */
    CUcontext context;
    uint32_t gpu;
    uint32_t occupants;
    uint64_t left; /* bytes that nobody occupies */
} block_t;

typedef struct {
    sl_latch_t latch;
    sl_index_t blocks;
} __attribute__((aligned(64))) shard_t;

static shard_t shards[SHARDS] = {[0 ... SHARDS - 1] = {.blocks = {.record_bytes = sizeof(block_t)}}};
static _Atomic uint64_t room[GPUS]; /* bytes that the blocks of a GPU have left */

static uint64_t number_of(const sl_occupant_t *occupant) {
    return occupant->address / SL_BLOCK_BYTES + 1;
}

static shard_t *shard_of(uint64_t number) {
    return &shards[number * MIX >> 60];
}

static uint64_t padded(const sl_occupant_t *occupant) {
    return (occupant->bytes + UNIT - 1) / UNIT * UNIT;
}

static bool is_of(const block_t *block, const sl_occupant_t *occupant) {
    return block->context == occupant->context && block->gpu == occupant->gpu;
}

static void occupy(block_t *block, const sl_occupant_t *occupant) {
    block->occupants++;
    block->left -= padded(occupant);
    room[block->gpu] -= padded(occupant);
}

/* With the latch held: the driver has no such block any more. */
static unsigned drop(shard_t *shard, block_t *block) {
    unsigned gpu = block->gpu;
    room[gpu] -= block->left;
    sl_index_remove(&shard->blocks, block);
    return gpu;
}

static block_t *make(shard_t *shard, const sl_occupant_t *occupant) {
    block_t *block = sl_index_put(&shard->blocks, number_of(occupant));
    if (block) {
        *block = (block_t){number_of(occupant), occupant->context, occupant->gpu, 0, SL_BLOCK_BYTES};
        room[occupant->gpu] += SL_BLOCK_BYTES;
    }
    return block;
}

SL_HOT sl_block_t sl_blocks_enter(const sl_occupant_t *occupant, bool may_make) {
    shard_t *shard = shard_of(number_of(occupant));
    int replaced = -1;
    sl_latch_lock(&shard->latch);
    block_t *block = sl_index_find(&shard->blocks, number_of(occupant));
    if (SL_UNLIKELY(block && !is_of(block, occupant))) {
        replaced = (int)drop(shard, block);
        block = NULL;
    }
    sl_block_t entered = block ? SL_BLOCK_SHARED : SL_BLOCK_NEW;
    if (!block && may_make)
        block = make(shard, occupant);
    if (block)
        occupy(block, occupant);
    else
        entered = SL_BLOCK_NONE;
    sl_latch_unlock(&shard->latch);
    if (SL_UNLIKELY(replaced >= 0))
        sl_ledger_refund((unsigned)replaced, SL_USE_LINEAR, SL_BLOCK_BYTES);
    return entered;
}

SL_HOT bool sl_blocks_leave(const sl_occupant_t *occupant) {
    shard_t *shard = shard_of(number_of(occupant));
    bool last = false;
    sl_latch_lock(&shard->latch);
    block_t *block = sl_index_find(&shard->blocks, number_of(occupant));
    if (block && is_of(block, occupant)) {
        block->left += padded(occupant);
        room[block->gpu] += padded(occupant);
        last = --block->occupants == 0;
        if (last)
            drop(shard, block);
    }
    sl_latch_unlock(&shard->latch);
    return last;
}

bool sl_blocks_have_room(unsigned gpu, uint64_t bytes) {
    return room[gpu] >= bytes;
}

/* Another thread of the parent may have been changing a table, so even to unmap it is not safe. */
void sl_blocks_forget(void) {
    for (shard_t *shard = shards; shard < shards + SHARDS; shard++)
        *shard = (shard_t){.blocks = {.record_bytes = sizeof(block_t)}};
    for (int gpu = 0; gpu < GPUS; gpu++)
        room[gpu] = 0;
}
