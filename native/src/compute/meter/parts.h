/* parts: shared by the three files of the meter. record.c puts events around batches. read.c asks when the GPU passed them and how much
 * of that time was work. learn.c learns from that what calls take. */
#ifndef SL_METER_PARTS_H
#define SL_METER_PARTS_H

#include "compute/meter/meter.h"

/* Measured on an H200, driver 580, where not said otherwise. */
#define SL_METER_RECORD_NANOS 2000u /* the host needs this long to record an event: 0.8 to 1.8 us */
#define SL_METER_LATE_NANOS 40000u  /* a host that took this long around a call was interrupted: the measurement is not used */
#define SL_METER_BEHIND_NANOS 10000.0 /* an event that the GPU passes this long after it was recorded lay behind other work */
#define SL_METER_FRESH_NANOS 2100u  /* two events around a kernel add this on an idle stream */

static inline bool sl_meter_has(const sl_meter_batch_t *batch, unsigned evidence) {
    return batch->evidence & evidence;
}

static inline sl_meter_batch_t *sl_meter_batch_at(sl_meter_t *meter, uint64_t number) {
    return &meter->batches[number % SL_METER_BATCHES];
}

static inline double sl_meter_later(double one, double other) {
    return one > other ? one : other;
}

/* Events are counted by their uses. NULL is no event. */
sl_meter_event_t *sl_meter_keep(sl_meter_event_t *event);
void sl_meter_give_back(sl_meter_t *meter, sl_meter_event_t *event);
bool sl_meter_is_idle(const sl_stream_t *stream);
bool sl_meter_is_done(const sl_meter_event_t *event);

/* What the events of a batch show. */
typedef struct {
    double alone;   /* how long its only call took; 0: it has several calls, or that is not known */
    double covered; /* GPU time that no earlier batch covers */
    double away;    /* how long the process's work was off the GPU between the batch's first and last event */
    double before;  /* up to where earlier batches cover the time line */
    double others;  /* how long interruptions had the GPU meanwhile */
    bool divided;   /* another process had the GPU meanwhile */
    bool parted;    /* because of another turn, so that nothing tells for how long */
    bool longer;    /* its calls take longer than their known costs */
    bool known;     /* the host was not interrupted around the call */
    bool certain;   /* the call began at once, or right behind others on its stream */
} sl_meter_seen_t;

/* For how long the process's work was off the GPU between two moments of the time line. */
double sl_meter_away(const sl_meter_t *meter, double from, double to);

/* If the GPU had not reached the start when the call returned, the start lay behind other work, or was recorded just before. In the second
 * case it is not known how much of the host's time the span contains. */
static inline bool sl_meter_lies_behind(const sl_meter_t *meter, const sl_meter_span_t *span) {
    double passed = span->start_at + meter->earliest_nanos;
    return !span->fresh && passed > (double)span->start->recorded_nanos + SL_METER_BEHIND_NANOS;
}

/* How long the host was interrupted while it recorded a start on an idle stream. The GPU may have passed the start before that, and
 * waited for the call since. */
static inline uint64_t sl_meter_start_doubt(const sl_meter_span_t *span) {
    uint64_t took = span->fresh && span->start ? span->start->recorded_nanos - span->start->asked_nanos : 0;
    return took > SL_METER_RECORD_NANOS ? took - SL_METER_RECORD_NANOS : 0;
}

/* Whether even an uncertain measurement shows that the call takes quite another time now. */
bool sl_meter_learn_is_news(const sl_cost_t *cost, double alone);
/* Keeps the time of the batch's only call for traces. */
void sl_meter_learn_sample(sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen);
/* Learns what the only call costs. Returns what the batch likely took. */
uint64_t sl_meter_learn_only(sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen);
/* Learns how GPU time relates to the sum of the calls' costs. */
void sl_meter_learn_scale(sl_meter_t *meter, const sl_meter_batch_t *batch, const sl_meter_seen_t *seen);

#endif
