/* helpers: see helpers.h. */
#define _GNU_SOURCE
#include "pause/helpers.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/driver.h"
#include "os/os.h"

#define CLOSED (1u << 31)

typedef int (*create_t)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static void wait_while(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Each of the threads that wait for a piece has a bit of its own, so giving one piece wakes one thread. */
static uint32_t bit_of(size_t number) {
    return 1u << number % 32;
}

/* False: it will not be given any more. */
static bool is_given(sl_helpers_t *helpers, size_t number) {
    for (uint32_t given; (given = helpers->given, number >= (given & ~CLOSED));) {
        if (given & CLOSED)
            return false;
        syscall(SYS_futex, &helpers->given, FUTEX_WAIT_BITSET_PRIVATE, given, NULL, NULL, bit_of(number));
    }
    return true;
}

static bool do_one(sl_helpers_t *helpers) {
    size_t number = atomic_fetch_add(&helpers->next, 1);
    if (!is_given(helpers, number))
        return false;
    helpers->work(helpers->of, number);
    atomic_fetch_add(&helpers->done, 1);
    wake(&helpers->done);
    return true;
}

static void *run(void *of) {
    sl_helpers_t *helpers = of;
    while (do_one(helpers))
        ;
    atomic_fetch_sub(&helpers->threads, 1);
    wake(&helpers->threads);
    return NULL;
}

/* Found by name: before glibc 2.34 it was in another library, which the driver has loaded, and its version is newer than 2.17. */
static create_t find_create(void) {
    const sl_elf_libc_t *libc = sl_driver_libc();
    return libc ? (create_t)libc->dlsym(RTLD_DEFAULT, "pthread_create") : NULL;
}

static void begin(sl_helpers_t *helpers, size_t most) {
    size_t wanted = sl_os_processors();
    wanted = wanted > SL_HELPERS_MOST ? SL_HELPERS_MOST : wanted;
    wanted = wanted > most ? most : wanted;
    create_t create = wanted ? find_create() : NULL;
    if (!create)
        return;
    int saved = errno;
    sigset_t all, before;
    pthread_attr_t detached;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (size_t i = 0; i < wanted; i++) {
        pthread_t thread;
        atomic_fetch_add(&helpers->threads, 1);
        if (create(&thread, &detached, run, helpers) == 0)
            continue;
        atomic_fetch_sub(&helpers->threads, 1);
        break;
    }
    pthread_attr_destroy(&detached);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}

void sl_helpers_begin(sl_helpers_t *helpers, size_t count, void (*work)(void *, size_t), void *of) {
    *helpers = (sl_helpers_t){.work = work, .of = of, .given = (uint32_t)count | CLOSED};
    begin(helpers, count);
}

void sl_helpers_open(sl_helpers_t *helpers, size_t threads, void (*work)(void *, size_t), void *of) {
    *helpers = (sl_helpers_t){.work = work, .of = of};
    begin(helpers, threads);
}

void sl_helpers_give(sl_helpers_t *helpers, uint32_t count) {
    uint32_t before = atomic_exchange(&helpers->given, count), bits = count - before == 1 ? bit_of(before) : FUTEX_BITSET_MATCH_ANY;
    syscall(SYS_futex, &helpers->given, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, NULL, NULL, bits);
}

void sl_helpers_wait(sl_helpers_t *helpers, uint32_t done) {
    while (helpers->done <= done && helpers->done < (helpers->given & ~CLOSED)) {
        if (helpers->threads)
            wait_while(&helpers->done, done);
        else
            do_one(helpers);
    }
}

void sl_helpers_end(sl_helpers_t *helpers) {
    sl_helpers_give(helpers, helpers->given | CLOSED);
    while (do_one(helpers))
        ;
    for (uint32_t left; (left = helpers->threads);)
        wait_while(&helpers->threads, left);
}
