/* spare: freed mapped memory that stays mapped for the next request of its size.
 *
 * Mapping and unmapping 2 MiB takes some 67 us on an H200. A program that allocates and frees in a loop pays that once. Spare memory is on
 * the GPU, so it is charged, as in flight. The library gives it back before it refuses a request of this process, when another process of
 * the tenant waits for room, when the process is paused, when its context ends, and when it was not used for a while. If the GPU itself
 * has little room, the library keeps none: other kinds of allocation get only what the driver has free.
 *
 * The driver clears memory of other processes. Spare memory keeps what this process wrote, as freed memory of the driver does. */
#include "memory/mapped/spare.h"

#include "ledger/ledger.h"
#include "memory/kept.h"
#include "memory/mapped/backing.h"
#include "os/fork.h"
#include "os/os.h"
#include "real.h"
#include "tenant/accounts.h"

#define MILLI 1000000u
#define QUOTA_PART 50                   /* chosen: at most 1/50 of the quota is spare, so that it seldom must go for another request */
#define SCARCE_PART 16                  /* chosen: while less than 1/16 of the GPU's memory is free, none is kept */
#define ASK_NANOS (20 * MILLI)          /* chosen: the driver is asked for free memory 50 times a second at most */
#define VALID_NANOS (100 * MILLI)       /* chosen: how long its answer counts */
#define UNATTENDED_NANOS (1000 * MILLI) /* chosen: without a look for so long, none is kept */
#define NEEDED_NANOS (200 * MILLI)      /* chosen: for so long after another process needed memory, none is kept */
#define CHUNKS (SL_SPARE_MOST / SL_ARENA_BLOCK * SL_REGION_GPU_COUNT)

static sl_chunk_t *newest;
static atomic_uint count;
static _Atomic uint64_t attended_until, not_before;
static _Atomic uint64_t asked[SL_REGION_GPU_COUNT], room_until[SL_REGION_GPU_COUNT];

static void link_in(sl_chunk_t *chunk) {
    chunk->state = SL_CHUNK_SPARE;
    chunk->bin_previous = NULL;
    chunk->bin_next = newest;
    if (newest)
        newest->bin_previous = chunk;
    newest = chunk;
    count++;
}

static void take_out(sl_chunk_t *chunk) {
    if (chunk->bin_previous)
        chunk->bin_previous->bin_next = chunk->bin_next;
    else
        newest = chunk->bin_next;
    if (chunk->bin_next)
        chunk->bin_next->bin_previous = chunk->bin_previous;
    count--;
    sl_ledger_use_spare(chunk->owner->gpu, chunk->bytes);
}

/* At least one slab. */
static uint64_t most_on(unsigned gpu) {
    uint64_t limit = sl_accounts_limit(gpu), part = limit / QUOTA_PART;
    if (!limit || part > SL_SPARE_MOST)
        return SL_SPARE_MOST;
    return part > SL_ARENA_BLOCK ? part : SL_ARENA_BLOCK;
}

static bool may_keep(unsigned gpu, uint64_t bytes) {
    uint64_t now = sl_os_coarse_nanos();
    return now < attended_until && now >= not_before && now < room_until[gpu] && sl_ledger_spare(gpu) + bytes <= most_on(gpu);
}

bool sl_spare_keep(sl_chunk_t *chunk) {
    const sl_owner_t *owner = chunk->owner;
    bool charged = chunk->left == chunk->bytes, usable = owner->context && !owner->ending && !owner->gone;
    if (!charged || !usable || chunk->exported || chunk->bytes > SL_SPARE_MOST || !may_keep(owner->gpu, chunk->bytes))
        return false;
    chunk->looked_at = false;
    link_in(chunk);
    sl_ledger_spare_left(owner->gpu, chunk->bytes);
    return true;
}

sl_chunk_t *sl_spare_take(const sl_owner_t *owner, uint64_t bytes, uint64_t *used) {
    sl_chunk_t *chunk = newest;
    while (chunk && (chunk->owner != owner || chunk->bytes != bytes))
        chunk = chunk->bin_next;
    if (!chunk || !(*used = sl_ledger_used_within_quota(owner->gpu)))
        return NULL;
    take_out(chunk);
    chunk->state = SL_CHUNK_LIVE;
    chunk->left = 0;
    return chunk;
}

void sl_spare_forget(sl_chunk_t *chunk) {
    take_out(chunk);
}

void sl_spare_look_for_room(unsigned gpu) {
    uint64_t now = sl_os_coarse_nanos();
    size_t free_bytes = 0, total = 0;
    if (now < asked[gpu])
        return;
    asked[gpu] = now + ASK_NANOS;
    bool known = real.cuMemGetInfo_v2 && real.cuMemGetInfo_v2(&free_bytes, &total) == CUDA_SUCCESS;
    room_until[gpu] = known && free_bytes >= total / SCARCE_PART ? now + VALID_NANOS : 0;
}

/* Gives the memory of a busy chunk back, without the lock. Tries twice if the driver fails. After two failures the chunk is spare again;
 * if its context is gone, its addresses are never used again. */
static bool give_back(sl_chunk_t *chunk) {
    sl_owner_t *owner = chunk->owner;
    unsigned gpu = owner->gpu;
    uint64_t bytes = chunk->bytes;
    bool gone = sl_backing_take(chunk->base, bytes) == CUDA_SUCCESS || sl_backing_take(chunk->base, bytes) == CUDA_SUCCESS;
    sl_mutex_lock_briefly(&sl_owner_lock);
    bool stays = !gone && !owner->gone;
    if (stays) {
        link_in(chunk);
        sl_ledger_spare_left(gpu, bytes);
    } else {
        sl_owner_drop(chunk, !gone);
    }
    sl_mutex_unlock(&sl_owner_lock);
    if (!stays)
        sl_ledger_cancel(gpu, bytes);
    return !stays;
}

/* Gives spare chunks of one GPU back, or of all GPUs (SL_SPARE_ALL). all: every chunk; otherwise only chunks that the previous look
 * found spare already. */
static bool end_some(int gpu, bool all) {
    sl_chunk_t *ending[CHUNKS];
    unsigned number = 0;
    bool any = false;
    sl_mutex_lock(&sl_owner_lock);
    for (sl_chunk_t *chunk = newest, *next; chunk && number < CHUNKS; chunk = next) {
        next = chunk->bin_next;
        if (gpu != SL_SPARE_ALL && chunk->owner->gpu != (unsigned)gpu)
            continue;
        if (all || chunk->looked_at) {
            take_out(chunk);
            chunk->state = SL_CHUNK_BUSY;
            ending[number++] = chunk;
        }
        chunk->looked_at = true;
    }
    sl_mutex_unlock(&sl_owner_lock);
    for (unsigned i = 0; i < number; i++)
        any |= give_back(ending[i]);
    return any;
}

bool sl_spare_end(int gpu) {
    return SL_UNLIKELY(count) && end_some(gpu, true);
}

bool sl_kept_look(bool all) {
    uint64_t now = sl_os_coarse_nanos();
    attended_until = now + UNATTENDED_NANOS;
    if (all)
        not_before = now + NEEDED_NANOS;
    if (count)
        end_some(SL_SPARE_ALL, all);
    return count;
}

static void forget(void) {
    newest = NULL;
    count = 0;
    attended_until = not_before = 0;
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        asked[gpu] = room_until[gpu] = 0;
}
SL_FORK_FORGETS(forget);
