/* pace: how long the GPU waits for a host that submits to several streams.
 *
 * Events tell when a batch began and ended on each stream, not what was in between; and what its calls take together tells nothing when
 * the GPU does them side by side. So who submits notes when, and when the stream should have done all that is on it. Without a lock: what
 * two threads note at the same time may be off by one call. */
#ifndef SL_PACE_H
#define SL_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SL_PACE_STREAMS 16u
#define SL_PACE_GAP_NANOS 3000u /* a gap between two kernels that is shorter is of no use to others */

typedef struct {
    _Atomic uint64_t ends[SL_PACE_STREAMS]; /* when the streams should have done all, by their places */
    _Atomic uint64_t end;                   /* the last of them */
    _Atomic uint64_t waited_nanos;          /* since the batch began */
    _Atomic bool begun;                     /* something of the batch was noted */
    _Atomic bool lost;                      /* something was not */
} sl_pace_t;

/* A batch begins. */
static inline void sl_pace_begin(sl_pace_t *pace) {
    atomic_store_explicit(&pace->waited_nanos, 0, memory_order_relaxed);
    atomic_store_explicit(&pace->begun, false, memory_order_relaxed);
    atomic_store_explicit(&pace->lost, false, memory_order_relaxed);
}

/* A call that is known to take so long is about to be submitted to the stream of this place. */
static inline void sl_pace_note(sl_pace_t *pace, unsigned place, uint64_t nanos, uint64_t now) {
    _Atomic uint64_t *own = &pace->ends[place];
    uint64_t all = atomic_load_explicit(&pace->end, memory_order_relaxed), from = atomic_load_explicit(own, memory_order_relaxed);
    if (atomic_load_explicit(&pace->begun, memory_order_relaxed) && now > all + SL_PACE_GAP_NANOS)
        atomic_fetch_add_explicit(&pace->waited_nanos, now - all, memory_order_relaxed);
    uint64_t end = (from > now ? from : now) + nanos;
    atomic_store_explicit(own, end, memory_order_relaxed);
    if (end > all)
        atomic_store_explicit(&pace->end, end, memory_order_relaxed);
    atomic_store_explicit(&pace->begun, true, memory_order_relaxed);
}

/* Somebody submits to the batch who does not note it. */
static inline void sl_pace_lose(sl_pace_t *pace) {
    atomic_store_explicit(&pace->lost, true, memory_order_relaxed);
}

/* How long the GPU waited in the batch; 0 when that is not known. */
static inline uint64_t sl_pace_waited(const sl_pace_t *pace) {
    return atomic_load(&pace->lost) ? 0 : atomic_load(&pace->waited_nanos);
}

#endif
