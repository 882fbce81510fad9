/* overhead: memory that the driver took and no call asked for by name: code, stacks, page tables. gpu is the number of an entry
 * in the region's table of GPUs. */
#ifndef SL_OVERHEAD_H
#define SL_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define SL_OVERHEAD_GPUS 16

/* What the driver's books and ours said at one moment. */
typedef struct {
    unsigned gpu;
    bool process_known;
    bool listed;            /* NVML knows this process */
    uint64_t process_bytes; /* what it has on the GPU */
    uint64_t certain;       /* what of ours is there by name, */
    uint64_t most_certain;  /* and the most while we looked */
    uint64_t loose; /* part of what is certain that may be gone: of pools that other threads trim or take from just now */
    uint64_t possible, managed;
    uint64_t calls; /* that took something by name, so far */
    bool is_exact; /* nothing was under way: only managed memory may be elsewhere */
    bool is_late;  /* a context was ending: something of what is certain may be gone */
} sl_overhead_look_t;

/* What a call takes on one GPU: reserved before the driver is asked, learned afterwards. */
typedef struct {
    sl_overhead_look_t before;
    uint64_t reserved, used;
    uint64_t ended;    /* of what ends with this call: what it took, and is in flight now, */
    uint64_t released; /* and what it was promised and may have taken */
} sl_overhead_part_t;

/* A call that takes memory without a name. */
typedef struct {
    unsigned count;
    bool is_known;        /* what it takes or gives back: nothing is to be measured */
    bool later;           /* the driver takes what is reserved with another call, which cannot be refused: a promise */
    uint64_t given_bytes; /* on each GPU, to be taken back when what was made ends */
    uint64_t grown_bytes;    /* where the quota was passed */
    unsigned grown_gpu;
    sl_overhead_part_t parts[SL_OVERHEAD_GPUS];
} sl_overhead_call_t;

/* All GPUs on which this process has a context. */
enum { SL_OVERHEAD_ALL = -3 };

sl_overhead_look_t sl_overhead_look(unsigned gpu);
/* What the process has more than before, beyond what it asked for by name; 0 when that cannot be known. */
uint64_t sl_overhead_growth(const sl_overhead_look_t *before);

/* This process has a context there. */
void sl_overhead_watch(unsigned gpu);
/* Whether a call must keep to a quota: a call on this GPU, on all GPUs, or on none (any other negative number). */
bool sl_overhead_is_limited(int gpu);
/* Reserves so many bytes on each of those GPUs, and looks at them. False: they exceed a quota, and nothing is reserved.
 * With wait the ledger may wait for room. */
bool sl_overhead_begin(sl_overhead_call_t *call, int gpu, uint64_t bytes, bool wait);
/* So many bytes end with the call, and the driver is not asked yet: until the end they count as in flight, so that nobody
 * sees that they are gone before that is booked. */
void sl_overhead_leave(sl_overhead_call_t *call, unsigned part, uint64_t bytes, bool later);
/* Books what the call took: what was reserved, or, where nothing was, what a look tells; where it was not done, nothing
 * stays reserved. False: a look told so much that the quota was passed. */
bool sl_overhead_end(sl_overhead_call_t *call, bool done);
/* The call was undone: books that, and counts a refusal. */
void sl_overhead_refuse(sl_overhead_call_t *call);
/* What so many bytes were given to has ended: books that. */
void sl_overhead_release(unsigned gpu, uint64_t bytes, bool later);

/* Books what is there now; true when it is less than before. */
bool sl_overhead_came_back(unsigned gpu);
/* The same on all GPUs, at once. */
void sl_overhead_refresh(void);
/* The same, but only every 100 ms. */
void sl_overhead_now_and_then(unsigned gpu);

#endif
