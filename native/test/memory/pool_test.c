/* The charge of a pool is what the pool has reserved, whichever call lets it grow or shrink. The fake driver is a few functions on one
 * pool. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "compute/meter/meter.h"
#include "tenant/gpu.h"
#include "memory/stream/graph.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/closing.h"
#include "memory/pool.h"
#include "real.h"
#include "tenant/tenant.h"

#define GPU 0u
#define MIB (1ull << 20)
#define STEP (32 * MIB)
#define LIMIT (1024 * MIB)
#define POOL ((CUmemoryPool)&reserved)
#define STREAM ((CUstream)0x1000)
#define THREADS 8
#define ROUNDS 40000

enum { THRESHOLD = 4, RESERVED = 5, USED = 7 };

static _Atomic uint64_t reserved, used, most, pieces; /* pieces: of so much what is left lies in
                                                                           * pieces too small to use or give back */
static atomic_bool crowded;
static atomic_bool is_inside, is_stuck, is_busy; /* is_stuck: streams do not reach the frees; is_busy: the query says so */
static atomic_int busy_queries; /* after so many queries the stream has reached the frees */
static atomic_int queries, twin_frees, twin_queries;
static atomic_int trims_until_refund; /* with the last of them 16 MiB of other memory come back */
static atomic_int capturing, own_captures, frees, trims, admitted, refused, questions;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult fake_count(int *count) {
    *count = 1;
    return CUDA_SUCCESS;
}

static CUresult fake_uuid(CUuuid *uuid, CUdevice device) {
    memset(uuid, 7 + device, sizeof *uuid);
    return CUDA_SUCCESS;
}

static CUresult fake_capturing(CUstream stream, CUstreamCaptureStatus *status) {
    CHECK(stream == STREAM);
    questions++;
    *status = capturing;
    return CUDA_SUCCESS;
}

static CUresult fake_current(CUmemoryPool *pool, CUdevice device) {
    CHECK(device == 0);
    questions++;
    *pool = POOL;
    return CUDA_SUCCESS;
}

static CUresult fake_choose(CUdevice device, CUmemoryPool pool) {
    CHECK(device == 0 && pool == POOL);
    return CUDA_SUCCESS;
}

static CUresult fake_capture(CUstream stream) {
    CHECK(stream == STREAM);
    capturing = 1;
    return CUDA_SUCCESS;
}

/* Yields to other threads between question and answer, and between answer and use. */
static CUresult fake_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    static atomic_uint calls;
    CHECK(pool == POOL);
    unsigned call = crowded ? calls++ : 1;
    if (call % 6 == 0)
        sched_yield();
    *(uint64_t *)value = attribute == RESERVED ? reserved : used;
    if (call % 6 == 3)
        sched_yield();
    return CUDA_SUCCESS;
}

static CUresult fake_allocate(CUdeviceptr *address, size_t bytes, CUstream stream) {
    CHECK(stream == STREAM);
    *address = bytes;
    if (capturing)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&pool_lock);
    uint64_t base = pieces ? reserved : used;
    uint64_t needed = (base + bytes + STEP - 1) / STEP * STEP;
    if (needed > reserved)
        reserved = needed;
    used += bytes;
    if (reserved > most)
        most = reserved;
    pthread_mutex_unlock(&pool_lock);
    return CUDA_SUCCESS;
}

static CUresult fake_free(CUdeviceptr address, CUstream stream) {
    CHECK(stream == STREAM);
    frees++;
    used -= address;
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUstream stream) {
    if (!stream)
        return CUDA_SUCCESS; /* a reclaimer asks for the default stream */
    CHECK(stream == STREAM);
    queries++;
    if (busy_queries && --busy_queries == 0)
        is_stuck = is_busy = false;
    return is_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

/* For the twins the number 0 is the default stream of the thread. */
static CUresult twin_allocate(CUdeviceptr *address, size_t bytes, CUstream stream) {
    CHECK(stream == NULL);
    if (own_captures)
        return CUDA_SUCCESS;
    return fake_allocate(address, bytes, STREAM);
}

static CUresult twin_free(CUdeviceptr address, CUstream stream) {
    CHECK(stream == NULL);
    twin_frees++;
    used -= address;
    return CUDA_SUCCESS;
}

static CUresult twin_capturing(CUstream stream, CUstreamCaptureStatus *status) {
    CHECK(stream == NULL);
    *status = own_captures;
    return CUDA_SUCCESS;
}

static CUresult twin_query(CUstream stream) {
    CHECK(stream == NULL);
    twin_queries++;
    return CUDA_SUCCESS;
}

static CUresult fake_trim(CUmemoryPool pool, size_t keep) {
    CHECK(pool == POOL);
    trims++;
    if (trims_until_refund && --trims_until_refund == 0)
        sl_ledger_refund(GPU, SL_USE_LINEAR, 16 * MIB);
    if (is_stuck)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&pool_lock);
    uint64_t needed = (used + STEP - 1) / STEP * STEP;
    uint64_t target = keep > needed ? keep : needed;
    target = pieces > target ? (uint64_t)pieces : target;
    if (reserved > target)
        reserved = target;
    pthread_mutex_unlock(&pool_lock);
    return CUDA_SUCCESS;
}

static CUresult fake_destroy(CUmemoryPool pool) {
    CHECK(pool == POOL);
    return CUDA_SUCCESS;
}

static void begin(void) {
    real.cuDeviceGetCount = fake_count;
    real.cuDeviceGetUuid_v2 = fake_uuid;
    real.cuStreamIsCapturing = fake_capturing;
    real.cuStreamBeginCapture = fake_capture;
    real.cuDeviceGetMemPool = fake_current;
    real.cuDeviceSetMemPool = fake_choose;
    real.cuMemPoolGetAttribute = fake_attribute;
    real.cuMemAllocAsync = fake_allocate;
    real.cuMemFreeAsync = fake_free;
    real.cuMemPoolTrimTo = fake_trim;
    real.cuStreamQuery = fake_query;
    real.cuMemAllocAsync_ptsz = twin_allocate;
    real.cuMemFreeAsync_ptsz = twin_free;
    real.cuStreamQuery_ptsz = twin_query;
    real.cuStreamIsCapturing_ptsz = twin_capturing;
    real.cuMemPoolDestroy = fake_destroy;
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    CHECK(sl_gpu_find(0) == (int)GPU);
}

static const sl_region_account_t *account(void) {
    return sl_region_account(&sl_tenant.region, sl_tenant.slot, GPU);
}

static int allocate(uint64_t bytes) {
    CUdeviceptr address;
    return hook_cuMemAllocAsync(&address, bytes, STREAM);
}

static void check_charge(void) {
    CHECK(account()->charged_bytes == reserved, "%llu of %llu", (unsigned long long)account()->charged_bytes,
          (unsigned long long)reserved);
    CHECK(account()->pool_bytes == reserved);
    CHECK(account()->in_flight_bytes == 0);
}

static void empty(void) {
    used = reserved = pieces = 0;
    sl_pool_refresh(GPU);
    check_charge();
    most = 0;
    frees = trims = 0;
}

static void set_limit(uint64_t bytes) {
    int file = open(sl_tenant.region.path, O_RDWR);
    CHECK(pwrite(file, &bytes, sizeof bytes, SL_REGION_LIMITS_OFFSET + (off_t)offsetof(sl_region_limits_t, memory_bytes)) == sizeof bytes);
    close(file);
}

static void should_charge_what_the_pool_reserved(void) {
    CHECK(allocate(1000) == CUDA_SUCCESS);
    CHECK(reserved == STEP);
    check_charge();
    CHECK(allocate(100 * MIB) == CUDA_SUCCESS);
    check_charge();
    hook_cuMemFreeAsync(1000, STREAM);
    hook_cuMemFreeAsync(100 * MIB, STREAM);
    check_charge();
    empty();
}

static void should_refuse_growth_beyond_the_quota(void) {
    uint64_t refusals = sl_tenant.region.gpus[GPU].refused_calls;
    for (uint64_t i = 0; i < LIMIT / (64 * MIB); i++)
        CHECK(allocate(64 * MIB) == CUDA_SUCCESS);
    CHECK(allocate(1) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(most == LIMIT);
    CHECK(sl_tenant.region.gpus[GPU].refused_calls == refusals + 1);
    check_charge();
    empty();
}

static void should_use_the_last_step_of_the_quota(void) {
    CHECK(allocate(LIMIT - 52 * MIB) == CUDA_SUCCESS);
    CHECK(allocate(52 * MIB) == CUDA_SUCCESS);
    CHECK(reserved == LIMIT);
    check_charge();
    empty();
}

static void should_serve_from_what_the_pool_has_at_the_quota(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT, STREAM);
    for (int i = 0; i < 10; i++) {
        CHECK(allocate(LIMIT) == CUDA_SUCCESS);
        hook_cuMemFreeAsync(LIMIT, STREAM);
    }
    check_charge();
    empty();
}

static void should_undo_a_trial_that_made_the_pool_grow(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT / 2, STREAM);
    pieces = LIMIT;
    frees = 0;
    CHECK(allocate(20 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(frees > 0 && most == LIMIT + STEP, "%d frees, most %llu", frees, (unsigned long long)most);
    CHECK(used == LIMIT / 2);
    CHECK(reserved <= LIMIT);
    check_charge();
    empty();
}

/* The pool must grow by a step. There is room for that only after the reclaimers, and never for the whole request beside the pool. */
static void should_try_again_after_the_reclaimers(void) {
    CHECK(allocate(100 * MIB) == CUDA_SUCCESS && reserved == 128 * MIB);
    sl_ledger_charge(GPU, SL_USE_LINEAR, LIMIT - 128 * MIB - 24 * MIB);
    trims_until_refund = 2; /* the first is the request's own */
    CHECK(allocate(50 * MIB) == CUDA_SUCCESS);
    CHECK(reserved == 160 * MIB && account()->charged_bytes == LIMIT - 8 * MIB, "%llu", (unsigned long long)account()->charged_bytes);
    sl_ledger_refund(GPU, SL_USE_LINEAR, LIMIT - 128 * MIB - 40 * MIB);
    empty();
}

/* The request fits into a hole between two partly used steps. Anywhere else it would need two more steps. */
static void should_use_a_hole_across_two_steps(void) {
    set_limit(4 * LIMIT);
    CHECK(allocate(4 * LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(40 * MIB, STREAM);
    CHECK(allocate(40 * MIB) == CUDA_SUCCESS && reserved == 4 * LIMIT);
    check_charge();
    set_limit(LIMIT);
    empty();
}

/* A quota of 16 GiB may be passed by 1 % for a moment. */
static void should_not_let_trials_pass_a_large_quota_by_more_than_a_part(void) {
    set_limit(16 * LIMIT);
    CHECK(allocate(16 * LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT / 2, STREAM);
    pieces = 16 * LIMIT;
    frees = 0;
    CHECK(allocate(192 * MIB) == CUDA_ERROR_OUT_OF_MEMORY && frees == 0 && most == 16 * LIMIT);
    CHECK(allocate(160 * MIB) == CUDA_ERROR_OUT_OF_MEMORY && frees > 0 && most == 16 * LIMIT + 160 * MIB);
    set_limit(LIMIT);
    empty();
}

static void should_not_try_what_could_pass_the_slack(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT / 2, STREAM);
    pieces = LIMIT;
    frees = 0;
    CHECK(allocate(LIMIT / 4) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(frees == 0 && most == LIMIT);
    empty();
}

/* The stream has not reached the free of a trial, so the pool keeps the memory until a later refresh. */
static void should_give_back_a_trial_when_its_stream_has_come_there(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT / 2, STREAM);
    pieces = LIMIT;
    is_stuck = true;
    CHECK(allocate(20 * MIB) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(reserved == LIMIT + STEP);
    check_charge();
    CHECK(allocate(20 * MIB) == CUDA_ERROR_OUT_OF_MEMORY && reserved == LIMIT + STEP && most == LIMIT + STEP);
    is_stuck = false;
    sl_pool_refresh_all();
    CHECK(reserved <= LIMIT);
    check_charge();
    empty();
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_of_refusal(void) {
    double start = seconds();
    CHECK(allocate(LIMIT / 2) == CUDA_ERROR_OUT_OF_MEMORY);
    return seconds() - start;
}

static void should_wait_for_what_a_busy_stream_frees(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT, STREAM);
    is_stuck = is_busy = pieces = 1;
    busy_queries = 5;
    CHECK(allocate(LIMIT / 2) == CUDA_SUCCESS);
    CHECK(most == LIMIT && busy_queries == 0);
    check_charge();
    empty();
}

/* A wait lasts a second at most. After waits in vain it is shorter, so that a program that is refused often goes on. */
static void should_not_wait_for_ever(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT, STREAM);
    is_stuck = is_busy = pieces = 1;
    double first = seconds_of_refusal(), least = first;
    CHECK(first > 0.9 && first < 10, "%.3f s", first); /* 10: this machine may be slow */
    for (int i = 0; i < 20; i++) {
        double again = seconds_of_refusal();
        least = again < least ? again : least;
    }
    CHECK(least < 0.5, "%.3f s", least);
    is_stuck = is_busy = false;
    CHECK(allocate(LIMIT / 2) == CUDA_SUCCESS);
    empty();
}

static void should_not_wait_while_a_stream_captures(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT, STREAM);
    is_stuck = is_busy = pieces = 1;
    atomic_fetch_add(&sl_stream_open_captures, 1);
    queries = 0;
    CHECK(allocate(LIMIT / 2) == CUDA_ERROR_OUT_OF_MEMORY && queries == 0);
    atomic_fetch_sub(&sl_stream_open_captures, 1);
    is_stuck = is_busy = false;
    empty();
}

static void should_use_the_functions_of_the_same_default_stream(void) {
    CUdeviceptr address;
    CHECK(hook_cuMemAllocAsync_ptsz(&address, LIMIT, NULL) == CUDA_SUCCESS);
    CHECK(hook_cuMemFreeAsync_ptsz(LIMIT / 2, NULL) == CUDA_SUCCESS);
    pieces = LIMIT;
    twin_frees = twin_queries = frees = queries = 0;
    CHECK(hook_cuMemAllocAsync_ptsz(&address, 20 * MIB, NULL) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(twin_frees > 0 && frees == 0 && twin_queries > 0 && queries == 0, "%d %d %d %d", twin_frees, frees, twin_queries, queries);
    empty();
}

static void should_see_what_the_pool_gave_back_before_it_refuses(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    used = reserved = 0;
    uint64_t sum = sl_ledger_reserve(GPU, LIMIT);
    CHECK(sum == LIMIT);
    sl_ledger_cancel(GPU, LIMIT);
    empty();
}

static void should_let_the_pool_give_back_before_it_refuses(void) {
    CHECK(allocate(LIMIT) == CUDA_SUCCESS);
    hook_cuMemFreeAsync(LIMIT, STREAM);
    CHECK(sl_ledger_reserve(GPU, LIMIT) == LIMIT);
    CHECK(trims == 1);
    sl_ledger_cancel(GPU, LIMIT);
    empty();
}

static void should_ask_the_driver_only_what_may_have_changed(void) {
    CHECK(allocate(MIB) == CUDA_SUCCESS && allocate(MIB) == CUDA_SUCCESS);
    questions = 0;
    CHECK(allocate(MIB) == CUDA_SUCCESS && questions == 0);
    CHECK(hook_cuDeviceSetMemPool(0, POOL) == CUDA_SUCCESS);
    CHECK(allocate(MIB) == CUDA_SUCCESS && allocate(MIB) == CUDA_SUCCESS && questions == 1);
    CHECK(hook_cuMemPoolDestroy(POOL) == CUDA_SUCCESS);
    empty();
    questions = 0;
    CHECK(allocate(MIB) == CUDA_SUCCESS && questions == 1);
    empty();
}

static void should_leave_captures_alone(void) {
    CHECK(hook_cuStreamBeginCapture(STREAM) == CUDA_SUCCESS);
    CHECK(allocate(10 * LIMIT) == CUDA_SUCCESS);
    capturing = 0;
    CHECK(reserved == 0);
    check_charge();
}

static CUresult refuse_capture(CUstream stream) {
    (void)stream;
    return 901;
}

/* No thread may wait for room while a stream captures. So a capture that failed to begin must not count. */
static void should_know_that_a_capture_did_not_begin(void) {
    real.cuStreamBeginCapture = refuse_capture;
    CHECK(hook_cuStreamBeginCapture(STREAM) == 901);
    CHECK(atomic_load(&sl_stream_open_captures) == 0, "nothing captures");
    real.cuStreamBeginCapture = fake_capture;
}

/* A thread captures in its own default stream; others allocate. */
static void should_ask_the_same_default_stream_whether_it_captures(void) {
    CUdeviceptr address;
    atomic_fetch_add(&sl_stream_open_captures, 1);
    own_captures = 1;
    CHECK(hook_cuMemAllocAsync_ptsz(&address, 2 * LIMIT, NULL) == CUDA_SUCCESS, "it is only a node of a graph");
    CHECK(allocate(2 * LIMIT) == CUDA_ERROR_OUT_OF_MEMORY && allocate(STEP) == CUDA_SUCCESS);
    check_charge();
    own_captures = 0;
    CHECK(hook_cuMemAllocAsync_ptsz(&address, 2 * LIMIT, NULL) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(hook_cuMemAllocAsync_ptsz(&address, STEP, NULL) == CUDA_SUCCESS && reserved == 2 * STEP);
    check_charge();
    atomic_fetch_sub(&sl_stream_open_captures, 1);
    empty();
}

static void should_forward_sizes_that_overflow(void) {
    CHECK(allocate(UINT64_MAX) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(most == 0);
    check_charge();
}

static void should_refund_when_the_context_is_gone(void) {
    CHECK(allocate(100 * MIB) == CUDA_SUCCESS);
    used = reserved = 0;
    sl_pool_end(GPU);
    check_charge();
    CHECK(allocate(100 * MIB) == CUDA_SUCCESS);
    check_charge();
    empty();
}

static void *trade(void *seed_of) {
    unsigned seed = *(unsigned *)seed_of;
    uint64_t held = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bytes = (1 + (unsigned)rand_r(&seed) % 400) * MIB;
        if (held) {
            hook_cuMemFreeAsync(held, STREAM);
            held = 0;
        } else if (allocate(bytes) == CUDA_SUCCESS) {
            held = bytes;
            admitted++;
        } else {
            refused++;
        }
        if (round % 64 == 0)
            fake_trim(POOL, 0); /* as the driver does at a synchronization, unseen */
        if (round % 16 == 0)
            sl_pool_refresh(GPU);
    }
    if (held)
        hook_cuMemFreeAsync(held, STREAM);
    return NULL;
}

static void should_stay_exact_with_many_threads(void) {
    crowded = true;
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        CHECK(pthread_create(&threads[i], NULL, trade, &seeds[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    crowded = false;
    CHECK(used == 0);
    CHECK(admitted > ROUNDS, "%d admitted, %d refused", admitted, refused);
    CHECK(most <= LIMIT + STEP, "%llu", (unsigned long long)most);
    sl_pool_refresh(GPU);
    check_charge();
    empty();
}

/* The driver may have a point of cancellation while the pool is locked. */
static CUresult slow_allocate(CUdeviceptr *address, size_t bytes, CUstream stream) {
    is_inside = true;
    usleep(100000);
    return fake_allocate(address, bytes, stream);
}

static void *allocate_slowly(void *unused) {
    (void)unused;
    allocate(20 * MIB);
    pthread_testcancel();
    return NULL;
}

static void should_not_leave_a_lock_with_a_cancelled_thread(void) {
    pthread_t thread;
    void *result;
    real.cuMemAllocAsync = slow_allocate;
    CHECK(pthread_create(&thread, NULL, allocate_slowly, NULL) == 0);
    while (!is_inside)
        usleep(1000);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    real.cuMemAllocAsync = fake_allocate;
    alarm(60);
    CHECK(allocate(20 * MIB) == CUDA_SUCCESS);
    alarm(0);
    check_charge();
    empty();
}

/* Pools that the program makes and destroys. Asking a destroyed pool would crash a real driver. */
#define MADE 4
#define USUAL ((CUmemoryPool)&usual_pool)

typedef struct {
    _Atomic uint64_t reserved, used;
    atomic_bool is_destroyed, is_pending; /* pending: no stream has come to what was freed */
    uint64_t threshold;
    int destroys;
} made_t;

static made_t made[MADE];
static made_t *next_made = made;
static CUdeviceptr usual_pool;
static CUmemoryPool current = USUAL;
static atomic_int asked_after;

static made_t *made_of(CUmemoryPool pool) {
    made_t *one = (made_t *)pool;
    asked_after += one->is_destroyed;
    return one;
}

static CUresult made_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    if (pool == POOL)
        return fake_attribute(pool, attribute, value);
    sched_yield();
    *(uint64_t *)value = attribute == RESERVED ? made_of(pool)->reserved : made_of(pool)->used;
    return CUDA_SUCCESS;
}

static CUresult made_set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    CHECK(attribute == THRESHOLD);
    made_of(pool)->threshold = *(uint64_t *)value;
    return CUDA_SUCCESS;
}

static CUresult made_create(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    (void)properties;
    *next_made = (made_t){.threshold = 1, .destroys = next_made->destroys};
    *pool = (CUmemoryPool)next_made;
    return CUDA_SUCCESS;
}

static CUresult made_destroy(CUmemoryPool pool) {
    if (pool == POOL || pool == USUAL)
        return CUDA_ERROR_INVALID_VALUE;
    made_t *one = made_of(pool);
    one->destroys++;
    one->is_destroyed = true;
    return CUDA_SUCCESS;
}

static CUresult made_trim(CUmemoryPool pool, size_t keep) {
    if (pool == POOL)
        return fake_trim(pool, keep);
    made_t *one = made_of(pool);
    if (!one->is_pending)
        one->reserved = (one->used + STEP - 1) / STEP * STEP;
    return CUDA_SUCCESS;
}

static CUresult made_allocate(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    CHECK(stream == STREAM);
    made_t *one = made_of(pool);
    *address = bytes;
    one->used += bytes;
    if (one->reserved < one->used)
        one->reserved = (one->used + STEP - 1) / STEP * STEP;
    return CUDA_SUCCESS;
}

static CUresult made_current(CUmemoryPool *pool, CUdevice device) {
    CHECK(device == 0);
    *pool = current;
    return CUDA_SUCCESS;
}

static CUresult made_default(CUmemoryPool *pool, CUdevice device) {
    CHECK(device == 0);
    *pool = USUAL;
    return CUDA_SUCCESS;
}

static CUresult made_choose(CUdevice device, CUmemoryPool pool) {
    CHECK(device == 0);
    current = pool;
    return CUDA_SUCCESS;
}

static void begin_made(void) {
    real.cuMemPoolGetAttribute = made_attribute;
    real.cuMemPoolSetAttribute = made_set_attribute;
    real.cuMemPoolCreate = made_create;
    real.cuMemPoolDestroy = made_destroy;
    real.cuMemPoolTrimTo = made_trim;
    real.cuMemAllocFromPoolAsync = made_allocate;
    real.cuDeviceGetMemPool = made_current;
    real.cuDeviceGetDefaultMemPool = made_default;
    real.cuDeviceSetMemPool = made_choose;
}

static CUmemoryPool make_pool(int number) {
    CUmemPoolProps properties = {.allocType = 1, .location = {1, 0}};
    CUmemoryPool pool;
    next_made = &made[number];
    CHECK(hook_cuMemPoolCreate(&pool, &properties) == CUDA_SUCCESS);
    return pool;
}

static CUresult take_from(CUmemoryPool pool, uint64_t bytes) {
    CUdeviceptr address;
    return hook_cuMemAllocFromPoolAsync(&address, bytes, pool, STREAM);
}

static uint64_t charged(void) {
    CHECK(account()->charged_bytes == account()->pool_bytes && account()->in_flight_bytes == 0);
    return account()->charged_bytes;
}

static void should_ask_a_destroyed_pool_until_it_is_empty(void) {
    CUmemoryPool pool = make_pool(0);
    CHECK(take_from(pool, 200 * MIB) == CUDA_SUCCESS && charged() == 224 * MIB);
    made[0].used = 100 * MIB;
    made[0].destroys = 0;
    CHECK(hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    CHECK(made[0].destroys == 0 && made[0].threshold == 0 && sl_closing_count == 1);
    CHECK(made[0].reserved == 128 * MIB && charged() == 128 * MIB, "%llu", (unsigned long long)charged());
    made[0].used = 40 * MIB;
    sl_pool_trim(GPU);
    CHECK(charged() == 64 * MIB && made[0].destroys == 0);
    made[0].reserved = 40 * MIB; /* given back at a synchronization */
    sl_pool_refresh_all();
    CHECK(charged() == 40 * MIB && made[0].destroys == 0);
    made[0].used = 0;
    made[0].is_pending = true;
    sl_pool_refresh_all();
    CHECK(charged() == 40 * MIB && made[0].destroys == 0);
    made[0].is_pending = false;
    sl_pool_refresh_all();
    CHECK(charged() == 0 && made[0].destroys == 1 && sl_closing_count == 0 && asked_after == 0);
}

static void should_destroy_an_empty_pool_at_once(void) {
    CUmemoryPool pool = make_pool(0);
    CHECK(take_from(pool, 100 * MIB) == CUDA_SUCCESS);
    made[0].used = 0;
    made[0].destroys = 0;
    CHECK(hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    CHECK(made[0].destroys == 1 && sl_closing_count == 0 && charged() == 0 && asked_after == 0);
}

static void should_answer_as_if_a_closing_pool_were_gone(void) {
    CUmemoryPool pool = make_pool(0);
    uint64_t much = UINT64_MAX;
    CHECK(take_from(pool, 100 * MIB) == CUDA_SUCCESS);
    CHECK(hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    CHECK(hook_cuMemPoolDestroy(pool) == CUDA_ERROR_INVALID_VALUE);
    CHECK(take_from(pool, MIB) == CUDA_ERROR_INVALID_VALUE && made[0].used == 100 * MIB);
    CHECK(hook_cuMemPoolSetAttribute(pool, THRESHOLD, &much) == CUDA_ERROR_INVALID_VALUE && made[0].threshold == 0);
    CHECK(hook_cuMemPoolTrimTo(pool, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(hook_cuDeviceSetMemPool(0, pool) == CUDA_ERROR_INVALID_VALUE && current == USUAL);
    made[0].used = 0;
    sl_pool_refresh_all();
    CHECK(charged() == 0 && made[0].is_destroyed && asked_after == 0);
}

static void should_make_the_default_pool_current_again(void) {
    CUmemoryPool pool = make_pool(0), other = make_pool(1);
    CHECK(take_from(pool, 100 * MIB) == CUDA_SUCCESS && take_from(other, 100 * MIB) == CUDA_SUCCESS);
    CHECK(hook_cuDeviceSetMemPool(0, pool) == CUDA_SUCCESS && current == pool);
    CHECK(hook_cuMemPoolDestroy(other) == CUDA_SUCCESS && current == pool);
    CHECK(hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS && current == USUAL && sl_pool_current(0) == NULL);
    made[0].used = made[1].used = 0;
    sl_pool_refresh_all();
    CHECK(charged() == 0 && sl_closing_count == 0);
}

static void should_forget_a_closing_pool_with_its_context(void) {
    CUmemoryPool pool = make_pool(0);
    CHECK(take_from(pool, 100 * MIB) == CUDA_SUCCESS && hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    made[0].is_destroyed = true;
    sl_pool_end(GPU);
    CHECK(charged() == 0 && sl_closing_count == 0);
    sl_pool_refresh_all();
    CHECK(asked_after == 0);
}

/* A context went with its pool, and the driver gives the handle to a new one. */
static void should_charge_a_new_pool_with_the_handle_of_an_old_one(void) {
    CUmemoryPool pool = make_pool(0);
    CHECK(take_from(pool, 100 * MIB) == CUDA_SUCCESS && charged() == 128 * MIB);
    sl_pool_end(GPU);
    CHECK(charged() == 0);
    CHECK(make_pool(0) == pool);
    made[0].used = 1;
    made[0].reserved = STEP;
    sl_pool_refresh(GPU);
    CHECK(charged() == STEP, "%llu MiB", (unsigned long long)(charged() / MIB));
    made[0].used = 0;
    CHECK(hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS && charged() == 0);
}

static void should_hold_what_a_closing_pool_has_against_the_quota(void) {
    CUmemoryPool pool = make_pool(0), other = make_pool(1);
    CHECK(take_from(pool, LIMIT / 2) == CUDA_SUCCESS && hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    CHECK(take_from(other, LIMIT / 2 + STEP) == CUDA_ERROR_OUT_OF_MEMORY);
    made[0].used = 0;
    CHECK(take_from(other, LIMIT / 2 + STEP) == CUDA_SUCCESS && made[0].is_destroyed);
    made[1].used = 0;
    CHECK(hook_cuMemPoolDestroy(other) == CUDA_SUCCESS && charged() == 0);
}

/* More than the library keeps: the driver destroys the rest at once, and new pools still find a place. */
static void should_not_run_out_of_places_for_pools(void) {
    static made_t many[SL_CLOSING_MOST + 100];
    CUmemPoolProps properties = {.allocType = 1, .location = {1, 0}};
    int count = (int)(sizeof many / sizeof *many), destroyed = 0;
    for (int i = 0; i < count; i++) {
        CUmemoryPool pool;
        next_made = &many[i];
        CHECK(hook_cuMemPoolCreate(&pool, &properties) == CUDA_SUCCESS);
        many[i].used = 1; /* of no size, so that the quota does not end it */
        CHECK(sl_pool_find(pool) && hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS);
        many[i].reserved = 0;
        destroyed += many[i].is_destroyed;
    }
    CHECK(sl_closing_count == SL_CLOSING_MOST && destroyed == 100, "%d, %d", sl_closing_count, destroyed);
    for (int i = 0; i < count; i++)
        many[i].used = 0;
    sl_pool_refresh_all();
    CHECK(sl_closing_count == 0 && charged() == 0 && asked_after == 0);
    should_destroy_an_empty_pool_at_once();
}

static void *make_and_destroy(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS / 8; i++) {
        CUmemoryPool pool = make_pool(i % MADE);
        made[i % MADE].used = i % 2;
        made[i % MADE].reserved = STEP;
        sl_pool_refresh(GPU);
        CHECK(hook_cuMemPoolDestroy(pool) == CUDA_SUCCESS);
        made[i % MADE].used = 0;
        while (!made[i % MADE].is_destroyed)
            sl_pool_refresh(GPU);
    }
    return NULL;
}

static void should_never_ask_a_pool_that_is_destroyed(void) {
    pthread_t threads[3];
    unsigned seeds[2] = {1, 2};
    current = POOL; /* what trade() takes from */
    CHECK(pthread_create(&threads[0], NULL, make_and_destroy, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i + 1], NULL, trade, &seeds[i]) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(asked_after == 0, "%d times", asked_after);
    CHECK(used == 0);
    sl_pool_refresh(GPU);
    check_charge();
    empty();
}

static void allocate_in_child(void) {
    pool_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* of the fake driver */
    used = reserved = 0;
    alarm(20);
    CHECK(allocate(100 * MIB) == CUDA_SUCCESS);
    CHECK(account()->pool_bytes == reserved && reserved == 128 * MIB);
}

static void should_work_after_a_fork_in_the_middle(void) {
    pthread_t threads[2];
    unsigned seeds[2] = {1, 2};
    crowded = true;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, trade, &seeds[i]) == 0);
    for (int i = 0; i < 20; i++) {
        int status = in_child(allocate_in_child);
        CHECK(status == 0, "%d", status);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    crowded = false;
    sl_pool_refresh(GPU);
    check_charge();
    empty();
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_MEMORY", "1g", 1);
    setenv("SLUICE_TENANT", "pools", 1);
    setenv("SLUICE_LOG", "error", 1);
    begin();
    RUN(should_wait_for_what_a_busy_stream_frees);
    RUN(should_not_wait_for_ever); /* before others, because waits in vain make later ones shorter */
    RUN(should_charge_what_the_pool_reserved);
    RUN(should_refuse_growth_beyond_the_quota);
    RUN(should_use_the_last_step_of_the_quota);
    RUN(should_serve_from_what_the_pool_has_at_the_quota);
    RUN(should_undo_a_trial_that_made_the_pool_grow);
    RUN(should_try_again_after_the_reclaimers);
    RUN(should_use_a_hole_across_two_steps);
    RUN(should_not_let_trials_pass_a_large_quota_by_more_than_a_part);
    RUN(should_not_try_what_could_pass_the_slack);
    RUN(should_give_back_a_trial_when_its_stream_has_come_there);
    RUN(should_not_wait_while_a_stream_captures);
    RUN(should_use_the_functions_of_the_same_default_stream);
    RUN(should_see_what_the_pool_gave_back_before_it_refuses);
    RUN(should_let_the_pool_give_back_before_it_refuses);
    RUN(should_ask_the_driver_only_what_may_have_changed);
    RUN(should_know_that_a_capture_did_not_begin);
    RUN(should_leave_captures_alone);
    RUN(should_ask_the_same_default_stream_whether_it_captures);
    RUN(should_forward_sizes_that_overflow);
    RUN(should_refund_when_the_context_is_gone);
    RUN(should_stay_exact_with_many_threads);
    RUN(should_work_after_a_fork_in_the_middle);
    RUN(should_not_leave_a_lock_with_a_cancelled_thread);
    begin_made();
    RUN(should_ask_a_destroyed_pool_until_it_is_empty);
    RUN(should_destroy_an_empty_pool_at_once);
    RUN(should_answer_as_if_a_closing_pool_were_gone);
    RUN(should_make_the_default_pool_current_again);
    RUN(should_forget_a_closing_pool_with_its_context);
    RUN(should_charge_a_new_pool_with_the_handle_of_an_old_one);
    RUN(should_hold_what_a_closing_pool_has_against_the_quota);
    RUN(should_not_run_out_of_places_for_pools);
    RUN(should_never_ask_a_pool_that_is_destroyed);
    return 0;
}
