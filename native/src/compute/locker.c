/* locker: carries out the windows of culocker with the turn on the GPU's board.
 *
 * culocker's lock is the turn, so the gate acquires it. A drain covers all work of the context, not one stream alone: otherwise the
 * next process would share the GPU with the rest of it. */
#include "compute/locker.h"

#include <string.h>

#include "compute/admit.h"
#include "os/fork.h"
#include "os/os.h"
#include "tenant/tenant.h"
#include "turns/turn.h"

static struct {
    bool begun;
    sl_window_t window;
} windows[SL_REGION_GPU_COUNT];

static sl_window_t *window_of(const sl_lane_gpu_t *gpu) {
    sl_window_t *window = &windows[gpu->gpu].window;
    if (!windows[gpu->gpu].begun)
        sl_window_begin(window, sl_tenant.windows);
    windows[gpu->gpu].begun = true;
    if (window->owns_lock && !sl_turn_is_mine(&gpu->board))
        sl_window_lost(window);
    return window;
}

static void carry_out_unlocking(sl_lane_t *lane, unsigned action) {
    if (action & SL_WINDOW_RELEASE)
        sl_admit_hand_over_unlocking(lane, false);
    else if (action & SL_WINDOW_DRAIN)
        sl_admit_drain_unlocking(lane);
}

void sl_locker_before_unlocking(sl_lane_t *lane, sl_window_operation_t operation) {
    sl_window_t *window = window_of(lane->gpu);
    if (!(sl_window_before(window, operation, sl_os_nanos()) & SL_WINDOW_DRAIN))
        return;
    sl_admit_drain_unlocking(lane);
    carry_out_unlocking(lane, sl_window_drained(window, sl_os_nanos()));
}

void sl_locker_after_unlocking(sl_lane_t *lane, sl_window_operation_t operation) {
    carry_out_unlocking(lane, sl_window_after(window_of(lane->gpu), operation));
}

void sl_locker_synced_unlocking(sl_lane_t *lane) {
    carry_out_unlocking(lane, sl_window_synced(window_of(lane->gpu)));
}

static void forget(void) {
    memset(windows, 0, sizeof windows);
}
SL_FORK_FORGETS(forget);
