/* above: priorities by time slices. The GPU cuts the kernels of the tenants below for a tenant of high priority.
 *
 * A thread of the library in each process looks at the boards. While a tenant of high priority has work now and then, the processes of the
 * tenants below give their work a short slice, and say so on the board. A single tenant of high priority stops taking turns when all others
 * that work have said so. The others go on taking turns among themselves. Several tenants of high priority go on taking turns, and take
 * them from the tenants below at once (turns/turn.c). If a process cannot set its slice, turns go on as without slices. */
#ifndef SL_ABOVE_H
#define SL_ABOVE_H

#include "compute/lane.h"

/* The process takes part in the GPU's board. */
void sl_above_begin(sl_lane_gpu_t *gpu);
/* Whether this process may work outside the turns now: goes outside, or comes back. With the GPU's lock held. */
void sl_above_look(sl_lane_gpu_t *gpu, uint64_t now);
/* Whether that may change soon: the tenant has high priority, and the process may control its slice. */
bool sl_above_is_near(const sl_lane_gpu_t *gpu);
/* Comes back, if it is outside. */
void sl_above_end(sl_lane_gpu_t *gpu);

/* Work of this process begins: batches of others that run meanwhile are interrupted. */
static inline void sl_above_note(const sl_lane_gpu_t *gpu) {
    if (SL_UNLIKELY(gpu->outside))
        atomic_fetch_add_explicit(&gpu->board.turn->above, 1, memory_order_relaxed);
}

/* Work of this process has ended, and took so long. */
static inline void sl_above_note_done(const sl_lane_gpu_t *gpu, uint64_t nanos) {
    if (SL_UNLIKELY(gpu->outside)) {
        atomic_fetch_add_explicit(&gpu->board.turn->above_nanos, nanos, memory_order_relaxed);
        sl_above_note(gpu);
    }
}

#endif
