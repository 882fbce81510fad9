/* later: mapped memory that the program freed and the GPU may still use.
 *
 * Memory that was freed in the order of a stream is unmapped after an event in that stream. Memory that was freed while a stream
 * captured is unmapped after a wait for its context: waiting at once would end the capture. A wait does not cover memory that was freed
 * after it began; waits have numbers for that (memory/deferred.h). Until then the ledger counts the memory as in flight. */
#include "memory/mapped/later.h"

#include <limits.h>
#include <stdlib.h>

#include "driver/stream.h"
#include "ledger/ledger.h"
#include "memory/deferred.h"
#include "memory/kept.h"
#include "memory/mapped/backing.h"
#include "memory/mapped/spare.h"
#include "os/fork.h"
#include "real.h"

#define BATCH 32

typedef struct note {
    struct note *next;
    sl_freed_t freed;
    CUevent event;
    CUcontext event_context;
    uint64_t wait; /* the first wait that covers it */
} note_t;

static note_t *notes;
static atomic_uint count; /* of notes */

/* A slab with freed pieces only is charged until it is unmapped; the last freed piece carries the charge. If two frees raced, that piece
 * was refunded while the other one was still there. */
static void charge_again(sl_chunk_t *chunk) {
    sl_ledger_charge(chunk->owner->gpu, SL_USE_LINEAR, chunk->bytes);
    sl_ledger_leave(chunk->owner->gpu, SL_USE_LINEAR, chunk->bytes);
    chunk->left = chunk->bytes;
}

/* With the lock held: the part of a piece's bytes in flight that is refunded now. */
static uint64_t settle_left(sl_chunk_t *chunk) {
    uint64_t refund = 0;
    if (chunk->slab->live) {
        refund = chunk->left;
        chunk->left = 0;
    } else if (chunk->slab->later && !chunk->left) {
        charge_again(chunk);
    }
    return refund;
}

sl_ending_t sl_later_end(sl_freed_t freed, uint64_t left) {
    sl_chunk_t *chunk = freed.chunk;
    sl_ending_t ending = {.freed = freed, .gpu = chunk->owner->gpu};
    chunk->left += left;
    if (freed.start >= 0 && chunk->slab->live + chunk->slab->freed > 1) {
        sl_slab_drop(chunk->slab, (unsigned)freed.start);
        sl_owner_file_slab(chunk);
        ending.refund = settle_left(chunk);
        return ending;
    }
    if (sl_spare_keep(chunk)) {
        if (chunk->slab)
            sl_slab_drop(chunk->slab, (unsigned)freed.start);
        return ending;
    }
    ending.unmaps = true;
    ending.refund = chunk->left;
    chunk->state = SL_CHUNK_BUSY;
    if (chunk->slab)
        sl_owner_file_slab(chunk);
    return ending;
}

/* The driver failed to unmap the memory. A slab is live again, with its one freed piece. */
static void restore(const sl_ending_t *ending, uint64_t left) {
    sl_chunk_t *chunk = ending->freed.chunk;
    sl_mutex_lock_briefly(&sl_owner_lock);
    chunk->left -= left;
    chunk->state = chunk->slab ? SL_CHUNK_LIVE : SL_CHUNK_FREED;
    sl_mutex_unlock(&sl_owner_lock);
}

CUresult sl_later_carry_out(const sl_ending_t *ending, uint64_t left) {
    if (ending->unmaps) {
        sl_chunk_t *chunk = ending->freed.chunk;
        CUresult status = sl_backing_take(chunk->base, chunk->bytes);
        if (status != CUDA_SUCCESS) {
            restore(ending, left);
            return status;
        }
        sl_mutex_lock_briefly(&sl_owner_lock);
        sl_owner_drop(chunk, false);
        sl_mutex_unlock(&sl_owner_lock);
    }
    if (ending->refund)
        sl_ledger_refund_left(ending->gpu, ending->refund);
    return CUDA_SUCCESS;
}

bool sl_later_add(sl_freed_t freed, CUevent event, CUcontext event_context, uint64_t left) {
    note_t *note = malloc(sizeof *note);
    if (!note)
        return false;
    sl_chunk_t *chunk = freed.chunk;
    uint64_t refund = 0;
    sl_mutex_lock_briefly(&sl_owner_lock);
    *note = (note_t){NULL, freed, event, event_context, sl_deferred_waits};
    note_t **end = &notes;
    while (*end)
        end = &(*end)->next;
    *end = note;
    count++;
    sl_deferred_count++;
    chunk->left += left;
    if (freed.start >= 0) {
        chunk->slab->later++;
        refund = settle_left(chunk);
    }
    unsigned gpu = chunk->owner->gpu;
    sl_mutex_unlock(&sl_owner_lock);
    if (refund)
        sl_ledger_refund_left(gpu, refund);
    return true;
}

/* With the lock held: takes the note out of the list. */
static sl_freed_t take_out(note_t **place) {
    note_t *note = *place;
    sl_freed_t freed = note->freed;
    *place = note->next;
    if (note->event)
        real.cuEventDestroy_v2(note->event);
    if (freed.start >= 0)
        freed.chunk->slab->later--;
    free(note);
    count--;
    sl_deferred_count--;
    return freed;
}

/* A wait that has ended: its context, all of whose work has ended, and its number. */
typedef struct {
    CUcontext context; /* NULL: none */
    uint64_t number;
    int gpu;     /* only notes of this GPU; negative: of all */
    unsigned most; /* query so many events at most */
    bool idle;   /* nothing is on the GPU */
} wait_t;

static bool is_over(const note_t *note, const wait_t *wait, unsigned *asked) {
    const sl_owner_t *owner = note->freed.chunk->owner;
    if (wait->gpu >= 0 && owner->gpu != (unsigned)wait->gpu)
        return false;
    if (wait->idle || (wait->context && owner->context == wait->context && note->wait <= wait->number))
        return true;
    return note->event && (*asked)++ < wait->most && real.cuEventQuery(note->event) == CUDA_SUCCESS;
}

/* If the driver fails to unmap memory that nothing uses, the next wait tries again. */
static bool carry_out_all(const sl_ending_t *endings, unsigned number) {
    bool any = false;
    for (unsigned i = 0; i < number; i++) {
        bool done = sl_later_carry_out(&endings[i], 0) == CUDA_SUCCESS;
        if (!done)
            sl_later_add(endings[i].freed, NULL, NULL, 0);
        any |= done;
    }
    return any;
}

static bool end_those_over(const wait_t *wait) {
    bool any = false;
    unsigned number, asked = 0;
    if (!count)
        return false;
    do {
        sl_ending_t endings[BATCH];
        number = 0;
        sl_mutex_lock(&sl_owner_lock);
        for (note_t **place = &notes; *place && number < BATCH;) {
            if (is_over(*place, wait, &asked))
                endings[number++] = sl_later_end(take_out(place), 0);
            else
                place = &(*place)->next;
        }
        sl_mutex_unlock(&sl_owner_lock);
        any |= carry_out_all(endings, number);
    } while (number == BATCH);
    return any;
}

bool sl_later_poll(unsigned most) {
    return SL_UNLIKELY(count) && end_those_over(&(wait_t){.gpu = -1, .most = most});
}

void sl_later_end_all(void) {
    end_those_over(&(wait_t){.gpu = -1, .idle = true});
}

void sl_kept_waited(uint64_t wait, CUcontext context) {
    end_those_over(&(wait_t){.context = context, .number = wait, .gpu = -1, .most = UINT_MAX});
}

/* A context of the GPU with memory that waits for it; NULL: none. */
static CUcontext context_to_wait_for(unsigned gpu) {
    CUcontext context = NULL;
    sl_mutex_lock_briefly(&sl_owner_lock);
    for (const note_t *note = notes; note && !context; note = note->next)
        if (!note->event && note->freed.chunk->owner->gpu == gpu)
            context = note->freed.chunk->owner->context;
    sl_mutex_unlock(&sl_owner_lock);
    return context;
}

/* A wait is no harm here: the program's free would have waited, too. */
static bool reclaim_later(unsigned gpu) {
    bool any = end_those_over(&(wait_t){.gpu = (int)gpu, .most = UINT_MAX});
    CUcontext context = sl_stream_open_captures > 0 ? NULL : context_to_wait_for(gpu);
    uint64_t number = context ? atomic_fetch_add(&sl_deferred_waits, 1) : 0;
    if (context && sl_backing_wait(context) == CUDA_SUCCESS)
        any |= end_those_over(&(wait_t){.context = context, .number = number, .gpu = (int)gpu});
    return any;
}

bool sl_kept_reclaim(unsigned gpu) {
    bool any = SL_UNLIKELY(count) && reclaim_later(gpu);
    return sl_spare_end((int)gpu) || any;
}

void sl_later_lose_events(CUcontext context) {
    for (note_t *note = notes; note; note = note->next)
        if (note->event_context == context)
            note->event = NULL;
}

void sl_later_drop(const sl_owner_t *owner) {
    for (note_t **place = &notes; *place;) {
        if ((*place)->freed.chunk->owner == owner)
            take_out(place);
        else
            place = &(*place)->next;
    }
}

static void forget(void) {
    notes = NULL;
    count = 0;
}
SL_FORK_FORGETS(forget);
