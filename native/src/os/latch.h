/* latch: a lock of this process whose way in and out is a single instruction each, in the caller's own code. What glibc's
 * mutex costs more is small while its code is at hand, and as much as all the rest of a free just after the driver was in
 * the kernel. Who has to wait sleeps. */
#ifndef SL_LATCH_H
#define SL_LATCH_H

#include <stdatomic.h>

#include "driver/entry.h"

typedef struct {
    atomic_int state; /* 0 free, 1 held, 2 held and somebody may sleep */
} sl_latch_t;

void sl_latch_lock_slowly(sl_latch_t *latch);
void sl_latch_wake(sl_latch_t *latch);

static inline void sl_latch_lock(sl_latch_t *latch) {
    int free = 0;
    if (SL_UNLIKELY(!atomic_compare_exchange_strong_explicit(&latch->state, &free, 1, memory_order_acquire, memory_order_relaxed)))
        sl_latch_lock_slowly(latch);
}

static inline void sl_latch_unlock(sl_latch_t *latch) {
    if (SL_UNLIKELY(atomic_exchange_explicit(&latch->state, 0, memory_order_release) == 2))
        sl_latch_wake(latch);
}

#endif
