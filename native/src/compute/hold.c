/* hold: carries out the windows of culocker with the turn on the GPU's board.
 *
 * To hold the lock is to have the turn, so to acquire it is left to the gate. To drain means all that the context has under
 * way, not one stream alone: else the next process would share the GPU with the rest. */
#include "compute/hold.h"

#include <string.h>

#include "compute/admit.h"
#include "os/os.h"
#include "tenant/tenant.h"
#include "turns/turn.h"

static struct {
    bool begun;
    sl_lock_window_t window;
} holds[SL_REGION_GPU_COUNT];

static sl_lock_window_t *window_of(const sl_lane_gpu_t *gpu) {
    sl_lock_window_t *window = &holds[gpu->gpu].window;
    if (!holds[gpu->gpu].begun)
        sl_lock_begin(window, sl_tenant.lock);
    holds[gpu->gpu].begun = true;
    if (window->held && !sl_turn_is_mine(&gpu->board))
        sl_lock_lost(window);
    return window;
}

static void carry_out(sl_lane_t *lane, unsigned action) {
    if (action & SL_LOCK_RELEASE)
        sl_admit_hand_over(lane, false);
    else if (action & SL_LOCK_DRAIN)
        sl_admit_drain(lane);
}

void sl_hold_before(sl_lane_t *lane, sl_lock_operation_t operation) {
    sl_lock_window_t *window = window_of(lane->gpu);
    if (!(sl_lock_before(window, operation, sl_os_nanos()) & SL_LOCK_DRAIN))
        return;
    sl_admit_drain(lane);
    carry_out(lane, sl_lock_drained(window, sl_os_nanos()));
}

void sl_hold_after(sl_lane_t *lane, sl_lock_operation_t operation) {
    carry_out(lane, sl_lock_after(window_of(lane->gpu), operation));
}

void sl_hold_synced(sl_lane_t *lane) {
    carry_out(lane, sl_lock_synced(window_of(lane->gpu)));
}

void sl_hold_forget(void) {
    memset(holds, 0, sizeof holds);
}
