/* lane: what the gate knows about one GPU and about one context on it. */
#ifndef SL_LANE_H
#define SL_LANE_H

#include <stdatomic.h>

#include "turns/board.h"
#include "compute/meter/meter.h"
#include "compute/meter/idle.h"
#include "os/mutex.h"
#include "region_layout.h"

#define SL_LANE_MEMBERS 16u
#define SL_LANE_PROBES 4u /* a stream is in one of so many places */

/* Fields that the fast path of a launch reads come first, here and in a lane. */
typedef struct {
    _Atomic bool active;  /* the limits ask for a cap, for turns, or to measure */
    _Atomic bool takes_turns;
    bool outside;         /* it would take turns, but works without, see above.h */
    bool has_windows;     /* culocker's */
    _Atomic uint32_t epoch;
    sl_board_t board;     /* base is NULL: not joined */
    sl_region_share_t *share;
    unsigned gpu;         /* the region's entry */
    uint32_t permille;    /* 1000: no cap, or it is lifted */
    sl_mutex_t lock; /* protects everything here and in the lanes, except the atomics */
    _Atomic bool refused; /* there is no board, and on-error is fail: calls are refused */
    bool unbound;         /* only measured: nothing waits */
    uint64_t turn_ticks;  /* start of the part of the turn that the trace has not recorded; 0: this process has no turn */
    uint64_t turn_wanted_nanos;   /* since when this process waits for the turn; 0: it does not wait */
    bool shut;                    /* the cap was used up and is not yet paid for */
    bool dry;                     /* the GPU waits for the host between submissions */
    uint64_t own_due_nanos;       /* as due_nanos of the share, but for this process alone and its part of the cap */
    unsigned sharers;             /* processes of the tenant that want this GPU now, this one included */
    _Atomic bool has_superior, has_inferior;
    uint64_t checked_nanos;       /* when the last three were read */
    uint32_t cap_permille;        /* the cap, even while it is lifted */
    bool cap_when_shared;         /* the cap is lifted while no other tenant uses the GPU */
    uint64_t lone_nanos;          /* when that was read */
} sl_lane_gpu_t;

typedef struct sl_lane {
    CUcontext context;
    sl_lane_gpu_t *gpu;
    _Atomic int64_t credit_nanos;              /* predicted GPU time that may be submitted without asking */
    _Atomic unsigned calls;
    _Atomic unsigned batch;                    /* the open one's number, or the next one's */
    const void *_Atomic credit_thread;         /* the thread that took credit in advance; NULL: none. Ends with the batch */
    _Atomic int64_t thread_credit_nanos;              /* what is left of that credit, no part of credit_nanos; only this thread spends it */
    _Atomic unsigned thread_credit_calls;             /* of this thread, not yet in calls */
    _Atomic uint64_t members[SL_LANE_MEMBERS]; /* streams of the open batch, mixed with its number */
    unsigned member_batches[SL_LANE_MEMBERS];  /* the batches in which they became members */
    sl_idle_t idle;
    uint64_t granted_nanos;                    /* all credit ever given */
    uint64_t opened_nanos;                     /* granted_nanos less credit when the open batch began */
    unsigned opened_calls;
    uint64_t sampled_nanos;                    /* granted_nanos when a call was last measured by itself */
    uint64_t sampled_at_nanos;                 /* the time at which that was */
    uint64_t mean_nanos;                       /* mean cost of recent calls */
    uint64_t busy_nanos;                       /* when the GPU should be done with all closed batches */
    _Atomic bool ended;                        /* the context is being destroyed or gone: nothing is measured any more */
    sl_meter_t meter;
} sl_lane_t;

_Static_assert(SL_LANE_MEMBERS <= SL_IDLE_STREAMS, "a place of each");

/* The highest bits are the first of a stream's places. */
static inline uint64_t sl_lane_mix(uint64_t stream_key) {
    return stream_key * 0x9e3779b97f4a7c15ull;
}

/* The place of a stream among the members of the open batch; -1: it is no member. */
static inline int sl_lane_find(const sl_lane_t *lane, uint64_t stream_key) {
    uint64_t mixed = sl_lane_mix(stream_key), member = mixed ^ (atomic_load_explicit(&lane->batch, memory_order_relaxed) + 1ull);
    for (unsigned i = 0; i < SL_LANE_PROBES; i++) {
        unsigned place = (unsigned)((mixed >> 60) + i) % SL_LANE_MEMBERS;
        if (atomic_load_explicit(&lane->members[place], memory_order_relaxed) == member)
            return (int)place;
    }
    return -1;
}

/* Makes the stream a member if it is none, and returns its place. */
unsigned sl_lane_add(sl_lane_t *lane, uint64_t stream_key);
void sl_lane_remove(sl_lane_t *lane, uint64_t stream_key);

/* Returns the credit that a thread took in advance to the lane. */
static inline void sl_lane_take_credit_back(sl_lane_t *lane) {
    atomic_fetch_add(&lane->credit_nanos, atomic_exchange(&lane->thread_credit_nanos, 0));
    atomic_fetch_add(&lane->calls, atomic_exchange(&lane->thread_credit_calls, 0));
}

/* Puts the process on the GPU's board although it may never pass the gate, so that its time slice can be short for others. */
void sl_lane_show(unsigned number);
/* The lane of the current context; NULL when its GPU cannot be accounted. */
sl_lane_t *sl_lane_current(void);
/* The lane of a context that need not be current; NULL: it has none. */
sl_lane_t *sl_lane_known(CUcontext context);
/* Whether there was ever one. */
bool sl_lane_is_any(void);
void sl_lane_each(void (*visit)(sl_lane_t *lane, void *argument), void *argument);
/* Since when the oldest work of this process has been on the GPU, as its events tell; 0: it has none. An open batch younger than open_nanos does not
 * count. With the GPU's lock held, so the driver cannot destroy the context. */
uint64_t sl_lane_working_since(const sl_lane_gpu_t *gpu, uint64_t open_nanos);
/* The lane of the stream that a call submits to. Its context need not be the current one. */
sl_lane_t *sl_lane_of(CUstream stream, bool per_thread);
/* Makes the lane's context current, as the meter needs it, and restores the program's. */
typedef struct {
    bool pushed;
} sl_lane_visit_t;
sl_lane_visit_t sl_lane_visit(const sl_lane_t *lane);
void sl_lane_return(sl_lane_visit_t visit);
/* Before the driver destroys the context with its events: stops the lane. close is called with the GPU's lock held and the lane's
 * context current. */
void sl_lane_end(CUcontext context, void (*close)(sl_lane_t *lane));
/* Afterwards: the context is gone, or it goes on. */
void sl_lane_settle_end(CUcontext context, bool gone);
/* Another process took this process's entries on the board: takes new ones. */
void sl_lane_rejoin(sl_lane_gpu_t *gpu, const sl_board_t *lost);
/* Reads the limits again. */
void sl_lane_refresh(sl_lane_gpu_t *gpu);

#endif
