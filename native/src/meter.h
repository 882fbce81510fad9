/* meter: the GPU time that the work of one context took, measured by timing events around batches. */
#ifndef SL_METER_H
#define SL_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "cost.h"
#include "cuda_abi.h"

#define SL_METER_STREAMS 16
#define SL_METER_BATCHES 64
#define SL_METER_EVENTS 256

/* How a call names a stream: the numbers of the default streams mean another stream in each variant of a call. */
typedef struct {
    CUstream handle;
    bool per_thread; /* which variant of the call named it */
    bool own;        /* the default stream of one thread: only that thread can name it */
    uint64_t key;    /* the same for the same stream */
} sl_meter_stream_t;

/* An event ends one span and may begin the next. */
typedef struct {
    CUevent handle;
    unsigned uses;
} sl_meter_event_t;

typedef struct {
    sl_meter_stream_t stream;
    sl_meter_event_t *start, *end; /* NULL: could not be recorded */
    bool fresh;                    /* the stream was idle when start was recorded; else it is the end of an earlier span */
    uint64_t recorded_nanos;       /* when, on the host; 0 = the first submission after it was seen */
    uint64_t gap_nanos;            /* from then to that submission */
} sl_meter_span_t;

typedef struct {
    sl_meter_span_t spans[SL_METER_STREAMS];
    unsigned count;
    unsigned calls;
    uint64_t predicted_nanos;
    sl_cost_t *only; /* the batch is this one call: teaches what it costs */
    bool full;       /* the GPU had work from before it until its end */
    bool blurred;    /* not all of its work lies between events */
} sl_meter_batch_t;

typedef struct {
    CUcontext context;
    sl_meter_batch_t batches[SL_METER_BATCHES];
    uint64_t oldest, open; /* numbers of batches; the open one, if any, is the last */
    bool is_open;
    sl_meter_event_t events[SL_METER_EVENTS];
    unsigned made;
    sl_meter_event_t *origin;  /* an event whose place on the context's own time line is known */
    double origin_nanos;
    double covered_nanos;      /* up to here GPU time was charged */
    uint64_t unsettled_nanos;  /* predicted, of all closed batches */
} sl_meter_t;

typedef struct {
    uint64_t nanos;     /* GPU time of the batch */
    uint64_t predicted_nanos;
    unsigned calls;
    bool full;
} sl_meter_reading_t;

/* All with the gate's lock held and the context current. */

sl_meter_stream_t sl_meter_stream(CUstream handle, bool per_thread);
bool sl_meter_captures(const sl_meter_stream_t *stream);
/* Makes the stream a part of the open batch, which is begun when there is none. False: it cannot be measured. */
bool sl_meter_open(sl_meter_t *meter, const sl_meter_stream_t *stream);
bool sl_meter_has(const sl_meter_t *meter, const sl_meter_stream_t *stream);
/* Right after a submission: notes the host's gap after a fresh start. */
void sl_meter_submitted(sl_meter_t *meter, const sl_meter_stream_t *stream, uint64_t now);
/* Ends the open batch: its work was predicted to take so long. */
void sl_meter_close(sl_meter_t *meter, uint64_t predicted_nanos, unsigned calls, sl_cost_t *only, uint64_t now);
/* The oldest batch's reading, when the GPU is done with it. */
bool sl_meter_settle(sl_meter_t *meter, sl_meter_reading_t *reading);
/* The stream is about to be destroyed. */
void sl_meter_leave_stream(sl_meter_t *meter, CUstream handle);

#endif
