/* meter: the GPU time that the work of one context took, measured by timing events around batches.
 *
 * A batch has one span for each stream that it uses: from the end event of the stream's earlier batch while that is still to
 * come (then there is no gap), or from an event of its own when the stream is idle, to an end event. What the spans cover
 * together is the GPU time, unless the queue ran dry in between: then the span also holds waiting for the host, and the
 * sum of what the calls are known to take is nearer to the truth. Nothing is recorded on a stream that captures. The end of a span on the
 * default stream of another thread is owed until that thread comes by.
 *
 * Seen on an H200 (driver 580): an event takes 1.3 us on the GPU. Of a single kernel between two events the span is 2.0 us
 * longer than the kernel, 2.9 us of a queued one; on an idle stream also longer by the time the host took to launch it, less
 * what it did after the GPU had got the launch: nearly nothing, but 6.5 us where a profiler records each launch (not measured
 * but inferred: 157 ms too little in a training with 24,269 kernels, copies and sets). */
#include "compute/meter.h"

#include <stdlib.h>

#include "driver/entry.h"
#include "os/thread.h"
#include "os/os.h"
#include "compute/idle.h"
#include "compute/sample.h"
#include "real.h"

#define FRESH_NANOS 2100u   /* what two events around a kernel add to it on an idle stream */
#define QUEUED_NANOS 2000u  /* the same between queued kernels */
#define ALONE_NANOS 900.0   /* so much more when only one lies between them */
#define BLOCKING_NANOS 10000u /* what a launch that blocks adds to its kernel, as seen on one kind of host; of a short one not more than half */
#define SKEW_STEP_NANOS 100.0
#define MOST_SKEW_NANOS 20000.0
#define LEAST_QUEUED 2.0    /* so many of the calls measured lately must have stood behind others to tell about the host's part */
#define QUEUED_FADES 64.0   /* lately: a call counts for less with each of about so many others */
#define DRY_NANOS 50000.0   /* a GPU that has no more than this to do will wait for the host */
#define RECORD_NANOS 2000u  /* to record an event takes the host so long */
#define DRIFT 50000u        /* one part in so many the clocks of GPU and host run apart, at most */
#define TAIL_DRIFT 1000u    /* as DRIFT, with a wide margin: what is taken for work has to be paid */
#define BEHIND_NANOS 10000.0 /* an event that the GPU passes so long after it was recorded lay behind other work */
#define OWED_NANOS 2000000u /* a thread that has not come back by then is not waited for */
#define LATE_NANOS 40000u   /* a host that took this long around a call spoils its measurement */

enum { NOT_CAPTURING = 0 };

uint64_t sl_meter_own_key(void) {
    return (uintptr_t)&sl_thread | 1;
}

sl_meter_stream_t sl_meter_stream(CUstream handle, bool per_thread) {
    uintptr_t number = (uintptr_t)handle;
    bool own = number == 2 || (number == 0 && per_thread);
    uint64_t key = own ? sl_meter_own_key() : number == 0 ? 1 : number;
    return (sl_meter_stream_t){handle, per_thread, own, key};
}

SL_HOT_DATA _Atomic int sl_meter_open_captures;

bool sl_meter_captures(const sl_meter_stream_t *stream) {
    if (atomic_load_explicit(&sl_meter_open_captures, memory_order_acquire) <= 0)
        return false;
    CUstreamCaptureStatus status = NOT_CAPTURING;
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *) = stream->per_thread ? real.cuStreamIsCapturing_ptsz : real.cuStreamIsCapturing;
    return ask && (ask(stream->handle, &status) != CUDA_SUCCESS || status != NOT_CAPTURING);
}

static sl_meter_batch_t *batch_at(sl_meter_t *meter, uint64_t number) {
    return &meter->batches[number % SL_METER_BATCHES];
}

static sl_meter_event_t *take_event(sl_meter_t *meter) {
    sl_meter_event_t *event = meter->unused;
    if (event) {
        meter->unused = event->next;
        event->uses = 1;
        return event;
    }
    event = &meter->events[meter->made];
    if (meter->made == SL_METER_EVENTS || !real.cuEventCreate || real.cuEventCreate(&event->handle, 0) != CUDA_SUCCESS)
        return NULL;
    meter->made++;
    event->uses = 1;
    return event;
}

static sl_meter_event_t *keep(sl_meter_event_t *event) {
    if (event)
        event->uses++;
    return event;
}

static void give_back(sl_meter_t *meter, sl_meter_event_t *event) {
    if (!event || --event->uses)
        return;
    event->next = meter->unused;
    meter->unused = event;
}

static bool is_foreign(const sl_meter_stream_t *stream) {
    return stream->own && stream->key != sl_meter_own_key();
}

/* NULL when it cannot be recorded: the stream captures, or belongs to another thread. */
static sl_meter_event_t *record(sl_meter_t *meter, const sl_meter_stream_t *stream) {
    CUresult (*write)(CUevent, CUstream) = stream->per_thread ? real.cuEventRecord_ptsz : real.cuEventRecord;
    if (!write || is_foreign(stream) || sl_meter_captures(stream))
        return NULL;
    sl_meter_event_t *event = take_event(meter);
    uint64_t before = sl_os_nanos();
    if (event && write(event->handle, stream->handle) != CUDA_SUCCESS) {
        give_back(meter, event);
        return NULL;
    }
    if (event) {
        event->asked_nanos = before;
        event->recorded_nanos = sl_os_nanos();
        event->interrupted = event->recorded_nanos - before > LATE_NANOS;
    }
    return event;
}

static bool is_done(const sl_meter_event_t *event) {
    return real.cuEventQuery(event->handle) != CUDA_ERROR_NOT_READY;
}

static double elapsed(const sl_meter_event_t *from, const sl_meter_event_t *to) {
    float millis = 0;
    CUresult (*ask)(float *, CUevent, CUevent) = real.cuEventElapsedTime_v2 ? real.cuEventElapsedTime_v2 : real.cuEventElapsedTime;
    return from != to && ask && ask(&millis, from->handle, to->handle) == CUDA_SUCCESS ? (double)millis * 1e6 : 0;
}

static sl_meter_span_t *span_of(sl_meter_batch_t *batch, uint64_t key) {
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->spans[i].stream.key == key)
            return &batch->spans[i];
    return NULL;
}

/* The end of the stream's last span, if the GPU has not reached it yet. */
static sl_meter_event_t *pending_end(sl_meter_t *meter, uint64_t key) {
    for (uint64_t number = meter->open; number-- > meter->oldest;) {
        sl_meter_span_t *span = span_of(batch_at(meter, number), key);
        if (span)
            return span->end && !is_done(span->end) ? span->end : NULL;
    }
    return NULL;
}

bool sl_meter_open(sl_meter_t *meter, const sl_meter_stream_t *stream, bool idle) {
    sl_meter_batch_t *batch = batch_at(meter, meter->open);
    if (!meter->is_open) {
        if (meter->open - meter->oldest >= SL_METER_BATCHES - 1)
            return false;
        *batch = (sl_meter_batch_t){.opened_nanos = sl_os_nanos(), .turn = meter->turn};
        meter->is_open = true;
    }
    sl_meter_span_t *old = span_of(batch, stream->key);
    if (old) {
        give_back(meter, old->end);
        old->end = NULL;
        return true;
    }
    if (batch->count == SL_METER_STREAMS) {
        batch->blurred = true;
        return false;
    }
    sl_meter_span_t span = {.stream = *stream};
    span.start = idle ? NULL : keep(pending_end(meter, stream->key));
    span.fresh = !span.start;
    span.opened_nanos = sl_os_nanos();
    if (span.fresh)
        span.start = record(meter, stream);
    batch->spans[batch->count++] = span;
    batch->blurred |= !span.start;
    return span.start != NULL;
}

/* With CUDA_LAUNCH_BLOCKING=1 a launch returns when the kernel has ended. */
static bool launches_block(void) {
    static int blocks = -1;
    if (blocks < 0) {
        const char *value = getenv("CUDA_LAUNCH_BLOCKING");
        blocks = value && atoi(value) != 0;
    }
    return blocks;
}

/* A start that the GPU has reached by now was passed on an idle stream; one that it has not stands behind earlier work. */
void sl_meter_submitted(sl_meter_t *meter, const sl_meter_stream_t *stream, bool blocks, uint64_t now) {
    sl_meter_span_t *span = meter->is_open ? span_of(batch_at(meter, meter->open), stream->key) : NULL;
    if (!span || !span->opened_nanos || !span->start)
        return;
    span->fresh = is_done(span->start);
    uint64_t idle_from = span->opened_nanos;
    if (span->fresh && span->start->recorded_nanos > idle_from)
        idle_from = span->start->recorded_nanos;
    span->idle_nanos = idle_from;
    span->gap_nanos = now > idle_from && !blocks ? now - idle_from : 0;
    if (launches_block())
        span->gap_nanos = span->gap_nanos / 2 < BLOCKING_NANOS ? span->gap_nanos / 2 : BLOCKING_NANOS;
    span->opened_nanos = 0;
}

uint64_t sl_meter_expect(const sl_meter_t *meter, uint64_t predicted_nanos) {
    return meter->scale > 0 ? (uint64_t)((double)predicted_nanos * meter->scale) : predicted_nanos;
}

/* Whether the GPU may do it at the same time as the one before. */
static void compare(sl_meter_t *meter, sl_meter_batch_t *batch) {
    sl_meter_batch_t *before = meter->open > meter->oldest ? batch_at(meter, meter->open - 1) : NULL;
    batch->beside = before && batch->count == 1 && !span_of(before, batch->spans[0].stream.key);
    batch->amid = before && before->count > 1;
}

uint64_t sl_meter_close(sl_meter_t *meter, const sl_meter_end_t *end) {
    sl_meter_batch_t *batch = batch_at(meter, meter->open);
    batch->full = batch->count != 0;
    for (unsigned i = 0; i < batch->count; i++) {
        sl_meter_span_t *span = &batch->spans[i];
        if (!span->end && span->start)
            span->end = record(meter, &span->stream);
        span->owed = span->start && !span->end && is_foreign(&span->stream);
        meter->owed += span->owed;
        batch->crossed |= span->owed;
        batch->blurred |= !span->end && !span->owed;
        batch->full = batch->full && !span->fresh && !is_done(span->start);
    }
    meter->crossed |= batch->crossed;
    batch->closed_nanos = end->submitted_nanos;
    batch->late_nanos = sl_os_nanos() - end->submitted_nanos;
    batch->only = end->only;
    if (end->only && (batch->count != 1 || end->calls != 1 || batch->blurred)) {
        atomic_fetch_sub(&end->only->pending, 1);
        batch->only = NULL;
    }
    batch->prompt = end->prompt;
    batch->calls = end->calls;
    batch->predicted_nanos = end->predicted_nanos;
    batch->idle_nanos = end->idle_nanos;
    compare(meter, batch);
    bool single = batch->calls == 1 && !batch->beside;
    batch->charged_nanos = single ? batch->predicted_nanos : sl_meter_expect(meter, batch->predicted_nanos);
    meter->unsettled_nanos += batch->charged_nanos;
    meter->unsettled_calls += batch->calls;
    meter->open++;
    meter->is_open = false;
    return batch->charged_nanos;
}

static bool is_idle(const sl_meter_stream_t *stream) {
    CUresult (*ask)(CUstream) = stream->per_thread ? real.cuStreamQuery_ptsz : real.cuStreamQuery;
    return !ask || sl_meter_captures(stream) || ask(stream->handle) != CUDA_ERROR_NOT_READY;
}

/* An event on a stream that is idle by now would not tell when its work ended. */
static void end_owed(sl_meter_t *meter, sl_meter_batch_t *batch, sl_meter_span_t *span) {
    span->owed = false;
    meter->owed--;
    if (is_idle(&span->stream)) {
        batch->vague = true;
        return;
    }
    span->end = record(meter, &span->stream);
    batch->blurred |= !span->end;
    uint64_t late = sl_os_nanos() - batch->closed_nanos;
    batch->late_nanos = late > batch->late_nanos ? late : batch->late_nanos;
}

void sl_meter_end_owed(sl_meter_t *meter) {
    for (uint64_t number = meter->oldest; number < meter->open && meter->owed; number++) {
        sl_meter_span_t *span = span_of(batch_at(meter, number), sl_meter_own_key());
        if (span && span->owed)
            end_owed(meter, batch_at(meter, number), span);
    }
}

bool sl_meter_end_early(sl_meter_t *meter) {
    sl_meter_span_t *span = meter->is_open ? span_of(batch_at(meter, meter->open), sl_meter_own_key()) : NULL;
    if (!span || span->end || !span->start)
        return false;
    span->end = record(meter, &span->stream);
    return span->end != NULL;
}

void sl_meter_leave_stream(sl_meter_t *meter, CUstream handle) {
    sl_meter_stream_t stream = sl_meter_stream(handle, false);
    sl_meter_span_t *span = meter->is_open ? span_of(batch_at(meter, meter->open), stream.key) : NULL;
    if (!span)
        return;
    if (span->start && !span->end)
        span->end = record(meter, &span->stream);
    span->stream.key = 0; /* another stream may get the same handle */
}

/* A thread that does not come back does not keep others from going on. */
static bool is_still_owed(sl_meter_t *meter, sl_meter_batch_t *batch, sl_meter_span_t *span) {
    if (!span->owed || sl_os_nanos() < batch->closed_nanos + batch->charged_nanos + OWED_NANOS)
        return span->owed;
    meter->owed--;
    batch->vague = true;
    return span->owed = false;
}

static bool batch_is_done(sl_meter_t *meter, sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        sl_meter_span_t *span = &batch->spans[i];
        if (is_still_owed(meter, batch, span) || (span->end && !is_done(span->end)))
            return false;
    }
    return true;
}

typedef struct {
    double begin, end;
} interval_t;

/* Asks the driver when the GPU passed the events of a batch that it has done. There is no end without a start. */
static void locate(const sl_meter_t *meter, sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        sl_meter_span_t *span = &batch->spans[i];
        if (span->start)
            span->start_at = meter->origin_nanos + elapsed(meter->origin, span->start);
        if (span->end)
            span->end_at = span->start_at + elapsed(span->start, span->end);
    }
}

static double later(double one, double other) {
    return one > other ? one : other;
}

/* The intervals of a batch's spans on the context's time line, in order. */
static unsigned place(const sl_meter_t *meter, const sl_meter_batch_t *batch, interval_t intervals[]) {
    unsigned count = 0;
    for (unsigned i = 0; i < batch->count; i++) {
        const sl_meter_span_t *span = &batch->spans[i];
        if (!span->start || !span->end)
            continue;
        double at = span->start_at, length = span->end_at - at;
        double lead = span->fresh ? (double)span->gap_nanos + FRESH_NANOS - meter->skew_nanos : QUEUED_NANOS;
        interval_t interval = {at + (lead < length ? later(lead, 0) : length), at + length};
        unsigned k = count++;
        for (; k > 0 && intervals[k - 1].begin > interval.begin; k--)
            intervals[k] = intervals[k - 1];
        intervals[k] = interval;
    }
    return count;
}

/* What the spans cover beyond what was charged before. */
static double cover(sl_meter_t *meter, const sl_meter_batch_t *batch) {
    interval_t intervals[SL_METER_STREAMS];
    unsigned count = place(meter, batch, intervals);
    double sum = 0;
    for (unsigned i = 0; i < count; i++) {
        double from = intervals[i].begin > meter->covered_nanos ? intervals[i].begin : meter->covered_nanos;
        if (intervals[i].end > from) {
            sum += intervals[i].end - from;
            meter->covered_nanos = intervals[i].end;
        }
    }
    return sum;
}

/* Times are told as single-precision floats, so they must not be told over long spans. */
static void move_origin(sl_meter_t *meter, const sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->spans[i].end) {
            give_back(meter, meter->origin);
            meter->origin = keep(batch->spans[i].end);
            meter->origin_nanos = batch->spans[i].end_at;
            return;
        }
}

/* What the GPU did after all of the batch was submitted was work without a gap; but an end that was recorded late tells nothing about the
 * time before. Over a long time the clocks of GPU and host run apart. */
static double tail(const sl_meter_t *meter, const sl_meter_batch_t *batch) {
    if (meter->host_nanos <= 0)
        return 0;
    double since = (double)batch->closed_nanos - (double)meter->aligned_nanos;
    double drift = (since > 0 ? since : -since) / TAIL_DRIFT;
    return meter->covered_nanos + meter->host_nanos - (double)(batch->closed_nanos + batch->late_nanos) - drift;
}

/* The GPU had more to do after the last submission than all of the batch was known to take: its calls take longer now, and
 * what they were known to take tells nothing. */
static bool is_longer(const sl_meter_t *meter, const sl_meter_batch_t *batch) {
    return tail(meter, batch) > 2 * (double)batch->predicted_nanos + LATE_NANOS;
}

/* Without what the GPU waited for the host between calls on several streams. That supposes that it does them side by side: so far as it took
 * less time than one after the other, and wholly if it did two at a time. */
static double without_waiting(const sl_meter_t *meter, const sl_meter_batch_t *batch, double covered) {
    if (batch->count < 2 || batch->blurred || batch->vague || covered <= 0 || is_longer(meter, batch))
        return covered;
    double beside = (double)batch->predicted_nanos / covered - 1;
    return later(covered - later(beside < 1 ? beside : 1, 0) * (double)batch->idle_nanos, 0);
}

/* The queue ran dry for moments only, if at all: the kernels followed each other as queued ones do. */
static bool is_nearly_full(const sl_meter_batch_t *batch, double covered) {
    return batch->count == 1 && batch->calls > 1 && covered - (double)batch->predicted_nanos <= (double)batch->calls * SL_IDLE_GAP_NANOS;
}

/* Known: the host was not interrupted for so long that the events do not tell about a single call. */
static double judge(const sl_meter_t *meter, const sl_meter_batch_t *batch, double covered, bool known) {
    double least = (double)batch->predicted_nanos, rest = tail(meter, batch);
    if (batch->blurred)
        return later(covered, least);
    if (batch->vague)
        return later(covered, is_longer(meter, batch) ? least : (double)batch->charged_nanos);
    if (batch->full || (batch->calls == 1 && batch->prompt && known) || is_nearly_full(batch, covered) || is_longer(meter, batch))
        return covered;
    least = rest > least ? rest : least;
    return covered < least ? covered : least;
}

/* On an idle stream the GPU passes an event when the host records it. */
static void align(sl_meter_t *meter, const sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        const sl_meter_span_t *span = &batch->spans[i];
        if (span->fresh && span->start && span->start->recorded_nanos == span->idle_nanos && !span->start->interrupted) {
            meter->host_nanos = (double)span->idle_nanos - span->start_at;
            meter->earliest_nanos = (double)span->start->asked_nanos - span->start_at;
            meter->latest_nanos = meter->host_nanos + RECORD_NANOS;
            meter->bounded_nanos = meter->aligned_nanos = span->idle_nanos;
            return;
        }
    }
}

/* Streams that work side by side, and kernels that take another time than before, are followed quickly. */
static void learn_scale(sl_meter_t *meter, const sl_meter_batch_t *batch, double covered) {
    bool longer = is_longer(meter, batch);
    bool telling = !batch->blurred && batch->predicted_nanos && (batch->full || batch->count > 1 || batch->beside || longer);
    double old = meter->scale > 0 ? meter->scale : 1, seen = telling ? covered / (double)batch->predicted_nanos : 1;
    if (batch->vague || (batch->calls == 1 && !batch->beside) || (!batch->full && !longer && seen > 1) || meter->oldest < meter->rescaled)
        return;
    seen = seen > 1000 ? 1000 : seen < 0.01 ? 0.01 : seen;
    bool usual = seen > old / 2 && seen < old * 2;
    meter->scale = old + (seen - old) / (usual || batch->beside ? 8 : 2);
}

/* Once a call is known to be longer the scale need not make up for it any more, whatever batches say that were predicted
 * before. */
static void learn_cost(sl_meter_t *meter, sl_cost_t *cost, uint64_t nanos) {
    uint64_t old = cost->nanos;
    sl_cost_learn(cost, nanos);
    if (!old || cost->nanos < old + old / 4)
        return;
    meter->rescaled = meter->open + meter->is_open;
    if (meter->scale > 1)
        meter->scale = 1;
}

/* What an event tells about the host's time at 0 of the time line: it is not passed before it is recorded, and not after it
 * was seen passed. Who contradicts what was known before is right: it is newer. */
static void bound(sl_meter_t *meter, const sl_meter_event_t *event, double at, uint64_t now) {
    double least = (double)event->asked_nanos - at, most = (double)now - at;
    if (least > meter->latest_nanos || most < meter->earliest_nanos || meter->earliest_nanos <= 0) {
        meter->earliest_nanos = least;
        meter->latest_nanos = most;
        return;
    }
    meter->earliest_nanos = least > meter->earliest_nanos ? least : meter->earliest_nanos;
    meter->latest_nanos = most < meter->latest_nanos ? most : meter->latest_nanos;
}

/* When the GPU did the batch, by the host's clock. */
static void show(sl_meter_t *meter, const sl_meter_batch_t *batch, uint64_t now, sl_meter_reading_t *reading) {
    interval_t intervals[SL_METER_STREAMS];
    unsigned count = place(meter, batch, intervals);
    double last = 0, drift = (double)(now - meter->bounded_nanos) / DRIFT;
    meter->earliest_nanos -= drift;
    meter->latest_nanos += drift;
    meter->bounded_nanos = now;
    for (unsigned i = 0; i < batch->count; i++) {
        const sl_meter_span_t *span = &batch->spans[i];
        if (!span->start || !span->end)
            continue;
        bound(meter, span->start, span->start_at, now);
        bound(meter, span->end, span->end_at, now);
    }
    for (unsigned i = 0; i < count; i++)
        last = intervals[i].end > last ? intervals[i].end : last;
    reading->began_nanos = count ? (uint64_t)(intervals[0].begin + meter->earliest_nanos) : batch->opened_nanos;
    reading->ended_nanos = count ? (uint64_t)(last + meter->earliest_nanos) : now;
    reading->doubt_nanos = count ? (uint64_t)(meter->latest_nanos - meter->earliest_nanos) : now - batch->opened_nanos;
}

/* A start that the GPU had not reached when the call came back lay behind other work, or it was only just recorded: then nobody
 * knows how much of the host's time the span holds. */
static bool lies_behind(const sl_meter_t *meter, const sl_meter_span_t *span) {
    double passed = span->start_at + meter->earliest_nanos;
    return !span->fresh && passed > (double)span->start->recorded_nanos + BEHIND_NANOS;
}

/* What an uncertain measurement tells all the same: that the call takes quite another time now. */
static bool is_news(const sl_cost_t *cost, double alone) {
    double nanos = (double)cost->nanos;
    return cost->samples < SL_COST_SAMPLES || alone > 1.5 * nanos + BEHIND_NANOS || alone < nanos / 2;
}

/* A call behind others is measured without the host's time, if those are on the same stream: among several, events take the GPU longer, by 2
 * to 4 us on an H200. By such calls the host's part is put right for those on an idle
 * stream, in small steps: some kernels take another time each time. One that only seems to be behind others, because another
 * process had the GPU for a moment, tells nothing: in a program that waits for each call there is no other that would put it right. */
static double learn_skew(sl_meter_t *meter, sl_cost_t *cost, bool fresh, double alone) {
    double queued = (double)cost->queued_nanos, off = queued - alone;
    meter->queued_lately -= meter->queued_lately / QUEUED_FADES;
    if (!fresh) {
        double seen = later(alone - ALONE_NANOS, 0);
        meter->queued_lately++;
        cost->queued_nanos = (uint64_t)(queued > 0 ? queued + (seen - queued) / 4 : seen);
        return seen;
    }
    bool same = meter->queued_lately > LEAST_QUEUED && queued > 0 && off < queued / 2 + MOST_SKEW_NANOS && -off < queued / 2 + MOST_SKEW_NANOS;
    if (same && off > 0 && meter->skew_nanos < MOST_SKEW_NANOS)
        meter->skew_nanos += SKEW_STEP_NANOS;
    if (same && off < 0 && meter->skew_nanos > -(double)FRESH_NANOS)
        meter->skew_nanos -= SKEW_STEP_NANOS;
    return alone;
}

/* What the calls of a divided batch are likely to take, but no longer than they can have taken. */
static uint64_t judge_divided(const sl_meter_batch_t *batch, uint64_t likely, double covered) {
    return covered < (double)likely && !batch->blurred && !batch->vague ? (uint64_t)covered : likely;
}

/* Another process's work makes a call seem longer, never shorter. So what is not known at all, or for longer, is learnt all the same:
 * else a call during which the turn is always lost would be taken for a short one for ever. */
static bool is_bound(const sl_cost_t *cost, double alone) {
    return alone > 0 && (cost->samples < SL_COST_SAMPLES || alone < (double)cost->nanos);
}

/* What the one call of the batch took, with bounds. The span is the most that it can be: it also holds the events, and on an idle stream the time
 * until the GPU had got the call. An end that the GPU passed at once may have been recorded when the call was over already. */
static sl_sample_t sample_of(const sl_meter_t *meter, const sl_meter_batch_t *batch, double alone) {
    const sl_meter_span_t *span = &batch->spans[0];
    bool behind = lies_behind(meter, span);
    bool ends_behind = span->end_at + meter->earliest_nanos > (double)span->end->recorded_nanos + BEHIND_NANOS;
    double likely = behind ? later(alone - ALONE_NANOS, 0) : alone, gap = behind || span->fresh ? 0 : (double)span->gap_nanos;
    double late = ends_behind ? 0 : (double)(batch->late_nanos + span->end->recorded_nanos - span->end->asked_nanos);
    return (sl_sample_t){later(likely - gap - late, 0), likely, span->end_at - span->start_at};
}

/* Whether more was submitted to other streams since. */
static bool is_followed_beside(sl_meter_t *meter, uint64_t key) {
    for (uint64_t number = meter->oldest + 1; number < meter->open + meter->is_open; number++) {
        const sl_meter_batch_t *batch = batch_at(meter, number);
        for (unsigned i = 0; i < batch->count; i++)
            if (batch->spans[i].stream.key != key)
                return true;
    }
    return false;
}

/* A call that came to an idle GPU began at once. One behind others on its stream was overtaken, perhaps, by other streams' calls. Before: how
 * far the time line was covered by the batches before. What another process may have delayed is a bound only, too. */
static void note_sample(sl_meter_t *meter, const sl_meter_batch_t *batch, double alone, double before, bool divided) {
    const sl_meter_span_t *span = &batch->spans[0];
    double begin = span->end_at - alone;
    bool undisturbed = !divided && !meter->crowded && batch->turn == meter->settled_turn && meter->oldest >= meter->murky;
    bool at_once = before <= begin + (double)RECORD_NANOS && (span->fresh || !is_followed_beside(meter, span->stream.key));
    sl_sample_note(batch->only, undisturbed && at_once ? SL_SAMPLE_ALONE : SL_SAMPLE_BOUND, sample_of(meter, batch, alone));
}

bool sl_meter_settle(sl_meter_t *meter, sl_meter_reading_t *reading) {
    sl_meter_batch_t *batch = batch_at(meter, meter->oldest);
    if (meter->oldest == meter->open || !batch_is_done(meter, batch))
        return false;
    for (unsigned i = 0; i < batch->count && !meter->origin; i++)
        meter->origin = keep(batch->spans[i].start);
    locate(meter, batch);
    align(meter, batch);
    interval_t whole[SL_METER_STREAMS];
    double alone = batch->only && place(meter, batch, whole) == 1 ? whole[0].end - whole[0].begin : 0;
    uint64_t doubt = batch->late_nanos + (batch->count ? batch->spans[0].gap_nanos : 0);
    bool known = doubt < LATE_NANOS || alone > 2 * (double)doubt;
    sl_meter_reading_t seen = {0};
    show(meter, batch, sl_os_nanos(), &seen);
    bool divided = batch->turn != meter->turn;
    bool certain = alone > 0 && (batch->spans[0].fresh || (!batch->amid && lies_behind(meter, &batch->spans[0])));
    known = known && !divided && (certain || !batch->only || is_news(batch->only, alone));
    if (alone > 0)
        note_sample(meter, batch, alone, meter->covered_nanos, divided);
    if (batch->blurred || batch->vague)
        meter->murky = meter->open + meter->is_open;
    meter->settled_turn = batch->turn;
    double covered = without_waiting(meter, batch, cover(meter, batch));
    move_origin(meter, batch);
    uint64_t likely = batch->charged_nanos;
    if (batch->only) {
        if (known)
            learn_cost(meter, batch->only, (uint64_t)(certain ? learn_skew(meter, batch->only, batch->spans[0].fresh, alone) : alone));
        else if (divided && is_bound(batch->only, alone))
            sl_cost_learn(batch->only, (uint64_t)alone);
        likely = likely > batch->only->nanos ? likely : batch->only->nanos;
        atomic_fetch_sub(&batch->only->pending, 1);
    }
    if (!divided)
        learn_scale(meter, batch, covered);
    seen.nanos = divided ? judge_divided(batch, likely, covered) : (uint64_t)judge(meter, batch, covered, known);
    if (batch->crossed && (double)seen.nanos < covered)
        meter->covered_nanos -= covered - (double)seen.nanos; /* its spans end late: that may be work of the next batch */
    seen.charged_nanos = batch->charged_nanos;
    seen.opened_nanos = batch->opened_nanos;
    seen.calls = batch->calls;
    seen.last = meter->oldest + 1 == meter->open;
    seen.dry = !batch->full && tail(meter, batch) < DRY_NANOS;
    seen.divided = divided;
    *reading = seen;
    for (unsigned i = 0; i < batch->count; i++) {
        give_back(meter, batch->spans[i].start);
        give_back(meter, batch->spans[i].end);
    }
    meter->unsettled_nanos -= batch->charged_nanos;
    meter->unsettled_calls -= batch->calls;
    meter->oldest++;
    return true;
}
