/* watch: every call of the program is counted in the region, and told to who asked for more.
 *
 * A thread counts in one of the region's stripes, which it finds on its first call as a part of a tenant. A region that was
 * attached stays mapped for as long as the process lives, so the place stays good, also in the child after a fork. */
#include "watch.h"

#include <errno.h>

#include "cuda_entries.h"
#include "profile.h"
#include "tenant.h"
#include "trace.h"

#define STRIPES SL_REGION_TRAFFIC_COUNT
#define STRIPE_CALLS (SL_REGION_CALL_COUNT / STRIPES)
_Static_assert(SL_ENTRY_COUNT <= STRIPE_CALLS, "one record for each entry point in each stripe");

_Atomic unsigned sl_watch_sinks;

static __thread __attribute__((tls_model("initial-exec"))) struct {
    sl_region_call_t *calls; /* NULL: not a part of a tenant, as far as this thread has seen */
    sl_region_traffic_t *traffic;
} place;

static const _Atomic uint32_t no_epoch;
static const _Atomic uint32_t *_Atomic epoch = &no_epoch; /* of the tenant's limits */
static _Atomic uint32_t seen_epoch;

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
    sl_clock_forget();
    sl_trace_forget();
    sl_profile_forget();
}

static void decide(void) {
    int saved = errno;
    const _Atomic uint32_t *limits_epoch = &sl_tenant.region.limits->epoch;
    atomic_store(&seen_epoch, atomic_load_explicit(limits_epoch, memory_order_acquire));
    atomic_store(&epoch, limits_epoch);
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

static bool find_place(void) {
    static _Atomic unsigned threads;
    if (atomic_load_explicit(&sl_tenant.state, memory_order_acquire) != SL_TENANT_ATTACHED)
        return false;
    const sl_region_t *region = &sl_tenant.region;
    if (atomic_load_explicit(&epoch, memory_order_relaxed) == &no_epoch)
        decide();
    if (!same_entries(region))
        return false;
    unsigned stripe = (sl_tenant.slot + atomic_fetch_add(&threads, 1)) % STRIPES;
    place.traffic = &region->traffic[stripe];
    place.calls = &region->calls[stripe * STRIPE_CALLS];
    return true;
}

static inline void add(_Atomic uint64_t *sum, uint64_t value) {
    atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

static void count(uint64_t begin, uint64_t end, unsigned entry, int status) {
    uint64_t nanos = sl_clock_nanos(end > begin ? end - begin : 0, end);
    sl_region_call_t *call = &place.calls[entry];
    add(&call->calls, 1);
    add(&call->nanos, nanos);
    uint64_t longest = atomic_load_explicit(&call->longest_nanos, memory_order_relaxed);
    while (SL_UNLIKELY(nanos > longest) &&
           !atomic_compare_exchange_weak_explicit(&call->longest_nanos, &longest, nanos, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    if (SL_UNLIKELY(status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY))
        add(&call->failed, 1);
    const _Atomic uint32_t *limits_epoch = atomic_load_explicit(&epoch, memory_order_relaxed);
    if (SL_UNLIKELY(atomic_load_explicit(limits_epoch, memory_order_relaxed) !=
                    atomic_load_explicit(&seen_epoch, memory_order_relaxed)))
        decide();
}

/* The call that attached the process ends here first: the trace could not ask for it before. */
static __attribute__((noinline, cold)) bool begin_to_count(uint64_t begin, uint64_t end, unsigned entry, int status) {
    static const sl_watch_detail_t nothing;
    unsigned before = atomic_load(&sl_watch_sinks);
    if (!find_place())
        return false;
    if (atomic_load(&sl_watch_sinks) & ~before & SL_SINK_TRACE)
        sl_trace_call(entry, begin, end, status, &nothing);
    return true;
}

static inline bool end_at(uint64_t begin, uint64_t end, unsigned entry, int status) {
    if (SL_UNLIKELY(!place.calls) && !begin_to_count(begin, end, entry, status))
        return false;
    count(begin, end, entry, status);
    return status == CUDA_SUCCESS;
}

static inline void count_copy(unsigned entry, uint64_t bytes, unsigned direction) {
    add(&place.calls[entry].bytes, bytes);
    if (direction != SL_DIRECTION_NONE)
        add(&place.traffic->to_gpu_bytes + (direction - SL_DIRECTION_TO_GPU), bytes);
}

SL_HOT void sl_watch_end(sl_watch_t watch, unsigned entry, int status) {
    end_at(watch.begin_ticks, sl_clock_ticks(), entry, status);
}

SL_HOT void sl_watch_end_bytes(sl_watch_t watch, unsigned entry, int status, uint64_t bytes) {
    if (end_at(watch.begin_ticks, sl_clock_ticks(), entry, status))
        add(&place.calls[entry].bytes, bytes);
}

SL_HOT void sl_watch_end_copy(sl_watch_t watch, unsigned entry, int status, uint64_t bytes, unsigned direction) {
    if (end_at(watch.begin_ticks, sl_clock_ticks(), entry, status))
        count_copy(entry, bytes, direction);
}

void sl_watch_tell(sl_watch_t watch, unsigned entry, int status, const sl_watch_detail_t *detail) {
    uint64_t end = sl_clock_ticks();
    unsigned sinks = atomic_load_explicit(&sl_watch_sinks, memory_order_relaxed);
    if (end_at(watch.begin_ticks, end, entry, status))
        count_copy(entry, detail->bytes, detail->direction);
    if (sinks & SL_SINK_TRACE)
        sl_trace_call(entry, watch.begin_ticks, end, status, detail);
    if (sinks & SL_SINK_PROFILE)
        sl_profile_call(entry, watch.begin_ticks, end, status, detail);
}
