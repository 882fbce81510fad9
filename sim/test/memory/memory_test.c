/* Device memory: what it takes is what an H200 took. */
#include "check.h"

static void should_take_what_an_h200_takes(void) {
    static const struct { size_t bytes; int count; size_t taken, left_by_last; } cases[] = {
        {1, 2000, 2097152, 2097152}, {513, 2000, 2097152, 2097152}, {4096, 2000, 8388608, 2097152}, {65536, 2000, 132120576, 2097152},
        {1000000, 2000, 2097152000, 2097152}, {1048576, 2000, 2097152000, 2097152}, {1048577, 200, 419430400, 2097152},
        {2097153, 200, 838860800, 4194304}, {5000000, 200, 1258291200, 6291456}, {104857601, 5, 534773760, 106954752},
    };
    static CUdeviceptr addresses[2000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t before = free_bytes();
        for (int k = 0; k < cases[i].count; k++) OK(cuMemAlloc_v2(&addresses[k], cases[i].bytes));
        EQUAL(before - free_bytes(), cases[i].taken);
        for (int k = 0; k < cases[i].count - 1; k++) OK(cuMemFree_v2(addresses[k]));
        EQUAL(before - free_bytes(), cases[i].left_by_last);
        OK(cuMemFree_v2(addresses[cases[i].count - 1]));
        EQUAL(free_bytes(), before);
    }
}

static void should_share_a_block_among_unequal_neighbours(void) {
    CUdeviceptr large, small;
    size_t before = free_bytes();
    OK(cuMemAlloc_v2(&large, 3 * MIB / 2));
    OK(cuMemAlloc_v2(&small, MIB / 4));
    EQUAL(before - free_bytes(), 2 * MIB);
    OK(cuMemFree_v2(large));
    EQUAL(before - free_bytes(), 2 * MIB);
    OK(cuMemFree_v2(small));
    EQUAL(free_bytes(), before);
}

static void should_pitch_like_an_h200(void) {
    static const struct { size_t width, height; unsigned element; size_t pitch, taken, range; } cases[] = {
        {1, 1, 4, 512, 2097152, 512}, {513, 1000, 8, 1024, 2097152, 1024000}, {3000, 777, 4, 3072, 4194304, 2386944},
        {65537, 33, 16, 66048, 4194304, 2179584},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUdeviceptr address, base;
        size_t pitch, range, before = free_bytes();
        OK(cuMemAllocPitch_v2(&address, &pitch, cases[i].width, cases[i].height, cases[i].element));
        EQUAL(pitch, cases[i].pitch);
        EQUAL(before - free_bytes(), cases[i].taken);
        OK(cuMemGetAddressRange_v2(&base, &range, address));
        EQUAL(range, cases[i].range);
        OK(cuMemFree_v2(address));
    }
}

static void should_take_managed_memory_when_touched(void) {
    CUdeviceptr address;
    size_t before = free_bytes();
    OK(cuMemAllocManaged(&address, 64 * MIB, 1));
    EQUAL(free_bytes(), before);
    OK(cuMemsetD8_v2(address, 1, 64 * MIB));
    OK(cuCtxSynchronize());
    EQUAL(before - free_bytes(), 64 * MIB);
    OK(cuMemFree_v2(address));
    EQUAL(free_bytes(), before);
}

static void should_refuse_as_the_driver_does(void) {
    CUdeviceptr address;
    EQUAL(cuMemAlloc_v2(&address, 0), 1);
    EQUAL(cuMemAlloc_v2(NULL, 100), 1);
    EQUAL(cuMemAlloc_v2(&address, 1ull << 40), 2);
    EQUAL(cuMemFree_v2(0), 0);
    EQUAL(cuMemFree_v2(0x123), 1);
    OK(cuMemAlloc_v2(&address, 1000));
    EQUAL(cuMemFree_v2(address + 512), 1);
    char bytes[32];
    EQUAL(cuMemcpyDtoH_v2(bytes, address + 990, 20), 1);
    OK(cuMemcpyDtoH_v2(bytes, address + 980, 20));
    OK(cuMemFree_v2(address));
    EQUAL(cuMemFree_v2(address), 1);
}

static void should_not_use_host_memory_for_untouched_device_memory(void) {
    CUdeviceptr address;
    long pages, resident;
    OK(cuMemAlloc_v2(&address, 8192 * MIB));
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%ld %ld", &pages, &resident) == 2);
    fclose(statm);
    CHECK(resident * sysconf(_SC_PAGESIZE) < 256 * (long)MIB);
    unsigned char end = 0;
    OK(cuMemsetD8_v2(address + 8192 * MIB - 1, 42, 1));
    OK(cuMemcpyDtoH_v2(&end, address + 8192 * MIB - 1, 1));
    EQUAL(end, 42);
    OK(cuMemFree_v2(address));
}

static void should_serve_the_first_generation_below_four_gigabytes(void) {
    CUdeviceptr_v1 address;
    size_t before = free_bytes();
    OK(cuMemAlloc(&address, 3 * MIB));
    EQUAL(before - free_bytes(), 4 * MIB);
    unsigned value = 0;
    OK(cuMemsetD32_v2(address, 7, 16));
    OK(cuMemcpyDtoH_v2(&value, address + 60, 4));
    EQUAL(value, 7);
    OK(cuMemFree(address));
    EQUAL(free_bytes(), before);
}

static void should_return_everything_with_the_context(void) {
    CUcontext created, current;
    CUdeviceptr address;
    size_t before = free_bytes();
    OK(cuCtxCreate_v2(&created, 0, 0));
    CHECK(free_bytes() < before);
    OK(cuMemAlloc_v2(&address, 100));
    OK(cuMemAlloc_v2(&address, 100 * MIB));
    OK(cuCtxDestroy_v2(created));
    OK(cuCtxGetCurrent(&current));
    CHECK(current != created);
    EQUAL(free_bytes(), before);
}

static void should_take_nothing_for_a_context_that_cannot_be_current(void) {
    CUcontext created[100];
    size_t start = free_bytes(), before = start;
    int count = 0;
    while (cuCtxCreate_v2(&created[count], 0, 0) == 0) {
        before = free_bytes();
        CHECK(++count < 100);
    }
    EQUAL(free_bytes(), before);
    while (count > 0) OK(cuCtxDestroy_v2(created[--count]));
    EQUAL(free_bytes(), start);
}

static void should_count_references_of_the_primary_context(CUcontext first) {
    CUcontext again;
    unsigned flags;
    int active;
    CUdeviceptr address;
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    CHECK(again == first);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EQUAL(active, 1);
    OK(cuDevicePrimaryCtxReset_v2(0));
    EQUAL(cuMemAlloc_v2(&address, 100), 709);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    EQUAL(cuDevicePrimaryCtxRelease_v2(0), 201);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EQUAL(active, 0);
    OK(cuCtxPopCurrent_v2(&again));
    EQUAL(cuMemAlloc_v2(&address, 100), 201);
}

int main(void) {
    CUcontext context = use_gpu();
    should_take_what_an_h200_takes();
    should_share_a_block_among_unequal_neighbours();
    should_pitch_like_an_h200();
    if (!on_real_driver("managed memory, of which an H200 once took twice as much")) should_take_managed_memory_when_touched();
    should_refuse_as_the_driver_does();
    if (!on_real_driver("host memory, first generation")) {
        should_not_use_host_memory_for_untouched_device_memory();
        should_serve_the_first_generation_below_four_gigabytes();
    }
    should_return_everything_with_the_context();
    if (!on_real_driver("a full stack of contexts")) should_take_nothing_for_a_context_that_cannot_be_current();
    should_count_references_of_the_primary_context(context);
    return 0;
}
