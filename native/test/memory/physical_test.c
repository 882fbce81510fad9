/* Memory made by handle is charged until the last reference and the last mapping are gone, and imports never. */
#include "fakes/fake_gpus.h"

#include "tenant/gpu.h"
#include "hooks.h"
#include "memory/plain/handle.h"
#include "memory/plain/physical.h"

#define ADDRESS 0x700000000000ull
#define LIVE 5000

enum { DEVICE = 1, HOST = 2, HOST_NUMA = 3 };

typedef CUmemGenericAllocationHandle handle_t;

static handle_t next_handle = 0x9000; /* what the driver gives next */
static CUresult answer;
static unsigned asked;                /* how often memory was asked of the driver */
static void (*meanwhile)(void);       /* what another thread does when the driver has done its part */
static unsigned gpu;                  /* entry of device 0 in the region */

static CUresult fake_create(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                            unsigned long long flags) {
    (void)size, (void)prop, (void)flags;
    asked++;
    *handle = next_handle;
    next_handle += answer == 0 ? 16 : 0;
    return answer;
}
static CUresult fake_release(CUmemGenericAllocationHandle handle) { return (void)handle, answer; }
static CUresult fake_map(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags) {
    return (void)ptr, (void)size, (void)offset, (void)handle, (void)flags, answer;
}
static CUresult fake_unmap(CUdeviceptr ptr, size_t size) {
    void (*other_thread)(void) = meanwhile;
    meanwhile = NULL;
    if (other_thread)
        other_thread();
    return (void)ptr, (void)size, answer;
}
static CUresult fake_retain(CUmemGenericAllocationHandle *handle, void *addr) {
    *handle = (uint64_t)addr; /* the tests give the handle for the address */
    return answer;
}
static CUresult fake_import(CUmemGenericAllocationHandle *handle, void *from, CUmemAllocationHandleType type) {
    (void)type;
    *handle = (uint64_t)from;
    return answer;
}

static CUresult create_at(handle_t *handle, uint64_t bytes, int type, int device) {
    CUmemAllocationProp prop = {.type = 1, .location = {type, device}};
    return hook_cuMemCreate(handle, bytes, &prop, 0);
}

static handle_t create(uint64_t bytes) {
    handle_t handle = 0;
    CHECK(create_at(&handle, bytes, DEVICE, 0) == 0);
    return handle;
}

static void check_charged(uint64_t bytes, uint64_t allocations) {
    const sl_region_account_t *mine = account(gpu);
    CHECK(mine->charged_bytes == bytes && mine->physical_bytes == bytes && mine->in_flight_bytes == 0, "%llu, not %llu",
          (unsigned long long)mine->charged_bytes, (unsigned long long)bytes);
    CHECK(mine->allocations == allocations, "%llu", (unsigned long long)mine->allocations);
}

static void should_charge_until_the_release(void) {
    handle_t handle = create(64 * MIB);
    check_charged(64 * MIB, 1);
    CHECK(hook_cuMemRelease(handle) == 0);
    check_charged(0, 0);
    CHECK(hook_cuMemRelease(handle) == 0);
    check_charged(0, 0);
}

static void should_charge_until_the_last_mapping(void) {
    handle_t handle = create(4 * MIB);
    CHECK(hook_cuMemMap(ADDRESS, 4 * MIB, 0, handle, 0) == 0 && hook_cuMemMap(ADDRESS + 64 * MIB, 4 * MIB, 0, handle, 0) == 0);
    CHECK(hook_cuMemRelease(handle) == 0);
    check_charged(4 * MIB, 1);
    CHECK(hook_cuMemUnmap(ADDRESS, 4 * MIB) == 0);
    check_charged(4 * MIB, 1);
    CHECK(hook_cuMemUnmap(ADDRESS + 64 * MIB, 4 * MIB) == 0);
    check_charged(0, 0);
}

static void check_in_flight(void) {
    CHECK(account(gpu)->charged_bytes == 4 * MIB && account(gpu)->in_flight_bytes == 4 * MIB && account(gpu)->physical_bytes == 0);
}

/* Another thread that reads NVML's figure must not take the unmapped memory for overhead that is gone. */
static void should_count_as_in_flight_while_the_last_mapping_goes(void) {
    handle_t handle = create(4 * MIB);
    CHECK(hook_cuMemMap(ADDRESS, 4 * MIB, 0, handle, 0) == 0 && hook_cuMemRelease(handle) == 0);
    answer = CUDA_ERROR_INVALID_VALUE;
    meanwhile = check_in_flight;
    CHECK(hook_cuMemUnmap(ADDRESS, 4 * MIB) == CUDA_ERROR_INVALID_VALUE && !meanwhile);
    check_charged(4 * MIB, 1);
    answer = CUDA_SUCCESS;
    meanwhile = check_in_flight;
    CHECK(hook_cuMemUnmap(ADDRESS, 4 * MIB) == 0 && !meanwhile);
    check_charged(0, 0);
}

static void should_charge_until_the_last_reference(void) {
    handle_t handle = create(4 * MIB), again = 0;
    CHECK(hook_cuMemMap(ADDRESS, 4 * MIB, 0, handle, 0) == 0);
    CHECK(hook_cuMemRetainAllocationHandle(&again, (void *)handle) == 0 && again == handle);
    CHECK(hook_cuMemUnmap(ADDRESS, 4 * MIB) == 0 && hook_cuMemRelease(handle) == 0);
    check_charged(4 * MIB, 1);
    CHECK(hook_cuMemRelease(again) == 0);
    check_charged(0, 0);
}

static void should_unmap_several_and_across_gaps(void) {
    for (uint64_t i = 0; i < 8; i++) {
        handle_t handle = create(2 * MIB);
        if (i != 2 && i != 5)
            CHECK(hook_cuMemMap(ADDRESS + i * 2 * MIB, 2 * MIB, 0, handle, 0) == 0);
        hook_cuMemRelease(handle);
    }
    check_charged(12 * MIB, 6);
    CHECK(hook_cuMemUnmap(ADDRESS, 4 * MIB) == 0);
    check_charged(8 * MIB, 4);
    CHECK(hook_cuMemUnmap(ADDRESS, 12 * MIB) == 0);
    check_charged(4 * MIB, 2);
    CHECK(hook_cuMemUnmap(ADDRESS, 12 * MIB) == 0);
    check_charged(4 * MIB, 2);
    CHECK(hook_cuMemUnmap(ADDRESS, 1024 * MIB) == 0);
    check_charged(0, 0);
}

static void should_unmap_ranges_of_any_size(void) {
    for (uint64_t i = 0; i < 3; i++) {
        handle_t handle = create(6 * MIB);
        CHECK(hook_cuMemMap(ADDRESS + 2 * MIB + (i << 36), 6 * MIB, 0, handle, 0) == 0 && hook_cuMemRelease(handle) == 0);
    }
    CHECK(hook_cuMemUnmap(ADDRESS + 8 * MIB, 1ull << 35) == 0);
    check_charged(18 * MIB, 3);
    CHECK(hook_cuMemUnmap(ADDRESS, 1ull << 37) == 0);
    check_charged(6 * MIB, 1);
    CHECK(hook_cuMemUnmap(ADDRESS + (2ull << 36), 8 * MIB) == 0);
    check_charged(0, 0);
}

static void should_keep_the_charge_when_the_driver_refuses(void) {
    handle_t handle = create(2 * MIB);
    hook_cuMemMap(ADDRESS, 2 * MIB, 0, handle, 0);
    answer = 1;
    CHECK(hook_cuMemMap(ADDRESS + 2 * MIB, 2 * MIB, 0, handle, 0) == 1 && hook_cuMemRelease(handle) == 1);
    CHECK(hook_cuMemUnmap(ADDRESS, 2 * MIB) == 1 && create_at(&handle, 2 * MIB, DEVICE, 0) == 1);
    check_charged(2 * MIB, 1);
    answer = 0;
    handle = next_handle - 16;
    CHECK(hook_cuMemRelease(handle) == 0);
    check_charged(2 * MIB, 1);
    CHECK(hook_cuMemUnmap(ADDRESS, 2 * MIB) == 0);
    check_charged(0, 0);
}

static void should_keep_the_charge_of_what_the_driver_did_not_release(void) {
    handle_t handle = create(2 * MIB);
    answer = 1;
    CHECK(hook_cuMemRelease(handle) == 1 && hook_cuMemRelease(handle) == 1);
    check_charged(2 * MIB, 1);
    answer = 0;
    CHECK(hook_cuMemRelease(handle) == 0);
    check_charged(0, 0);
}

static void should_refuse_what_passes_the_quota(void) {
    handle_t first = create(1000 * MIB), second = 0;
    uint64_t refused = sl_tenant.region.gpus[gpu].refused_calls;
    CHECK(create_at(&second, 26 * MIB, DEVICE, 0) == CUDA_ERROR_OUT_OF_MEMORY && second == 0);
    CHECK(sl_tenant.region.gpus[gpu].refused_calls == refused + 1 && sl_tenant.region.gpus[gpu].refused_bytes == 26 * MIB);
    second = create(24 * MIB);
    check_charged(1024 * MIB, 2);
    hook_cuMemRelease(first);
    hook_cuMemRelease(second);
    check_charged(0, 0);
}

static void should_charge_the_gpu_of_the_memory(void) {
    handle_t handle, host, numa, none;
    current_device = -1;
    CHECK(create_at(&handle, 2 * MIB, DEVICE, 1) == 0 && create_at(&host, 2 * MIB, HOST, 0) == 0);
    CHECK(create_at(&numa, 2 * MIB, HOST_NUMA, 0) == 0 && hook_cuMemCreate(&none, 2 * MIB, NULL, 0) == 0);
    current_device = 0;
    check_charged(0, 0);
    unsigned other = (unsigned)sl_gpu_find(1);
    CHECK(other != gpu && account(other)->physical_bytes == 2 * MIB);
    CHECK(hook_cuMemMap(ADDRESS, 2 * MIB, 0, host, 0) == 0 && hook_cuMemUnmap(ADDRESS, 2 * MIB) == 0);
    CHECK(hook_cuMemRelease(host) == 0 && hook_cuMemRelease(numa) == 0 && account(other)->charged_bytes == 2 * MIB);
    CHECK(hook_cuMemRelease(handle) == 0 && account(other)->charged_bytes == 0);
}

static void should_not_charge_or_refund_imports(void) {
    handle_t own = create(2 * MIB), imported = 0;
    CHECK(hook_cuMemImportFromShareableHandle(&imported, (void *)0x77770, 1) == 0 && imported == 0x77770);
    check_charged(2 * MIB, 1);
    CHECK(hook_cuMemMap(ADDRESS, 2 * MIB, 0, imported, 0) == 0 && hook_cuMemUnmap(ADDRESS, 2 * MIB) == 0);
    CHECK(hook_cuMemRelease(imported) == 0);
    check_charged(2 * MIB, 1);
    CHECK(hook_cuMemImportFromShareableHandle(&imported, (void *)own, 1) == 0);
    CHECK(hook_cuMemRelease(own) == 0);
    check_charged(2 * MIB, 1);
    CHECK(hook_cuMemRelease(own) == 0);
    check_charged(0, 0);
}

/* The driver gives a number again whose handle was released unseen, or whose release is not settled yet. */
static void should_tell_a_handle_from_its_successor(void) {
    uint64_t old = create(2 * MIB);
    hook_cuMemMap(ADDRESS, 2 * MIB, 0, old, 0);
    next_handle = old;
    CHECK(create(6 * MIB) == old);
    check_charged(6 * MIB, 1);
    CHECK(hook_cuMemUnmap(ADDRESS, 2 * MIB) == 0);
    check_charged(6 * MIB, 1);
    CHECK(hook_cuMemRelease(old) == 0);
    check_charged(0, 0);
}

static void should_count_other_holdings(void) {
    handle_t handle = create(2 * MIB);
    uint32_t pin = sl_physical_pin(handle);
    CHECK(pin && !sl_physical_pin(0x1234) && hook_cuMemRelease(handle) == 0);
    check_charged(2 * MIB, 1);
    sl_physical_unpin(handle, pin + 1);
    check_charged(2 * MIB, 1);
    sl_physical_unpin(handle, pin);
    check_charged(0, 0);
}

/* A size that wraps the sum would hide what others reserve. */
static void should_refuse_sizes_near_2_to_the_64(void) {
    static const uint64_t below[] = {2 * MIB, 64 * MIB, 1024 * MIB, 1ull << 40, 1ull << 62, 1ull << 63};
    handle_t handle = 0;
    for (unsigned i = 0; i < sizeof below / sizeof *below; i++) {
        asked = 0;
        CHECK(create_at(&handle, 0 - below[i], DEVICE, 0) == CUDA_ERROR_OUT_OF_MEMORY && asked == 0, "2^64 - %llu", (unsigned long long)below[i]);
        CHECK(create_at(&handle, UINT64_MAX - below[i], DEVICE, 0) == CUDA_ERROR_OUT_OF_MEMORY && asked == 0);
        check_charged(0, 0);
    }
}

static handle_t remapped;

static void map_again(void) {
    CHECK(hook_cuMemMap(ADDRESS, 2 * MIB, 0, remapped, 0) == 0);
}

/* The driver has unmapped the range, and another thread maps it again before the first one has settled. */
static void should_keep_what_is_mapped_again_at_once(void) {
    handle_t first = create(2 * MIB);
    remapped = create(4 * MIB);
    CHECK(hook_cuMemMap(ADDRESS, 2 * MIB, 0, first, 0) == 0 && hook_cuMemRelease(first) == 0);
    meanwhile = map_again;
    CHECK(hook_cuMemUnmap(ADDRESS, 2 * MIB) == 0);
    CHECK(hook_cuMemRelease(remapped) == 0);
    check_charged(4 * MIB, 1);
    CHECK(hook_cuMemUnmap(ADDRESS, 2 * MIB) == 0);
    check_charged(0, 0);
}

static void should_hold_thousands(void) {
    static uint64_t live[LIVE];
    sl_tenant.region.gpus[gpu].granularity_bytes = 4096;
    for (uint64_t i = 0; i < LIVE; i++) {
        live[i] = create(4096);
        CHECK(hook_cuMemMap(ADDRESS + i * 4096, 4096, 0, live[i], 0) == 0);
    }
    check_charged(LIVE * 4096, LIVE);
    for (uint64_t i = 0; i < LIVE; i++)
        hook_cuMemRelease(live[i * 7919 % LIVE]);
    for (uint64_t i = 0; i < LIVE; i += 2)
        CHECK(hook_cuMemUnmap(ADDRESS + i * 7919 % LIVE * 4096, 4096) == 0);
    check_charged(LIVE / 2 * 4096, LIVE / 2);
    CHECK(hook_cuMemUnmap(ADDRESS, LIVE * 4096) == 0);
    check_charged(0, 0);
    sl_tenant.region.gpus[gpu].granularity_bytes = 2 * MIB;
}

static handle_t released, mapped; /* the driver's numbers of the last calls */

static CUresult note_release(CUmemGenericAllocationHandle handle) { return released = handle, answer; }
static CUresult note_map(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return (void)ptr, (void)size, (void)offset, (void)flags, mapped = handle, answer;
}

/* As after the memory left the GPU and came back: the driver has another number for it. */
static void should_translate_numbers_of_handles(void) {
    real.cuMemRelease = note_release;
    real.cuMemMap = note_map;
    handle_t moved = create(2 * MIB), again = 0, taken, import;
    CHECK(sl_handle_exchange(moved, 0x5550));
    CHECK(hook_cuMemMap(ADDRESS, 2 * MIB, 0, moved, 0) == 0 && mapped == 0x5550);
    CHECK(hook_cuMemRetainAllocationHandle(&again, (void *)0x5550) == 0 && again == moved);
    next_handle = moved; /* free for the driver, and not for the program */
    taken = create(4 * MIB);
    CHECK(taken != moved);
    check_charged(6 * MIB, 2);
    CHECK(hook_cuMemMap(ADDRESS + 2 * MIB, 4 * MIB, 0, taken, 0) == 0 && mapped == moved);
    CHECK(hook_cuMemImportFromShareableHandle(&import, (void *)moved, 1) == 0 && import == taken && hook_cuMemRelease(import) == 0);
    CHECK(hook_cuMemRelease(taken) == 0 && released == moved);
    CHECK(hook_cuMemUnmap(ADDRESS + 2 * MIB, 4 * MIB) == 0);
    check_charged(2 * MIB, 1);
    CHECK(sl_handle_exchange(moved, 0x6660)); /* once more */
    CHECK(hook_cuMemRetainAllocationHandle(&again, (void *)0x5550) == 0 && again == 0x5550);
    CHECK(hook_cuMemRelease(moved) == 0 && released == 0x6660);
    CHECK(hook_cuMemRelease(moved) == 0 && hook_cuMemUnmap(ADDRESS, 2 * MIB) == 0);
    check_charged(0, 0);
    next_handle = moved;
    CHECK(create(2 * MIB) == moved && hook_cuMemRelease(moved) == 0 && released == moved);
    check_charged(0, 0);
    real.cuMemRelease = fake_release;
    real.cuMemMap = fake_map;
}

static void allocate_in_child(void) {
    hook_cuMemRelease(0x9000);
    gpu = (unsigned)sl_gpu_find(0);
    handle_t handle = create(2 * MIB);
    check_charged(2 * MIB, 1);
    hook_cuMemRelease(handle);
    check_charged(0, 0);
}

static void should_forget_after_a_fork(void) {
    next_handle = 0x9000;
    handle_t handle = create(4 * MIB);
    CHECK(in_child(allocate_in_child) == 0);
    check_charged(4 * MIB, 1);
    hook_cuMemRelease(handle);
    check_charged(0, 0);
}

int main(void) {
    use_fake_gpus("physical", "1g");
    real.cuMemCreate = fake_create;
    real.cuMemRelease = fake_release;
    real.cuMemMap = fake_map;
    real.cuMemUnmap = fake_unmap;
    real.cuMemRetainAllocationHandle = fake_retain;
    real.cuMemImportFromShareableHandle = fake_import;
    gpu = (unsigned)sl_gpu_find(0);
    RUN(should_charge_until_the_release);
    RUN(should_charge_until_the_last_mapping);
    RUN(should_count_as_in_flight_while_the_last_mapping_goes);
    RUN(should_charge_until_the_last_reference);
    RUN(should_unmap_several_and_across_gaps);
    RUN(should_unmap_ranges_of_any_size);
    RUN(should_keep_the_charge_when_the_driver_refuses);
    RUN(should_keep_the_charge_of_what_the_driver_did_not_release);
    RUN(should_refuse_what_passes_the_quota);
    RUN(should_charge_the_gpu_of_the_memory);
    RUN(should_not_charge_or_refund_imports);
    RUN(should_tell_a_handle_from_its_successor);
    RUN(should_count_other_holdings);
    RUN(should_refuse_sizes_near_2_to_the_64);
    RUN(should_keep_what_is_mapped_again_at_once);
    RUN(should_hold_thousands);
    RUN(should_translate_numbers_of_handles);
    RUN(should_forget_after_a_fork);
    return 0;
}
