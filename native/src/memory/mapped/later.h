/* later: mapped memory that the program freed and the GPU may still use. */
#ifndef SL_LATER_H
#define SL_LATER_H

#include "memory/mapped/owner.h"

/* An allocation that the program freed: a chunk, or a piece of a slab. */
typedef struct {
    sl_chunk_t *chunk;
    int start; /* first unit in the slab; negative: the whole chunk */
} sl_freed_t;

/* The work for a freed allocation that remains when the lock is released. */
typedef struct {
    sl_freed_t freed;
    bool unmaps; /* the memory of the chunk is to be unmapped */
    unsigned gpu;
    uint64_t refund;
} sl_ending_t;

/* With the lock held: nothing uses the allocation any more. The chunk is busy if its memory is to be unmapped, otherwise it may be spare. */
sl_ending_t sl_later_end(sl_freed_t freed, uint64_t left);
/* Without the lock. Returns the driver's answer; after a failure the allocation is as it was before its end began. */
CUresult sl_later_carry_out(const sl_ending_t *ending, uint64_t left);

/* Without the lock: notes an allocation that ends after the event; event NULL: after a wait for its context. False: no memory for the
 * note. */
bool sl_later_add(sl_freed_t freed, CUevent event, CUcontext event_context, uint64_t left);
/* Queries at most so many notes, and ends the allocations that are ready. True: any ended. */
bool sl_later_poll(unsigned most);
/* The GPU is idle: ends all noted allocations. */
void sl_later_end_all(void);
/* With the lock held: the events of a context are about to be destroyed. */
void sl_later_lose_events(CUcontext context);
/* With the lock held: removes all notes of the owner. */
void sl_later_drop(const sl_owner_t *owner);

#endif
