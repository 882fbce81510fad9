/* What the meter reads from a fake GPU whose clock the test controls. Work is queued on one stream, and events tell when it ended. */
#include "check.h"

#include <pthread.h>
#include <semaphore.h>

#include "driver/entry.h"
#include "compute/lane.h"
#include "compute/meter/meter.h"
#include "costs/sample.h"
#include "os/os.h"
#include "compute/meter/idle.h"
#include "real.h"

#define MILLI 1000000u

static uint64_t free_nanos;       /* when the GPU has done all that was submitted */
static uint64_t ended[64];        /* when the GPU passed an event, by its number */
static unsigned made;
static unsigned interrupt_micros; /* the host is interrupted this long after it recorded an event */
static bool all_done;
static double speed = 1;          /* of the GPU's clock */
static uint64_t unseen_nanos;     /* how long the host does not see that the GPU passed an event */
static uint64_t idle_nanos;       /* see idle.h */
static sl_meter_t meter;

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

static unsigned number(CUevent event) {
    return (unsigned)(uintptr_t)event - 1;
}

static CUresult fake_create(CUevent *event, unsigned flags) {
    (void)flags;
    *event = (CUevent)(uintptr_t)++made;
    return CUDA_SUCCESS;
}

static CUresult fake_record(CUevent event, CUstream stream) {
    (void)stream;
    ended[number(event)] = free_nanos = later(free_nanos, sl_os_nanos());
    if (interrupt_micros)
        usleep(interrupt_micros);
    interrupt_micros = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUevent event) {
    return all_done || ended[number(event)] + unseen_nanos <= sl_os_nanos() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult fake_query_stream(CUstream stream) {
    (void)stream;
    return free_nanos <= sl_os_nanos() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult fake_elapsed(float *millis, CUevent from, CUevent to) {
    *millis = (float)(speed * (double)(int64_t)(ended[number(to)] - ended[number(from)]) / 1e6);
    return CUDA_SUCCESS;
}

static sl_stream_t stream(void) {
    return sl_stream_of((CUstream)(uintptr_t)0x1000, false);
}

static void launch_on(sl_stream_t on, uint64_t nanos) {
    CHECK(sl_meter_open(&meter, &on, false));
    free_nanos = later(free_nanos, sl_os_nanos()) + nanos;
    sl_meter_submitted(&meter, &on, false, sl_os_nanos());
}

static void launch(uint64_t nanos) {
    launch_on(stream(), nanos);
}

static void close_batch(uint64_t predicted_nanos, unsigned calls, sl_cost_t *only, bool prompt, uint64_t submitted_nanos) {
    sl_meter_end_t end = {.predicted_nanos = predicted_nanos,
                          .idle_nanos = idle_nanos,
                          .submitted_nanos = submitted_nanos,
                          .calls = calls,
                          .prompt = prompt,
                          .only = only};
    sl_meter_close(&meter, &end);
}

/* Closes the batch, lets the GPU do all of it and returns the reading in milliseconds. */
static double reading(uint64_t predicted_nanos, unsigned calls) {
    sl_meter_reading_t read;
    close_batch(predicted_nanos, calls, NULL, false, sl_os_nanos());
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read));
    CHECK(read.calls == calls && read.last);
    all_done = false;
    free_nanos = 0;
    return (double)read.nanos / 1e6;
}

static void begin(void) {
    static const sl_meter_t nothing;
    meter = nothing;
    made = 0;
    free_nanos = 0;
}

static bool about(double expected, double seen) {
    return seen > expected - 0.5 && seen < expected + 0.5;
}

static void shouldReadASingleCall(void) {
    begin();
    launch(5 * MILLI);
    double read = reading(5 * MILLI, 1);
    CHECK(about(5, read), "read %.2f ms", read);
}

/* The GPU waited for the host between two calls, so their known costs count. */
static void shouldNotChargeForWaiting(void) {
    begin();
    launch(5 * MILLI);
    usleep(40000);
    launch(5 * MILLI);
    double read = reading(10 * MILLI, 2);
    CHECK(about(10, read), "read %.2f ms", read);
}

/* Two calls on the first stream, with a rest between them, and many on the second at the same time as the last one. */
static double read_streams(uint64_t predicted_nanos) {
    sl_stream_t other = sl_stream_of((CUstream)(uintptr_t)0x2000, false);
    begin();
    launch(5 * MILLI);
    uint64_t idle = free_nanos;
    usleep(40000);
    idle_nanos = sl_os_nanos() - idle;
    launch(5 * MILLI);
    CHECK(sl_meter_open(&meter, &other, false));
    sl_meter_submitted(&meter, &other, false, sl_os_nanos());
    double read = reading(predicted_nanos, 16);
    idle_nanos = 0;
    return read;
}

/* If calls on several streams overlap, the sum of their costs does not show the idle time; idle.h does. */
static void shouldNotChargeForWaitingBetweenCallsOnSeveralStreams(void) {
    double read = read_streams(160 * MILLI);
    CHECK(about(10, read), "read %.2f ms", read);
}

/* The calls took as long as one after the other: perhaps they slow each other down, and idle.h is wrong. */
static void shouldNotTrustThePaceWhenCallsWereNotSeenSideBySide(void) {
    double read = read_streams(30 * MILLI);
    CHECK(about(30, read), "read %.2f ms", read);
}

/* Streams whose keys hash to the same place all get one, until the batch ends. */
static void shouldFindAllStreamsOfABatch(void) {
    static sl_lane_t lane;
    uint64_t keys[SL_LANE_PROBES];
    for (uint64_t key = 16, found = 0; found < SL_LANE_PROBES; key += 16)
        if (sl_lane_mix(key) >> 60 == 7)
            keys[found++] = key;
    for (unsigned i = 0; i < SL_LANE_PROBES; i++)
        sl_lane_add(&lane, keys[i]);
    for (unsigned i = 0; i < SL_LANE_PROBES; i++)
        CHECK(sl_lane_find(&lane, keys[i]) == (int)sl_lane_add(&lane, keys[i]) && sl_lane_find(&lane, keys[i]) == (int)(7 + i), "stream %u", i);
    sl_lane_remove(&lane, keys[1]);
    CHECK(sl_lane_find(&lane, keys[1]) == -1 && sl_lane_find(&lane, keys[2]) == 9);
    lane.batch++;
    for (unsigned i = 0; i < SL_LANE_PROBES; i++)
        CHECK(sl_lane_find(&lane, keys[i]) == -1, "stream %u", i);
}

static void shouldTellHowLongTheGpuWaited(void) {
    enum { ONE, OTHER, COST = 10000 };
    static const sl_idle_t nothing;
    sl_idle_t idle = nothing;
    sl_idle_note(&idle, ONE, COST, 1000000);
    sl_idle_note(&idle, OTHER, COST, 1004000);
    sl_idle_note(&idle, ONE, COST, 1016000);   /* a gap too short for other work */
    sl_idle_note(&idle, ONE, COST, 1018000);   /* queued behind the last call: until 1036000 */
    sl_idle_note(&idle, OTHER, COST, 1050000);
    CHECK(sl_idle_nanos(&idle) == 14000);
    sl_idle_begin(&idle);
    sl_idle_note(&idle, ONE, COST, 2000000);   /* between two batches idle time does not count */
    sl_idle_note(&idle, OTHER, COST, 2030000);
    CHECK(sl_idle_nanos(&idle) == 20000);
    sl_idle_lose_track(&idle);
    CHECK(sl_idle_nanos(&idle) == 0, "somebody may have submitted more");
    sl_idle_begin(&idle);
    CHECK(sl_idle_nanos(&idle) == 0);
    sl_idle_note(&idle, ONE, COST, 3000000);
    sl_idle_note(&idle, ONE, COST, 3020000);
    CHECK(sl_idle_nanos(&idle) == 10000);
}

/* The GPU waits for the host at times, so the batch is not full. But the known costs of its calls are too low by now. */
static void shouldChargeTheSpanWhenCallsTakeLongerThanKnown(void) {
    begin();
    launch(100 * MILLI);
    usleep(20000);
    launch(100 * MILLI);
    double read = reading(MILLI / 50, 2);
    CHECK(read > 195, "read %.2f ms", read);
    CHECK(sl_meter_expect(&meter, MILLI) > 10 * MILLI, "the next calls are still taken for short");
}

/* The batch stayed open while the host had nothing to do, and the GPU's clock is a little faster than the host's. */
static void shouldNotChargeForTheDriftOfClocks(void) {
    begin();
    speed = 1.0005;
    launch(MILLI);
    usleep(300000);
    double read = reading(MILLI / 50, 2);
    speed = 1;
    CHECK(read < 200, "read %.2f ms", read);
}

/* Another process had the GPU before the batch ended: the meter learns nothing from it. */
static void shouldNotChargeForAnothersTurn(void) {
    sl_cost_t cost = {.nanos = MILLI, .samples = SL_COST_SAMPLES, .pending = 1};
    sl_meter_reading_t read;
    begin();
    launch(MILLI);
    free_nanos += 40 * MILLI;
    close_batch(MILLI, 1, &cost, true, sl_os_nanos());
    meter.turn++;
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read) && read.divided && read.nanos == MILLI, "read %lu ns", (unsigned long)read.nanos);
    all_done = false;
    CHECK(cost.nanos == MILLI && !cost.pending, "known for %lu ns", (unsigned long)cost.nanos);
    CHECK(sl_meter_expect(&meter, MILLI) == MILLI);
}

/* A process outside the turns had the GPU for a part of the batch, and has told for how long. */
static void shouldSubtractInterruptions(void) {
    sl_cost_t cost = {.nanos = 5 * MILLI, .samples = SL_COST_SAMPLES, .pending = 1};
    sl_meter_reading_t read;
    begin();
    launch(8 * MILLI);
    close_batch(5 * MILLI, 1, &cost, true, sl_os_nanos());
    meter.interruptions++;
    meter.others_nanos += 3 * MILLI;
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read) && about(5, (double)read.nanos / 1e6), "read %lu ns", (unsigned long)read.nanos);
    all_done = false;
    CHECK(cost.nanos == 5 * MILLI && !cost.pending, "known for %lu ns", (unsigned long)cost.nanos);
}

/* The time of an interruption is told when the next batch is being done already. The sum is right. */
static void shouldSubtractLateWhatIsToldLate(void) {
    sl_meter_reading_t first, second;
    begin();
    launch(4 * MILLI);
    close_batch(4 * MILLI, 1, NULL, true, sl_os_nanos());
    launch(4 * MILLI);
    close_batch(4 * MILLI, 1, NULL, true, sl_os_nanos());
    meter.interruptions++;
    all_done = true;
    CHECK(sl_meter_settle(&meter, &first));
    meter.others_nanos += 2 * MILLI;
    CHECK(sl_meter_settle(&meter, &second));
    all_done = false;
    CHECK(about(6, (double)(first.nanos + second.nanos) / 1e6), "read %lu and %lu ns", (unsigned long)first.nanos, (unsigned long)second.nanos);
}

/* Interruptions while the process had no work on the GPU are no part of its next batch. */
static void shouldNotSubtractWhatWasBeforeTheBatch(void) {
    sl_meter_reading_t read;
    begin();
    meter.interruptions++;
    meter.others_nanos += 50 * MILLI;
    launch(4 * MILLI);
    close_batch(4 * MILLI, 1, NULL, true, sl_os_nanos());
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read) && about(4, (double)read.nanos / 1e6), "read %lu ns", (unsigned long)read.nanos);
    all_done = false;
}

/* Otherwise a call that is always interrupted would be charged as it was long ago. */
static void shouldNoticeThatAnInterruptedCallTakesLonger(void) {
    sl_cost_t cost = {.nanos = 5 * MILLI, .samples = SL_COST_SAMPLES, .pending = 1};
    sl_meter_reading_t read;
    begin();
    launch(52 * MILLI);
    close_batch(5 * MILLI, 1, &cost, true, sl_os_nanos());
    meter.interruptions++;
    meter.others_nanos += 2 * MILLI;
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read) && about(50, (double)read.nanos / 1e6), "read %lu ns", (unsigned long)read.nanos);
    all_done = false;
    CHECK(cost.nanos > 20 * MILLI, "known for %lu ns", (unsigned long)cost.nanos);
}

/* Otherwise the cost of a call during which the process always loses the turn would never be known. */
static void shouldLearnFromADividedBatchWhatIsNotKnown(void) {
    sl_cost_t cost = {.pending = 1};
    sl_meter_reading_t read;
    begin();
    launch(5 * MILLI);
    close_batch(MILLI / 20, 1, &cost, true, sl_os_nanos());
    meter.turn++;
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read) && read.divided && about(5, (double)read.nanos / 1e6), "read %lu ns", (unsigned long)read.nanos);
    all_done = false;
    CHECK(about(5, (double)cost.nanos / 1e6) && !cost.pending, "known for %lu ns", (unsigned long)cost.nanos);
}

/* Not all of the work lies between events, so the events give no upper bound. */
static void shouldChargeForADividedBatchThatIsBlurred(void) {
    sl_meter_reading_t read;
    begin();
    launch(MILLI);
    meter.batches[meter.open % SL_METER_BATCHES].evidence |= SL_METER_BLURRED;
    close_batch(5 * MILLI, 2, NULL, false, sl_os_nanos());
    meter.turn++;
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read) && read.nanos == 5 * MILLI, "read %lu ns", (unsigned long)read.nanos);
    all_done = false;
}

/* Another thread added a call to the batch. */
static void shouldNotLearnFromACallThatWasNotAlone(void) {
    sl_cost_t cost = {.pending = 1};
    sl_meter_reading_t read;
    begin();
    launch(MILLI);
    launch(MILLI);
    close_batch(MILLI, 2, &cost, true, sl_os_nanos());
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read));
    all_done = false;
    CHECK(!cost.nanos && !cost.pending, "known for %lu ns", (unsigned long)cost.nanos);
}

/* The host was interrupted between the last call and the end event. The GPU passed the event when the host recorded it at last. */
static void shouldNotChargeForAnEndThatCameLate(void) {
    sl_meter_reading_t read;
    begin();
    launch(MILLI);
    reading(MILLI, 1);
    launch(MILLI);
    uint64_t submitted = sl_os_nanos();
    usleep(30000);
    close_batch(MILLI, 1, NULL, true, submitted);
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read));
    all_done = false;
    CHECK(about(1, (double)read.nanos / 1e6), "read %.2f ms", (double)read.nanos / 1e6);
}

/* If the host was interrupted while it recorded an event, the time at which the GPU passed it is not known. */
static void shouldNotTrustAnEventWhoseRecordingWasInterrupted(void) {
    begin();
    launch(MILLI);
    reading(MILLI, 1);
    interrupt_micros = 60000;
    launch(10 * MILLI);
    usleep(20000);
    launch(10 * MILLI);
    double read = reading(20 * MILLI, 2);
    CHECK(about(20, read), "read %.2f ms", read);
}

/* The GPU passed the start, and the host was interrupted before the launch: the kernel does not pay for that time. */
static void shouldNotTakeAnInterruptedStartForTheKernel(void) {
    sl_cost_t cost = {.key = 1, .pending = 1};
    sl_meter_reading_t read;
    sl_sample_t sample;
    begin();
    sl_sample_forget();
    interrupt_micros = 30000;
    launch(MILLI);
    close_batch(MILLI, 1, &cost, true, sl_os_nanos());
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read));
    all_done = false;
    CHECK(sl_sample_read(&cost, &sample) == SL_SAMPLE_ALONE && sample.least <= MILLI && sample.most >= MILLI, "between %.0f and %.0f ns", sample.least,
          sample.most);
    CHECK(cost.nanos < 5 * MILLI && read.nanos < 5 * MILLI, "learnt %lu ns, charged %lu ns", (unsigned long)cost.nanos, (unsigned long)read.nanos);
}

/* Although the driver came back late from recording the start. */
static void shouldTellWhenTheGpuWorked(void) {
    sl_meter_reading_t read;
    begin();
    uint64_t before = sl_os_nanos();
    interrupt_micros = 300;
    launch(5 * MILLI);
    uint64_t began = ended[0], ended_at = free_nanos;
    close_batch(5 * MILLI, 1, NULL, true, sl_os_nanos());
    usleep(6000);
    CHECK(sl_meter_settle(&meter, &read));
    CHECK(read.began_nanos >= before && read.began_nanos <= began + MILLI && began <= read.began_nanos + read.doubt_nanos,
          "from %lld us after it on, %llu us in doubt", (long long)(read.began_nanos - began) / 1000, (unsigned long long)read.doubt_nanos / 1000);
    CHECK(read.ended_nanos <= ended_at + 10000 && ended_at <= read.ended_nanos + read.doubt_nanos);
}

/* A single call shows that it takes longer now. A batch that was predicted before must not correct the scale for it once more. */
static void shouldNotMakeUpTwiceForACallThatBecameLonger(void) {
    sl_cost_t cost = {.nanos = MILLI / 50, .samples = SL_COST_SAMPLES, .pending = 1};
    sl_meter_reading_t read;
    begin();
    launch(5 * MILLI);
    close_batch(cost.nanos, 1, &cost, true, sl_os_nanos());
    launch(5 * MILLI);
    launch(5 * MILLI);
    close_batch(2 * cost.nanos, 2, NULL, false, sl_os_nanos());
    all_done = true;
    CHECK(sl_meter_settle(&meter, &read) && cost.nanos > 2 * MILLI, "known for %lu ns", (unsigned long)cost.nanos);
    CHECK(sl_meter_settle(&meter, &read) && about(10, (double)read.nanos / 1e6), "read %lu ns", (unsigned long)read.nanos);
    all_done = false;
    CHECK(sl_meter_expect(&meter, MILLI) == MILLI, "%lu ns are expected", (unsigned long)sl_meter_expect(&meter, MILLI));
}

static void spin(uint64_t nanos) {
    for (uint64_t start = sl_os_nanos(); sl_os_nanos() - start < nanos;)
        ;
}

/* Reads a single launch that returns some time after the GPU has it. */
static uint64_t read_late(sl_cost_t *cost, uint64_t nanos, uint64_t after_nanos) {
    sl_stream_t on = stream();
    sl_meter_reading_t read = {.last = false};
    CHECK(sl_meter_open(&meter, &on, false));
    free_nanos = later(free_nanos, sl_os_nanos()) + nanos;
    spin(after_nanos);
    uint64_t back = sl_os_nanos();
    sl_meter_submitted(&meter, &on, false, back);
    cost->pending = 1;
    close_batch(nanos, 1, cost, true, back);
    while (!read.last)
        sl_meter_settle(&meter, &read);
    return read.nanos;
}

/* A profiler delays the return of each launch in this way. */
static void shouldLearnHowLateALaunchComesBack(void) {
    enum { KERNEL = 300000, AFTER = 9000 };
    sl_cost_t cost = {.key = 1};
    begin();
    uint64_t before = read_late(&cost, KERNEL, AFTER);
    unsigned right = 0; /* an interrupted test gets wrong readings */
    for (int i = 0; i < 250; i++) {
        launch(KERNEL);
        close_batch(KERNEL, 1, NULL, true, sl_os_nanos());
        read_late(&cost, KERNEL, AFTER);
        spin(2000);
        uint64_t after = read_late(&cost, KERNEL, AFTER);
        right += i >= 230 && after > KERNEL - 7000 && after < KERNEL + 40000;
    }
    CHECK(before < KERNEL - 9000, "read %llu", (unsigned long long)before);
    CHECK(meter.skew_nanos > 6000 && meter.skew_nanos < 12000, "skew %.0f", meter.skew_nanos);
    CHECK(right > 10, "%u of 20", right);
}

/* In a loop that waits for each kernel, no kernel is queued. But once another process had the GPU for a while. */
static void shouldNotLearnFromOneDisturbedCall(void) {
    enum { KERNEL = 300000 };
    sl_cost_t cost = {.key = 1};
    begin();
    while (!cost.queued_nanos) { /* a test that is interrupted comes too late */
        launch(KERNEL);
        close_batch(KERNEL, 1, NULL, true, sl_os_nanos());
        read_late(&cost, KERNEL + KERNEL / 4, 0);
        spin(2000);
    }
    CHECK(cost.queued_nanos > KERNEL, "known for %llu", (unsigned long long)cost.queued_nanos);
    for (int i = 0; i < 100; i++) {
        read_late(&cost, KERNEL, 0);
        spin(2000);
    }
    CHECK(meter.skew_nanos < 500, "skew %.0f", meter.skew_nanos);
}

/* While the GPU works on several streams its events take longer. */
static void shouldNotLearnFromACallBehindThoseOfSeveralStreams(void) {
    enum { KERNEL = 300000 };
    sl_cost_t cost = {.key = 1, .nanos = KERNEL, .samples = SL_COST_SAMPLES};
    sl_stream_t other = sl_stream_of((CUstream)(uintptr_t)0x2000, false);
    begin();
    for (int i = 0; i < 20; i++) {
        launch(KERNEL);
        CHECK(sl_meter_open(&meter, &other, false));
        sl_meter_submitted(&meter, &other, false, sl_os_nanos());
        close_batch(KERNEL, 2, NULL, true, sl_os_nanos());
        free_nanos += 4000;
        read_late(&cost, KERNEL, 0);
    }
    CHECK(cost.queued_nanos == 0, "known for %llu", (unsigned long long)cost.queued_nanos);
}

/* A loop that waits for each kernel: the host launches before it sees that the GPU has passed the start, but the GPU was idle meanwhile. */
static void shouldNotTakeTheHostsTimeForTheKernels(void) {
    enum { KERNEL = 10000, LAUNCH = 5000 };
    sl_cost_t cost = {.key = 1, .nanos = KERNEL, .samples = SL_COST_SAMPLES};
    sl_stream_t on = stream();
    unsigned right = 0;
    begin();
    read_late(&cost, KERNEL, 0);
    cost.nanos = KERNEL;
    unseen_nanos = 8000;
    for (int i = 0; i < 100; i++) {
        sl_meter_reading_t read = {.last = false};
        uint64_t began = sl_os_nanos();
        CHECK(sl_meter_open(&meter, &on, true));
        spin(LAUNCH);
        uint64_t back = sl_os_nanos();
        free_nanos = back + KERNEL;
        sl_meter_submitted(&meter, &on, false, back);
        bool interrupted = back - began > 2 * LAUNCH;
        cost.pending += !interrupted;
        close_batch(KERNEL, 1, interrupted ? NULL : &cost, true, back);
        while (!read.last)
            sl_meter_settle(&meter, &read);
        right += cost.nanos > KERNEL - LAUNCH / 2 && cost.nanos < KERNEL + LAUNCH / 2;
    }
    unseen_nanos = 0;
    CHECK(right > 80, "%u of 100 times; at last it is known for %llu", right, (unsigned long long)cost.nanos);
}

/* A thread that launches a call of 30 ms on its default stream. */
typedef struct {
    pthread_t thread;
    sem_t launched, goes_on;
    bool waits; /* it waits for the GPU right after the call */
} other_t;

static void *launch_on_own(void *argument) {
    other_t *other = argument;
    launch_on(sl_stream_of(NULL, true), 30 * MILLI);
    if (other->waits)
        CHECK(sl_meter_end_early(&meter) && !sl_meter_end_early(&meter));
    sem_post(&other->launched);
    sem_wait(&other->goes_on);
    sl_meter_end_owed(&meter);
    return NULL;
}

static void start_other(other_t *other, bool waits) {
    begin();
    other->waits = waits;
    sem_init(&other->launched, 0, 0);
    sem_init(&other->goes_on, 0, 0);
    pthread_create(&other->thread, NULL, launch_on_own, other);
    sem_wait(&other->launched);
}

/* After the other thread, this thread launches a call of 20 ms and closes the batch. */
static void begin_with_other(other_t *other, bool waits, uint64_t predicted_nanos) {
    start_other(other, waits);
    launch(20 * MILLI);
    close_batch(predicted_nanos, 2, NULL, false, sl_os_nanos());
}

static void go_on(other_t *other) {
    sem_post(&other->goes_on);
    pthread_join(other->thread, NULL);
}

static bool settles(double *millis) {
    sl_meter_reading_t read = {0};
    bool settled = sl_meter_settle(&meter, &read);
    *millis = (double)read.nanos / 1e6;
    return settled;
}

/* The calls take longer than known: the end event shows it. */
static void shouldLetAThreadEndWhatIsOnItsDefaultStream(void) {
    other_t other;
    double read;
    begin_with_other(&other, false, 10 * MILLI);
    CHECK(meter.crossed && !settles(&read));
    go_on(&other);
    CHECK(!settles(&read));
    usleep(60000);
    CHECK(settles(&read) && about(50, read), "read %.2f ms", read);
}

/* The GPU waited for the host between the calls, so only the calls are charged. The next batch shows what the rest of the time was. */
static void shouldLeaveToTheNextBatchWhatWasNotCharged(void) {
    other_t other;
    double read;
    start_other(&other, false);
    usleep(70000);
    launch(60 * MILLI);
    close_batch(90 * MILLI, 2, NULL, false, sl_os_nanos());
    go_on(&other);
    usleep(70000);
    CHECK(settles(&read) && about(90, read), "read %.2f ms", read);
    CHECK(meter.covered_nanos > 85 * MILLI && meter.covered_nanos < 95 * MILLI, "covered up to %.2f ms", meter.covered_nanos / 1e6);
}

/* The stream is idle by then, so the end of its work is not known. */
static void shouldNotTrustTheEndOfAStreamThatIsIdle(void) {
    other_t other;
    double read;
    begin_with_other(&other, false, 40 * MILLI);
    usleep(60000);
    unsigned before = made;
    go_on(&other);
    CHECK(made == before && settles(&read) && about(40, read), "read %.2f ms", read);
}

static void shouldNotWaitForAThreadThatDoesNotComeBack(void) {
    other_t other;
    double read;
    begin_with_other(&other, false, 40 * MILLI);
    all_done = true;
    CHECK(!settles(&read));
    usleep(50000);
    CHECK(settles(&read) && about(40, read), "read %.2f ms", read);
    all_done = false;
    go_on(&other);
}

static void shouldEndWhatAThreadWaitsFor(void) {
    other_t other;
    double read;
    begin_with_other(&other, true, 10 * MILLI);
    CHECK(!meter.crossed && !settles(&read));
    usleep(60000);
    CHECK(settles(&read) && about(50, read), "read %.2f ms", read);
    go_on(&other);
}

static void shouldMeasureASteadyCallLessOften(void) {
    sl_cost_t cost = {.key = 1};
    for (int i = 0; i < 7; i++)
        sl_cost_learn(&cost, 10000 + 10 * (uint64_t)i);
    CHECK(sl_cost_steadiness(&cost) == 1);
    for (int i = 0; i < 100; i++)
        sl_cost_learn(&cost, 10000);
    CHECK(sl_cost_steadiness(&cost) == 3 && cost.samples >= SL_COST_SAMPLES);
    sl_cost_learn(&cost, 12000);
    CHECK(sl_cost_steadiness(&cost) == 0 && cost.samples >= SL_COST_SAMPLES);
}

int main(void) {
    real.cuEventCreate = fake_create;
    real.cuEventRecord = fake_record;
    real.cuEventRecord_ptsz = fake_record;
    real.cuEventQuery = fake_query;
    real.cuStreamQuery_ptsz = fake_query_stream;
    real.cuEventElapsedTime = fake_elapsed;
    RUN(shouldReadASingleCall);
    RUN(shouldNotChargeForWaiting);
    RUN(shouldNotChargeForWaitingBetweenCallsOnSeveralStreams);
    RUN(shouldNotTrustThePaceWhenCallsWereNotSeenSideBySide);
    RUN(shouldFindAllStreamsOfABatch);
    RUN(shouldTellHowLongTheGpuWaited);
    RUN(shouldChargeTheSpanWhenCallsTakeLongerThanKnown);
    RUN(shouldNotChargeForTheDriftOfClocks);
    RUN(shouldNotChargeForAnothersTurn);
    RUN(shouldSubtractInterruptions);
    RUN(shouldSubtractLateWhatIsToldLate);
    RUN(shouldNotSubtractWhatWasBeforeTheBatch);
    RUN(shouldNoticeThatAnInterruptedCallTakesLonger);
    RUN(shouldLearnFromADividedBatchWhatIsNotKnown);
    RUN(shouldChargeForADividedBatchThatIsBlurred);
    RUN(shouldNotLearnFromACallThatWasNotAlone);
    RUN(shouldNotChargeForAnEndThatCameLate);
    RUN(shouldNotTrustAnEventWhoseRecordingWasInterrupted);
    RUN(shouldNotTakeAnInterruptedStartForTheKernel);
    RUN(shouldTellWhenTheGpuWorked);
    RUN(shouldNotMakeUpTwiceForACallThatBecameLonger);
    RUN(shouldLearnHowLateALaunchComesBack);
    RUN(shouldNotLearnFromOneDisturbedCall);
    RUN(shouldNotLearnFromACallBehindThoseOfSeveralStreams);
    RUN(shouldNotTakeTheHostsTimeForTheKernels);
    RUN(shouldLetAThreadEndWhatIsOnItsDefaultStream);
    RUN(shouldLeaveToTheNextBatchWhatWasNotCharged);
    RUN(shouldNotTrustTheEndOfAStreamThatIsIdle);
    RUN(shouldNotWaitForAThreadThatDoesNotComeBack);
    RUN(shouldEndWhatAThreadWaitsFor);
    RUN(shouldMeasureASteadyCallLessOften);
    return 0;
}
