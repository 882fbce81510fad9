/* cap: the limit on a tenant's share of GPU time. */
#ifndef SL_CAP_H
#define SL_CAP_H

#include "compute/lane.h"

#define SL_CAP_WINDOW_NANOS 10000000u /* as long as a turn: a context switch takes 139 us (bench/results/2026-11-15-compute-h200.md) */

/* The caller holds the GPU's lock. */

/* Adds GPU time that the cap must pay for, from the given time on; negative: takes it back. */
void sl_cap_charge(sl_lane_gpu_t *gpu, int64_t nanos, uint64_t now);
/* When the gate opens again; 0: it is open. */
uint64_t sl_cap_opens(const sl_lane_gpu_t *gpu, uint64_t now);

#endif
