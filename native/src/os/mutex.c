/* mutex: a lock of this process; how a thread waits for it (U. Drepper, Futexes Are Tricky). */
#define _GNU_SOURCE
#include "os/mutex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void sl_mutex_lock_slowly(sl_mutex_t *mutex) {
    int saved = errno;
    while (atomic_exchange_explicit(&mutex->state, 2, memory_order_acquire))
        syscall(SYS_futex, &mutex->state, FUTEX_WAIT_PRIVATE, 2, NULL);
    errno = saved;
}

void sl_mutex_wake(sl_mutex_t *mutex) {
    int saved = errno;
    syscall(SYS_futex, &mutex->state, FUTEX_WAKE_PRIVATE, 1);
    errno = saved;
}
