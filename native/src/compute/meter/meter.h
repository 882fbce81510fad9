/* meter: the GPU time that the work of one context took, measured by timing events around batches. */
#ifndef SL_METER_H
#define SL_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "costs/cost.h"
#include "cuda_abi.h"
#include "driver/stream.h"

#define SL_METER_STREAMS 16
#define SL_METER_BATCHES 64
#define SL_METER_CERTAIN_NANOS 50000u /* a smaller doubt about when the GPU did a batch is small enough */
#define SL_METER_EVENTS (SL_METER_STREAMS * (SL_METER_BATCHES + 2))

/* An event ends one span and may begin the next. */
typedef struct sl_meter_event {
    struct sl_meter_event *next;
    CUevent handle;
    unsigned uses;
    uint64_t asked_nanos, recorded_nanos; /* when the driver was asked to record it, and when it had, on the host */
    bool interrupted;        /* the host was interrupted meanwhile: the exact time is not known */
} sl_meter_event_t;

typedef struct {
    sl_stream_t stream;
    sl_meter_event_t *start, *end; /* NULL: could not be recorded */
    bool owed;                     /* only its own thread can record the end, and has not yet */
    bool fresh;                    /* the GPU passed start before there was more to do; else the work follows without a gap */
    uint64_t opened_nanos;         /* when it was opened, on the host; 0: the first submission after that was noted */
    uint64_t gap_nanos;            /* how long the GPU waited for that submission */
    uint64_t idle_since_nanos;     /* since when the GPU waited, on the host's clock */
    double start_at, end_at;       /* when the GPU passed them, on the context's time line; only while the batch is settled */
} sl_meter_span_t;

/* What is known about how a batch was measured; bits, because several may hold. */
typedef enum {
    SL_METER_PROMPT = 1,   /* it was closed right after its last call, not some time later */
    SL_METER_FULL = 2,     /* the GPU had work from before it until its end */
    SL_METER_BESIDE = 4,   /* it is on another stream than the batch before it, which the GPU has not done */
    SL_METER_AMID = 8,     /* the batch before it, which the GPU has not done, is on several streams */
    SL_METER_BLURRED = 16, /* not all of its work lies between events */
    SL_METER_CROSSED = 32, /* the thread that closed it cannot end all of its spans */
    SL_METER_VAGUE = 64,   /* when its last call ended is not known, but the call's cost is */
} sl_meter_evidence_t;

typedef struct {
    sl_meter_span_t spans[SL_METER_STREAMS];
    unsigned count;
    unsigned calls;
    uint64_t predicted_nanos; /* sum of the known costs of its calls */
    uint64_t idle_nanos;      /* how long the GPU was likely idle in between */
    uint64_t charged_nanos;   /* what was charged for it when it was closed */
    uint64_t opened_nanos;    /* when it was opened, on the host */
    uint64_t closed_nanos;    /* when all of it was submitted, on the host */
    uint64_t late_nanos;      /* how long after that its ends were recorded */
    uint64_t turn;            /* the meter's turn, */
    uint64_t interruptions;   /* its interruptions */
    uint64_t others_nanos;    /* and its others_nanos when the batch was opened */
    sl_cost_t *only; /* the cost of its only call, to be learnt; NULL: several calls */
    unsigned evidence; /* SL_METER_PROMPT and others */
} sl_meter_batch_t;

typedef struct {
    CUcontext context;
    sl_meter_batch_t batches[SL_METER_BATCHES];
    _Atomic uint64_t oldest, open; /* numbers of batches; the open one, if any, is the last. A thread without the lock reads these */
    _Atomic bool is_open;          /* and this */
    uint64_t turn;         /* changes when another process may have had the GPU */
    uint64_t settled_turn; /* the turn of the batch that was settled last */
    uint64_t interruptions; /* changes when another process interrupts work on the GPU without a turn */
    uint64_t others_nanos;  /* GPU time of those interruptions, ever; may be told late */
    uint64_t settled_others_nanos; /* so much of that time has been subtracted from batches, or belongs to no batch */
    bool crowded;          /* other processes of the tenant use the GPU too, at any time */
    uint64_t murky;        /* batches before this one may have run beside work that lies between no events */
    unsigned owed;         /* spans of closed batches whose end their own thread must record */
    _Atomic bool crossed;  /* threads end each other's batches */
    sl_meter_event_t events[SL_METER_EVENTS];
    sl_meter_event_t *unused; /* linked by next */
    unsigned made;
    sl_meter_event_t *anchor;  /* an event whose place on the context's own time line is known */
    double anchor_nanos;
    double covered_nanos;      /* the time line is charged up to here */
    double host_nanos;         /* the host's time at 0 of the time line, from the last start on an idle stream; 0: not known */
    uint64_t aligned_nanos;    /* when host_nanos was learnt, on the host */
    double earliest_nanos, latest_nanos; /* certain bounds of host_nanos; only for the times of batches */
    uint64_t bounded_nanos;    /* when these bounds held, on the host */
    uint64_t unsettled_nanos;  /* charged for all closed batches that the GPU has not finished */
    unsigned unsettled_calls;
    uint64_t rescaled;         /* the scale is learnt only from this batch on */
    double skew_nanos;         /* the part of the host's time for a launch that passes after the GPU has the launch. Learnt by comparing
                                * calls on an idle stream with queued calls */
    double queued_lately;      /* how many of the calls measured lately were queued */
    double scale;              /* GPU time divided by the sum of the costs of calls: less than 1 when streams overlap */
} sl_meter_t;

typedef struct {
    uint64_t nanos;         /* GPU time of the batch */
    uint64_t charged_nanos; /* what was charged for it */
    uint64_t opened_nanos;  /* when it was begun, on the host */
    unsigned calls;
    uint64_t began_nanos, ended_nanos; /* when the GPU did it, by the host's clock */
    uint64_t doubt_nanos;   /* how far that may be off */
    bool last;              /* no closed batch is left */
    bool dry;               /* the GPU had done all but the last of it before it was closed: the GPU waits for the host */
    bool divided;           /* another process had the GPU meanwhile: nanos is what its calls are known to take, dry means nothing */
} sl_meter_reading_t;

/* What is known about a batch when it ends. */
typedef struct {
    uint64_t predicted_nanos; /* sum of the known costs of its calls */
    uint64_t idle_nanos;      /* see idle.h */
    uint64_t submitted_nanos; /* when all of them were submitted, on the host */
    unsigned calls;
    bool prompt;              /* they were submitted just now */
    sl_cost_t *only;          /* the cost of its only call, to be learnt; or NULL */
} sl_meter_end_t;

/* All with the gate's lock held and the context current. */

/* Makes the stream a part of the open batch; opens one if there is none. idle: the GPU is likely idle, so an end event that it has not
 * passed was recorded just now. False: the stream cannot be measured. */
bool sl_meter_open(sl_meter_t *meter, const sl_stream_t *stream, bool idle);
/* Right after a submission: notes how long the GPU waited for it after a fresh start. The time of a call that blocks is no gap, because
 * the GPU worked meanwhile. */
void sl_meter_submitted(sl_meter_t *meter, const sl_stream_t *stream, bool blocks, uint64_t now);
/* Closes the open batch. Returns the GPU time to charge for it now. */
uint64_t sl_meter_close(sl_meter_t *meter, const sl_meter_end_t *end);
/* The GPU time that calls with this sum of costs are likely to take. */
uint64_t sl_meter_expect(const sl_meter_t *meter, uint64_t predicted_nanos);
/* Reads the oldest closed batch. False: the GPU is not done with it. */
bool sl_meter_settle(sl_meter_t *meter, sl_meter_reading_t *reading);
/* Whether the GPU has not done all of the context's work, and since when it may do the oldest of that, on the host's clock. Asks about
 * the open batch only after this long, and about no stream while any captures. Another thread than the program's may call it. */
bool sl_meter_is_working(sl_meter_t *meter, uint64_t open_nanos, uint64_t *since);
/* A thread cannot record an event on another thread's default stream. So each thread ends its own spans: in batches that other threads
 * have closed, */
void sl_meter_end_owed(sl_meter_t *meter);
/* and in the open batch before it waits for the GPU. True: before it submits more, it must open the stream again. */
bool sl_meter_end_early(sl_meter_t *meter);
/* The stream is about to be destroyed. */
void sl_meter_leave_stream(sl_meter_t *meter, CUstream handle);

#endif
