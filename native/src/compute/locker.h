/* locker: carries out the windows of culocker (turns/window.h) with the turn on the GPU's board. */
#ifndef SL_LOCKER_H
#define SL_LOCKER_H

#include "compute/lane.h"
#include "turns/window.h"

/* The caller holds the GPU's lock, and the tenant has such windows. Functions that end in "unlocking" release the lock while they wait. */

/* Before an operation waits for the turn. */
void sl_locker_before_unlocking(sl_lane_t *lane, sl_window_operation_t operation);
/* After the driver has accepted the operation. */
void sl_locker_after_unlocking(sl_lane_t *lane, sl_window_operation_t operation);
/* After the program itself waited for the GPU. */
void sl_locker_synced_unlocking(sl_lane_t *lane);

#endif
