/* admit: waits until a lane may submit work: for room on the GPU, the cap and the turn. Then it gives the lane credit.
 *
 * Functions that end in "unlocking" release the GPU's lock while they wait. Every wait for the GPU has a bound: a program may have to
 * submit more before its earlier work can end. */
#define _GNU_SOURCE
#include "compute/admit.h"

#include "compute/above.h"
#include "compute/batch.h"
#include "compute/cap.h"
#include "compute/lone.h"
#include "hold/hold.h"
#include "os/os.h"
#include "real.h"
#include "tenant/tenant.h"
#include "trace/nvtx.h"
#include "trace/trace.h"
#include "turns/turn.h"

#define MICRO 1000u
#define MILLI 1000000u
/* How far a host may work ahead. Chosen with the caps and priorities of bench/results/2026-11-15-compute-h200.md and 2026-11-16. */
#define CHUNK_NANOS (500 * MICRO)         /* credit at a time */
#define UNBOUND_NANOS (2 * MILLI)         /* the same where GPU time is only measured */
#define FLIGHT_NANOS (5 * MILLI)          /* most predicted work in flight: half a turn */
#define FLIGHT_CALLS 256u                 /* most calls in flight: each may take longer than ever before */
#define FLIGHT_DRY_CALLS 1024u            /* the same while the GPU waits for the host */
#define FLIGHT_CAPPED_CALLS 64u           /* the same under a cap */
#define BELOW_NANOS (850 * MICRO)         /* most work in flight, next call included, while a tenant of higher priority takes turns */
#define REST_BELOW_NANOS (20 * MICRO)     /* in that case a longer call waits until only this much is in flight */
#define PATIENCE_NANOS (100 * MILLI)      /* how long work may take beyond its predicted end */
#define OVERDUE_NANOS (1 * MILLI)
/* Sleeping and looking. */
#define SPIN_NANOS (60 * MICRO)           /* a sleep ends this late: the kernel's timer slack is 50 us */
#define POLL_NANOS (5 * MICRO)
#define LOOK_NANOS (50 * MILLI)           /* how often a waiting thread reads the limits */
#define ABOVE_NANOS (2 * MILLI)           /* the same where it may soon need no turn */
#define CHECK_NANOS (20 * MILLI)          /* how often other processes are counted */
#define SHARER_NANOS (50 * MILLI)         /* a process that was not at the gate for this long does not want the GPU */
#define TOLD_NANOS (100 * MILLI)          /* how often a trace records a part of a long turn */

static void pause_until(uint64_t until) {
    uint64_t now = sl_os_nanos();
    if (until > now + SPIN_NANOS)
        sl_os_sleep_nanos(until - now - SPIN_NANOS);
    while (sl_os_nanos() < until)
        __builtin_ia32_pause();
}

/* The GPU should have finished long ago. A batch that was begun before a pause of the host, and submitted just now, seems so too. */
static bool is_overdue(const sl_lane_t *lane, uint64_t now) {
    uint64_t submitted = lane->meter.batches[lane->meter.oldest % SL_METER_BATCHES].closed_nanos;
    uint64_t expected = lane->busy_nanos > submitted ? lane->busy_nanos : submitted;
    return lane->meter.open != lane->meter.oldest && expected + OVERDUE_NANOS < now;
}

static void pause_unlocking(sl_lane_t *lane, uint64_t until) {
    sl_mutex_unlock(&lane->gpu->lock);
    uint32_t inside = sl_hold_step_out();
    pause_until(until);
    sl_hold_step_in(inside);
    sl_mutex_lock(&lane->gpu->lock);
}

static unsigned calls_in_flight(const sl_lane_t *lane) {
    return lane->meter.unsettled_calls + (lane->meter.is_open ? lane->calls - lane->opened_calls : 0);
}

static unsigned most_calls(const sl_lane_gpu_t *gpu) {
    return gpu->permille < 1000 ? FLIGHT_CAPPED_CALLS : FLIGHT_CALLS;
}

static bool is_too_much(const sl_lane_t *lane, uint64_t nanos, unsigned calls, uint64_t now) {
    bool many = !lane->gpu->dry && calls_in_flight(lane) > calls;
    return many || sl_batch_in_flight(lane, now) > nanos || is_overdue(lane, now);
}

/* Waits until the work in flight takes no longer than this and is no more than so many calls. Another thread may begin a batch meanwhile.
 * If it submits nothing more, only this thread closes the batch. */
static void drain_to_unlocking(sl_lane_t *lane, uint64_t nanos, unsigned calls, unsigned reason) {
    uint64_t start = sl_os_nanos(), now = start, begin = sl_trace_start();
    sl_batch_close(lane);
    sl_nvtx_push(reason == SL_TRACE_REASON_LOCK ? "auxSync" : "wait");
    for (sl_batch_settle(lane); is_too_much(lane, nanos, calls, now) && now - start < PATIENCE_NANOS; now = sl_os_nanos()) {
        uint64_t left = sl_batch_in_flight(lane, now);
        if (lane->gpu->takes_turns)
            sl_turn_say_busy(&lane->gpu->board, now + left + SPIN_NANOS);
        uint64_t rest = left > nanos && lane->busy_nanos > now ? left - nanos : 0;
        rest = rest < LOOK_NANOS ? rest : LOOK_NANOS;
        pause_unlocking(lane, now + (rest > SPIN_NANOS ? rest - SPIN_NANOS / 2 : POLL_NANOS));
        sl_batch_settle(lane);
        if (lane->meter.oldest == lane->meter.open)
            sl_batch_close(lane);
    }
    sl_nvtx_pop();
    if (now != start)
        sl_trace_wait(reason, begin, lane->gpu->gpu);
}

/* Another tenant has the turn, perhaps for a while already. */
static void tell_lost_turn(sl_lane_gpu_t *gpu, uint64_t now) {
    if (!gpu->turn_ticks)
        return;
    sl_trace_turn(gpu->turn_ticks, sl_trace_ticks_at(sl_turn_began(&gpu->board, now)), gpu->gpu);
    gpu->turn_ticks = 0;
}

/* No work follows for a while, so the turn goes to a waiting tenant at once. */
static void leave_early(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    if (!gpu->takes_turns || sl_batch_in_flight(lane, now) || !sl_turn_is_mine(&gpu->board) || !sl_turn_is_wanted(&gpu->board, now))
        return;
    sl_turn_say_busy(&gpu->board, now - 1);
    sl_turn_give(&gpu->board, false, now);
    if (!sl_turn_is_mine(&gpu->board))
        tell_lost_turn(gpu, now);
}

/* True when it had to wait. */
static bool wait_for_cap_unlocking(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    if (SL_UNLIKELY(gpu->cap_when_shared))
        sl_lone_look(gpu, now);
    uint64_t opens = gpu->permille < 1000 ? sl_cap_opens(gpu, now) : 0;
    if (opens <= now)
        return gpu->shut = false;
    if (!gpu->shut)
        atomic_fetch_add_explicit(&gpu->share->cap_waits, 1, memory_order_relaxed);
    gpu->shut = true;
    uint64_t begin = sl_trace_start();
    sl_batch_close(lane);
    sl_batch_publish(lane, now);
    leave_early(lane, now);
    uint64_t left = sl_batch_in_flight(lane, now), most = gpu->sharers > 1 ? SL_CAP_WINDOW_NANOS : LOOK_NANOS;
    uint64_t look = now + (left && left < most ? is_overdue(lane, now) ? OVERDUE_NANOS : left + SPIN_NANOS : most);
    sl_nvtx_push("wait");
    pause_unlocking(lane, opens < look ? opens : look);
    sl_nvtx_pop();
    sl_batch_settle(lane);
    atomic_fetch_add_explicit(&gpu->share->cap_waited_nanos, sl_os_nanos() - now, memory_order_relaxed);
    sl_trace_wait(SL_TRACE_REASON_CAP, begin, gpu->gpu);
    return true;
}

/* Under culocker's windows the turn is culocker's lock. */
static unsigned turn_reason(void) {
    return sl_tenant.windows ? SL_TRACE_REASON_LOCK : SL_TRACE_REASON_TURN;
}

/* A long turn is recorded in parts, so that a trace that ends during the turn has a part of it. */
static void tell_turn(sl_lane_gpu_t *gpu, uint64_t nanos) {
    uint64_t begin = sl_trace_start();
    if (gpu->turn_ticks && begin && sl_clock_nanos(begin - gpu->turn_ticks) > nanos) {
        sl_trace_turn(gpu->turn_ticks, begin, gpu->gpu);
        gpu->turn_ticks = begin;
    } else if (!gpu->turn_ticks || !begin) {
        gpu->turn_ticks = begin;
    }
}

/* Records the turn that the process has at its end. Takes no lock, because a thread that is gone may have held it. */
static void tell_last_turn(sl_lane_t *lane, void *unused) {
    (void)unused;
    uint64_t began = lane->gpu->turn_ticks, now = sl_trace_start();
    lane->gpu->turn_ticks = 0;
    if (began && now)
        sl_trace_turn(began, now, lane->gpu->gpu);
}

static __attribute__((destructor)) void end_process(void) {
    sl_lane_each(tell_last_turn, NULL);
}

/* The batch is closed only when the turn has come. Its end event is work for the GPU, and would cost a context switch to this process. */
static void wait_for_turn_unlocking(sl_lane_t *lane) {
    sl_lane_gpu_t *gpu = lane->gpu;
    uint64_t now = sl_os_nanos(), begin = sl_trace_start();
    tell_lost_turn(gpu, now);
    sl_board_t board = gpu->board;
    if (!gpu->turn_wanted_nanos)
        gpu->turn_wanted_nanos = now;
    uint64_t since = gpu->turn_wanted_nanos;
    sl_mutex_unlock(&gpu->lock);
    sl_nvtx_push(sl_tenant.windows ? "lock" : "wait");
    uint32_t inside = sl_hold_step_out();
    sl_turn_wait_t end = sl_turn_wait(&board, since, sl_above_is_near(gpu) ? ABOVE_NANOS : LOOK_NANOS);
    sl_hold_step_in(inside);
    bool mine = end == SL_TURN_MINE;
    sl_nvtx_pop();
    sl_mutex_lock(&gpu->lock);
    if (end == SL_TURN_LOST)
        sl_lane_rejoin(gpu, &board);
    if (mine)
        sl_batch_close(lane);
    sl_batch_settle(lane);
    if (mine) {
        gpu->turn_wanted_nanos = 0;
        lane->busy_nanos = sl_os_nanos() + SL_TURN_SWITCH_NANOS;
    }
    atomic_fetch_add_explicit(&gpu->share->turn_waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&gpu->share->turn_waited_nanos, sl_os_nanos() - now, memory_order_relaxed);
    sl_trace_wait(turn_reason(), begin, gpu->gpu);
}

void sl_admit_drain_unlocking(sl_lane_t *lane) {
    drain_to_unlocking(lane, 0, 0, SL_TRACE_REASON_LOCK);
}

void sl_admit_hand_over_unlocking(sl_lane_t *lane, bool wants_more) {
    sl_lane_gpu_t *gpu = lane->gpu;
    drain_to_unlocking(lane, 0, 0, turn_reason());
    uint64_t now = sl_os_nanos();
    sl_turn_say_busy(&gpu->board, now - 1);
    sl_turn_give(&gpu->board, wants_more, now);
    if (!sl_turn_is_mine(&gpu->board))
        tell_lost_turn(gpu, now);
}

/* True: it waited, so the caller must check everything again. */
static bool wait_for_turns_unlocking(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    if (!gpu->takes_turns)
        return false;
    if (!sl_turn_is_mine(&gpu->board)) {
        sl_above_look(gpu, now);
        if (gpu->takes_turns)
            wait_for_turn_unlocking(lane);
        return true;
    }
    tell_turn(gpu, TOLD_NANOS);
    if (!sl_turn_is_wanted(&gpu->board, now) || now + sl_batch_in_flight(lane, now) < sl_turn_ends(&gpu->board, now))
        return false;
    sl_admit_hand_over_unlocking(lane, true);
    return !sl_turn_is_mine(&gpu->board);
}

unsigned sl_admit_count_sharers(const sl_lane_gpu_t *gpu, uint64_t now, bool wants) {
    if (wants)
        sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu->gpu)->submitting_nanos = now;
    unsigned count = 0, slots = (unsigned)sl_tenant.region.gpus[gpu->gpu].slots;
    for (unsigned slot = 0; slot < slots && slot < SL_REGION_SLOT_COUNT; slot++) {
        uint64_t at = sl_region_account(&sl_tenant.region, slot, gpu->gpu)->submitting_nanos;
        count += slot == sl_tenant.slot || (at + SHARER_NANOS > now && sl_tenant.region.slots[slot].owner);
    }
    return count;
}

/* Counts, now and then, the other processes that want the GPU. */
static void look_around(sl_lane_gpu_t *gpu, uint64_t now) {
    sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu->gpu)->submitting_nanos = now;
    if (now - gpu->checked_nanos < CHECK_NANOS)
        return;
    gpu->checked_nanos = now;
    gpu->sharers = sl_admit_count_sharers(gpu, now, false);
    sl_above_look(gpu, now);
    gpu->has_superior = gpu->takes_turns && sl_turn_has_superior(&gpu->board);
    gpu->has_inferior = gpu->takes_turns && sl_turn_has_inferior(&gpu->board);
}

static uint64_t chunk_of(const sl_lane_t *lane, uint64_t now) {
    const sl_lane_gpu_t *gpu = lane->gpu;
    uint64_t chunk = gpu->dry ? 2 * CHUNK_NANOS : CHUNK_NANOS;
    if (gpu->unbound)
        return UNBOUND_NANOS;
    uint64_t quarter = (uint64_t)SL_CAP_WINDOW_NANOS * gpu->permille / 4000;
    if (quarter < chunk)
        chunk = quarter > 50 * MICRO ? quarter : 50 * MICRO;
    if (gpu->has_superior && chunk > BELOW_NANOS / 3)
        chunk = BELOW_NANOS / 3;
    if (gpu->takes_turns && sl_turn_is_wanted(&gpu->board, now) && chunk > 200 * MICRO)
        chunk = 200 * MICRO;
    uint64_t calls = (gpu->dry ? FLIGHT_DRY_CALLS : most_calls(gpu) / 2) * (lane->mean_nanos + 1);
    return chunk < calls ? chunk : calls;
}

static void grant(sl_lane_t *lane, uint64_t nanos, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    uint64_t chunk = chunk_of(lane, now), none = 0;
    bool overdue = is_overdue(lane, now); /* the length of the work is not known: one call at a time */
    int64_t credit = lane->credit_nanos, more = (int64_t)(nanos > chunk || overdue ? nanos : chunk) - (credit < 0 ? credit : 0);
    if (lane->meter.scale > 0 && !overdue)
        more = (int64_t)((double)more / lane->meter.scale);
    if (credit < (int64_t)nanos) {
        atomic_fetch_add(&lane->credit_nanos, more);
        lane->granted_nanos += (uint64_t)more;
    }
    if (SL_UNLIKELY(!gpu->share->began_nanos))
        atomic_compare_exchange_strong(&gpu->share->began_nanos, &none, now);
    sl_batch_publish(lane, now);
    sl_batch_see_turn(lane);
}

/* How much work may be in flight before a call with this cost, and how much after a wait. A tenant of lower
 * priority keeps little in flight, so that the higher one soon has the GPU. But a host that is never ahead of the GPU leaves it idle. */
static void bounds_of(const sl_lane_t *lane, uint64_t nanos, uint64_t now, uint64_t *most, uint64_t *rest) {
    *most = FLIGHT_NANOS;
    *rest = FLIGHT_NANOS / 2;
    if (!lane->gpu->has_superior)
        return;
    uint64_t chunk = chunk_of(lane, now), need = nanos > chunk ? nanos : chunk;
    *most = need + REST_BELOW_NANOS < BELOW_NANOS ? BELOW_NANOS - need : REST_BELOW_NANOS;
    *rest = *most;
}

/* The turn may end during this wait, so it comes before the check of the turn. True: it waited. */
static bool wait_for_room_unlocking(sl_lane_t *lane, uint64_t nanos, uint64_t now) {
    uint64_t most, rest;
    unsigned calls = most_calls(lane->gpu);
    if (lane->gpu->unbound)
        return false;
    bounds_of(lane, nanos, now, &most, &rest);
    bool much = is_too_much(lane, most, calls, now), many = lane->meter.open - lane->meter.oldest >= SL_METER_BATCHES - 2;
    if (much)
        drain_to_unlocking(lane, rest, calls / 2, SL_TRACE_REASON_FLIGHT);
    if (many)
        drain_to_unlocking(lane, 0, 0, SL_TRACE_REASON_FLIGHT);
    if (much || many) {
        atomic_fetch_add_explicit(&lane->gpu->share->room_waits, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&lane->gpu->share->room_waited_nanos, sl_os_nanos() - now, memory_order_relaxed);
    }
    return much || many;
}

bool sl_admit_unlocking(sl_lane_t *lane, uint64_t nanos) {
    sl_lane_gpu_t *gpu = lane->gpu;
    bool idled = false, mine = sl_admit_has_turn(gpu);
    sl_batch_settle(lane);
    if (mine && lane->meter.is_open && sl_batch_is_long_enough(lane) && sl_batch_can_close(lane))
        sl_batch_close(lane);
    uint64_t now = sl_os_nanos();
    look_around(gpu, now);
    bool waited = mine && wait_for_room_unlocking(lane, nanos, now);
    do {
        now = waited ? sl_os_nanos() : now;
        if (gpu->epoch != sl_tenant.region.limits->epoch)
            sl_lane_refresh(gpu);
        waited = wait_for_cap_unlocking(lane, now) || wait_for_turns_unlocking(lane, now);
        idled |= waited;
    } while (waited);
    grant(lane, nanos, now);
    return idled;
}
