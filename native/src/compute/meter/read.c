/* read: how much GPU time a batch took, from the events around it.
 *
 * The time that the spans cover together is the GPU time, unless the queue ran dry in between. Then the spans also contain the wait for the
 * host. The sum of the known costs of the calls is closer to the truth. */
#include "compute/meter/parts.h"

#include "compute/meter/idle.h"
#include "driver/entry.h"
#include "os/os.h"
#include "real.h"
#include "slices/stops.h"

/* Measured on an H200, driver 580, where not said otherwise. */
#define QUEUED_NANOS 2000u  /* two events add this between queued kernels: 1.3 us for an event, and the gap */
#define DRY_NANOS 50000.0   /* a GPU with no more work than this will wait for the host: ten launches of 3 to 5 us */
#define DRIFT 50000u        /* the clocks of GPU and host run apart by at most one part in this many */
#define TAIL_DRIFT 1000u    /* the same with a wide margin, because what counts as work is charged */
#define OWED_NANOS 2000000u /* chosen: how long the meter waits for the thread that owes an event */

/* Waits only for a while, so that a thread that does not come back cannot block the others. */
static bool is_still_owed(sl_meter_t *meter, sl_meter_batch_t *batch, sl_meter_span_t *span) {
    if (!span->owed || sl_os_nanos() < batch->closed_nanos + batch->charged_nanos + OWED_NANOS)
        return span->owed;
    meter->owed--;
    batch->evidence |= SL_METER_VAGUE;
    return span->owed = false;
}

static bool batch_is_done(sl_meter_t *meter, sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        sl_meter_span_t *span = &batch->spans[i];
        if (is_still_owed(meter, batch, span) || (span->end && !sl_meter_is_done(span->end)))
            return false;
    }
    return true;
}

static double elapsed(const sl_meter_event_t *from, const sl_meter_event_t *to) {
    float millis = 0;
    CUresult (*ask)(float *, CUevent, CUevent) = real.cuEventElapsedTime_v2 ? real.cuEventElapsedTime_v2 : real.cuEventElapsedTime;
    return from != to && ask && ask(&millis, from->handle, to->handle) == CUDA_SUCCESS ? (double)millis * 1e6 : 0;
}

typedef struct {
    double begin, end;
} interval_t;

/* Asks the driver when the GPU passed the events of a finished batch. A span with an end has a start. */
static void locate(const sl_meter_t *meter, sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        sl_meter_span_t *span = &batch->spans[i];
        if (span->start)
            span->start_at = meter->anchor_nanos + elapsed(meter->anchor, span->start);
        if (span->end)
            span->end_at = span->start_at + elapsed(span->start, span->end);
    }
}

/* The intervals of a batch's spans on the context's time line, in order. */
static unsigned place(const sl_meter_t *meter, const sl_meter_batch_t *batch, interval_t intervals[]) {
    unsigned count = 0;
    for (unsigned i = 0; i < batch->count; i++) {
        const sl_meter_span_t *span = &batch->spans[i];
        if (!span->start || !span->end)
            continue;
        double at = span->start_at, length = span->end_at - at;
        double lead = span->fresh ? (double)span->gap_nanos + SL_METER_FRESH_NANOS - meter->skew_nanos : QUEUED_NANOS;
        interval_t interval = {at + (lead < length ? sl_meter_later(lead, 0) : length), at + length};
        unsigned k = count++;
        for (; k > 0 && intervals[k - 1].begin > interval.begin; k--)
            intervals[k] = intervals[k - 1];
        intervals[k] = interval;
    }
    return count;
}

double sl_meter_away(const sl_meter_t *meter, double from, double to) {
    double begin = from + meter->earliest_nanos, end = to + meter->earliest_nanos;
    return meter->earliest_nanos > 0 && begin > 0 && end > begin ? (double)sl_stops_between((uint64_t)begin, (uint64_t)end) : 0;
}

/* What the spans cover beyond what was charged before. */
static double cover(sl_meter_t *meter, const sl_meter_batch_t *batch) {
    interval_t intervals[SL_METER_STREAMS];
    unsigned count = place(meter, batch, intervals);
    double sum = 0;
    for (unsigned i = 0; i < count; i++) {
        double from = intervals[i].begin > meter->covered_nanos ? intervals[i].begin : meter->covered_nanos;
        if (intervals[i].end > from) {
            sum += intervals[i].end - from - sl_meter_away(meter, from, intervals[i].end);
            meter->covered_nanos = intervals[i].end;
        }
    }
    return sum;
}

/* The driver returns times as single-precision floats, so the spans between events must be short. */
static void move_anchor(sl_meter_t *meter, const sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->spans[i].end) {
            sl_meter_give_back(meter, meter->anchor);
            meter->anchor = sl_meter_keep(batch->spans[i].end);
            meter->anchor_nanos = batch->spans[i].end_at;
            return;
        }
}

/* After the last submission of the batch the GPU works without a gap, so that time is work. An end that was recorded late tells nothing
 * about the time before it. Over a long time the clocks of GPU and host drift apart. */
static double tail(const sl_meter_t *meter, const sl_meter_batch_t *batch) {
    if (meter->host_nanos <= 0)
        return 0;
    double since = (double)batch->closed_nanos - (double)meter->aligned_nanos;
    double drift = (since > 0 ? since : -since) / TAIL_DRIFT;
    double from = (double)(batch->closed_nanos + batch->late_nanos), to = meter->covered_nanos + meter->host_nanos;
    double away = to > from ? (double)sl_stops_between((uint64_t)from, (uint64_t)to) : 0;
    return to - from - away - drift;
}

/* After the last submission the GPU worked longer than the known costs of the whole batch. So the known costs are too low. */
static bool is_longer(const sl_meter_t *meter, const sl_meter_batch_t *batch) {
    return tail(meter, batch) > 2 * (double)batch->predicted_nanos + SL_METER_LATE_NANOS;
}

/* The covered time without the GPU's waits for the host between calls on several streams. The waits count as far as the calls overlapped:
 * not at all if they ran one after the other, fully if two ran at a time. */
static double without_waiting(const sl_meter_t *meter, const sl_meter_batch_t *batch, double covered) {
    if (batch->count < 2 || sl_meter_has(batch, SL_METER_BLURRED) || sl_meter_has(batch, SL_METER_VAGUE) || covered <= 0 || is_longer(meter, batch))
        return covered;
    double beside = (double)batch->predicted_nanos / covered - 1;
    return sl_meter_later(covered - sl_meter_later(beside < 1 ? beside : 1, 0) * (double)batch->idle_nanos, 0);
}

/* The queue ran dry for moments only, if at all: the kernels followed each other as queued ones do. */
static bool is_nearly_full(const sl_meter_batch_t *batch, double covered) {
    return batch->count == 1 && batch->calls > 1 && covered - (double)batch->predicted_nanos <= (double)batch->calls * SL_IDLE_GAP_NANOS;
}

/* known: the host was not interrupted for long, so the events tell the time of a single call. */
static double judge(const sl_meter_t *meter, const sl_meter_batch_t *batch, double covered, bool known) {
    double least = (double)batch->predicted_nanos, rest = tail(meter, batch);
    if (sl_meter_has(batch, SL_METER_BLURRED))
        return sl_meter_later(covered, least);
    if (sl_meter_has(batch, SL_METER_VAGUE))
        return sl_meter_later(covered, is_longer(meter, batch) ? least : (double)batch->charged_nanos);
    if (sl_meter_has(batch, SL_METER_FULL) || (batch->calls == 1 && sl_meter_has(batch, SL_METER_PROMPT) && known) || is_nearly_full(batch, covered) || is_longer(meter, batch))
        return covered;
    least = rest > least ? rest : least;
    return covered < least ? covered : least;
}

/* On an idle stream the GPU passes an event when the host records it. */
static void align(sl_meter_t *meter, const sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        const sl_meter_span_t *span = &batch->spans[i];
        if (span->fresh && span->start && span->start->recorded_nanos == span->idle_since_nanos && !span->start->interrupted) {
            meter->host_nanos = (double)span->idle_since_nanos - span->start_at;
            meter->earliest_nanos = (double)span->start->asked_nanos - span->start_at;
            meter->latest_nanos = meter->host_nanos + SL_METER_RECORD_NANOS;
            meter->bounded_nanos = meter->aligned_nanos = span->idle_since_nanos;
            return;
        }
    }
}

/* Narrows the bounds of the host's time at 0 of the time line. The GPU passes an event after the host asks to record it, and before the
 * host sees it passed. A newer event that contradicts the bounds replaces them. */
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

/* What the calls of a divided batch likely took, but no more than the covered time. */
static uint64_t judge_divided(const sl_meter_batch_t *batch, uint64_t likely, double covered) {
    return covered < (double)likely && !sl_meter_has(batch, SL_METER_BLURRED) && !sl_meter_has(batch, SL_METER_VAGUE) ? (uint64_t)covered : likely;
}

/* The time of the batch's only call, and how far it can be trusted. */
static void see_only(const sl_meter_t *meter, const sl_meter_batch_t *batch, sl_meter_seen_t *seen) {
    interval_t whole[SL_METER_STREAMS];
    unsigned count = place(meter, batch, whole);
    seen->away = count ? sl_meter_away(meter, whole[0].begin, whole[count - 1].end) : 0;
    seen->alone = batch->only && count == 1 ? whole[0].end - whole[0].begin - seen->away : 0;
    uint64_t doubt = batch->late_nanos + (batch->count ? batch->spans[0].gap_nanos + sl_meter_start_doubt(&batch->spans[0]) : 0);
    seen->known = doubt < SL_METER_LATE_NANOS || seen->alone > 2 * (double)doubt;
}

/* The same with the batch on the host's clock. */
static void judge_only(const sl_meter_t *meter, const sl_meter_batch_t *batch, sl_meter_seen_t *seen) {
    bool behind = seen->alone > 0 && !sl_meter_has(batch, SL_METER_AMID) && sl_meter_lies_behind(meter, &batch->spans[0]);
    seen->certain = seen->alone > 0 && (batch->spans[0].fresh || behind);
    seen->known = seen->known && !seen->divided && (seen->certain || !batch->only || sl_meter_learn_is_news(batch->only, seen->alone));
}

/* The GPU time of interruptions since the batch before this one was read, or since this one was opened if that is later. What is more than
 * the batch covers belongs to the next one, which began meanwhile. A batch that another turn parted is judged by its calls alone. */
static double interrupted(sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen) {
    uint64_t from = batch->others_nanos, settled = meter->settled_others_nanos;
    double covered = seen->covered;
    from = settled - from < UINT64_MAX / 2 ? settled : from;
    uint64_t others = meter->others_nanos - from;
    if (seen->parted || others > UINT64_MAX / 2) {
        meter->settled_others_nanos = meter->others_nanos;
        return 0;
    }
    bool is_more = (double)others > covered;
    others = is_more ? (uint64_t)sl_meter_later(covered, 0) : others;
    meter->settled_others_nanos = from + others;
    return (double)others;
}

static void give_events_back(sl_meter_t *meter, const sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        sl_meter_give_back(meter, batch->spans[i].start);
        sl_meter_give_back(meter, batch->spans[i].end);
    }
}

bool sl_meter_settle(sl_meter_t *meter, sl_meter_reading_t *reading) {
    sl_meter_batch_t *batch = sl_meter_batch_at(meter, meter->oldest);
    if (meter->oldest == meter->open || !batch_is_done(meter, batch))
        return false;
    for (unsigned i = 0; i < batch->count && !meter->anchor; i++)
        meter->anchor = sl_meter_keep(batch->spans[i].start);
    locate(meter, batch);
    align(meter, batch);
    sl_meter_seen_t seen = {.before = meter->covered_nanos, .parted = batch->turn != meter->turn};
    seen.divided = seen.parted || batch->interruptions != meter->interruptions;
    sl_meter_reading_t read = {0};
    show(meter, batch, sl_os_nanos(), &read);
    see_only(meter, batch, &seen);
    judge_only(meter, batch, &seen);
    if (seen.alone > 0)
        sl_meter_learn_sample(meter, batch, &seen);
    if (sl_meter_has(batch, SL_METER_BLURRED | SL_METER_VAGUE))
        meter->murky = meter->open + meter->is_open;
    meter->settled_turn = batch->turn;
    seen.covered = without_waiting(meter, batch, cover(meter, batch));
    seen.others = interrupted(meter, batch, &seen);
    seen.covered -= seen.others;
    seen.longer = is_longer(meter, batch);
    move_anchor(meter, batch);
    uint64_t likely = sl_meter_learn_only(meter, batch, &seen);
    if (!seen.parted)
        sl_meter_learn_scale(meter, batch, &seen);
    read.nanos = seen.parted ? judge_divided(batch, likely, seen.covered) : (uint64_t)judge(meter, batch, seen.covered, seen.known);
    if (sl_meter_has(batch, SL_METER_CROSSED) && (double)read.nanos < seen.covered)
        meter->covered_nanos -= seen.covered - (double)read.nanos; /* its spans end late: the end may be work of the next batch */
    read.charged_nanos = batch->charged_nanos;
    read.opened_nanos = batch->opened_nanos;
    read.calls = batch->calls;
    read.last = meter->oldest + 1 == meter->open;
    read.dry = !sl_meter_has(batch, SL_METER_FULL) && tail(meter, batch) < DRY_NANOS;
    read.divided = seen.divided;
    *reading = read;
    give_events_back(meter, batch);
    meter->unsettled_nanos -= batch->charged_nanos;
    meter->unsettled_calls -= batch->calls;
    meter->oldest++;
    return true;
}

static bool has_ended(const sl_meter_batch_t *batch) {
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->spans[i].end && !sl_meter_is_done(batch->spans[i].end))
            return false;
    return true;
}

/* A span that has an end has ended its part in the batch, perhaps because the stream is gone. Of a thread's own default stream only that
 * thread can ask: it is told to record an end before its next wait. */
static bool is_span_working(sl_meter_t *meter, const sl_meter_span_t *span) {
    if (span->end)
        return !sl_meter_is_done(span->end);
    meter->crossed |= span->stream.own;
    if (span->stream.own || !span->stream.key || !sl_stream_begin_asking())
        return false;
    bool idle = sl_meter_is_idle(&span->stream);
    sl_stream_end_asking();
    return !idle;
}

bool sl_meter_is_working(sl_meter_t *meter, uint64_t open_nanos, uint64_t *since) {
    for (uint64_t number = meter->oldest; number < meter->open; number++) {
        const sl_meter_batch_t *batch = sl_meter_batch_at(meter, number);
        *since = batch->closed_nanos;
        if (!has_ended(batch))
            return true;
    }
    const sl_meter_batch_t *open = &meter->batches[meter->open % SL_METER_BATCHES];
    bool asks = meter->is_open && sl_os_nanos() - open->opened_nanos > open_nanos, working = false;
    *since = open->opened_nanos;
    for (unsigned i = 0; i < open->count && asks; i++)
        working |= is_span_working(meter, &open->spans[i]);
    return working;
}
