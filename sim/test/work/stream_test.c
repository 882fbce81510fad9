/* Streams and events: order, data effects, times. */
#include "check.h"

#include <sys/resource.h>

static unsigned word(CUdeviceptr address) {
    unsigned value;
    OK(cuMemcpyDtoH_v2(&value, address, 4));
    return value;
}

static void should_run_known_kernels(void) {
    CUdeviceptr a, b, c;
    uint64_t count = 1000;
    unsigned bits = 0x3fc00000; /* 1.5f */
    OK(cuMemAlloc_v2(&a, count * 4));
    OK(cuMemAlloc_v2(&b, count * 4));
    OK(cuMemAlloc_v2(&c, count * 4));
    launch(kernel("sluice_fill"), NULL, (void *[]){&a, &bits, &count});
    launch(kernel("sluice_fill"), NULL, (void *[]){&b, &bits, &count});
    launch(kernel("sluice_add"), NULL, (void *[]){&a, &b, &c, &count});
    launch(kernel("sluice_empty"), NULL, NULL);
    OK(cuCtxSynchronize());
    EQUAL(word(c + 4 * (count - 1)), 0x40400000); /* 3.0f */
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
    OK(cuMemFree_v2(c));
}

static void should_not_find_a_kernel_that_is_not_there(void) {
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry one() { ret; }\n"));
    OK(cuModuleGetFunction(&function, module, "one"));
    EQUAL(cuModuleGetFunction(&function, module, "two"), 500);
    EQUAL(cuModuleLoadData(&module, "no PTX"), 200);
}

static void should_keep_order_with_the_legacy_stream(void) {
    CUstream blocking, free_running;
    CUdeviceptr address;
    OK(cuStreamCreate(&blocking, 0));
    OK(cuStreamCreate(&free_running, 1));
    OK(cuMemAlloc_v2(&address, 4));
    OK(cuMemsetD32_v2(address, 1, 1));
    spin(blocking, 300000000);
    OK(cuMemsetD32Async(address, 2, 1, blocking));
    EQUAL(cuStreamQuery(blocking), 600);
    EQUAL(cuStreamQuery(free_running), 0);
    EQUAL(word(address), 2); /* the copy is in the legacy stream and waits for the blocking one */
    EQUAL(cuStreamQuery(blocking), 0);
    OK(cuStreamDestroy_v2(blocking));
    OK(cuStreamDestroy_v2(free_running));
    OK(cuMemFree_v2(address));
}

/* As a driver that spins. If the engine's thread did it, each wait would change threads twice or more. */
static void should_wait_without_another_thread(void) {
    enum { CALLS = 500 };
    struct rusage before, after;
    CUstream stream;
    OK(cuStreamCreate(&stream, 1));
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < CALLS; i++) {
        spin(stream, 5000);
        OK(cuStreamSynchronize(stream));
    }
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_nvcsw - before.ru_nvcsw < CALLS);
    OK(cuStreamDestroy_v2(stream));
}

static void should_measure_with_events(void) {
    CUstream stream, other;
    CUevent begin, end, untimed;
    float milliseconds;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&other, 1));
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventCreate(&untimed, 2));
    EQUAL(cuEventElapsedTime(&milliseconds, begin, end), 400);
    OK(cuEventRecord(begin, stream));
    spin(stream, 300000000);
    OK(cuEventRecord(end, stream));
    EQUAL(cuEventQuery(end), 600);
    EQUAL(cuEventElapsedTime(&milliseconds, begin, end), 600);
    OK(cuStreamWaitEvent(other, end, 0));
    OK(cuEventRecord(untimed, other));
    OK(cuStreamSynchronize(other));
    OK(cuEventQuery(end));
    OK(cuEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds > 299 && milliseconds < 2000);
    EQUAL(cuEventElapsedTime(&milliseconds, begin, untimed), 400);
    OK(cuEventDestroy_v2(begin));
    OK(cuEventDestroy_v2(end));
    OK(cuEventDestroy_v2(untimed));
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(other));
}

static void should_time_many_short_kernels_as_their_sum(void) {
    CUevent begin, end;
    float milliseconds;
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(begin, NULL));
    for (int i = 0; i < 3000; i++) spin(NULL, 20000);
    OK(cuEventRecord(end, NULL));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds > 59.9f && milliseconds < 1000); /* more when the host was late with a launch */
}

static void should_stamp_when_kernels_ran(void) {
    enum { PLACES = 3, KERNELS = 5 };
    uint64_t words[2 + 2 * PLACES] = {0}, *told, nanoseconds = 1000000, places = PLACES;
    CUdeviceptr ring;
    OK(cuMemHostAlloc((void **)&told, 8, 0));
    OK(cuMemAlloc_v2(&ring, sizeof words));
    words[1] = (uint64_t)(uintptr_t)told;
    *told = 0;
    OK(cuMemcpyHtoD_v2(ring, words, sizeof words));
    for (int i = 0; i < KERNELS; i++) launch(kernel("sluice_stamp"), NULL, (void *[]){&nanoseconds, &ring, &places});
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(words, ring, sizeof words));
    EQUAL(words[0], KERNELS);
    EQUAL(*told, KERNELS);
    for (int i = 0; i < PLACES; i++) {
        CHECK(words[3 + 2 * i] - words[2 + 2 * i] >= nanoseconds);
        CHECK(i == 0 || words[2 + 2 * i] >= words[1 + 2 * i]);
    }
    OK(cuMemFreeHost(told));
    OK(cuMemFree_v2(ring));
}

static void should_wait_for_values_and_write_them(void) {
    CUstream stream;
    void *flags;
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemHostAlloc(&flags, 4096, 0));
    volatile uint32_t *words = flags;
    OK(cuStreamWaitValue32_v2(stream, (CUdeviceptr)&words[0], 5, 0));
    OK(cuStreamWriteValue32_v2(stream, (CUdeviceptr)&words[1], 9, 0));
    usleep(20000);
    EQUAL(cuStreamQuery(stream), 600);
    EQUAL(words[1], 0);
    words[0] = 6;
    OK(cuStreamSynchronize(stream));
    EQUAL(words[1], 9);
    OK(cuMemFreeHost(flags));
    OK(cuStreamDestroy_v2(stream));
}

static void note(void *data) { *(int *)data += 1; }

static void should_call_the_host_in_order(void) {
    int calls = 0;
    spin(NULL, 200000000);
    OK(cuLaunchHostFunc(NULL, note, &calls));
    EQUAL(calls, 0);
    OK(cuStreamSynchronize(NULL));
    EQUAL(calls, 1);
}

static void doze(void *unused) {
    (void)unused;
    usleep(1000000);
}

/* The engine is busy with the program's own function and comes late to all else. */
static void should_answer_for_the_gpu_when_the_engine_is_late(void) {
    int calls = 0;
    float milliseconds;
    CUstream slow, stream;
    CUevent begin, end;
    OK(cuStreamCreate(&slow, 1));
    OK(cuStreamCreate(&stream, 1));
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuLaunchHostFunc(slow, doze, NULL));
    usleep(20000);
    OK(cuEventRecord(begin, stream));
    spin(stream, 1000000);
    OK(cuEventRecord(end, stream));
    OK(cuLaunchHostFunc(stream, note, &calls));
    usleep(20000);
    OK(cuEventQuery(end));
    OK(cuEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds > 0.99f && milliseconds < 500);
    EQUAL(cuStreamQuery(stream), 600);
    EQUAL(calls, 0);
    OK(cuCtxSynchronize());
    EQUAL(calls, 1);
    OK(cuEventDestroy_v2(begin));
    OK(cuEventDestroy_v2(end));
    OK(cuStreamDestroy_v2(slow));
    OK(cuStreamDestroy_v2(stream));
}

static void should_copy_in_two_and_three_dimensions(void) {
    unsigned char host[4][8], back[8][32] = {{0}};
    for (int y = 0; y < 4; y++) for (int x = 0; x < 8; x++) host[y][x] = (unsigned char)(16 * y + x);
    CUdeviceptr address;
    size_t pitch;
    OK(cuMemAllocPitch_v2(&address, &pitch, 32, 8, 4));
    OK(cuMemsetD2D8_v2(address, pitch, 0xee, 32, 8));
    OK(cuMemcpy2D_v2(&(CUDA_MEMCPY2D){.srcMemoryType = 1, .srcHost = host, .srcPitch = 8, .dstMemoryType = 2, .dstDevice = address,
                                      .dstPitch = pitch, .dstXInBytes = 4, .dstY = 2, .WidthInBytes = 8, .Height = 4}));
    OK(cuMemcpy2D_v2(&(CUDA_MEMCPY2D){.srcMemoryType = 2, .srcDevice = address, .srcPitch = pitch, .dstMemoryType = 1, .dstHost = back,
                                      .dstPitch = 32, .WidthInBytes = 32, .Height = 8}));
    EQUAL(back[1][4], 0xee);
    EQUAL(back[2][4], 0);
    EQUAL(back[5][11], 16 * 3 + 7);
    EQUAL(back[5][12], 0xee);
    OK(cuMemFree_v2(address));

    CUarray array;
    float cube[3][4][5], copy[3][4][5];
    for (int i = 0; i < 60; i++) ((float *)cube)[i] = (float)i;
    OK(cuArray3DCreate_v2(&array, &(CUDA_ARRAY3D_DESCRIPTOR){5, 4, 3, 0x20, 1, 0}));
    OK(cuMemcpy3D_v2(&(CUDA_MEMCPY3D){.srcMemoryType = 1, .srcHost = cube, .srcPitch = 20, .srcHeight = 4, .dstMemoryType = 3, .dstArray = array,
                                      .WidthInBytes = 20, .Height = 4, .Depth = 3}));
    OK(cuMemcpy3D_v2(&(CUDA_MEMCPY3D){.srcMemoryType = 3, .srcArray = array, .dstMemoryType = 1, .dstHost = copy, .dstPitch = 20, .dstHeight = 4,
                                      .WidthInBytes = 20, .Height = 4, .Depth = 3}));
    CHECK(memcmp(cube, copy, sizeof cube) == 0);
    EQUAL(cuMemcpy3D_v2(&(CUDA_MEMCPY3D){.srcMemoryType = 3, .srcArray = array, .dstMemoryType = 1, .dstHost = copy, .dstPitch = 24, .dstHeight = 4,
                                         .WidthInBytes = 24, .Height = 4, .Depth = 3}), 1);
    OK(cuArrayDestroy(array));
}

static void should_report_an_illegal_address_until_the_context_ends(void) {
    CUdeviceptr nowhere = 0x5000;
    uint64_t count = 4;
    unsigned value = 1;
    launch(kernel("sluice_fill"), NULL, (void *[]){&nowhere, &value, &count});
    EQUAL(cuCtxSynchronize(), 700);
    EQUAL(cuMemAlloc_v2(&nowhere, 10), 700);
}

int main(void) {
    use_gpu();
    should_run_known_kernels();
    should_not_find_a_kernel_that_is_not_there();
    should_keep_order_with_the_legacy_stream();
    should_wait_without_another_thread();
    should_measure_with_events();
    should_time_many_short_kernels_as_their_sum();
    should_stamp_when_kernels_ran();
    should_wait_for_values_and_write_them();
    should_call_the_host_in_order();
    should_answer_for_the_gpu_when_the_engine_is_late();
    should_copy_in_two_and_three_dimensions();
    should_report_an_illegal_address_until_the_context_ends();
    return 0;
}
