/* import: see import.h.
 *
 * Handles of two allocations in one chunk share its mapping. A chunk with no open allocation is idle. The close waits for the work of its
 * context and unmaps it. While a stream captures, no thread can wait, so a later close does it. An idle chunk can be opened again. */
#include "memory/mapped/import.h"

#include <stdlib.h>

#include "driver/entry.h"
#include "driver/stream.h"
#include "memory/mapped/backing.h"
#include "memory/mapped/owner.h"
#include "os/fork.h"

enum { CAPTURE_UNSUPPORTED = 900 };

typedef struct {
    uint32_t offset;
    unsigned opened;
    uint64_t bytes, identity;
} piece_t;

typedef struct sl_import {
    struct sl_import *next;
    sl_chunk_t *chunk;
    uint64_t door, number;
    CUcontext context;
    piece_t *pieces; /* all that were ever opened */
    unsigned count;
    unsigned opened; /* of all pieces; 0: idle */
    uint64_t idle;   /* since when, as a number */
} import_t;

static import_t *imports;
static uint64_t last_idle;

/* With the lock held. Room for the piece; NULL: no memory. */
static piece_t *piece_of(import_t *import, const sl_import_key_t *key) {
    for (unsigned i = 0; i < import->count; i++)
        if (import->pieces[i].offset == key->offset)
            return &import->pieces[i];
    piece_t *more = realloc(import->pieces, (import->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    import->pieces = more;
    more[import->count] = (piece_t){.offset = key->offset};
    return &more[import->count++];
}

/* With the lock held. */
static CUresult open_piece(import_t *import, const sl_import_key_t *key, CUdeviceptr *address) {
    if (!key->bytes || key->offset > import->chunk->bytes || key->bytes > import->chunk->bytes - key->offset)
        return CUDA_ERROR_INVALID_VALUE;
    piece_t *piece = piece_of(import, key);
    if (!piece)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!piece->opened++) {
        piece->bytes = key->bytes;
        piece->identity = sl_owner_next_identity();
    }
    import->opened++;
    *address = import->chunk->base + key->offset;
    return CUDA_SUCCESS;
}

bool sl_import_open_again(const sl_import_key_t *key, CUdeviceptr *address, CUresult *status) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    import_t *import = imports;
    while (import && (import->door != key->door || import->number != key->number || import->context != key->context))
        import = import->next;
    if (import)
        *status = open_piece(import, key, address);
    sl_mutex_unlock(&sl_owner_lock);
    return import;
}

/* Addresses of this process for the chunk; NULL: none. */
static sl_chunk_t *take_addresses(CUdevice device, uint64_t bytes) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    sl_chunk_t *chunk = sl_arena_take(device, bytes);
    if (!chunk) {
        sl_mapped_add_addresses_unlocking(device, bytes);
        chunk = sl_arena_take(device, bytes);
    }
    sl_mutex_unlock(&sl_owner_lock);
    return chunk;
}

/* A chunk with a stuck mapping stays busy for ever. */
static void give_addresses(sl_chunk_t *chunk, bool stuck) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    if (!stuck)
        sl_arena_give(chunk);
    sl_mutex_unlock(&sl_owner_lock);
}

static void forget_import(import_t *import) {
    free(import->pieces);
    free(import);
}

static CUresult add(import_t *import, const sl_import_key_t *key, CUdeviceptr *address) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    CUresult status = open_piece(import, key, address);
    if (status == CUDA_SUCCESS) {
        import->chunk->import = import;
        import->chunk->state = SL_CHUNK_OPENED;
        import->next = imports;
        imports = import;
    }
    sl_mutex_unlock(&sl_owner_lock);
    return status;
}

static bool unmap(const sl_chunk_t *chunk) {
    return sl_backing_take(chunk->base, chunk->bytes) == CUDA_SUCCESS || sl_backing_take(chunk->base, chunk->bytes) == CUDA_SUCCESS;
}

CUresult sl_import_open(const sl_import_key_t *key, int fd, uint64_t chunk_bytes, CUdevice device, CUdeviceptr *address) {
    bool stuck = false;
    if (!chunk_bytes || chunk_bytes % SL_ARENA_BLOCK || chunk_bytes > sl_backing_total(device) * 64)
        return CUDA_ERROR_INVALID_VALUE;
    import_t *import = calloc(1, sizeof *import);
    sl_chunk_t *chunk = import ? take_addresses(device, chunk_bytes) : NULL;
    if (!chunk) {
        free(import);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *import = (import_t){.chunk = chunk, .door = key->door, .number = key->number, .context = key->context};
    CUresult status = sl_backing_import(fd, device, chunk->base, chunk->bytes, &stuck);
    if (status == CUDA_SUCCESS) {
        status = add(import, key, address);
        if (status != CUDA_SUCCESS)
            stuck = !unmap(chunk);
    }
    if (status != CUDA_SUCCESS) {
        give_addresses(chunk, stuck);
        forget_import(import);
    }
    return status;
}

/* With the lock held: takes the import out of the list if it has been idle since then. */
static bool take_out(import_t *import, uint64_t idle) {
    import_t **place = &imports;
    while (*place && *place != import)
        place = &(*place)->next;
    if (!*place || import->opened || import->idle != idle)
        return false;
    *place = import->next;
    import->chunk->state = SL_CHUNK_BUSY;
    import->chunk->import = NULL;
    return true;
}

static void end(import_t *import) {
    give_addresses(import->chunk, !unmap(import->chunk));
    forget_import(import);
}

/* Another thread may have opened it again, and even closed it and ended it. */
static void end_if_idle(import_t *import, uint64_t idle) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    bool ours = take_out(import, idle);
    sl_mutex_unlock(&sl_owner_lock);
    if (ours)
        end(import);
}

/* Imports of the context that were idle before the wait began. */
static void end_idle_of(CUcontext context, uint64_t until) {
    for (import_t *found;;) {
        uint64_t idle = 0;
        sl_mutex_lock_briefly(&sl_owner_lock);
        for (found = imports; found; found = found->next)
            if (found->context == context && !found->opened && found->idle <= until)
                break;
        if (found)
            idle = found->idle;
        sl_mutex_unlock(&sl_owner_lock);
        if (!found)
            return;
        end_if_idle(found, idle);
    }
}

/* With the lock held: an open allocation that begins there. */
static piece_t *find_open(uint64_t address, import_t **import) {
    const sl_chunk_t *chunk = sl_arena_find(address);
    *import = chunk && chunk->state == SL_CHUNK_OPENED ? chunk->import : NULL;
    for (unsigned i = 0; *import && i < (*import)->count; i++)
        if ((*import)->pieces[i].offset == address - chunk->base && (*import)->pieces[i].opened)
            return &(*import)->pieces[i];
    return NULL;
}

CUresult sl_import_close(CUdeviceptr address) {
    import_t *import;
    CUcontext context = NULL;
    uint64_t idle = 0;
    sl_mutex_lock_briefly(&sl_owner_lock);
    piece_t *piece = find_open(address, &import);
    if (piece) {
        context = import->context;
        piece->opened--;
        if (!--import->opened)
            idle = import->idle = ++last_idle;
    }
    sl_mutex_unlock(&sl_owner_lock);
    if (!piece)
        return CUDA_ERROR_INVALID_VALUE;
    if (!idle || sl_stream_open_captures > 0)
        return CUDA_SUCCESS;
    CUresult status = sl_backing_wait(context);
    if (status == CUDA_SUCCESS)
        end_idle_of(context, idle);
    return status == CAPTURE_UNSUPPORTED ? CUDA_SUCCESS : status;
}

bool sl_import_any(void) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    bool any = imports;
    sl_mutex_unlock(&sl_owner_lock);
    return any;
}

void sl_import_end(CUcontext context) {
    for (import_t *found;;) {
        sl_mutex_lock_briefly(&sl_owner_lock);
        for (found = imports; found && found->context != context;)
            found = found->next;
        if (found) {
            found->opened = 0;
            take_out(found, found->idle);
        }
        sl_mutex_unlock(&sl_owner_lock);
        if (!found)
            return;
        end(found);
    }
}

bool sl_import_look(const sl_chunk_t *chunk, uint64_t address, sl_mapped_view_t *view) {
    const import_t *import = chunk->import;
    for (unsigned i = 0; i < import->count; i++) {
        const piece_t *piece = &import->pieces[i];
        uint64_t base = chunk->base + piece->offset;
        if (!piece->opened || address - base >= piece->bytes)
            continue;
        *view = (sl_mapped_view_t){base, piece->bytes, piece->identity, import->context, false};
        return true;
    }
    return false;
}

static void forget(void) {
    imports = NULL;
}
SL_FORK_FORGETS(forget);
