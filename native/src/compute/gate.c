/* gate: the place where a call that submits work waits until it may go.
 *
 * On the fast path the cost of the call is known, the stream is in the open batch, and credit is left. That path has a few loads and,
 * now and then, an atomic subtraction. Every other call takes the slow path, with the GPU's lock. Some calls get a batch of their own,
 * to measure them: the first calls of each kind; one in each chunk of credit while the GPU waits for the host; and an occasional one at
 * other times. */
#define _GNU_SOURCE
#include "compute/gate.h"

#include <errno.h>
#include <string.h>

#include "compute/admit.h"
#include "compute/batch.h"
#include "compute/locker.h"
#include "compute/strict.h"
#include "hold/hold.h"
#include "os/os.h"
#include "compute/credit.h"
#include "real.h"
#include "tenant/tenant.h"
#include "trace/trace.h"
#include "turns/turn.h"

#define MICRO 1000u
#define MILLI 1000000u
/* Chosen; caps held with them in bench/results/2026-11-15-compute-h200.md. */
#define UNKNOWN_NANOS (50 * MICRO)      /* cost of a call that was never measured */
#define SAMPLE_NANOS (1 * MILLI)        /* while the GPU waits for the host, one call in this much work is measured; fewer if steady */
#define SAMPLE_EVERY_NANOS (20 * MILLI) /* one call is measured at least this often */
#define UNKNOWN_PATIENCE_NANOS (50 * MILLI)
#define BLOCKED_NANOS (20 * MILLI)      /* a thread that waits for the GPU counts as having work on it, for this long at most */
#define FINISH_NANOS (600 * 1000ull * MILLI) /* chosen: the longest wait for the work of a context that ends */
#define TOLD_NANOS (200 * MICRO)        /* a trace records finished work no more often than this */

enum { CAPTURE_RELAXED = 2 };

/* Allows our own driver calls while another stream captures in a strict mode. */
static CUstreamCaptureMode relax(void) {
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    if (real.cuThreadExchangeStreamCaptureMode)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static void restore(CUstreamCaptureMode mode) {
    if (real.cuThreadExchangeStreamCaptureMode)
        real.cuThreadExchangeStreamCaptureMode(&mode);
}

/* What the slow path needs: our own driver calls are allowed, the lane's context is current, the GPU's lock is held, and errno is saved. */
typedef struct {
    int saved;
    sl_lane_visit_t visit;
    CUstreamCaptureMode mode;
} slow_t;

static slow_t begin_slow(sl_lane_t *lane) {
    slow_t slow = {.saved = errno};
    slow.visit = sl_lane_visit(lane);
    slow.mode = relax();
    sl_mutex_lock(&lane->gpu->lock);
    return slow;
}

static void end_slow(sl_lane_t *lane, const slow_t *slow) {
    sl_mutex_unlock(&lane->gpu->lock);
    restore(slow->mode);
    sl_lane_return(slow->visit);
    errno = slow->saved;
}

/* While the first call of a kind is being measured, a second one waits for its result. Otherwise work of unknown length would pile up. */
static void wait_until_known_unlocking(sl_lane_t *lane, sl_cost_t *cost) {
    uint64_t start = sl_os_nanos(), now = start, begin = sl_trace_start();
    sl_batch_settle(lane);
    if (cost->nanos || !cost->pending || lane->gpu->unbound)
        return;
    for (; !cost->nanos && cost->pending && now - start < UNKNOWN_PATIENCE_NANOS; now = sl_os_nanos()) {
        sl_batch_publish(lane, now + MILLI);
        sl_mutex_unlock(&lane->gpu->lock);
        sl_os_sleep_nanos(now - start < MILLI ? 5 * MICRO : 100 * MICRO);
        sl_mutex_lock(&lane->gpu->lock);
        sl_batch_settle(lane);
    }
    if (!cost->nanos && cost->pending)
        cost->nanos = now - start;
    sl_trace_wait(SL_TRACE_REASON_FLIGHT, begin, lane->gpu->gpu);
}

/* A steady cost is measured less often. */
static bool is_time_to_sample(const sl_lane_t *lane, const sl_cost_t *cost, uint64_t nanos) {
    uint64_t every = (uint64_t)SAMPLE_NANOS << sl_cost_steadiness(cost);
    bool out_of_credit = lane->credit_nanos < (int64_t)nanos;
    return out_of_credit && ((lane->gpu->dry && lane->granted_nanos - lane->sampled_nanos > every) ||
                             sl_os_nanos() - lane->sampled_at_nanos > SAMPLE_EVERY_NANOS);
}

/* Gives the call a batch of its own. */
static void measure_alone(sl_gate_pass_t *pass, sl_lane_t *lane, sl_cost_t *cost) {
    sl_batch_close(lane);
    pass->alone = true;
    lane->sampled_nanos = lane->granted_nanos;
    lane->sampled_at_nanos = sl_os_nanos();
    atomic_fetch_add(&cost->pending, 1);
}

static void join_batch(sl_gate_pass_t *pass, sl_lane_t *lane, sl_cost_t *cost, uint64_t nanos) {
    if (!lane->meter.is_open)
        sl_idle_begin(&lane->idle);
    if (sl_meter_open(&lane->meter, &pass->stream, lane->gpu->dry)) {
        sl_idle_note(&lane->idle, sl_lane_add(lane, pass->stream.key), nanos, sl_os_nanos());
        return;
    }
    atomic_fetch_add_explicit(&lane->gpu->share->unmetered_calls, 1, memory_order_relaxed);
    if (pass->alone)
        atomic_fetch_sub(&cost->pending, 1);
    pass->alone = false;
}

static void pay(sl_gate_pass_t *pass, sl_lane_t *lane, sl_cost_t *cost, uint64_t nanos) {
    atomic_fetch_sub(&lane->credit_nanos, (int64_t)nanos);
    atomic_fetch_add_explicit(&lane->calls, 1, memory_order_relaxed);
    sl_credit_count_calls(1);
    pass->counted = true;
    pass->lane = lane;
    pass->cost = cost;
    pass->batch = lane->batch;
}

/* After a wait the GPU may be slow to start, and the call is no good sample. */
static void submit_unlocking(sl_gate_pass_t *pass, sl_lane_t *lane, sl_cost_t *cost) {
    sl_meter_end_owed(&lane->meter);
    if (!cost->nanos)
        wait_until_known_unlocking(lane, cost);
    uint64_t nanos = cost->nanos ? cost->nanos : UNKNOWN_NANOS;
    bool sample = is_time_to_sample(lane, cost, nanos);
    bool idled = sl_admit_unlocking(lane, nanos);
    bool learn = (cost->samples < SL_COST_SAMPLES || (sample && !idled)) && sl_batch_can_close(lane);
    if (learn && !cost->pending)
        measure_alone(pass, lane, cost);
    join_batch(pass, lane, cost, nanos);
    pay(pass, lane, cost, nanos);
}

static bool enter_slowly(sl_gate_pass_t *pass, sl_lane_t *lane, sl_cost_t *cost) {
    sl_thread_note_gate();
    slow_t slow = begin_slow(lane);
    sl_lane_gpu_t *gpu = lane->gpu;
    if (gpu->epoch != sl_tenant.region.limits->epoch)
        sl_lane_refresh(gpu);
    if (gpu->active && !gpu->refused && !lane->ended)
        submit_unlocking(pass, lane, cost);
    bool refused = gpu->refused;
    end_slow(lane, &slow);
    return !refused;
}

/* Another thread may have closed the batch before the call was submitted. Then the open batch does not contain this call. */
static void submitted(sl_gate_pass_t *pass, uint64_t now) {
    sl_lane_t *lane = pass->lane;
    if (lane->batch == pass->batch) {
        sl_meter_submitted(&lane->meter, &pass->stream, pass->blocks, now);
        sl_batch_submitted(lane, pass->cost, pass->alone, now);
    } else if (pass->alone) {
        atomic_fetch_sub(&pass->cost->pending, 1);
    }
}

void sl_gate_settle_slowly(sl_gate_pass_t *pass) {
    uint64_t now = sl_os_nanos();
    sl_lane_t *lane = pass->lane ? pass->lane : pass->windows;
    slow_t slow = begin_slow(lane);
    if (pass->lane && !lane->ended)
        submitted(pass, now);
    if (pass->windows && !lane->ended)
        sl_locker_after_unlocking(lane, pass->operation);
    end_slow(lane, &slow);
}

static void begin_window(sl_gate_pass_t *pass, sl_lane_t *lane) {
    slow_t slow = begin_slow(lane);
    if (lane->gpu->takes_turns && !lane->ended) {
        sl_locker_before_unlocking(lane, pass->operation);
        pass->windows = lane;
    }
    end_slow(lane, &slow);
}

/* The thread has no credit for the call; known: the cost of the call, or 0. */
static __attribute__((noinline)) bool enter_closely(sl_gate_pass_t *pass, CUstream handle, int default_stream, sl_cost_t *cost, int64_t known) {
    bool keeps = sl_credit_begin(handle, default_stream);
    sl_lane_t *lane = sl_lane_of(handle, default_stream == SL_GATE_PER_THREAD);
    if (!lane)
        return true;
    sl_lane_gpu_t *gpu = lane->gpu;
    sl_credit_note(gpu);
    const _Atomic uint32_t *epoch = atomic_load_explicit(&sl_gate_epoch, memory_order_relaxed);
    bool stale = gpu->epoch != atomic_load_explicit(epoch, memory_order_relaxed);
    if (!atomic_load_explicit(&gpu->active, memory_order_relaxed) && !stale)
        return true;
    pass->stream = sl_stream_of(handle, default_stream == SL_GATE_PER_THREAD);
    if (SL_UNLIKELY(sl_stream_captures(&pass->stream)))
        return true;
    if (SL_UNLIKELY(gpu->has_windows))
        begin_window(pass, lane);
    int place = sl_lane_find(lane, pass->stream.key);
    if (!known || place < 0 || stale || gpu->refused || !sl_admit_has_turn(gpu) || !sl_credit_take(lane, keeps, known))
        return enter_slowly(pass, lane, cost);
    sl_credit_count_calls(1);
    pass->counted = true;
    if (!sl_thread.credit.lane)
        sl_idle_note(&lane->idle, (unsigned)place, (uint64_t)known, sl_os_nanos());
    return true;
}

static bool enter(sl_gate_pass_t *pass, CUstream handle, int default_stream, uint64_t key) {
    pass->lane = NULL;
    pass->alone = false;
    pass->windows = NULL;
    sl_cost_t *cost = sl_cost_find(key);
    int64_t known = sl_cost_known(cost);
    pass->counted = known && sl_credit_spend(handle, default_stream, known);
    return pass->counted || enter_closely(pass, handle, default_stream, cost, known);
}

bool sl_gate_enter_kernel(sl_gate_pass_t *pass, CUstream stream, int default_stream, uint64_t key) {
    pass->operation = SL_WINDOW_SUBMITS;
    pass->blocks = false;
    return enter(pass, stream, default_stream, key);
}

bool sl_gate_enter_graph(sl_gate_pass_t *pass, CUstream stream, int default_stream, CUgraphExec graph) {
    pass->operation = SL_WINDOW_SUBMITS;
    pass->blocks = false;
    return enter(pass, stream, default_stream, sl_cost_mix((uintptr_t)graph, 0x67));
}

/* Copies of about the same size by the same call. */
bool sl_gate_enter_copy(sl_gate_pass_t *pass, CUstream stream, int default_stream, unsigned entry, uint64_t bytes) {
    unsigned log = bytes ? 63u - (unsigned)__builtin_clzll(bytes) : 0;
    pass->blocks = !strstr(sl_entry_cuda.names[entry], "Async");
    pass->operation = pass->blocks ? SL_WINDOW_WAITS : SL_WINDOW_SUBMITS;
    uint64_t eighth = log > 3 ? bytes >> (log - 3) : bytes;
    return enter(pass, stream, default_stream, sl_cost_mix(entry + 1, (uint64_t)log << 32 | eighth));
}

void sl_gate_pass_uncounted(void) {
    sl_lane_t *lane = sl_lane_current();
    if (!lane)
        return;
    atomic_fetch_add_explicit(&lane->gpu->share->unmetered_calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&lane->gpu->share->submitted_calls, 1, memory_order_relaxed);
}

/* After a wait, a trace should contain what the GPU did. Short waits are left out, because reading the events costs time. */
static bool is_to_be_told(const sl_lane_t *lane) {
    return lane && !lane->ended && sl_trace_is_on() && lane->meter.open + lane->meter.is_open != lane->meter.oldest &&
           sl_os_nanos() - lane->meter.batches[lane->meter.oldest % SL_METER_BATCHES].opened_nanos > TOLD_NANOS;
}

/* Another tenant wants the GPU, or one of lower priority takes turns on it, or the work of others waits for this process's. */
static bool is_contended(sl_lane_t *lane) {
    if (!lane || lane->ended || lane->gpu->outside)
        return lane && !lane->ended;
    return lane->gpu->takes_turns && sl_turn_is_mine(&lane->gpu->board) &&
           (lane->gpu->has_inferior || sl_turn_is_wanted(&lane->gpu->board, sl_os_coarse_nanos()));
}

/* Ends the thread's spans on its default stream. Its next call must take the slow path. */
static void end_own(sl_lane_t *lane) {
    sl_meter_end_owed(&lane->meter);
    if (!sl_meter_end_early(&lane->meter))
        return;
    sl_credit_return();
    sl_lane_remove(lane, sl_stream_own_key());
}

/* While a thread waits for the GPU its work is not done, whatever the predicted cost. But the thread may also wait for something else. */
bool sl_gate_before_wait(void) {
    sl_lane_t *lane = sl_gate_is_on() ? sl_lane_current() : NULL;
    bool contended = is_contended(lane), told = is_to_be_told(lane) && sl_admit_has_turn(lane->gpu);
    bool crossed = lane && lane->meter.crossed;
    if (!contended && !told && !crossed)
        return false;
    CUstreamCaptureMode mode = relax();
    sl_mutex_lock(&lane->gpu->lock);
    uint64_t now = sl_os_nanos();
    if (crossed)
        end_own(lane);
    if (told || (contended && sl_batch_is_worth_closing(lane, now)))
        sl_batch_close(lane);
    if (contended) {
        sl_turn_say_busy(&lane->gpu->board, now + sl_batch_in_flight(lane, now));
        sl_turn_say_blocked(&lane->gpu->board, now + BLOCKED_NANOS);
    }
    sl_mutex_unlock(&lane->gpu->lock);
    restore(mode);
    return contended;
}

static void end_window(sl_lane_t *lane) {
    CUstreamCaptureMode mode = relax();
    sl_mutex_lock(&lane->gpu->lock);
    if (lane->gpu->takes_turns)
        sl_locker_synced_unlocking(lane);
    sl_mutex_unlock(&lane->gpu->lock);
    restore(mode);
}

/* The credit is kept, but it no longer counts as work in flight. */
void sl_gate_after_wait(bool blocked) {
    sl_lane_t *lane = sl_gate_is_on() ? sl_lane_current() : NULL;
    if (SL_UNLIKELY(sl_tenant.windows != NULL) && lane)
        end_window(lane);
    bool tells = lane && (lane->gpu->takes_turns || lane->gpu->outside) && (blocked || is_contended(lane));
    if (!tells && !is_to_be_told(lane))
        return;
    CUstreamCaptureMode mode = relax();
    sl_mutex_lock(&lane->gpu->lock);
    sl_batch_settle(lane);
    sl_lane_gpu_t *gpu = lane->gpu;
    if (tells) {
        sl_turn_say_busy(&gpu->board, sl_os_nanos() + lane->meter.unsettled_nanos);
        sl_turn_say_blocked(&gpu->board, 0);
    }
    sl_mutex_unlock(&lane->gpu->lock);
    restore(mode);
}

/* An invalidated capture has ended too. If the stream did not capture, or the thread was the wrong one, no capture has ended. */
void sl_gate_end_capture(CUresult status) {
    enum { UNMATCHED = 903, WRONG_THREAD = 908, ILLEGAL_STATE = 401 };
    bool ended = status == CUDA_SUCCESS || (status >= 900 && status <= 908 && status != UNMATCHED && status != WRONG_THREAD);
    if (ended && status != ILLEGAL_STATE)
        atomic_fetch_sub(&sl_stream_open_captures, 1);
}

static void leave_stream(sl_lane_t *lane, void *stream) {
    sl_mutex_lock(&lane->gpu->lock);
    if (lane->ended) {
        sl_mutex_unlock(&lane->gpu->lock);
        return;
    }
    sl_meter_leave_stream(&lane->meter, stream);
    sl_lane_remove(lane, sl_stream_of(stream, false).key);
    sl_mutex_unlock(&lane->gpu->lock);
}

/* Also while the gate is off: the open batch may contain the stream since it was on, and it may be on again before the batch is closed. */
static bool knows_lanes(void) {
    return sl_gate_is_on() || sl_lane_is_any();
}

void sl_gate_leave_stream(CUstream stream) {
    if (!knows_lanes())
        return;
    sl_credit_revoke_all();
    CUstreamCaptureMode mode = relax();
    sl_lane_each(leave_stream, stream);
    restore(mode);
}

static void close_lane(sl_lane_t *lane) {
    sl_batch_close(lane);
    sl_batch_settle(lane);
}

/* A driver that destroys a context waits for its work, and nobody measures it any more: the work would have all of the GPU. That a real driver
 * waits for a kernel of many minutes was not tried. */
void sl_gate_finish_context(CUcontext context) {
    sl_lane_t *lane = context && knows_lanes() ? sl_lane_known(context) : NULL;
    bool done = !lane;
    for (uint64_t begin = sl_os_nanos(); !done && sl_strict_holds(lane->gpu) && sl_os_nanos() - begin < FINISH_NANOS;) {
        slow_t slow = begin_slow(lane);
        if (!lane->ended)
            close_lane(lane);
        done = lane->ended || lane->meter.open == lane->meter.oldest;
        end_slow(lane, &slow);
        uint32_t inside = sl_hold_step_out();
        if (!done)
            sl_os_sleep_nanos(MILLI);
        sl_hold_step_in(inside);
    }
}

void sl_gate_leave_context(CUcontext context) {
    if (!context || !knows_lanes())
        return;
    sl_credit_revoke_all();
    CUstreamCaptureMode mode = relax();
    sl_lane_end(context, close_lane);
    restore(mode);
}

void sl_gate_settle_context(CUcontext context, bool gone) {
    sl_credit_revoke_all();
    sl_lane_settle_end(context, gone);
}
