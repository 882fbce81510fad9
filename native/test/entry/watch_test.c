/* Every call is counted exactly once in the region, and passed with its detail to the sinks that are on. The program does not notice. */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "os/clock.h"
#include "cuda_abi.h"
#include "cuda_entries.h"
#include "os/os.h"
#include "real.h"
#include "tenant/tenant.h"
#include "entry/watch.h"

#define MILLI 1000000u
#define STRIPE_CALLS (SL_REGION_CALL_COUNT / SL_REGION_TRAFFIC_COUNT)

CUresult cuDriverGetVersion(int *driverVersion);
CUresult cuStreamQuery(CUstream hStream);
CUresult cuStreamQuery_ptsz(CUstream hStream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount);
CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy);
CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N);
CUresult cuMemAllocHost_v2(void **pp, size_t bytesize);
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
                             unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                             void **kernelParams, void **extra);

static CUresult next_status;
static unsigned sleep_micros;

static CUresult answer(void) {
    if (sleep_micros)
        usleep(sleep_micros);
    errno = 77;
    return next_status;
}

static CUresult fake_version(int *version) {
    *version = 13000;
    return answer();
}
static CUresult fake_query(CUstream stream) {
    (void)stream;
    return answer();
}
static CUresult fake_to_gpu(CUdeviceptr to, const void *from, size_t bytes) {
    (void)to, (void)from, (void)bytes;
    return answer();
}
static CUresult fake_from_gpu(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    (void)to, (void)from, (void)bytes, (void)stream;
    return answer();
}
static CUresult fake_copy(const CUDA_MEMCPY2D *copy) {
    (void)copy;
    return answer();
}
static CUresult fake_set(CUdeviceptr to, unsigned value, size_t count) {
    (void)to, (void)value, (void)count;
    return answer();
}
static CUresult fake_alloc_host(void **address, size_t bytes) {
    (void)address, (void)bytes;
    return answer();
}
static CUresult fake_launch(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared,
                            CUstream stream, void **parameters, void **extra) {
    (void)f, (void)stream, (void)parameters;
    return x == 1 && y == 2 && z == 3 && a == 4 && b == 5 && c == 6 && shared == 7 && extra == (void **)8 ? answer() : -1;
}

static void use_fake_driver(void) {
    real.cuDriverGetVersion = fake_version;
    real.cuStreamQuery = real.cuStreamQuery_ptsz = fake_query;
    real.cuMemcpyHtoD_v2 = fake_to_gpu;
    real.cuMemcpyDtoHAsync_v2 = fake_from_gpu;
    real.cuMemcpy2D_v2 = fake_copy;
    real.cuMemsetD32_v2 = fake_set;
    real.cuMemAllocHost_v2 = fake_alloc_host;
    real.cuLaunchKernel_ptsz = fake_launch;
}

typedef struct {
    uint64_t calls, failed, timed_calls, timed_nanos, sampled_calls, sampled_nanos, longest_nanos, bytes;
} sum_t;

static sum_t sum_of(unsigned entry) {
    sum_t sum = {0};
    for (unsigned stripe = 0; stripe < SL_REGION_TRAFFIC_COUNT; stripe++) {
        const sl_region_call_t *call = &sl_tenant.region.calls[stripe * STRIPE_CALLS + entry];
        sum.calls += call->calls;
        sum.failed += call->failed;
        sum.timed_calls += call->timed_calls;
        sum.timed_nanos += call->timed_nanos;
        sum.sampled_calls += call->sampled_calls;
        sum.sampled_nanos += call->sampled_nanos;
        sum.longest_nanos = call->longest_nanos > sum.longest_nanos ? call->longest_nanos : sum.longest_nanos;
        sum.bytes += call->bytes;
    }
    return sum;
}

static uint64_t traffic(unsigned direction) {
    uint64_t bytes = 0;
    for (unsigned stripe = 0; stripe < SL_REGION_TRAFFIC_COUNT; stripe++)
        bytes += (&sl_tenant.region.traffic[stripe].to_gpu_bytes)[direction - SL_DIRECTION_TO_GPU];
    return bytes;
}

static void should_only_forward_without_a_tenant(void) {
    int version = 0;
    errno = 0;
    CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 13000 && errno == 77);
    next_status = 4711;
    CHECK(cuDriverGetVersion(&version) == 4711);
    next_status = CUDA_SUCCESS;
    CHECK(sl_tenant.state == SL_TENANT_UNKNOWN, "a call that says nothing about the GPU attached the process");
}

static void should_count_nothing_by_another_version(void) {
    sl_reason_t reason;
    uint64_t none[16] = {0}, digest = 1;
    sl_slots_owner_t self;
    CHECK(sl_slots_self(&self, &reason));
    sl_region_draft_t draft = {.tenant = "other", .root_identity = self.identity, .memory_bytes = none};
    sl_region_t region;
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    FILE *file = fopen(region.path, "r+");
    CHECK(file && fseek(file, offsetof(sl_region_header_t, entries_digest), SEEK_SET) == 0 && fwrite(&digest, 8, 1, file) == 1);
    fclose(file);
    setenv("SLUICE_REGION", region.path, 1);
    setenv("SLUICE_LOG", "error", 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    int version;
    CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS && cuDriverGetVersion(&version) == CUDA_SUCCESS);
    CHECK(sum_of(SL_ENTRY_cuDriverGetVersion).calls == 0);
    CHECK(strstr(sl_tenant.region.errors[0].text, "not counted"), "'%s'", sl_tenant.region.errors[0].text);
}

static void should_count_calls_errors_and_time(void) {
    int version;
    for (int i = 0; i < 1000; i++)
        CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS);
    sum_t sum = sum_of(SL_ENTRY_cuDriverGetVersion);
    CHECK(sum.calls == 1000 && sum.failed == 0 && sum.timed_calls == 1000 && sum.longest_nanos <= sum.timed_nanos);
    next_status = CUDA_ERROR_NOT_READY;
    CHECK(cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY);
    CHECK(sum_of(SL_ENTRY_cuStreamQuery).failed == 0, "work that is not ready is no error");
    next_status = 1;
    CHECK(cuStreamQuery(NULL) == 1 && errno == 77);
    next_status = CUDA_SUCCESS;
    CHECK(sum_of(SL_ENTRY_cuStreamQuery).calls == 2 && sum_of(SL_ENTRY_cuStreamQuery).failed == 1);
    CHECK(sum_of(SL_ENTRY_cuStreamQuery_ptsz).calls == 0);
    uint64_t before = sum_of(SL_ENTRY_cuDriverGetVersion).timed_nanos, start = sl_os_nanos();
    sleep_micros = 5000;
    cuDriverGetVersion(&version);
    sleep_micros = 0;
    uint64_t took = sl_os_nanos() - start;
    sum = sum_of(SL_ENTRY_cuDriverGetVersion);
    CHECK(sum.timed_nanos - before >= 49 * MILLI / 10 && sum.timed_nanos - before <= took + took / 50, "%llu of %llu ns",
          (unsigned long long)(sum.timed_nanos - before), (unsigned long long)took);
    CHECK(sum.longest_nanos >= 49 * MILLI / 10);
}

enum { ROUND = 50 };

/* The last call of a round waits, as if at the gate. */
static CUresult fake_held_query(CUstream stream) {
    static int calls;
    if (++calls % ROUND == 0)
        sl_thread_note_gate();
    sleep_micros = calls % ROUND == 0 ? 2000 : 50;
    return fake_query(stream);
}

/* The time of a round; 0: a quick call was interrupted, and its sample may stand for 16 others. */
static uint64_t call_a_round(void) {
    uint64_t start = sl_os_nanos(), before = start;
    bool quick = true;
    for (int i = 1; i <= ROUND; i++) {
        cuStreamQuery(NULL);
        uint64_t now = sl_os_nanos();
        quick = quick && (i == ROUND || now - before < 5 * MILLI);
        before = now;
    }
    return quick ? before - start : 0;
}

static void should_time_some_quick_calls_and_all_that_are_held(void) {
    enum { CALLS = 2000 };
    sum_t sum = {0};
    double took = 0;
    real.cuStreamQuery = fake_held_query;
    while (sum.calls < CALLS) {
        sum_t before = sum_of(SL_ENTRY_cuStreamQuery);
        uint64_t nanos = call_a_round();
        sum_t after = sum_of(SL_ENTRY_cuStreamQuery);
        CHECK(after.calls - before.calls == ROUND && after.timed_calls - before.timed_calls == 1 && after.longest_nanos >= 2 * MILLI);
        if (!nanos)
            continue;
        took += (double)nanos;
        sum.calls += ROUND;
        sum.timed_nanos += after.timed_nanos - before.timed_nanos;
        sum.sampled_calls += after.sampled_calls - before.sampled_calls;
        sum.sampled_nanos += after.sampled_nanos - before.sampled_nanos;
    }
    real.cuStreamQuery = fake_query;
    sleep_micros = 0;
    uint64_t held = CALLS / ROUND, sampled = sum.sampled_calls;
    CHECK(sum.timed_nanos >= held * 2 * MILLI);
    CHECK(sampled > CALLS / 24 && sampled < CALLS / 8, "%llu timed", (unsigned long long)sampled);
    double mean = (double)sum.sampled_nanos / (double)sampled, all = (double)sum.timed_nanos + mean * (double)(CALLS - held);
    CHECK(all > 0.5 * took && all < 2 * took, "%g of %g ns", all, took);
}

static void should_count_bytes_by_direction(void) {
    CUDA_MEMCPY2D copy = {.srcMemoryType = 3, .dstMemoryType = 2, .WidthInBytes = 100, .Height = 7};
    void *address;
    cuMemcpyHtoD_v2(0x1000, NULL, 1000);
    cuMemcpyHtoD_v2(0x1000, NULL, 24);
    cuMemcpyDtoHAsync_v2(NULL, 0x1000, 333, NULL);
    cuMemcpy2D_v2(&copy);
    copy.dstMemoryType = 4;
    cuMemcpy2D_v2(&copy);
    cuMemcpy2D_v2(NULL);
    cuMemsetD32_v2(0x1000, 0, 16);
    cuMemAllocHost_v2(&address, 4096);
    next_status = 1;
    cuMemcpyHtoD_v2(0x1000, NULL, 1 << 20);
    next_status = CUDA_SUCCESS;
    sum_t to = sum_of(SL_ENTRY_cuMemcpyHtoD_v2);
    CHECK(to.calls == 3 && to.failed == 1 && to.bytes == 1024, "a copy that failed moved nothing");
    CHECK(traffic(SL_DIRECTION_TO_GPU) == 1024 && traffic(SL_DIRECTION_FROM_GPU) == 333);
    CHECK(traffic(SL_DIRECTION_ON_GPU) == 700 && traffic(SL_DIRECTION_OTHER) == 700 && traffic(SL_DIRECTION_HOST) == 0);
    CHECK(sum_of(SL_ENTRY_cuMemcpy2D_v2).bytes == 1400 && sum_of(SL_ENTRY_cuMemsetD32_v2).bytes == 64);
    CHECK(sum_of(SL_ENTRY_cuMemAllocHost_v2).bytes == 4096);
}

enum { THREADS = 12, CALLS = 50000 };

static void *call_often(void *unused) {
    for (int i = 0; i < CALLS; i++)
        cuStreamQuery_ptsz(NULL);
    return unused;
}

static void call_often_in_child(void) {
    call_often(NULL);
}

static void should_lose_no_call_of_many_threads_and_processes(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call_often, NULL) == 0);
    CHECK(in_child(call_often_in_child) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    sum_t sum = sum_of(SL_ENTRY_cuStreamQuery_ptsz);
    CHECK(sum.calls == (THREADS + 1) * CALLS, "%llu", (unsigned long long)sum.calls);
}

/* The linker puts these functions in the place of the library's. */
static unsigned told_entry;
static int told_status;
static uint64_t told_ticks;
static sl_detail_t told;
void __wrap_sl_profile_call(unsigned entry, uint64_t begin, uint64_t end, int status, const sl_detail_t *detail);
void __wrap_sl_profile_call(unsigned entry, uint64_t begin, uint64_t end, int status, const sl_detail_t *detail) {
    told_entry = entry;
    told_ticks = end - begin;
    told_status = status;
    told = *detail;
}

static void should_pass_the_detail_to_the_sinks_that_asked(void) {
    sum_t before = sum_of(SL_ENTRY_cuLaunchKernel_ptsz);
    sl_sink_switch(SL_SINK_PROFILE, true);
    CHECK(cuLaunchKernel_ptsz((CUfunction)0x99, 1, 2, 3, 4, 5, 6, 7, NULL, NULL, (void **)8) == CUDA_SUCCESS);
    CHECK(told_entry == SL_ENTRY_cuLaunchKernel_ptsz && told_status == 0 && told_ticks > 0 && told_ticks < 1ull << 40);
    CHECK(told.kind == SL_DETAIL_KERNEL && told.function == 0x99 && told.stream == SL_STREAM_PER_THREAD && told.shared_bytes == 7);
    CHECK(told.grid[0] == 1 && told.grid[1] == 2 && told.grid[2] == 3 && told.block[0] == 4 && told.block[2] == 6);
    next_status = 1;
    CHECK(cuMemcpyDtoHAsync_v2(NULL, 0x1000, 55, (CUstream)0x77) == 1 && errno == 77);
    next_status = CUDA_SUCCESS;
    CHECK(told.kind == SL_DETAIL_COPY && told.bytes == 55 && told.direction == SL_DIRECTION_FROM_GPU && told.stream == 0x77);
    CHECK(told_status == 1 && traffic(SL_DIRECTION_FROM_GPU) == 333);
    CHECK(sum_of(SL_ENTRY_cuLaunchKernel_ptsz).calls == before.calls + 1, "what is told is counted, too");
    sl_sink_switch(SL_SINK_PROFILE, false);
    told_entry = 0;
    cuStreamQuery(NULL);
    CHECK(told_entry == 0);
}

static void should_know_how_long_a_tick_is(void) {
    uint64_t ticks = sl_clock_ticks(), nanos = sl_os_nanos();
    usleep(30000);
    uint64_t more_ticks = sl_clock_ticks() - ticks, more_nanos = sl_os_nanos() - nanos;
    sl_clock_look();
    double ratio = (double)sl_clock_nanos(more_ticks) / (double)more_nanos;
    CHECK(ratio > 0.98 && ratio < 1.02, "%g", ratio);
}

int main(void) {
    use_test_folder();
    use_fake_driver();
    RUN(should_only_forward_without_a_tenant);
    printf("should_count_nothing_by_another_version\n");
    CHECK(in_child(should_count_nothing_by_another_version) == 0);
    setenv("SLUICE_MEMORY", "1g", 1);
    setenv("SLUICE_TENANT", "watched", 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    RUN(should_count_calls_errors_and_time);
    RUN(should_time_some_quick_calls_and_all_that_are_held);
    RUN(should_count_bytes_by_direction);
    RUN(should_lose_no_call_of_many_threads_and_processes);
    RUN(should_pass_the_detail_to_the_sinks_that_asked);
    RUN(should_know_how_long_a_tick_is);
    return 0;
}
