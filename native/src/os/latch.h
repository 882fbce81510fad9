/* latch: a lock of this process whose way in and out is a single instruction each, in the caller's own code. What glibc's
 * mutex costs more is small while its code is at hand, and as much as all the rest of a free just after the driver was in
 * the kernel. Who has to wait sleeps.
 *
 * A thread that holds a latch is not cancelled (pthread_cancel): nobody would open the latch again. Our own code has no
 * cancellation points (uncancelled.c), so it is enough that the holder cannot be cancelled asynchronously: the type becomes
 * deferred, one call that changes nothing in an ordinary thread. Where the holder calls the driver, which may have cancellation
 * points, the state must forbid cancellation too. The type is needed there as well: in glibc 2.36 an asynchronous cancellation
 * that is under way acts although the state forbids it. To change the state and back costs as much as the latch itself. */
#ifndef SL_LATCH_H
#define SL_LATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "os/compiler.h"

enum { SL_LATCH_ASYNCHRONOUS = 1, SL_LATCH_ENABLED = 2 };

typedef struct {
    atomic_int state; /* 0 free, 1 held, 2 held and somebody may sleep */
    unsigned cancel;  /* how the holder could be cancelled before it took the latch */
} sl_latch_t;

#define SL_LATCH_INITIALIZER {0}

void sl_latch_lock_slowly(sl_latch_t *latch);
void sl_latch_wake(sl_latch_t *latch);

static inline unsigned sl_latch_defer_cancel(void) {
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return type == PTHREAD_CANCEL_ASYNCHRONOUS ? SL_LATCH_ASYNCHRONOUS : 0;
}

static inline unsigned sl_latch_forbid_cancel(void) {
    int state;
    unsigned before = sl_latch_defer_cancel();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return before | (state == PTHREAD_CANCEL_ENABLE ? SL_LATCH_ENABLED : 0);
}

static inline void sl_latch_allow_cancel(unsigned before) {
    if (before & SL_LATCH_ENABLED)
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    if (SL_UNLIKELY(before & SL_LATCH_ASYNCHRONOUS))
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

static inline void sl_latch_take(sl_latch_t *latch, unsigned before) {
    int free = 0;
    if (SL_UNLIKELY(!atomic_compare_exchange_strong_explicit(&latch->state, &free, 1, memory_order_acquire, memory_order_relaxed)))
        sl_latch_lock_slowly(latch);
    latch->cancel = before;
}

/* What a thread takes last it gives back first. */
static inline void sl_latch_lock(sl_latch_t *latch) {
    sl_latch_take(latch, sl_latch_forbid_cancel());
}

/* The same for who calls neither the driver nor anybody else with cancellation points before it unlocks. */
static inline void sl_latch_lock_briefly(sl_latch_t *latch) {
    sl_latch_take(latch, sl_latch_defer_cancel());
}

/* False at once where somebody has it. */
static inline bool sl_latch_try(sl_latch_t *latch) {
    int free = 0;
    unsigned before = sl_latch_forbid_cancel();
    bool taken = atomic_compare_exchange_strong_explicit(&latch->state, &free, 1, memory_order_acquire, memory_order_relaxed);
    if (taken)
        latch->cancel = before;
    else
        sl_latch_allow_cancel(before);
    return taken;
}

static inline void sl_latch_unlock(sl_latch_t *latch) {
    unsigned before = latch->cancel;
    if (SL_UNLIKELY(atomic_exchange_explicit(&latch->state, 0, memory_order_release) == 2))
        sl_latch_wake(latch);
    sl_latch_allow_cancel(before);
}

#endif
