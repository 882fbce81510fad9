/* latch: a lock of this process; here is what happens when somebody has to wait (U. Drepper, Futexes Are Tricky). */
#define _GNU_SOURCE
#include "os/latch.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void sl_latch_lock_slowly(sl_latch_t *latch) {
    int saved = errno;
    while (atomic_exchange_explicit(&latch->state, 2, memory_order_acquire))
        syscall(SYS_futex, &latch->state, FUTEX_WAIT_PRIVATE, 2, NULL);
    errno = saved;
}

void sl_latch_wake(sl_latch_t *latch) {
    int saved = errno;
    syscall(SYS_futex, &latch->state, FUTEX_WAKE_PRIVATE, 1);
    errno = saved;
}
