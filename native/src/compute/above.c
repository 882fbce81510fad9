/* above: see above.h. */
#define _GNU_SOURCE
#include "compute/above.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "hold/hold.h"
#include "os/fork.h"
#include "os/os.h"
#include "os/thread.h"
#include "real.h"
#include "slices/channels.h"
#include "slices/control.h"
#include "tenant/tenant.h"
#include "turns/seen.h"
#include "turns/slice.h"
#include "turns/turn.h"

#define MILLI 1000000u
#define LOOK_NANOS (5 * MILLI)       /* how soon work of a tenant of high priority is seen */
#define IDLE_LOOK_NANOS (50 * MILLI) /* and that there is such a tenant at all */
#define WORKING_LOOK_NANOS (2 * MILLI) /* chosen: how often a process below looks whether its work runs, */
#define KEPT_NANOS (4 * MILLI)         /* and how long it then keeps the turn at least */

enum { CAPTURE_RELAXED = 2, LEAVE_TRIES = 100 };

static sl_lane_gpu_t *_Atomic gpus[SL_REGION_GPU_COUNT];
static struct {
    sl_board_t board;   /* as the thread last saw it */
    bool takes_turns;   /* the same */
    bool is_below, works;
} sights[SL_REGION_GPU_COUNT]; /* only the thread uses them */
static _Atomic bool started, ending;
static _Atomic bool in_driver; /* the thread asks about events */
static bool has_handler;

/* The gate's lock may be held for long, by a call of the driver. Then the old copy is good enough: a mapping stays. */
static void refresh(unsigned number, sl_lane_gpu_t *gpu) {
    if (!sl_mutex_try(&gpu->lock))
        return;
    sights[number].board = gpu->board;
    sights[number].takes_turns = gpu->takes_turns;
    atomic_store(&in_driver, true);
    bool asks = sights[number].is_below && gpu->takes_turns && !sl_hold_is_asked() && !atomic_load(&ending);
    sights[number].works = asks && sl_lane_working_since(gpu, LOOK_NANOS);
    atomic_store(&in_driver, false);
    sl_mutex_unlock(&gpu->lock);
}

/* Work may take longer than is known, above all where others run beside it. It keeps the turn until it has ended: if the next tenant took the turn, the work of
 * both would run at once. */
static void keep_turn(const sl_board_t *board, uint64_t now) {
    if (board->processes[board->process].busy_nanos < now + KEPT_NANOS)
        sl_turn_say_busy(board, now + KEPT_NANOS);
}

static sl_slice_view_t view_of(unsigned number, sl_seen_rank_t rank) {
    const sl_board_t *board = &sights[number].board;
    return (sl_slice_view_t){
        .rank = rank,
        .takes_turns = sights[number].takes_turns,
        .has_turn = sl_turn_is_mine(board),
        .works = sights[number].works,
        .is_divided = sl_seen_siblings(board) > 1 || sl_control_groups() > 1,
        .any_silent = sl_seen_any_silent(board),
        .any_beside = sl_seen_any_beside(board),
    };
}

/* The slice that the process should have: 0 is that of libcuda. A process of several GPUs has one slice: below on any of them counts first. */
static uint32_t wanted(uint64_t *look_nanos) {
    uint64_t now = sl_os_nanos();
    uint32_t below = 0, above = 0;
    *look_nanos = IDLE_LOOK_NANOS;
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        sl_lane_gpu_t *gpu = atomic_load(&gpus[i]);
        if (gpu)
            refresh(i, gpu);
        sights[i].is_below = false;
        if (!sights[i].board.base || !sl_seen_any_high(&sights[i].board))
            continue;
        *look_nanos = *look_nanos < LOOK_NANOS ? *look_nanos : LOOK_NANOS;
        sl_seen_rank_t rank = sl_seen_rank(&sights[i].board, now);
        sights[i].is_below = rank == SL_SEEN_BELOW;
        sl_slice_view_t view = view_of(i, rank);
        uint32_t slice = sl_slice_choose(&view);
        below = rank == SL_SEEN_BELOW && slice > below ? slice : below;
        above = rank == SL_SEEN_ABOVE ? slice : above;
        if (sights[i].is_below && view.works && view.has_turn)
            keep_turn(&sights[i].board, now);
        if (sights[i].works)
            *look_nanos = WORKING_LOOK_NANOS;
    }
    return below ? below : above;
}

static void tell(uint32_t micros) {
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        const sl_board_t *board = &sights[i].board;
        if (board->base && board->processes[board->process].owner == board->identity)
            board->processes[board->process].slice_micros = micros;
    }
}

static void *keep(void *unused) {
    uint32_t micros = 0, given = 0;
    bool ready = false;
    unsigned version = sl_channels_version() - 1;
    uint64_t look_nanos;
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    prctl(PR_SET_NAME, "sluice-slices");
    if (real.cuThreadExchangeStreamCaptureMode)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    while (atomic_load_explicit(&sl_tenant.state, memory_order_acquire) == SL_TENANT_ATTACHED && !atomic_load(&ending)) {
        uint32_t next = wanted(&look_nanos);
        unsigned now = sl_channels_version();
        bool was_ready = ready;
        ready = next && !given && sl_control_is_ready();
        bool again = ready && !was_ready; /* a slow probe is repeated */
        if (next != micros || now != version || again) {
            if (next != micros && !next)
                tell(0); /* before the slice grows: no other process may rely on a short slice that is not set any more */
            given = sl_control_slice(next);
            micros = next;
            version = now;
        }
        tell(given);
        sl_os_sleep_nanos(look_nanos);
    }
    return unused;
}

/* exit() runs this before the driver's own handlers, which end the driver under a thread that is in it. */
static void end_process(void) {
    atomic_store(&ending, true);
    for (unsigned i = 0; i < LEAVE_TRIES && atomic_load(&in_driver); i++)
        sl_os_sleep_nanos(MILLI);
}

void sl_above_begin(sl_lane_gpu_t *gpu) {
    if (SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_OFF || !gpu->board.base)
        return;
    atomic_store(&gpus[gpu->gpu], gpu);
    if (atomic_exchange(&started, true))
        return;
    if (!sl_thread_start(keep, NULL))
        sl_report(SL_WARN, "the process can have no more threads, so it does not control time slices");
    else if (!has_handler)
        has_handler = atexit(end_process) == 0;
}

static void say_outside(const sl_lane_gpu_t *gpu, bool outside) {
    gpu->board.processes[gpu->board.process].outside = outside;
}

bool sl_above_is_near(const sl_lane_gpu_t *gpu) {
    return atomic_load(&gpus[gpu->gpu]) && sl_seen_tenant(&gpu->board, gpu->board.tenant).priority > 0;
}

static bool may_be_outside(const sl_lane_gpu_t *gpu, uint64_t now) {
    return sl_above_is_near(gpu) && !gpu->has_windows && !gpu->refused && sl_seen_rank(&gpu->board, now) == SL_SEEN_ABOVE &&
           sl_seen_others_are_short(&gpu->board);
}

void sl_above_end(sl_lane_gpu_t *gpu) {
    if (!gpu->outside)
        return;
    gpu->outside = false;
    say_outside(gpu, false);
    gpu->takes_turns = true;
}

void sl_above_look(sl_lane_gpu_t *gpu, uint64_t now) {
    if (!gpu->takes_turns && !gpu->outside)
        return;
    bool may = may_be_outside(gpu, now);
    if (may == gpu->outside)
        return;
    if (!may) {
        sl_above_end(gpu);
        return;
    }
    gpu->outside = true;
    gpu->takes_turns = false;
    gpu->turn_ticks = 0;
    say_outside(gpu, true);
    sl_turn_leave(&gpu->board, now);
}

static void forget(void) {
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        gpus[i] = NULL;
        sights[i].board.base = NULL;
        sights[i].works = false;
    }
    started = ending = in_driver = false;
}
SL_FORK_FORGETS(forget);
