/* trace_quick: records launches, and queries that the driver answers at once, within the wrapper that the program calls.
 *
 * This is the short path, for a thread that has launched the same kernel before. Every other call takes the long path, sl_trace_call.
 * Measured on an H200's host: the number of instructions counts, not the place where an event is written to. */
#ifndef SL_TRACE_QUICK_H
#define SL_TRACE_QUICK_H

#include "costs/cost.h"
#include "os/thread.h"
#include "trace/recorded.h"
#include "trace/ring.h"

#define SL_TRACE_COSTS 256u
#define SL_TRACE_LINE_BYTES 64

/* A kernel that the thread launched, and the cost that it has recorded for it. */
typedef struct {
    _Alignas(SL_TRACE_LINE_BYTES) uint64_t key; /* the gate's; 0: its name is not known yet */
    uint64_t name;
    uint64_t blocks;
    const sl_cost_t *cost;
    uint64_t told_nanos, seen_nanos; /* for a launch: the recorded cost, and the gate's cost at the last look */
    uint32_t launches;
    uint16_t threads; /* at most 1024 */
    bool told_bound;  /* the recorded cost is an upper bound */
} sl_trace_cost_t;

/* A launch needs the first line, that of its cost, and the ring's. */
typedef struct sl_trace_thread {
    _Alignas(SL_TRACE_LINE_BYTES) uint64_t next_ticks; /* from this time on, */
    uint64_t next_head; /* or from this event on, a call takes the long path */
    uint64_t unloads;  /* number of unloads when the names of the costs were read */
    int16_t entry;     /* the region's, of the GPU */
    uint8_t gpu;
    bool owes_costs;   /* a kernel was launched whose cost was not known */
    sl_ring_t ring;
    uint64_t clock_ticks, clock_head; /* when, or before which event, the next clock event is due */
    sl_recorded_t *trace;
    sl_trace_cost_t costs[SL_TRACE_COSTS];
} sl_trace_thread_t;
_Static_assert(offsetof(sl_trace_thread_t, ring.limit) < SL_TRACE_LINE_BYTES, "with what an event needs of the ring");

SL_OWN extern sl_recorded_t *_Atomic sl_trace_recorded; /* NULL: nothing is recorded */

/* The place of the launched kernel; another kernel may have it now. */
static inline sl_trace_cost_t *sl_trace_place(sl_trace_thread_t *thread, uint64_t key) {
    return &thread->costs[(key >> 40) % SL_TRACE_COSTS];
}

static inline void sl_trace_fill_call(sl_trace_event_t *event, unsigned kind, unsigned entry, uint64_t begin_ticks, uint64_t end_ticks,
                                      int status, uint64_t stream) {
    event->begin_ticks = begin_ticks;
    event->end_ticks = end_ticks;
    event->kind = (uint16_t)kind;
    event->entry = (uint16_t)entry;
    event->status = status;
    event->stream = stream;
}

/* How a kernel was launched: its grid, the threads of a block, and the bytes that these share. */
#define SL_TRACE_SHAPE unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes
#define SL_TRACE_SHAPE_NAMES x, y, z, block_x, block_y, block_z, shared_bytes

/* The fields of an event of a kernel, from a on: narrow ones are stored as they are. */
typedef struct __attribute__((may_alias)) {
    uint64_t name;
    uint32_t x;
    uint16_t y, z, block_x, block_y;
    uint32_t block_z, shared_bytes;
    uint32_t gpu; /* << 24 */
} sl_trace_launch_t;
_Static_assert(sizeof(sl_trace_launch_t) == sizeof(sl_trace_event_t) - offsetof(sl_trace_event_t, a), "a, b, c and d");

static inline void sl_trace_fill_kernel(sl_trace_event_t *event, const sl_trace_thread_t *thread, uint64_t name, SL_TRACE_SHAPE) {
    volatile sl_trace_launch_t *launch = (sl_trace_launch_t *)&event->a;
    launch->name = name;
    launch->x = x;
    launch->y = (uint16_t)y;
    launch->z = (uint16_t)z;
    launch->block_x = (uint16_t)block_x;
    launch->block_y = (uint16_t)block_y;
    launch->block_z = block_z & 0xffff;
    launch->shared_bytes = shared_bytes;
    launch->gpu = (uint32_t)thread->gpu << 24;
}

/* The thread's record, if only the call itself is to be recorded; otherwise NULL. */
SL_INLINE sl_trace_thread_t *sl_trace_usual(uint64_t end_ticks) {
    sl_trace_thread_t *thread = sl_thread.trace.thread;
    if (SL_UNLIKELY(!thread) || SL_UNLIKELY(sl_thread.trace.trace != SL_LOAD(sl_trace_recorded)))
        return NULL;
    bool usual = end_ticks < thread->next_ticks && thread->ring.head < thread->next_head;
    return usual ? thread : NULL;
}

/* Records a launch that has just passed the gate. False: nothing was recorded, and the call must take the long path. */
SL_INLINE bool sl_trace_kernel(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, uint64_t stream, SL_TRACE_SHAPE) {
    sl_trace_thread_t *thread = sl_trace_usual(end_ticks);
    if (SL_UNLIKELY(!thread))
        return false;
    uint64_t head = thread->ring.head;
    if (SL_UNLIKELY(thread->unloads != sl_names_unloads()) || SL_UNLIKELY(thread->entry != sl_thread.gpu))
        return false;
    uint64_t key = sl_thread.credit.key;
    sl_trace_cost_t *cost = sl_trace_place(thread, key);
    if (SL_UNLIKELY(!key) || SL_UNLIKELY(cost->key != key) || SL_UNLIKELY(SL_LOAD(cost->cost->nanos) != cost->seen_nanos))
        return false;
    cost->launches++;
    sl_trace_event_t *event = sl_ring_place(&thread->ring, head);
    sl_trace_fill_call(event, SL_TRACE_KIND_KERNEL, entry, begin_ticks, end_ticks, CUDA_SUCCESS, stream);
    sl_trace_fill_kernel(event, thread, cost->name, SL_TRACE_SHAPE_NAMES);
    sl_ring_put(&thread->ring, event, head);
    return true;
}

/* Records a call that has no detail but perhaps a stream. */
SL_INLINE bool sl_trace_question(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, uint64_t stream) {
    sl_trace_thread_t *thread = sl_trace_usual(end_ticks);
    if (SL_UNLIKELY(!thread))
        return false;
    uint64_t head = thread->ring.head;
    sl_trace_event_t *event = sl_ring_place(&thread->ring, head);
    sl_trace_fill_call(event, SL_TRACE_KIND_CALL, entry, begin_ticks, end_ticks, CUDA_SUCCESS, stream);
    event->a = event->b = event->c = 0;
    event->d = thread->gpu;
    sl_ring_put(&thread->ring, event, head);
    return true;
}

#endif
