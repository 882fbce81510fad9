/* lane: what the gate knows about one GPU and about one context on it. Finds the lane of the calling thread. */
#define _GNU_SOURCE
#include "compute/lane.h"

#include <stdlib.h>

#include "compute/above.h"
#include "compute/strict.h"
#include "compute/gate_on.h"
#include "os/fork.h"
#include "os/os.h"
#include "tenant/gpu.h"
#include "os/thread.h"
#include "real.h"
#include "slices/control.h"
#include "tenant/tenant.h"
#include "trace/trace.h"
#include "turns/turn.h"

#define CONTEXTS 1024u /* more than fit on a GPU; calls in further ones pass the gate unmeasured */

static sl_lane_gpu_t gpus[SL_REGION_GPU_COUNT];
static sl_lane_t *_Atomic lanes[CONTEXTS];
static _Atomic uint32_t generation = 1; /* changes when a context ends: its address may come back */
static sl_mutex_t lock = SL_MUTEX_INITIALIZER;
static _Atomic bool overfull;
static _Atomic bool any;

/* Without a board there are no turns, and the cap also counts GPU time of other tenants. */
static void refuse(sl_lane_gpu_t *gpu, const sl_reason_t *reason) {
    gpu->takes_turns = false;
    gpu->refused = sl_tenant.region.header->on_error != 0;
    if (gpu->refused)
        sl_report(SL_ERROR, "%s; CUDA calls on this GPU fail, because on-error is fail", reason->text);
    else
        sl_report(SL_WARN, "%s; the tenant takes no turns on this GPU", reason->text);
}

static void join_board(sl_lane_gpu_t *gpu, bool for_turns) {
    sl_reason_t reason;
    if (!gpu->board.base && !sl_board_join(&gpu->board, sl_tenant.region.gpus[gpu->gpu].uuid, &reason) && for_turns)
        refuse(gpu, &reason);
}

/* Others wait for its slice. */
static void say_that_it_works(const sl_lane_gpu_t *gpu) {
    sl_turn_say_busy(&gpu->board, SL_TURN_SILENT);
}

void sl_lane_rejoin(sl_lane_gpu_t *gpu, const sl_board_t *lost) {
    sl_reason_t reason;
    bool done = gpu->board.process != lost->process || gpu->board.base != lost->base;
    if (!done && !sl_board_rejoin(&gpu->board, sl_tenant.region.gpus[gpu->gpu].uuid, &reason))
        refuse(gpu, &reason);
}

void sl_lane_refresh(sl_lane_gpu_t *gpu) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    uint32_t epoch = atomic_load_explicit(&limits->epoch, memory_order_acquire);
    int index = sl_tenant.region.gpus[gpu->gpu].index;
    uint32_t permille = (unsigned)index < 16 ? limits->compute_permille[index] : 0;
    gpu->permille = gpu->cap_permille = permille && permille < 1000 ? permille : 1000;
    bool wants_turns = limits->turns || gpu->permille < 1000;
    gpu->refused = false;
    sl_above_end(gpu);
    if (wants_turns || SL_LOAD(sl_options_slices) != SL_OPTIONS_SLICES_OFF)
        join_board(gpu, wants_turns);
    gpu->takes_turns = wants_turns && gpu->board.base;
    gpu->cap_when_shared = limits->cap_when_shared && gpu->takes_turns && gpu->permille < 1000;
    gpu->lone_nanos = 0;
    if (gpu->board.base)
        sl_board_describe(&gpu->board);
    if (gpu->board.base && !wants_turns)
        say_that_it_works(gpu);
    sl_above_begin(gpu);
    gpu->shut = gpu->shut && gpu->permille < 1000;
    gpu->epoch = epoch;
    gpu->unbound = gpu->permille >= 1000 && !gpu->takes_turns;
    gpu->active = !gpu->unbound || gpu->refused || limits->metered || sl_trace_is_wanted();
    if (!gpu->active)
        sl_gate_decide(); /* perhaps no call has to pass the gate any more */
    sl_strict_begin(gpu); /* last: the first time the lock is not held, and its threads look at once */
}

static sl_lane_gpu_t *open_gpu(int number) {
    sl_lane_gpu_t *gpu = &gpus[number];
    if (!gpu->share) {
        gpu->gpu = (unsigned)number;
        gpu->has_windows = sl_tenant.windows != NULL;
        gpu->share = &sl_tenant.region.shares[number];
        sl_lane_refresh(gpu);
    }
    return gpu;
}

/* Limits on GPU time hold from the first call that submits work, in open_gpu. */
void sl_lane_show(unsigned number) {
    sl_lane_gpu_t *gpu = &gpus[number];
    sl_mutex_lock(&lock);
    if (!gpu->share && !gpu->board.base) {
        gpu->gpu = number;
        join_board(gpu, false);
        if (gpu->board.base) {
            sl_board_describe(&gpu->board);
            say_that_it_works(gpu);
            sl_above_begin(gpu);
        }
    }
    sl_mutex_unlock(&lock);
}

/* A call of the driver may hold the gate's lock. Then the turn ends when the work would have ended. */
void sl_control_stopped_for_pause(void) {
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        sl_lane_gpu_t *gpu = &gpus[i];
        if (!gpu->share || !sl_mutex_try(&gpu->lock))
            continue;
        if (gpu->takes_turns)
            sl_turn_leave(&gpu->board, sl_os_nanos());
        sl_mutex_unlock(&gpu->lock);
    }
}

/* With the lock held. */
static sl_lane_t *known(CUcontext context) {
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (lanes[i] && lanes[i]->context == context)
            return lanes[i];
    return NULL;
}

/* With the lock held: the lane of the current context, made if it is new. */
static sl_lane_t *find(CUcontext context) {
    sl_lane_t *found = known(context);
    if (found)
        return found;
    int number = sl_gpu_current();
    sl_lane_t *lane = number >= 0 ? calloc(1, sizeof *lane) : NULL;
    for (unsigned i = 0; i < CONTEXTS && lane; i++)
        if (!lanes[i]) {
            lane->context = lane->meter.context = context;
            lane->gpu = open_gpu(number);
            lanes[i] = lane;
            any = true;
            return lane;
        }
    if (lane && !atomic_exchange(&overfull, true))
        sl_report(SL_WARN, "the process has more than %u contexts: GPU time of further ones is neither measured nor limited", CONTEXTS);
    free(lane);
    return NULL;
}

SL_HOT sl_lane_t *sl_lane_current(void) {
    CUcontext context = NULL;
    if (!real.cuCtxGetCurrent || real.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
        return NULL;
    uint32_t now = atomic_load_explicit(&generation, memory_order_acquire);
    sl_thread_lane_t *mine = &sl_thread.lane;
    if (mine->context == context && mine->generation == now)
        return mine->lane;
    sl_mutex_lock(&lock);
    *mine = (sl_thread_lane_t){context, find(context), now};
    sl_mutex_unlock(&lock);
    sl_thread.gpu = mine->lane ? (int)mine->lane->gpu->gpu : -1;
    return mine->lane;
}

/* If all places are taken, the stream replaces the one in the first place. That one must be added again before its next call. */
unsigned sl_lane_add(sl_lane_t *lane, uint64_t stream_key) {
    int found = sl_lane_find(lane, stream_key);
    if (found >= 0)
        return (unsigned)found;
    uint64_t mixed = sl_lane_mix(stream_key);
    unsigned first = (unsigned)(mixed >> 60), place = first, batch = lane->batch;
    for (unsigned i = 0; i < SL_LANE_PROBES; i++)
        if (lane->member_batches[(first + i) % SL_LANE_MEMBERS] != batch + 1) {
            place = (first + i) % SL_LANE_MEMBERS;
            break;
        }
    lane->member_batches[place] = batch + 1;
    lane->members[place] = mixed ^ (batch + 1ull);
    return place;
}

void sl_lane_remove(sl_lane_t *lane, uint64_t stream_key) {
    int place = sl_lane_find(lane, stream_key);
    if (place >= 0)
        lane->members[place] = 0;
}

bool sl_lane_is_any(void) {
    return atomic_load_explicit(&any, memory_order_relaxed);
}

void sl_lane_each(void (*visit)(sl_lane_t *lane, void *argument), void *argument) {
    for (unsigned i = 0; i < CONTEXTS; i++) {
        sl_lane_t *lane = lanes[i];
        if (lane)
            visit(lane, argument);
    }
}

typedef struct {
    const sl_lane_gpu_t *gpu;
    uint64_t open_nanos, since;
} sight_t;

static void see(sl_lane_t *lane, void *argument) {
    sight_t *sight = argument;
    uint64_t since;
    if (lane->gpu != sight->gpu || lane->ended || (lane->meter.open == lane->meter.oldest && !lane->meter.is_open))
        return;
    sl_lane_visit_t visit = sl_lane_visit(lane);
    if (sl_meter_is_working(&lane->meter, sight->open_nanos, &since) && (!sight->since || since < sight->since))
        sight->since = since;
    sl_lane_return(visit);
}

uint64_t sl_lane_working_since(const sl_lane_gpu_t *gpu, uint64_t open_nanos) {
    sight_t sight = {.gpu = gpu, .open_nanos = open_nanos};
    sl_lane_each(see, &sight);
    return sight.since;
}

/* On a machine with one GPU the current context is enough: the call is charged to the right GPU in any case. */
sl_lane_t *sl_lane_of(CUstream stream, bool per_thread) {
    sl_lane_t *lane = sl_lane_current();
    CUcontext context = NULL;
    bool is_default = (uintptr_t)stream <= 2;
    if (is_default || sl_gpu_is_alone() || !real.cuStreamGetCtx || (lane && sl_lane_find(lane, sl_stream_of(stream, per_thread).key) >= 0))
        return lane;
    if (real.cuStreamGetCtx(stream, &context) != CUDA_SUCCESS || !context || (lane && lane->context == context))
        return lane;
    sl_mutex_lock(&lock);
    sl_lane_t *other = known(context);
    sl_mutex_unlock(&lock);
    if (other)
        return other;
    if (!real.cuCtxPushCurrent_v2 || !real.cuCtxPopCurrent_v2 || real.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return lane;
    other = sl_lane_current();
    real.cuCtxPopCurrent_v2(&context);
    return other;
}

sl_lane_visit_t sl_lane_visit(const sl_lane_t *lane) {
    CUcontext context = NULL;
    bool away = !lane->ended && real.cuCtxPushCurrent_v2 && real.cuCtxPopCurrent_v2 && real.cuCtxGetCurrent(&context) == CUDA_SUCCESS &&
                context != lane->context;
    return (sl_lane_visit_t){.pushed = away && real.cuCtxPushCurrent_v2(lane->context) == CUDA_SUCCESS};
}

void sl_lane_return(sl_lane_visit_t visit) {
    CUcontext context;
    if (visit.pushed)
        real.cuCtxPopCurrent_v2(&context);
}

sl_lane_t *sl_lane_known(CUcontext context) {
    sl_mutex_lock(&lock);
    sl_lane_t *lane = known(context);
    sl_mutex_unlock(&lock);
    return lane;
}

void sl_lane_end(CUcontext context, void (*close)(sl_lane_t *lane)) {
    sl_lane_t *lane = sl_lane_known(context);
    if (!lane)
        return;
    sl_lane_visit_t visit = sl_lane_visit(lane);
    sl_mutex_lock(&lane->gpu->lock);
    if (!lane->ended)
        close(lane);
    lane->ended = true;
    sl_mutex_unlock(&lane->gpu->lock);
    sl_lane_return(visit);
}

/* The memory stays: another thread may be about to use it, and contexts are few. */
void sl_lane_settle_end(CUcontext context, bool gone) {
    sl_mutex_lock(&lock);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        sl_lane_t *lane = lanes[i];
        if (!lane || lane->context != context)
            continue;
        if (gone)
            lanes[i] = NULL;
        else
            lane->ended = false;
    }
    atomic_fetch_add(&generation, 1);
    sl_mutex_unlock(&lock);
}

static void forget(void) {
    static const sl_lane_gpu_t nothing;
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    for (unsigned i = 0; i < CONTEXTS; i++)
        lanes[i] = NULL;
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        sl_board_forget(&gpus[i].board);
        gpus[i] = nothing;
    }
    any = false;
    generation++;
}
SL_FORK_FORGETS(forget);
