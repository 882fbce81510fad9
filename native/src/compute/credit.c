/* credit: GPU time that a thread takes from its lane in advance. Limits that change meanwhile apply from then on. */
#include "compute/credit.h"

#include "os/fork.h"
#include "tenant/tenant.h"

SL_HOT_DATA _Atomic unsigned sl_credit_version;
static const _Atomic uint64_t no_turn;

void sl_credit_revoke_all(void) {
    atomic_fetch_add(&sl_credit_version, 1);
}

void sl_credit_return(void) {
    sl_lane_t *lane = sl_thread.credit.lane;
    const void *self = &sl_thread.credit;
    sl_thread.credit.lane = NULL;
    if (lane && atomic_compare_exchange_strong(&lane->credit_thread, &self, NULL))
        sl_lane_take_credit_back(lane);
}

bool sl_credit_begin(CUstream stream, int default_stream) {
    bool keeps = stream == sl_thread.credit.stream && default_stream == (int)(sl_thread.credit.version >> 32);
    sl_credit_return();
    sl_thread.credit.stream = stream;
    sl_thread.credit.version = (uint64_t)default_stream << 32;
    return keeps;
}

void sl_credit_note(const sl_lane_gpu_t *gpu) {
    sl_thread.credit.version = (sl_thread.credit.version >> 32 << 32) | atomic_load(&sl_credit_version);
    sl_thread.credit.turn = gpu->takes_turns ? &gpu->board.turn->word : &no_turn;
    sl_thread.credit.turn_seen = atomic_load(sl_thread.credit.turn);
    sl_region_traffic_t *stripe = sl_thread.watch.traffic;
    sl_thread.credit.together = !stripe || sl_thread.watch.shared;
    sl_thread.credit.submitted = sl_thread.credit.together ? &gpu->share->submitted_calls
                                                       : &sl_tenant.region.submissions[stripe - sl_tenant.region.traffic].calls[gpu->gpu];
}

static void fill(sl_lane_t *lane, int64_t nanos) {
    const void *self = &sl_thread.credit;
    sl_idle_lose_track(&lane->idle);
    lane->thread_credit_calls = 0;
    lane->thread_credit_nanos = nanos;
    if (sl_credit_version != (unsigned)sl_thread.credit.version) {
        atomic_compare_exchange_strong(&lane->credit_thread, &self, NULL);
        sl_lane_take_credit_back(lane);
        return;
    }
    sl_thread.credit.lane = lane;
}

/* Not while a stream captures, because other streams may join the capture at any time. Not under culocker's windows, because every call
 * takes the slow path there. */
static bool may_fill(sl_lane_t *lane) {
    const void *nobody = NULL;
    return !lane->gpu->has_windows && atomic_load(&sl_stream_open_captures) <= 0 &&
           atomic_compare_exchange_strong(&lane->credit_thread, &nobody, &sl_thread.credit);
}

bool sl_credit_take(sl_lane_t *lane, bool keeps, int64_t nanos) {
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

static void forget(void) {
    sl_thread.credit.lane = NULL;
}
SL_FORK_FORGETS(forget);
