/* The engine: one thread, started with the first piece of work, carries out what the streams queue, each stream in order.
 *
 * Time is booked in slices on the GPU's timeline in the state file. So processes take turns, and a killed process leaves at most one
 * slice behind. A piece of work is booked from the moment it could have begun, even if the thread comes late. Events report the booked
 * time, not the time at which the thread ran. Data effects happen when the booked time is over.
 *
 * While no thread waits, the engine sleeps between looks, so that launches do not wake it one by one. A thread that queries or waits
 * carries out due work by itself. So an engine thread that gets no processor does not look like a busy GPU. A real driver's wait spins,
 * too: through the engine's thread it would take three context switches, some 35 us, instead of one or two us. */
#define _GNU_SOURCE
#include "kernel/rm.h"
#include "work/work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 2000000u    /* the longest piece of work that is booked at once */
#define DISABLED_NS 100000u  /* how often it looks whether disabled channels are enabled again */
#define SHORTEST_NS 100000u  /* the shortest: what an H200 needs to switch between processes is 139 us */
#define POLL_NS 20000u
#define QUEUE_MOST 1024u
#define REST_NS 100000u
#define SPIN_NS 60000u /* a sleep of a common thread ends so late */

struct sim_operation {
    sim_operation_t *next;
    sim_work_t work;
    uint64_t sequence;
    uint64_t submitted_ns, begin_ns, until_ns, left_ns, booked_ns; /* booked: the part that ends at until_ns */
    bool begun, running;
};

static pthread_cond_t changed, finished;
static bool started, asleep;
static pid_t thread_id;
static uint64_t sequence;
static unsigned pending, waiters;
static CUcontext active[SIM_GPUS_MAX * 4];
static unsigned active_count;

static void *engine(void *unused);
static bool advance_all(uint64_t *wake_ns);
static bool wants_engine(void);

static CUresult start(void) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &clock);
    pthread_cond_init(&finished, &clock);
    pthread_condattr_destroy(&clock);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, engine, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    SIM_REQUIRE(!failed, CUDA_ERROR_OPERATING_SYSTEM);
    pthread_detach(thread);
    started = true;
    return CUDA_SUCCESS;
}

static void wake(void) {
    if (asleep || waiters) pthread_cond_signal(&changed);
}

/* Waits for the engine's thread: only it can do the next step, or the time of the next step is not known. */
static void wait_for_engine(void) {
    waiters++;
    pthread_cond_signal(&changed);
    pthread_cond_wait(&finished, sim_mutex());
    waiters--;
}

static void rest(void) {
    sim_unlock();
    usleep(POLL_NS / 1000);
    sim_lock();
}

static void wait_until(uint64_t wake_ns) {
    if (wake_ns > sim_state_now() + SPIN_NS) {
        uint64_t sleep_ns = wake_ns - SPIN_NS;
        struct timespec until = {(time_t)(sleep_ns / 1000000000u), (long)(sleep_ns % 1000000000u)};
        pthread_cond_timedwait(&finished, sim_mutex(), &until);
        return;
    }
    sim_unlock();
    while (sim_state_now() < wake_ns) __builtin_ia32_pause();
    sim_lock();
}

/* One step; the caller checks again whether its work is done. */
static void wait_for_progress(void) {
    uint64_t wake_ns = UINT64_MAX;
    if (sim_has_ended() || sim_on_engine_thread) return wait_for_engine();
    if (advance_all(&wake_ns)) return;
    if (wake_ns == UINT64_MAX || wants_engine()) wait_for_engine();
    else wait_until(wake_ns);
}

static CUresult activate(CUcontext context) {
    for (unsigned i = 0; i < active_count; i++)
        if (active[i] == context) return CUDA_SUCCESS;
    for (unsigned i = 0; i < active_count; i++)
        if (!active[i]->alive) return active[i] = context, CUDA_SUCCESS;
    SIM_REQUIRE(active_count < sizeof active / sizeof *active, CUDA_ERROR_OUT_OF_MEMORY);
    active[active_count++] = context;
    return CUDA_SUCCESS;
}

CUresult sim_work_queue(CUstream stream, const sim_work_t *work) {
    SIM_TRY(stream->context->error);
    if (!started) SIM_TRY(start());
    SIM_TRY(activate(stream->context));
    while (stream->length >= QUEUE_MOST) wait_for_progress();
    sim_operation_t *operation = calloc(1, sizeof *operation);
    SIM_REQUIRE(operation, CUDA_ERROR_OUT_OF_MEMORY);
    operation->work = *work;
    operation->sequence = ++sequence;
    operation->submitted_ns = sim_state_now();
    operation->left_ns = sim_work_duration(work);
    if (stream->last) stream->last->next = operation;
    else stream->first = operation;
    stream->last = operation;
    stream->length++;
    pending++;
    if (stream->length == 1) wake();
    return CUDA_SUCCESS;
}

/* Work in the legacy stream and in blocking streams waits for each other's earlier work. */
static bool is_ordered(CUstream stream) {
    uint64_t mine = stream->first->sequence;
    CUstream legacy = stream->context->legacy;
    if (stream != legacy) return stream->flags & 1 || !legacy || !legacy->first || legacy->first->sequence > mine;
    for (CUstream other = stream->context->streams; other; other = other->next)
        if (!(other->flags & 1) && other->first && other->first->sequence < mine) return false;
    return true;
}

static bool value_is_reached(const sim_work_t *work) {
    enum { AT_LEAST, EQUAL, AND, NOR };
    uint64_t mask = work->value.bytes == 8 ? UINT64_MAX : UINT32_MAX, wanted = work->value.value & mask;
    uint64_t found = work->value.bytes == 8 ? __atomic_load_n((uint64_t *)work->value.address, __ATOMIC_ACQUIRE)
                                            : __atomic_load_n((uint32_t *)work->value.address, __ATOMIC_ACQUIRE);
    switch (work->value.condition & 3) {
    case AT_LEAST: return work->value.bytes == 8 ? (int64_t)(found - wanted) >= 0 : (int32_t)(uint32_t)(found - wanted) >= 0;
    case EQUAL: return found == wanted;
    case AND: return (found & wanted) != 0;
    default: return (~(found | wanted) & mask) != 0;
    }
}

/* Programs' own functions run on the engine's thread and nowhere else. */
static bool is_for_engine(const sim_work_t *work) { return work->kind == SIM_WORK_HOST || work->kind == SIM_WORK_CALLBACK; }

static bool is_ready(const sim_operation_t *operation) {
    const sim_work_t *work = &operation->work;
    if (work->kind == SIM_WORK_WAIT_EVENT) return sim_event_completed(work->event.event) >= work->event.recording;
    if (work->kind == SIM_WORK_WAIT_VALUE) return value_is_reached(work);
    return true;
}

/* The event may happen in another process or thread, which does not wake the engine. */
static bool is_to_be_polled(const sim_work_t *work) {
    return work->kind == SIM_WORK_WAIT_VALUE || (work->kind == SIM_WORK_WAIT_EVENT && work->event.event->shared);
}

static CUresult apply(sim_operation_t *operation) {
    const sim_work_t *work = &operation->work;
    switch (work->kind) {
    case SIM_WORK_KERNEL: return sim_kernel_apply(work, operation->begin_ns, operation->until_ns);
    case SIM_WORK_COPY: return sim_copy_apply(&work->copy);
    case SIM_WORK_FILL: return sim_fill_apply(&work->fill);
    case SIM_WORK_HOST: return work->host.fn(work->host.userData), CUDA_SUCCESS;
    case SIM_WORK_CALLBACK: return work->callback.function(work->callback.stream, CUDA_SUCCESS, work->callback.data), CUDA_SUCCESS;
    case SIM_WORK_WRITE_VALUE:
        if (work->value.bytes == 8) __atomic_store_n((uint64_t *)work->value.address, work->value.value, __ATOMIC_RELEASE);
        else __atomic_store_n((uint32_t *)work->value.address, (uint32_t)work->value.value, __ATOMIC_RELEASE);
        return CUDA_SUCCESS;
    default: return CUDA_SUCCESS;
    }
}

static void finish(CUstream stream, sim_operation_t *operation) {
    const sim_work_t *work = &operation->work;
    stream->idle_since_ns = operation->until_ns;
    if (work->kind == SIM_WORK_RECORD || work->kind == SIM_WORK_WAIT_EVENT) {
        CUevent event = work->event.event;
        if (work->kind == SIM_WORK_RECORD) sim_event_reach(event, work->event.recording, operation->until_ns);
        sim_event_forget(event);
    }
    if (work->kind == SIM_WORK_FREE) sim_pool_finish_free(work->memory.address, work->memory.generation);
    stream->first = operation->next;
    if (!stream->first) stream->last = NULL;
    stream->length--;
    pending--;
    free(operation);
    pthread_cond_broadcast(&finished);
}

/* A process with a short time slice is cut soon when another one has work. */
static uint64_t slice_ns(CUcontext context) {
    uint64_t asked = sim_rm_slice_micros(context->group) * 1000;
    return asked < SHORTEST_NS ? SHORTEST_NS : asked > SLICE_NS ? SLICE_NS : asked;
}

/* The next part of a piece of work. Where SLUICE_SIM_SWITCH says what a change costs, the GPU does nothing in that time, and processes with very short slices
 * that work beside each other get nowhere, as on a real one. */
static void book(CUstream stream, sim_operation_t *operation) {
    CUcontext context = stream->context;
    int gpu = sim_device_gpu(context->device);
    uint64_t most = slice_ns(context), change = sim_settings()->switch_ns, lost = 0;
    if (change) {
        uint64_t asked = sim_rm_slice_micros(context->group) * 1000;
        bool changes = sim_state_changes_user(gpu, operation->until_ns);
        lost = changes ? change : 0;
        most = changes || asked > most ? asked : most;
    }
    uint64_t slice = operation->left_ns < most ? operation->left_ns : most;
    operation->left_ns -= slice;
    operation->booked_ns = slice;
    operation->until_ns = sim_state_reserve(gpu, operation->until_ns, lost + slice);
    if (!operation->begin_ns) operation->begin_ns = operation->until_ns - slice;
}

/* Advances the head of one stream. True: it advanced; otherwise *wake_ns is lowered to the time to look again. */
static bool advance(CUstream stream, uint64_t now, uint64_t *wake_ns) {
    sim_operation_t *operation = stream->first;
    if (!operation || operation->running) return false;
    if (!operation->begun) {
        if (!is_ordered(stream)) return false;
        if (!is_ready(operation)) {
            if (is_to_be_polled(&operation->work) && now + POLL_NS < *wake_ns) *wake_ns = now + POLL_NS;
            return false;
        }
        operation->begun = true;
        bool waited = operation->work.kind == SIM_WORK_WAIT_VALUE || operation->work.kind == SIM_WORK_WAIT_EVENT;
        operation->until_ns = waited ? now : operation->submitted_ns;
        if (stream->idle_since_ns > operation->until_ns) operation->until_ns = stream->idle_since_ns;
    }
    if (operation->until_ns > now) {
        if (operation->until_ns < *wake_ns) *wake_ns = operation->until_ns;
        return false;
    }
    if (operation->booked_ns && operation->work.kind == SIM_WORK_KERNEL) sim_kernel_progress(&operation->work, operation->left_ns);
    if (sim_rm_is_disabled(stream->context->group)) {
        operation->until_ns = now; /* the time until it goes on is not its own */
        if (now + DISABLED_NS < *wake_ns) *wake_ns = now + DISABLED_NS;
        return false;
    }
    if (operation->left_ns) return book(stream, operation), true;
    if (!sim_on_engine_thread && is_for_engine(&operation->work)) return false;
    operation->running = true;
    sim_unlock();
    CUresult result = apply(operation);
    sim_lock();
    if (sim_has_ended()) return true;
    if (result && !stream->context->error) stream->context->error = result;
    finish(stream, operation);
    if (!sim_on_engine_thread) wake(); /* it found nothing to wait for in this stream meanwhile, and may sleep */
    return true;
}

static void cut(CUstream stream, uint64_t now) {
    sim_operation_t *operation = stream->first;
    if (!operation || !operation->begun || operation->running || operation->until_ns <= now) return;
    uint64_t rest = operation->until_ns - now < operation->booked_ns ? operation->until_ns - now : operation->booked_ns;
    sim_state_cut(sim_device_gpu(stream->context->device), operation->until_ns, rest);
    operation->left_ns += rest;
    operation->until_ns -= rest;
    operation->booked_ns = 0;
}

void sim_work_cut(int group) {
    uint64_t now = sim_state_now();
    for (unsigned i = 0; i < active_count; i++) {
        CUcontext context = active[i];
        if (!context->alive || context->group != group) continue;
        if (context->legacy) cut(context->legacy, now);
        for (CUstream stream = context->streams; stream; stream = stream->next) cut(stream, now);
    }
}

static bool advance_all(uint64_t *wake_ns) {
    for (unsigned i = 0; i < active_count; i++) {
        CUcontext context = active[i];
        if (context->legacy && advance(context->legacy, sim_state_now(), wake_ns)) return true;
        for (CUstream stream = context->streams; stream; stream = stream->next)
            if (advance(stream, sim_state_now(), wake_ns)) return true;
    }
    return false;
}

/* A program's own function is due on some stream. */
static bool wants_engine(void) {
    for (unsigned i = 0; i < active_count; i++) {
        CUcontext context = active[i];
        if (context->legacy && context->legacy->first && is_for_engine(&context->legacy->first->work)) return true;
        for (CUstream stream = context->streams; stream; stream = stream->next)
            if (stream->first && is_for_engine(&stream->first->work)) return true;
    }
    return false;
}

void sim_work_catch_up(void) {
    uint64_t wake_ns = UINT64_MAX;
    while (pending && !sim_has_ended() && advance_all(&wake_ns)) continue;
}

static void *engine(void *unused) {
    prctl(PR_SET_TIMERSLACK, 1000);
    prctl(PR_SET_NAME, "sluice-sim");
    sim_on_engine_thread = true;
    sim_lock();
    thread_id = gettid();
    for (bool rested = false; !sim_has_ended();) {
        uint64_t wake_ns = UINT64_MAX, rest_ns = sim_state_now() + REST_NS;
        if (advance_all(&wake_ns)) {
            rested = false;
            continue;
        }
        if (!waiters && (wake_ns < rest_ns || (wake_ns == UINT64_MAX && !rested))) wake_ns = rest_ns;
        asleep = wake_ns > rest_ns;
        if (wake_ns == UINT64_MAX) {
            pthread_cond_wait(&changed, sim_mutex());
        } else {
            struct timespec until = {(time_t)(wake_ns / 1000000000u), (long)(wake_ns % 1000000000u)};
            pthread_cond_timedwait(&changed, sim_mutex(), &until);
        }
        rested = !asleep;
        asleep = false;
    }
    sim_unlock();
    return unused;
}

bool sim_work_is_done(void) { return pending == 0; }

CUresult sim_work_thread(pid_t *id) {
    if (!started) SIM_TRY(start());
    while (!thread_id) rest();
    *id = thread_id;
    return CUDA_SUCCESS;
}

static bool context_is_busy(CUcontext context, uint64_t last) {
    if (context->legacy && context->legacy->first && context->legacy->first->sequence <= last) return true;
    for (CUstream stream = context->streams; stream; stream = stream->next)
        if (stream->first && stream->first->sequence <= last) return true;
    return false;
}

bool sim_stream_is_idle(CUstream stream) {
    if (!stream->legacy) return !stream->first;
    for (CUstream other = stream->context->streams; other; other = other->next)
        if (!(other->flags & 1) && other->first) return false;
    return !stream->first;
}

CUresult sim_stream_wait(CUstream stream) {
    uint64_t last = sequence;
    CUcontext context = stream->context;
    while (stream->first && stream->first->sequence <= last && context->alive) wait_for_progress();
    sim_pool_settle(context->device);
    return context->error;
}

CUresult sim_context_drain(CUcontext context) {
    uint64_t last = sequence;
    while (pending && context_is_busy(context, last)) wait_for_progress();
    sim_pool_settle(context->device);
    return context->error;
}

/* Waiting for the legacy stream is waiting for every blocking stream too. */
CUresult sim_legacy_wait(CUstream legacy) {
    CUcontext context = legacy->context;
    if (sim_stream_is_idle(legacy)) return sim_stream_wait(legacy);
    SIM_TRY(sim_work_queue(legacy, &(sim_work_t){.kind = SIM_WORK_EMPTY}));
    return context->alive ? sim_stream_wait(legacy) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult sim_event_wait(CUevent event, uint64_t recording) {
    event->pending++;
    while (sim_event_completed(event) < recording) {
        if (event->shared) rest();
        else wait_for_progress();
    }
    CUresult result = event->context->error;
    sim_pool_settle(event->context->device);
    sim_event_forget(event);
    return result;
}

CUresult sim_work_run(CUstream stream, const sim_work_t *work) {
    SIM_TRY(sim_work_queue(stream, work));
    return sim_stream_wait(stream);
}
