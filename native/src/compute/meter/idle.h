/* idle: how long the GPU was idle within a batch on several streams, because the host submitted too late.
 *
 * Timing events show when a batch began and ended on each stream, not the gaps in between. The sum of the calls' costs does not show
 * them either, because the GPU runs the streams side by side. So each submitting thread notes when it submits, and when the stream
 * should be done with all its calls. There is no lock: if two threads note at the same time, the result is off by one call. */
#ifndef SL_IDLE_H
#define SL_IDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SL_IDLE_STREAMS 16u
#define SL_IDLE_GAP_NANOS 3000u /* other work cannot use a shorter gap: two queued kernels lie 1.6 us apart on an H200 (driver 580) */

typedef struct {
    _Atomic uint64_t ends[SL_IDLE_STREAMS]; /* when each stream should be done, by the streams' places */
    _Atomic uint64_t end;                   /* the latest of them */
    _Atomic uint64_t nanos;                 /* idle time since the batch began */
    _Atomic bool begun;                     /* a call of the batch was noted */
    _Atomic bool lost;                      /* a call of the batch was not noted */
} sl_idle_t;

/* A batch begins. */
static inline void sl_idle_begin(sl_idle_t *idle) {
    atomic_store_explicit(&idle->nanos, 0, memory_order_relaxed);
    atomic_store_explicit(&idle->begun, false, memory_order_relaxed);
    atomic_store_explicit(&idle->lost, false, memory_order_relaxed);
}

/* A call with this cost is about to be submitted to the stream of this place. */
static inline void sl_idle_note(sl_idle_t *idle, unsigned place, uint64_t nanos, uint64_t now) {
    _Atomic uint64_t *own = &idle->ends[place];
    uint64_t all = atomic_load_explicit(&idle->end, memory_order_relaxed), from = atomic_load_explicit(own, memory_order_relaxed);
    if (atomic_load_explicit(&idle->begun, memory_order_relaxed) && now > all + SL_IDLE_GAP_NANOS)
        atomic_fetch_add_explicit(&idle->nanos, now - all, memory_order_relaxed);
    uint64_t end = (from > now ? from : now) + nanos;
    atomic_store_explicit(own, end, memory_order_relaxed);
    if (end > all)
        atomic_store_explicit(&idle->end, end, memory_order_relaxed);
    atomic_store_explicit(&idle->begun, true, memory_order_relaxed);
}

/* A thread will submit to the batch without noting it. */
static inline void sl_idle_lose_track(sl_idle_t *idle) {
    atomic_store_explicit(&idle->lost, true, memory_order_relaxed);
}

/* How long the GPU was idle in the batch; 0: not known. */
static inline uint64_t sl_idle_nanos(const sl_idle_t *idle) {
    return atomic_load(&idle->lost) ? 0 : atomic_load(&idle->nanos);
}

#endif
