/* contexts: see contexts.h. A primary context is retained many times and stands here once.
 *
 * Work may never end: a host function may need what a held thread has, or a kernel waits for another process. So the attendant does not call
 * cuCtxSynchronize itself. A thread of its own, the waiter, does that round by round, and the attendant can give a round up. The waiter then ends the call
 * that it is in, and begins no other for that round. A later round begins only after that, so it covers all work submitted until then.
 *
 * Asking the driver again and again whether work has ended would need no thread. But no call that was tried on a real driver tells that of all streams of
 * a context: an event on the default stream does not wait for streams that do not block it. */
#define _GNU_SOURCE
#include "pause/contexts.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "driver/entry.h"
#include "os/fork.h"
#include "os/index.h"
#include "os/mutex.h"
#include "os/os.h"
#include "os/thread.h"
#include "real.h"

#define MILLI 1000000u
#define LOOK_NANOS (10 * MILLI)   /* how often the attendant looks at the order meanwhile; the end of the work wakes it at once */
#define ENTER_NANOS (1 * MILLI)   /* the waiter enters the driver in this time, after its last look whether the round is given up */
#define LEAVE_NANOS (2000 * MILLI) /* how long the end of a context, or of the process, waits for the waiter */

enum { DEINITIALIZED = 4, INVALID_CONTEXT = 201, CONTEXT_IS_DESTROYED = 709 };

typedef struct {
    uint64_t context;
} entry_t;

static sl_mutex_t lock;
static sl_index_t contexts = {.record_bytes = sizeof(entry_t)};
static bool has_waiter;             /* only the attendant uses it */
static _Atomic uint32_t asked;      /* number of the last round that the attendant wants; it waits for at most one */
static _Atomic uint32_t ended;      /* number of the last round that has ended, or was given up and is left */
static _Atomic uint32_t given_up;   /* rounds up to this one; changed under the lock */
static _Atomic CUcontext inside;    /* the waiter is in the driver with it; set under the lock */
static CUresult result;             /* of the round that has ended */

void sl_contexts_add(CUcontext context) {
    sl_mutex_lock(&lock);
    entry_t *entry = sl_index_put(&contexts, (uintptr_t)context);
    if (entry)
        entry->context = (uintptr_t)context;
    sl_mutex_unlock(&lock);
}

void sl_contexts_remove(CUcontext context) {
    sl_mutex_lock(&lock);
    entry_t *entry = sl_index_find(&contexts, (uintptr_t)context);
    if (entry)
        sl_index_remove(&contexts, entry);
    sl_mutex_unlock(&lock);
}

/* It ended without a call that the library saw, and its work with it. */
static bool is_gone(CUresult status) {
    return status == DEINITIALIZED || status == INVALID_CONTEXT || status == CONTEXT_IS_DESTROYED;
}

/* Under the lock the round goes on, or is given up: after that no call begins. */
static CUcontext enter(uint64_t place, uint32_t round) {
    sl_mutex_lock(&lock);
    entry_t *entry = given_up == round ? NULL : sl_index_at(&contexts, place);
    CUcontext context = entry ? (CUcontext)(uintptr_t)entry->context : NULL;
    atomic_store(&inside, context);
    sl_mutex_unlock(&lock);
    return context;
}

/* The lock is not held around calls of the driver: after a round was given up the program makes and ends contexts meanwhile. In a round that goes on
 * the process is held, so the table does not change. */
static CUresult synchronize(uint32_t round) {
    CUresult first = CUDA_SUCCESS;
    for (uint64_t place = 0; place < contexts.capacity; place++) {
        CUcontext context = enter(place, round);
        if (!context)
            continue;
        CUresult status = real.cuCtxPushCurrent_v2(context);
        if (status == CUDA_SUCCESS) {
            status = real.cuCtxSynchronize();
            real.cuCtxPopCurrent_v2(&context);
        } else if (is_gone(status)) {
            status = CUDA_SUCCESS;
        }
        atomic_store(&inside, NULL);
        first = first ? first : status;
    }
    return first;
}

static void *wait_for_work(void *unused) {
    prctl(PR_SET_NAME, "sluice-drain");
    for (;;) {
        uint32_t round = atomic_load(&asked);
        if (round == atomic_load(&ended)) {
            syscall(SYS_futex, &asked, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
            continue;
        }
        result = synchronize(round);
        atomic_store(&ended, round);
        syscall(SYS_futex, &ended, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return unused;
}

/* The program may begin a capture as soon as its calls go on, and a synchronization that begins then would break the capture. So a waiter that has just
 * decided to call the driver gets the time to do so. Not known of a real driver: whether a capture may begin while the call waits. */
static void give_up(uint32_t round) {
    sl_mutex_lock(&lock);
    atomic_store(&given_up, round);
    sl_mutex_unlock(&lock);
    if (atomic_load(&inside))
        sl_os_sleep_nanos(ENTER_NANOS);
}

bool sl_contexts_drain(bool (*goes_on)(void), CUresult *status) {
    const struct timespec span = {.tv_nsec = LOOK_NANOS};
    uint32_t round = atomic_load(&asked) + 1;
    round += round == 0; /* no round has the number 0 */
    if (!has_waiter && !(has_waiter = sl_thread_start(wait_for_work, NULL))) { /* the process can have no more threads */
        *status = synchronize(round);
        return true;
    }
    atomic_store(&asked, round);
    syscall(SYS_futex, &asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    for (uint32_t seen; (seen = atomic_load(&ended)) != round;) {
        if (!goes_on()) {
            give_up(round);
            return false;
        }
        syscall(SYS_futex, &ended, FUTEX_WAIT_PRIVATE, seen, &span, NULL, 0);
    }
    *status = result;
    return true;
}

static void wait_outside(CUcontext context) {
    for (uint64_t end = sl_os_nanos() + LEAVE_NANOS; sl_os_nanos() < end;) {
        CUcontext now = atomic_load(&inside);
        if (!now || (context && now != context))
            return;
        sl_os_sleep_nanos(MILLI);
    }
}

/* The driver's own call would wait for the work, too: but not beside a thread that uses the context. */
void sl_contexts_leave(CUcontext context) {
    if (context)
        wait_outside(context);
}

void sl_contexts_end(void) {
    wait_outside(NULL);
}

static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    contexts = (sl_index_t){.record_bytes = sizeof(entry_t)};
    has_waiter = false;
    atomic_store(&asked, 0);
    atomic_store(&ended, 0);
    atomic_store(&given_up, 0);
    atomic_store(&inside, NULL);
}
SL_FORK_FORGETS(forget);
