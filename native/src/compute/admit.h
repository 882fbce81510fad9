/* admit: when work may go to the GPU: the cap, the turn and what is under way already. */
#ifndef SL_ADMIT_H
#define SL_ADMIT_H

#include "compute/lane.h"
#include "turns/turn.h"

/* Nobody else has the GPU. */
static inline bool sl_admit_has_turn(const sl_lane_gpu_t *gpu) {
    return !gpu->takes_turns || sl_turn_is_mine(&gpu->board);
}

/* All with the lane's lock held; waiting lets it go. */

/* Waits until the lane may submit, and gives credit for at least the given time. True when the GPU was not the lane's meanwhile. */
bool sl_admit(sl_lane_t *lane, uint64_t nanos);
/* Waits until the GPU has done what the lane submitted, not for ever. */
void sl_admit_drain(sl_lane_t *lane);
/* The same, and then gives the turn to the next who wants it. */
void sl_admit_hand_over(sl_lane_t *lane, bool wants_more);
/* Whether the open batch is old, or has much in it: who waits after every short call need not measure each. */
bool sl_admit_is_worth_closing(const sl_lane_t *lane, uint64_t now);
/* Ends the open batch, if there is one. */
void sl_admit_close(sl_lane_t *lane);
/* Right after a call was submitted: ends the batch when the call is to be measured by itself, or the batch is long enough. */
void sl_admit_submitted(sl_lane_t *lane, sl_cost_t *cost, bool alone, uint64_t submitted_nanos);
/* Whether a batch can be closed now and another be begun. Where nothing waits, the open one grows until it can. */
bool sl_admit_can_close(const sl_lane_t *lane);
/* Books what the GPU has finished. */
void sl_admit_settle(sl_lane_t *lane);
/* How long the GPU still needs for what the lane submitted, as far as it is known. */
uint64_t sl_admit_in_flight(const sl_lane_t *lane, uint64_t now);
/* Says on the board until when this process keeps the GPU busy. */
void sl_admit_publish(sl_lane_t *lane, uint64_t now);

#endif
