/* batch: the batches of one lane: fills the open one, closes it, and books what the GPU has done.
 *
 * A batch is charged with the known cost of its calls when it is closed. The meter corrects that when the GPU is done, so a kernel that
 * takes too long is paid for afterwards. */
#include "compute/batch.h"

#include "compute/above.h"
#include "compute/cap.h"
#include "compute/credit.h"
#include "compute/sibling.h"
#include "os/os.h"
#include "slices/control.h"
#include "trace/trace.h"
#include "turns/turn.h"

#define MICRO 1000u
#define MILLI 1000000u
/* Two events cost 2.6 us on an H200 (driver 580), so a batch of this length costs less than 1 %. */
#define BATCH_NANOS (400 * MICRO)
#define BELIEVED_NANOS (1000 * MILLI)   /* chosen: unfinished work counts as work for this long */
/* Chosen with bench/results/2026-11-16-compute-h200.md, priorities: a tenant of higher priority may pause for this long and still be
 * busy, unless it says that it is done. */
#define PAUSE_ABOVE_NANOS (800 * MICRO)

static int64_t unspent(const sl_lane_t *lane) {
    return lane->credit_nanos + (lane->credit_thread ? lane->thread_credit_nanos : 0);
}

static uint64_t spent(const sl_lane_t *lane) {
    return (uint64_t)((int64_t)lane->granted_nanos - unspent(lane));
}

/* What the open batch has spent. Other threads move credit while it is added up. */
static uint64_t spent_now(const sl_lane_t *lane) {
    uint64_t all = spent(lane);
    return all > lane->opened_nanos ? all - lane->opened_nanos : 0;
}

/* Since when the GPU has had work of this lane without a gap. After BELIEVED_NANOS the GPU may be waiting instead. */
static uint64_t busy_since(const sl_lane_t *lane, uint64_t opened) {
    uint64_t oldest = lane->meter.batches[lane->meter.oldest % SL_METER_BATCHES].opened_nanos;
    return oldest + BELIEVED_NANOS > opened ? oldest : opened;
}

/* Pairs with a thread that takes credit in advance. That thread accesses these words in the opposite order. So either it sees that the
 * batch has ended, or this thread sees its credit. */
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
    sl_cap_charge(lane->gpu, (int64_t)nanos, since);
    lane->busy_nanos = (lane->busy_nanos > opened ? lane->busy_nanos : opened) + nanos;
    if (calls != lane->opened_calls) {
        uint64_t mean = predicted / (calls - lane->opened_calls);
        lane->mean_nanos = lane->mean_nanos ? (3 * lane->mean_nanos + mean) / 4 : mean;
    }
    lane->opened_nanos += predicted;
    lane->opened_calls = calls;
}

bool sl_batch_can_close(const sl_lane_t *lane) {
    return !lane->gpu->unbound || lane->meter.open - lane->meter.oldest < SL_METER_BATCHES - 2;
}

bool sl_batch_is_long_enough(const sl_lane_t *lane) {
    return sl_meter_expect(&lane->meter, spent_now(lane)) >= BATCH_NANOS;
}

bool sl_batch_is_worth_closing(const sl_lane_t *lane, uint64_t now) {
    uint64_t opened = lane->meter.batches[lane->meter.open % SL_METER_BATCHES].opened_nanos;
    return lane->meter.is_open && (now - opened > BATCH_NANOS || spent_now(lane) > BATCH_NANOS / 4);
}

void sl_batch_close(sl_lane_t *lane) {
    if (lane->meter.is_open)
        close_batch(lane, NULL, false, sl_os_nanos());
}

void sl_batch_submitted(sl_lane_t *lane, sl_cost_t *cost, bool alone, uint64_t submitted_nanos) {
    if (!lane->meter.is_open)
        return;
    bool is_long = sl_batch_is_long_enough(lane) && sl_batch_can_close(lane);
    bool single = lane->calls - lane->opened_calls == 1;
    if (is_long && single && !alone) {
        atomic_fetch_add(&cost->pending, 1);
        alone = true;
    }
    if (alone || is_long)
        close_batch(lane, alone ? cost : NULL, true, submitted_nanos);
}

/* Another turn divides a batch, and so does a cut by this process. The time in which the work was off the GPU (slices/stops.h) or a tenant
 * outside the turns worked is subtracted instead. */
void sl_batch_see_turn(sl_lane_t *lane) {
    const sl_lane_gpu_t *gpu = lane->gpu;
    lane->meter.turn = (gpu->takes_turns ? sl_turn_word(&gpu->board) : 0) + ((uint64_t)sl_control_interruptions() << 32);
    lane->meter.interruptions = gpu->takes_turns ? SL_LOAD(gpu->board.turn->above) : 0;
    lane->meter.others_nanos = gpu->takes_turns ? SL_LOAD(gpu->board.turn->above_nanos) : 0;
    lane->meter.crowded = lane->gpu->sharers > 1;
}

/* Predicts when the GPU is done with the rest: counted from the end of this reading, or from the start of the next batch if that is later. */
static void see_busy(sl_lane_t *lane, const sl_meter_reading_t *reading) {
    uint64_t next = lane->meter.batches[lane->meter.oldest % SL_METER_BATCHES].opened_nanos;
    if (reading->last)
        lane->busy_nanos = 0;
    else if (reading->doubt_nanos < SL_METER_CERTAIN_NANOS)
        lane->busy_nanos = (reading->ended_nanos > next ? reading->ended_nanos : next) + lane->meter.unsettled_nanos;
    else
        lane->busy_nanos += reading->nanos - reading->charged_nanos;
}

void sl_batch_settle(sl_lane_t *lane) {
    sl_lane_gpu_t *gpu = lane->gpu;
    sl_meter_reading_t reading;
    sl_batch_see_turn(lane);
    while (sl_meter_settle(&lane->meter, &reading)) {
        uint64_t nanos = sl_sibling_charge(gpu, &reading);
        sl_cap_charge(gpu, (int64_t)nanos - (int64_t)reading.charged_nanos, reading.opened_nanos);
        atomic_fetch_add_explicit(&gpu->share->used_nanos, nanos, memory_order_relaxed);
        sl_trace_batch(gpu->gpu, reading.began_nanos, reading.ended_nanos, reading.calls, reading.nanos, reading.doubt_nanos);
        if (reading.calls > 1 && !reading.divided)
            gpu->dry = reading.dry;
        see_busy(lane, &reading);
        sl_above_note_done(gpu, reading.nanos);
    }
}

uint64_t sl_batch_in_flight(const sl_lane_t *lane, uint64_t now) {
    uint64_t open = lane->meter.is_open ? sl_meter_expect(&lane->meter, spent_now(lane)) : 0;
    if (lane->meter.open == lane->meter.oldest)
        return open;
    return open + (lane->busy_nanos > now ? lane->busy_nanos - now : 1);
}

/* Unspent credit counts as work in flight too. There are two exceptions. Tenants of a higher priority do not wait for it. Under a cap
 * that is used up, nothing more will be submitted. */
void sl_batch_publish(sl_lane_t *lane, uint64_t now) {
    sl_lane_gpu_t *gpu = lane->gpu;
    sl_above_note(gpu);
    if (gpu->outside)
        sl_turn_say_busy(&gpu->board, now + sl_batch_in_flight(lane, now));
    if (!gpu->takes_turns)
        return;
    int64_t credit = unspent(lane);
    uint64_t more = gpu->has_superior || gpu->shut || credit < 0 ? 0 : sl_meter_expect(&lane->meter, (uint64_t)credit);
    if (gpu->has_inferior && !gpu->shut)
        more += PAUSE_ABOVE_NANOS;
    sl_turn_say_busy(&gpu->board, now + sl_batch_in_flight(lane, now) + more);
}
