/* clock: how long calls take, without a system call, by the processor's time stamp counter. */
#ifndef SL_CLOCK_H
#define SL_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/compiler.h"

SL_OWN extern _Atomic bool sl_clock_counts;        /* the processor has a counter of constant speed, and the speed is known */
SL_OWN extern _Atomic uint64_t sl_clock_scale;     /* nanoseconds in a tick, << 32 */
SL_OWN extern _Atomic uint64_t sl_clock_next_look; /* when to measure the scale again, in ticks */

uint64_t sl_clock_ticks_slowly(void);
void sl_clock_look(void);

/* The processor's counter, which means nothing where sl_clock_counts is false. */
static inline uint64_t sl_clock_counter(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* Grows evenly with time, the same for all threads and processes of the machine: the counter, or else CLOCK_MONOTONIC. */
static inline uint64_t sl_clock_ticks(void) {
    bool counts = SL_LOAD(sl_clock_counts);
    return counts ? sl_clock_counter() : sl_clock_ticks_slowly();
}

/* A span of ticks in nanoseconds; good for a span that ended before sl_clock_next_look. */
static inline uint64_t sl_clock_nanos(uint64_t ticks) {
    return (uint64_t)((unsigned __int128)ticks * SL_LOAD(sl_clock_scale) >> 32);
}

#endif
