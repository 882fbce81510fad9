/* thread: what the library keeps for each thread of the program. It is one variable, because a launch needs nearly all of it. And how
 * the library starts threads of its own. */
#ifndef SL_THREAD_H
#define SL_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "os/clock.h"
#include "region_layout.h"

struct sl_hold_place;
struct sl_lane;
struct sl_recorded;
struct sl_trace_thread;

/* Credit that the thread took in advance for one stream; see credit.h. */
typedef struct {
    struct sl_lane *lane; /* NULL: the thread has no credit */
    CUstream stream;      /* of the last call that took the slow path */
    const _Atomic uint64_t *turn; /* the board's word, or a word that never changes */
    uint64_t turn_seen;
    uint64_t version;     /* of sl_credit_version; in the upper half, which default stream the calls mean */
    uint64_t key;         /* of the last launch that asked for credit */
    _Atomic uint64_t *submitted; /* counter of the calls submitted to the GPU of that stream */
    bool together;        /* other threads write this counter too */
} sl_thread_credit_t;

/* Where the thread's calls are recorded; see trace.h. */
typedef struct {
    struct sl_trace_thread *thread;
    struct sl_recorded *trace; /* the trace that thread belongs to; thread is NULL if it could not be made */
} sl_thread_trace_t;

/* Where the thread counts its calls; see watch.h. */
typedef struct {
    sl_region_call_t *calls; /* NULL: the thread has made no call as a part of a tenant */
    sl_region_traffic_t *traffic;
    uint64_t gated_ticks;    /* when the current call entered the slow path of the gate; 0: it did not */
    uint32_t untimed;        /* quick calls until one is timed */
    uint32_t random;
    bool shared;             /* other threads count in the same records */
} sl_thread_watch_t;

/* The lane that the thread last asked for; see lane.h. */
typedef struct {
    CUcontext context;
    struct sl_lane *lane;
    uint32_t generation; /* of contexts */
} sl_thread_lane_t;

typedef struct {
    _Alignas(64) sl_thread_credit_t credit;
    struct sl_hold_place *hold; /* where the thread marks itself as in the driver; NULL: it has made no call; see hold.h */
    sl_thread_trace_t trace;
    sl_thread_watch_t watch;
    int gpu; /* the region's entry of the lane's GPU; -1: none */
    sl_thread_lane_t lane;
    uint64_t began_ticks; /* when the last timed call began, for callers that need the time only roughly; 0: no call yet */
} sl_thread_t;

extern __thread sl_thread_t sl_thread __attribute__((tls_model("initial-exec")));

/* A thread of the library: it is detached and blocks all signals. False: the process can have no more threads. */
bool sl_thread_start(void *(*body)(void *), void *argument);

/* The current call enters the slow path of the gate, so it may take any time. */
static inline void sl_thread_note_gate(void) {
    if (!sl_thread.watch.gated_ticks)
        sl_thread.watch.gated_ticks = sl_clock_ticks() | 1;
}

#endif
