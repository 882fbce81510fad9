/* restless: a part of the test library librestless.so, which is the product's library and this file. With the first context of the process, a thread
 * makes control calls at random on the process's own channels, or gives them one time slice. A benchmark loads it in place of libsluice.so.
 *
 * RESTLESS_CALLS  how many calls; 0: none            RESTLESS_SEED   of the random choices; 1 if not given
 * RESTLESS_NAP    the longest time between two calls, in microseconds; 500 if not given
 * RESTLESS_FILE   where it writes, at the end, what it did; once a second it writes that beside it, in a file that ends in .so-far
 * RESTLESS_SLICE  a time slice in microseconds, for all channel groups */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory/plain/context.h"
#include "os/fork.h"
#include "os/os.h"
#include "os/thread.h"
#include "slices/channels.h"
#include "slices/control.h"

#define MICRO 1000u
#define MILLI 1000000u
#define FIRST_NAP_NANOS (20 * MILLI) /* the program makes its first context meanwhile */
#define LOOK_NANOS (5 * MILLI)
#define LONGEST_NAP_MICROS 500
#define SO_FAR_NANOS (1000ull * MILLI)

enum { STOP, GO, PREEMPT, SLICE, KINDS };

static const char *const names[KINDS] = {"stop", "go", "preempt", "slice"};
static unsigned long made[KINDS], refused[KINDS];
static uint64_t longest_nanos[KINDS];
static _Atomic bool started, running, ending;
static uint64_t state, began;

void __real_sl_context_made(CUcontext context);
void __wrap_sl_context_made(CUcontext context);

static unsigned long number(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

static unsigned below(unsigned bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % bound;
}

static void count(int kind, bool ok) {
    made[kind]++;
    refused[kind] += !ok;
}

static void make_one(int kind) {
    static const uint32_t slices[] = {1, 0, 200, 2048, 10000};
    switch (kind) {
    case STOP:
        count(kind, sl_control_stop(SL_CONTROL_PAUSE));
        break;
    case GO:
        count(kind, sl_control_go(SL_CONTROL_PAUSE));
        break;
    case PREEMPT:
        count(kind, sl_control_preempt());
        break;
    default:
        count(kind, sl_control_slice(slices[below(sizeof slices / sizeof *slices)]) != 0);
    }
}

static void make(int kind) {
    uint64_t begin = sl_os_nanos();
    make_one(kind);
    uint64_t nanos = sl_os_nanos() - begin;
    longest_nanos[kind] = nanos > longest_nanos[kind] ? nanos : longest_nanos[kind];
}

/* Written beside the file and renamed, so that a reader sees all of it. */
static void tell_in(const char *path, unsigned long calls) {
    const char *obstacle = sl_control_obstacle();
    char fresh[4096];
    FILE *file = path && snprintf(fresh, sizeof fresh, "%s.new", path) < (int)sizeof fresh ? fopen(fresh, "we") : NULL;
    if (!file)
        return;
    fprintf(file, "calls=%lu seconds=%.3f", calls, (double)(sl_os_nanos() - began) / 1e9);
    for (int kind = 0; kind < KINDS; kind++)
        fprintf(file, " %s=%lu %s-refused=%lu %s-longest-us=%lu", names[kind], made[kind], names[kind], refused[kind], names[kind],
                (unsigned long)(longest_nanos[kind] / MICRO));
    fprintf(file, " obstacle=%s\n", obstacle ? obstacle : "none");
    if (fclose(file) == 0)
        rename(fresh, path);
}

static void tell(unsigned long calls) {
    tell_in(getenv("RESTLESS_FILE"), calls);
}

static void tell_so_far(unsigned long calls) {
    const char *path = getenv("RESTLESS_FILE");
    char text[4096];
    if (path && snprintf(text, sizeof text, "%s.so-far", path) < (int)sizeof text)
        tell_in(text, calls);
}

static void be_restless(unsigned long wanted) {
    unsigned long calls = 0, nap = number("RESTLESS_NAP", LONGEST_NAP_MICROS);
    uint64_t told = began;
    for (; calls < wanted && !ending; calls++) {
        make((int)below(KINDS));
        if (sl_os_nanos() - told > SO_FAR_NANOS) {
            told = sl_os_nanos();
            tell_so_far(calls);
        }
        sl_os_sleep_nanos(1 + (uint64_t)below((unsigned)nap + 1) * MICRO);
    }
    if (!sl_control_go(SL_CONTROL_PAUSE))
        refused[GO]++;
    sl_control_slice(0);
    tell(calls);
}

/* Groups that are new get it too. */
static void keep_slice(uint32_t micros) {
    unsigned seen = sl_channels_version() - 1;
    for (; !ending; sl_os_sleep_nanos(LOOK_NANOS)) {
        unsigned now = sl_channels_version();
        if (now != seen)
            count(SLICE, sl_control_slice(micros) == micros);
        seen = now;
    }
    tell(made[SLICE]);
}

static void *work(void *unused) {
    unsigned long calls = number("RESTLESS_CALLS", 0), slice = number("RESTLESS_SLICE", 0);
    sl_os_sleep_nanos(FIRST_NAP_NANOS);
    state = number("RESTLESS_SEED", 1);
    began = sl_os_nanos();
    if (calls)
        be_restless(calls);
    if (slice)
        keep_slice((uint32_t)slice);
    running = false;
    return unused;
}

/* exit() runs this before the driver's own handlers, which may wait for work that is off the GPU. */
static void end(void) {
    ending = true;
    while (running)
        sl_os_sleep_nanos(MILLI);
}

void __wrap_sl_context_made(CUcontext context) {
    __real_sl_context_made(context);
    if (atomic_exchange(&started, true))
        return;
    running = true;
    if (!sl_thread_start(work, NULL))
        running = false;
    atexit(end);
}

static void forget(void) {
    started = running = ending = false;
}
SL_FORK_FORGETS(forget);
