/* watch: counts every call of the program in the region, and passes it to the sinks that are on.
 *
 * A thread takes a stripe of the region with its first call after the process attached to its tenant, and keeps it. No other thread
 * writes there, so an addition is a load and a store. Threads that find no free stripe share stripe 0.
 *
 * Measured on an H200's host: reading the processor's counter before and after a launch costs 60 ns, counting alone less than 10. So
 * the library times only some of the quick calls. */
#define _GNU_SOURCE
#include "entry/watch.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda_entries.h"
#include "driver/driver.h"
#include "trace/profile.h"
#include "os/fork.h"
#include "os/os.h"
#include "tenant/registration.h"
#include "tenant/tenant.h"
#include "trace/trace.h"

#define STRIPES SL_REGION_TRAFFIC_COUNT
#define STRIPE_CALLS (SL_REGION_CALL_COUNT / STRIPES)
_Static_assert(SL_ENTRY_COUNT <= STRIPE_CALLS, "one record for each entry point in each stripe");

static const _Atomic uint32_t no_epoch = 1;
SL_HOT_DATA sl_watch_epoch_t sl_watch_epoch = {&no_epoch, 1};

static void take_place(const sl_region_t *region, unsigned stripe) {
    sl_thread.watch = (sl_thread_watch_t){
        .calls = &region->calls[stripe * STRIPE_CALLS], .traffic = &region->traffic[stripe], .random = stripe, .shared = stripe == 0};
}

void sl_driver_found(void) {
    sl_profile_start();
}

static void forget(void) {
    if (sl_thread.watch.calls)
        take_place(&sl_tenant.region, 0); /* the stripe of this thread belongs to the parent */
}
SL_FORK_FORGETS(forget);

static void decide(void) {
    int saved = errno;
    const _Atomic uint32_t *limits_epoch = &sl_tenant.region.limits->epoch;
    atomic_store(&sl_watch_epoch.seen, atomic_load_explicit(limits_epoch, memory_order_acquire));
    atomic_store(&sl_watch_epoch.now, limits_epoch);
    sl_trace_decide();
    errno = saved;
}

static bool same_entries(const sl_region_t *region) {
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    if (region->header->entries_digest == SL_ENTRY_DIGEST)
        return true;
    if (!atomic_flag_test_and_set(&reported))
        sl_report(SL_WARN, "calls are not counted, because the region was made by a sluice that knows other CUDA functions; use "
                  "the sluice that belongs to the library");
    return false;
}

static bool is_free(uint64_t writer, uint64_t own, bool judged) {
    return !writer || writer == own || (judged && !sl_os_alive(writer, 0));
}

/* /proc shows a thread like a process. A thread that cannot read its entry there shares stripe 0. */
static unsigned take_stripe(sl_region_traffic_t *stripes) {
    sl_os_process_t thread;
    pid_t number = (pid_t)syscall(SYS_gettid);
    if (!sl_os_process(number, &thread))
        return 0;
    uint64_t own = sl_os_identity(number, &thread), namespace = sl_tenant.self.pid_namespace;
    for (unsigned i = 1; i < STRIPES; i++) {
        uint64_t writer = atomic_load(&stripes[i].writer);
        if (is_free(writer, own, stripes[i].pid_namespace == namespace) && atomic_compare_exchange_strong(&stripes[i].writer, &writer, own)) {
            atomic_store(&stripes[i].pid_namespace, namespace);
            return i;
        }
    }
    return 0;
}

static bool find_place(void) {
    if (atomic_load_explicit(&sl_tenant.state, memory_order_acquire) != SL_TENANT_ATTACHED)
        return false;
    const sl_region_t *region = &sl_tenant.region;
    if (atomic_load_explicit(&sl_watch_epoch.now, memory_order_relaxed) == &no_epoch)
        decide();
    if (!same_entries(region))
        return false;
    int saved = errno;
    unsigned stripe = take_stripe(region->traffic);
    errno = saved;
    take_place(region, stripe);
    return true;
}

static inline bool has_failed(int status) {
    return status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY;
}

static __attribute__((noinline)) void note_longest(sl_region_call_t *call, uint64_t nanos) {
    uint64_t longest = atomic_load_explicit(&call->longest_nanos, memory_order_relaxed);
    while (nanos > longest && !atomic_compare_exchange_weak_explicit(&call->longest_nanos, &longest, nanos, memory_order_relaxed,
                                                                     memory_order_relaxed))
        ;
}

static inline void add_time(sl_region_call_t *call, uint64_t ticks, bool sampled) {
    uint64_t nanos = sl_clock_nanos(ticks);
    sl_watch_add(sampled ? &call->sampled_calls : &call->timed_calls, 1);
    sl_watch_add(sampled ? &call->sampled_nanos : &call->timed_nanos, nanos);
    if (SL_UNLIKELY(nanos > atomic_load_explicit(&call->longest_nanos, memory_order_relaxed)))
        note_longest(call, nanos);
}

void sl_watch_count_rare(sl_region_call_t *call, int status) {
    uint64_t held = sl_thread.watch.gated_ticks, now = sl_clock_ticks();
    sl_thread.watch.gated_ticks = 0;
    if (held)
        add_time(call, now > held ? now - held : 0, false);
    if (has_failed(status))
        sl_watch_add(&call->failed, 1);
}

static inline void count_bytes(unsigned entry, int status, uint64_t bytes, unsigned direction) {
    if (!bytes || status != CUDA_SUCCESS)
        return;
    sl_watch_add(&sl_thread.watch.calls[entry].bytes, bytes);
    if (direction != SL_DIRECTION_NONE)
        sl_watch_add(&sl_thread.watch.traffic->to_gpu_bytes + (direction - SL_DIRECTION_TO_GPU), bytes);
}

static inline void count(uint64_t begin, uint64_t end, unsigned entry, int status, bool sampled) {
    sl_region_call_t *call = &sl_thread.watch.calls[entry];
    sl_thread.watch.gated_ticks = 0;
    sl_watch_add(&call->calls, 1);
    add_time(call, end > begin ? end - begin : 0, sampled);
    if (SL_UNLIKELY(has_failed(status)))
        sl_watch_add(&call->failed, 1);
}

/* Whether the call is a sample of quick calls that are not timed. */
static inline bool is_sample(const sl_detail_t *detail) {
    return detail->quick && !sl_thread.watch.gated_ticks;
}

/* The distance to the next timed call is random, so that it never follows a pattern of the program. */
static void choose_next(void) {
    if (sl_thread.watch.untimed)
        return;
    sl_thread.watch.random = sl_thread.watch.random * 1664525u + 1013904223u;
    sl_thread.watch.untimed = 8 + (sl_thread.watch.random >> 28);
}

void sl_watch_sample(sl_region_call_t *call, uint64_t ticks) {
    add_time(call, ticks, true);
    choose_next();
}

static inline bool is_ready(uint64_t end) {
    return sl_thread.watch.calls && end < atomic_load_explicit(&sl_clock_next_look, memory_order_relaxed);
}

static bool make_ready(uint64_t end) {
    bool counts = atomic_load_explicit(&sl_clock_counts, memory_order_relaxed);
    bool late = end >= atomic_load_explicit(&sl_clock_next_look, memory_order_relaxed);
    if (counts && late)
        sl_clock_look();
    if (!counts || late)
        sl_registration_follow();
    if (sl_watch_limits_changed())
        decide();
    if (!sl_thread.watch.calls && atomic_load(&sl_sink_on) & SL_SINK_PROFILE)
        sl_tenant_attach(); /* a profile has the sums of the tenant, with calls before cuInit */
    return sl_thread.watch.calls || find_place();
}

/* The first call of a thread after the process attached. If this call attached the process, it also switched the trace on, so the wrapper
 * gathered no detail for the trace. The same holds for the profile and the call that found the driver. */
static __attribute__((noinline, cold)) void end_slowly(uint64_t begin, uint64_t end, unsigned entry, int status, uint64_t bytes,
                                                       unsigned direction) {
    unsigned before = atomic_load(&sl_sink_on);
    sl_detail_t detail = {.bytes = bytes, .direction = (uint8_t)direction};
    if (make_ready(end)) {
        count(begin, end, entry, status, false);
        count_bytes(entry, status, bytes, direction);
    }
    unsigned sinks = atomic_load(&sl_sink_on);
    if (sinks & ~before & SL_SINK_TRACE)
        sl_trace_call(entry, begin, end, status, &detail);
    if (sinks & SL_SINK_PROFILE)
        sl_profile_call(entry, begin, end, status, &detail);
}

SL_HOT void sl_watch_end(uint64_t begin, unsigned entry, int status) {
    uint64_t end = sl_clock_counter();
    if (SL_UNLIKELY(!is_ready(end)))
        return end_slowly(begin, end, entry, status, 0, SL_DIRECTION_NONE);
    count(begin, end, entry, status, false);
}

SL_HOT void sl_watch_end_bytes(uint64_t begin, unsigned entry, int status, uint64_t bytes) {
    sl_watch_end_copy(begin, entry, status, bytes, SL_DIRECTION_NONE);
}

SL_HOT void sl_watch_end_copy(uint64_t begin, unsigned entry, int status, uint64_t bytes, unsigned direction) {
    uint64_t end = sl_clock_counter();
    if (SL_UNLIKELY(!is_ready(end)))
        return end_slowly(begin, end, entry, status, bytes, direction);
    count_bytes(entry, status, bytes, direction);
    count(begin, end, entry, status, false);
}

static __attribute__((noinline)) void tell_slowly(uint64_t begin, uint64_t end, unsigned entry, int status, const sl_detail_t *detail) {
    if (make_ready(end)) {
        count(begin, end, entry, status, is_sample(detail));
        count_bytes(entry, status, detail->bytes, detail->direction);
        choose_next();
    }
    unsigned sinks = atomic_load_explicit(&sl_sink_on, memory_order_relaxed);
    if (sinks & SL_SINK_TRACE)
        sl_trace_call(entry, begin, end, status, detail);
    if (sinks & SL_SINK_PROFILE)
        sl_profile_call(entry, begin, end, status, detail);
    if (sinks & SL_SINK_NO_COUNTER && atomic_load(&sl_clock_counts))
        sl_sink_switch(SL_SINK_NO_COUNTER, false);
}

/* A trace without any other sink has a short path. */
SL_HOT void sl_watch_tell(uint64_t begin, unsigned entry, int status, const sl_detail_t *detail) {
    uint64_t end = sl_clock_ticks();
    bool traced = atomic_load_explicit(&sl_sink_on, memory_order_relaxed) == SL_SINK_TRACE;
    if (SL_UNLIKELY(!traced || !is_ready(end) || sl_watch_limits_changed()))
        return tell_slowly(begin, end, entry, status, detail);
    count(begin, end, entry, status, is_sample(detail));
    count_bytes(entry, status, detail->bytes, detail->direction);
    choose_next();
    sl_trace_call(entry, begin, end, status, detail);
}

void sl_watch_tell_question_slowly(uint64_t begin_ticks, unsigned entry, int status, uint64_t stream) {
    sl_watch_tell(begin_ticks, entry, status, &(sl_detail_t){.kind = SL_DETAIL_NONE, .quick = true, .stream = stream});
}

void sl_watch_tell_kernel_slowly(unsigned entry, uint64_t begin_ticks, int status, uint64_t stream, uint64_t function, SL_TRACE_SHAPE) {
    sl_watch_tell(begin_ticks, entry, status,
                  &(sl_detail_t){.kind = SL_DETAIL_KERNEL, .quick = true, .stream = stream, .function = function, .grid = {x, y, z},
                                       .block = {block_x, block_y, block_z}, .shared_bytes = shared_bytes});
}
