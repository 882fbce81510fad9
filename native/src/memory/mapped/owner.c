/* owner: the mapped memory of one context. */
#include "memory/mapped/owner.h"

#include <stdlib.h>

#include "os/fork.h"

#define FIRST_IDENTITY (1ull << 62) /* the driver numbers its own allocations from below */

sl_mutex_t sl_owner_lock;
sl_owner_t *sl_owners;
static uint64_t identities = FIRST_IDENTITY;

uint64_t sl_owner_next_identity(void) {
    return ++identities;
}

sl_owner_t *sl_owner_find(CUcontext context) {
    sl_owner_t *owner = sl_owners;
    while (owner && (owner->context != context || owner->ending || owner->gone))
        owner = owner->next;
    return owner;
}

sl_owner_t *sl_owner_of(CUcontext context, CUdevice device, unsigned gpu) {
    sl_owner_t *found = sl_owner_find(context), *owner = found ? found : calloc(1, sizeof *owner);
    if (owner && !found) {
        *owner = (sl_owner_t){.next = sl_owners, .context = context, .device = device, .gpu = gpu};
        sl_owners = owner;
    }
    return owner;
}

void sl_owner_add(sl_owner_t *owner, sl_chunk_t *chunk) {
    chunk->owner = owner;
    chunk->bin = -1;
    chunk->previous = NULL;
    chunk->next = owner->chunks;
    if (owner->chunks)
        owner->chunks->previous = chunk;
    owner->chunks = chunk;
}

static void unfile(sl_chunk_t *chunk) {
    if (chunk->bin < 0)
        return;
    if (chunk->bin_previous)
        chunk->bin_previous->bin_next = chunk->bin_next;
    else
        chunk->owner->bins[chunk->bin] = chunk->bin_next;
    if (chunk->bin_next)
        chunk->bin_next->bin_previous = chunk->bin_previous;
    chunk->bin = -1;
}

/* A slab without a live piece takes no new pieces: it is about to be unmapped and refunded. */
void sl_owner_file_slab(sl_chunk_t *chunk) {
    int bin = chunk->state == SL_CHUNK_LIVE && chunk->slab->live ? (int)(chunk->slab->longest / 64) : -1;
    if (bin == chunk->bin)
        return;
    unfile(chunk);
    if (bin < 0)
        return;
    sl_chunk_t **list = &chunk->owner->bins[bin];
    chunk->bin = bin;
    chunk->bin_previous = NULL;
    chunk->bin_next = *list;
    if (*list)
        (*list)->bin_previous = chunk;
    *list = chunk;
}

void sl_owner_drop(sl_chunk_t *chunk, bool stuck) {
    sl_owner_t *owner = chunk->owner;
    unfile(chunk);
    if (chunk->previous)
        chunk->previous->next = chunk->next;
    else
        owner->chunks = chunk->next;
    if (chunk->next)
        chunk->next->previous = chunk->previous;
    free(chunk->slab);
    chunk->slab = NULL;
    if (stuck)
        chunk->state = SL_CHUNK_BUSY; /* for ever: the map has it, but no owner does */
    else
        sl_arena_give(chunk);
    sl_owner_end_if_empty(owner);
}

uint64_t sl_owner_take_piece_of(sl_chunk_t *chunk, uint32_t bytes) {
    int start = sl_slab_take(chunk->slab, bytes, identities + 1);
    if (start >= 0)
        identities++;
    sl_owner_file_slab(chunk);
    return start < 0 ? 0 : chunk->base + (uint64_t)start * SL_SLAB_UNIT;
}

uint64_t sl_owner_take_piece(sl_owner_t *owner, uint32_t bytes) {
    unsigned units = (bytes + SL_SLAB_UNIT - 1) / SL_SLAB_UNIT;
    for (unsigned bin = units / 64; bin < SL_OWNER_BINS; bin++)
        for (sl_chunk_t *chunk = owner->bins[bin], *next; chunk; chunk = next) {
            next = chunk->bin_next;
            uint64_t address = chunk->slab->longest >= units ? sl_owner_take_piece_of(chunk, bytes) : 0;
            if (address)
                return address;
        }
    return 0;
}

void sl_owner_end_if_empty(sl_owner_t *owner) {
    if (!owner->gone || owner->chunks || owner->busy)
        return;
    sl_owner_t **place = &sl_owners;
    while (*place != owner)
        place = &(*place)->next;
    *place = owner->next;
    free(owner);
}

/* Another thread of the parent may have been changing a list, so nothing is freed. */
static void forget(void) {
    sl_owner_lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    sl_owners = NULL;
}
SL_FORK_FORGETS(forget);
