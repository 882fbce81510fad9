/* admit: waits until a lane may submit work: for room on the GPU, the cap and the turn. */
#ifndef SL_ADMIT_H
#define SL_ADMIT_H

#include "compute/lane.h"
#include "turns/turn.h"

/* No other tenant has the GPU. */
static inline bool sl_admit_has_turn(const sl_lane_gpu_t *gpu) {
    return !gpu->takes_turns || sl_turn_is_mine(&gpu->board);
}

/* How many processes of the tenant want this GPU now, this one included. wants: so does this one, without a call. */
unsigned sl_admit_count_sharers(const sl_lane_gpu_t *gpu, uint64_t now, bool wants);

/* The caller holds the GPU's lock. Functions that end in "unlocking" release it while they wait. */

/* Waits until the lane may submit, and gives it credit for at least the given time. True: it waited, so the GPU may be slow to start. */
bool sl_admit_unlocking(sl_lane_t *lane, uint64_t nanos);
/* Waits until the GPU has done what the lane submitted, with a bound. */
void sl_admit_drain_unlocking(sl_lane_t *lane);
/* The same, and then gives the turn to the next tenant that wants it. */
void sl_admit_hand_over_unlocking(sl_lane_t *lane, bool wants_more);

#endif
