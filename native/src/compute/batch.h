/* batch: the batches of one lane: fills the open one, closes it, and books what the GPU has done. */
#ifndef SL_BATCH_H
#define SL_BATCH_H

#include "compute/lane.h"

/* The caller holds the GPU's lock. */

/* Whether the open batch is old, or large. If a program waits after every short call, not every call is measured. */
bool sl_batch_is_worth_closing(const sl_lane_t *lane, uint64_t now);
bool sl_batch_is_long_enough(const sl_lane_t *lane);
/* Whether there is room to close the batch and begin another. If not, and no caller waits, the open batch grows. */
bool sl_batch_can_close(const sl_lane_t *lane);
/* Ends the open batch, if there is one. */
void sl_batch_close(sl_lane_t *lane);
/* Right after a call was submitted: ends the batch if the call is measured by itself, or the batch is long enough. */
void sl_batch_submitted(sl_lane_t *lane, sl_cost_t *cost, bool alone, uint64_t submitted_nanos);
/* Books what the GPU has finished. */
void sl_batch_settle(sl_lane_t *lane);
/* Tells the meter which turn it is. The board's word differs for each turn. */
void sl_batch_see_turn(sl_lane_t *lane);
/* How long the GPU still needs for what the lane submitted, as far as that is known. */
uint64_t sl_batch_in_flight(const sl_lane_t *lane, uint64_t now);
/* Says on the board until when this process keeps the GPU busy. */
void sl_batch_publish(sl_lane_t *lane, uint64_t now);

#endif
