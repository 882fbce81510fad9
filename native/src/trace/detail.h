/* detail: what a call did, for the trace and the profile. */
#ifndef SL_DETAIL_H
#define SL_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

/* What a call does. */
enum {
    SL_DETAIL_NONE,
    SL_DETAIL_KERNEL,
    SL_DETAIL_COPY,
    SL_DETAIL_SET,
    SL_DETAIL_MEMORY, /* takes or gives back memory */
    SL_DETAIL_GRAPH,  /* launches one */
    SL_DETAIL_SYNC,
};

/* Source and target of a copy; in the order of the region's record traffic. */
enum {
    SL_DIRECTION_NONE,
    SL_DIRECTION_TO_GPU,
    SL_DIRECTION_FROM_GPU,
    SL_DIRECTION_ON_GPU,
    SL_DIRECTION_BETWEEN_GPUS,
    SL_DIRECTION_HOST,
    SL_DIRECTION_OTHER, /* the call does not say */
};

/* CUDA's own handles of the default streams. */
enum { SL_STREAM_LEGACY = 1, SL_STREAM_PER_THREAD = 2 };

typedef struct {
    uint64_t stream;   /* the handle; 0 = the call has none */
    uint64_t bytes;    /* asked to copy, set or allocate; 0 = the parameters do not tell */
    uint64_t function; /* CUfunction or CUkernel of a kernel, CUgraphExec of a graph; else 0 */
    unsigned grid[3], block[3], shared_bytes; /* 0 where the call does not say */
    uint64_t address;  /* of memory that was taken or given back; else 0 */
    uint8_t kind;
    uint8_t direction;
    bool quick; /* not every call of its kind is timed; see watch.h */
} sl_detail_t;

#endif
