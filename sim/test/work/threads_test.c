/* Threads and GPUs: per-thread default streams do not wait for each other, contexts on two GPUs do not share memory. */
#include "check.h"

#include <pthread.h>

CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuStreamQuery_ptsz(CUstream stream);
CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                             CUstream stream, void **values, void **extra);

static CUcontext context;

static void *look_at_own_stream(void *unused) {
    OK(cuCtxSetCurrent(context));
    EQUAL(cuStreamQuery_ptsz(NULL), 0);
    EQUAL(cuStreamQuery(NULL), 600); /* the legacy stream waits for all blocking ones */
    return unused;
}

static void should_give_each_thread_its_stream(void) {
    uint64_t nanoseconds = 500000000;
    pthread_t thread;
    OK(cuLaunchKernel_ptsz(kernel("sluice_spin"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanoseconds}, NULL));
    EQUAL(cuStreamQuery_ptsz(NULL), 600);
    CHECK(pthread_create(&thread, NULL, look_at_own_stream, NULL) == 0 && pthread_join(thread, NULL) == 0);
    OK(cuStreamSynchronize_ptsz(NULL));
}

static void should_keep_gpus_apart(void) {
    CUcontext second;
    CUdeviceptr address;
    size_t first_free = free_bytes();
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuCtxSetCurrent(second));
    size_t second_free = free_bytes();
    OK(cuMemAlloc_v2(&address, 100 * MIB));
    EQUAL(second_free - free_bytes(), 100 * MIB);
    OK(cuCtxSetCurrent(context));
    EQUAL(free_bytes(), first_free);
    CUuuid a, b;
    OK(cuDeviceGetUuid_v2(&a, 0));
    OK(cuDeviceGetUuid_v2(&b, 1));
    CHECK(memcmp(&a, &b, sizeof a) != 0);
    EQUAL(cuDevicePrimaryCtxRetain(&second, 2), 101);
}

static void call_the_driver(void *result) { *(CUresult *)result = cuCtxSynchronize(); }

static void should_forbid_calls_from_host_functions(void) {
    CUresult result = 0;
    OK(cuLaunchHostFunc(NULL, call_the_driver, &result));
    OK(cuCtxSynchronize());
    EQUAL(result, 800);
}

int main(void) {
    setenv("SLUICE_SIM_GPUS", "2", 1);
    context = use_gpu();
    should_give_each_thread_its_stream();
    should_keep_gpus_apart();
    should_forbid_calls_from_host_functions();
    return 0;
}
