/* record: puts timing events around batches.
 *
 * A batch has one span for each stream that it uses. A span begins at the end event of the stream's earlier batch, as long as the GPU
 * has not passed that event: then there is no gap. Otherwise it begins at an event of its own. The meter records nothing on a capturing
 * stream. Only the thread itself can record on its default stream. So the end of such a span waits until that thread calls the meter. */
#include "compute/meter/parts.h"

#include <stdlib.h>

#include "driver/entry.h"
#include "os/os.h"
#include "real.h"

/* A blocking launch makes the span of its kernel this much longer, but by half of the gap at most
 * (bench/results/2026-11-15-compute-h200.md, CUDA_LAUNCH_BLOCKING=1; another host may differ). */
#define BLOCKING_NANOS 10000u

static void note(sl_meter_batch_t *batch, unsigned evidence, bool holds) {
    batch->evidence |= holds ? evidence : 0;
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

sl_meter_event_t *sl_meter_keep(sl_meter_event_t *event) {
    if (event)
        event->uses++;
    return event;
}

void sl_meter_give_back(sl_meter_t *meter, sl_meter_event_t *event) {
    if (!event || --event->uses)
        return;
    event->next = meter->unused;
    meter->unused = event;
}

static bool is_foreign(const sl_stream_t *stream) {
    return stream->own && stream->key != sl_stream_own_key();
}

/* NULL: it cannot be recorded, because the stream captures or belongs to another thread. */
static sl_meter_event_t *record(sl_meter_t *meter, const sl_stream_t *stream) {
    CUresult (*write)(CUevent, CUstream) = stream->per_thread ? real.cuEventRecord_ptsz : real.cuEventRecord;
    if (!write || is_foreign(stream) || sl_stream_captures(stream))
        return NULL;
    sl_meter_event_t *event = take_event(meter);
    uint64_t before = sl_os_nanos();
    if (event && write(event->handle, stream->handle) != CUDA_SUCCESS) {
        sl_meter_give_back(meter, event);
        return NULL;
    }
    if (event) {
        event->asked_nanos = before;
        event->recorded_nanos = sl_os_nanos();
        event->interrupted = event->recorded_nanos - before > SL_METER_LATE_NANOS;
    }
    return event;
}

bool sl_meter_is_done(const sl_meter_event_t *event) {
    return real.cuEventQuery(event->handle) != CUDA_ERROR_NOT_READY;
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
        sl_meter_span_t *span = span_of(sl_meter_batch_at(meter, number), key);
        if (span)
            return span->end && !sl_meter_is_done(span->end) ? span->end : NULL;
    }
    return NULL;
}

bool sl_meter_open(sl_meter_t *meter, const sl_stream_t *stream, bool idle) {
    sl_meter_batch_t *batch = sl_meter_batch_at(meter, meter->open);
    if (!meter->is_open) {
        if (meter->open - meter->oldest >= SL_METER_BATCHES - 1)
            return false;
        *batch = (sl_meter_batch_t){.opened_nanos = sl_os_nanos(), .turn = meter->turn, .interruptions = meter->interruptions,
                                      .others_nanos = meter->others_nanos};
        meter->is_open = true;
    }
    sl_meter_span_t *old = span_of(batch, stream->key);
    if (old) {
        sl_meter_give_back(meter, old->end);
        old->end = NULL;
        return true;
    }
    if (batch->count == SL_METER_STREAMS) {
        batch->evidence |= SL_METER_BLURRED;
        return false;
    }
    sl_meter_span_t span = {.stream = *stream};
    span.start = idle ? NULL : sl_meter_keep(pending_end(meter, stream->key));
    span.fresh = !span.start;
    span.opened_nanos = sl_os_nanos();
    if (span.fresh)
        span.start = record(meter, stream);
    batch->spans[batch->count++] = span;
    note(batch, SL_METER_BLURRED, !span.start);
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

/* If the GPU has passed the start by now, the stream was idle. Otherwise the start stands behind earlier work. */
void sl_meter_submitted(sl_meter_t *meter, const sl_stream_t *stream, bool blocks, uint64_t now) {
    sl_meter_span_t *span = meter->is_open ? span_of(sl_meter_batch_at(meter, meter->open), stream->key) : NULL;
    if (!span || !span->opened_nanos || !span->start)
        return;
    span->fresh = sl_meter_is_done(span->start);
    uint64_t idle_from = span->opened_nanos;
    if (span->fresh && span->start->recorded_nanos > idle_from)
        idle_from = span->start->recorded_nanos;
    span->idle_since_nanos = idle_from;
    span->gap_nanos = now > idle_from && !blocks ? now - idle_from : 0;
    if (launches_block())
        span->gap_nanos = span->gap_nanos / 2 < BLOCKING_NANOS ? span->gap_nanos / 2 : BLOCKING_NANOS;
    span->opened_nanos = 0;
}

uint64_t sl_meter_expect(const sl_meter_t *meter, uint64_t predicted_nanos) {
    return meter->scale > 0 ? (uint64_t)((double)predicted_nanos * meter->scale) : predicted_nanos;
}

/* Notes whether the GPU may run the batch at the same time as the one before. */
static void compare(sl_meter_t *meter, sl_meter_batch_t *batch) {
    sl_meter_batch_t *before = meter->open > meter->oldest ? sl_meter_batch_at(meter, meter->open - 1) : NULL;
    note(batch, SL_METER_BESIDE, before && batch->count == 1 && !span_of(before, batch->spans[0].stream.key));
    note(batch, SL_METER_AMID, before && before->count > 1);
}

uint64_t sl_meter_close(sl_meter_t *meter, const sl_meter_end_t *end) {
    sl_meter_batch_t *batch = sl_meter_batch_at(meter, meter->open);
    bool full = batch->count != 0;
    for (unsigned i = 0; i < batch->count; i++) {
        sl_meter_span_t *span = &batch->spans[i];
        if (!span->end && span->start)
            span->end = record(meter, &span->stream);
        span->owed = span->start && !span->end && is_foreign(&span->stream);
        meter->owed += span->owed;
        note(batch, SL_METER_CROSSED, span->owed);
        note(batch, SL_METER_BLURRED, !span->end && !span->owed);
        full = full && !span->fresh && !sl_meter_is_done(span->start);
    }
    note(batch, SL_METER_FULL, full);
    meter->crossed |= sl_meter_has(batch, SL_METER_CROSSED);
    batch->closed_nanos = end->submitted_nanos;
    batch->late_nanos = sl_os_nanos() - end->submitted_nanos;
    batch->only = end->only;
    if (end->only && (batch->count != 1 || end->calls != 1 || sl_meter_has(batch, SL_METER_BLURRED))) {
        atomic_fetch_sub(&end->only->pending, 1);
        batch->only = NULL;
    }
    note(batch, SL_METER_PROMPT, end->prompt);
    batch->calls = end->calls;
    batch->predicted_nanos = end->predicted_nanos;
    batch->idle_nanos = end->idle_nanos;
    compare(meter, batch);
    bool single = batch->calls == 1 && !sl_meter_has(batch, SL_METER_BESIDE);
    batch->charged_nanos = single ? batch->predicted_nanos : sl_meter_expect(meter, batch->predicted_nanos);
    meter->unsettled_nanos += batch->charged_nanos;
    meter->unsettled_calls += batch->calls;
    meter->open++;
    meter->is_open = false;
    return batch->charged_nanos;
}

bool sl_meter_is_idle(const sl_stream_t *stream) {
    CUresult (*ask)(CUstream) = stream->per_thread ? real.cuStreamQuery_ptsz : real.cuStreamQuery;
    return !ask || sl_stream_captures(stream) || ask(stream->handle) != CUDA_ERROR_NOT_READY;
}

/* If the stream is idle by now, an event would not tell when its work ended. */
static void end_owed(sl_meter_t *meter, sl_meter_batch_t *batch, sl_meter_span_t *span) {
    span->owed = false;
    meter->owed--;
    if (sl_meter_is_idle(&span->stream)) {
        batch->evidence |= SL_METER_VAGUE;
        return;
    }
    span->end = record(meter, &span->stream);
    note(batch, SL_METER_BLURRED, !span->end);
    uint64_t late = sl_os_nanos() - batch->closed_nanos;
    batch->late_nanos = late > batch->late_nanos ? late : batch->late_nanos;
}

void sl_meter_end_owed(sl_meter_t *meter) {
    for (uint64_t number = meter->oldest; number < meter->open && meter->owed; number++) {
        sl_meter_span_t *span = span_of(sl_meter_batch_at(meter, number), sl_stream_own_key());
        if (span && span->owed)
            end_owed(meter, sl_meter_batch_at(meter, number), span);
    }
}

bool sl_meter_end_early(sl_meter_t *meter) {
    sl_meter_span_t *span = meter->is_open ? span_of(sl_meter_batch_at(meter, meter->open), sl_stream_own_key()) : NULL;
    if (!span || span->end || !span->start)
        return false;
    span->end = record(meter, &span->stream);
    return span->end != NULL;
}

void sl_meter_leave_stream(sl_meter_t *meter, CUstream handle) {
    sl_stream_t stream = sl_stream_of(handle, false);
    sl_meter_span_t *span = meter->is_open ? span_of(sl_meter_batch_at(meter, meter->open), stream.key) : NULL;
    if (!span)
        return;
    if (span->start && !span->end)
        span->end = record(meter, &span->stream);
    span->stream.key = 0; /* another stream may get the same handle */
}
