/* sibling: GPU time that processes of one tenant used at the same time.
 *
 * Each process notes in the region when the GPU did its work, by the machine's clock. If two pieces of work overlap, the process that
 * notes later is not charged for the time that is charged already. */
#include "compute/sibling.h"

#include "tenant/tenant.h"

#define PIECES (SL_REGION_WORK_COUNT / SL_REGION_GPU_COUNT)

static uint64_t earlier(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static uint64_t overlap(const sl_meter_reading_t *reading, uint64_t began, uint64_t ended) {
    uint64_t from = reading->began_nanos > began ? reading->began_nanos : began, to = earlier(reading->ended_nanos, ended);
    return to > from ? to - from : 0;
}

/* The part of the piece's charge that overlaps with the reading. No piece was charged with more than its length, so the result is at most
 * the overlap. */
static uint64_t charged_meanwhile(const sl_meter_reading_t *reading, sl_region_work_t *work) {
    uint64_t slot = atomic_load_explicit(&work->slot, memory_order_acquire);
    uint64_t began = work->began_nanos, ended = work->ended_nanos, charged = work->charged_nanos;
    bool whole = slot && slot != sl_tenant.slot + 1u && work->slot == slot && ended > began;
    uint64_t shared = whole ? overlap(reading, began, ended) : 0;
    return shared && charged < ended - began ? (uint64_t)((double)shared * ((double)charged / (double)(ended - began))) : shared;
}

static void note(sl_region_share_t *share, sl_region_work_t *works, const sl_meter_reading_t *reading, uint64_t charged) {
    sl_region_work_t *work = &works[atomic_fetch_add(&share->pieces, 1) % PIECES];
    work->slot = 0;
    work->began_nanos = reading->began_nanos;
    work->ended_nanos = reading->ended_nanos;
    work->charged_nanos = charged;
    atomic_store_explicit(&work->slot, sl_tenant.slot + 1u, memory_order_release);
}

/* If the GPU waited for the host, the calls were charged with their known cost. No sibling was charged for that time. */
static bool is_by_the_clock(const sl_meter_reading_t *reading) {
    uint64_t length = reading->ended_nanos - reading->began_nanos;
    return reading->nanos > length - length / 8;
}

uint64_t sl_sibling_charge(const sl_lane_gpu_t *gpu, const sl_meter_reading_t *reading) {
    sl_region_work_t *works = &sl_tenant.region.works[gpu->gpu * PIECES];
    bool certain = reading->doubt_nanos <= SL_METER_CERTAIN_NANOS && reading->ended_nanos > reading->began_nanos;
    if (gpu->sharers < 2 || reading->divided || !certain)
        return reading->nanos;
    uint64_t others = 0;
    unsigned count = is_by_the_clock(reading) ? PIECES : 0;
    for (unsigned i = 0; i < count; i++)
        others += charged_meanwhile(reading, &works[i]);
    uint64_t charged = reading->nanos - earlier(others, reading->nanos);
    note(gpu->share, works, reading, charged);
    return charged;
}
