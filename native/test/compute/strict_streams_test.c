/* A strict cap's thread asks the driver about streams. It must not ask about one that is gone, that captures, or that only another thread can
 * name. */
#include "on_strict.h"

#include "driver/stream.h"

static CUresult (*true_query)(CUstream);
static _Atomic unsigned asked;          /* about a stream of the test */
static _Atomic unsigned asked_in_vain;  /* about the default stream of another thread */
static _Atomic uintptr_t forbidden;     /* asked about now, it is an error of the library */
static _Atomic unsigned mistakes;

static CUresult query(CUstream stream) {
    asked += (uintptr_t)stream > 2;
    mistakes += (uintptr_t)stream > 2 && (uintptr_t)stream == forbidden;
    return (uintptr_t)stream > 2 && (uintptr_t)stream == forbidden ? CUDA_SUCCESS : true_query(stream);
}

static CUresult query_own(CUstream stream) {
    asked_in_vain++;
    return true_query(stream);
}

static void launch_on(CUstream stream, uint64_t nanos) {
    CHECK(hook_cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&nanos}, NULL) == 0);
}

static CUstream begin_streams(void) {
    CUstream stream;
    begin("50%", "1");
    true_query = real.cuStreamQuery;
    real.cuStreamQuery = query;
    real.cuStreamQuery_ptsz = query_own;
    CHECK(real.cuStreamCreate(&stream, 0) == 0);
    for (int i = 0; i < 12; i++) {
        launch_on(stream, 20000);
        wait_for_all();
    }
    return stream;
}

/* The open batch contains the stream: the cost of the call is known, and too little to close the batch. Now and then a call is measured alone. */
static void leave_open(CUstream stream) {
    unsigned before = asked;
    for (int i = 0; i < 100 && asked == before; i++) {
        launch_on(stream, 20000);
        for (int k = 0; k < 20 && asked == before; k++)
            usleep(1000);
    }
    CHECK(asked != before, "the open batch does not contain the stream");
}

static void should_not_ask_about_a_destroyed_stream(void) {
    CUstream stream = begin_streams();
    leave_open(stream);
    forbidden = (uintptr_t)stream;
    CHECK(hook_cuStreamDestroy_v2(stream) == 0);
    usleep(100000);
    CHECK(!mistakes, "asked %u times", mistakes);
}

/* The gate does not see the end of the stream, and sees calls again before the batch is closed. */
static void should_forget_a_stream_that_ended_without_limits(void) {
    CUstream stream = begin_streams(), other;
    CHECK(real.cuStreamCreate(&other, 0) == 0);
    leave_open(stream);
    set_cap(0, 0);
    forbidden = (uintptr_t)stream;
    CHECK(hook_cuStreamDestroy_v2(stream) == 0);
    set_cap(500, 1);
    launch_on(other, 20000);
    usleep(100000);
    CHECK(!mistakes, "asked %u times", mistakes);
}

static void should_not_ask_about_a_stream_that_captures(void) {
    CUgraph graph;
    CUstream stream = begin_streams(), other;
    CHECK(real.cuStreamCreate(&other, 0) == 0);
    for (int i = 0; i < 50; i++) {
        leave_open(stream);
        CHECK(hook_cuStreamBeginCapture_v2(other, 0) == 0);
        forbidden = (uintptr_t)stream; /* it may join the capture at any time */
        usleep(i % 10 ? 300 : 10000);
        forbidden = 0;
        CHECK(hook_cuStreamEndCapture(other, &graph) == 0 && graph);
    }
    CHECK(!mistakes, "asked %u times", mistakes);
}

static void should_leave_a_threads_default_stream_to_the_thread(void) {
    begin_streams();
    uint64_t nanos = 20000;
    for (int i = 0; i < 20; i++) {
        CHECK(hook_cuLaunchKernel_ptsz(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL) == 0);
        usleep(10000);
    }
    CHECK(!asked_in_vain, "asked %u times", asked_in_vain);
}

/* From the second time on, the end of the work is marked before the thread waits for it. */
static void should_hold_on_a_threads_default_stream(void) {
    begin("25%", "1");
    uint64_t nanos = 20000, long_nanos = 300 * MILLI;
    for (int i = 0; i < 12; i++) {
        CHECK(hook_cuLaunchKernel_ptsz(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL) == 0);
        usleep(8000);
        wait_for_all();
    }
    uint64_t start = sl_os_nanos();
    CHECK(hook_cuLaunchKernel_ptsz(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&long_nanos}, NULL) == 0);
    wait_for_all();
    double took = (double)(sl_os_nanos() - start) / 1e9;
    CHECK(took > 1 && took < 1.5, "%.2f s", took);
}

int main(int argc, char **argv) {
    only = argc > 1 ? argv[1] : NULL;
    RUN(should_not_ask_about_a_destroyed_stream);
    RUN(should_forget_a_stream_that_ended_without_limits);
    RUN(should_not_ask_about_a_stream_that_captures);
    RUN(should_leave_a_threads_default_stream_to_the_thread);
    RUN(should_hold_on_a_threads_default_stream);
    return 0;
}
