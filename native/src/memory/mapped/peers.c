/* peers: which GPUs may use the mapped memory of a context.
 *
 * A context that enables access to a peer context may use the peer's memory. The driver gives access to mapped memory by GPU only. So the
 * GPU of the first context gets access to the peer's chunks, present and later ones. It keeps the access until no context of the GPU has
 * enabled it. */
#include "memory/mapped/peers.h"

#include <stdlib.h>

#include "driver/driver.h"
#include "hooks.h"
#include "memory/mapped/mapped.h"
#include "os/fork.h"
#include "real.h"

typedef struct pair {
    struct pair *next;
    CUcontext user, owner;
    CUdevice device; /* of the user */
} pair_t;

static pair_t *pairs;
static uint64_t generation;

uint64_t sl_peers_generation(void) {
    return generation;
}

static bool is_allowed(CUcontext owner, CUdevice device) {
    for (const pair_t *pair = pairs; pair; pair = pair->next)
        if (pair->owner == owner && pair->device == device)
            return true;
    return false;
}

unsigned sl_peers_list(const sl_owner_t *owner, CUmemAccessDesc accesses[SL_BACKING_ACCESSES]) {
    unsigned count = 0;
    accesses[count++] = sl_backing_access(owner->device, true);
    for (const pair_t *pair = pairs; pair && owner->context; pair = pair->next) {
        bool known = pair->owner != owner->context;
        for (unsigned i = 0; i < count && !known; i++)
            known = accesses[i].location.id == pair->device;
        if (!known && count < SL_BACKING_ACCESSES)
            accesses[count++] = sl_backing_access(pair->device, true);
    }
    return count;
}

void sl_peers_end(CUcontext context) {
    for (pair_t **place = &pairs; *place;) {
        pair_t *pair = *place;
        if (pair->user != context && pair->owner != context) {
            place = &pair->next;
            continue;
        }
        *place = pair->next;
        free(pair);
        generation++;
    }
}

typedef struct {
    uint64_t base, bytes;
} range_t;

/* The chunks of a context that have memory; NULL with a count: no memory for the list. */
static range_t *ranges_of(CUcontext context, size_t *count) {
    *count = 0;
    for (const sl_owner_t *owner = sl_owners; owner; owner = owner->next)
        for (const sl_chunk_t *chunk = owner->context == context ? owner->chunks : NULL; chunk; chunk = chunk->next)
            *count += chunk->state != SL_CHUNK_BUSY;
    range_t *ranges = malloc((*count + !*count) * sizeof *ranges), *end = ranges;
    for (const sl_owner_t *owner = ranges ? sl_owners : NULL; owner; owner = owner->next)
        for (const sl_chunk_t *chunk = owner->context == context ? owner->chunks : NULL; chunk; chunk = chunk->next)
            if (chunk->state != SL_CHUNK_BUSY)
                *end++ = (range_t){chunk->base, chunk->bytes};
    return ranges;
}

static bool is_live(uint64_t base) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    const sl_chunk_t *chunk = sl_arena_find(base);
    bool live = chunk && chunk->base == base && (chunk->state == SL_CHUNK_LIVE || chunk->state == SL_CHUNK_SPARE);
    sl_mutex_unlock(&sl_owner_lock);
    return live;
}

/* A chunk that another thread frees meanwhile need not change. */
static CUresult change(const range_t *ranges, size_t count, CUdevice device, bool allowed) {
    CUmemAccessDesc access = sl_backing_access(device, allowed);
    for (size_t i = 0; i < count; i++) {
        CUresult status = sl_backing_allow(ranges[i].base, ranges[i].bytes, &access, 1);
        if (status != CUDA_SUCCESS && is_live(ranges[i].base))
            return status;
    }
    return CUDA_SUCCESS;
}

static bool add_pair(CUcontext user, CUcontext owner, CUdevice device) {
    pair_t *pair = malloc(sizeof *pair);
    if (!pair)
        return false;
    *pair = (pair_t){pairs, user, owner, device};
    pairs = pair;
    generation++;
    return true;
}

static void remove_pair(CUcontext user, CUcontext owner) {
    for (pair_t **place = &pairs; *place; place = &(*place)->next)
        if ((*place)->user == user && (*place)->owner == owner) {
            pair_t *pair = *place;
            *place = pair->next;
            free(pair);
            generation++;
            return;
        }
}

static bool who_asks(CUcontext *user, CUdevice *device) {
    return real.cuCtxGetCurrent && real.cuCtxGetDevice && real.cuCtxGetCurrent(user) == CUDA_SUCCESS && *user &&
           real.cuCtxGetDevice(device) == CUDA_SUCCESS;
}

static CUresult allow(CUcontext owner) {
    CUcontext user;
    CUdevice device;
    if (!who_asks(&user, &device))
        return CUDA_SUCCESS;
    size_t count = 0;
    sl_mutex_lock_briefly(&sl_owner_lock);
    bool noted = add_pair(user, owner, device);
    range_t *ranges = noted ? ranges_of(owner, &count) : NULL;
    sl_mutex_unlock(&sl_owner_lock);
    CUresult status = ranges ? change(ranges, count, device, true) : CUDA_ERROR_OUT_OF_MEMORY;
    if (status != CUDA_SUCCESS && noted) {
        sl_mutex_lock_briefly(&sl_owner_lock);
        remove_pair(user, owner);
        sl_mutex_unlock(&sl_owner_lock);
    }
    free(ranges);
    return status;
}

static void forbid(CUcontext owner) {
    CUcontext user;
    CUdevice device;
    if (!who_asks(&user, &device))
        return;
    size_t count = 0;
    sl_mutex_lock_briefly(&sl_owner_lock);
    remove_pair(user, owner);
    range_t *ranges = is_allowed(owner, device) ? NULL : ranges_of(owner, &count);
    sl_mutex_unlock(&sl_owner_lock);
    if (ranges)
        change(ranges, count, device, false);
    free(ranges);
}

CUresult hook_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    if (!SL_DRIVER_HAS(cuCtxEnablePeerAccess))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuCtxEnablePeerAccess(peerContext, Flags);
    if (status != CUDA_SUCCESS || !sl_mapped_is_on())
        return status;
    status = allow(peerContext);
    if (status != CUDA_SUCCESS && real.cuCtxDisablePeerAccess)
        real.cuCtxDisablePeerAccess(peerContext);
    return status;
}

CUresult hook_cuCtxDisablePeerAccess(CUcontext peerContext) {
    if (!SL_DRIVER_HAS(cuCtxDisablePeerAccess))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuCtxDisablePeerAccess(peerContext);
    if (status == CUDA_SUCCESS && sl_mapped_is_on())
        forbid(peerContext);
    return status;
}

static void forget(void) {
    pairs = NULL;
}
SL_FORK_FORGETS(forget);
