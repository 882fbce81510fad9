/* attendant: see attendant.h.
 *
 * The process goes down and up a ladder, one step at a time: running, held, released, vacated. The order says which rung is wanted: the
 * deeper of the tenant's command and of what a trigger asks of this process. The attendant reads both again after every step, so a pause
 * can be withdrawn at any time. It has all signals blocked, and it
 * calls the driver past the wrappers, so it never waits for itself. */
#define _GNU_SOURCE
#include "pause/attendant.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hold/hold.h"
#include "memory/kept.h"
#include "memory/plain/context.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "os/os.h"
#include "os/thread.h"
#include "pause/contexts.h"
#include "pause/mover.h"
#include "pause/reasons.h"
#include "pause/telling.h"
#include "pause/triggers.h"
#include "pause/vacate.h"
#include "slices/control.h"
#include "tenant/registration.h"
#include "tenant/tenant.h"
#include "trace/sink.h"

#define MILLI 1000000u
#define LOOK_NANOS (250 * MILLI)    /* how often an attendant looks that nobody has woken */
#define SPARE_NANOS (100 * MILLI)   /* and while the process has spare memory */
#define FIRST_POLL_NANOS 20000u     /* while calls come back from the driver */
#define LONGEST_POLL_NANOS (2 * MILLI)
#define CUT_NANOS (MILLI / 5)       /* chosen: work that runs longer than this after a pause is taken off the GPU; that takes 0.6 ms at most on an H200 */
#define END_NANOS (100 * MILLI)     /* chosen: the end of the process waits this long for work that has likely ended */
#define ROOM_NANOS (100 * MILLI)    /* how often it looks for room on the way back */
#define PREPARE_BYTES (512ull << 20) /* 65 ms on an H200's host at 8 GB/s, the rate of pages that are touched for the first time */
#define BEGIN_NANOS (2000 * (uint64_t)MILLI) /* a first context waits this long for the attendant's first look */

enum { WHAT = 0xff, DRAIN_ATTEMPTS = 3 };
enum { RUNNING, HELD, RELEASED, VACATED }; /* the rungs, in the order of SL_REGION_COMMAND_… */

static sl_mutex_t lock;          /* for starting it */
static _Atomic bool started;
static _Atomic uint32_t looked;  /* 1 after its first look */
static _Atomic unsigned rung;    /* only the attendant changes it */
static uint64_t prepared;        /* only the attendant uses it */
static bool is_unregistered;     /* only the attendant uses it: a vacate has unregistered what was prepared */
static bool has_handler;         /* for the end of the process */
static _Atomic bool is_ready;    /* for what takes the kernel long in a process with threads: once in each process */
static bool was_cut;             /* only the attendant uses it: the hold took work off the GPU, so calls may still be in the driver */
static _Atomic bool in_step;     /* it may be in the driver */
static _Atomic bool ending;      /* the process ends: no more steps */
static _Atomic bool broken;      /* the driver could not restore its state, or go on: the process stays where it is, */
static sl_reason_t why_broken;   /* and tells each command why */

typedef struct {
    uint64_t command; /* of the tools, to all processes of the tenant */
    uint32_t own;     /* of a trigger, to this one */
    unsigned wanted;  /* rung */
} order_t;

static uint64_t seen_command;
static order_t refused;          /* it could not be carried out; another is tried */
static bool is_any_refused;

static unsigned rung_of(uint64_t command) {
    unsigned what = command & WHAT;
    return what <= VACATED ? what : HELD; /* an unknown command: stop the work at least */
}

static order_t order_now(void) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    order_t order = {.command = limits->command};
    if (order.command != seen_command && order.command == limits->resumed)
        sl_triggers_drop();
    seen_command = order.command;
    order.own = sl_triggers_now();
    unsigned tool = rung_of(order.command), own = rung_of(order.own);
    order.wanted = tool > own ? tool : own;
    return order;
}

static bool is_same(const order_t *one, const order_t *other) {
    return one->command == other->command && one->own == other->own;
}

static bool is_refused(const order_t *order) {
    return is_any_refused && is_same(order, &refused);
}

/* On the way down only the part of the order that asks for more than there is. The process stays where it is. */
static void refuse(const order_t *order, const sl_reason_t *reason) {
    sl_region_pause_t *record = sl_telling_record();
    bool down = order->wanted > rung;
    sl_telling_reason("%s", reason->text);
    sl_telling_step(SL_REGION_STEP_NONE, 0);
    if (record && (!down || rung_of(order->command) > rung))
        atomic_store(&record->refused, order->command);
    if (order->own && (!down || rung_of(order->own) > rung))
        sl_triggers_refuse(order->own);
    refused = *order;
    is_any_refused = true;
    sl_report(SL_WARN, "%s", reason->text);
}

static void release_calls(void) {
    was_cut = false;
    sl_control_go(SL_CONTROL_PAUSE);
    sl_sink_switch(SL_SINK_HELD, false);
    sl_hold_release();
    sl_region_pause_t *record = sl_telling_record();
    uint64_t since = record ? atomic_exchange(&record->since_nanos, 0) : 0, now = sl_os_wall_nanos();
    if (since && now > since)
        atomic_fetch_add(&record->paused_nanos, now - since);
    rung = RUNNING;
}

static void note_held(void) {
    sl_region_pause_t *record = sl_telling_record();
    if (record && !record->since_nanos)
        atomic_store(&record->since_nanos, sl_os_wall_nanos());
    rung = HELD;
}

/* Other tenants do not wait for the end of work that is off the GPU. */
static bool cut(void) {
    was_cut = sl_control_stop(SL_CONTROL_PAUSE);
    if (was_cut)
        sl_control_stopped_for_pause();
    return was_cut;
}

/* Where the library controls time slices, a pause need not wait until submitted work ends. Calls that wait for it stay in the driver. */
static bool is_cut(uint64_t since) {
    return order_now().wanted == HELD && sl_os_nanos() - since > CUT_NANOS && cut();
}

/* A wait of any length reads the limits of the agent that runs now: another one may write the next command. */
static bool is_pause_wanted(void) {
    sl_registration_follow();
    return !atomic_load(&ending) && order_now().wanted != RUNNING;
}

/* The process may end just when its work has ended. Then the wait for the work is short, and the pause goes on. */
static bool is_ending_for_long(void) {
    static uint64_t since; /* only the attendant uses it */
    uint64_t now = sl_os_nanos();
    since = !atomic_load(&ending) ? 0 : since ? since : now;
    return since && now - since > END_NANOS;
}

static bool is_drain_wanted(void) {
    sl_registration_follow();
    return !is_ending_for_long() && order_now().wanted != RUNNING;
}

static bool is_away_wanted(void) {
    sl_registration_follow();
    return !is_ending_for_long() && order_now().wanted > HELD;
}

/* False: the pause is withdrawn, and work may still run. A context with an error runs nothing, so a hold is complete all the same. What is more than a hold
 * refuses (out). */
static bool drain(void) {
    CUresult status = CUDA_SUCCESS;
    sl_telling_step(SL_REGION_STEP_DRAIN, 0);
    for (int attempt = 0; attempt < DRAIN_ATTEMPTS && (attempt == 0 || status != CUDA_SUCCESS); attempt++)
        if (!sl_contexts_drain(is_drain_wanted, &status))
            return false;
    if (status != CUDA_SUCCESS)
        sl_report(SL_WARN, "paused, and a context answers error %d: it runs no work any more, and its memory cannot be released", (int)status);
    return true;
}

/* Calls in the driver come back by themselves: the work that they wait for ends. */
static void hold(void) {
    uint64_t span = FIRST_POLL_NANOS, begin = sl_os_nanos();
    sl_telling_step(SL_REGION_STEP_HOLD, 0);
    sl_sink_switch(SL_SINK_HELD, true);
    sl_hold_ask();
    for (unsigned count; (count = sl_hold_count()) > 0;) {
        sl_telling_reason(SL_REASON_CALLS, count, count == 1 ? "" : "s");
        if (!is_pause_wanted()) {
            release_calls();
            return;
        }
        if (is_cut(begin)) {
            sl_telling_reason("%s", "");
            note_held();
            return;
        }
        sl_os_sleep_nanos(span);
        span = span * 2 < LONGEST_POLL_NANOS ? span * 2 : LONGEST_POLL_NANOS;
    }
    sl_telling_reason("%s", "");
    if (order_now().wanted == HELD && cut()) {
        note_held();
        return;
    }
    if (!drain()) {
        release_calls();
        return;
    }
    sl_kept_look(true);
    note_held();
}

/* Memory can move only when the work has ended. */
static void finish_work(void) {
    was_cut = false;
    sl_control_go(SL_CONTROL_PAUSE);
    hold();
}

static void out(const order_t *order) {
    sl_reason_t reason;
    sl_region_pause_t *record = sl_telling_record();
    CUresult status = CUDA_SUCCESS;
    if (!sl_contexts_drain(is_away_wanted, &status))
        return; /* to what is wanted now */
    if (status != CUDA_SUCCESS) {
        sl_report_fail(&reason, SL_REASON_CONTEXT_ERROR, (int)status);
        refuse(order, &reason);
        return;
    }
    sl_telling_step(SL_REGION_STEP_COPY_OUT, sl_mover_bytes());
    sl_mover_result_t result = sl_mover_out(order->wanted == VACATED, &reason);
    if (result != SL_MOVER_DONE)
        refuse(order, &reason);
    else if (record)
        atomic_fetch_add(&record->releases, 1);
    if (result != SL_MOVER_REFUSED)
        rung = RELEASED;
}

/* From now on attend() refuses every command. */
static void stop_here(const sl_reason_t *reason) {
    broken = true;
    why_broken = *reason;
}

static void store(const order_t *order) {
    sl_reason_t reason;
    sl_mover_unregister();
    is_unregistered = true;
    sl_telling_step(SL_REGION_STEP_STORE, 0);
    switch (sl_vacate_store(&reason)) {
    case SL_VACATE_DONE:
        rung = VACATED;
        break;
    case SL_VACATE_FAILED:
        stop_here(&reason);
        break;
    default:
        refuse(order, &reason);
    }
}

/* Another command may come while there is no room. A tool that has found room wakes the word, too. */
static void wait_for_room(const order_t *order, const sl_reason_t *reason) {
    const struct timespec span = {.tv_nsec = ROOM_NANOS};
    sl_telling_reason("%s", reason->text);
    sl_telling_step(SL_REGION_STEP_ROOM, 0);
    syscall(SYS_futex, &sl_tenant.region.limits->command, FUTEX_WAIT, (uint32_t)order->command, &span, NULL, 0);
    sl_registration_follow();
}

static void restore(const order_t *order) {
    sl_reason_t reason;
    sl_telling_step(SL_REGION_STEP_RESTORE, 0);
    switch (sl_vacate_restore(&reason)) {
    case SL_VACATE_DONE:
        rung = RELEASED;
        break;
    case SL_VACATE_NO_ROOM:
        wait_for_room(order, &reason);
        break;
    default:
        stop_here(&reason);
    }
}

static void back(const order_t *order) {
    sl_reason_t reason;
    sl_telling_step(SL_REGION_STEP_COPY_BACK, sl_mover_bytes());
    switch (sl_mover_back(&reason)) {
    case SL_MOVER_DONE:
        sl_telling_reason("%s", "");
        rung = HELD;
        break;
    case SL_MOVER_NO_ROOM:
        wait_for_room(order, &reason);
        break;
    default: /* another command tries again */
        refuse(order, &reason);
    }
}

static void step(const order_t *order) {
    bool down = order->wanted > rung;
    switch (rung) {
    case RUNNING:
        hold();
        break;
    case HELD:
        if (order->wanted < rung)
            release_calls();
        else if (was_cut)
            finish_work();
        else
            out(order);
        break;
    case RELEASED:
        if (down)
            store(order);
        else
            back(order);
        break;
    default:
        restore(order);
    }
}

/* What the tools asked may be done although a deeper trigger is refused. */
static void answer(const order_t *order) {
    sl_region_pause_t *record = &sl_tenant.region.pauses[sl_tenant.slot];
    sl_region_slot_t *slot = &sl_tenant.region.slots[sl_tenant.slot];
    bool tool = slot->answer != order->command && record->refused != order->command;
    bool own = record->own_answer != order->own && record->own_refused != order->own;
    if ((tool || own) && !is_refused(order)) {
        sl_telling_step(SL_REGION_STEP_NONE, 0);
        sl_telling_reason("%s", "");
    }
    if (tool)
        atomic_store(&slot->answer, order->command);
    if (own)
        sl_triggers_answer(order->own);
}

/* After a fork, or at the end of the process, there is no region to answer in. */
static bool is_attached(void) {
    return atomic_load_explicit(&sl_tenant.state, memory_order_acquire) == SL_TENANT_ATTACHED;
}

/* In parts, so that a command never waits long for it. What a vacate has unregistered is registered again here, when the job no longer waits for it. True:
 * there is more to do. */
static bool prepare(void) {
    uint64_t wanted = sl_tenant.region.limits->prepared_bytes;
    if (rung != RUNNING || (wanted == prepared && !is_unregistered))
        return false;
    if (is_unregistered)
        prepared = 0;
    is_unregistered = false;
    uint64_t next = wanted > prepared && wanted - prepared > PREPARE_BYTES ? prepared + PREPARE_BYTES : wanted;
    prepared = sl_mover_prepare(next) ? next : wanted; /* no host memory: try again when another size is wanted */
    return prepared != wanted;
}

/* True: woken without another order, so a process of the tenant needs room (sl_accounts_ask_for_room). A trigger that comes between the look and the wait is seen at the next look. */
static bool wait_for_order(const order_t *seen, uint32_t nanos) {
    const struct timespec span = {.tv_nsec = nanos};
    const _Atomic uint64_t *command = &sl_tenant.region.limits->command;
    order_t now = order_now();
    bool woken = is_same(&now, seen) && syscall(SYS_futex, command, FUTEX_WAIT, (uint32_t)seen->command, &span, NULL, 0) == 0;
    if (woken)
        now = order_now();
    bool needed = woken && is_same(&now, seen);
    sl_registration_follow();
    return needed;
}

void sl_attendant_wake(void) {
    syscall(SYS_futex, &sl_tenant.region.limits->command, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The first context may be waiting for the first look. */
static void note_look(void) {
    if (atomic_exchange(&looked, 1))
        return;
    syscall(SYS_futex, &looked, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool begin_step(void) {
    atomic_store(&in_step, true);
    if (!atomic_load(&ending))
        return true;
    atomic_store(&in_step, false);
    return false;
}

/* exit() runs this before the driver's own handlers, which end the driver under a thread that is in it. The handlers of the program may call
 * CUDA too, so a paused process waits here as in any call. A hold that is not complete is given up: the call or the work for which it waits may never end. */
static void end_process(void) {
    for (;;) {
        atomic_store(&ending, true);
        while (atomic_load(&in_step))
            sl_os_sleep_nanos(MILLI);
        if (atomic_load(&rung) == RUNNING || atomic_load(&broken) || !is_attached()) {
            sl_contexts_end();
            return;
        }
        atomic_store(&ending, false);
        sl_os_sleep_nanos(MILLI);
    }
}

/* Then the end waits (end_process), and the attendant is needed to resume. */
static bool is_paused_at_end(void) {
    sl_os_sleep_nanos(MILLI);
    return rung != RUNNING;
}

/* The control of slices has ended, and with it the cut: the work runs again, so this pause waits for its end after all. */
static bool is_cut_undone(void) {
    return rung == HELD && was_cut && !sl_control_is_stopped(SL_CONTROL_PAUSE);
}

/* With a share of GPU time, or with time slices, the process joins the board of each GPU, which it keeps open at a high number. */
static bool joins_boards(void) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    bool joins = limits->turns || SL_LOAD(sl_options_slices) != SL_OPTIONS_SLICES_OFF;
    for (int gpu = 0; gpu < SL_SHARES_GPUS; gpu++)
        joins |= limits->compute_permille[gpu] != 0;
    return joins;
}

static void make_ready(void) {
    if (atomic_exchange(&is_ready, true))
        return;
    if (joins_boards())
        sl_os_widen();
    sl_hold_prepare();
}

/* Both take microseconds as long as the process has one thread, and the driver has made none yet. Later the attendant does them, so that no thread of the
 * program waits unless it needs the board at once. */
void sl_tenant_attached(void) {
    sl_triggers_begin();
    if (sl_os_is_alone())
        make_ready();
}

static void *attend(void *unused) {
    bool needs_room = false;
    prctl(PR_SET_NAME, "sluice-pause");
    seen_command = sl_tenant.region.limits->command;
    while (is_attached()) {
        order_t order = order_now();
        if ((rung != order.wanted || is_cut_undone()) && !is_refused(&order) && !broken) {
            if (rung == RUNNING)
                sl_sink_switch(SL_SINK_HELD, true);
            note_look();
            if (!begin_step()) {
                if (!is_paused_at_end())
                    break;
                continue;
            }
            step(&order);
            atomic_store(&in_step, false);
            continue;
        }
        if (rung != order.wanted && !is_refused(&order))
            refuse(&order, &why_broken);
        answer(&order);
        if (!begin_step()) {
            if (!is_paused_at_end())
                break;
            continue;
        }
        bool spare = !sl_control_is_stopped(SL_CONTROL_PAUSE) && sl_kept_look(needs_room || rung != RUNNING); /* the driver may wait for work */
        atomic_store(&in_step, false);
        note_look();
        make_ready();
        needs_room = !prepare() && wait_for_order(&order, spare ? SPARE_NANOS : LOOK_NANOS);
    }
    return unused;
}

static void begin_slowly(void) {
    int saved = errno;
    sl_mutex_lock(&lock);
    if (!started) {
        sl_region_pause_t *record = &sl_tenant.region.pauses[sl_tenant.slot];
        bool ok = sl_thread_start(attend, NULL);
        if (!ok)
            sl_report(SL_WARN, "the process can have no more threads, so it cannot be paused");
        if (ok && !has_handler)
            has_handler = atexit(end_process) == 0;
        atomic_store(&record->attended, ok ? 1 : 2);
        atomic_store(&looked, !ok);
        atomic_store(&started, true);
    }
    sl_mutex_unlock(&lock);
    const struct timespec span = {.tv_sec = BEGIN_NANOS / 1000000000u};
    uint32_t inside = sl_hold_step_out();
    if (!atomic_load(&looked))
        syscall(SYS_futex, &looked, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0);
    sl_hold_step_in(inside);
    errno = saved;
}

void sl_attendant_begin(void) {
    if (!atomic_load_explicit(&started, memory_order_acquire) && is_attached())
        begin_slowly();
}

void sl_context_making(void) {
    sl_attendant_begin();
}

void sl_context_made(CUcontext context) {
    sl_contexts_add(context);
}

/* The child has no attendant and no context. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    atomic_store(&started, false);
    atomic_store(&looked, 0);
    atomic_store(&is_ready, false);
    rung = RUNNING;
    was_cut = false;
    prepared = 0;
    is_unregistered = false;
    broken = false;
    is_any_refused = false;
    atomic_store(&in_step, false);
    atomic_store(&ending, false);
    sl_sink_switch(SL_SINK_HELD, false);
}
SL_FORK_FORGETS(forget);
