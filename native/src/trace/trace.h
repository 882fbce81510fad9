/* trace: records the calls of each thread and their results, on demand. */
#ifndef SL_TRACE_H
#define SL_TRACE_H

#include "trace_layout.h"
#include "os/clock.h"
#include "trace/detail.h"
#include "trace/sink.h"

/* Whether the limits or the environment ask for a trace now. */
bool sl_trace_is_wanted(void);
/* The process has attached, or the limits have changed: begins or ends the trace if they ask for it. */
void sl_trace_decide(void);
void sl_trace_call(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status, const sl_detail_t *detail);

/* Whether calls are recorded. */
static inline bool sl_trace_is_on(void) {
    return SL_UNLIKELY(atomic_load_explicit(&sl_sink_on, memory_order_relaxed) & SL_SINK_TRACE);
}

/* When a wait or a turn begins; 0: it is not recorded. */
static inline uint64_t sl_trace_start(void) {
    return sl_trace_is_on() ? sl_clock_ticks() : 0;
}

/* Each for the entry of a GPU in the region; times are ticks. Without a begin, nothing is recorded. */
void sl_trace_wait(unsigned reason, uint64_t begin, unsigned gpu);
void sl_trace_turn(uint64_t begin, uint64_t end, unsigned gpu);
/* Times are CLOCK_MONOTONIC. */
void sl_trace_batch(unsigned gpu, uint64_t begin_nanos, uint64_t end_nanos, unsigned calls, uint64_t charged_nanos, uint64_t doubt_nanos);
/* For the program's own ranges: the present trace, only for comparison; the number of a text in it; a range that ends now. */
const void *sl_trace_now(void);
uint64_t sl_trace_name(const char *text);
void sl_trace_range(uint64_t begin, uint64_t name, uint64_t domain, unsigned depth, bool nested);
void sl_trace_mark(uint64_t name, uint64_t domain);
/* Code was unloaded. */
void sl_trace_unloaded(void);

/* The ticks at a time by CLOCK_MONOTONIC. */
uint64_t sl_trace_ticks_at(uint64_t nanos);

#endif
