/* cap: the limit on a tenant's share of GPU time.
 *
 * The cap is one word in the region, shared by all processes of the tenant: the time at which the tenant has paid for all GPU time
 * charged so far. When the cap is used up, the gate stays shut for a whole window. The work after it then runs in one piece. */
#include "compute/cap.h"

#define MILLI 1000000u
/* Chosen so that shares over one second are exact (bench/results/2026-11-15-compute-h200.md, caps of 10 to 75 %). */
#define KEPT_NANOS (15 * MILLI)          /* of GPU time */
#define LONGEST_KEPT_NANOS (100 * MILLI) /* of time */
#define MOST_DEBT_NANOS 600000000000u    /* most debt beyond that of this process: what ended processes left to be repaid */

/* How much unused time the tenant keeps: enough for a host that wakes late, too little to show in the share over a second. */
static uint64_t kept(const sl_lane_gpu_t *gpu) {
    uint64_t span = (uint64_t)KEPT_NANOS * 1000 / gpu->permille;
    return span < LONGEST_KEPT_NANOS ? span : LONGEST_KEPT_NANOS;
}

static uint64_t later(const sl_lane_gpu_t *gpu, uint64_t due, int64_t wall, uint64_t now) {
    uint64_t least = now - kept(gpu);
    return (due > least ? due : least) + (uint64_t)wall;
}

/* The debt of the whole tenant. An impossibly large debt was written by a faulty process of the tenant. It is lowered, so that it delays
 * no launch. */
static uint64_t due_of_all(const sl_lane_gpu_t *gpu, uint64_t now) {
    uint64_t due = gpu->share->due_nanos, known = gpu->own_due_nanos > now ? gpu->own_due_nanos : now;
    if (SL_UNLIKELY(due > known && due - known > MOST_DEBT_NANOS)) {
        atomic_compare_exchange_strong(&gpu->share->due_nanos, &due, known);
        due = known;
    }
    return due;
}

void sl_cap_charge(sl_lane_gpu_t *gpu, int64_t nanos, uint64_t now) {
    if (gpu->permille >= 1000)
        return;
    int64_t wall = nanos * 1000 / (int64_t)gpu->permille;
    uint64_t due = gpu->share->due_nanos;
    while (!atomic_compare_exchange_weak(&gpu->share->due_nanos, &due, later(gpu, due, wall, now))) {
    }
    gpu->own_due_nanos = later(gpu, gpu->own_due_nanos, wall * (int64_t)(gpu->sharers ? gpu->sharers : 1), now);
}

/* If the process is alone, or its siblings leave much of the cap unused, the debt of the whole tenant counts. Otherwise the debt of this
 * process counts, against its part of the cap, so that no process can take all. */
uint64_t sl_cap_opens(const sl_lane_gpu_t *gpu, uint64_t now) {
    uint64_t all = due_of_all(gpu, now), own = gpu->own_due_nanos;
    bool alone = gpu->sharers < 2 || all + 2 * SL_CAP_WINDOW_NANOS < now;
    uint64_t due = alone ? all : own;
    bool shut = gpu->shut || due > now;
    return shut ? due + SL_CAP_WINDOW_NANOS : 0;
}
