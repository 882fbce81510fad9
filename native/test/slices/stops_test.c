/* How long the work was off the GPU between two moments, also when there were more stops than fit. */
#include "check.h"

#include "os/fork.h"
#include "slices/stops.h"

#define MILLI 1000000ull

static void should_sum_what_lies_between(void) {
    CHECK(sl_stops_between(0, UINT64_MAX) == 0);
    sl_stops_begin(100);
    sl_stops_end(150);
    sl_stops_begin(200);
    sl_stops_end(230);
    CHECK(sl_stops_between(0, 1000) == 80);
    CHECK(sl_stops_between(0, 100) == 0 && sl_stops_between(100, 150) == 50 && sl_stops_between(110, 120) == 10);
    CHECK(sl_stops_between(140, 210) == 20 && sl_stops_between(150, 200) == 0 && sl_stops_between(230, 9999) == 0);
    CHECK(sl_stops_between(500, 400) == 0);
}

static void should_count_a_stop_that_goes_on(void) {
    sl_stops_begin(1000);
    CHECK(sl_stops_between(900, 1500) == 500);
    sl_stops_begin(1600);
    CHECK(sl_stops_between(900, 2000) == 1000);
    sl_stops_end(3000);
    sl_stops_end(4000);
    CHECK(sl_stops_between(900, 9000) == 2000);
}

/* A clock that is read by several threads may seem to go back. */
static void should_bear_times_out_of_order(void) {
    sl_stops_begin(10000);
    sl_stops_end(9000);
    CHECK(sl_stops_between(0, 20000) == 80 + 2000);
}

/* A kernel of hours: 50 ms periods, 45 of them off. */
static void should_keep_the_sum_of_many_stops(void) {
    uint64_t begin = 1000 * MILLI, at = begin;
    for (unsigned i = 0; i < 100000; i++, at += 50 * MILLI) {
        sl_stops_begin(at + 5 * MILLI);
        sl_stops_end(at + 50 * MILLI);
    }
    CHECK(sl_stops_between(0, at) == 80 + 2000 + 100000 * 45 * MILLI, "%llu", (unsigned long long)sl_stops_between(0, at));
    uint64_t recent = sl_stops_between(at - 500 * MILLI, at);
    CHECK(recent == 450 * MILLI, "%llu", (unsigned long long)recent);
    for (uint64_t from = begin; from + 600000 * MILLI < at; from += 71777 * MILLI) {
        double part = (double)sl_stops_between(from, from + 600000 * MILLI) / (600000.0 * MILLI);
        CHECK(part > 0.89 && part < 0.91, "%.4f", part);
    }
}

static void should_forget_in_the_child_of_a_fork(void) {
    sl_fork_begin();
    pid_t child = fork();
    if (!child)
        _exit(sl_stops_between(0, UINT64_MAX) != 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    RUN(should_sum_what_lies_between);
    RUN(should_count_a_stop_that_goes_on);
    RUN(should_bear_times_out_of_order);
    RUN(should_keep_the_sum_of_many_stops);
    RUN(should_forget_in_the_child_of_a_fork);
    return 0;
}
