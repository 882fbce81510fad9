/* overhead: memory that the driver took and no call asked for by name: code, stacks, page tables. gpu is the number of an entry
 * in the region's table of GPUs. */
#ifndef SL_OVERHEAD_H
#define SL_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define SL_OVERHEAD_GPUS 16

/* The driver's figures and the ledger's at one moment. */
typedef struct {
    unsigned gpu;
    bool process_known;
    bool listed;            /* NVML knows this process */
    uint64_t process_bytes; /* what the process has on the GPU, by NVML */
    uint64_t certain;       /* what the ledger has by name and is on the GPU */
    uint64_t most_certain;  /* the most of that during the look */
    uint64_t loose; /* the part of certain that may be gone: pools that other threads trim or take from */
    uint64_t possible, managed;
    uint64_t calls; /* calls that took something by name, so far */
    bool is_exact; /* no call was in flight: only managed memory may be elsewhere */
    bool is_late;  /* a context was ending: a part of certain may be gone */
} sl_overhead_look_t;

/* What a call takes on one GPU: reserved before the driver is asked, learned afterwards. */
typedef struct {
    sl_overhead_look_t before;
    uint64_t reserved, used;
    uint64_t ended;    /* bytes that end with this call; they count as in flight */
    uint64_t released; /* promised bytes that end with this call; the driver may have taken them */
} sl_overhead_part_t;

/* A call that takes memory without a name. */
typedef struct {
    unsigned count;
    bool is_known;        /* what it takes or gives back is known, and need not be measured */
    bool later;           /* a promise: the driver takes the reserved bytes with a later call, which cannot be refused */
    uint64_t given_bytes; /* on each GPU; the promise keeps them until what the call made ends */
    uint64_t grown_bytes;    /* on the GPU whose quota was passed */
    unsigned grown_gpu;
    sl_overhead_part_t parts[SL_OVERHEAD_GPUS];
} sl_overhead_call_t;

/* All GPUs on which this process has a context. */
enum { SL_OVERHEAD_ALL = -3 };

sl_overhead_look_t sl_overhead_look(unsigned gpu);
/* By how much the process grew since that look, beyond what it asked for by name; 0: not known. */
uint64_t sl_overhead_growth(const sl_overhead_look_t *before);

/* This process has a context on the GPU. */
void sl_overhead_watch(unsigned gpu);
/* Whether a call must keep to a quota: a call on this GPU, on all GPUs, or on none (any other negative number). */
bool sl_overhead_is_limited(int gpu);
/* Reserves so many bytes on each of those GPUs, and looks at them. False: they exceed a quota, and nothing is reserved.
 * With wait the ledger may wait for room. */
bool sl_overhead_begin(sl_overhead_call_t *call, int gpu, uint64_t bytes, bool wait);
/* Before the driver is asked: so many bytes end with the call. They count as in flight until the end is booked, so that no look takes
 * them for a fall of the overhead. */
void sl_overhead_leave(sl_overhead_call_t *call, unsigned part, uint64_t bytes, bool later);
/* Books what the call took: the reserved bytes, or if none were reserved, what a look tells. If the call failed, nothing stays reserved.
 * False: the look shows that the quota is passed. */
bool sl_overhead_end(sl_overhead_call_t *call, bool done);
/* The call was undone: books that, and counts a refusal. */
void sl_overhead_refuse(sl_overhead_call_t *call);
/* Books the end of an object that so many bytes were given to. */
void sl_overhead_release(unsigned gpu, uint64_t bytes, bool later);

/* Books the driver's present figure. True: it fell. */
bool sl_overhead_came_back(unsigned gpu);
/* The same on all GPUs, at once. */
void sl_overhead_refresh(void);
/* The same, but only every 100 ms. */
void sl_overhead_now_and_then(unsigned gpu);

#endif
