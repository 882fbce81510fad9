/* mine: what a thread of the program keeps for itself. It is in one place because a launch needs nearly all of it. */
#ifndef SL_MINE_H
#define SL_MINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "region_layout.h"

struct sl_lane;
struct sl_recorded;
struct sl_trace_thread;

/* Credit that the thread has taken in advance; see pocket.h. */
typedef struct {
    struct sl_lane *lane; /* NULL: there is nothing in it */
    CUstream stream;      /* of the last call that was looked at closely */
    const _Atomic uint64_t *turn; /* the board's word, or one that never changes */
    uint64_t turn_seen;
    unsigned version;
    int default_stream;
    uint64_t key;         /* of the last launch that asked for credit */
    _Atomic uint64_t *submitted; /* where calls to the GPU of the last such stream are counted */
    bool together;        /* other threads count there too */
} sl_pocket_t;

/* Where the thread's calls are recorded; see trace.h. */
typedef struct {
    struct sl_trace_thread *thread;
    struct sl_recorded *trace; /* for which thread was made, or could not be */
} sl_trace_mine_t;

/* Where the thread counts; see watch.h. */
typedef struct {
    sl_region_call_t *calls; /* NULL: not a part of a tenant, as far as this thread has seen */
    sl_region_traffic_t *traffic;
    uint64_t held_ticks;     /* since when the call under way was looked at closely by the gate; 0 = it was not */
    uint32_t untimed;        /* so many quick calls come before one is timed */
    uint32_t random;
    bool shared;             /* other threads count there too */
} sl_watch_place_t;

/* The lane that the thread last asked for; see lane.h. */
typedef struct {
    CUcontext context;
    struct sl_lane *lane;
    uint32_t generation; /* of contexts */
} sl_lane_mine_t;

typedef struct {
    _Alignas(64) sl_pocket_t pocket;
    sl_trace_mine_t trace;
    sl_watch_place_t watch;
    int gpu; /* the entry of that of the lane; -1: there is none */
    sl_lane_mine_t lane;
    uint64_t began_ticks; /* when the last timed call began: for who needs the time only roughly; 0 = there was none */
} sl_mine_t;

extern __thread sl_mine_t sl_mine __attribute__((tls_model("initial-exec")));

#endif
