/* What processes of one tenant are charged with if they use the GPU at the same time. */
#include "check.h"

#include "compute/sibling.h"
#include "tenant/tenant.h"

static sl_region_work_t works[SL_REGION_WORK_COUNT];
static sl_region_share_t share;
static sl_lane_gpu_t gpu;

static void begin(void) {
    static const sl_region_work_t nothing;
    for (unsigned i = 0; i < SL_REGION_WORK_COUNT; i++)
        works[i] = nothing;
    share.pieces = 0;
    gpu = (sl_lane_gpu_t){.share = &share, .gpu = 1, .sharers = 2};
    sl_tenant.region.works = works;
}

/* A process used the GPU from one time to another, and measured so much. */
static uint64_t charge(unsigned slot, uint64_t began, uint64_t ended, uint64_t nanos) {
    sl_meter_reading_t reading = {.nanos = nanos, .began_nanos = began, .ended_nanos = ended};
    sl_tenant.slot = slot;
    return sl_sibling_charge(&gpu, &reading);
}

static void shouldChargeOnceForWhatOverlaps(void) {
    begin();
    CHECK(charge(3, 1000, 2000, 1000) == 1000);
    CHECK(charge(4, 1500, 2500, 1000) == 500);
    CHECK(charge(3, 2000, 3000, 1000) == 750, "half of the other's second half was charged");
    CHECK(charge(4, 5000, 6000, 1000) == 1000);
}

/* Two contexts, or two batches of one context, in one process: the meter has already removed the overlap. */
static void shouldNotTakeOwnWorkForASiblings(void) {
    begin();
    CHECK(charge(3, 1000, 2000, 1000) == 1000);
    CHECK(charge(3, 1500, 2500, 1000) == 1000);
    CHECK(charge(3, 1000, 2500, 1500) == 1500);
    CHECK(charge(4, 1000, 2000, 1000) == 0, "it was charged already");
}

static void shouldChargeThreeForAllThatTheyCover(void) {
    begin();
    CHECK(charge(1, 0, 3000, 3000) + charge(2, 0, 3000, 3000) + charge(3, 0, 3000, 3000) == 3000);
}

/* Two calls of 200 with pauses between them: their known costs contain no time of others. */
static void shouldChargeForCallsThatWereNotMeasuredByTheClock(void) {
    begin();
    CHECK(charge(1, 0, 1000, 400) == 400);
    CHECK(charge(2, 0, 1000, 400) == 400);
    CHECK(charge(3, 0, 1000, 1000) == 200);
}

static void shouldChargeForAllOfAProcessAlone(void) {
    begin();
    gpu.sharers = 1;
    CHECK(charge(1, 0, 1000, 1000) == 1000 && charge(2, 0, 1000, 1000) == 1000 && share.pieces == 0);
}

static void shouldNotTrustAnUncertainTime(void) {
    begin();
    CHECK(charge(1, 1000, 2000, 1000) == 1000);
    sl_meter_reading_t reading = {.nanos = 1000, .began_nanos = 1000, .ended_nanos = 2000, .doubt_nanos = 1000000};
    sl_tenant.slot = 2;
    CHECK(sl_sibling_charge(&gpu, &reading) == 1000 && share.pieces == 1);
    reading = (sl_meter_reading_t){.nanos = 1000, .began_nanos = 1000, .ended_nanos = 2000, .divided = true};
    CHECK(sl_sibling_charge(&gpu, &reading) == 1000 && share.pieces == 1);
}

/* Old pieces give way to new ones, and each GPU has its own. */
static void shouldForgetWhatWasLongAgo(void) {
    begin();
    CHECK(charge(1, 0, 1000, 1000) == 1000);
    for (unsigned i = 1; i <= 128; i++)
        charge(1, i * 2000, i * 2000 + 1000, 1000);
    CHECK(charge(2, 0, 1000, 1000) == 1000);
    CHECK(charge(2, 2000, 3000, 1000) == 1000, "the piece of 2 took the place of the second");
    CHECK(charge(2, 256000, 257000, 1000) == 0);
    for (unsigned i = 0; i < SL_REGION_WORK_COUNT; i++)
        CHECK(!works[i].slot || i / 128 == 1);
}

/* A process of the tenant can write anything to the region. */
static void shouldNotBelieveThatAPieceWasChargedWithMoreThanItsLength(void) {
    begin();
    CHECK(charge(1, 1000, 2000, 1000) == 1000);
    works[128].charged_nanos = UINT64_MAX;
    CHECK(charge(2, 1500, 2500, 1000) == 500);
    works[128].began_nanos = 0;
    works[128].ended_nanos = UINT64_MAX;
    CHECK(charge(3, 5000, 6000, 1000) == 0, "all of it was charged, says the piece");
}

int main(void) {
    RUN(shouldChargeOnceForWhatOverlaps);
    RUN(shouldNotTakeOwnWorkForASiblings);
    RUN(shouldChargeThreeForAllThatTheyCover);
    RUN(shouldChargeForCallsThatWereNotMeasuredByTheClock);
    RUN(shouldChargeForAllOfAProcessAlone);
    RUN(shouldNotTrustAnUncertainTime);
    RUN(shouldForgetWhatWasLongAgo);
    RUN(shouldNotBelieveThatAPieceWasChargedWithMoreThanItsLength);
    return 0;
}
