/* Work: what streams queue, graphs keep and the engine carries out, one form for all three. */
#ifndef SIM_WORK_H
#define SIM_WORK_H

#include "entry/sim.h"

#define SIM_PARAMETER_BYTES 64

typedef enum {
    SIM_WORK_EMPTY, SIM_WORK_KERNEL, SIM_WORK_COPY, SIM_WORK_FILL, SIM_WORK_HOST, SIM_WORK_CALLBACK, SIM_WORK_RECORD,
    SIM_WORK_WAIT_EVENT, SIM_WORK_WRITE_VALUE, SIM_WORK_WAIT_VALUE, SIM_WORK_ALLOC, SIM_WORK_FREE, SIM_WORK_CHILD
} sim_work_kind_t;

typedef struct {
    sim_work_kind_t kind;
    union {
        struct {
            CUfunction function;
            unsigned grid[3], block[3], shared_bytes;
            unsigned char parameters[SIM_PARAMETER_BYTES];
        } kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        struct { CUstreamCallback function; CUstream stream; void *data; } callback;
        struct { CUevent event; uint64_t recording; } event;
        struct { CUdeviceptr address; uint64_t value; unsigned bytes, condition; } value;
        struct { CUdeviceptr address; size_t bytes; int device; uint64_t generation; } memory;
        struct { CUgraph graph; } child;
    };
} sim_work_t;

#define SIM_TIPS 32

/* Where a capturing stream, or an event recorded in one, stands in the graph: the nodes that the next one depends on. */
typedef struct {
    struct sim_capture *capture;
    unsigned count;
    CUgraphNode nodes[SIM_TIPS];
} sim_tips_t;

typedef struct sim_operation sim_operation_t;

struct CUstream_opaque {
    CUstream next;
    CUcontext context;
    unsigned flags;
    int priority;
    unsigned long long id;
    bool legacy;
    uint64_t thread;   /* of a per-thread default stream */
    sim_operation_t *first, *last;
    unsigned length;
    uint64_t idle_since_ns; /* when its last finished operation ended, on the GPU's timeline */
    sim_tips_t tips;
};

struct CUevent_opaque {
    CUcontext context;
    unsigned flags;
    uint64_t recordings; /* asked for */
    uint64_t completed;  /* the newest recording that the engine has reached */
    uint64_t time_ns;
    sim_tips_t tips;     /* set when it was last recorded in a capturing stream */
    bool destroyed;
    unsigned pending;    /* queued work and waiting threads that still need it */
    struct sim_event_shared *shared; /* counts in place of its own where other processes may record it */
    int file;            /* that holds them */
    uint64_t looked_ns;  /* when the engine last looked whether its recorder lives */
};

bool sim_event_share(CUevent event);
void sim_event_unshare(CUevent event);
uint64_t sim_event_recordings(CUevent event);
uint64_t sim_event_next_recording(CUevent event);
void sim_event_reach(CUevent event, uint64_t recording, uint64_t time_ns);
uint64_t sim_event_completed(CUevent event);

/* The stream that a handle means in this call: 0, 1 (legacy), 2 (per-thread) or a created one. */
CUresult sim_stream_resolve(CUstream handle, CUstream *stream);

/* Queues work, or adds it to the graph that the stream captures into. */
CUresult sim_work_submit(CUstream stream, const sim_work_t *work);

/* The same without a look at captures, and then waits until it is done. */
CUresult sim_work_queue(CUstream stream, const sim_work_t *work);
CUresult sim_work_run(CUstream stream, const sim_work_t *work);

/* Carries out what is due by now, as the engine would. */
void sim_work_catch_up(void);
/* The channels of this group leave the GPU: what was booked for their work and is still to come is done later. */
void sim_work_cut(int group);

/* Of all streams of the process; and the engine's thread, which it starts. */
bool sim_work_is_done(void);
CUresult sim_work_thread(pid_t *id);

CUresult sim_stream_wait(CUstream stream);
CUresult sim_legacy_wait(CUstream legacy);
bool sim_stream_is_idle(CUstream stream);
CUresult sim_event_wait(CUevent event, uint64_t recording);
void sim_event_forget(CUevent event);

/* Carried out by the engine, with the lock open. */
uint64_t sim_work_duration(const sim_work_t *work);
CUresult sim_copy_apply(const CUDA_MEMCPY3D *copy);
CUresult sim_fill_apply(const CUDA_MEMSET_NODE_PARAMS *fill);
CUresult sim_kernel_apply(const sim_work_t *work, uint64_t begin_ns, uint64_t end_ns);
bool sim_copy_is_valid(const CUDA_MEMCPY3D *copy);
bool sim_fill_is_valid(const CUDA_MEMSET_NODE_PARAMS *fill);
bool sim_memory_is_usable(CUdeviceptr address, size_t bytes);
uint64_t sim_copy_duration(const CUDA_MEMCPY3D *copy);
uint64_t sim_fill_duration(const CUDA_MEMSET_NODE_PARAMS *fill);
uint64_t sim_kernel_duration(const sim_work_t *work);
CUresult sim_kernel_work(sim_work_t *work, CUfunction function, const unsigned grid[3], const unsigned block[3],
                         unsigned shared, void **values, void **extra);
void sim_pool_finish_free(CUdeviceptr address, uint64_t generation);

/* Takes the memory that a kernel needs beside its parameters; before it is queued. */
CUresult sim_limits_prepare(CUcontext context, const sim_work_t *work);

CUresult sim_capture_add(CUstream stream, const sim_work_t *work);
/* Fails, and invalidates the capture, if a capturing stream does not allow the call. */
CUresult sim_capture_forbid(CUstream stream);
/* The same for every capture that does not allow the calling thread to ask or wait for an event. */
CUresult sim_capture_check_unsafe(void);
/* The stream is about to be destroyed. */
void sim_capture_leave(CUstream stream);
/* 906 when the legacy stream would have to wait for a capturing one. */
CUresult sim_capture_check_legacy(CUstream stream);
CUresult sim_capture_join(CUstream stream, const sim_tips_t *tips);
CUresult sim_event_record(CUevent event, CUstream stream);
CUresult sim_event_wait_in(CUevent event, CUstream stream);
CUresult sim_graph_alloc_node(CUstream stream, size_t bytes, CUdeviceptr *address);
CUresult sim_graph_free_node(CUstream stream, CUdeviceptr address);

#endif
