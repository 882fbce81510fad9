/* mutex: a lock of this process. Taking and releasing it is one atomic instruction each, in the caller's own code. A thread that has to
 * wait sleeps. glibc's mutex costs little more while its code is in the cache. Just after a system call of the driver it is not cached.
 * Then it costs as much as the rest of a free.
 *
 * A thread that holds a mutex must not be cancelled (pthread_cancel), because no thread would release the mutex. Our own code has no
 * cancellation points (uncancelled.c), so it is enough to make the cancellation type deferred: one call, which changes nothing in an
 * ordinary thread. A holder that calls the driver, which may have cancellation points, must also disable cancellation. It still needs
 * the type: in glibc 2.36 a pending asynchronous cancellation acts although cancellation is disabled. Disabling and enabling costs as
 * much as the mutex itself. */
#ifndef SL_MUTEX_H
#define SL_MUTEX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "os/compiler.h"

enum { SL_MUTEX_ASYNCHRONOUS = 1, SL_MUTEX_ENABLED = 2 };

typedef struct {
    atomic_int state; /* 0 free, 1 held, 2 held and a thread may sleep */
    unsigned cancel;  /* how the holder could be cancelled before it took the mutex */
} sl_mutex_t;

#define SL_MUTEX_INITIALIZER {0}

void sl_mutex_lock_slowly(sl_mutex_t *mutex);
void sl_mutex_wake(sl_mutex_t *mutex);

static inline unsigned sl_mutex_defer_cancel(void) {
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return type == PTHREAD_CANCEL_ASYNCHRONOUS ? SL_MUTEX_ASYNCHRONOUS : 0;
}

static inline unsigned sl_mutex_forbid_cancel(void) {
    int state;
    unsigned before = sl_mutex_defer_cancel();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return before | (state == PTHREAD_CANCEL_ENABLE ? SL_MUTEX_ENABLED : 0);
}

static inline void sl_mutex_allow_cancel(unsigned before) {
    if (before & SL_MUTEX_ENABLED)
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    if (SL_UNLIKELY(before & SL_MUTEX_ASYNCHRONOUS))
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

static inline void sl_mutex_take(sl_mutex_t *mutex, unsigned before) {
    int free = 0;
    if (SL_UNLIKELY(!atomic_compare_exchange_strong_explicit(&mutex->state, &free, 1, memory_order_acquire, memory_order_relaxed)))
        sl_mutex_lock_slowly(mutex);
    mutex->cancel = before;
}

/* A thread releases its mutexes in the reverse order. */
static inline void sl_mutex_lock(sl_mutex_t *mutex) {
    sl_mutex_take(mutex, sl_mutex_forbid_cancel());
}

/* The same for a caller that reaches no cancellation point before it unlocks, so it does not call the driver. */
static inline void sl_mutex_lock_briefly(sl_mutex_t *mutex) {
    sl_mutex_take(mutex, sl_mutex_defer_cancel());
}

/* False at once if another thread holds it. */
static inline bool sl_mutex_try(sl_mutex_t *mutex) {
    int free = 0;
    unsigned before = sl_mutex_forbid_cancel();
    bool taken = atomic_compare_exchange_strong_explicit(&mutex->state, &free, 1, memory_order_acquire, memory_order_relaxed);
    if (taken)
        mutex->cancel = before;
    else
        sl_mutex_allow_cancel(before);
    return taken;
}

static inline void sl_mutex_unlock(sl_mutex_t *mutex) {
    unsigned before = mutex->cancel;
    if (SL_UNLIKELY(atomic_exchange_explicit(&mutex->state, 0, memory_order_release) == 2))
        sl_mutex_wake(mutex);
    sl_mutex_allow_cancel(before);
}

#endif
