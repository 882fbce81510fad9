/* move: how mapped memory leaves the GPU and comes back (memory/movable.h). A piece is a chunk or a whole slab.
 *
 * A piece records whether the driver has its memory. So a step that failed half way can be undone, and repeated. */
#include <stdlib.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "memory/mapped/backing.h"
#include "memory/mapped/later.h"
#include "memory/mapped/owner.h"
#include "memory/mapped/peers.h"
#include "memory/mapped/spare.h"
#include "memory/movable.h"
#include "os/fork.h"

extern const sl_movable_source_t sl_mapped_movable;

/* HALF: taking the memory failed and the driver did not undo it, so it is mapped and charged, but unusable. */
typedef enum { THERE, HALF, GIVEN } state_t;

typedef struct {
    sl_chunk_t *chunk;
    state_t state;
} piece_t;

static piece_t *pieces; /* from count() on */
static size_t piece_count;

/* Memory that another process may use stays. */
static bool is_movable(const sl_chunk_t *chunk) {
    return chunk->state == SL_CHUNK_LIVE && !chunk->exported;
}

static size_t count_chunks(void) {
    size_t count = 0;
    for (const sl_owner_t *owner = sl_owners; owner; owner = owner->next)
        for (const sl_chunk_t *chunk = owner->chunks; chunk; chunk = chunk->next)
            count += is_movable(chunk);
    return count;
}

/* First ends memory that the program freed. Without memory for the list nothing is movable. */
static size_t count(void) {
    sl_later_end_all();
    sl_spare_end(SL_SPARE_ALL);
    sl_mutex_lock_briefly(&sl_owner_lock);
    size_t found = count_chunks();
    piece_t *list = realloc(pieces, (found + !found) * sizeof *list), *end = list;
    for (const sl_owner_t *owner = list ? sl_owners : NULL; owner; owner = owner->next)
        for (sl_chunk_t *chunk = owner->chunks; chunk; chunk = chunk->next)
            if (is_movable(chunk))
                *end++ = (piece_t){chunk, THERE};
    if (list)
        pieces = list;
    piece_count = list ? found : 0;
    sl_mutex_unlock(&sl_owner_lock);
    return piece_count;
}

static sl_movable_t piece(size_t number) {
    const sl_chunk_t *chunk = pieces[number].chunk;
    return (sl_movable_t){.address = chunk->base, .bytes = chunk->bytes, .context = chunk->owner->context, .gpu = chunk->owner->gpu};
}

static CUresult give(size_t number) {
    const sl_chunk_t *chunk = pieces[number].chunk;
    unsigned gpu = chunk->owner->gpu;
    if (pieces[number].state == GIVEN)
        return CUDA_SUCCESS;
    sl_ledger_leave(gpu, SL_USE_LINEAR, chunk->bytes);
    CUresult status = sl_backing_take(chunk->base, chunk->bytes);
    if (status == CUDA_SUCCESS) {
        sl_ledger_refund_left(gpu, chunk->bytes);
        pieces[number].state = GIVEN;
    } else {
        sl_ledger_keep_left(gpu, SL_USE_LINEAR, chunk->bytes);
    }
    return status;
}

static CUresult put(const sl_chunk_t *chunk, bool *stuck) {
    CUmemAccessDesc accesses[SL_BACKING_ACCESSES];
    sl_mutex_lock_briefly(&sl_owner_lock);
    unsigned count = sl_peers_list(chunk->owner, accesses);
    sl_mutex_unlock(&sl_owner_lock);
    return sl_backing_put(chunk->owner->device, chunk->base, chunk->bytes, accesses, count, stuck);
}

static CUresult take(size_t number) {
    const sl_chunk_t *chunk = pieces[number].chunk;
    unsigned gpu = chunk->owner->gpu;
    bool stuck;
    CUresult status = pieces[number].state == HALF ? give(number) : CUDA_SUCCESS;
    if (status != CUDA_SUCCESS || pieces[number].state == THERE)
        return status;
    uint64_t used = sl_ledger_try(gpu, chunk->bytes);
    if (!used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    status = put(chunk, &stuck);
    if (status == CUDA_SUCCESS || stuck)
        sl_ledger_commit(gpu, SL_USE_LINEAR, chunk->bytes, used);
    else
        sl_ledger_cancel(gpu, chunk->bytes);
    pieces[number].state = status == CUDA_SUCCESS ? THERE : stuck ? HALF : GIVEN;
    return status;
}

const sl_movable_source_t sl_mapped_movable = {.name = "mapped", .count = count, .piece = piece, .give = give, .take = take};

static void forget(void) {
    pieces = NULL;
    piece_count = 0;
}
SL_FORK_FORGETS(forget);
