/* learn: learns from a batch what calls take: the cost of a single call, the host's part in it, and the scale of sums.
 *
 * Seen on an H200 (driver 580): the span of a single kernel between two events is 2.0 us longer than the kernel, of a queued one 2.9 us.
 * On an idle stream the span also contains the host's time for the launch, up to the moment when the GPU has the launch. What the host
 * does after that moment is nearly nothing, but 6.5 us where a profiler records each launch. (The 6.5 us are inferred: a training with
 * 24,269 kernels, copies and sets showed 157 ms too little.) */
#include "compute/meter/parts.h"

#include "costs/sample.h"

/* Measured on an H200, driver 580, where not said otherwise. */
#define ALONE_NANOS 900.0        /* events around a single queued kernel add this much more than between several */
#define SKEW_STEP_NANOS 100.0    /* small, because the time of some kernels varies */
#define MOST_SKEW_NANOS 20000.0  /* three times the 6.5 us under a profiler */
#define LATE_TOLD_NANOS 2000000.0 /* chosen: four batches of an interrupting process */
#define LEAST_QUEUED 2.0         /* so many of the calls measured lately must have stood behind others, to show the host's part */
#define QUEUED_FADES 64.0        /* "lately": a call counts for less with each of about this many others */

/* The scale follows quickly when streams overlap, and when kernels take another time than before. */
void sl_meter_learn_scale(sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen) {
    bool longer = seen->longer;
    bool telling = !sl_meter_has(batch, SL_METER_BLURRED) && batch->predicted_nanos &&
                   (sl_meter_has(batch, SL_METER_FULL | SL_METER_BESIDE) || batch->count > 1 || longer);
    bool full = sl_meter_has(batch, SL_METER_FULL), beside = sl_meter_has(batch, SL_METER_BESIDE);
    double old = meter->scale > 0 ? meter->scale : 1, now = telling ? seen->covered / (double)batch->predicted_nanos : 1;
    if (sl_meter_has(batch, SL_METER_VAGUE) || (batch->calls == 1 && !beside) || (!full && !longer && now > 1) || meter->oldest < meter->rescaled)
        return;
    now = now > 1000 ? 1000 : now < 0.01 ? 0.01 : now;
    bool usual = now > old / 2 && now < old * 2;
    meter->scale = old + (now - old) / (usual || beside ? 8 : 2);
}

/* Once the longer cost of a call is known, the scale need not make up for it. Batches that were predicted before are ignored. */
static void learn_cost(sl_meter_t *meter, sl_cost_t *cost, uint64_t nanos) {
    uint64_t old = cost->nanos;
    sl_cost_learn(cost, nanos);
    if (!old || cost->nanos < old + old / 4)
        return;
    meter->rescaled = meter->open + meter->is_open;
    if (meter->scale > 1)
        meter->scale = 1;
}

bool sl_meter_learn_is_news(const sl_cost_t *cost, double alone) {
    double nanos = (double)cost->nanos;
    return cost->samples < SL_COST_SAMPLES || alone > 1.5 * nanos + SL_METER_BEHIND_NANOS || alone < nanos / 2;
}

/* The span of a call behind others on its stream does not contain the host's time. So such calls correct the host's part for calls on an
 * idle stream. The steps are small, because the time of some kernels varies. Calls behind others on several streams do not count: there
 * events take an H200 2 to 4 us longer. A few queued calls are not enough: a call may only seem to be queued, because another process
 * had the GPU for a moment. In a program that waits for each call, no other call would correct that error. */
static double learn_skew(sl_meter_t *meter, sl_cost_t *cost, bool fresh, double alone) {
    double queued = (double)cost->queued_nanos, off = queued - alone;
    meter->queued_lately -= meter->queued_lately / QUEUED_FADES;
    if (!fresh) {
        double seen = sl_meter_later(alone - ALONE_NANOS, 0);
        meter->queued_lately++;
        cost->queued_nanos = (uint64_t)(queued > 0 ? queued + (seen - queued) / 4 : seen);
        return seen;
    }
    bool same = meter->queued_lately > LEAST_QUEUED && queued > 0 && off < queued / 2 + MOST_SKEW_NANOS && -off < queued / 2 + MOST_SKEW_NANOS;
    if (same && off > 0 && meter->skew_nanos < MOST_SKEW_NANOS)
        meter->skew_nanos += SKEW_STEP_NANOS;
    if (same && off < 0 && meter->skew_nanos > -(double)SL_METER_FRESH_NANOS)
        meter->skew_nanos -= SKEW_STEP_NANOS;
    return alone;
}

/* Work of another process makes a call seem longer, never shorter. So the time is learnt if the cost is unknown, or known as longer.
 * Otherwise a call during which the process always loses the turn would count as short for ever. */
static bool is_bound(const sl_cost_t *cost, double alone) {
    return alone > 0 && (cost->samples < SL_COST_SAMPLES || alone < (double)cost->nanos);
}

/* The time of interruptions is known, but some of it is told late. A call that takes this much longer takes longer without them, too. Otherwise
 * a call that is always interrupted would count as short for ever. */
static bool is_far_longer(const sl_cost_t *cost, const sl_meter_seen_t *seen) {
    return !seen->parted && seen->alone - seen->others > 2 * ((double)cost->nanos + seen->others + LATE_TOLD_NANOS);
}

uint64_t sl_meter_learn_only(sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen) {
    sl_cost_t *only = batch->only;
    uint64_t likely = batch->charged_nanos;
    if (!only)
        return likely;
    if (seen->known)
        learn_cost(meter, only, (uint64_t)(seen->certain ? learn_skew(meter, only, batch->spans[0].fresh, seen->alone) : seen->alone));
    else if (seen->divided && is_bound(only, seen->alone))
        sl_cost_learn(only, (uint64_t)seen->alone);
    else if (seen->divided && is_far_longer(only, seen))
        learn_cost(meter, only, (uint64_t)(seen->alone - seen->others));
    likely = likely > only->nanos ? likely : only->nanos;
    atomic_fetch_sub(&only->pending, 1);
    return likely;
}

/* What the only call of the batch took, with bounds. The span is the upper bound: it also contains the events. On an idle stream it also
 * contains the way of the call to the GPU, and interruptions of the host at the start. If the GPU passed the end at once, the host may have
 * recorded the end after the call was over. */
static sl_sample_t sample_of(const sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen) {
    double alone = seen->alone;
    const sl_meter_span_t *span = &batch->spans[0];
    bool behind = sl_meter_lies_behind(meter, span);
    bool ends_behind = span->end_at + meter->earliest_nanos > (double)span->end->recorded_nanos + SL_METER_BEHIND_NANOS;
    double likely = behind ? sl_meter_later(alone - ALONE_NANOS, 0) : alone, gap = behind ? 0 : (double)(span->fresh ? sl_meter_start_doubt(span) : span->gap_nanos);
    double late = ends_behind ? 0 : (double)(batch->late_nanos + span->end->recorded_nanos - span->end->asked_nanos);
    return (sl_sample_t){sl_meter_later(likely - gap - late, 0), likely, span->end_at - span->start_at - seen->away};
}

/* Whether later batches use other streams. */
static bool is_followed_beside(sl_meter_t *meter, uint64_t key) {
    for (uint64_t number = meter->oldest + 1; number < meter->open + meter->is_open; number++) {
        const sl_meter_batch_t *batch = sl_meter_batch_at(meter, number);
        for (unsigned i = 0; i < batch->count; i++)
            if (batch->spans[i].stream.key != key)
                return true;
    }
    return false;
}

/* A call that came to an idle GPU began at once. Calls of other streams may have overtaken a call that waited behind others on its stream,
 * and another process may have delayed it. Then its time is only a bound. */
void sl_meter_learn_sample(sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen) {
    const sl_meter_span_t *span = &batch->spans[0];
    double begin = span->end_at - seen->alone - seen->away;
    bool undisturbed = !seen->divided && !meter->crowded && batch->turn == meter->settled_turn && meter->oldest >= meter->murky;
    bool at_once = seen->before <= begin + (double)SL_METER_RECORD_NANOS && (span->fresh || !is_followed_beside(meter, span->stream.key));
    sl_sample_note(batch->only, undisturbed && at_once ? SL_SAMPLE_ALONE : SL_SAMPLE_BOUND, sample_of(meter, batch, seen));
}
