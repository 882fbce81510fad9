/* watch: counts every call of the program in the region, and passes it to the sinks that are on (trace/sink.h).
 *
 * The generated entries.c calls these functions around each call. It gathers the details of a call only while a sink is on. */
#ifndef SL_WATCH_H
#define SL_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hold/hold.h"
#include "os/clock.h"
#include "os/thread.h"
#include "region_layout.h"
#include "trace/detail.h"
#include "trace/sink.h"
#include "trace/trace_quick.h"

static inline bool sl_watch_is_told(void) {
    return SL_UNLIKELY(SL_LOAD(sl_sink_on) != 0);
}

/* The epoch of the tenant's limits, now and at the last read. If they differ, the new limits may ask for a trace. */
typedef struct {
    const _Atomic uint32_t *_Atomic now;
    _Atomic uint32_t seen;
} sl_watch_epoch_t;
SL_OWN extern sl_watch_epoch_t sl_watch_epoch;

static inline bool sl_watch_limits_changed(void) {
    const _Atomic uint32_t *now = SL_LOAD(sl_watch_epoch.now);
    return SL_LOAD(*now) != SL_LOAD(sl_watch_epoch.seen);
}

/* Adds to a record that only this thread writes. */
static inline void sl_watch_add_alone(_Atomic uint64_t *sum, uint64_t value) {
    atomic_store_explicit(sum, SL_LOAD(*sum) + value, memory_order_relaxed);
}

static inline void sl_watch_add(_Atomic uint64_t *sum, uint64_t value) {
    if (SL_UNLIKELY(sl_thread.watch.shared))
        atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
    else
        sl_watch_add_alone(sum, value);
}

/* Calls that are not ordinary wait here while the process is paused. */
static inline void sl_watch_wait_while_held(void) {
    if (SL_UNLIKELY(SL_LOAD(sl_sink_on) & SL_SINK_HELD))
        sl_hold_wait();
}

/* The start of a call that is timed. The second function: of a call that a sink wants. */
static inline uint64_t sl_watch_begin(void) {
    return sl_thread.began_ticks = sl_clock_counter();
}

static inline uint64_t sl_watch_begin_told(void) {
    sl_watch_wait_while_held();
    return sl_thread.began_ticks = sl_clock_ticks();
}

/* Notes the time of a sampled call, and chooses the next one. */
void sl_watch_sample(sl_region_call_t *call, uint64_t ticks);

/* For a quick call: reading the clock twice would cost more than everything else, so only some calls are timed. Returns where to count
 * the call; NULL: time it, because it is the first of its kind or the next sample, or because a sink wants it. */
static inline sl_region_call_t *sl_watch_untimed(unsigned entry) {
    if (sl_watch_is_told() || SL_UNLIKELY(sl_watch_limits_changed()) || SL_UNLIKELY(sl_thread.watch.untimed == 0))
        return NULL; /* a thread without a tenant has no records: its untimed is 0 */
    sl_region_call_t *call = &sl_thread.watch.calls[entry];
    if (SL_UNLIKELY(SL_LOAD(call->sampled_calls) == 0))
        return NULL;
    sl_thread.watch.untimed--;
    return call;
}

void sl_watch_count_rare(sl_region_call_t *call, int status);
static inline void sl_watch_count(sl_region_call_t *call, int status) {
    sl_watch_add(&call->calls, 1);
    if (SL_UNLIKELY(status != CUDA_SUCCESS || sl_thread.watch.gated_ticks))
        sl_watch_count_rare(call, status);
}

/* From here on: for the details that the generated entries.c gathers. */
#define SL_OF(pointer, field) ((pointer) ? (pointer)->field : 0)

static inline uint64_t sl_watch_sum(const size_t *sizes, size_t count) {
    uint64_t bytes = 0;
    for (size_t i = 0; sizes && i < count; i++)
        bytes += sizes[i];
    return bytes;
}

static inline uint64_t sl_watch_stream(const void *stream, bool per_thread) {
    return stream ? (uintptr_t)stream : per_thread ? SL_STREAM_PER_THREAD : SL_STREAM_LEGACY;
}

/* The direction of a copy, from the memory types in its descriptor. */
static inline unsigned sl_watch_direction(int from, int to) {
    enum { HOST = 1, DEVICE, ARRAY };
    bool known = from >= HOST && from <= ARRAY && to >= HOST && to <= ARRAY;
    if (!known)
        return SL_DIRECTION_OTHER;
    if (from == HOST)
        return to == HOST ? SL_DIRECTION_HOST : SL_DIRECTION_TO_GPU;
    return to == HOST ? SL_DIRECTION_FROM_GPU : SL_DIRECTION_ON_GPU;
}

/* Counts a call that began at this reading of the counter. */
void sl_watch_end(uint64_t begin_ticks, unsigned entry, int status);
void sl_watch_end_bytes(uint64_t begin_ticks, unsigned entry, int status, uint64_t bytes);
void sl_watch_end_copy(uint64_t begin_ticks, unsigned entry, int status, uint64_t bytes, unsigned direction);
/* Counts it and passes it to all sinks that are on. */
void sl_watch_tell(uint64_t begin_ticks, unsigned entry, int status, const sl_detail_t *detail);

/* Counts a call that a trace has recorded. */
SL_INLINE void sl_watch_count_told(unsigned entry, uint64_t ticks) {
    sl_region_call_t *call = &sl_thread.watch.calls[entry];
    sl_watch_add_alone(&call->calls, 1);
    if (SL_UNLIKELY(sl_thread.watch.untimed == 0))
        sl_watch_sample(call, ticks);
    sl_thread.watch.untimed--;
}

/* After a launch that is timed or recorded, if it failed, waited at the gate, or the trace has no short path for it. */
void sl_watch_tell_kernel_slowly(unsigned entry, uint64_t begin_ticks, int status, uint64_t stream, uint64_t function, SL_TRACE_SHAPE)
    __attribute__((noinline, cold));
/* After a quick call of which a trace records only the stream. */
void sl_watch_tell_question_slowly(uint64_t begin_ticks, unsigned entry, int status, uint64_t stream) __attribute__((noinline, cold));
SL_INLINE void sl_watch_tell_question(uint64_t begin, unsigned entry, int status, uint64_t stream) {
    uint64_t end = sl_clock_counter();
    if (SL_UNLIKELY(status != CUDA_SUCCESS) || SL_UNLIKELY(!sl_trace_question(entry, begin, end, stream)))
        return sl_watch_tell_question_slowly(begin, entry, status, stream);
    sl_watch_count_told(entry, end - begin);
}

#endif
