/* Pools and virtual memory management: when memory counts and when it is back. */
#include "check.h"

enum { THRESHOLD = 4, RESERVED = 5, USED = 7 };

static uint64_t attribute(CUmemoryPool pool, int which) {
    uint64_t value;
    OK(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

static void should_grow_by_chunks_and_shrink_at_synchronisation(void) {
    CUmemoryPool pool;
    CUdeviceptr a, b;
    size_t before = free_bytes();
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocAsync(&a, 1000, NULL));
    EQUAL(attribute(pool, USED), 1000);
    EQUAL(attribute(pool, RESERVED), 32 * MIB);
    EQUAL(before - free_bytes(), 32 * MIB);
    OK(cuMemAllocAsync(&b, 40 * MIB, NULL));
    EQUAL(attribute(pool, RESERVED), 64 * MIB);
    OK(cuMemFreeAsync(a, NULL));
    OK(cuMemFreeAsync(b, NULL));
    EQUAL(attribute(pool, USED), 0);
    OK(cuStreamSynchronize(NULL));
    EQUAL(attribute(pool, RESERVED), 0);
    EQUAL(free_bytes(), before);
}

static void should_keep_what_the_threshold_allows(void) {
    CUmemoryPool pool;
    CUdeviceptr address;
    uint64_t all = UINT64_MAX, none = 0;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolSetAttribute(pool, THRESHOLD, &all));
    OK(cuMemAllocAsync(&address, 100 * MIB, NULL));
    OK(cuMemFreeAsync(address, NULL));
    OK(cuStreamSynchronize(NULL));
    EQUAL(attribute(pool, RESERVED), 128 * MIB);
    OK(cuMemPoolTrimTo(pool, 50 * MIB));
    EQUAL(attribute(pool, RESERVED), 64 * MIB);
    OK(cuMemPoolTrimTo(pool, 0));
    EQUAL(attribute(pool, RESERVED), 0);
    OK(cuMemPoolSetAttribute(pool, THRESHOLD, &none));
}

static void should_reuse_without_waiting_in_one_stream(void) {
    CUmemoryPool pool;
    CUdeviceptr address;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    spin(NULL, 50000000);
    for (int i = 0; i < 500; i++) {
        OK(cuMemAllocAsync(&address, 20 * MIB, NULL));
        OK(cuMemFreeAsync(address, NULL));
    }
    EQUAL(attribute(pool, RESERVED), 32 * MIB);
    OK(cuStreamSynchronize(NULL));
    EQUAL(attribute(pool, RESERVED), 0);
}

static void should_count_a_handle_until_its_last_mapping_is_gone(void) {
    CUmemAllocationProp properties = {.type = 1, .location = {1, 0}};
    CUmemAccessDesc access = {{1, 0}, 3};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr first, second;
    unsigned value = 0;
    size_t before = free_bytes();
    EQUAL(cuMemCreate(&handle, 1000, &properties, 0), 1);
    OK(cuMemCreate(&handle, 4 * MIB, &properties, 0));
    EQUAL(before - free_bytes(), 4 * MIB);
    OK(cuMemAddressReserve(&first, 8 * MIB, 0, 0, 0));
    second = first + 4 * MIB;
    OK(cuMemMap(first, 4 * MIB, 0, handle, 0));
    OK(cuMemMap(second, 4 * MIB, 0, handle, 0));
    EQUAL(cuMemsetD32_v2(first, 1, 1), 1);
    OK(cuMemSetAccess(first, 8 * MIB, &access, 1));
    OK(cuMemsetD32_v2(first, 0xabcd, 16));
    OK(cuMemcpyDtoH_v2(&value, second, 4));
    EQUAL(value, 0xabcd);
    OK(cuMemRelease(handle));
    EQUAL(before - free_bytes(), 4 * MIB);
    EQUAL(cuMemUnmap(first, 2 * MIB), 1);
    OK(cuMemUnmap(first, 4 * MIB));
    EQUAL(before - free_bytes(), 4 * MIB);
    EQUAL(cuMemAddressFree(first, 8 * MIB), 1);
    OK(cuMemUnmap(second, 4 * MIB));
    EQUAL(free_bytes(), before);
    OK(cuMemAddressFree(first, 8 * MIB));
}

static void should_keep_contents_while_unmapped(void) {
    CUmemAllocationProp properties = {.type = 1, .location = {1, 0}};
    CUmemAccessDesc access = {{1, 0}, 3};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    unsigned value = 0;
    OK(cuMemCreate(&handle, 2 * MIB, &properties, 0));
    OK(cuMemAddressReserve(&address, 2 * MIB, 64 * MIB, 0, 0));
    EQUAL(address % (64 * MIB), 0);
    for (int round = 0; round < 2; round++) {
        OK(cuMemMap(address, 2 * MIB, 0, handle, 0));
        OK(cuMemSetAccess(address, 2 * MIB, &access, 1));
        if (round == 0) OK(cuMemsetD32_v2(address + MIB, 0x1234, 1));
        else OK(cuMemcpyDtoH_v2(&value, address + MIB, 4));
        OK(cuMemUnmap(address, 2 * MIB));
    }
    EQUAL(value, 0x1234);
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(address, 2 * MIB));
}

int main(void) {
    use_gpu();
    should_grow_by_chunks_and_shrink_at_synchronisation();
    should_keep_what_the_threshold_allows();
    should_reuse_without_waiting_in_one_stream();
    should_count_a_handle_until_its_last_mapping_is_gone();
    should_keep_contents_while_unmapped();
    return 0;
}
