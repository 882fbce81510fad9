/* move: mapped memory as something that can leave the GPU (memory/movable.h). A piece is a chunk or a whole slab. */
#include <stdlib.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "memory/mapped/backing.h"
#include "memory/mapped/later.h"
#include "memory/mapped/owner.h"
#include "memory/mapped/peers.h"
#include "memory/movable.h"
#include "os/fork.h"

extern const sl_movable_source_t sl_mapped_movable;

static sl_chunk_t **pieces; /* from count() on */
static size_t piece_count;

static size_t count_chunks(void) {
    size_t count = 0;
    for (const sl_owner_t *owner = sl_owners; owner; owner = owner->next)
        for (const sl_chunk_t *chunk = owner->chunks; chunk; chunk = chunk->next)
            count += chunk->state == SL_CHUNK_LIVE;
    return count;
}

/* What the program freed goes first. Without memory for the list nothing is movable. */
static size_t count(void) {
    sl_later_end_all();
    sl_mutex_lock_briefly(&sl_owner_lock);
    size_t found = count_chunks();
    sl_chunk_t **list = realloc(pieces, (found + !found) * sizeof *list), **end = list;
    for (const sl_owner_t *owner = list ? sl_owners : NULL; owner; owner = owner->next)
        for (sl_chunk_t *chunk = owner->chunks; chunk; chunk = chunk->next)
            if (chunk->state == SL_CHUNK_LIVE)
                *end++ = chunk;
    if (list)
        pieces = list;
    piece_count = list ? found : 0;
    sl_mutex_unlock(&sl_owner_lock);
    return piece_count;
}

static sl_movable_t piece(size_t number) {
    const sl_chunk_t *chunk = pieces[number];
    return (sl_movable_t){.address = chunk->base, .bytes = chunk->bytes, .context = chunk->owner->context, .gpu = chunk->owner->gpu};
}

static CUresult give(size_t number) {
    const sl_chunk_t *chunk = pieces[number];
    unsigned gpu = chunk->owner->gpu;
    sl_ledger_leave(gpu, SL_USE_LINEAR, chunk->bytes);
    CUresult status = sl_backing_take(chunk->base, chunk->bytes);
    if (status == CUDA_SUCCESS)
        sl_ledger_refund_left(gpu, chunk->bytes);
    else
        sl_ledger_keep_left(gpu, SL_USE_LINEAR, chunk->bytes);
    return status;
}

static CUresult take(size_t number) {
    const sl_chunk_t *chunk = pieces[number];
    unsigned gpu = chunk->owner->gpu;
    uint64_t used = sl_ledger_try(gpu, chunk->bytes);
    if (!used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bool stuck;
    CUmemAccessDesc accesses[SL_BACKING_ACCESSES];
    sl_mutex_lock_briefly(&sl_owner_lock);
    unsigned accesses_count = sl_peers_list(chunk->owner, accesses);
    sl_mutex_unlock(&sl_owner_lock);
    CUresult status = sl_backing_put(chunk->owner->device, chunk->base, chunk->bytes, accesses, accesses_count, &stuck);
    if (status == CUDA_SUCCESS)
        sl_ledger_commit(gpu, SL_USE_LINEAR, chunk->bytes, used);
    else
        sl_ledger_cancel(gpu, chunk->bytes);
    return status;
}

const sl_movable_source_t sl_mapped_movable = {.name = "mapped", .count = count, .piece = piece, .give = give, .take = take};

static void forget(void) {
    pieces = NULL;
    piece_count = 0;
}
SL_FORK_FORGETS(forget);
