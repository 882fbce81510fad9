/* latch: a lock of this process whose way in and out is a single instruction each, in the caller's own code. What glibc's
 * mutex costs more is small while its code is at hand, and as much as all the rest of a free just after the driver was in
 * the kernel. Who has to wait sleeps.
 *
 * A thread that holds a latch is not cancelled (pthread_cancel): nobody would open the latch again. Both settings are needed. In
 * glibc 2.36 an asynchronous cancellation that is under way acts although the state forbids it; deferred, it does not. And
 * the driver, which some callers ask with a latch held, may have cancellation points; our own code has none (uncancelled.c). */
#ifndef SL_LATCH_H
#define SL_LATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "driver/entry.h"

typedef struct {
    int type, state;
} sl_latch_cancel_t;

typedef struct {
    atomic_int state;         /* 0 free, 1 held, 2 held and somebody may sleep */
    sl_latch_cancel_t cancel; /* of the holder, before it took the latch */
} sl_latch_t;

#define SL_LATCH_INITIALIZER {0}

void sl_latch_lock_slowly(sl_latch_t *latch);
void sl_latch_wake(sl_latch_t *latch);

static inline sl_latch_cancel_t sl_latch_forbid_cancel(void) {
    sl_latch_cancel_t before;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before.type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    return before;
}

static inline void sl_latch_allow_cancel(sl_latch_cancel_t before) {
    pthread_setcancelstate(before.state, NULL);
    pthread_setcanceltype(before.type, NULL);
}

/* What a thread takes last it gives back first. */
static inline void sl_latch_lock(sl_latch_t *latch) {
    int free = 0;
    sl_latch_cancel_t before = sl_latch_forbid_cancel();
    if (SL_UNLIKELY(!atomic_compare_exchange_strong_explicit(&latch->state, &free, 1, memory_order_acquire, memory_order_relaxed)))
        sl_latch_lock_slowly(latch);
    latch->cancel = before;
}

/* False at once where somebody has it. */
static inline bool sl_latch_try(sl_latch_t *latch) {
    int free = 0;
    sl_latch_cancel_t before = sl_latch_forbid_cancel();
    bool taken = atomic_compare_exchange_strong_explicit(&latch->state, &free, 1, memory_order_acquire, memory_order_relaxed);
    if (taken)
        latch->cancel = before;
    else
        sl_latch_allow_cancel(before);
    return taken;
}

static inline void sl_latch_unlock(sl_latch_t *latch) {
    sl_latch_cancel_t before = latch->cancel;
    if (SL_UNLIKELY(atomic_exchange_explicit(&latch->state, 0, memory_order_release) == 2))
        sl_latch_wake(latch);
    sl_latch_allow_cancel(before);
}

#endif
