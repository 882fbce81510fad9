/* latch: a lock of this process whose way in and out is a single instruction each, in the caller's own code. What glibc's
 * mutex costs more is small while its code is at hand, and as much as all the rest of a free just after the driver was in
 * the kernel. Who has to wait sleeps.
 *
 * A thread that holds a latch is not cancelled (pthread_cancel): nobody would open the latch again. A thread that can be cancelled
 * anywhere becomes one that is cancelled at certain points only, and our code has none (uncancelled.c). To forbid cancellation would not
 * do: in glibc 2.36 one that is under way acts all the same. */
#ifndef SL_LATCH_H
#define SL_LATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "driver/entry.h"

typedef struct {
    atomic_int state; /* 0 free, 1 held, 2 held and somebody may sleep */
    int cancel_type;  /* of the holder, before it took the latch */
} sl_latch_t;

#define SL_LATCH_INITIALIZER {0}

void sl_latch_lock_slowly(sl_latch_t *latch);
void sl_latch_wake(sl_latch_t *latch);

/* What a thread takes last it gives back first. */
static inline void sl_latch_lock(sl_latch_t *latch) {
    int free = 0, cancel_type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &cancel_type);
    if (SL_UNLIKELY(!atomic_compare_exchange_strong_explicit(&latch->state, &free, 1, memory_order_acquire, memory_order_relaxed)))
        sl_latch_lock_slowly(latch);
    latch->cancel_type = cancel_type;
}

/* False at once where somebody has it. */
static inline bool sl_latch_try(sl_latch_t *latch) {
    int free = 0, cancel_type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &cancel_type);
    bool taken = atomic_compare_exchange_strong_explicit(&latch->state, &free, 1, memory_order_acquire, memory_order_relaxed);
    if (taken)
        latch->cancel_type = cancel_type;
    else
        pthread_setcanceltype(cancel_type, NULL);
    return taken;
}

static inline void sl_latch_unlock(sl_latch_t *latch) {
    int cancel_type = latch->cancel_type;
    if (SL_UNLIKELY(atomic_exchange_explicit(&latch->state, 0, memory_order_release) == 2))
        sl_latch_wake(latch);
    pthread_setcanceltype(cancel_type, NULL);
}

#endif
