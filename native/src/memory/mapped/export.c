/* export: see export.h. */
#include "memory/mapped/export.h"

#include <unistd.h>

#include "driver/entry.h"
#include "memory/mapped/backing.h"
#include "memory/mapped/owner.h"
#include "os/fork.h"

enum { NOT_SUPPORTED = 801 };

static uint64_t last_number;

/* With the lock held: the allocation at an address. */
static CUresult find(const sl_chunk_t *chunk, uint64_t address, sl_export_t *export) {
    if (!chunk || chunk->state != SL_CHUNK_LIVE)
        return CUDA_ERROR_INVALID_VALUE;
    *export = (sl_export_t){.address = chunk->base, .bytes = chunk->asked};
    if (!chunk->slab)
        return CUDA_SUCCESS;
    int start = sl_slab_find(chunk->slab, (unsigned)((address - chunk->base) / SL_SLAB_UNIT));
    if (start < 0 || chunk->slab->states[start] != SL_PIECE_LIVE)
        return CUDA_ERROR_INVALID_VALUE;
    export->offset = (uint32_t)start * SL_SLAB_UNIT;
    export->bytes = chunk->slab->bytes[start];
    return CUDA_SUCCESS;
}

CUresult sl_export_begin(CUdeviceptr address, sl_export_t *export) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    sl_chunk_t *chunk = sl_arena_find(address);
    CUresult status = find(chunk, address, export);
    if (status == CUDA_SUCCESS && !sl_backing_can_share(chunk->owner->device))
        status = NOT_SUPPORTED;
    if (status == CUDA_SUCCESS) {
        if (!chunk->exported)
            chunk->exported = ++last_number;
        export->number = chunk->exported;
    }
    sl_mutex_unlock(&sl_owner_lock);
    return status;
}

/* A chunk without a live allocation counts as gone. */
static bool is_there(uint64_t address, uint64_t number, uint64_t *bytes) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    const sl_chunk_t *chunk = sl_arena_find(address);
    bool there = chunk && chunk->base == address && chunk->exported == number && number && chunk->state == SL_CHUNK_LIVE &&
                 (!chunk->slab || chunk->slab->live);
    if (there)
        *bytes = chunk->bytes;
    sl_mutex_unlock(&sl_owner_lock);
    return there;
}

/* The driver works without the lock, so meanwhile the chunk may be freed, and its addresses used again. A number is never used twice: if
 * the chunk exists before and after, the descriptor is of its memory. */
CUresult sl_export_describe(uint64_t address, uint64_t number, int *fd, uint64_t *bytes) {
    if (!is_there(address, number, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = sl_backing_export(address, fd);
    if (status != CUDA_SUCCESS)
        return status;
    if (is_there(address, number, bytes))
        return CUDA_SUCCESS;
    close(*fd);
    return CUDA_ERROR_INVALID_VALUE;
}

bool sl_export_any(void) {
    bool any = false;
    sl_mutex_lock_briefly(&sl_owner_lock);
    for (const sl_owner_t *owner = sl_owners; owner; owner = owner->next)
        for (const sl_chunk_t *chunk = owner->chunks; chunk && !any; chunk = chunk->next)
            any = chunk->exported && chunk->state != SL_CHUNK_BUSY;
    sl_mutex_unlock(&sl_owner_lock);
    return any;
}

static void forget(void) {
    last_number = 0;
}
SL_FORK_FORGETS(forget);
