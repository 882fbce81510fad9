/* cost: the GPU time of a kernel, a graph or a copy, as measured before. */
#ifndef SL_COST_H
#define SL_COST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "os/compiler.h"

#define SL_COST_SAMPLES 3u /* measurements until a cost is known */
#define SL_COST_STEP 4u    /* equal measurements until it is one step steadier */

typedef struct {
    _Atomic uint64_t key;     /* 0 = free */
    _Atomic uint64_t nanos;   /* 0 = not seen yet */
    _Atomic uint64_t queued_nanos; /* the same, from calls that were queued behind others; 0: not measured so */
    _Atomic uint32_t samples; /* measurements; from SL_COST_SAMPLES on, equal ones in a row */
    _Atomic uint32_t pending; /* measurements under way */
} sl_cost_t;

#define SL_COST_ENTRIES 8192u
SL_OWN extern sl_cost_t sl_cost_entries[SL_COST_ENTRIES];
sl_cost_t *sl_cost_find_slowly(uint64_t key);

/* Returns the entry of a key, and makes it if there is none. Never NULL: when the table is full, the remaining keys share one entry. */
static inline sl_cost_t *sl_cost_find(uint64_t key) {
    sl_cost_t *first = &sl_cost_entries[(key >> 40) % SL_COST_ENTRIES];
    bool other = SL_LOAD(first->key) != (key | 1);
    return SL_UNLIKELY(other) ? sl_cost_find_slowly(key) : first;
}

/* The cost; 0: it is not known well enough. */
static inline int64_t sl_cost_known(const sl_cost_t *cost) {
    bool unknown = SL_LOAD(cost->samples) < SL_COST_SAMPLES;
    return SL_UNLIKELY(unknown) ? 0 : (int64_t)SL_LOAD(cost->nanos);
}

/* A new measurement of a call that was alone on the GPU. */
void sl_cost_learn(sl_cost_t *cost, uint64_t nanos);
void sl_cost_forget(void);

/* From 0 to 3: each step doubles the distance to the next measurement. */
static inline unsigned sl_cost_steadiness(const sl_cost_t *cost) {
    uint32_t samples = SL_LOAD(cost->samples);
    return samples > SL_COST_SAMPLES ? (samples - SL_COST_SAMPLES) / SL_COST_STEP : 0;
}

static inline uint64_t sl_cost_mix(uint64_t key, uint64_t more) {
    return (key ^ more) * 0x9e3779b97f4a7c15ull ^ (key >> 29);
}

static inline uint64_t sl_cost_kernel_key(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned threads) {
    return sl_cost_mix(sl_cost_mix((uintptr_t)function, (uint64_t)grid_x * grid_y * grid_z), threads);
}

#endif
