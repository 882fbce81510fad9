/* above: see above.h. */
#define _GNU_SOURCE
#include "compute/above.h"

#include <sys/prctl.h>

#include "os/fork.h"
#include "os/os.h"
#include "os/thread.h"
#include "slices/channels.h"
#include "slices/control.h"
#include "tenant/tenant.h"
#include "turns/seen.h"
#include "turns/turn.h"

#define MILLI 1000000u
#define ALONE_MICROS 1u              /* measured on an H200: bursts beside it take 1.11 times as long as alone */
/* Chosen, not measured: channel groups that share a turn run at once, and with 1 us each the GPU would only change between them. */
#define BESIDE_MICROS SL_SEEN_SHORT_MICROS
/* Chosen: with libcuda's 2 ms, work of more than that is interrupted for the tenants below: 0.3 ms each time on an H200. */
#define OUTSIDE_MICROS 20000u
#define LOOK_NANOS (5 * MILLI)       /* how soon work of a tenant of high priority is seen */
#define IDLE_LOOK_NANOS (50 * MILLI) /* and that there is such a tenant at all */

static sl_lane_gpu_t *_Atomic gpus[SL_REGION_GPU_COUNT];
static sl_board_t boards[SL_REGION_GPU_COUNT]; /* as the thread last saw them */
static _Atomic bool started;

/* The gate's lock may be held for long, by a call of the driver. Then the old copy is good enough: a mapping stays. */
static void refresh(unsigned number, sl_lane_gpu_t *gpu) {
    if (!sl_mutex_try(&gpu->lock))
        return;
    boards[number] = gpu->board;
    sl_mutex_unlock(&gpu->lock);
}

/* The slice that the process should have: 0 is that of libcuda. */
static uint32_t wanted(bool *high) {
    uint64_t now = sl_os_nanos();
    bool below = false, above = false, beside = false;
    *high = false;
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        sl_lane_gpu_t *gpu = atomic_load(&gpus[i]);
        if (gpu)
            refresh(i, gpu);
        if (!boards[i].base || !sl_seen_any_high(&boards[i]))
            continue;
        *high = true;
        sl_seen_rank_t rank = sl_seen_rank(&boards[i], now);
        below |= rank == SL_SEEN_BELOW;
        above |= rank == SL_SEEN_ABOVE;
        beside |= sl_seen_siblings(&boards[i]) > 1;
    }
    beside |= sl_control_groups() > 1;
    if (below)
        return beside ? BESIDE_MICROS : ALONE_MICROS;
    return above && !beside ? OUTSIDE_MICROS : 0;
}

static void tell(uint32_t micros) {
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        const sl_board_t *board = &boards[i];
        if (board->base && board->processes[board->process].owner == board->identity)
            board->processes[board->process].slice_micros = micros;
    }
}

static void *keep(void *unused) {
    uint32_t micros = 0, given = 0;
    bool ready = false;
    unsigned version = sl_channels_version() - 1;
    bool high;
    prctl(PR_SET_NAME, "sluice-slices");
    while (atomic_load_explicit(&sl_tenant.state, memory_order_acquire) == SL_TENANT_ATTACHED) {
        uint32_t next = wanted(&high);
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
        sl_os_sleep_nanos(high ? LOOK_NANOS : IDLE_LOOK_NANOS);
    }
    return unused;
}

void sl_above_begin(sl_lane_gpu_t *gpu) {
    if (SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_OFF || !gpu->board.base)
        return;
    atomic_store(&gpus[gpu->gpu], gpu);
    if (!atomic_exchange(&started, true) && !sl_thread_start(keep, NULL))
        sl_report(SL_WARN, "the process can have no more threads, so it does not control time slices");
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
        boards[i].base = NULL;
    }
    started = false;
}
SL_FORK_FORGETS(forget);
