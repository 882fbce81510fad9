/* trace: records the calls of each thread and their results, on demand.
 *
 * A trace never changes after it has begun. With another setting, or in the child of a fork, another trace begins, and each thread that
 * sees it makes another ring. Making a ring takes a lock and a system call; writing to it takes neither. */
#define _GNU_SOURCE
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "costs/cost.h"
#include "costs/sample.h"
#include "tenant/gpu.h"
#include "trace/names.h"
#include "os/fork.h"
#include "os/os.h"
#include "trace/recorded.h"
#include "trace/ring.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"
#include "trace/trace_quick.h"
#include "os/mutex.h"

/* Before glibc 2.34 these are in libpthread, which a program without threads need not have: then no thread ends. */
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
#if defined __x86_64__
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");
#endif

#define MOST_RINGS 256           /* chosen: threads that record at a time */
#define CLOCK_EVENTS 1024        /* chosen: one event of 1024 at most is a clock event, */
#define CLOCK_NANOS 100000000ull /* and one comes every 0.1 s at least while the thread records */
#define RING_EVENTS (1u << 17)   /* chosen: 8 MiB for a thread, which a recorder empties */
#define SPOOL_EVENTS (1u << 24)  /* chosen: 1 GiB for a thread, which grows as it is written */
#define LEAST_EVENTS 64u
#define UNKNOWN_GPU 255u
#define MEMORY_CHANGED (1u << 8)

static sl_mutex_t lock = SL_MUTEX_INITIALIZER; /* guards the variables below; sl_trace_recorded is also loaded without it */
SL_HOT_DATA sl_recorded_t *_Atomic sl_trace_recorded;
static sl_recorded_settings_t settings;
static sl_trace_thread_t *threads[MOST_RINGS];
static _Atomic bool undecided; /* after a fork */
static pthread_key_t key;
static bool has_key;

bool sl_trace_is_wanted(void) {
    return sl_tenant.trace_directory[0] || (sl_tenant.region.base && sl_tenant.region.limits->trace);
}

static sl_recorded_settings_t read_settings(void) {
    sl_recorded_settings_t next = {.mode = 0};
    const sl_region_limits_t *limits = sl_tenant.region.base ? sl_tenant.region.limits : NULL;
    uint64_t until = limits ? limits->trace_until_nanos : 0;
    if (limits && limits->trace && (!until || until > sl_os_nanos())) {
        next = (sl_recorded_settings_t){limits->trace, limits->trace_events, limits->trace_generation, ""};
        memcpy(next.directory, limits->trace_directory, sizeof limits->trace_directory);
        next.directory[sizeof next.directory - 1] = 0;
    } else if (sl_tenant.trace_directory[0]) {
        next.mode = SL_TRACE_MODE_SPOOL;
        strcpy(next.directory, sl_tenant.trace_directory);
    }
    if (next.mode != SL_TRACE_MODE_RING)
        next.mode = next.mode ? SL_TRACE_MODE_SPOOL : 0;
    uint32_t events = next.events ? next.events : next.mode == SL_TRACE_MODE_RING ? RING_EVENTS : SPOOL_EVENTS;
    events = events < LEAST_EVENTS ? LEAST_EVENTS : events > 1u << 30 ? 1u << 30 : events;
    next.events = 1u << (31 - __builtin_clz(events));
    return next;
}

/* With the lock held. */
static void end_trace(void) {
    for (unsigned i = 0; i < MOST_RINGS; i++)
        if (threads[i])
            sl_ring_close(&threads[i]->ring, SL_TRACE_CLOSED_TRACE);
    atomic_store(&sl_trace_recorded, NULL);
}

void sl_trace_decide(void) {
    int saved = errno;
    sl_reason_t reason;
    sl_recorded_settings_t next = read_settings();
    sl_mutex_lock(&lock);
    bool same = next.mode == settings.mode && next.events == settings.events && next.generation == settings.generation &&
                strcmp(next.directory, settings.directory) == 0;
    if (!same || atomic_exchange(&undecided, false)) {
        end_trace();
        settings = next;
        if (sl_tenant.trace_directory[0] && strcmp(next.directory, sl_tenant.trace_directory) == 0 && mkdir(sl_tenant.trace_directory, 0700) == 0)
            chmod(sl_tenant.trace_directory, 0700); /* whatever the umask is */
        sl_recorded_t *begun = next.mode ? sl_recorded_begin(&next, &reason) : NULL;
        if (next.mode && !begun)
            sl_report(SL_WARN, "%s; nothing is recorded", reason.text);
        atomic_store(&sl_trace_recorded, begun);
        sl_sink_switch(SL_SINK_TRACE, begun != NULL);
    }
    sl_mutex_unlock(&lock);
    errno = saved;
}

static void write_event(sl_trace_thread_t *thread, sl_trace_event_t what) {
    sl_trace_event_t *event = sl_ring_take(&thread->ring);
    if (!event)
        return;
    *event = what;
    sl_ring_put(&thread->ring, event, thread->ring.head);
}

/* Both clocks at the same time, unless the thread is interrupted in between. */
static void tell_time(sl_trace_thread_t *thread) {
    uint64_t best = UINT64_MAX, ticks = 0, nanos = 0, wall = 0;
    for (int i = 0; i < 3 && best > 2000; i++) {
        uint64_t before = sl_clock_ticks(), then = sl_os_nanos(), after = sl_clock_ticks();
        if (after - before >= best)
            continue;
        best = after - before;
        ticks = before + best / 2;
        nanos = then;
        wall = sl_os_wall_nanos();
    }
    thread->clock_ticks = ticks + (CLOCK_NANOS << 32) / atomic_load(&sl_clock_scale);
    thread->clock_head = thread->ring.head + CLOCK_EVENTS;
    if (sl_ring_has_room(&thread->ring))
        write_event(thread, (sl_trace_event_t){.begin_ticks = ticks, .end_ticks = ticks, .kind = SL_TRACE_KIND_CLOCK, .a = nanos, .b = wall});
    const sl_region_limits_t *limits = sl_tenant.region.base ? sl_tenant.region.limits : NULL;
    uint64_t until = limits && limits->trace ? limits->trace_until_nanos : 0;
    if (until && until <= nanos)
        sl_trace_decide();
}

static uint32_t thousandths(double of, double whole) {
    double part = whole > 0 ? 1000 * of / whole : 0;
    return part < 0 ? 0 : part > 32767 ? 32767 : (uint32_t)(part + 0.5);
}

static void tell_cost(sl_trace_thread_t *thread, sl_trace_cost_t *cost) {
    sl_sample_t sample;
    sl_sample_kind_t kind = sl_sample_read(cost->cost, &sample);
    if (kind == SL_SAMPLE_NONE || !sl_ring_has_room(&thread->ring))
        return;
    uint64_t ticks = sl_clock_ticks(), nanos = (uint64_t)sample.likely;
    write_event(thread, (sl_trace_event_t){
        .begin_ticks = ticks, .end_ticks = ticks, .kind = SL_TRACE_KIND_COST, .stream = cost->blocks, .a = cost->name, .b = nanos,
        .entry = kind == SL_SAMPLE_ALONE ? SL_TRACE_SAMPLE_ALONE : SL_TRACE_SAMPLE_BOUND,
        .status = (int32_t)(thousandths(sample.likely - sample.least, sample.likely) | thousandths(sample.most - sample.likely, sample.likely) << 16),
        .c = cost->launches, .d = cost->threads | (uint64_t)thread->gpu << 56});
    cost->told_nanos = nanos;
    cost->told_bound = kind == SL_SAMPLE_BOUND;
    cost->launches = 0;
}

static void tell_costs(sl_trace_thread_t *thread) {
    thread->owes_costs = false;
    for (unsigned i = 0; i < SL_TRACE_COSTS; i++)
        if (thread->costs[i].launches)
            tell_cost(thread, &thread->costs[i]);
}

static void forget_thread(sl_trace_thread_t *thread) {
    for (unsigned i = 0; i < MOST_RINGS; i++)
        if (threads[i] == thread)
            threads[i] = NULL;
}

/* The first ring of a process stays mapped: other threads count there the events that they cannot record. */
static void end_thread(sl_trace_thread_t *thread, uint32_t why) {
    sl_mutex_lock(&lock);
    forget_thread(thread);
    sl_mutex_unlock(&lock);
    sl_ring_close(&thread->ring, why);
    sl_ring_shorten(&thread->ring);
    if (atomic_load(&thread->trace->strays) == &sl_ring_process(&thread->ring)->strays)
        return;
    munmap(thread->ring.base, thread->ring.mapped_bytes);
    free(thread);
}

static void on_exit_of_thread(void *thread) {
    int saved = errno;
    if (sl_thread.trace.thread == thread)
        sl_thread.trace.thread = NULL;
    tell_costs(thread);
    tell_time(thread);
    end_thread(thread, SL_TRACE_CLOSED_THREAD);
    errno = saved;
}

/* With the lock held. NULL: the calls of this thread are counted, not recorded. */
static sl_trace_thread_t *make_thread(sl_recorded_t *trace) {
    sl_reason_t reason;
    unsigned place = 0;
    while (place < MOST_RINGS && threads[place])
        place++;
    sl_trace_thread_t *thread = place < MOST_RINGS ? aligned_alloc(SL_TRACE_LINE_BYTES, sizeof *thread) : NULL;
    if (!thread)
        return NULL;
    memset(thread, 0, sizeof *thread);
    sl_ring_draft_t draft = {trace->settings.directory, trace->process, trace->settings.mode, trace->settings.generation,
                             trace->settings.events, sl_tenant.self.identity};
    if (!sl_ring_make(&thread->ring, &draft, &reason)) {
        sl_report(SL_WARN, "%s; calls of this thread are not recorded", reason.text);
        free(thread);
        return NULL;
    }
    thread->trace = trace;
    thread->entry = -1;
    thread->gpu = UNKNOWN_GPU;
    sl_recorded_ring(trace, &thread->ring);
    return threads[place] = thread;
}

static __attribute__((noinline, cold)) sl_trace_thread_t *begin_thread(void) {
    int saved = errno;
    if (atomic_load(&undecided))
        sl_trace_decide();
    sl_trace_thread_t *old = sl_thread.trace.thread, *thread = NULL;
    sl_thread.trace.thread = NULL;
    if (old)
        end_thread(old, SL_TRACE_CLOSED_TRACE);
    sl_mutex_lock(&lock);
    sl_recorded_t *trace = sl_thread.trace.trace = atomic_load(&sl_trace_recorded);
    has_key = has_key || (pthread_key_create && pthread_setspecific && pthread_key_create(&key, on_exit_of_thread) == 0);
    if (trace)
        thread = sl_thread.trace.thread = make_thread(trace);
    sl_mutex_unlock(&lock);
    if (has_key)
        pthread_setspecific(key, thread);
    if (thread)
        tell_time(thread);
    errno = saved;
    return thread;
}

static inline sl_trace_thread_t *current(void) {
    sl_recorded_t *trace = atomic_load_explicit(&sl_trace_recorded, memory_order_acquire);
    sl_trace_thread_t *thread = SL_UNLIKELY(sl_thread.trace.trace != trace || !trace) ? begin_thread() : sl_thread.trace.thread;
    if (SL_UNLIKELY(!thread)) {
        if (sl_thread.trace.trace)
            atomic_fetch_add_explicit(atomic_load(&sl_thread.trace.trace->strays), 1, memory_order_relaxed);
        return NULL;
    }
    return thread;
}

/* The number of a GPU as nvidia-smi shows it. Writes the line of the GPU at its first use. */
static unsigned number_of(const sl_trace_thread_t *thread, unsigned gpu) {
    if (gpu >= SL_REGION_GPU_COUNT)
        return UNKNOWN_GPU;
    sl_recorded_gpu(thread->trace, gpu);
    int index = sl_tenant.region.gpus[gpu].index;
    return index >= 0 && index < (int)UNKNOWN_GPU ? (unsigned)index : UNKNOWN_GPU;
}

static inline void see_gpu(sl_trace_thread_t *thread, int gpu) {
    if (gpu < 0 || gpu == thread->entry)
        return;
    thread->entry = (int16_t)gpu;
    thread->gpu = (uint8_t)number_of(thread, (unsigned)gpu);
}

static inline void keep_time(sl_trace_thread_t *thread, uint64_t ticks) {
    if (SL_UNLIKELY(ticks > thread->clock_ticks || thread->ring.head >= thread->clock_head)) {
        if (thread->owes_costs)
            tell_costs(thread);
        see_gpu(thread, sl_thread.gpu);
        tell_time(thread);
    }
}

static unsigned threads_of(const sl_detail_t *detail) {
    return detail->block[0] * detail->block[1] * detail->block[2];
}

static void begin_cost(sl_trace_thread_t *thread, sl_trace_cost_t *cost, uint64_t key, const sl_detail_t *detail, bool launched) {
    uint64_t name = sl_names_kernel(&thread->trace->names, detail->function, launched);
    if (cost->launches)
        tell_cost(thread, cost);
    *cost = (sl_trace_cost_t){.key = launched ? key : 0, .name = name, .cost = sl_cost_find(key),
                              .blocks = (uint64_t)detail->grid[0] * detail->grid[1] * detail->grid[2], .threads = (uint16_t)threads_of(detail)};
}

/* After code was unloaded, the driver may use its handles for other code. */
static inline void look_for_unloads(sl_trace_thread_t *thread) {
    uint64_t unloads = sl_names_unloads();
    if (SL_UNLIKELY(thread->unloads != unloads))
        for (unsigned i = 0; i < SL_TRACE_COSTS; i++)
            thread->costs[i].key = 0;
    thread->unloads = unloads;
}

/* The place of what is launched, with its name. May write to the ring. */
static sl_trace_cost_t *find_cost(sl_trace_thread_t *thread, const sl_detail_t *detail, bool launched) {
    look_for_unloads(thread);
    uint64_t key = sl_cost_kernel_key((CUfunction)(uintptr_t)detail->function, detail->grid[0], detail->grid[1], detail->grid[2], threads_of(detail));
    sl_trace_cost_t *cost = sl_trace_place(thread, key);
    if (cost->key != key)
        begin_cost(thread, cost, key, detail, launched);
    return cost;
}

/* A trace gets the known cost of a launch again when it has changed by an eighth. */
static void count_launch(sl_trace_thread_t *thread, sl_trace_cost_t *cost) {
    sl_sample_t sample;
    sl_sample_kind_t kind = sl_sample_read(cost->cost, &sample);
    uint64_t nanos = (uint64_t)sample.likely, told = cost->told_nanos;
    cost->launches++;
    cost->seen_nanos = atomic_load_explicit(&cost->cost->nanos, memory_order_relaxed);
    if (nanos - told + told / 8 > told / 4 || cost->told_bound != (kind == SL_SAMPLE_BOUND))
        tell_cost(thread, cost);
    thread->owes_costs |= kind == SL_SAMPLE_NONE;
}

/* Until when calls may take the short path. Never while another sink is on, or while other threads count in the same place. */
static void expect_more(sl_trace_thread_t *thread) {
    uint64_t look = atomic_load_explicit(&sl_clock_next_look, memory_order_relaxed), head = thread->clock_head, limit = thread->ring.limit;
    bool usual = sl_thread.watch.calls && !sl_thread.watch.shared && atomic_load_explicit(&sl_sink_on, memory_order_relaxed) == SL_SINK_TRACE;
    thread->next_ticks = thread->clock_ticks < look ? thread->clock_ticks : look;
    thread->next_head = !usual ? 0 : head < limit ? head : limit;
}

static void write_kernel(sl_trace_thread_t *thread, unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status,
                         const sl_detail_t *detail) {
    sl_trace_cost_t *cost = find_cost(thread, detail, status == CUDA_SUCCESS);
    sl_trace_event_t *event = sl_ring_take(&thread->ring);
    if (!event)
        return;
    sl_trace_fill_call(event, SL_TRACE_KIND_KERNEL, entry, begin_ticks, end_ticks, status, detail->stream);
    sl_trace_fill_kernel(event, thread, cost->name, detail->grid[0], detail->grid[1], detail->grid[2], detail->block[0], detail->block[1],
                         detail->block[2], detail->shared_bytes);
    sl_ring_put(&thread->ring, event, thread->ring.head);
    if (status == CUDA_SUCCESS)
        count_launch(thread, cost);
}

static void write_call(sl_trace_thread_t *thread, int gpu, unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status,
                       const sl_detail_t *detail) {
    if (thread->owes_costs && detail->kind == SL_DETAIL_SYNC)
        tell_costs(thread);
    sl_trace_event_t *event = sl_ring_take(&thread->ring);
    if (SL_UNLIKELY(!event))
        return;
    sl_trace_fill_call(event, SL_TRACE_KIND_CALL, entry, begin_ticks, end_ticks, status, detail->stream);
    event->a = detail->bytes;
    event->b = 0;
    event->c = detail->direction;
    event->d = thread->gpu;
    if (detail->kind == SL_DETAIL_MEMORY && gpu >= 0 && status == CUDA_SUCCESS) {
        event->b = sl_accounts_used((unsigned)gpu);
        event->c |= MEMORY_CHANGED;
    }
    sl_ring_put(&thread->ring, event, thread->ring.head);
}

SL_HOT void sl_trace_call(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status, const sl_detail_t *detail) {
    sl_trace_thread_t *thread = current();
    if (!thread)
        return;
    keep_time(thread, end_ticks);
    int gpu = detail->kind == SL_DETAIL_MEMORY ? sl_gpu_current() : detail->kind != SL_DETAIL_NONE ? sl_thread.gpu : -1;
    see_gpu(thread, gpu);
    if (detail->kind == SL_DETAIL_KERNEL)
        write_kernel(thread, entry, begin_ticks, end_ticks, status, detail);
    else
        write_call(thread, gpu, entry, begin_ticks, end_ticks, status, detail);
    expect_more(thread);
}

void sl_trace_wait(unsigned reason, uint64_t begin, unsigned gpu) {
    sl_trace_thread_t *thread = begin && sl_trace_is_on() ? current() : NULL;
    if (!thread)
        return;
    write_event(thread, (sl_trace_event_t){.begin_ticks = begin, .end_ticks = sl_clock_ticks(), .kind = SL_TRACE_KIND_WAIT,
                                           .a = reason, .d = number_of(thread, gpu)});
}

void sl_trace_turn(uint64_t begin, uint64_t end, unsigned gpu) {
    sl_trace_thread_t *thread = begin && sl_trace_is_on() ? current() : NULL;
    if (!thread)
        return;
    write_event(thread, (sl_trace_event_t){.begin_ticks = begin, .end_ticks = end > begin ? end : begin,
                                           .kind = SL_TRACE_KIND_TURN, .d = number_of(thread, gpu)});
}

uint64_t sl_trace_ticks_at(uint64_t nanos) {
    uint64_t ticks = sl_clock_ticks();
    int64_t ago = (int64_t)(sl_os_nanos() - nanos);
    if (ticks >= atomic_load_explicit(&sl_clock_next_look, memory_order_relaxed))
        sl_clock_look();
    double scale = (double)atomic_load_explicit(&sl_clock_scale, memory_order_relaxed) / 4294967296.0;
    return ticks - (uint64_t)(int64_t)((double)ago / scale);
}

void sl_trace_batch(unsigned gpu, uint64_t begin_nanos, uint64_t end_nanos, unsigned calls, uint64_t charged_nanos, uint64_t doubt_nanos) {
    sl_trace_thread_t *thread = sl_trace_is_on() ? current() : NULL;
    if (!thread)
        return;
    uint64_t begin = sl_trace_ticks_at(begin_nanos), end = sl_trace_ticks_at(end_nanos);
    write_event(thread, (sl_trace_event_t){.begin_ticks = begin, .end_ticks = end > begin ? end : begin,
                                           .kind = SL_TRACE_KIND_BATCH, .a = calls, .b = charged_nanos, .c = doubt_nanos,
                                           .d = number_of(thread, gpu)});
}

const void *sl_trace_now(void) {
    return atomic_load_explicit(&sl_trace_recorded, memory_order_acquire);
}

uint64_t sl_trace_name(const char *text) {
    const sl_recorded_t *trace = atomic_load_explicit(&sl_trace_recorded, memory_order_acquire);
    return trace ? sl_names_text(&trace->names, text) : 0;
}

void sl_trace_range(uint64_t begin, uint64_t name, uint64_t domain, unsigned depth, bool nested) {
    uint64_t end = sl_clock_ticks();
    sl_trace_thread_t *thread = current();
    if (!thread)
        return;
    keep_time(thread, end);
    write_event(thread, (sl_trace_event_t){.begin_ticks = begin, .end_ticks = end, .kind = SL_TRACE_KIND_RANGE, .a = name, .b = depth,
                                           .c = domain, .d = !nested});
}

void sl_trace_mark(uint64_t name, uint64_t domain) {
    uint64_t ticks = sl_clock_ticks();
    sl_trace_thread_t *thread = current();
    if (!thread)
        return;
    keep_time(thread, ticks);
    write_event(thread, (sl_trace_event_t){.begin_ticks = ticks, .end_ticks = ticks, .kind = SL_TRACE_KIND_MARK, .a = name, .c = domain});
}

void sl_trace_unloaded(void) {
    sl_names_unloaded();
}

/* The rings belong to the parent. Half-done work of its other threads is forgotten. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    for (unsigned i = 0; i < MOST_RINGS; i++) {
        if (threads[i] && threads[i]->ring.base)
            munmap(threads[i]->ring.base, threads[i]->ring.mapped_bytes);
        threads[i] = NULL;
    }
    if (has_key)
        pthread_setspecific(key, NULL);
    sl_thread.trace.thread = NULL;
    sl_thread.trace.trace = NULL;
    atomic_store(&undecided, atomic_exchange(&sl_trace_recorded, NULL) != NULL);
}
SL_FORK_FORGETS(forget);

/* Records the events that the thread that ends the process has not recorded yet. */
static __attribute__((destructor)) void end_process(void) {
    if (sl_thread.trace.thread && sl_trace_is_on()) {
        tell_costs(sl_thread.trace.thread);
        tell_time(sl_thread.trace.thread);
    }
}
