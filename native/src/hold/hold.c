/* hold: see hold.h. */
#define _GNU_SOURCE
#include "hold/hold.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "driver/stream.h"
#include "os/fork.h"
#include "os/mutex.h"

#define CHUNK_PLACES 63
#define LOOK_NANOS 10000000 /* until the process is quiet, a held thread checks this often whether a stream captures */

typedef struct chunk {
    sl_hold_place_t places[CHUNK_PLACES];
    struct chunk *next;
} chunk_t;

static sl_mutex_t lock; /* for taking a place */
static chunk_t first;
static sl_hold_place_t shared; /* for threads that find no place: not empty while any of them is in the driver */
enum { NOT_HELD, HELD, QUIET }; /* QUIET: no thread is in the driver, so no capture can begin */
static _Atomic uint32_t held;

static bool is_held(void) {
    return atomic_load(&held) && atomic_load(&sl_stream_open_captures) <= 0;
}

static bool is_alive(uint32_t thread) {
    return syscall(SYS_tgkill, getpid(), thread, 0) == 0 || errno != ESRCH;
}

/* The kernel may give a new thread the number of an ended one. Then the new thread takes over the place. */
static bool is_free(const sl_hold_place_t *place, uint32_t own, bool judged) {
    uint32_t thread = atomic_load(&place->thread);
    return thread == 0 || thread == own || (judged && !is_alive(thread));
}

static sl_hold_place_t *find(uint32_t own, bool judged, chunk_t **last) {
    for (chunk_t *chunk = &first; chunk; chunk = chunk->next) {
        for (sl_hold_place_t *place = chunk->places; place < chunk->places + CHUNK_PLACES; place++)
            if (is_free(place, own, judged))
                return place;
        *last = chunk;
    }
    return NULL;
}

static sl_hold_place_t *grow(chunk_t *last) {
    chunk_t *chunk = aligned_alloc(_Alignof(chunk_t), sizeof *chunk);
    if (!chunk)
        return NULL;
    *chunk = (chunk_t){.next = NULL};
    last->next = chunk;
    return chunk->places;
}

sl_hold_place_t *sl_hold_begin_thread(void) {
    int saved = errno;
    uint32_t own = (uint32_t)syscall(SYS_gettid);
    chunk_t *last = NULL;
    sl_mutex_lock(&lock);
    sl_hold_place_t *place = find(own, false, &last);
    if (!place)
        place = find(own, true, &last);
    if (!place)
        place = grow(last);
    if (place) {
        atomic_store(&place->inside, 0);
        atomic_store(&place->thread, own);
    }
    sl_mutex_unlock(&lock);
    errno = saved;
    return sl_thread.hold = place ? place : &shared;
}

static void sleep_while_held(void) {
    struct timespec span = {.tv_nsec = LOOK_NANOS};
    uint32_t seen = atomic_load(&held);
    if (seen != NOT_HELD)
        syscall(SYS_futex, &held, FUTEX_WAIT_PRIVATE, seen, seen == QUIET ? NULL : &span, NULL, 0);
}

/* First marks the thread as in the driver, then checks the hold. So the holder sees the thread, or the thread sees the hold. */
static void wait_outside(sl_hold_place_t *place, uint32_t inside) {
    int saved = errno;
    do {
        atomic_store(&place->inside, 0);
        while (is_held())
            sleep_while_held();
        atomic_store(&place->inside, inside);
    } while (is_held());
    errno = saved;
}

void sl_hold_wait(void) {
    sl_hold_place_t *place = sl_thread.hold;
    if (place != &shared && SL_LOAD(place->inside) == 1 && is_held())
        wait_outside(place, 1);
}

uint32_t sl_hold_step_out(void) {
    sl_hold_place_t *place = sl_thread.hold;
    if (!place || place == &shared)
        return 0;
    uint32_t inside = SL_LOAD(place->inside);
    atomic_store(&place->inside, 0);
    return inside;
}

void sl_hold_step_in(uint32_t inside) {
    sl_hold_place_t *place = sl_thread.hold;
    if (!inside)
        return;
    atomic_store(&place->inside, inside);
    if (is_held())
        wait_outside(place, inside);
}

/* Makes every running thread of the process pass a memory barrier. Linux before 4.14, or a sandbox, may lack membarrier. Then removing a
 * page's write access has the same effect: the kernel interrupts all processors that run the process. */
static void pass_barriers(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0)
        return;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0 &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0)
        return;
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    *(volatile char *)page = 1;
    mprotect(page, bytes, PROT_READ);
    munmap(page, bytes);
}

void sl_hold_prepare(void) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
}

void sl_hold_ask(void) {
    atomic_store(&held, HELD);
    pass_barriers();
}

/* A thread that ended inside a call, for example by pthread_exit in a callback, no longer counts. */
unsigned sl_hold_count(void) {
    unsigned count = atomic_load(&shared.inside) != 0;
    sl_mutex_lock(&lock);
    for (chunk_t *chunk = &first; chunk; chunk = chunk->next)
        for (sl_hold_place_t *place = chunk->places; place < chunk->places + CHUNK_PLACES; place++)
            if (atomic_load(&place->inside) && is_alive(atomic_load(&place->thread)))
                count++;
    sl_mutex_unlock(&lock);
    if (!count && atomic_load(&sl_stream_open_captures) > 0)
        return 1;
    if (!count)
        atomic_store(&held, QUIET);
    return count;
}

void sl_hold_release(void) {
    atomic_store(&held, NOT_HELD);
    syscall(SYS_futex, &held, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool sl_hold_is_asked(void) {
    return atomic_load_explicit(&held, memory_order_relaxed) != NOT_HELD;
}

/* The child has one thread and no context. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    first = (chunk_t){.next = NULL};
    atomic_store(&shared.inside, 0);
    sl_thread.hold = NULL;
    atomic_store(&held, NOT_HELD);
}
SL_FORK_FORGETS(forget);
