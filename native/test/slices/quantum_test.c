/* When work is on the GPU under a strict cap, in simulated time: endless work, calls that take time, and a thread that comes late. */
#include "check.h"

#include "slices/quantum.h"

#define MILLI 1000000ull
#define SECOND 1000000000ull

static uint64_t seed;

static uint64_t random_below(uint64_t bound) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return bound ? (seed >> 33) % bound : 0;
}

typedef struct {
    uint64_t stop_nanos, go_nanos; /* what the two calls take; the work runs meanwhile */
    uint64_t late_nanos;           /* the thread comes up to this much later than it wanted */
} machine_t;

typedef struct {
    double least, most; /* share of a second, in points */
    uint64_t longest_off_nanos;
} result_t;

/* Counts what the GPU does by its own clock, in each whole second. */
static result_t work(sl_quantum_t *quantum, uint32_t share, machine_t machine, unsigned seconds) {
    uint64_t now = quantum->counted_nanos ? quantum->counted_nanos : 77 * SECOND, begin = now, second = 0, used = 0, off_at = 0;
    result_t result = {100, 0, 0};
    bool off = quantum->off;
    while (now < begin + seconds * SECOND) {
        uint64_t at = sl_quantum_next(quantum, share) + random_below(machine.late_nanos + 1), boundary = begin + (second + 1) * SECOND;
        uint64_t next = quantum->counted_nanos && at > now ? at : now + MILLI / 10, last = now;
        bool ends = next >= boundary;
        now = ends ? boundary : next;
        used += off ? 0 : now - last;
        if (ends) {
            double points = (double)used / 1e7;
            result.least = points < result.least ? points : result.least;
            result.most = points > result.most ? points : result.most;
            used = 0;
            second++;
        }
        bool must = sl_quantum_count(quantum, share, off ? 0 : quantum->counted_nanos ? now - quantum->counted_nanos : 0, now);
        uint64_t takes = must && !off ? machine.stop_nanos : !must && off ? machine.go_nanos : 0;
        if (must && !off) {
            now += takes;
            used += takes;
            sl_quantum_count(quantum, share, takes, now);
            off_at = now;
        } else if (!must && off) {
            result.longest_off_nanos = now - off_at > result.longest_off_nanos ? now - off_at : result.longest_off_nanos;
            now += takes;
            used += takes;
        }
        off = must;
    }
    return result;
}

static void should_hold_every_cap_in_every_second(void) {
    const machine_t machines[] = {{0, 0, 0}, {600000, 300000, 0}, {600000, 300000, 3 * MILLI}, {100000, 100000, 8 * MILLI}};
    for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++)
        for (unsigned points = 3; points < 100; points++) {
            sl_quantum_t quantum = {0};
            result_t got = work(&quantum, points * 10000, machines[i], 20);
            double below = machines[i].late_nanos > 5 * MILLI ? 3 : 2;
            CHECK(got.most < points + 2.0 && got.least > points - below, "machine %u: %.2f to %.2f points of %u", i, got.least, got.most, points);
        }
}

/* Parts of a cap that many processes share, and caps of thousandths. The average is right, over more than a second. */
static void should_hold_small_shares_on_average(void) {
    for (uint32_t share = 2000; share < 30000; share += 1000) {
        sl_quantum_t quantum = {0};
        work(&quantum, share, (machine_t){600000, 300000, MILLI}, 1);
        uint64_t begin = quantum.counted_nanos;
        double before = quantum.credit_nanos;
        result_t got = work(&quantum, share, (machine_t){600000, 300000, MILLI}, 40);
        double used = (double)share / 1e6 * (double)(quantum.counted_nanos - begin) - (quantum.credit_nanos - before);
        CHECK(got.most < share / 1e4 + 2.0, "%.2f of %.2f", got.most, share / 1e4);
        CHECK(used / 40e9 < share / 1e6 + 0.001 && used / 40e9 > share / 1e6 - 0.001, "%.3f of %.3f", used / 40e9, share / 1e6);
    }
}

static void should_use_little_of_a_pause(void) {
    sl_quantum_t quantum = {0};
    CHECK(!sl_quantum_count(&quantum, 100000, 0, 5 * SECOND));
    CHECK(!sl_quantum_count(&quantum, 100000, 0, 500 * SECOND));
    CHECK(quantum.credit_nanos <= SL_QUANTUM_KEPT_NANOS, "%.0f", quantum.credit_nanos);
    CHECK(sl_quantum_count(&quantum, 100000, 20 * MILLI, 500 * SECOND + 20 * MILLI));
}

/* Whatever was counted, the work is never off for longer than this. */
static void should_never_stay_off(void) {
    const uint64_t used[] = {SECOND, 3600 * SECOND, UINT64_MAX / 2};
    for (unsigned i = 0; i < 3; i++) {
        sl_quantum_t quantum = {0};
        sl_quantum_count(&quantum, 1000, 0, SECOND);
        CHECK(sl_quantum_count(&quantum, 1000, used[i], 2 * SECOND));
        uint64_t next = sl_quantum_next(&quantum, 1000);
        CHECK(next <= 2 * SECOND + SL_QUANTUM_LONGEST_NANOS);
        CHECK(!sl_quantum_count(&quantum, 1000, 0, 2 * SECOND + SL_QUANTUM_LONGEST_NANOS));
        result_t after = work(&quantum, 100000, (machine_t){0, 0, 0}, 5);
        CHECK(after.longest_off_nanos < 60 * MILLI && after.most < 12, "%.2f points, off for %llu ms", after.most, (unsigned long long)after.longest_off_nanos / MILLI);
    }
}

static void should_let_go_at_once_without_a_cap(void) {
    sl_quantum_t quantum = {0};
    sl_quantum_count(&quantum, 10000, 0, SECOND);
    CHECK(sl_quantum_count(&quantum, 10000, 100 * MILLI, SECOND + 100 * MILLI));
    CHECK(!sl_quantum_count(&quantum, SL_QUANTUM_WHOLE, 0, SECOND + 100 * MILLI + MILLI));
    CHECK(!sl_quantum_count(&quantum, SL_QUANTUM_WHOLE, 100 * SECOND, 200 * SECOND));
}

/* The other thread's clock may be ahead: the thread that counts lost the processor, or the process was stopped, after it had read its own. */
static void should_count_no_time_that_has_not_passed(void) {
    sl_quantum_t quantum = {0};
    sl_quantum_count(&quantum, 100000, 0, SECOND);
    CHECK(sl_quantum_used(&quantum, SECOND + 5 * MILLI, SECOND + 2 * MILLI) == 0);
    CHECK(sl_quantum_used(&quantum, 1, SECOND - MILLI) == 0);
    CHECK(sl_quantum_used(&quantum, SECOND - 7 * MILLI, SECOND + 2 * MILLI) == 2 * MILLI);
    CHECK(sl_quantum_used(&quantum, SECOND + MILLI, SECOND + 2 * MILLI) == MILLI && sl_quantum_used(&quantum, 0, 2 * SECOND) == 0);
    CHECK(!sl_quantum_count(&quantum, 100000, 0, SECOND - MILLI) && quantum.counted_nanos == SECOND, "%llu", (unsigned long long)quantum.counted_nanos);
    CHECK(quantum.credit_nanos <= SL_QUANTUM_KEPT_NANOS && quantum.credit_nanos > 0, "%.0f", quantum.credit_nanos);
}

/* A kernel of ten seconds ran before the cap was made strict. */
static void should_count_no_time_before_the_cap_began(void) {
    sl_quantum_t quantum = {0};
    uint64_t used = sl_quantum_used(&quantum, SECOND, 11 * SECOND);
    CHECK(used == 0 && !sl_quantum_count(&quantum, 100000, used, 11 * SECOND));
    CHECK(sl_quantum_used(&quantum, SECOND, 11 * SECOND + MILLI) == MILLI);
}

int main(int argc, char **argv) {
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)getpid() * 2654435761u;
    printf("seed %llu\n", (unsigned long long)seed);
    RUN(should_hold_every_cap_in_every_second);
    RUN(should_hold_small_shares_on_average);
    RUN(should_use_little_of_a_pause);
    RUN(should_never_stay_off);
    RUN(should_count_no_time_that_has_not_passed);
    RUN(should_count_no_time_before_the_cap_began);
    RUN(should_let_go_at_once_without_a_cap);
    return 0;
}
