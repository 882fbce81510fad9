/* Mapped memory on the simulated driver, with the compiler's checks of addresses. Each test is a process of its own. */
#include "memory/on_mapped.h"

#include <pthread.h>

#include "driver/stream.h"
#include "memory/movable.h"

static void should_describe_memory_as_the_driver_does(void) {
    static const size_t sizes[] = {1, 511, 512, 513, 100000, MIB, MIB + 1, 2 * MIB, 2 * MIB + 1, 100 * MIB};
    enum { CONTEXT = 1, MEMORY_TYPE = 2, BUFFER_ID = 7, DEVICE_ORDINAL = 9, LEGACY_IPC = 10, START = 11, SIZE = 12, MAPPED = 13, HANDLE_TYPES = 14 };
    uint64_t last_identity = 0;
    begin("0=900m,1=900m", NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUdeviceptr address = take(sizes[i]), base = 0;
        size_t bytes = 0;
        MUST(hook_cuMemGetAddressRange_v2(&base, &bytes, address + sizes[i] / 2));
        CHECK(base == address && bytes == sizes[i]);
        MUST(hook_cuMemGetAddressRange_v2(NULL, NULL, address));
        CUcontext context = NULL;
        uint64_t identity = 0, types = 7;
        unsigned kind = 0, mapped = 0;
        int ordinal = -1;
        CUpointer_attribute names[] = {CONTEXT, MEMORY_TYPE, BUFFER_ID, DEVICE_ORDINAL, START, SIZE, MAPPED, HANDLE_TYPES};
        void *answers[] = {&context, &kind, &identity, &ordinal, &base, &bytes, &mapped, &types};
        for (int each = 0; each < 2; each++) {
            base = bytes = 0;
            context = NULL;
            for (int name = 0; each && name < 8; name++)
                MUST(hook_cuPointerGetAttribute(answers[name], names[name], address + sizes[i] - 1));
            if (!each)
                MUST(hook_cuPointerGetAttributes(8, names, answers, address + sizes[i] - 1));
            CHECK(context == contexts[0] && kind == 2 && ordinal == 0 && base == address && bytes == sizes[i] && mapped == 1 && types == 0);
            CHECK(identity && identity != last_identity);
        }
        last_identity = identity;
        CHECK(hook_cuMemFree_v2(address + 256) == CUDA_ERROR_INVALID_VALUE);
        CHECK(sizes[i] < 1024 || hook_cuMemFree_v2(address + 512) == CUDA_ERROR_INVALID_VALUE);
        CUmemGenericAllocationHandle handle;
        CHECK(hook_cuMemRetainAllocationHandle(&handle, (void *)address) == CUDA_ERROR_INVALID_VALUE);
        unsigned ipc = 0;
        MUST(hook_cuPointerGetAttribute(&ipc, LEGACY_IPC, address));
        CHECK(ipc == 1);
        check_ledger();
        CUdeviceptr neighbour = take(1);
        MUST(hook_cuMemFree_v2(address));
        CHECK(hook_cuMemFree_v2(address) == CUDA_ERROR_INVALID_VALUE);
        CHECK(hook_cuMemGetAddressRange_v2(&base, &bytes, address) == 500);
        CHECK(hook_cuPointerGetAttribute(&base, START, address) == CUDA_ERROR_INVALID_VALUE);
        MUST(hook_cuPointerGetAttributes(1, &names[3], &answers[3], address));
        CHECK(ordinal == -2);
        MUST(hook_cuMemFree_v2(neighbour));
        check_empty();
    }
    CUdeviceptr pitched;
    size_t pitch;
    MUST(hook_cuMemAllocPitch_v2(&pitched, &pitch, 1000, 5000, 4));
    CHECK(pitch == 1024 && sl_mapped_has(pitched) && charged(0) == 6 * MIB);
    MUST(hook_cuMemFree_v2(pitched));
    CHECK(hook_cuMemAllocPitch_v2(&pitched, &pitch, 1000, 5000, 3) == CUDA_ERROR_INVALID_VALUE);
    CHECK(hook_cuMemAllocPitch_v2(&pitched, &pitch, 0, 5000, 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(hook_cuMemAlloc_v2(&pitched, 0) == CUDA_ERROR_INVALID_VALUE);
    MUST(hook_cuMemFree_v2(0));
    CUdeviceptr orphan = take(5);
    MUST(real.cuCtxSetCurrent(NULL));
    CHECK(hook_cuMemFree_v2(orphan) == 201);
    MUST(real.cuCtxSetCurrent(contexts[1]));
    MUST(hook_cuMemFree_v2(orphan));
    check_empty();
}

static void should_refuse_where_the_driver_does(void) {
    begin("0=100m", NULL);
    CUdeviceptr address, small[51];
    size_t near_the_end[] = {UINT64_MAX, UINT64_MAX - 511, 1ull << 63, 1ull << 44, 2048 * MIB};
    for (int i = 0; i < 5; i++)
        CHECK(hook_cuMemAlloc_v2(&address, near_the_end[i]) == CUDA_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < 50; i++)
        small[i] = take(2 * MIB);
    CHECK(hook_cuMemAlloc_v2(&address, 1) == CUDA_ERROR_OUT_OF_MEMORY && charged(0) == 100 * MIB);
    check_ledger();
    MUST(hook_cuMemFree_v2(small[7]));
    small[7] = take(MIB + 512);
    small[50] = take(MIB - 512); /* in the same slab: the quota allows no other */
    CHECK(hook_cuMemAlloc_v2(&address, 1) == CUDA_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < 51; i++)
        MUST(hook_cuMemFree_v2(small[i]));
    check_empty();
    MUST(real.cuCtxSetCurrent(contexts[1])); /* no quota there: the GPU is full, and the driver says so */
    for (int i = 0; i < 5; i++)
        CHECK(hook_cuMemAlloc_v2(&address, near_the_end[i]) == CUDA_ERROR_OUT_OF_MEMORY);
    CUdeviceptr large = take(1000 * MIB);
    CHECK(hook_cuMemAlloc_v2(&address, 100 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    check_ledger();
    MUST(hook_cuMemFree_v2(large));
    check_empty();
}

static void should_keep_what_a_stream_may_use(void) {
    begin("0=100m", NULL);
    for (int order = 0; order < 4; order++) {
        CUdeviceptr whole = take(64 * MIB), first = take(1000), second = take(1000);
        CUstream stream = busy_stream();
        CUdeviceptr freed[] = {whole, first, second};
        for (int i = 0; i < 3; i++)
            MUST(hook_cuMemFreeAsync(freed[(i + order) % 3], stream));
        CHECK(hook_cuMemFreeAsync(first, stream) == CUDA_ERROR_INVALID_VALUE);
        CHECK(hook_cuMemFree_v2(whole) == CUDA_ERROR_INVALID_VALUE);
        CHECK(charged(0) == 66 * MIB, "%llu", (unsigned long long)charged(0));
        check_ledger();
        CUdeviceptr other = take(1000);
        CHECK(other != first && other != second);
        CUdeviceptr refused;
        CHECK(hook_cuMemAlloc_v2(&refused, 64 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
        hold = 0;
        if (order == 0)
            MUST(hook_cuStreamSynchronize(stream));
        else if (order == 1)
            MUST(hook_cuCtxSynchronize());
        else if (order == 2)
            usleep(50000);
        if (order < 2)
            CHECK(charged(0) == 2 * MIB);
        CUdeviceptr after = take(64 * MIB); /* the event has happened: nobody waited in the third case */
        check_ledger();
        MUST(hook_cuMemFree_v2(after));
        MUST(hook_cuMemFree_v2(other));
        MUST(hook_cuStreamSynchronize(stream));
        MUST(real.cuStreamDestroy_v2(stream));
        if (order == 3)
            MUST(hook_cuCtxSynchronize());
        check_empty();
    }
}

static void should_not_wait_while_a_stream_captures(void) {
    begin("0=100m", NULL);
    CUdeviceptr whole = take(64 * MIB), piece = take(5), graph_piece = take(5);
    CUstream stream;
    CUgraph graph;
    MUST(real.cuStreamCreate(&stream, 1));
    MUST(hook_cuStreamBeginCapture_v2(stream, 2));
    CHECK(sl_stream_open_captures == 1);
    MUST(hook_cuMemFree_v2(whole));
    MUST(hook_cuMemFree_v2(piece));
    CHECK(hook_cuMemFreeAsync(graph_piece, stream) != CUDA_SUCCESS);
    CHECK(charged(0) == 66 * MIB);
    check_ledger();
    hook_cuStreamEndCapture(stream, &graph);
    CHECK(sl_stream_open_captures == 0);
    CUdeviceptr again = take(64 * MIB); /* before it is refused, the freed memory goes */
    MUST(hook_cuMemFree_v2(again));
    MUST(hook_cuMemFree_v2(graph_piece));
    check_empty();
}

static void should_end_with_its_context(void) {
    begin("0=500m", NULL);
    CUcontext own;
    CUdeviceptr kept = take(100), addresses[40];
    for (int round = 0; round < 3; round++) {
        MUST(hook_cuCtxCreate_v2(&own, 0, 0));
        for (int i = 0; i < 40; i++)
            addresses[i] = take(i % 2 ? 5000 : 3 * MIB);
        CUstream stream;
        MUST(real.cuStreamCreate(&stream, 1));
        MUST(hook_cuMemFreeAsync(addresses[0], stream));
        MUST(hook_cuMemFreeAsync(addresses[1], stream));
        MUST(hook_cuCtxDestroy_v2(own));
        MUST(real.cuCtxSetCurrent(contexts[0]));
        CHECK(charged(0) == 2 * MIB, "%llu", (unsigned long long)charged(0));
        check_ledger();
        CHECK(hook_cuMemFree_v2(addresses[5]) == CUDA_ERROR_INVALID_VALUE);
    }
    CHECK(hook_cuCtxDestroy_v2((CUcontext)contexts) != CUDA_SUCCESS);
    check_mark(kept, 100, 0);
    MUST(hook_cuDevicePrimaryCtxReset_v2(0));
    CHECK(charged(0) == 0);
    MUST(hook_cuDevicePrimaryCtxRetain(&contexts[0], 0));
    MUST(real.cuCtxSetCurrent(contexts[0]));
    CUdeviceptr again = take(100);
    MUST(hook_cuMemFree_v2(again));
    check_empty();
}

static unsigned long long access_of(CUdeviceptr address, CUdevice device) {
    unsigned long long flags = 99;
    CUmemLocation location = {1, device};
    MUST(real.cuMemGetAccess(&flags, &location, address));
    return flags;
}

static void should_give_peers_access(void) {
    begin(NULL, NULL);
    CUdeviceptr before = take(3 * MIB), piece = take(7);
    CHECK(access_of(before, 0) == 3 && access_of(before, 1) == 0);
    MUST(real.cuCtxSetCurrent(contexts[1]));
    MUST(hook_cuCtxEnablePeerAccess(contexts[0], 0));
    CHECK(hook_cuCtxEnablePeerAccess(contexts[0], 0) == 704);
    MUST(real.cuCtxSetCurrent(contexts[0]));
    CUdeviceptr after = take(3 * MIB);
    CHECK(access_of(before, 1) == 3 && access_of(piece, 1) == 3 && access_of(after, 1) == 3);
    MUST(real.cuCtxSetCurrent(contexts[1]));
    MUST(hook_cuCtxDisablePeerAccess(contexts[0]));
    CHECK(access_of(before, 1) == 0 && access_of(piece, 1) == 0 && access_of(after, 1) == 0 && access_of(after, 0) == 3);
    MUST(hook_cuMemFree_v2(before));
    MUST(hook_cuMemFree_v2(piece));
    MUST(hook_cuMemFree_v2(after));
    check_empty();
}

static void should_leave_and_come_back_at_its_address(void) {
    enum { COUNT = 60 };
    begin("0=800m,1=800m", NULL);
    const sl_movable_source_t *source = sl_movables[0];
    CUdeviceptr addresses[COUNT];
    size_t sizes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        MUST(real.cuCtxSetCurrent(contexts[i % 2]));
        sizes[i] = i % 3 ? (size_t)(i * 977 + 1) : (size_t)i * MIB / 8 + 1;
        addresses[i] = take(sizes[i]);
        write_mark(addresses[i], sizes[i], (uint64_t)i + 1);
    }
    CUstream stream;
    MUST(real.cuStreamCreate(&stream, 1));
    CUdeviceptr freed = take(10 * MIB);
    MUST(hook_cuMemFreeAsync(freed, stream));
    uint64_t charged_before[GPUS];
    for (int round = 0; round < 2; round++) {
        size_t count = source->count();
        char **saved = calloc(count, sizeof *saved);
        for (int device = 0; device < GPUS; device++)
            charged_before[device] = charged(device);
        for (size_t i = 0; i < count; i++) {
            sl_movable_t piece = source->piece(i);
            saved[i] = malloc(piece.bytes);
            MUST(real.cuCtxSetCurrent(piece.context));
            MUST(real.cuMemcpyDtoH_v2(saved[i], piece.address, piece.bytes));
            MUST(source->give(i));
        }
        CHECK(charged(0) == 0 && charged(1) == 0);
        check_ledger();
        for (size_t i = 0; i < count; i++) {
            MUST(source->take(i));
            sl_movable_t piece = source->piece(i);
            MUST(real.cuCtxSetCurrent(piece.context));
            MUST(real.cuMemcpyHtoD_v2(piece.address, saved[i], piece.bytes));
            free(saved[i]);
        }
        free(saved);
        check_ledger();
        CHECK(charged(0) == charged_before[0] && charged(1) == charged_before[1]);
    }
    for (int i = 0; i < COUNT; i++) {
        check_mark(addresses[i], sizes[i], (uint64_t)i + 1);
        MUST(hook_cuMemFree_v2(addresses[i]));
    }
    check_empty();
}

static void should_stay_away_when_there_is_no_room(void) {
    begin("0=100m", NULL);
    const sl_movable_source_t *source = sl_movables[0];
    CUdeviceptr address = take(64 * MIB);
    CHECK(source->count() == 1);
    MUST(source->give(0));
    CHECK(charged(0) == 0);
    CUdeviceptr other;
    MUST(hook_cuMemAlloc_v2(&other, 64 * MIB));
    CHECK(source->take(0) == CUDA_ERROR_OUT_OF_MEMORY && charged(0) == 64 * MIB);
    check_ledger();
    MUST(hook_cuMemFree_v2(other));
    MUST(source->take(0));
    check_mark(address, 64 * MIB, 0);
    MUST(hook_cuMemFree_v2(address));
    check_empty();
}

/* On the way back one piece finds no room, and all are given again, also those that never came. */
static void should_take_back_half_a_way(void) {
    begin("0=100m", NULL);
    const sl_movable_source_t *source = sl_movables[0];
    CUdeviceptr first = take(40 * MIB), second = take(40 * MIB), other;
    CHECK(source->count() == 2);
    for (size_t i = 0; i < 2; i++)
        MUST(source->give(i));
    MUST(hook_cuMemAlloc_v2(&other, 40 * MIB));
    MUST(source->take(0));
    CHECK(source->take(1) == CUDA_ERROR_OUT_OF_MEMORY);
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < 2; i++)
            MUST(source->give(i));
    CHECK(charged(0) == 40 * MIB, "%llu", (unsigned long long)charged(0));
    check_ledger();
    MUST(hook_cuMemFree_v2(other));
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < 2; i++)
            MUST(source->take(i));
    CHECK(charged(0) == 80 * MIB);
    check_ledger();
    MUST(hook_cuMemFree_v2(first));
    MUST(hook_cuMemFree_v2(second));
    check_empty();
}

/* Random sizes from several threads, contexts and GPUs. Each allocation has a mark at both ends and in the middle. */
enum { THREADS = 4, STEPS = 1500, LIVE = 64 };
static CUcontext thread_contexts[THREADS];

static size_t random_size(unsigned *seed) {
    unsigned kind = (unsigned)rand_r(seed) % 20;
    size_t any = (size_t)rand_r(seed);
    return kind < 8 ? any % 4000 + 1 : kind < 14 ? any % (2 * MIB) + 1 : kind < 19 ? any % (8 * MIB) + 1 : any % (100 * MIB) + 1;
}

static void *churn(void *argument) {
    unsigned number = (unsigned)(uintptr_t)argument, seed = number * 7919 + 1;
    CUdeviceptr addresses[LIVE] = {0};
    size_t sizes[LIVE];
    CUstream stream;
    MUST(real.cuCtxSetCurrent(thread_contexts[number]));
    MUST(real.cuStreamCreate(&stream, 1));
    for (int step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)rand_r(&seed) % LIVE;
        if (addresses[i]) {
            check_mark(addresses[i], sizes[i], addresses[i] >> 9);
            if (rand_r(&seed) % 3)
                MUST(hook_cuMemFree_v2(addresses[i]));
            else
                MUST(hook_cuMemFreeAsync(addresses[i], stream));
            addresses[i] = 0;
        } else {
            sizes[i] = random_size(&seed);
            CUresult status = hook_cuMemAlloc_v2(&addresses[i], sizes[i]);
            CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY, "%d", status);
            if (status != CUDA_SUCCESS)
                addresses[i] = 0;
            else
                write_mark(addresses[i], sizes[i], addresses[i] >> 9);
        }
    }
    for (int i = 0; i < LIVE; i++)
        if (addresses[i]) {
            check_mark(addresses[i], sizes[i], addresses[i] >> 9);
            MUST(hook_cuMemFree_v2(addresses[i]));
        }
    MUST(hook_cuCtxSynchronize());
    return NULL;
}

static void should_keep_apart_what_threads_take_at_random(void) {
    begin("0=600m", NULL);
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        thread_contexts[i] = contexts[i % 2];
        if (i == THREADS - 1)
            MUST(hook_cuCtxCreate_v2(&thread_contexts[i], 0, 0));
        pthread_create(&threads[i], NULL, churn, (void *)(uintptr_t)i);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MUST(real.cuCtxSetCurrent(contexts[0]));
    check_empty();
}

/* Whatever call fails, the program gets its status, and what it has is whole. */
static const char *fault;

static void fail_at_a_step(void) {
    begin("0=100m", fault);
    CUdeviceptr kept[20] = {0}, address = 0;
    for (int i = 0; i < 20; i++) {
        size_t bytes = i % 2 ? 600 : 3 * MIB;
        if (hook_cuMemAlloc_v2(&address, bytes) == CUDA_SUCCESS)
            kept[i] = address;
        check_ledger();
    }
    for (int i = 0; i < 20; i++)
        for (int attempt = 0; kept[i]; attempt++) {
            CHECK(attempt < 3);
            if (hook_cuMemFree_v2(kept[i]) == CUDA_SUCCESS)
                kept[i] = 0;
            check_ledger();
        }
    check_empty();
}

static void should_leak_nothing_when_the_driver_fails(void) {
    static const char *const faults[] = {
        "cuMemCreate@3=2", "cuMemCreate%2=999", "cuMemMap@2=2", "cuMemMap%3=999", "cuMemSetAccess@1=2", "cuMemSetAccess%3=700",
        "cuMemRelease@2=999", "cuMemUnmap@2=999", "cuMemUnmap%3=700", "cuCtxSynchronize%2=700", "cuMemAddressReserve@1=2",
        "cuMemAddressReserve%2=2", "cuMemGetAllocationGranularity=1", "cuMemCreate=2", "cuMemCreate=missing",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fault = faults[i];
        CHECK(in_child(fail_at_a_step) == 0, "%s", fault);
    }
}

static void check_that_the_child_knows_nothing(void) {
    CHECK(sl_mapped_mode == SL_MAPPED_UNDECIDED && sl_movables[0]->count() == 0);
}

static void should_be_forgotten_by_a_child(void) {
    begin("0=100m", NULL);
    CUdeviceptr address = take(100);
    CHECK(in_child(check_that_the_child_knows_nothing) == 0);
    MUST(hook_cuMemFree_v2(address));
    check_empty();
}

static void should_leave_memory_to_the_driver_where_it_is_off(void) {
    setenv("SLUICE_MAPPED", "0", 1);
    begin("0=100m", NULL);
    CUdeviceptr address = 0;
    MUST(hook_cuMemAlloc_v2(&address, 5 * MIB));
    CHECK(!sl_mapped_has(address) && sl_movables[0]->count() == 0);
    MUST(hook_cuMemFree_v2(address));
    check_empty();
}

int main(void) {
    SKIP_WITHOUT_DRIVER();
    RUN_APART(should_describe_memory_as_the_driver_does);
    RUN_APART(should_refuse_where_the_driver_does);
    RUN_APART(should_keep_what_a_stream_may_use);
    RUN_APART(should_not_wait_while_a_stream_captures);
    RUN_APART(should_end_with_its_context);
    RUN_APART(should_give_peers_access);
    RUN_APART(should_leave_and_come_back_at_its_address);
    RUN_APART(should_stay_away_when_there_is_no_room);
    RUN_APART(should_take_back_half_a_way);
    RUN_APART(should_keep_apart_what_threads_take_at_random);
    RUN_APART(should_leak_nothing_when_the_driver_fails);
    RUN_APART(should_be_forgotten_by_a_child);
    RUN_APART(should_leave_memory_to_the_driver_where_it_is_off);
    return 0;
}
