/* above: priorities by time slices. The tenant of high priority works outside the turns, and the GPU cuts the kernels of all others for it.
 *
 * A thread of the library in each process looks at the boards. While one tenant of high priority is there, the processes of the others
 * give their work the shortest slice, and say so on the board. When all have said so, the high tenant stops taking turns. The others go on
 * taking turns among themselves, so two short slices never compete. If any process cannot set its slice, turns go on as without slices. */
#ifndef SL_ABOVE_H
#define SL_ABOVE_H

#include "compute/lane.h"

/* The process takes part in the GPU's board. */
void sl_above_begin(sl_lane_gpu_t *gpu);
/* Whether this process may work outside the turns now: goes outside, or comes back. With the GPU's lock held. */
void sl_above_look(sl_lane_gpu_t *gpu, uint64_t now);
/* Comes back, if it is outside. */
void sl_above_end(sl_lane_gpu_t *gpu);

/* Work of this process begins or has ended: batches of others that ran meanwhile were interrupted. */
static inline void sl_above_note(const sl_lane_gpu_t *gpu) {
    if (SL_UNLIKELY(gpu->outside))
        atomic_fetch_add_explicit(&gpu->board.turn->above, 1, memory_order_relaxed);
}

#endif
