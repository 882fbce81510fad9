/* Generated from spec/trace.abi: the layout of the trace. docs/trace-file.md explains every field. */
#ifndef SL_TRACE_LAYOUT_H
#define SL_TRACE_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SL_TRACE_LAYOUT 1
#define SL_TRACE_MAGIC 0x54594e4954ull
#define SL_TRACE_BYTES 4096
#define SL_TRACE_PAGE_BYTES 4096

#define SL_TRACE_RING_OFFSET 0
#define SL_TRACE_RING_COUNT 1
#define SL_TRACE_EVENT_OFFSET 4096

enum {
    SL_TRACE_KIND_CLOCK = 1,
    SL_TRACE_KIND_CALL = 2,
};

typedef struct {
    _Atomic uint64_t head;
    uint8_t unused_bytes[56];
} sl_trace_ring_t;
_Static_assert(offsetof(sl_trace_ring_t, head) == 0, "offset of ring.head");
_Static_assert(sizeof(sl_trace_ring_t) == 64, "size of ring");
/* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
static inline void sl_trace_clear_ring(sl_trace_ring_t *record) {
    record->head = 0;
    memset(record->unused_bytes, 0, sizeof record->unused_bytes);
}

typedef struct {
    uint16_t kind;
    uint16_t entry;
    int32_t a;
    uint8_t unused_bytes[56];
} sl_trace_event_t;
_Static_assert(offsetof(sl_trace_event_t, kind) == 0, "offset of event.kind");
_Static_assert(offsetof(sl_trace_event_t, entry) == 2, "offset of event.entry");
_Static_assert(offsetof(sl_trace_event_t, a) == 4, "offset of event.a");
_Static_assert(sizeof(sl_trace_event_t) == 64, "size of event");
/* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
static inline void sl_trace_clear_event(sl_trace_event_t *record) {
    record->kind = 0;
    record->entry = 0;
    record->a = 0;
    memset(record->unused_bytes, 0, sizeof record->unused_bytes);
}

#endif
