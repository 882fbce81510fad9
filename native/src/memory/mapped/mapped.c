/* mapped: plain memory that Sluice maps itself. Functions that end in "unlocking" release the caller's lock while the driver works. */
#include "memory/mapped/mapped.h"

#include <stdlib.h>

#include "driver/driver.h"
#include "driver/stream.h"
#include "ledger/ledger.h"
#include "memory/deferred.h"
#include "memory/kept.h"
#include "memory/mapped/backing.h"
#include "memory/mapped/import.h"
#include "memory/mapped/later.h"
#include "memory/mapped/owner.h"
#include "memory/mapped/peers.h"
#include "memory/mapped/spare.h"
#include "memory/pool.h"
#include "os/fork.h"
#include "real.h"
#include "tenant/tenant.h"

enum { CAPTURE_UNSUPPORTED = 900, INVALID_CONTEXT = 201, CONTEXT_IS_DESTROYED = 709, EVENT_DISABLE_TIMING = 2 };

#define POLLED 4 /* events that an allocation queries */

SL_HOT_DATA _Atomic int sl_mapped_mode;

bool sl_mapped_decide(void) {
    int mode = sl_mapped_mode;
    if (mode == SL_MAPPED_UNDECIDED) {
        bool on = sl_tenant_attach() == SL_TENANT_ATTACHED && SL_LOAD(sl_tenant.region.limits->mapped);
        int decided = on ? SL_MAPPED_ON : SL_MAPPED_OFF;
        mode = atomic_compare_exchange_strong(&sl_mapped_mode, &mode, decided) ? decided : mode;
    }
    return mode == SL_MAPPED_ON;
}

/* A new chunk that has no memory yet. */
typedef struct {
    sl_owner_t *owner;
    sl_chunk_t *chunk;
    uint64_t generation;
    unsigned count;
    CUmemAccessDesc accesses[SL_BACKING_ACCESSES];
} coming_t;

/* With the lock held. */
static bool begin_chunk(coming_t *coming, uint64_t bytes) {
    coming->chunk = sl_arena_take(coming->owner->device, bytes);
    if (!coming->chunk)
        return false;
    coming->owner->busy++;
    coming->generation = sl_peers_generation();
    coming->count = sl_peers_list(coming->owner, coming->accesses);
    return true;
}

void sl_mapped_add_addresses_unlocking(CUdevice device, uint64_t bytes) {
    uint64_t base, reserved;
    sl_mutex_unlock(&sl_owner_lock);
    bool got = sl_backing_reserve(device, bytes, &base, &reserved);
    sl_mutex_lock_briefly(&sl_owner_lock);
    if (!got || sl_arena_add(device, base, reserved))
        return;
    sl_mutex_unlock(&sl_owner_lock);
    real.cuMemAddressFree(base, reserved);
    sl_mutex_lock_briefly(&sl_owner_lock);
}

/* Busy, so that the owner stays while the lock is released. */
static bool begin_with_more_addresses_unlocking(coming_t *coming, uint64_t bytes) {
    coming->owner->busy++;
    sl_mapped_add_addresses_unlocking(coming->owner->device, bytes);
    bool begun = begin_chunk(coming, bytes);
    coming->owner->busy--;
    return begun;
}

/* The peers may have changed while the driver mapped the memory. */
static CUresult catch_up_with_peers_unlocking(coming_t *coming) {
    CUresult status = CUDA_SUCCESS;
    while (status == CUDA_SUCCESS && coming->generation != sl_peers_generation()) {
        coming->generation = sl_peers_generation();
        coming->count = sl_peers_list(coming->owner, coming->accesses);
        sl_mutex_unlock(&sl_owner_lock);
        status = sl_backing_allow(coming->chunk->base, coming->chunk->bytes, coming->accesses, coming->count);
        sl_mutex_lock_briefly(&sl_owner_lock);
    }
    return status;
}

/* Without the lock. */
static CUresult put_memory(const coming_t *coming, bool *stuck) {
    const sl_owner_t *owner = coming->owner;
    uint64_t base = coming->chunk->base, bytes = coming->chunk->bytes;
    CUresult status = sl_backing_put(owner->device, base, bytes, coming->accesses, coming->count, stuck);
    if (status != CUDA_ERROR_OUT_OF_MEMORY || *stuck)
        return status;
    if (sl_kept_reclaim(owner->gpu))
        status = sl_backing_put(owner->device, base, bytes, coming->accesses, coming->count, stuck);
    if (status == CUDA_ERROR_OUT_OF_MEMORY && !*stuck && sl_pool_trim(owner->gpu))
        status = sl_backing_put(owner->device, base, bytes, coming->accesses, coming->count, stuck);
    return status;
}

/* The chunk is live if that succeeds. */
static CUresult make_chunk_unlocking(coming_t *coming, uint64_t bytes) {
    sl_owner_t *owner = coming->owner;
    bool stuck = false;
    if (!begin_chunk(coming, bytes) && !begin_with_more_addresses_unlocking(coming, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    sl_chunk_t *chunk = coming->chunk;
    sl_mutex_unlock(&sl_owner_lock);
    CUresult status = put_memory(coming, &stuck);
    sl_mutex_lock_briefly(&sl_owner_lock);
    if (status == CUDA_SUCCESS) {
        status = catch_up_with_peers_unlocking(coming);
        if (status == CUDA_SUCCESS && owner->gone)
            status = CONTEXT_IS_DESTROYED;
        if (status != CUDA_SUCCESS) {
            sl_mutex_unlock(&sl_owner_lock);
            stuck = sl_backing_take(chunk->base, chunk->bytes) != CUDA_SUCCESS;
            sl_mutex_lock_briefly(&sl_owner_lock);
        }
    }
    owner->busy--;
    if (status == CUDA_SUCCESS) {
        sl_owner_add(owner, chunk);
        chunk->state = SL_CHUNK_LIVE;
    } else {
        if (!stuck)
            sl_arena_give(chunk);
        sl_owner_end_if_empty(owner);
    }
    return status;
}

static uint64_t whole_blocks(uint64_t bytes) {
    return (bytes + SL_ARENA_BLOCK - 1) & ~(SL_ARENA_BLOCK - 1);
}

/* With the lock held: makes the chunk one allocation. */
static CUdeviceptr name(sl_chunk_t *chunk, uint64_t bytes) {
    chunk->asked = bytes;
    chunk->identity = sl_owner_next_identity();
    return chunk->base;
}

static CUresult take_whole_unlocking(sl_owner_t *owner, uint64_t bytes, CUdeviceptr *address) {
    coming_t coming = {.owner = owner};
    CUresult status = make_chunk_unlocking(&coming, whole_blocks(bytes));
    if (status == CUDA_SUCCESS)
        *address = name(coming.chunk, bytes);
    return status;
}

static CUresult take_piece_unlocking(sl_owner_t *owner, uint32_t bytes, bool may_make, CUdeviceptr *address) {
    uint64_t found = sl_owner_take_piece(owner, bytes);
    if (found) {
        *address = found;
        return CUDA_SUCCESS;
    }
    if (!may_make)
        return SL_MAPPED_NO_SLAB;
    sl_slab_t *slab = sl_slab_make();
    if (!slab)
        return CUDA_ERROR_OUT_OF_MEMORY;
    coming_t coming = {.owner = owner};
    CUresult status = make_chunk_unlocking(&coming, SL_ARENA_BLOCK);
    if (status != CUDA_SUCCESS) {
        free(slab);
        return status;
    }
    coming.chunk->slab = slab;
    *address = sl_owner_take_piece_of(coming.chunk, bytes);
    return CUDA_SUCCESS;
}

CUresult sl_mapped_take(CUcontext context, unsigned gpu, uint64_t bytes, bool may_make, CUdeviceptr *address) {
    CUdevice device;
    if (!real.cuCtxGetDevice || real.cuCtxGetDevice(&device) != CUDA_SUCCESS || !sl_backing_can(device, gpu))
        return SL_MAPPED_PASS;
    if (bytes > SL_ARENA_BLOCK && bytes > sl_backing_total(device))
        return CUDA_ERROR_OUT_OF_MEMORY;
    sl_later_poll(POLLED);
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    sl_mutex_lock_briefly(&sl_owner_lock);
    sl_owner_t *owner = sl_owner_of(context, device, gpu);
    if (owner && bytes <= SL_ARENA_BLOCK)
        status = take_piece_unlocking(owner, (uint32_t)bytes, may_make, address);
    else if (owner)
        status = take_whole_unlocking(owner, bytes, address);
    sl_mutex_unlock(&sl_owner_lock);
    return status;
}

/* With the lock held. A spare chunk of 2 MiB is an empty slab. */
static bool take_spare(const sl_owner_t *owner, uint64_t bytes, sl_mapped_paid_t *paid) {
    paid->bytes = whole_blocks(bytes);
    sl_chunk_t *chunk = sl_spare_take(owner, paid->bytes, &paid->used);
    if (!chunk)
        return false;
    paid->address = chunk->slab ? sl_owner_take_piece_of(chunk, (uint32_t)bytes) : name(chunk, bytes);
    return true;
}

bool sl_mapped_take_paid(CUcontext context, unsigned gpu, uint64_t bytes, sl_mapped_paid_t *paid) {
    sl_later_poll(POLLED);
    *paid = (sl_mapped_paid_t){0};
    sl_mutex_lock_briefly(&sl_owner_lock);
    sl_owner_t *owner = sl_owner_find(context);
    bool taken = false;
    if (owner && owner->gpu == gpu && bytes <= SL_ARENA_BLOCK)
        taken = (paid->address = sl_owner_take_piece(owner, (uint32_t)bytes));
    if (owner && owner->gpu == gpu && !taken && bytes <= SL_SPARE_MOST)
        taken = take_spare(owner, bytes, paid);
    sl_mutex_unlock(&sl_owner_lock);
    return taken;
}

/* With the lock held: the allocation that begins at an address. */
static bool find(uint64_t address, sl_freed_t *found) {
    sl_chunk_t *chunk = sl_arena_find(address);
    if (!chunk || chunk->state != SL_CHUNK_LIVE)
        return false;
    *found = (sl_freed_t){chunk, -1};
    if (!chunk->slab)
        return address == chunk->base;
    unsigned unit = (unsigned)((address - chunk->base) / SL_SLAB_UNIT);
    found->start = (int)unit;
    return address % SL_SLAB_UNIT == 0 && chunk->slab->states[unit] == SL_PIECE_LIVE;
}

/* With the lock held. */
static void set_freed(sl_freed_t found, bool freed) {
    sl_chunk_t *chunk = found.chunk;
    if (found.start < 0) {
        chunk->state = freed ? SL_CHUNK_FREED : SL_CHUNK_LIVE;
        return;
    }
    chunk->slab->states[found.start] = freed ? SL_PIECE_FREED : SL_PIECE_LIVE;
    chunk->slab->live += freed ? -1u : 1u;
    chunk->slab->freed += freed ? 1u : -1u;
    sl_owner_file_slab(chunk);
}

static CUresult undo(sl_freed_t freed, CUresult status) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    set_freed(freed, false);
    sl_mutex_unlock(&sl_owner_lock);
    return status;
}

static CUresult end_now(sl_freed_t freed, uint64_t left) {
    sl_mutex_lock_briefly(&sl_owner_lock);
    sl_ending_t ending = sl_later_end(freed, left);
    sl_mutex_unlock(&sl_owner_lock);
    CUresult status = sl_later_carry_out(&ending, left);
    return status == CUDA_SUCCESS ? status : undo(freed, status);
}

static CUresult add_later(sl_freed_t freed, CUevent event, CUcontext event_context, uint64_t left) {
    if (sl_later_add(freed, event, event_context, left))
        return CUDA_SUCCESS;
    if (event)
        real.cuEventDestroy_v2(event);
    return undo(freed, CUDA_ERROR_OUT_OF_MEMORY);
}

/* How an allocation is freed. */
typedef struct {
    CUcontext context; /* of the allocation */
    CUcontext current;
    unsigned gpu;
    bool is_last;      /* nothing else is in the chunk */
} freeing_t;

static CUresult end_after_wait(sl_freed_t freed, const freeing_t *freeing, uint64_t left) {
    if (sl_stream_open_captures > 0)
        return add_later(freed, NULL, NULL, left);
    CUcontext context = freeing->context;
    bool is_current = context == freeing->current;
    uint64_t wait = sl_deferred_begin();
    CUresult status = sl_backing_wait(is_current ? NULL : context);
    if (status == CUDA_SUCCESS && is_current && freeing->is_last)
        sl_spare_look_for_room(freeing->gpu);
    if (status == CAPTURE_UNSUPPORTED)
        return add_later(freed, NULL, NULL, left);
    if (status != CUDA_SUCCESS)
        return undo(freed, status);
    status = end_now(freed, left);
    if (wait)
        sl_kept_waited(wait, context);
    return status;
}

/* The event lies in the context of the stream, which need not be the current one. */
static CUresult record(CUstream stream, bool per_thread, CUevent *event, CUcontext *context) {
    CUcontext current = NULL, popped;
    CUresult status = real.cuCtxGetCurrent(&current);
    *context = current;
    if (status == CUDA_SUCCESS && (uintptr_t)stream > 2 && real.cuStreamGetCtx)
        status = real.cuStreamGetCtx(stream, context);
    bool pushed = status == CUDA_SUCCESS && *context != current && real.cuCtxPushCurrent_v2 && real.cuCtxPopCurrent_v2;
    if (pushed)
        status = real.cuCtxPushCurrent_v2(*context);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuEventCreate(event, EVENT_DISABLE_TIMING);
    if (status == CUDA_SUCCESS) {
        status = per_thread && real.cuEventRecord_ptsz ? real.cuEventRecord_ptsz(*event, stream) : real.cuEventRecord(*event, stream);
        if (status != CUDA_SUCCESS)
            real.cuEventDestroy_v2(*event);
    }
    if (pushed)
        real.cuCtxPopCurrent_v2(&popped);
    return status;
}

/* A graph cannot free such memory: the driver returns its error. */
static CUresult refuse_in_graph(CUdeviceptr address, CUstream stream, bool per_thread) {
    CUresult status = per_thread ? real.cuMemFreeAsync_ptsz(address, stream) : real.cuMemFreeAsync(address, stream);
    return status == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : status;
}

static CUresult end_in_stream(sl_freed_t freed, CUdeviceptr address, CUstream stream, bool per_thread, uint64_t left) {
    sl_stream_t named = sl_stream_of(stream, per_thread);
    if (sl_stream_captures(&named))
        return undo(freed, refuse_in_graph(address, stream, per_thread));
    CUevent event;
    CUcontext context;
    CUresult status = record(stream, per_thread, &event, &context);
    return status == CUDA_SUCCESS ? add_later(freed, event, context, left) : undo(freed, status);
}

/* Without a context the driver frees nothing. */
static CUresult check_context(CUdeviceptr address, CUcontext *current) {
    if (real.cuCtxGetCurrent(current) == CUDA_SUCCESS && *current)
        return CUDA_SUCCESS;
    CUresult status = real.cuMemFree_v2 ? real.cuMemFree_v2(address) : INVALID_CONTEXT;
    return status == CUDA_SUCCESS ? INVALID_CONTEXT : status;
}

CUresult sl_mapped_give(CUdeviceptr address, sl_mapped_when_t when, CUstream stream, uint64_t left) {
    freeing_t freeing = {0};
    CUresult status = when == SL_MAPPED_UNUSED ? CUDA_SUCCESS : check_context(address, &freeing.current);
    if (status != CUDA_SUCCESS)
        return status;
    sl_freed_t freed;
    sl_mutex_lock_briefly(&sl_owner_lock);
    bool found = find(address, &freed);
    if (found) {
        set_freed(freed, true);
        freeing.context = freed.chunk->owner->context;
        freeing.gpu = freed.chunk->owner->gpu;
        freeing.is_last = !freed.chunk->slab || freed.chunk->slab->live + freed.chunk->slab->freed == 1;
    }
    sl_mutex_unlock(&sl_owner_lock);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (when == SL_MAPPED_UNUSED)
        return end_now(freed, left);
    if (when == SL_MAPPED_SYNCHRONIZED)
        return end_after_wait(freed, &freeing, left);
    return end_in_stream(freed, address, stream, when == SL_MAPPED_IN_STREAM_OF_THREAD, left);
}

/* With the lock held. */
static bool look_at_own(const sl_chunk_t *chunk, uint64_t address, sl_mapped_view_t *view) {
    int start = chunk->slab ? sl_slab_find(chunk->slab, (unsigned)((address - chunk->base) / SL_SLAB_UNIT)) : -1;
    bool exportable = sl_backing_can_share(chunk->owner->device);
    *view = (sl_mapped_view_t){chunk->base, chunk->asked, chunk->identity, chunk->owner->context, exportable};
    if (!chunk->slab)
        return true;
    if (start < 0 || chunk->slab->states[start] != SL_PIECE_LIVE)
        return false;
    view->base = chunk->base + (uint64_t)start * SL_SLAB_UNIT;
    view->bytes = chunk->slab->bytes[start];
    view->identity = chunk->slab->identities[start];
    return true;
}

bool sl_mapped_look(uint64_t address, sl_mapped_view_t *view) {
    bool found = false;
    sl_mutex_lock_briefly(&sl_owner_lock);
    const sl_chunk_t *chunk = sl_arena_find(address);
    if (chunk && chunk->state == SL_CHUNK_LIVE)
        found = look_at_own(chunk, address, view);
    else if (chunk && chunk->state == SL_CHUNK_OPENED)
        found = sl_import_look(chunk, address, view);
    sl_mutex_unlock(&sl_owner_lock);
    return found;
}

void sl_mapped_leave(CUcontext context) {
    if (SL_LOAD(sl_mapped_mode) != SL_MAPPED_ON || !context)
        return;
    sl_mutex_lock_briefly(&sl_owner_lock);
    for (sl_owner_t *owner = sl_owners; owner; owner = owner->next)
        if (owner->context == context)
            owner->ending = true;
    sl_later_lose_events(context);
    sl_mutex_unlock(&sl_owner_lock);
}

/* With the lock held: a chunk to give back; NULL: other threads give the rest back. */
static sl_chunk_t *next_to_drop(sl_owner_t *owner) {
    sl_chunk_t *chunk = owner->chunks;
    while (chunk && chunk->state == SL_CHUNK_BUSY)
        chunk = chunk->next;
    if (chunk && chunk->state == SL_CHUNK_SPARE)
        sl_spare_forget(chunk);
    if (chunk)
        chunk->state = SL_CHUNK_BUSY;
    return chunk;
}

static sl_owner_t *ended_owner(CUcontext context) {
    sl_owner_t *owner = sl_owners;
    while (owner && (owner->context != context || !owner->ending || owner->gone))
        owner = owner->next;
    return owner;
}

/* The owner counts as busy, so that it stays until the end. */
static void drop_all_unlocking(sl_owner_t *owner) {
    owner->gone = true;
    owner->busy++;
    sl_later_drop(owner);
    for (sl_chunk_t *chunk; (chunk = next_to_drop(owner));) {
        uint64_t left = chunk->left;
        sl_mutex_unlock(&sl_owner_lock);
        bool stuck = sl_backing_take(chunk->base, chunk->bytes) != CUDA_SUCCESS && sl_backing_take(chunk->base, chunk->bytes) != CUDA_SUCCESS;
        if (left)
            sl_ledger_refund_left(owner->gpu, left);
        sl_mutex_lock(&sl_owner_lock);
        sl_owner_drop(chunk, stuck);
    }
    owner->busy--;
    sl_owner_end_if_empty(owner);
}

void sl_mapped_left(CUcontext context, bool gone) {
    if (SL_LOAD(sl_mapped_mode) != SL_MAPPED_ON || !context)
        return;
    sl_mutex_lock(&sl_owner_lock);
    for (sl_owner_t *owner; (owner = ended_owner(context));) {
        owner->ending = gone;
        if (gone)
            drop_all_unlocking(owner);
    }
    if (gone)
        sl_peers_end(context);
    sl_mutex_unlock(&sl_owner_lock);
    if (gone)
        sl_import_end(context);
}

void sl_mapped_lose_context(CUcontext context) {
    if (SL_LOAD(sl_mapped_mode) != SL_MAPPED_ON || !context)
        return;
    sl_mutex_lock_briefly(&sl_owner_lock);
    for (sl_owner_t *owner = sl_owners; owner; owner = owner->next)
        if (owner->context == context)
            owner->context = NULL;
    sl_later_lose_events(context);
    sl_peers_end(context);
    sl_mutex_unlock(&sl_owner_lock);
}

static void forget(void) {
    sl_mapped_mode = SL_MAPPED_UNDECIDED;
}
SL_FORK_FORGETS(forget);
