/* hold: carries out the windows of culocker (lock.h) with the turn on the GPU's board. */
#ifndef SL_HOLD_H
#define SL_HOLD_H

#include "compute/lane.h"
#include "turns/lock.h"

/* All with the lane's lock held, and only where the tenant has such windows; waiting lets the lock go. */

/* Before an operation waits for the turn. */
void sl_hold_before(sl_lane_t *lane, sl_lock_operation_t operation);
/* After the driver has it. */
void sl_hold_after(sl_lane_t *lane, sl_lock_operation_t operation);
/* After the program itself waited for the GPU. */
void sl_hold_synced(sl_lane_t *lane);
void sl_hold_forget(void);

#endif
