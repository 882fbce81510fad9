/* Addresses and memory apart: reservations where the program wants them, and memory that comes and goes behind an address. */
#include "check.h"

#include <sys/mman.h>

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address);

#define BYTES (4 * MIB)
#define TERA (1ull << 40)
static const CUmemAllocationProp plain = {.type = 1, .location = {1, 0}}, shareable = {.type = 1, .requestedHandleTypes = 1, .location = {1, 0}};
static const CUmemAccessDesc both_ways = {{1, 0}, 3};

static CUmemGenericAllocationHandle map(CUdeviceptr address, const CUmemAllocationProp *properties) {
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, BYTES, properties, 0));
    OK(cuMemMap(address, BYTES, 0, handle, 0));
    OK(cuMemSetAccess(address, BYTES, &both_ways, 1));
    return handle;
}

static CUdeviceptr reserve(size_t bytes, size_t alignment, CUdeviceptr wish) {
    CUdeviceptr address;
    OK(cuMemAddressReserve(&address, bytes, alignment, wish, 0));
    return address;
}

static void should_reserve_where_asked(void) {
    CUdeviceptr first = reserve(64 * MIB, 0, 0), other = reserve(64 * MIB, 0, first + 32 * MIB);
    CHECK(other + 64 * MIB <= first || other >= first + 64 * MIB);
    OK(cuMemAddressFree(first, 64 * MIB));
    EQUAL(reserve(32 * MIB, 0, first + 16 * MIB), first + 16 * MIB);
    EQUAL(reserve(16 * MIB, 0, first), first);
    EQUAL(reserve(16 * MIB, 0, first + 48 * MIB), first + 48 * MIB);
    OK(cuMemAddressFree(first + 16 * MIB, 32 * MIB));
    OK(cuMemAddressFree(first, 16 * MIB));
    OK(cuMemAddressFree(first + 48 * MIB, 16 * MIB));
    EQUAL(reserve(64 * MIB, 0, first), first);
    OK(cuMemAddressFree(first, 64 * MIB));
    OK(cuMemAddressFree(other, 64 * MIB));
}

static void should_reserve_far_from_other_memory(void) {
    static const CUdeviceptr wishes[] = {0x600000000000, 0x100000000000, 4ull << 30};
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        EQUAL(reserve(64 * MIB, 0, wishes[i]), wishes[i]);
        CHECK(reserve(64 * MIB, 0, wishes[i]) != wishes[i]);
        CUmemGenericAllocationHandle handle = map(wishes[i] + 8 * MIB, &plain);
        OK(cuMemsetD8_v2(wishes[i] + 8 * MIB, 1, BYTES));
        EQUAL(cuMemAddressFree(wishes[i], 64 * MIB), 1);
        OK(cuMemUnmap(wishes[i], 64 * MIB));
        OK(cuMemRelease(handle));
        OK(cuMemAddressFree(wishes[i], 64 * MIB));
        EQUAL(cuMemsetD8_v2(wishes[i] + 8 * MIB, 1, 1), 1);
    }
}

static void should_leave_host_memory_alone(void) {
    const CUdeviceptr wish = 0x610000000000;
    char *host = mmap((void *)wish, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(host == (char *)wish);
    *host = 42;
    CUdeviceptr chosen = reserve(4 * MIB, 0, wish);
    CHECK(chosen != wish);
    EQUAL(*host, 42);
    OK(cuMemAddressFree(chosen, 4 * MIB));
    munmap(host, 4 * MIB);
}

static void should_align_reservations(void) {
    CUdeviceptr address = reserve(64 * MIB, 1ull << 30, 0);
    EQUAL(address % (1ull << 30), 0);
    OK(cuMemAddressFree(address, 64 * MIB));
    address = reserve(64 * MIB, 4096, 0);
    OK(cuMemAddressFree(address, 64 * MIB));
    EQUAL(cuMemAddressReserve(&address, 64 * MIB, 3 * MIB, 0, 0), 1);
    EQUAL(cuMemAddressReserve(&address, 64 * MIB, 1ull << 30, 0x600000200000, 0), 1);
    EQUAL(cuMemAddressReserve(&address, 64 * MIB, 0, 0x600000001000, 0), 1);
    EQUAL(cuMemAddressReserve(&address, 4096, 0, 0, 0), 1);
    EQUAL(cuMemAddressReserve(&address, 64 * MIB, 0, 1ull << 47, 0), 2);
    EQUAL(cuMemAddressReserve(&address, 200 * TERA, 0, 0, 0), 2);
}

static long resident_bytes(void) {
    long pages, resident;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%ld %ld", &pages, &resident) == 2);
    fclose(statm);
    return resident * sysconf(_SC_PAGESIZE);
}

static void should_reserve_terabytes_for_nothing(void) {
    static const size_t sizes[] = {TERA, 8 * TERA, 12 * TERA, 32 * TERA};
    size_t before = free_bytes();
    long resident = resident_bytes();
    double begin = seconds();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUdeviceptr address = reserve(sizes[i], 0, 0), far = address + sizes[i] - BYTES, base;
        size_t bytes;
        CUmemGenericAllocationHandle handle = map(far, &plain);
        OK(cuMemsetD8_v2(far, 1, BYTES));
        OK(cuMemGetAddressRange_v2(&base, &bytes, far + 10));
        EQUAL(base, far);
        OK(cuMemUnmap(far, BYTES));
        OK(cuMemRelease(handle));
        OK(cuMemAddressFree(address, sizes[i]));
        EQUAL(cuMemGetAddressRange_v2(&base, &bytes, far), 500);
    }
    EQUAL(free_bytes(), before);
    if (on_real_driver("time and host memory of huge reservations")) return;
    CHECK(resident_bytes() - resident < 8 * (long)MIB);
    CHECK(seconds() - begin < 2);
}

static void should_give_an_address_new_memory(void) {
    CUdeviceptr address = reserve(64 * MIB, 0, 0);
    unsigned value = 0;
    CUmemGenericAllocationHandle handle = map(address, &plain);
    for (int i = 0; i < 3; i++) {
        OK(cuMemsetD32_v2(address, 7, 16));
        OK(cuMemUnmap(address, BYTES));
        OK(cuMemRelease(handle));
        EQUAL(cuMemcpyDtoH_v2(&value, address, 4), 1);
        handle = map(address, &plain);
        OK(cuMemcpyDtoH_v2(&value, address, 4));
        if (!on_real_driver("new memory is zero")) EQUAL(value, 0);
    }
    OK(cuMemUnmap(address, 64 * MIB));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(address, 64 * MIB));
}

static void should_unmap_whole_mappings_only(void) {
    CUdeviceptr address = reserve(64 * MIB, 0, 0);
    CUmemGenericAllocationHandle handles[16];
    size_t before = free_bytes();
    for (int i = 0; i < 16; i++) handles[i] = map(address + (CUdeviceptr)(i * 7 % 16) * BYTES, &plain);
    for (int i = 0; i < 16; i++) OK(cuMemRelease(handles[i]));
    EQUAL(cuMemUnmap(address, 2 * MIB), 1);
    EQUAL(cuMemUnmap(address + 2 * MIB, 6 * MIB), 1);
    EQUAL(cuMemUnmap(address, 6 * MIB), 1);
    EQUAL(before - free_bytes(), 64 * MIB);
    OK(cuMemUnmap(address + BYTES, 4 * BYTES));
    EQUAL(before - free_bytes(), 12 * BYTES);
    EQUAL(cuMemSetAccess(address, 2 * BYTES, &both_ways, 1), 1);
    OK(cuMemSetAccess(address + 5 * BYTES, 11 * BYTES, &both_ways, 1));
    OK(cuMemUnmap(address, 64 * MIB));
    OK(cuMemUnmap(address, 64 * MIB));
    EQUAL(free_bytes(), before);
    OK(cuMemAddressFree(address, 64 * MIB));
}

static unsigned long long attribute(int number, CUdeviceptr address) {
    unsigned long long value = 0;
    OK(cuPointerGetAttribute(&value, number, address));
    return value;
}

static void should_describe_mapped_memory(void) {
    enum { CONTEXT = 1, TYPE = 2, POINTER = 3, ID = 7, IPC = 10, RANGE = 11, RANGE_SIZE = 12, TYPES = 14, ACCESS = 16, SIZE = 18, BASE = 19, BLOCK = 20 };
    CUdeviceptr address = reserve(64 * MIB, 0, 0), second = address + BYTES, base;
    CUmemGenericAllocationHandle handles[2] = {map(address, &plain), map(second, &shareable)};
    EQUAL(attribute(CONTEXT, address), 0);
    EQUAL(attribute(TYPE, address), 2);
    EQUAL(attribute(POINTER, second + 1), second + 1);
    EQUAL(attribute(IPC, address), 0);
    EQUAL(attribute(TYPES, address + 1), 0);
    EQUAL(attribute(TYPES, second + 1), 1);
    EQUAL(attribute(RANGE, second + 1), address);
    EQUAL(attribute(RANGE_SIZE, second + 1), 64 * MIB);
    EQUAL(attribute(BASE, second + 1), second);
    EQUAL(attribute(SIZE, second + 1), BYTES);
    EQUAL(attribute(ACCESS, second), 3);
    CHECK(attribute(ID, address) != attribute(ID, second) && attribute(BLOCK, address) != attribute(BLOCK, second));
    size_t bytes;
    OK(cuMemGetAddressRange_v2(&base, &bytes, second + 1));
    EQUAL(base, second);
    EQUAL(bytes, BYTES);
    EQUAL(cuMemGetAddressRange_v2(&base, &bytes, second + BYTES), 500);
    EQUAL(cuPointerGetAttribute(&base, TYPE, second + BYTES), 1);
    for (int i = 0; i < 2; i++) OK(cuMemRelease(handles[i]));
    OK(cuMemUnmap(address, 64 * MIB));
    OK(cuMemAddressFree(address, 64 * MIB));
}

static void should_describe_memory_without_access(void) {
    CUdeviceptr address = reserve(BYTES, 0, 0), base;
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, BYTES, &plain, 0));
    OK(cuMemMap(address, BYTES, 0, handle, 0));
    size_t bytes;
    EQUAL(attribute(2, address), 2);
    EQUAL(attribute(16, address), 0);
    EQUAL(cuPointerGetAttribute(&base, 3, address), 1);
    EQUAL(cuMemGetAddressRange_v2(&base, &bytes, address), 500);
    OK(cuMemRelease(handle));
    OK(cuMemUnmap(address, BYTES));
    OK(cuMemAddressFree(address, BYTES));
}

static void should_refuse_mapped_memory_where_plain_is_wanted(void) {
    CUdeviceptr address = reserve(BYTES, 0, 0);
    CUmemGenericAllocationHandle handle = map(address, &plain);
    CUipcMemHandle shared;
    EQUAL(cuIpcGetMemHandle(&shared, address), 1);
    EQUAL(cuMemFree_v2(address), 1);
    EQUAL(cuMemFreeAsync(address, NULL), 1);
    OK(cuCtxSynchronize());
    OK(cuMemsetD8_v2(address, 1, BYTES));
    OK(cuMemRelease(handle));
    OK(cuMemUnmap(address, BYTES));
    OK(cuMemAddressFree(address, BYTES));
}

int main(void) {
    use_gpu();
    should_reserve_where_asked();
    should_reserve_far_from_other_memory();
    should_leave_host_memory_alone();
    should_align_reservations();
    should_reserve_terabytes_for_nothing();
    should_give_an_address_new_memory();
    should_unmap_whole_mappings_only();
    should_describe_mapped_memory();
    should_describe_memory_without_access();
    should_refuse_mapped_memory_where_plain_is_wanted();
    return 0;
}
