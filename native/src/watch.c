/* watch: every call of the program is counted in the region, and told to who asked for more.
 *
 * A thread counts in a stripe of the region that it takes on its first call as a part of a tenant, and keeps. Nobody else writes
 * there, so a sum is a load and a store: an instruction that locks the bus would wait until the GPU has got what the driver just
 * wrote to it (seen on an H200: 100 ns after each launch). Threads that find no free stripe share the first one. */
#define _GNU_SOURCE
#include "watch.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda_entries.h"
#include "profile.h"
#include "os.h"
#include "tenant.h"
#include "trace.h"

#define STRIPES SL_REGION_TRAFFIC_COUNT
#define STRIPE_CALLS (SL_REGION_CALL_COUNT / STRIPES)
_Static_assert(SL_ENTRY_COUNT <= STRIPE_CALLS, "one record for each entry point in each stripe");

SL_HOT_DATA _Atomic unsigned sl_watch_sinks = SL_SINK_NO_COUNTER;

static __thread __attribute__((tls_model("initial-exec"))) struct {
    sl_region_call_t *calls; /* NULL: not a part of a tenant, as far as this thread has seen */
    sl_region_traffic_t *traffic;
    bool shared;
} place;

static void take_place(const sl_region_t *region, unsigned stripe) {
    place.shared = stripe == 0;
    place.traffic = &region->traffic[stripe];
    place.calls = &region->calls[stripe * STRIPE_CALLS];
}

static const _Atomic uint32_t no_epoch = 1;
static struct {
    const _Atomic uint32_t *_Atomic now; /* of the tenant's limits */
    _Atomic uint32_t seen;
} epoch = {&no_epoch, 1};

void sl_watch_switch(unsigned sink, bool on) {
    if (on)
        atomic_fetch_or(&sl_watch_sinks, sink);
    else
        atomic_fetch_and(&sl_watch_sinks, ~sink);
}

void sl_watch_start(void) {
    sl_profile_start();
}

void sl_watch_forget(void) {
    if (place.calls)
        take_place(&sl_tenant.region, 0); /* the other one is the parent's */
    sl_clock_forget();
    sl_trace_forget();
    sl_profile_forget();
}

static void decide(void) {
    int saved = errno;
    const _Atomic uint32_t *limits_epoch = &sl_tenant.region.limits->epoch;
    atomic_store(&epoch.seen, atomic_load_explicit(limits_epoch, memory_order_acquire));
    atomic_store(&epoch.now, limits_epoch);
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

/* A thread is a process to /proc. Where it cannot be read there is no stripe for it alone. */
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
    if (atomic_load_explicit(&epoch.now, memory_order_relaxed) == &no_epoch)
        decide();
    if (!same_entries(region))
        return false;
    int saved = errno;
    unsigned stripe = take_stripe(region->traffic);
    errno = saved;
    take_place(region, stripe);
    return true;
}

static inline void add(_Atomic uint64_t *sum, uint64_t value) {
    if (SL_UNLIKELY(place.shared))
        atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
    else
        atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + value, memory_order_relaxed);
}

static inline bool has_failed(int status) {
    return status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY;
}

static inline bool limits_have_changed(void) {
    const _Atomic uint32_t *limits_epoch = atomic_load_explicit(&epoch.now, memory_order_relaxed);
    return atomic_load_explicit(limits_epoch, memory_order_relaxed) != atomic_load_explicit(&epoch.seen, memory_order_relaxed);
}

static __attribute__((noinline)) void count_rare(sl_region_call_t *call, uint64_t nanos, int status) {
    uint64_t longest = atomic_load_explicit(&call->longest_nanos, memory_order_relaxed);
    while (nanos > longest && !atomic_compare_exchange_weak_explicit(&call->longest_nanos, &longest, nanos, memory_order_relaxed,
                                                                     memory_order_relaxed))
        ;
    if (has_failed(status))
        add(&call->failed, 1);
}

static inline void count_bytes(unsigned entry, int status, uint64_t bytes, unsigned direction) {
    if (!bytes || status != CUDA_SUCCESS)
        return;
    add(&place.calls[entry].bytes, bytes);
    if (direction != SL_DIRECTION_NONE)
        add(&place.traffic->to_gpu_bytes + (direction - SL_DIRECTION_TO_GPU), bytes);
}

/* Calls nobody in the ordinary case, so that nothing has to be saved. */
static inline void count(uint64_t begin, uint64_t end, unsigned entry, int status) {
    uint64_t nanos = sl_clock_nanos(end > begin ? end - begin : 0);
    sl_region_call_t *call = &place.calls[entry];
    add(&call->calls, 1);
    add(&call->nanos, nanos);
    bool longer = nanos > atomic_load_explicit(&call->longest_nanos, memory_order_relaxed);
    if (SL_UNLIKELY(longer || status != CUDA_SUCCESS))
        count_rare(call, nanos, status);
}

static inline bool is_ready(uint64_t end) {
    return place.calls && end < atomic_load_explicit(&sl_clock_next_look, memory_order_relaxed);
}

/* Whether the tenant's limits ask for a trace is seen when the clock is looked at, so that a call need not read them. */
static bool make_ready(uint64_t end) {
    bool counts = atomic_load_explicit(&sl_clock_counts, memory_order_relaxed);
    bool late = end >= atomic_load_explicit(&sl_clock_next_look, memory_order_relaxed);
    if (counts && late)
        sl_clock_look();
    if ((!counts || late) && limits_have_changed())
        decide();
    if (!place.calls && atomic_load(&sl_watch_sinks) & SL_SINK_PROFILE)
        sl_tenant_attach(); /* its sums are those of the tenant, look-ups before cuInit included */
    return place.calls || find_place();
}

/* The first call of a thread as a part of its tenant. Where that is the call that attached the process, the trace could not
 * ask for it before; where it is the one that found the driver, nor could the profile. */
static __attribute__((noinline, cold)) void end_slowly(uint64_t begin, uint64_t end, unsigned entry, int status, uint64_t bytes,
                                                       unsigned direction) {
    unsigned before = atomic_load(&sl_watch_sinks);
    sl_watch_detail_t detail = {.bytes = bytes, .direction = (uint8_t)direction};
    if (make_ready(end)) {
        count(begin, end, entry, status);
        count_bytes(entry, status, bytes, direction);
    }
    unsigned sinks = atomic_load(&sl_watch_sinks);
    if (sinks & ~before & SL_SINK_TRACE)
        sl_trace_call(entry, begin, end, status, &detail);
    if (sinks & SL_SINK_PROFILE)
        sl_profile_call(entry, begin, end, status, &detail);
}

SL_HOT void sl_watch_end(uint64_t begin, unsigned entry, int status) {
    uint64_t end = sl_clock_counter();
    if (SL_UNLIKELY(!is_ready(end)))
        return end_slowly(begin, end, entry, status, 0, SL_DIRECTION_NONE);
    count(begin, end, entry, status);
}

SL_HOT void sl_watch_end_bytes(uint64_t begin, unsigned entry, int status, uint64_t bytes) {
    sl_watch_end_copy(begin, entry, status, bytes, SL_DIRECTION_NONE);
}

SL_HOT void sl_watch_end_copy(uint64_t begin, unsigned entry, int status, uint64_t bytes, unsigned direction) {
    uint64_t end = sl_clock_counter();
    if (SL_UNLIKELY(!is_ready(end)))
        return end_slowly(begin, end, entry, status, bytes, direction);
    count_bytes(entry, status, bytes, direction);
    count(begin, end, entry, status);
}

void sl_watch_tell(uint64_t begin, unsigned entry, int status, const sl_watch_detail_t *detail) {
    uint64_t end = sl_clock_ticks();
    if (make_ready(end)) {
        count(begin, end, entry, status);
        count_bytes(entry, status, detail->bytes, detail->direction);
    }
    unsigned sinks = atomic_load_explicit(&sl_watch_sinks, memory_order_relaxed);
    if (sinks & SL_SINK_TRACE)
        sl_trace_call(entry, begin, end, status, detail);
    if (sinks & SL_SINK_PROFILE)
        sl_profile_call(entry, begin, end, status, detail);
    if (sinks & SL_SINK_NO_COUNTER && atomic_load(&sl_clock_counts))
        sl_watch_switch(SL_SINK_NO_COUNTER, false);
}
