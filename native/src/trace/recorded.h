/* recorded: a trace that this process takes part in: its settings, and the files that describe the process. */
#ifndef SL_RECORDED_H
#define SL_RECORDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/names.h"
#include "os/report.h"
#include "trace/ring.h"

#define SL_RECORDED_DIRECTORY_BYTES 400

typedef struct {
    uint32_t mode; /* 0 = no trace */
    uint32_t events;
    uint32_t generation;
    char directory[SL_RECORDED_DIRECTORY_BYTES];
} sl_recorded_settings_t;

typedef struct sl_recorded {
    sl_recorded_settings_t settings;
    char process[32];
    char path[512]; /* of the file about the process */
    sl_names_t names;
    _Atomic uint32_t gpus;              /* bits of those whose line is written */
    _Atomic uint64_t unplaced;          /* lost events while there is no ring */
    _Atomic uint64_t *_Atomic strays;   /* where events without a ring are counted */
    _Atomic uint64_t *_Atomic rings;
} sl_recorded_t;

/* Begins a trace and writes the file about the process. Never freed, because other threads may still use it. */
sl_recorded_t *sl_recorded_begin(const sl_recorded_settings_t *settings, sl_reason_t *reason);
/* A ring was made. One call at a time. */
void sl_recorded_ring(sl_recorded_t *trace, const sl_ring_t *ring);
void sl_recorded_tell_gpu(sl_recorded_t *trace, unsigned gpu);

/* The process uses the GPU of this entry. */
static inline void sl_recorded_gpu(sl_recorded_t *trace, unsigned gpu) {
    if (SL_UNLIKELY(!(atomic_load_explicit(&trace->gpus, memory_order_relaxed) >> gpu & 1)))
        sl_recorded_tell_gpu(trace, gpu);
}

#endif
