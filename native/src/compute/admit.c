/* admit: when work may go to the GPU: the cap, the turn and what is under way already.
 *
 * The cap is one word in the region, shared by all processes of the tenant: the time at which it has paid for all GPU time
 * charged so far. A batch is charged with what its calls are known to take when it is closed, and put right when the meter
 * has read what was really used; so a kernel that takes too long is paid for afterwards. When the cap is used up the gate
 * stays shut for a whole window, so that the work in between goes to the GPU in one piece.
 *
 * No wait for the GPU is without a bound: a program may have to submit more before what it submitted can end. */
#define _GNU_SOURCE
#include "compute/admit.h"

#include "trace/nvtx.h"
#include "os/os.h"
#include "compute/credit.h"
#include "compute/lone.h"
#include "real.h"
#include "compute/sibling.h"
#include "tenant/tenant.h"
#include "trace/trace.h"
#include "turns/turn.h"

#define MICRO 1000u
#define MILLI 1000000u
#define WINDOW_NANOS (10 * MILLI)         /* of the cap */
#define KEPT_NANOS (15 * MILLI)           /* of GPU time */
#define LONGEST_KEPT_NANOS (100 * MILLI)  /* of time */
#define MOST_DEBT_NANOS 600000000000u /* of debt beyond what this process made: what ended processes left to be repaid */
#define CHUNK_NANOS (500 * MICRO)         /* of credit */
#define UNBOUND_NANOS (2 * MILLI)         /* the same where GPU time is only measured */
#define BATCH_NANOS (400 * MICRO)         /* a batch is closed when it is this long */
#define FLIGHT_NANOS (5 * MILLI)          /* predicted work under way, at most */
#define FLIGHT_CALLS 256u                 /* calls under way, at most: each may take longer than it ever did */
#define FLIGHT_DRY_CALLS 1024u            /* the same while the GPU waits for the host */
#define FLIGHT_CAPPED_CALLS 64u           /* the same under a cap */
#define BELOW_NANOS (850 * MICRO)         /* the same for a tenant that must let another go first, with what comes next */
#define PAUSE_ABOVE_NANOS (800 * MICRO)   /* one of higher priority may submit more for so long, unless it says that it is done */
#define REST_BELOW_NANOS (20 * MICRO)     /* what takes longer than that follows when so much is left */
#define PATIENCE_NANOS (100 * MILLI)      /* with work that should have ended */
#define LOOK_NANOS (50 * MILLI)           /* how often one who waits reads the limits */
#define SPIN_NANOS (60 * MICRO)           /* a sleep ends this much late */
#define POLL_NANOS (5 * MICRO)
#define CHECK_NANOS (20 * MILLI)          /* how often others are counted */
#define SHARER_NANOS (50 * MILLI)         /* who was not at the gate for this long does not want the GPU */
#define TOLD_NANOS (100 * MILLI)          /* so often a trace hears of a turn that lasts */
#define OVERDUE_NANOS (1 * MILLI)
#define BELIEVED_NANOS (1000 * MILLI)     /* so long what is under way counts as work */

static void pause_until(uint64_t until) {
    uint64_t now = sl_os_nanos();
    if (until > now + SPIN_NANOS)
        sl_os_sleep_nanos(until - now - SPIN_NANOS);
    while (sl_os_nanos() < until)
        __builtin_ia32_pause();
}

/* How much time that passed unused is kept: enough for a host that wakes late, too little to be seen in a second. */
static uint64_t kept(const sl_lane_gpu_t *gpu) {
    uint64_t span = (uint64_t)KEPT_NANOS * 1000 / gpu->permille;
    return span < LONGEST_KEPT_NANOS ? span : LONGEST_KEPT_NANOS;
}

static uint64_t later(const sl_lane_gpu_t *gpu, uint64_t due, int64_t wall, uint64_t now) {
    uint64_t least = now - kept(gpu);
    return (due > least ? due : least) + (uint64_t)wall;
}

/* The debt of the whole tenant. More than can be true is damage: another process of the tenant wrote it, and it is put right,
 * so that it holds up no launch. */
static uint64_t due_of_all(const sl_lane_gpu_t *gpu, uint64_t now) {
    uint64_t due = gpu->share->due_nanos, known = gpu->own_due_nanos > now ? gpu->own_due_nanos : now;
    if (SL_UNLIKELY(due > known && due - known > MOST_DEBT_NANOS)) {
        atomic_compare_exchange_strong(&gpu->share->due_nanos, &due, known);
        due = known;
    }
    return due;
}

/* Adds GPU time to what the cap must pay for, from the given time on; less than none takes it back. */
static void charge(sl_lane_gpu_t *gpu, int64_t nanos, uint64_t now) {
    if (gpu->permille >= 1000)
        return;
    int64_t wall = nanos * 1000 / (int64_t)gpu->permille;
    uint64_t due = gpu->share->due_nanos;
    while (!atomic_compare_exchange_weak(&gpu->share->due_nanos, &due, later(gpu, due, wall, now))) {
    }
    gpu->own_due_nanos = later(gpu, gpu->own_due_nanos, wall * (int64_t)(gpu->sharers ? gpu->sharers : 1), now);
}

static int64_t unspent(const sl_lane_t *lane) {
    return lane->credit_nanos + (lane->credit_thread ? lane->thread_credit_nanos : 0);
}

static uint64_t spent(const sl_lane_t *lane) {
    return (uint64_t)((int64_t)lane->granted_nanos - unspent(lane));
}

/* By the open batch. Credit changes hands while it is summed up. */
static uint64_t spent_now(const sl_lane_t *lane) {
    uint64_t all = spent(lane);
    return all > lane->opened_nanos ? all - lane->opened_nanos : 0;
}

/* Since when the GPU has had work of this lane, so that no time passed unused. It may also wait for something. */
static uint64_t busy_since(const sl_lane_t *lane, uint64_t opened) {
    uint64_t oldest = lane->meter.batches[lane->meter.oldest % SL_METER_BATCHES].opened_nanos;
    return oldest + BELIEVED_NANOS > opened ? oldest : opened;
}

/* Pairs with a thread that takes credit in advance, which reads these in the opposite order: either it sees that the batch has ended, or
 * it is seen. */
static void take_back(sl_lane_t *lane) {
    lane->batch = (unsigned)lane->meter.open + 1;
    sl_credit_revoke_all();
    if (atomic_exchange(&lane->credit_thread, NULL))
        sl_lane_take_credit_back(lane);
}

static void close_batch(sl_lane_t *lane, sl_cost_t *only, bool prompt, uint64_t submitted_nanos) {
    take_back(lane);
    uint64_t predicted = spent_now(lane);
    unsigned calls = lane->calls;
    sl_meter_end_t end = {.predicted_nanos = predicted,
                          .idle_nanos = sl_idle_nanos(&lane->idle),
                          .submitted_nanos = submitted_nanos,
                          .calls = calls - lane->opened_calls,
                          .prompt = prompt,
                          .only = only};
    uint64_t opened = lane->meter.batches[lane->meter.open % SL_METER_BATCHES].opened_nanos;
    uint64_t since = busy_since(lane, opened);
    uint64_t nanos = sl_meter_close(&lane->meter, &end);
    lane->batch = (unsigned)lane->meter.open;
    charge(lane->gpu, (int64_t)nanos, since);
    lane->busy_nanos = (lane->busy_nanos > opened ? lane->busy_nanos : opened) + nanos;
    if (calls != lane->opened_calls) {
        uint64_t mean = predicted / (calls - lane->opened_calls);
        lane->mean_nanos = lane->mean_nanos ? (3 * lane->mean_nanos + mean) / 4 : mean;
    }
    lane->opened_nanos += predicted;
    lane->opened_calls = calls;
}

bool sl_admit_can_close(const sl_lane_t *lane) {
    return !lane->gpu->unbound || lane->meter.open - lane->meter.oldest < SL_METER_BATCHES - 2;
}

static bool is_long_enough(const sl_lane_t *lane) {
    return sl_meter_expect(&lane->meter, spent_now(lane)) >= BATCH_NANOS;
}

bool sl_admit_is_worth_closing(const sl_lane_t *lane, uint64_t now) {
    uint64_t opened = lane->meter.batches[lane->meter.open % SL_METER_BATCHES].opened_nanos;
    return lane->meter.is_open && (now - opened > BATCH_NANOS || spent_now(lane) > BATCH_NANOS / 4);
}

void sl_admit_close(sl_lane_t *lane) {
    if (lane->meter.is_open)
        close_batch(lane, NULL, false, sl_os_nanos());
}

void sl_admit_submitted(sl_lane_t *lane, sl_cost_t *cost, bool alone, uint64_t submitted_nanos) {
    if (!lane->meter.is_open)
        return;
    bool is_long = is_long_enough(lane) && sl_admit_can_close(lane);
    bool single = lane->calls - lane->opened_calls == 1;
    if (is_long && single && !alone) {
        atomic_fetch_add(&cost->pending, 1);
        alone = true;
    }
    if (alone || is_long)
        close_batch(lane, alone ? cost : NULL, true, submitted_nanos);
}

/* The board's word is another one for each turn. */
static void see_turn(sl_lane_t *lane) {
    lane->meter.turn = lane->gpu->takes_turns ? sl_turn_word(&lane->gpu->board) : 0;
    lane->meter.crowded = lane->gpu->sharers > 1;
}

/* When the GPU will have done what is left: after what it has just done, or after it was given more. */
static void see_busy(sl_lane_t *lane, const sl_meter_reading_t *reading) {
    uint64_t next = lane->meter.batches[lane->meter.oldest % SL_METER_BATCHES].opened_nanos;
    if (reading->last)
        lane->busy_nanos = 0;
    else if (reading->doubt_nanos < SL_METER_CERTAIN_NANOS)
        lane->busy_nanos = (reading->ended_nanos > next ? reading->ended_nanos : next) + lane->meter.unsettled_nanos;
    else
        lane->busy_nanos += reading->nanos - reading->charged_nanos;
}

void sl_admit_settle(sl_lane_t *lane) {
    sl_lane_gpu_t *gpu = lane->gpu;
    sl_meter_reading_t reading;
    see_turn(lane);
    while (sl_meter_settle(&lane->meter, &reading)) {
        uint64_t nanos = sl_sibling_charge(gpu, &reading);
        charge(gpu, (int64_t)nanos - (int64_t)reading.charged_nanos, reading.opened_nanos);
        atomic_fetch_add_explicit(&gpu->share->used_nanos, nanos, memory_order_relaxed);
        sl_trace_batch(gpu->gpu, reading.began_nanos, reading.ended_nanos, reading.calls, reading.nanos, reading.doubt_nanos);
        if (reading.calls > 1 && !reading.divided)
            gpu->dry = reading.dry;
        see_busy(lane, &reading);
    }
}

uint64_t sl_admit_in_flight(const sl_lane_t *lane, uint64_t now) {
    uint64_t open = lane->meter.is_open ? sl_meter_expect(&lane->meter, spent_now(lane)) : 0;
    if (lane->meter.open == lane->meter.oldest)
        return open;
    return open + (lane->busy_nanos > now ? lane->busy_nanos - now : 1);
}

/* The GPU should have finished long ago. */
static bool is_overdue(const sl_lane_t *lane, uint64_t now) {
    return lane->meter.open != lane->meter.oldest && lane->busy_nanos + OVERDUE_NANOS < now;
}

/* What may still be submitted counts too, but not against those who go first: they would wait for it in vain. Under a cap that is used
 * up nothing more comes. */
void sl_admit_publish(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    if (!gpu->takes_turns)
        return;
    int64_t credit = unspent(lane);
    uint64_t more = gpu->has_superior || gpu->shut || credit < 0 ? 0 : sl_meter_expect(&lane->meter, (uint64_t)credit);
    if (gpu->has_inferior && !gpu->shut)
        more += PAUSE_ABOVE_NANOS;
    sl_turn_say_busy(&gpu->board, now + sl_admit_in_flight(lane, now) + more);
}

static void unlocked_pause(sl_lane_t *lane, uint64_t until) {
    sl_latch_unlock(&lane->gpu->lock);
    pause_until(until);
    sl_latch_lock(&lane->gpu->lock);
}

static unsigned calls_in_flight(const sl_lane_t *lane) {
    return lane->meter.unsettled_calls + (lane->meter.is_open ? lane->calls - lane->opened_calls : 0);
}

static unsigned most_calls(const sl_lane_gpu_t *gpu) {
    return gpu->permille < 1000 ? FLIGHT_CAPPED_CALLS : FLIGHT_CALLS;
}

static bool is_too_much(const sl_lane_t *lane, uint64_t nanos, unsigned calls, uint64_t now) {
    bool many = !lane->gpu->dry && calls_in_flight(lane) > calls;
    return many || sl_admit_in_flight(lane, now) > nanos || is_overdue(lane, now);
}

/* Waits until the work under way takes no longer than this and is no more than so many calls. Another thread may begin a batch
 * meanwhile, and nobody else closes it if that thread has no more to do. */
static void drain_to(sl_lane_t *lane, uint64_t nanos, unsigned calls, unsigned reason) {
    uint64_t start = sl_os_nanos(), now = start, begin = sl_trace_start();
    sl_admit_close(lane);
    sl_nvtx_push(reason == SL_TRACE_REASON_LOCK ? "auxSync" : "wait");
    for (sl_admit_settle(lane); is_too_much(lane, nanos, calls, now) && now - start < PATIENCE_NANOS; now = sl_os_nanos()) {
        uint64_t left = sl_admit_in_flight(lane, now);
        if (lane->gpu->takes_turns)
            sl_turn_say_busy(&lane->gpu->board, now + left + SPIN_NANOS);
        uint64_t rest = left > nanos && lane->busy_nanos > now ? left - nanos : 0;
        rest = rest < LOOK_NANOS ? rest : LOOK_NANOS;
        unlocked_pause(lane, now + (rest > SPIN_NANOS ? rest - SPIN_NANOS / 2 : POLL_NANOS));
        sl_admit_settle(lane);
        if (lane->meter.oldest == lane->meter.open)
            sl_admit_close(lane);
    }
    sl_nvtx_pop();
    if (now != start)
        sl_trace_wait(reason, begin, lane->gpu->gpu);
}

/* When the gate opens again. A process alone, or one whose siblings leave much of the cap unused, goes by what all of them
 * used; else by its part, so that one cannot take all. */
static uint64_t opening(const sl_lane_gpu_t *gpu, uint64_t now) {
    uint64_t all = due_of_all(gpu, now), own = gpu->own_due_nanos;
    bool alone = gpu->sharers < 2 || all + 2 * WINDOW_NANOS < now;
    uint64_t due = alone ? all : own;
    bool shut = gpu->shut || due > now;
    return shut ? due + WINDOW_NANOS : 0;
}

/* Others have the turn, perhaps for a while already. */
static void tell_lost_turn(sl_lane_gpu_t *gpu, uint64_t now) {
    if (!gpu->turn_ticks)
        return;
    sl_trace_turn(gpu->turn_ticks, sl_trace_ticks_at(sl_turn_began(&gpu->board, now)), gpu->gpu);
    gpu->turn_ticks = 0;
}

/* Nothing follows for a while: who waits should not have to find that out. */
static void leave_early(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    if (!gpu->takes_turns || sl_admit_in_flight(lane, now) || !sl_turn_is_mine(&gpu->board) || !sl_turn_is_wanted(&gpu->board, now))
        return;
    sl_turn_say_busy(&gpu->board, now - 1);
    sl_turn_give(&gpu->board, false, now);
    if (!sl_turn_is_mine(&gpu->board))
        tell_lost_turn(gpu, now);
}

/* True when it had to wait. */
static bool wait_for_cap(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    if (SL_UNLIKELY(gpu->cap_when_shared))
        sl_lone_look(gpu, now);
    uint64_t opens = gpu->permille < 1000 ? opening(gpu, now) : 0;
    if (opens <= now)
        return gpu->shut = false;
    if (!gpu->shut)
        atomic_fetch_add_explicit(&gpu->share->cap_waits, 1, memory_order_relaxed);
    gpu->shut = true;
    uint64_t begin = sl_trace_start();
    sl_admit_close(lane);
    sl_admit_publish(lane, now);
    leave_early(lane, now);
    uint64_t left = sl_admit_in_flight(lane, now), most = gpu->sharers > 1 ? WINDOW_NANOS : LOOK_NANOS;
    uint64_t look = now + (left && left < most ? left + SPIN_NANOS : most);
    sl_nvtx_push("wait");
    unlocked_pause(lane, opens < look ? opens : look);
    sl_nvtx_pop();
    sl_admit_settle(lane);
    atomic_fetch_add_explicit(&gpu->share->cap_waited_nanos, sl_os_nanos() - now, memory_order_relaxed);
    sl_trace_wait(SL_TRACE_REASON_CAP, begin, gpu->gpu);
    return true;
}

/* Under culocker's windows to wait for the turn is to wait for the lock. */
static unsigned turn_reason(void) {
    return sl_tenant.windows ? SL_TRACE_REASON_LOCK : SL_TRACE_REASON_TURN;
}

/* A long turn is told in parts, so that a trace that ends knows of it. */
static void tell_turn(sl_lane_gpu_t *gpu, uint64_t nanos) {
    uint64_t begin = sl_trace_start();
    if (gpu->turn_ticks && begin && sl_clock_nanos(begin - gpu->turn_ticks) > nanos) {
        sl_trace_turn(gpu->turn_ticks, begin, gpu->gpu);
        gpu->turn_ticks = begin;
    } else if (!gpu->turn_ticks || !begin) {
        gpu->turn_ticks = begin;
    }
}

/* A turn that the process ends with; without the lock, which a thread that is gone may have had. */
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

/* A batch is closed when the turn is there: its end is work for the GPU, too, which would have to change to this process for it. */
static void wait_for_turn(sl_lane_t *lane) {
    sl_lane_gpu_t *gpu = lane->gpu;
    uint64_t now = sl_os_nanos(), begin = sl_trace_start();
    tell_lost_turn(gpu, now);
    sl_board_t board = gpu->board;
    if (!gpu->turn_wanted_nanos)
        gpu->turn_wanted_nanos = now;
    uint64_t since = gpu->turn_wanted_nanos;
    sl_latch_unlock(&gpu->lock);
    sl_nvtx_push(sl_tenant.windows ? "lock" : "wait");
    sl_turn_wait_t end = sl_turn_wait(&board, since, LOOK_NANOS);
    bool mine = end == SL_TURN_MINE;
    sl_nvtx_pop();
    sl_latch_lock(&gpu->lock);
    if (end == SL_TURN_LOST)
        sl_lane_rejoin(gpu, &board);
    if (mine)
        sl_admit_close(lane);
    sl_admit_settle(lane);
    if (mine) {
        gpu->turn_wanted_nanos = 0;
        lane->busy_nanos = sl_os_nanos() + SL_TURN_SWITCH_NANOS;
    }
    atomic_fetch_add_explicit(&gpu->share->turn_waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&gpu->share->turn_waited_nanos, sl_os_nanos() - now, memory_order_relaxed);
    sl_trace_wait(turn_reason(), begin, gpu->gpu);
}

void sl_admit_drain(sl_lane_t *lane) {
    drain_to(lane, 0, 0, SL_TRACE_REASON_LOCK);
}

void sl_admit_hand_over(sl_lane_t *lane, bool wants_more) {
    sl_lane_gpu_t *gpu = lane->gpu;
    drain_to(lane, 0, 0, turn_reason());
    uint64_t now = sl_os_nanos();
    sl_turn_say_busy(&gpu->board, now - 1);
    sl_turn_give(&gpu->board, wants_more, now);
    if (!sl_turn_is_mine(&gpu->board))
        tell_lost_turn(gpu, now);
}

/* True when it had to wait: everything must be looked at again. */
static bool wait_for_turns(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    if (!gpu->takes_turns)
        return false;
    if (!sl_turn_is_mine(&gpu->board)) {
        wait_for_turn(lane);
        return true;
    }
    tell_turn(gpu, TOLD_NANOS);
    if (!sl_turn_is_wanted(&gpu->board, now) || now + sl_admit_in_flight(lane, now) < sl_turn_ends(&gpu->board, now))
        return false;
    sl_admit_hand_over(lane, true);
    return !sl_turn_is_mine(&gpu->board);
}

static unsigned count_sharers(const sl_lane_gpu_t *gpu, uint64_t now) {
    unsigned count = 0, slots = (unsigned)sl_tenant.region.gpus[gpu->gpu].slots;
    for (unsigned slot = 0; slot < slots && slot < SL_REGION_SLOT_COUNT; slot++) {
        uint64_t at = sl_region_account(&sl_tenant.region, slot, gpu->gpu)->submitting_nanos;
        count += slot == sl_tenant.slot || (at + SHARER_NANOS > now && sl_tenant.region.slots[slot].owner);
    }
    return count;
}

/* Who else wants the GPU: found out every now and then. */
static void look_around(sl_lane_gpu_t *gpu, uint64_t now) {
    sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu->gpu)->submitting_nanos = now;
    if (now - gpu->checked_nanos < CHECK_NANOS)
        return;
    gpu->checked_nanos = now;
    gpu->sharers = count_sharers(gpu, now);
    gpu->has_superior = gpu->takes_turns && sl_turn_has_superior(&gpu->board);
    gpu->has_inferior = gpu->takes_turns && sl_turn_has_inferior(&gpu->board);
}

static uint64_t chunk_of(const sl_lane_t *lane, uint64_t now) {
    const sl_lane_gpu_t *gpu = lane->gpu;
    uint64_t chunk = gpu->dry ? 2 * CHUNK_NANOS : CHUNK_NANOS;
    if (gpu->unbound)
        return UNBOUND_NANOS;
    uint64_t quarter = (uint64_t)WINDOW_NANOS * gpu->permille / 4000;
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
    bool overdue = is_overdue(lane, now); /* nobody knows for how long: one call at a time */
    int64_t credit = lane->credit_nanos, more = (int64_t)(nanos > chunk || overdue ? nanos : chunk) - (credit < 0 ? credit : 0);
    if (lane->meter.scale > 0 && !overdue)
        more = (int64_t)((double)more / lane->meter.scale);
    if (credit < (int64_t)nanos) {
        atomic_fetch_add(&lane->credit_nanos, more);
        lane->granted_nanos += (uint64_t)more;
    }
    if (SL_UNLIKELY(!gpu->share->began_nanos))
        atomic_compare_exchange_strong(&gpu->share->began_nanos, &none, now);
    sl_admit_publish(lane, now);
    see_turn(lane);
}

/* How much may be under way when a call that takes so long follows, and how much is left after a wait for that. Who must let another
 * go first may not keep that one waiting for long; but a host that is never ahead of the GPU makes it idle. */
static void bounds_of(const sl_lane_t *lane, uint64_t nanos, uint64_t now, uint64_t *most, uint64_t *rest) {
    *most = FLIGHT_NANOS;
    *rest = FLIGHT_NANOS / 2;
    if (!lane->gpu->has_superior)
        return;
    uint64_t chunk = chunk_of(lane, now), need = nanos > chunk ? nanos : chunk;
    *most = need + REST_BELOW_NANOS < BELOW_NANOS ? BELOW_NANOS - need : REST_BELOW_NANOS;
    *rest = *most;
}

/* A turn may end while this waits, so it comes before the turn is looked at. True when it waited. */
static bool wait_for_room(sl_lane_t *lane, uint64_t nanos, uint64_t now) {
    uint64_t most, rest;
    unsigned calls = most_calls(lane->gpu);
    if (lane->gpu->unbound)
        return false;
    bounds_of(lane, nanos, now, &most, &rest);
    bool much = is_too_much(lane, most, calls, now), many = lane->meter.open - lane->meter.oldest >= SL_METER_BATCHES - 2;
    if (much)
        drain_to(lane, rest, calls / 2, SL_TRACE_REASON_FLIGHT);
    if (many)
        drain_to(lane, 0, 0, SL_TRACE_REASON_FLIGHT);
    if (much || many) {
        atomic_fetch_add_explicit(&lane->gpu->share->room_waits, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&lane->gpu->share->room_waited_nanos, sl_os_nanos() - now, memory_order_relaxed);
    }
    return much || many;
}

bool sl_admit(sl_lane_t *lane, uint64_t nanos) {
    sl_lane_gpu_t *gpu = lane->gpu;
    bool idled = false, mine = sl_admit_has_turn(gpu);
    sl_admit_settle(lane);
    if (mine && lane->meter.is_open && is_long_enough(lane) && sl_admit_can_close(lane))
        sl_admit_close(lane);
    uint64_t now = sl_os_nanos();
    look_around(gpu, now);
    bool waited = mine && wait_for_room(lane, nanos, now);
    do {
        now = waited ? sl_os_nanos() : now;
        if (gpu->epoch != sl_tenant.region.limits->epoch)
            sl_lane_refresh(gpu);
        waited = wait_for_cap(lane, now) || wait_for_turns(lane, now);
        idled |= waited;
    } while (waited);
    grant(lane, nanos, now);
    return idled;
}
