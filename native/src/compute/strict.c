/* strict: see strict.h. */
#define _GNU_SOURCE
#include "compute/strict.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "compute/admit.h"
#include "compute/lone.h"
#include "hold/hold.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "os/os.h"
#include "os/report.h"
#include "os/thread.h"
#include "real.h"
#include "slices/control.h"
#include "slices/quantum.h"
#include "tenant/tenant.h"
#include "turns/turn.h"

#define MILLI 1000000u
/* Chosen: work that is seen this late has used half of the credit that a strict cap keeps, and that is counted. */
#define LOOK_NANOS (5 * MILLI)
#define WORKING_LOOK_NANOS (2 * MILLI)   /* while work runs */
#define SILENT_NANOS (20 * MILLI)        /* a look that takes longer waits in the driver, so work runs */
#define LOCK_TRIES 100u                  /* of the gate's lock, which many threads of the program may take in turn */
#define LOCK_NANOS 20000u                /* between them */
#define REFUSED_NANOS (100 * MILLI)      /* how soon a refused stop is tried again */
#define TURN_NANOS (2 * MILLI)           /* how often it looks at a turn, its own or one for which it waits */
#define BUSY_NANOS (10 * MILLI)
#define SOONEST_NANOS (MILLI / 5)

enum { CAPTURE_RELAXED = 2 };

typedef struct {
    sl_lane_gpu_t *_Atomic gpu;
    /* The first thread writes these. */
    _Atomic uint64_t working_nanos; /* since when the work that runs may run; 0: none did at the last look */
    _Atomic uint64_t looked_nanos;  /* when the last look ended */
    _Atomic uint32_t sharers;       /* processes that share the cap */
    _Atomic bool lifted;            /* no other tenant uses the GPU, and the cap holds only beside others */
    sl_mutex_t lock;                /* for the next one */
    sl_board_t board;               /* base is NULL: the process takes no turns */
    /* The second thread uses these. */
    sl_quantum_t quantum;
    uint64_t wants_nanos;           /* since when the work waits for the turn to return; 0: it does not */
} watched_t;

static watched_t watched[SL_REGION_GPU_COUNT];
static _Atomic bool started, ending, told;
static bool asked; /* whether the process controls its channels */
static bool has_handler;

static bool is_attached(void) {
    return atomic_load_explicit(&sl_tenant.state, memory_order_acquire) == SL_TENANT_ATTACHED && !atomic_load(&ending);
}

/* The process's part of the cap, by the limits as they are now, whether it is lifted or not; SL_QUANTUM_WHOLE: there is none. */
static uint32_t part_of(watched_t *one) {
    const sl_lane_gpu_t *gpu = atomic_load(&one->gpu);
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    unsigned index = gpu ? (unsigned)sl_tenant.region.gpus[gpu->gpu].index : 16;
    uint32_t permille = index < 16 && limits->strict ? limits->compute_permille[index] : 0, sharers = one->sharers;
    return permille && permille < 1000 ? permille * (SL_QUANTUM_WHOLE / 1000) / (sharers ? sharers : 1) : SL_QUANTUM_WHOLE;
}

/* What holds now. */
static uint32_t share_of(watched_t *one) {
    return one->lifted ? SL_QUANTUM_WHOLE : part_of(one);
}

static void say_unenforced(const char *why) {
    if (!atomic_exchange(&told, true))
        sl_report(SL_WARN, "the cap holds between kernels, but not inside a kernel as strict asks: %s", why);
}

/* base is NULL: the process takes no turns, or its entry belongs to another process by now. The gate joins again at the next call. */
static sl_board_t board_of(watched_t *one) {
    sl_mutex_lock_briefly(&one->lock);
    sl_board_t board = one->board;
    sl_mutex_unlock(&one->lock);
    uint64_t owner = board.base ? board.processes[board.process].owner : 0; /* 0: it was taken for dead; a wait for the turn repairs that */
    if (owner && owner != board.identity)
        board.base = NULL;
    return board;
}

/* With the GPU's lock held. */
static void note_gate(watched_t *one, sl_lane_gpu_t *gpu, uint64_t now) {
    if (gpu->cap_when_shared)
        sl_lone_look(gpu, now);
    one->lifted = gpu->cap_when_shared && gpu->permille >= 1000;
    sl_mutex_lock_briefly(&one->lock);
    one->board = gpu->board;
    if (!gpu->takes_turns || gpu->has_windows)
        one->board.base = NULL;
    sl_mutex_unlock(&one->lock);
}

/* Only for a while, because a call of the program may hold the lock until its work has ended. */
static bool lock_for_a_while(sl_mutex_t *lock) {
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (sl_mutex_try(lock))
            return true;
        sl_os_sleep_nanos(LOCK_NANOS);
    }
    return false;
}

/* Work that is off the GPU cannot end, so the driver need not be asked. But the process wants the GPU, and its siblings have to know. */
static void look_while_off(watched_t *one, sl_lane_gpu_t *gpu) {
    uint64_t now = sl_os_nanos();
    one->sharers = sl_admit_count_sharers(gpu, now, one->working_nanos != 0);
    one->looked_nanos = now;
    if (!sl_mutex_try(&gpu->lock))
        return;
    note_gate(one, gpu, now);
    sl_mutex_unlock(&gpu->lock);
}

static void look_while_on(watched_t *one, sl_lane_gpu_t *gpu) {
    if (!lock_for_a_while(&gpu->lock))
        return;
    uint64_t now = sl_os_nanos();
    note_gate(one, gpu, now);
    uint64_t since = !one->lifted && !sl_hold_is_asked() ? sl_lane_working_since(gpu, LOOK_NANOS) : 0;
    one->sharers = sl_admit_count_sharers(gpu, now, since != 0);
    sl_mutex_unlock(&gpu->lock);
    one->working_nanos = since;
    one->looked_nanos = sl_os_nanos();
}

/* While the process is held, the thread that holds it has the driver for itself, and the work that is left may end. */
static void look(watched_t *one) {
    sl_lane_gpu_t *gpu = atomic_load(&one->gpu);
    if (!gpu)
        return;
    bool holds = part_of(one) != SL_QUANTUM_WHOLE;
    if (holds && sl_control_is_stopped(SL_CONTROL_STRICT)) {
        look_while_off(one, gpu);
    } else if (holds && !sl_hold_is_asked()) {
        look_while_on(one, gpu);
    } else {
        one->working_nanos = 0;
        one->looked_nanos = sl_os_nanos();
    }
}

static void *watch(void *unused) {
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    prctl(PR_SET_NAME, "sluice-watch");
    if (real.cuThreadExchangeStreamCaptureMode)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    while (is_attached()) {
        bool works = false;
        for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
            look(&watched[i]);
            works |= watched[i].working_nanos != 0;
        }
        sl_os_sleep_nanos(works ? WORKING_LOOK_NANOS : LOOK_NANOS);
    }
    return unused;
}

typedef struct {
    const sl_lane_gpu_t *gpu;
    uint64_t since; /* 0: no work is known */
} sight_t;

static void has_work(sl_lane_t *lane, void *argument) {
    sight_t *sight = argument;
    if (lane->gpu == sight->gpu && !lane->ended && (lane->meter.open != lane->meter.oldest || lane->meter.is_open))
        sight->since = 1;
}

/* The first thread is in the driver for long, so a call of the program is too, and it likely waits for work. Takes no lock. Not 0: it
 * seems to work, and may have done so for ever. */
static uint64_t seems_to_work(const watched_t *one, uint64_t now) {
    sight_t sight = {.gpu = atomic_load(&one->gpu)};
    if (now > one->looked_nanos + SILENT_NANOS && !sl_hold_is_asked())
        sl_lane_each(has_work, &sight);
    return sight.since;
}

static uint64_t used(const watched_t *one, uint64_t now) {
    uint64_t since = one->working_nanos;
    return sl_quantum_used(&one->quantum, since ? since : seems_to_work(one, now), now);
}

/* True: the work must be off the GPU. */
static bool count(watched_t *one, bool off, uint64_t now) {
    uint32_t share = atomic_load(&one->gpu) ? share_of(one) : SL_QUANTUM_WHOLE;
    if (share == SL_QUANTUM_WHOLE) {
        one->quantum = (sl_quantum_t){.counted_nanos = 0};
        return false;
    }
    uint64_t nanos = off ? 0 : used(one, now);
    one->quantum.off = one->quantum.off && off;
    sl_quantum_count(&one->quantum, share, nanos, now);
    one->quantum.off = one->quantum.off && (off || nanos);
    return one->quantum.off;
}

static bool count_all(bool off, uint64_t now) {
    bool must = false;
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++)
        must |= count(&watched[i], off, now);
    return must;
}

static uint64_t next_count(uint64_t now) {
    uint64_t next = now + LOOK_NANOS;
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        const watched_t *one = &watched[i];
        uint64_t its = one->quantum.counted_nanos ? sl_quantum_next(&one->quantum, share_of(&watched[i])) : next;
        next = its < next ? its : next;
    }
    return next > now + SOONEST_NANOS ? next : now + SOONEST_NANOS;
}

/* Somewhere within a control call the work leaves the GPU, or returns: half of its time counts as used. With all of it, caps of 10, 25 and 50 %
 * gave 8.6, 23.6 and 48.6 % on an H200. */
static void count_call(bool leaves) {
    uint64_t now = sl_os_nanos();
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        sl_quantum_t *quantum = &watched[i].quantum;
        if (quantum->counted_nanos && (leaves ? quantum->off : watched[i].working_nanos != 0) && now > quantum->counted_nanos)
            sl_quantum_count(quantum, share_of(&watched[i]), (now - quantum->counted_nanos) / 2, now);
    }
}

static bool stop(void) {
    if (sl_control_stop(SL_CONTROL_STRICT)) {
        count_call(true);
        return true;
    }
    const char *obstacle = sl_control_obstacle();
    if (obstacle)
        say_unenforced(obstacle);
    return false;
}

/* The only GPU with a strict cap on which the process takes turns. With more, one turn would wait for another. */
static watched_t *turn_taker(void) {
    watched_t *only = NULL;
    unsigned found = 0;
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++)
        if (atomic_load(&watched[i].gpu)) {
            only = &watched[i];
            found++;
        }
    return found == 1 && board_of(only).base ? only : NULL;
}

/* Its turn is over, and another tenant waits. A kernel need not end for that. */
static bool must_yield(watched_t *one, uint64_t now) {
    sl_board_t board = board_of(one);
    bool over = board.base && one->working_nanos && one->quantum.counted_nanos && sl_turn_is_mine(&board) && sl_turn_is_wanted(&board, now) &&
                now >= sl_turn_ends(&board, now);
    if (over) {
        one->quantum.off = true;
        one->quantum.off_since_nanos = now;
    }
    return over;
}

/* Threads of the program may say meanwhile that its work goes on, because they do not know that it is off. */
static void leave_turn(watched_t *one, uint64_t now) {
    sl_board_t board = board_of(one);
    if (!board.base || !sl_turn_is_mine(&board))
        return;
    sl_turn_say_busy(&board, now - 1);
    sl_turn_say_blocked(&board, 0);
    sl_turn_give(&board, false, now);
}

/* The others get the turn while its work is off, so the work returns with a turn. True: it may. */
static bool has_turn(watched_t *one, uint64_t now) {
    sl_board_t board = board_of(one);
    one->wants_nanos = one->wants_nanos ? one->wants_nanos : now;
    bool may = !board.base || now - one->wants_nanos > SL_QUANTUM_LONGEST_NANOS || sl_turn_is_mine(&board) ||
               sl_turn_wait(&board, one->wants_nanos, TURN_NANOS) != SL_TURN_NOT_YET;
    if (may)
        one->wants_nanos = 0;
    return may;
}

/* Until it looks again, with a margin. A stop takes it back. */
static void say_busy(watched_t *one, uint64_t now) {
    sl_board_t board = board_of(one);
    if (board.base && one->working_nanos && sl_turn_is_mine(&board))
        sl_turn_say_busy(&board, now + BUSY_NANOS);
}

/* An interval of work is known: whether the process controls its channels shows now, and not only when a kernel is long. */
static void say_early(void) {
    bool works = false;
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT && !asked; i++)
        works |= watched[i].working_nanos != 0;
    if (!works)
        return;
    asked = true;
    const char *obstacle = sl_control_is_ready() ? NULL : sl_control_obstacle();
    if (obstacle)
        say_unenforced(obstacle);
}

/* When to look again. */
static uint64_t step(void) {
    uint64_t now = sl_os_nanos();
    watched_t *taker = turn_taker();
    bool off = sl_control_is_stopped(SL_CONTROL_STRICT), must = count_all(off, now);
    if (!off && !must && taker)
        must = must_yield(taker, now);
    if (must && !off && !stop())
        return now + REFUSED_NANOS;
    if (must && taker)
        leave_turn(taker, sl_os_nanos());
    if (!must && off && taker && !has_turn(taker, now))
        return now; /* has_turn() has waited */
    if (!must && off) {
        count_all(true, sl_os_nanos());
        sl_control_go(SL_CONTROL_STRICT);
        count_call(false);
    }
    uint64_t next = next_count(now);
    if (!must && taker)
        say_busy(taker, now);
    return taker && next > now + TURN_NANOS && (must || taker->working_nanos) ? now + TURN_NANOS : next;
}

static void *hold(void *unused) {
    prctl(PR_SET_NAME, "sluice-strict");
    while (is_attached()) {
        uint64_t next = step();
        say_early();
        uint64_t now = sl_os_nanos();
        sl_os_sleep_nanos(next > now ? next - now : 0);
    }
    sl_control_go(SL_CONTROL_STRICT);
    return unused;
}

/* exit() runs this before the driver's own handlers, which may wait for the work. */
static void end_process(void) {
    atomic_store(&ending, true);
    sl_control_go(SL_CONTROL_STRICT);
}

static void start(void) {
    if (atomic_exchange(&started, true))
        return;
    if (!sl_thread_start(watch, NULL) || !sl_thread_start(hold, NULL))
        say_unenforced("the process can have no more threads");
    else if (!has_handler)
        has_handler = atexit(end_process) == 0;
}

void sl_strict_begin(sl_lane_gpu_t *gpu) {
    if (!sl_tenant.region.limits->strict || gpu->cap_permille >= 1000)
        return;
    if (SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_OFF) {
        say_unenforced("SLUICE_SLICES turns time slices off; set SLUICE_SLICES=1 or auto");
        return;
    }
    watched[gpu->gpu].sharers = gpu->sharers ? gpu->sharers : 1;
    atomic_store(&watched[gpu->gpu].gpu, gpu);
    start();
}

bool sl_strict_holds(const sl_lane_gpu_t *gpu) {
    return atomic_load(&started) && !atomic_load(&ending) && share_of(&watched[gpu->gpu]) != SL_QUANTUM_WHOLE && !sl_control_obstacle();
}

static void forget(void) {
    for (unsigned i = 0; i < SL_REGION_GPU_COUNT; i++) {
        atomic_store(&watched[i].gpu, NULL);
        atomic_store(&watched[i].working_nanos, 0);
        watched[i].quantum = (sl_quantum_t){.counted_nanos = 0};
        watched[i].lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
        watched[i].board.base = NULL;
        watched[i].lifted = false;
        watched[i].wants_nanos = 0;
    }
    started = ending = told = asked = false;
}
SL_FORK_FORGETS(forget);
