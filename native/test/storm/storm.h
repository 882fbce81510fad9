/* storm: what its files share. storm.c starts processes, disturbs them and judges; storm_child.c is one process;
 * storm_ways.c and storm_things.c take and give memory in every way; storm_judge.c tells whether a refusal was right; storm_sample.c compares
 * the driver's figure with the limit; storm_record.c keeps what happened last; storm_truth.c asks the driver, and is the only file that
 * knows of the simulated one; storm_ledger.c reads the region and changes its limits. */
#ifndef STORM_H
#define STORM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "real.h"

#define MIB (1ull << 20)
#define BLOCK (2 * MIB)
#define OUT_OF_MEMORY 2
#define GPUS_MOST 4
#define THREADS_MOST 16
#define PROCESSES_MOST 64
#define STREAMS_MOST 4
#define POOLS_EACH 2
#define HELD_MOST 64
#define EVENTS_KEPT 256
#define TRY(call) do { CUresult tried = (call); if (tried) return tried; } while (0)

typedef enum {
    WAY_PLAIN, WAY_PITCH, WAY_MANAGED, WAY_ASYNC, WAY_POOL, WAY_GRAPH, WAY_VMM, WAY_ARRAY, WAY_MIPMAP, WAY_MODULE, WAY_STACK,
    WAY_CONTEXT, WAY_ABSURD, WAY_LAUNCH, WAY_ORPHAN, WAY_TINY, WAY_COUNT
} way_t;

extern const char *const way_names[WAY_COUNT];

typedef struct {
    uint64_t seed, quota, base; /* base: a quarter of it is the largest request */
    double seconds;
    int threads, streams, gpus, processes, kills, stops, longest, patience;
    unsigned ways; /* a bit for each */
    bool judge, unlimited, limits, survive, nvml, explain;
    uint64_t slack; /* by which the ledger may be wrong */
    uint64_t over;  /* by which the driver's figure may pass the limit, where 2 % are less */
    uint64_t wrong_permille; /* of refusals */
} options_t;

extern options_t options;

/* What the parent asks of all children: a number << 8 | command, so that the same command can be given again. */
typedef enum { RUN, PARK, PROBE, DRAIN, END, LEAVE } command_t;

/* What a thread did; a call that is still under way has its beginning only. */
typedef enum { TAKES, TOOK, GIVES, GAVE, HOLDS_PAST_SLUICE, HELD_PAST_SLUICE, SAW_IT_GONE } deed_t;
typedef struct {
    uint64_t nanos, bytes;
    int32_t status;
    uint8_t thread, deed, way;
} event_t;

typedef struct {
    _Atomic uint32_t answered; /* the last order that was carried out */
    _Atomic uint32_t life;     /* counts the processes that had this number */
    _Atomic uint64_t calls, refused, judged, still, late, wrong, odd, alike, absurd, edges;
    _Atomic uint64_t wrong_by_way[WAY_COUNT];
    _Atomic uint64_t past; /* odd: a thread holds memory past Sluice just now, or NVML still shows it */
    _Atomic uint64_t residue_most, residue_nanos_most; /* of memory past Sluice that was given back: what NVML showed at the end, and for how long */
    _Atomic uint64_t residue[GPUS_MOST];
    _Atomic uint64_t unforeseen, unforeseen_most; /* calls for which the driver took more than the library had foreseen */
    _Atomic uint64_t turns[THREADS_MOST + 1]; /* odd: the thread is in calls that may take memory; the last: the first thread of the process */
    _Atomic uint32_t events;
    event_t event[EVENTS_KEPT];
    _Atomic uint64_t longest_nanos;
    _Atomic uint32_t longest_way;
    _Atomic uint64_t info_used[GPUS_MOST]; /* total - free by cuMemGetInfo */
    _Atomic uint64_t loose[GPUS_MOST];     /* managed memory, which the driver may hold only in part */
    _Atomic int32_t doing[THREADS_MOST];   /* way of the call under way, for the report of a hang */
} child_t;

typedef struct {
    _Atomic uint32_t order, leader;
    child_t child[PROCESSES_MOST];
} shared_t;

extern shared_t *shared;

static inline command_t command_of(uint32_t order) {
    return (command_t)(order & 0xff);
}

uint64_t storm_now(void);

/* Random numbers: one state for each thread. */
static inline uint64_t draw(uint64_t *state) {
    uint64_t x = *state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

static inline uint64_t below(uint64_t *state, uint64_t end) {
    return end ? draw(state) % end : 0;
}

/* One request, complete, so that it can be made again in the same way. */
typedef struct {
    way_t way;
    int gpu, stream, pool, count;
    uint64_t bytes, more[2]; /* of graphs: one size for each node */
    uint64_t choice;         /* random bits for all that is left to decide */
    CUgraphExec again;       /* not NULL: launch this one once more */
} request_t;

typedef struct {
    request_t request;
    CUdeviceptr address, mapped[2];
    uint64_t bytes, handle;
    void *thing; /* array, mipmap, module, context, executable graph */
    CUgraph graph;
    int maps;
} held_t;

typedef struct {
    int number;
    uint64_t random;
    int held_count;
    held_t held[HELD_MOST];
    CUstream streams[GPUS_MOST][STREAMS_MOST];
    CUmemoryPool pools[GPUS_MOST][POOLS_EACH];
    int shrink;
    bool was_still; /* no stream had anything to do before the last request */
    _Atomic uint32_t answered;
    pthread_t thread;
} worker_t;

/* storm_ways.c; given: as the program sees the driver; direct: the driver itself, past Sluice. */
extern sl_real_t given, direct;
extern CUfunction ways_spin[GPUS_MOST]; /* keeps a GPU busy for some nanoseconds */
bool ways_load(void);
bool ways_begin(int gpus);  /* contexts and kernels; false: no room for them now */
void ways_end(int gpus);
void ways_use(int gpu);
void ways_open(worker_t *worker);
void ways_close(worker_t *worker);
request_t ways_choose(worker_t *worker);
CUresult ways_take(const sl_real_t *cu, worker_t *worker, const request_t *request, held_t *held);
CUresult ways_give(const sl_real_t *cu, worker_t *worker, held_t *held);
CUresult ways_absurd(worker_t *worker, uint64_t choice);
bool ways_are_idle(const worker_t *worker); /* no stream has anything to do */
/* Gives back all that pools and graphs keep, on request after all work was waited for. */
CUresult ways_settle(const sl_real_t *cu, worker_t *workers, int count, bool wait);
void ways_begin_capture(void);
void ways_end_capture(void);

/* storm_things.c */
CUresult things_take(const sl_real_t *cu, const worker_t *worker, const request_t *request, held_t *held);
CUresult things_give(const sl_real_t *cu, held_t *held);
int things_launches(const request_t *request); /* of a graph */

void things_describe(const request_t *request, char *text, size_t room);

/* storm_judge.c */
/* Holds off samples while memory is held past Sluice. */
void judge_begin_past(child_t *self);
void judge_end_past(child_t *self);
void judge_open(child_t *self);
typedef enum { RIGHT, LATE, WRONG } judgement_t;
judgement_t judge_refusal(worker_t *worker, const request_t *request, char *why, size_t room);
bool judge_probe(int gpu, char *why, size_t room);

/* storm_child.c */
int child_main(int number, uint64_t seed);

/* storm_sample.c */
typedef struct { uint64_t samples, missed, torn, in_grace, over, worst[GPUS_MOST]; double worst_percent, worst_over_mib; } sampling_t;
extern sampling_t sampling;
void sample_open(uint64_t limit);
void sample_now(const pid_t *live, int count);
/* The limit changed. Until all calls that began before have ended, the tenant may reach the former limits. */
void sample_change_limit(uint64_t limit);
bool sample_is_settled(void);
void sample_tell(void); /* the worst one */

/* storm_record.c */
void record(child_t *child, int thread, deed_t deed, const request_t *request, int status);
void record_tell(uint64_t began, uint64_t since); /* what all threads did since then */
void record_tell_doing(int number);

/* storm_truth.c */
bool truth_prepare(void); /* before any process of ours uses the GPU */
bool truth_open(void);
bool truth_is_exact(void); /* to the byte, and for single processes at any time */
const char *truth_source(void);
uint64_t truth_of(pid_t pid, int gpu);
/* At one moment; false: it changes too fast to say. */
bool truth_sum(const pid_t *pids, int count, int gpus, uint64_t *bytes);
/* Right after a sum that is too high: what of it can be one moment's. */
bool truth_again(const pid_t *pids, int count, int gpus, uint64_t *bytes);
void *truth_symbol(const char *stem, const char *name); /* of a loaded library, past Sluice */

/* storm_ledger.c */
bool ledger_open(void); /* false: there is no region */
typedef struct { uint64_t charged, in_flight, overhead; } ledger_t;
ledger_t ledger_read(const pid_t *pids, int count, int gpu);
uint64_t ledger_of(const pid_t *pids, int count, int gpu);
void ledger_set_limit(int gpus, uint64_t bytes);

#endif
