/* Plain memory leaves the table before the driver frees it, so a thread that gets the same address finds it free. */
#include "fakes/fake_gpus.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>

#include "hooks.h"
#include "tenant/gpu.h"

#define ADDRESS 0x700000000000ull

static CUdeviceptr next_address = ADDRESS;
static CUresult answer;
static unsigned asked;
static void (*meanwhile)(void); /* what another thread does when the driver has done its part */
static unsigned gpus[2];

static void let_others_go(void) {
    void (*other_thread)(void) = meanwhile;
    meanwhile = NULL;
    if (other_thread)
        other_thread();
}

static CUresult fake_allocate(CUdeviceptr *address, size_t bytes) {
    (void)bytes;
    asked++;
    *address = next_address;
    let_others_go();
    return answer;
}

static void (*free_meanwhile)(void);

static CUresult fake_free(CUdeviceptr address) {
    (void)address;
    void (*other_thread)(void) = free_meanwhile;
    free_meanwhile = NULL;
    if (other_thread)
        other_thread();
    let_others_go();
    return answer;
}

static CUresult fake_pitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    (void)height, (void)element;
    *pitch = (width + 511) / 512 * 512;
    return fake_allocate(address, 0);
}

static CUdeviceptr allocate(CUdevice device, size_t bytes) {
    CUdeviceptr address = 0;
    CUdevice before = current_device;
    current_device = device;
    current_context = (CUcontext)(uintptr_t)(0x1000 * (device + 1));
    CHECK(hook_cuMemAlloc_v2(&address, bytes) == answer);
    current_device = before;
    current_context = (CUcontext)(uintptr_t)(0x1000 * (before + 1));
    return address;
}

static void check_charged(uint64_t first, uint64_t second) {
    for (int i = 0; i < 2; i++) {
        const sl_region_account_t *mine = account(gpus[i]);
        uint64_t expected = i ? second : first;
        CHECK(mine->charged_bytes == expected && mine->linear_bytes == expected && mine->in_flight_bytes == 0,
              "GPU %d: %lld, not %llu", i, (long long)mine->charged_bytes, (unsigned long long)expected);
    }
}

static CUdeviceptr of_others;

static void others_get_the_address(void) {
    of_others = allocate(1, 1536 << 10);
}

/* The driver has freed a small allocation with its block, and gives the address to another GPU. */
static void should_charge_the_gpu_that_gets_a_freed_address(void) {
    CUdeviceptr own = allocate(0, 1536 << 10);
    check_charged(2 * MIB, 0);
    meanwhile = others_get_the_address;
    CHECK(hook_cuMemFree_v2(own) == 0);
    check_charged(0, 2 * MIB);
    CHECK(hook_cuMemFree_v2(of_others) == 0);
    check_charged(0, 0);
}

static void others_get_a_place_in_the_block(void) {
    next_address = ADDRESS + 4096;
    of_others = allocate(0, 100);
}

/* The driver still had the block when another thread came, and then freed the first one in it. */
static void should_keep_a_block_that_another_thread_took(void) {
    next_address = ADDRESS;
    CUdeviceptr own = allocate(0, 100);
    meanwhile = others_get_a_place_in_the_block;
    CHECK(hook_cuMemFree_v2(own) == 0);
    check_charged(2 * MIB, 0);
    CHECK(hook_cuMemFree_v2(of_others) == 0);
    check_charged(0, 0);
}

static void others_come_and_the_driver_refuses(void) {
    others_get_a_place_in_the_block();
    answer = 700;
}

static void should_restore_what_the_driver_did_not_free(void) {
    for (int other = 0; other < 2; other++) {
        next_address = ADDRESS;
        CUdeviceptr own = allocate(0, 100);
        of_others = 0;
        if (other)
            meanwhile = others_come_and_the_driver_refuses;
        else
            answer = 700;
        CHECK(hook_cuMemFree_v2(own) == 700);
        check_charged(2 * MIB, 0);
        answer = 0;
        CHECK(hook_cuMemFree_v2(own) == 0);
        check_charged(other ? 2 * MIB : 0, 0);
        if (other)
            CHECK(hook_cuMemFree_v2(of_others) == 0);
        check_charged(0, 0);
    }
}

static CUresult fake_free_in_order(CUdeviceptr address, CUstream stream) {
    (void)stream;
    return fake_free(address);
}

static CUresult fake_wait(CUstream stream) { return (void)stream, 0; }

/* The driver keeps the memory until the program waits. */
static void should_charge_what_is_freed_in_the_order_of_a_stream(void) {
    CUstream one = (CUstream)0x100, other = (CUstream)0x200;
    real.cuMemFreeAsync = fake_free_in_order;
    real.cuStreamSynchronize = fake_wait;
    for (int i = 0; i < 2; i++) {
        next_address = (1 + (CUdeviceptr)i) * ADDRESS;
        CUdeviceptr own = allocate(0, 64 * MIB);
        CHECK(hook_cuMemFreeAsync(own, i ? other : one) == 0);
    }
    const sl_region_account_t *mine = account(gpus[0]);
    CHECK(mine->charged_bytes == 128 * MIB && mine->linear_bytes == 0 && mine->in_flight_bytes == 128 * MIB);
    CHECK(hook_cuStreamSynchronize(one) == 0);
    CHECK(mine->charged_bytes == 64 * MIB);
    CHECK(hook_cuStreamSynchronize(other) == 0 && hook_cuStreamSynchronize(one) == 0);
    check_charged(0, 0);
}

static CUdeviceptr freed_meanwhile;

static CUresult wait_while_another_frees(CUstream stream) {
    CHECK(hook_cuMemFreeAsync(freed_meanwhile, stream) == 0);
    return 0;
}

/* What another thread frees after the wait began is still on the GPU when the wait ends. */
static void should_charge_what_is_freed_while_the_program_waits(void) {
    CUstream stream = (CUstream)0x100;
    const sl_region_account_t *mine = account(gpus[0]);
    for (int deferred = 0; deferred < 2; deferred++) {
        next_address = ADDRESS;
        CUdeviceptr before = allocate(0, 64 * MIB);
        next_address = 2 * ADDRESS;
        freed_meanwhile = allocate(0, 32 * MIB);
        CHECK((deferred ? hook_cuMemFreeAsync(before, stream) : hook_cuMemFree_v2(before)) == 0);
        real.cuStreamSynchronize = wait_while_another_frees;
        CHECK(hook_cuStreamSynchronize(stream) == 0);
        CHECK(mine->charged_bytes == 32 * MIB && mine->in_flight_bytes == 32 * MIB, "%llu MiB", (unsigned long long)(mine->charged_bytes / MIB));
        real.cuStreamSynchronize = fake_wait;
        CHECK(hook_cuStreamSynchronize(stream) == 0);
        check_charged(0, 0);
    }
}

/* One thread frees all the time and others wait. There are fewer places than waits, and no refund is lost. */
static void should_refund_all_that_was_freed_between_many_waits(void) {
    CUstream stream = (CUstream)0x100, other = (CUstream)0x200;
    for (int i = 0; i < 400; i++) {
        next_address = ADDRESS;
        CHECK(hook_cuMemFreeAsync(allocate(0, 2 * MIB), stream) == 0 && hook_cuStreamSynchronize(other) == 0);
    }
    CHECK(account(gpus[0])->charged_bytes == 800 * MIB && account(gpus[0])->overhead_bytes == 0);
    CHECK(hook_cuStreamSynchronize(stream) == 0);
    check_charged(0, 0);
}

static void should_charge_the_block_of_small_memory_until_a_wait(void) {
    CUstream stream = (CUstream)0x100;
    next_address = ADDRESS;
    CUdeviceptr small = allocate(0, 100);
    CHECK(hook_cuMemFreeAsync(small, stream) == 0);
    const sl_region_account_t *mine = account(gpus[0]);
    CHECK(mine->charged_bytes == 2 * MIB, "the GPU has not come to the free yet: %lld", (long long)mine->charged_bytes);
    CHECK(hook_cuStreamSynchronize(stream) == 0);
    check_charged(0, 0);
}

/* Both default streams have the number 0. */
static void should_refund_what_was_freed_in_the_same_default_stream(void) {
    const sl_region_account_t *mine = account(gpus[0]);
    real.cuMemFreeAsync_ptsz = fake_free_in_order;
    real.cuStreamSynchronize_ptsz = fake_wait;
    for (int first = 0; first < 2; first++) {
        next_address = ADDRESS;
        CUdeviceptr of_legacy = allocate(0, 64 * MIB);
        next_address = 2 * ADDRESS;
        CUdeviceptr of_thread = allocate(0, 32 * MIB);
        CHECK(hook_cuMemFreeAsync(of_legacy, NULL) == 0 && hook_cuMemFreeAsync_ptsz(of_thread, NULL) == 0);
        CHECK(mine->charged_bytes == 96 * MIB && mine->in_flight_bytes == 96 * MIB);
        CHECK((first ? hook_cuStreamSynchronize_ptsz : hook_cuStreamSynchronize)(NULL) == 0);
        CHECK(mine->charged_bytes == (first ? 64 : 32) * MIB, "%llu MiB", (unsigned long long)(mine->charged_bytes / MIB));
        CHECK((first ? hook_cuStreamSynchronize : hook_cuStreamSynchronize_ptsz)(NULL) == 0);
        check_charged(0, 0);
    }
}

static void *wait_in_another_thread(void *unused) {
    (void)unused;
    CHECK(hook_cuStreamSynchronize_ptsz(NULL) == 0 && hook_cuStreamSynchronize((CUstream)2) == 0);
    return NULL;
}

static void should_not_refund_what_another_thread_freed_in_its_own_default_stream(void) {
    const sl_region_account_t *mine = account(gpus[0]);
    for (int by_number = 0; by_number < 2; by_number++) {
        pthread_t thread;
        next_address = ADDRESS;
        CUdeviceptr own = allocate(0, 64 * MIB);
        CHECK((by_number ? hook_cuMemFreeAsync(own, (CUstream)2) : hook_cuMemFreeAsync_ptsz(own, NULL)) == 0);
        CHECK(pthread_create(&thread, NULL, wait_in_another_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(mine->charged_bytes == 64 * MIB, "%llu MiB", (unsigned long long)(mine->charged_bytes / MIB));
        CHECK(hook_cuStreamSynchronize_ptsz(NULL) == 0);
        check_charged(0, 0);
    }
}

/* A wait in one context says nothing about another. */
static void should_refund_what_was_freed_in_the_context_that_was_waited_for(void) {
    const sl_region_account_t *one = account(gpus[0]), *other = account(gpus[1]);
    next_address = ADDRESS;
    CUdeviceptr first = allocate(0, 64 * MIB);
    next_address = 2 * ADDRESS;
    CUdeviceptr second = allocate(1, 32 * MIB);
    CHECK(hook_cuMemFreeAsync(first, NULL) == 0 && hook_cuMemFreeAsync(second, NULL) == 0);
    current_context = (CUcontext)0x2000;
    CHECK(hook_cuStreamSynchronize(NULL) == 0);
    CHECK(one->charged_bytes == 64 * MIB && other->charged_bytes == 0);
    current_context = (CUcontext)0x1000;
    CHECK(hook_cuStreamSynchronize(NULL) == 0);
    check_charged(0, 0);
}

static void should_refuse_sizes_near_2_to_the_64(void) {
    CUdeviceptr address;
    size_t pitch;
    for (unsigned bit = 31; bit < 64; bit++)
        for (int less = 0; less < 2; less++) {
            asked = 0;
            CHECK(hook_cuMemAlloc_v2(&address, 0 - (1ull << bit) - (uint64_t)less) == CUDA_ERROR_OUT_OF_MEMORY && !asked);
            CHECK(hook_cuMemAllocPitch_v2(&address, &pitch, 1ull << bit, (1ull << 34) - (uint64_t)less, 4) == CUDA_ERROR_OUT_OF_MEMORY && !asked);
            check_charged(0, 0);
        }
}

static void should_admit_exactly_the_quota(void) {
    CUdeviceptr address, small;
    next_address = ADDRESS;
    CUdeviceptr most = allocate(0, 1022 * MIB);
    next_address = 2 * ADDRESS;
    small = allocate(0, 1);
    check_charged(1024 * MIB, 0);
    next_address = 2 * ADDRESS + 512;
    CUdeviceptr shared = allocate(0, MIB);
    check_charged(1024 * MIB, 0);
    CHECK(hook_cuMemAlloc_v2(&address, MIB) == CUDA_ERROR_OUT_OF_MEMORY, "no block has so much left");
    next_address = 3 * ADDRESS;
    CHECK(hook_cuMemAlloc_v2(&address, 512) == CUDA_ERROR_OUT_OF_MEMORY, "the driver took a new block");
    check_charged(1024 * MIB, 0);
    CHECK(hook_cuMemFree_v2(most) == 0 && hook_cuMemFree_v2(small) == 0 && hook_cuMemFree_v2(shared) == 0);
    check_charged(0, 0);
}

static CUdeviceptr most_of_it;

static void others_free_most(void) {
    CHECK(hook_cuMemFree_v2(most_of_it) == 0);
}

/* No block had room after all; while the driver takes the memory back, there is quota for a new block again. */
static void should_take_a_block_of_its_own_when_none_had_room(void) {
    CUdeviceptr address;
    next_address = ADDRESS;
    most_of_it = allocate(0, 1022 * MIB);
    next_address = 2 * ADDRESS;
    CUdeviceptr small = allocate(0, 1);
    next_address = 3 * ADDRESS;
    asked = 0;
    of_others = 0;
    current_device = 0;
    current_context = (CUcontext)0x1000;
    real.cuMemFree_v2 = fake_free;
    meanwhile = NULL;
    free_meanwhile = others_free_most;
    CHECK(hook_cuMemAlloc_v2(&address, 512) == 0 && asked == 2, "%u", asked);
    check_charged(4 * MIB, 0);
    CHECK(hook_cuMemFree_v2(address) == 0 && hook_cuMemFree_v2(small) == 0);
    check_charged(0, 0);
}

static CUresult large_total(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = 8192 * MIB;
    return 0;
}

static CUresult old_total(unsigned *bytes, CUdevice device) {
    (void)device;
    *bytes = 1;
    return 0;
}

static void set_limit(uint64_t bytes) {
    int fd = open(sl_tenant.region.path, O_RDWR);
    off_t at = SL_REGION_LIMITS_OFFSET + offsetof(sl_region_limits_t, memory_bytes);
    CHECK(fd >= 0 && pwrite(fd, &bytes, sizeof bytes, at) == sizeof bytes && close(fd) == 0);
}

/* A 32-bit call reports the largest number that fits, not the lower bits of a larger quota. */
static void should_show_a_large_quota_in_32_bits(void) {
    unsigned bytes;
    real.cuDeviceTotalMem_v2 = large_total;
    real.cuDeviceTotalMem = old_total;
    CHECK(hook_cuDeviceTotalMem(&bytes, 0) == 0 && bytes == 1024 * MIB, "%u", bytes);
    set_limit(4097 * MIB);
    CHECK(hook_cuDeviceTotalMem(&bytes, 0) == 0 && bytes == UINT_MAX, "%u", bytes);
    set_limit(1024 * MIB);
    real.cuDeviceTotalMem_v2 = fake_total;
}

int main(void) {
    use_fake_gpus("linear", "1g");
    real.cuMemAlloc_v2 = fake_allocate;
    real.cuMemFree_v2 = fake_free;
    real.cuMemAllocPitch_v2 = fake_pitch;
    gpus[0] = (unsigned)sl_gpu_find(0);
    gpus[1] = (unsigned)sl_gpu_find(1);
    RUN(should_charge_the_gpu_that_gets_a_freed_address);
    RUN(should_keep_a_block_that_another_thread_took);
    RUN(should_restore_what_the_driver_did_not_free);
    RUN(should_charge_what_is_freed_in_the_order_of_a_stream);
    RUN(should_charge_what_is_freed_while_the_program_waits);
    RUN(should_refund_all_that_was_freed_between_many_waits);
    RUN(should_charge_the_block_of_small_memory_until_a_wait);
    RUN(should_refund_what_was_freed_in_the_same_default_stream);
    RUN(should_not_refund_what_another_thread_freed_in_its_own_default_stream);
    RUN(should_refund_what_was_freed_in_the_context_that_was_waited_for);
    RUN(should_refuse_sizes_near_2_to_the_64);
    RUN(should_admit_exactly_the_quota);
    RUN(should_take_a_block_of_its_own_when_none_had_room);
    RUN(should_show_a_large_quota_in_32_bits);
    return 0;
}
