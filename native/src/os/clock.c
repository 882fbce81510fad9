/* clock: the processor's own counter against CLOCK_MONOTONIC.
 *
 * The first reading keeps a pair of both clocks. Each later reading computes the scale from the distance to that pair. Readings come at
 * doubling intervals, up to every 5 ms. So the error of reading both clocks, about 50 ns, soon is negligible. */
#include "os/clock.h"

#include <errno.h>
#include <string.h>

#include "os/fork.h"
#include "os/os.h"
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define SHORTEST_NANOS 1000000u  /* chosen: over 1 ms the 50 ns make the scale wrong by 5e-5 at most; before that each call looks again */
#define LONGEST_NANOS 5000000ull /* chosen: 200 looks a second cost next to nothing */
#define NEVER UINT64_MAX
#define ATTEMPTS 8               /* chosen: the best of eight readings, or the first */
#define NEAR_TICKS 1000u         /* that took less than this: some 0.3 us */

SL_HOT_DATA _Atomic bool sl_clock_counts;
SL_HOT_DATA _Atomic uint64_t sl_clock_scale = 1ull << 32;
SL_HOT_DATA _Alignas(64) _Atomic uint64_t sl_clock_next_look = NEVER; /* comes first: the words of all files share two lines */

typedef struct {
    uint64_t nanos, ticks;
} pair_t;

static enum { UNKNOWN, READING, NO_COUNTER } _Atomic state;
static pair_t first;

#ifdef __x86_64__
/* The kernel stops using the counter as its clock when the counter is unreliable, for example when two sockets drift apart. */
static bool is_trusted(void) {
    static const char *const others[] = {"hpet", "acpi_pm", "jiffies"};
    char source[32];
    if (sl_os_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source) <= 0)
        return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(source, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

static bool has_counter(void) {
    enum { POWER_LEAF = 0x80000007, INVARIANT = 1 << 8 };
    unsigned a, b, c, d;
    return __get_cpuid(POWER_LEAF, &a, &b, &c, &d) && (d & INVARIANT) && is_trusted();
}
#else
static bool has_counter(void) {
    return false;
}
#endif

/* Both clocks at the same time, unless the thread is interrupted in between. */
static pair_t read_both(void) {
    pair_t pair = {0};
    uint64_t best = NEVER;
    for (int i = 0; i < ATTEMPTS && best > NEAR_TICKS; i++) {
        uint64_t before = sl_clock_counter(), nanos = sl_os_nanos(), after = sl_clock_counter();
        if (after - before < best) {
            best = after - before;
            pair = (pair_t){nanos, before + best / 2};
        }
    }
    return pair;
}

/* The first thread keeps the pair. Threads that race with it find the same answer. */
uint64_t sl_clock_ticks_slowly(void) {
    int saved = errno;
    bool counts = atomic_load(&state) != NO_COUNTER && has_counter();
    errno = saved;
    if (!counts) {
        atomic_store(&state, NO_COUNTER);
        return sl_os_nanos();
    }
    if (atomic_exchange(&state, READING) == UNKNOWN) {
        first = read_both();
        atomic_store(&sl_clock_counts, true);
        atomic_store(&sl_clock_next_look, 0);
    }
    return sl_clock_counter();
}

void sl_clock_look(void) {
    pair_t now = read_both();
    if (now.ticks <= first.ticks || now.nanos <= first.nanos)
        return;
    uint64_t distance = now.ticks - first.ticks;
    uint64_t scale = (uint64_t)(((unsigned __int128)(now.nanos - first.nanos) << 32) / distance);
    atomic_store_explicit(&sl_clock_scale, scale, memory_order_relaxed);
    uint64_t longest = (LONGEST_NANOS << 32) / scale;
    if (now.nanos - first.nanos >= SHORTEST_NANOS)
        atomic_store_explicit(&sl_clock_next_look, now.ticks + (distance < longest ? distance : longest), memory_order_relaxed);
}

/* Another thread of the parent may have been reading the pair. */
static void forget(void) {
    if (!atomic_load(&sl_clock_counts) && atomic_load(&state) == READING)
        atomic_store(&state, UNKNOWN);
}
SL_FORK_FORGETS(forget);
