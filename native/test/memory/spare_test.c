/* Spare mapped memory on the simulated driver, with the compiler's checks of addresses. Each test is a process of its own. */
#include "memory/on_mapped.h"

#include <dirent.h>
#include <pthread.h>
#include <time.h>

#include "ledger/ledger.h"
#include "memory/movable.h"

static uint64_t spare(int device) {
    return sl_ledger_spare((unsigned)sl_gpu_find(device));
}

/* Calls of the driver that make memory or take it away. */
static atomic_uint made, unmapped;
static CUresult (*true_create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
static CUresult (*true_unmap)(CUdeviceptr, size_t);

static CUresult count_create(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties, unsigned long long flags) {
    made++;
    return true_create(handle, bytes, properties, flags);
}

static CUresult count_unmap(CUdeviceptr address, size_t bytes) {
    unmapped++;
    return true_unmap(address, bytes);
}

static void count_calls(void) {
    true_create = real.cuMemCreate;
    true_unmap = real.cuMemUnmap;
    real.cuMemCreate = count_create;
    real.cuMemUnmap = count_unmap;
}

static void should_be_used_again(void) {
    static const size_t sizes[] = {512, 5000, 2 * MIB, 2 * MIB + 1, 4 * MIB, 17 * MIB};
    begin("0=900m", NULL);
    count_calls();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUdeviceptr first = take(sizes[i]), base;
        uint64_t held = charged(0), peak = sl_tenant.region.gpus[sl_gpu_find(0)].peak_bytes, identity = 0, last = 0;
        write_mark(first, sizes[i], 1);
        unsigned calls = made;
        for (int round = 0; round < 20; round++) {
            size_t bytes = 0;
            MUST(hook_cuMemFree_v2(first));
            CHECK(hook_cuMemFree_v2(first) == CUDA_ERROR_INVALID_VALUE && hook_cuMemGetAddressRange_v2(&base, &bytes, first) == 500);
            CHECK(spare(0) == held && charged(0) == held && account(0)->linear_bytes == 0);
            CHECK(take(sizes[i]) == first);
            MUST(hook_cuMemGetAddressRange_v2(&base, &bytes, first));
            MUST(hook_cuPointerGetAttribute(&identity, 7, first));
            CHECK(base == first && bytes == sizes[i] && identity != last && spare(0) == 0 && charged(0) == held);
            last = identity;
        }
        CHECK(made == calls && sl_tenant.region.gpus[sl_gpu_find(0)].peak_bytes == peak);
        check_ledger();
        MUST(hook_cuMemFree_v2(first));
        check_empty();
    }
}

static void should_not_mix_sizes_and_contexts(void) {
    begin("0=900m", NULL);
    CUdeviceptr four = take(4 * MIB), two = take(2 * MIB);
    MUST(hook_cuMemFree_v2(four));
    MUST(hook_cuMemFree_v2(two));
    CHECK(spare(0) == 6 * MIB);
    CUdeviceptr six = take(6 * MIB), less = take(3 * MIB + 1), piece = take(100);
    CHECK(six != four && six != two && less == four && piece == two && spare(0) == 0);
    CUdeviceptr base;
    size_t bytes, pitch;
    MUST(hook_cuMemGetAddressRange_v2(&base, &bytes, four));
    CHECK(base == four && bytes == 3 * MIB + 1);
    MUST(hook_cuMemFree_v2(less));
    CUdeviceptr pitched;
    MUST(hook_cuMemAllocPitch_v2(&pitched, &pitch, 1000, 3500, 4));
    CHECK(pitched == four && pitch == 1024);
    MUST(hook_cuMemFree_v2(pitched));
    CUcontext other;
    MUST(hook_cuCtxCreate_v2(&other, 0, 0));
    CHECK(take(4 * MIB) != four);
    MUST(hook_cuCtxDestroy_v2(other));
    MUST(real.cuCtxSetCurrent(contexts[0]));
    CHECK(take(4 * MIB) == four);
    check_ledger();
    MUST(hook_cuMemFree_v2(four));
    MUST(hook_cuMemFree_v2(six));
    MUST(hook_cuMemFree_v2(piece));
    check_empty();
}

static void should_be_bounded(void) {
    begin("0=900m,1=60m", NULL);
    CUdeviceptr addresses[40];
    for (int i = 0; i < 40; i++)
        addresses[i] = take(2 * MIB);
    for (int i = 0; i < 40; i++) {
        MUST(hook_cuMemFree_v2(addresses[i]));
        CHECK(spare(0) <= 18 * MIB, "2 %% of the quota, not %llu", (unsigned long long)spare(0));
        check_ledger();
    }
    CHECK(spare(0) >= 16 * MIB);
    CUdeviceptr large = take(20 * MIB);
    MUST(hook_cuMemFree_v2(large));
    CHECK(spare(0) <= 18 * MIB);
    MUST(real.cuCtxSetCurrent(contexts[1])); /* one block at least */
    CUdeviceptr piece = take(1), whole = take(3 * MIB);
    MUST(hook_cuMemFree_v2(piece));
    MUST(hook_cuMemFree_v2(whole));
    CHECK(spare(1) == 2 * MIB);
    check_empty();
}

static void should_be_free_memory_to_the_program(void) {
    begin("0=900m", NULL);
    for (int device = 0; device < GPUS; device++) { /* the second has no quota */
        size_t before, after, total;
        MUST(real.cuCtxSetCurrent(contexts[device]));
        MUST(hook_cuMemGetInfo_v2(&before, &total));
        CUdeviceptr address = take(4 * MIB);
        MUST(hook_cuMemGetInfo_v2(&after, &total));
        CHECK(after == before - 4 * MIB);
        MUST(hook_cuMemFree_v2(address));
        MUST(hook_cuMemGetInfo_v2(&after, &total));
        CHECK(spare(device) == 4 * MIB && after == before, "%zu, not %zu", after, before);
    }
    check_empty();
}

static void should_go_before_a_request_is_refused(void) {
    begin("0=100m", NULL);
    CUdeviceptr address;
    CUmemAllocationProp properties = {.type = 1, .location = {1, 0}};
    CUmemGenericAllocationHandle handle;
    for (int way = 0; way < 3; way++) {
        CUdeviceptr piece = take(1000);
        MUST(hook_cuMemFree_v2(piece));
        CHECK(spare(0) == 2 * MIB);
        if (way == 0)
            MUST(hook_cuMemAlloc_v2(&address, 100 * MIB));
        else if (way == 1)
            MUST(hook_cuMemAllocManaged(&address, 100 * MIB, 1));
        else
            MUST(hook_cuMemCreate(&handle, 100 * MIB, &properties, 0));
        CHECK(spare(0) == 0);
        if (way == 2)
            MUST(hook_cuMemRelease(handle));
        else
            MUST(hook_cuMemFree_v2(address));
    }
    CUdeviceptr all[50]; /* at the quota a small request gets the spare block */
    for (int i = 0; i < 50; i++)
        all[i] = take(2 * MIB);
    MUST(hook_cuMemFree_v2(all[3]));
    CHECK(spare(0) == 2 * MIB && take(700) == all[3]);
    check_ledger();
    for (int i = 0; i < 50; i++)
        MUST(hook_cuMemFree_v2(all[i]));
    check_empty();
}

static void set_quota(uint64_t bytes) {
    const char *folder = getenv("SLUICE_RUNTIME_DIR");
    DIR *entries = opendir(folder);
    bool done = false;
    for (struct dirent *entry; (entry = readdir(entries));) {
        char path[512];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = stat(path, &status) == 0 && status.st_size == SL_REGION_BYTES ? fopen(path, "r+") : NULL;
        if (!file)
            continue;
        done |= fseek(file, (long)((char *)sl_tenant.region.limits - (char *)sl_tenant.region.header) + 16, SEEK_SET) == 0 &&
                fwrite(&bytes, sizeof bytes, 1, file) == 1;
        fclose(file);
    }
    closedir(entries);
    CHECK(done && sl_accounts_limit((unsigned)sl_gpu_find(0)) == bytes);
}

static void should_not_pass_a_lowered_quota(void) {
    begin("0=900m", NULL);
    CUdeviceptr kept = take(100 * MIB), address = take(4 * MIB), other;
    MUST(hook_cuMemFree_v2(address));
    CHECK(spare(0) == 4 * MIB);
    set_quota(100 * MIB);
    CHECK(hook_cuMemAlloc_v2(&other, 4 * MIB) == CUDA_ERROR_OUT_OF_MEMORY && spare(0) == 0 && charged(0) == 100 * MIB);
    set_quota(104 * MIB);
    CHECK(take(4 * MIB));
    check_ledger();
    MUST(hook_cuMemFree_v2(kept));
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void wait_until_none_is_spare(double most) {
    double start = seconds();
    while (spare(0) && seconds() - start < most)
        usleep(2000);
    CHECK(spare(0) == 0, "after %.3f s", seconds() - start);
}

static void should_go_when_it_is_idle(void) {
    begin("0=900m", NULL);
    CUdeviceptr address = take(4 * MIB), piece = take(1);
    MUST(hook_cuMemFree_v2(address));
    MUST(hook_cuMemFree_v2(piece));
    CHECK(spare(0) == 6 * MIB);
    wait_until_none_is_spare(3);
    check_ledger();
    CHECK(charged(0) == 0);
}

/* Another process of the tenant. */
static int to_other[2], from_other[2];

static void be_the_other(void) {
    char word;
    CUdeviceptr address;
    CHECK(read(to_other[0], &word, 1) == 1);
    begin("0=100m", NULL);
    CHECK(write(from_other[1], "r", 1) == 1 && read(to_other[0], &word, 1) == 1);
    for (int i = 0; i < 5; i++) {
        double start = seconds();
        CUresult status = hook_cuMemAlloc_v2(&address, 100 * MIB);
        CHECK(status == CUDA_SUCCESS, "round %d: %d after %.3f s", i, status, seconds() - start);
        CHECK(seconds() - start < 0.3, "%.3f s", seconds() - start);
        MUST(hook_cuMemFree_v2(address));
        CHECK(write(from_other[1], "d", 1) == 1 && read(to_other[0], &word, 1) == 1);
    }
    CHECK(charged(0) == 0);
}

static void should_go_when_another_process_needs_room(void) {
    char word;
    CHECK(pipe(to_other) == 0 && pipe(from_other) == 0);
    world = getpid();
    pid_t other = fork();
    if (other == 0) {
        close(to_other[1]);
        close(from_other[0]);
        be_the_other();
        _exit(0);
    }
    close(to_other[0]); /* so that the end of one process is an error of the other */
    close(from_other[1]);
    begin("0=100m", NULL);
    CHECK(write(to_other[1], "b", 1) == 1 && read(from_other[0], &word, 1) == 1);
    for (int i = 0; i < 5; i++) {
        uint64_t kept = 0;
        for (int attempt = 0; attempt < 100 && !kept; attempt++) { /* it is not kept at once after it was needed */
            usleep(attempt ? 20000 : 0);
            CUdeviceptr piece = take(1000);
            MUST(hook_cuMemFree_v2(piece));
            kept = spare(0);
        }
        CHECK(kept == 2 * MIB);
        CHECK(write(to_other[1], "g", 1) == 1 && read(from_other[0], &word, 1) == 1);
        CHECK(spare(0) == 0);
    }
    CHECK(write(to_other[1], "e", 1) == 1);
    int status;
    CHECK(waitpid(other, &status, 0) == other && status == 0, "the other ended with %x", status);
}

static void should_go_in_a_pause(void) {
    begin("0=900m", NULL);
    CUdeviceptr kept = take(100), address = take(4 * MIB);
    MUST(hook_cuMemFree_v2(address));
    CHECK(spare(0) == 4 * MIB);
    const sl_movable_source_t *source = sl_movables[0];
    CHECK(source->count() == 1 && source->piece(0).bytes == 2 * MIB && spare(0) == 0 && charged(0) == 2 * MIB);
    check_ledger();
    MUST(hook_cuMemFree_v2(kept));
    check_empty();
}

static void should_go_with_its_context(void) {
    begin("0=900m", NULL);
    for (int round = 0; round < 5; round++) {
        CUcontext own;
        MUST(hook_cuCtxCreate_v2(&own, 0, 0));
        CUdeviceptr address = take(4 * MIB), piece = take(9), live = take(3 * MIB);
        MUST(hook_cuMemFree_v2(address));
        MUST(hook_cuMemFree_v2(piece));
        CHECK(spare(0) == 6 * MIB && live);
        MUST(hook_cuCtxDestroy_v2(own));
        MUST(real.cuCtxSetCurrent(contexts[0]));
        CHECK(spare(0) == 0 && charged(0) == 0);
        check_ledger();
    }
    CUdeviceptr address = take(4 * MIB);
    MUST(hook_cuMemFree_v2(address));
    MUST(hook_cuDevicePrimaryCtxReset_v2(0));
    CHECK(spare(0) == 0 && charged(0) == 0);
}

static void check_that_the_child_has_none(void) {
    CHECK(sl_ledger_spare(0) == 0 && !sl_kept_reclaim(0) && !sl_kept_look(true));
}

static void should_be_forgotten_by_a_child(void) {
    begin("0=900m", NULL);
    CUdeviceptr address = take(4 * MIB);
    MUST(hook_cuMemFree_v2(address));
    CHECK(spare(0) == 4 * MIB);
    CHECK(in_child(check_that_the_child_has_none) == 0);
    CHECK(take(4 * MIB) == address);
    MUST(hook_cuMemFree_v2(address));
    check_empty();
}

static void should_follow_peer_access(void) {
    begin(NULL, NULL);
    unsigned long long flags = 99;
    CUmemLocation location = {1, 1};
    for (int enable = 1; enable >= 0; enable--) {
        CUdeviceptr address = take(4 * MIB);
        MUST(hook_cuMemFree_v2(address));
        CHECK(spare(0) == 4 * MIB);
        MUST(real.cuCtxSetCurrent(contexts[1]));
        MUST(enable ? hook_cuCtxEnablePeerAccess(contexts[0], 0) : hook_cuCtxDisablePeerAccess(contexts[0]));
        MUST(real.cuCtxSetCurrent(contexts[0]));
        CHECK(take(4 * MIB) == address);
        MUST(real.cuMemGetAccess(&flags, &location, address));
        CHECK(flags == (enable ? 3 : 0));
        MUST(hook_cuMemFree_v2(address));
    }
    check_empty();
}

static void should_not_be_kept_where_memory_is_scarce(void) {
    begin(NULL, NULL);
    CUdeviceptr most = take(970 * MIB), address = take(4 * MIB);
    usleep(30000);
    MUST(hook_cuMemFree_v2(address));
    CHECK(spare(0) == 0 && charged(0) == 970 * MIB);
    MUST(hook_cuMemFree_v2(most));
    usleep(30000);
    address = take(4 * MIB);
    MUST(hook_cuMemFree_v2(address));
    CHECK(spare(0) == 4 * MIB);
    most = take(1022 * MIB); /* before the driver refuses, the spare memory goes */
    CHECK(spare(0) == 0);
    MUST(hook_cuMemFree_v2(most));
    check_empty();
}

static atomic_bool freed;

static void *free_it(void *address) {
    MUST(real.cuCtxSetCurrent(contexts[0]));
    MUST(hook_cuMemFree_v2((CUdeviceptr)address));
    freed = true;
    return NULL;
}

static void should_wait_for_the_work_of_the_context(void) {
    begin("0=900m", NULL);
    static const size_t sizes[] = {600, 4 * MIB};
    for (int i = 0; i < 2; i++) {
        CUdeviceptr address = take(sizes[i]);
        CUstream stream = busy_stream();
        pthread_t thread;
        freed = false;
        pthread_create(&thread, NULL, free_it, (void *)address);
        usleep(50000);
        CHECK(!freed && take(sizes[i]) != address);
        hold = 0;
        pthread_join(thread, NULL);
        MUST(real.cuStreamDestroy_v2(stream));
    }
}

/* A failure of the driver at any step: the program gets it, or nobody; nothing is lost and nothing is charged twice. */
static const char *fault;

static void fail_at_a_step(void) {
    static const size_t sizes[] = {600, 2 * MIB, 3 * MIB, 4 * MIB, 700};
    begin("0=400m", fault);
    CUdeviceptr live[5] = {0};
    unsigned seed = 7;
    for (int step = 0; step < 400; step++) {
        unsigned i = (unsigned)rand_r(&seed) % 5;
        if (!live[i] && hook_cuMemAlloc_v2(&live[i], sizes[i]) != CUDA_SUCCESS)
            live[i] = 0;
        else if (step % 2 && live[i] && hook_cuMemFree_v2(live[i]) == CUDA_SUCCESS)
            live[i] = 0;
        if (step % 40 == 39)
            end_spare();
        check_ledger();
    }
    for (int i = 0; i < 5; i++)
        for (int attempt = 0; live[i]; attempt++) {
            CHECK(attempt < 9);
            if (hook_cuMemFree_v2(live[i]) == CUDA_SUCCESS)
                live[i] = 0;
            check_ledger();
        }
    for (int attempt = 0; attempt < 9 && spare(0); attempt++)
        end_spare();
    check_empty();
}

static void should_lose_nothing_when_the_driver_fails(void) {
    static const char *const faults[] = {
        "cuMemCreate%3=2", "cuMemMap%3=2", "cuMemSetAccess%3=999", "cuMemUnmap%2=999", "cuMemUnmap%3=700", "cuMemUnmap@1=999",
        "cuCtxSynchronize%3=700",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fault = faults[i];
        CHECK(in_child(fail_at_a_step) == 0, "%s", fault);
    }
}

/* Eight threads, all sizes, two contexts; a ninth sees that nothing passes the quota. */
enum { THREADS = 8, STEPS = 1500, LIVE = 12, QUOTA_MIB = 160 };
static CUcontext thread_contexts[THREADS];
static atomic_bool over;

static size_t random_size(unsigned *seed) {
    unsigned kind = (unsigned)rand_r(seed) % 10;
    size_t any = (size_t)rand_r(seed);
    return kind < 3 ? any % 4000 + 1 : kind < 6 ? 2 * MIB - any % 2 * 512 : (1 + any % 4) * 2 * MIB - any % 3;
}

static void *churn(void *argument) {
    unsigned number = (unsigned)(uintptr_t)argument, seed = number * 7919 + 1, refused = 0;
    CUdeviceptr addresses[LIVE] = {0};
    size_t sizes[LIVE];
    CUstream stream;
    MUST(real.cuCtxSetCurrent(thread_contexts[number]));
    MUST(real.cuStreamCreate(&stream, 1));
    for (int step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)rand_r(&seed) % LIVE;
        if (addresses[i]) {
            check_mark(addresses[i], sizes[i], addresses[i] >> 9);
            MUST(rand_r(&seed) % 4 ? hook_cuMemFree_v2(addresses[i]) : hook_cuMemFreeAsync(addresses[i], stream));
            addresses[i] = 0;
        } else {
            sizes[i] = random_size(&seed);
            CUresult status = hook_cuMemAlloc_v2(&addresses[i], sizes[i]);
            CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY, "%d", status);
            if (status == CUDA_SUCCESS)
                write_mark(addresses[i], sizes[i], addresses[i] >> 9);
            else
                addresses[i] = 0, refused++;
        }
    }
    for (int i = 0; i < LIVE; i++)
        if (addresses[i])
            MUST(hook_cuMemFree_v2(addresses[i]));
    MUST(hook_cuCtxSynchronize());
    return (void *)(uintptr_t)refused;
}

static void *watch_the_quota(void *unused) {
    MUST(real.cuCtxSetCurrent(contexts[0]));
    while (!over) {
        size_t free_bytes, total;
        uint64_t there = taken(0) - taken_before[0];
        CHECK(there <= QUOTA_MIB * MIB, "the driver has %llu MiB", (unsigned long long)(there / MIB));
        MUST(hook_cuMemGetInfo_v2(&free_bytes, &total));
        CHECK(free_bytes <= QUOTA_MIB * MIB);
        usleep(100);
    }
    return unused;
}

static void should_keep_the_quota_with_eight_threads(void) {
    begin("0=160m", NULL);
    pthread_t threads[THREADS], watcher;
    uintptr_t refused = 0;
    CUcontext other;
    MUST(hook_cuCtxCreate_v2(&other, 0, 0));
    MUST(real.cuCtxSetCurrent(contexts[0]));
    taken_before[0] = taken(0);
    pthread_create(&watcher, NULL, watch_the_quota, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        thread_contexts[i] = i % 4 ? contexts[0] : other;
        pthread_create(&threads[i], NULL, churn, (void *)(uintptr_t)i);
    }
    for (int i = 0; i < THREADS; i++) {
        void *each;
        pthread_join(threads[i], &each);
        refused += (uintptr_t)each;
    }
    over = true;
    pthread_join(watcher, NULL);
    CHECK(refused, "the quota was never reached");
    CHECK(sl_tenant.region.gpus[sl_gpu_find(0)].peak_bytes <= QUOTA_MIB * MIB);
    check_empty();
}

int main(void) {
    SKIP_WITHOUT_DRIVER();
    RUN_APART(should_be_used_again);
    RUN_APART(should_not_mix_sizes_and_contexts);
    RUN_APART(should_be_bounded);
    RUN_APART(should_be_free_memory_to_the_program);
    RUN_APART(should_go_before_a_request_is_refused);
    RUN_APART(should_not_pass_a_lowered_quota);
    RUN_APART(should_go_when_it_is_idle);
    RUN_APART(should_go_when_another_process_needs_room);
    RUN_APART(should_go_in_a_pause);
    RUN_APART(should_go_with_its_context);
    RUN_APART(should_be_forgotten_by_a_child);
    RUN_APART(should_follow_peer_access);
    RUN_APART(should_not_be_kept_where_memory_is_scarce);
    RUN_APART(should_wait_for_the_work_of_the_context);
    RUN_APART(should_lose_nothing_when_the_driver_fails);
    RUN_APART(should_keep_the_quota_with_eight_threads);
    return 0;
}
