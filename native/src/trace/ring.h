/* ring: the file in which the events of one thread are recorded. */
#ifndef SL_RING_H
#define SL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/entry.h"
#include "os/report.h"
#include "trace_layout.h"

#define SL_RING_PATH_BYTES 512

typedef struct {
    char *base; /* NULL: there is none */
    uint64_t capacity;
    uint64_t head;
    uint64_t limit;      /* when head reaches this, the writer must look for room */
    size_t mapped_bytes; /* what an event does not need follows */
    uint64_t room;       /* events that the file has space for; at most capacity */
    uint64_t warm;       /* events whose pages were asked for at once, which costs less than one by one; at most room */
    uint64_t dropped;
    char path[SL_RING_PATH_BYTES];
} sl_ring_t;

typedef struct {
    const char *directory;
    const char *process; /* as in the field of that name */
    uint32_t mode, generation;
    uint64_t capacity;   /* a power of two */
    uint64_t identity;
} sl_ring_draft_t;

/* For the calling thread. */
bool sl_ring_make(sl_ring_t *ring, const sl_ring_draft_t *draft, sl_reason_t *reason);
/* Marks the ring as complete, with the reason. Other threads than the owner may call it, too. */
void sl_ring_close(sl_ring_t *ring, uint32_t why);
/* Frees space that no event will use any more. */
void sl_ring_shorten(sl_ring_t *ring);
bool sl_ring_look_for_room(sl_ring_t *ring);

static inline sl_trace_writer_t *sl_ring_writer(const sl_ring_t *ring) {
    return (sl_trace_writer_t *)(ring->base + SL_TRACE_WRITER_OFFSET);
}

static inline sl_trace_process_t *sl_ring_process(const sl_ring_t *ring) {
    return (sl_trace_process_t *)(ring->base + SL_TRACE_PROCESS_OFFSET);
}

static inline bool sl_ring_has_room(sl_ring_t *ring) {
    return !SL_UNLIKELY(ring->head == ring->limit) || sl_ring_look_for_room(ring);
}

static inline sl_trace_event_t *sl_ring_place(const sl_ring_t *ring, uint64_t number) {
    return (sl_trace_event_t *)(ring->base + SL_TRACE_EVENT_OFFSET) + (number & (ring->capacity - 1));
}

/* The place of the next event; NULL: there is no room, and the loss was counted. */
static inline sl_trace_event_t *sl_ring_take(sl_ring_t *ring) {
    if (SL_UNLIKELY(!sl_ring_has_room(ring))) {
        atomic_store_explicit(&sl_ring_writer(ring)->dropped, ++ring->dropped, memory_order_relaxed);
        return NULL;
    }
    return sl_ring_place(ring, ring->head);
}

/* Publishes the event. Pairs with the reader's load of head: an event below head is complete. Also prefetches the next event. */
static inline void sl_ring_put(sl_ring_t *ring, const sl_trace_event_t *event, uint64_t head) {
    __builtin_prefetch(event + 1, 1);
    ring->head = head + 1;
    atomic_store_explicit(&sl_ring_writer(ring)->head, head + 1, memory_order_release);
}

#endif
