/* pocket: credit that a thread has taken for what it does next on the same stream.
 *
 * What is left lies in the lane, where who ends the batch takes it back, also from a thread that is gone. Limits that change meanwhile
 * hold from then on. */
#include "compute/pocket.h"

#include "tenant/tenant.h"

SL_HOT_DATA _Atomic unsigned sl_pocket_version;
static const _Atomic uint64_t no_turn;

void sl_pocket_empty_all(void) {
    atomic_fetch_add(&sl_pocket_version, 1);
}

void sl_pocket_empty(void) {
    sl_lane_t *lane = sl_mine.pocket.lane;
    const void *self = &sl_mine.pocket;
    sl_mine.pocket.lane = NULL;
    if (lane && atomic_compare_exchange_strong(&lane->holder, &self, NULL))
        sl_lane_empty_pocket(lane);
}

bool sl_pocket_begin(CUstream stream, int default_stream) {
    bool keeps = stream == sl_mine.pocket.stream && default_stream == sl_mine.pocket.default_stream;
    sl_pocket_empty();
    sl_mine.pocket.stream = stream;
    sl_mine.pocket.default_stream = default_stream;
    return keeps;
}

void sl_pocket_note(const sl_lane_gpu_t *gpu) {
    sl_mine.pocket.version = atomic_load(&sl_pocket_version);
    sl_mine.pocket.turn = gpu->takes_turns ? &gpu->board.turn->word : &no_turn;
    sl_mine.pocket.turn_seen = atomic_load(sl_mine.pocket.turn);
    sl_region_traffic_t *stripe = sl_mine.watch.traffic;
    sl_mine.pocket.together = !stripe || sl_mine.watch.shared;
    sl_mine.pocket.submitted = sl_mine.pocket.together ? &gpu->share->submitted_calls
                                                       : &sl_tenant.region.submissions[stripe - sl_tenant.region.traffic].calls[gpu->gpu];
}

static void fill(sl_lane_t *lane, int64_t nanos) {
    const void *self = &sl_mine.pocket;
    sl_pace_lose(&lane->pace);
    lane->pocket_calls = 0;
    lane->pocket_nanos = nanos;
    if (sl_pocket_version != sl_mine.pocket.version) {
        atomic_compare_exchange_strong(&lane->holder, &self, NULL);
        sl_lane_empty_pocket(lane);
        return;
    }
    sl_mine.pocket.lane = lane;
}

/* While a stream captures others may join it at any time, and under culocker's windows every call is looked at. */
static bool may_fill(sl_lane_t *lane) {
    const void *nobody = NULL;
    return !lane->gpu->has_windows && atomic_load(&sl_meter_open_captures) <= 0 &&
           atomic_compare_exchange_strong(&lane->holder, &nobody, &sl_mine.pocket);
}

bool sl_pocket_take(sl_lane_t *lane, bool keeps, int64_t nanos) {
    int64_t part = atomic_load_explicit(&lane->credit_nanos, memory_order_relaxed) / 2;
    bool fills = keeps && part > nanos && may_fill(lane);
    int64_t taken = fills ? part : nanos;
    bool enough = atomic_fetch_sub_explicit(&lane->credit_nanos, taken, memory_order_relaxed) >= taken;
    if (enough)
        atomic_fetch_add_explicit(&lane->calls, 1, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&lane->credit_nanos, taken, memory_order_relaxed);
    if (fills)
        fill(lane, enough ? taken - nanos : 0);
    return enough;
}

void sl_pocket_forget(void) {
    sl_mine.pocket.lane = NULL;
}
