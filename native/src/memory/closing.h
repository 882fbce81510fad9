/* closing: pools that the program destroyed while memory of theirs lives. */
#ifndef SL_CLOSING_H
#define SL_CLOSING_H

#include "memory/pool_charge.h"

#define SL_CLOSING_MOST 3072

extern atomic_int sl_closing_count;
bool sl_closing_has_slowly(CUmemoryPool handle);

/* The program destroyed the pool of this handle, but the driver still has it. */
static inline bool sl_closing_has(CUmemoryPool handle) {
    return atomic_load_explicit(&sl_closing_count, memory_order_relaxed) && sl_closing_has_slowly(handle);
}

/* Before a pool is destroyed, without a lock. */
void sl_closing_make_room(void);

/* All functions below: with the lock of the pool held. Destroys the pool, later if it is not empty. Returns what the driver would. */
CUresult sl_closing_begin(sl_pool_t *pool);
/* Destroys a closing pool if it is empty now. True: its charge fell. */
bool sl_closing_look(sl_pool_t *pool);
/* The pool is gone. */
void sl_closing_end(sl_pool_t *pool);

#endif
