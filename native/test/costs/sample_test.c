/* The sampled cost of a kernel, on a fake GPU that runs one kernel at a time for several streams. The test controls its clock. */
#include "check.h"

#include "costs/cost.h"
#include "compute/meter/meter.h"
#include "costs/sample.h"
#include "driver/entry.h"
#include "os/os.h"
#include "real.h"

#define MILLI 1000000u
#define STREAMS 2

static uint64_t gpu_free, stream_free[STREAMS]; /* when all work is done */
static uint64_t passed[64];                     /* when the GPU passed an event, by its number */
static unsigned made;
static sl_meter_t meter;

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

static unsigned number(CUevent event) {
    return (unsigned)(uintptr_t)event - 1;
}

static sl_stream_t stream(unsigned which) {
    return sl_stream_of((CUstream)(uintptr_t)(0x1000 + which), false);
}

static CUresult fake_create(CUevent *event, unsigned flags) {
    (void)flags;
    *event = (CUevent)(uintptr_t)++made;
    return CUDA_SUCCESS;
}

static CUresult fake_record(CUevent event, CUstream on) {
    passed[number(event)] = later(stream_free[(uintptr_t)on - 0x1000], sl_os_nanos());
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUevent event) {
    return passed[number(event)] <= sl_os_nanos() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult fake_elapsed(float *millis, CUevent from, CUevent to) {
    *millis = (float)((double)(int64_t)(passed[number(to)] - passed[number(from)]) / 1e6);
    return CUDA_SUCCESS;
}

static void begin(void) {
    static const sl_meter_t nothing;
    meter = nothing;
    made = 0;
    gpu_free = stream_free[0] = stream_free[1] = 0;
    sl_cost_forget();
    sl_sample_forget();
}

static sl_cost_t *launch(unsigned which, uint64_t nanos) {
    sl_cost_t *cost = sl_cost_find((uint64_t)(which + 1) << 40);
    sl_stream_t on = stream(which);
    CHECK(sl_meter_open(&meter, &on, false));
    stream_free[which] = gpu_free = later(later(gpu_free, stream_free[which]), sl_os_nanos()) + nanos;
    uint64_t now = sl_os_nanos();
    sl_meter_submitted(&meter, &on, false, now);
    cost->pending++;
    sl_meter_close(&meter, &(sl_meter_end_t){.predicted_nanos = nanos, .submitted_nanos = now, .calls = 1, .prompt = true, .only = cost});
    return cost;
}

static void settle(unsigned batches) {
    sl_meter_reading_t read;
    while (sl_os_nanos() < gpu_free)
        usleep(1000);
    for (unsigned i = 0; i < batches; i++)
        CHECK(sl_meter_settle(&meter, &read));
}

static bool about(double millis, double nanos) {
    return nanos > 0.95e6 * millis && nanos < 1.05e6 * millis;
}

static void should_tell_what_a_kernel_took_alone(void) {
    sl_sample_t sample;
    begin();
    sl_cost_t *cost = launch(0, 20 * MILLI);
    CHECK(sl_sample_read(cost, &sample) == SL_SAMPLE_NONE);
    settle(1);
    CHECK(sl_sample_read(cost, &sample) == SL_SAMPLE_ALONE);
    CHECK(about(20, sample.likely) && sample.least <= 20.1e6 && sample.most >= 19.9e6, "%.0f %.0f %.0f", sample.least, sample.likely, sample.most);
}

/* The second kernel waits for the first. The first waits for none. */
static void should_not_take_a_wait_for_other_streams_for_the_kernel(void) {
    sl_sample_t sample;
    begin();
    sl_cost_t *first = launch(0, 20 * MILLI), *second = launch(1, 10 * MILLI);
    settle(2);
    CHECK(sl_sample_read(first, &sample) == SL_SAMPLE_ALONE && about(20, sample.likely), "%.0f", sample.likely);
    CHECK(sl_sample_read(second, &sample) == SL_SAMPLE_BOUND && sample.least <= 0 && sample.most > 20e6, "%.0f", sample.most);
    launch(1, 10 * MILLI);
    settle(1);
    CHECK(sl_sample_read(second, &sample) == SL_SAMPLE_ALONE && about(10, sample.likely), "%.0f", sample.likely);
}

/* Work of another stream may overtake queued work. */
static void should_not_trust_a_queued_kernel_while_other_streams_have_work(void) {
    sl_sample_t sample;
    begin();
    launch(0, 10 * MILLI);
    sl_cost_t *queued = launch(0, 10 * MILLI);
    launch(1, 10 * MILLI);
    settle(1);
    sl_sample_forget();
    settle(2);
    CHECK(sl_sample_read(queued, &sample) == SL_SAMPLE_BOUND && sample.most >= 9e6, "%.0f", sample.most);
}

static void should_not_trust_a_kernel_during_which_the_turn_was_lost(void) {
    sl_sample_t sample;
    begin();
    sl_cost_t *cost = launch(0, 10 * MILLI);
    meter.turn = 1;
    settle(1);
    CHECK(sl_sample_read(cost, &sample) == SL_SAMPLE_BOUND);
    launch(0, 10 * MILLI); /* the first in a turn */
    settle(1);
    CHECK(sl_sample_read(cost, &sample) == SL_SAMPLE_BOUND);
    launch(0, 10 * MILLI);
    settle(1);
    CHECK(sl_sample_read(cost, &sample) == SL_SAMPLE_ALONE);
}

static void should_not_trust_a_kernel_beside_those_of_other_processes(void) {
    sl_sample_t sample;
    begin();
    sl_cost_t *cost = launch(0, 10 * MILLI);
    meter.crowded = true;
    settle(1);
    CHECK(sl_sample_read(cost, &sample) == SL_SAMPLE_BOUND);
}

/* The end is recorded when the host comes back, long after the kernel. */
static void should_tell_how_far_a_late_end_may_be_off(void) {
    sl_sample_t sample;
    begin();
    sl_cost_t *cost = sl_cost_find(3ull << 40);
    sl_stream_t on = stream(0);
    CHECK(sl_meter_open(&meter, &on, false));
    stream_free[0] = gpu_free = sl_os_nanos() + 5 * MILLI;
    uint64_t now = sl_os_nanos();
    sl_meter_submitted(&meter, &on, false, now);
    usleep(30000);
    cost->pending++;
    sl_meter_close(&meter, &(sl_meter_end_t){.submitted_nanos = now, .calls = 1, .prompt = true, .only = cost});
    settle(1);
    sl_sample_read(cost, &sample);
    CHECK(sample.least <= 5e6 && sample.most >= 30e6, "%.0f %.0f", sample.least, sample.most);
}

static void should_not_follow_a_single_disturbance(void) {
    sl_sample_t sample;
    begin();
    sl_cost_t *cost = sl_cost_find(1ull << 40);
    for (int i = 0; i < 8; i++)
        sl_sample_note(cost, SL_SAMPLE_ALONE, i == 3 ? (sl_sample_t){2200e3, 2200e3, 2201e3} : (sl_sample_t){199e3, 200e3, 201e3});
    CHECK(sl_sample_read(cost, &sample) == SL_SAMPLE_ALONE);
    CHECK(about(0.2, sample.likely) && about(0.199, sample.least) && about(2.201, sample.most), "%.0f %.0f %.0f", sample.least, sample.likely, sample.most);
    for (int i = 0; i < 16; i++)
        sl_sample_note(cost, SL_SAMPLE_ALONE, (sl_sample_t){900e3, 900e3, 901e3});
    sl_sample_read(cost, &sample);
    CHECK(about(0.9, sample.likely) && about(0.199, sample.least), "%.0f %.0f", sample.least, sample.likely);
}

int main(void) {
    real.cuEventCreate = fake_create;
    real.cuEventRecord = fake_record;
    real.cuEventQuery = fake_query;
    real.cuEventElapsedTime = fake_elapsed;
    RUN(should_tell_what_a_kernel_took_alone);
    RUN(should_not_take_a_wait_for_other_streams_for_the_kernel);
    RUN(should_not_trust_a_queued_kernel_while_other_streams_have_work);
    RUN(should_not_trust_a_kernel_during_which_the_turn_was_lost);
    RUN(should_not_trust_a_kernel_beside_those_of_other_processes);
    RUN(should_tell_how_far_a_late_end_may_be_off);
    RUN(should_not_follow_a_single_disturbance);
    return 0;
}
