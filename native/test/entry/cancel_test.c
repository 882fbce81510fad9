/* A thread that is cancelled in one of our calls, at once or deferred, leaves no lock held: others can still call. */
#include "fakes/fake_gpus.h"

#include <pthread.h>
#include <signal.h>

#include "hooks.h"
#include "os/os.h"
#include "tenant/gpu.h"
#include "tenant/slots.h"

#define BOUND_SECONDS 20
#define ROUNDS 1500

static _Atomic uint64_t next_address = 1ull << 40;
static int cancel_type;

static CUresult fake_alloc(CUdeviceptr *address, size_t bytes) {
    return (void)bytes, *address = atomic_fetch_add(&next_address, 64 * MIB), 0;
}
static CUresult fake_free(CUdeviceptr address) { return (void)address, 0; }
static CUresult fake_array(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape) {
    return (void)shape, fake_alloc((CUdeviceptr *)array, 4 * MIB);
}
static CUresult fake_destroy(CUarray array) { return (void)array, 0; }

static void call_all(void) {
    CUdeviceptr small = 0, large = 0;
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR shape = {64, 64, 0, 0x20, 1, 0};
    if (hook_cuMemAlloc_v2(&small, 1000) == 0)
        hook_cuMemFree_v2(small);
    if (hook_cuMemAlloc_v2(&large, 8 * MIB) == 0)
        hook_cuMemFree_v2(large);
    if (hook_cuArray3DCreate_v2(&array, &shape) == 0)
        hook_cuArrayDestroy(array);
    sl_slots_reap(&sl_tenant.region, &sl_tenant.self);
}

static CUmemoryPool const only_pool = (CUmemoryPool)0x5000;
static CUresult fake_device(CUstream stream, CUdevice *device) { return (void)stream, *device = 0, 0; }
static CUresult fake_pool(CUmemoryPool *pool, CUdevice device) { return (void)device, *pool = only_pool, 0; }
static CUresult fake_figure(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    return (void)pool, (void)attribute, *(uint64_t *)value = 32 * MIB, 0;
}
/* The driver has cancellation points. */
static CUresult fake_async(CUdeviceptr *address, size_t bytes, CUstream stream) {
    (void)stream;
    pthread_testcancel();
    return fake_alloc(address, bytes);
}

static void *take_from_the_pool_when_cancelled(void *returned) {
    CUdeviceptr address;
    pthread_cancel(pthread_self());
    CHECK(hook_cuMemAllocAsync(&address, 1000, NULL) == 0);
    *(bool *)returned = true;
    pthread_testcancel();
    return NULL;
}

/* The pool is locked while the driver is asked. */
static void be_cancelled_in_the_driver(void) {
    pthread_t thread;
    bool returned = false;
    void *result;
    CUdeviceptr address;
    CHECK(pthread_create(&thread, NULL, take_from_the_pool_when_cancelled, &returned) == 0 && pthread_join(thread, &result) == 0);
    CHECK(returned, "the thread was cancelled with the pool locked");
    CHECK(result == PTHREAD_CANCELED, "the thread cannot be cancelled any more");
    alarm(BOUND_SECONDS);
    CHECK(hook_cuMemAllocAsync(&address, 1000, NULL) == 0);
}

static void *attach_when_cancelled(void *unused) {
    pthread_cancel(pthread_self());
    sl_tenant_attach();
    CHECK(!unused);
    return (void *)1;
}

/* A deferred cancellation acts at the first cancellation point; our code has none. */
static void should_take_part_although_the_thread_is_cancelled(void) {
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, attach_when_cancelled, NULL) == 0 && pthread_join(thread, &result) == 0);
    alarm(BOUND_SECONDS);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    alarm(0);
    CHECK(result == (void *)1, "the call was cut short");
}

static void *call_for_ever(void *unused) {
    CHECK(pthread_setcanceltype(cancel_type, NULL) == 0);
    for (;; pthread_testcancel())
        call_all();
    return unused;
}

static void cancel_many(void) {
    alarm(BOUND_SECONDS * 3);
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            CHECK(pthread_create(&threads[i], NULL, call_for_ever, NULL) == 0);
        for (unsigned spin = 0; spin < round * 7919 % 20000; spin++)
            __asm__ volatile("");
        for (int i = 0; i < 2; i++)
            pthread_cancel(threads[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        alarm(BOUND_SECONDS);
        call_all();
    }
    alarm(0);
}

static void be_cancelled_at_points(void) {
    cancel_type = PTHREAD_CANCEL_DEFERRED;
    cancel_many();
    const sl_region_account_t *mine = account(0);
    CHECK(mine->charged_bytes == 0 && mine->in_flight_bytes == 0, "%llu bytes are lost", (unsigned long long)mine->charged_bytes);
}

static void be_cancelled_anywhere(void) {
    cancel_type = PTHREAD_CANCEL_ASYNCHRONOUS;
    cancel_many();
}

static void should_leave_no_lock_held(void) {
    real.cuMemAlloc_v2 = fake_alloc, real.cuMemFree_v2 = fake_free;
    real.cuArray3DCreate_v2 = fake_array, real.cuArrayDestroy = fake_destroy;
    real.cuDeviceGetUuid_v2 = fake_uuid, real.cuCtxGetDevice = fake_current_device;
    real.cuCtxGetCurrent = fake_current_context, real.cuDeviceTotalMem_v2 = fake_total;
    real.cuStreamGetDevice = fake_device, real.cuDeviceGetMemPool = fake_pool;
    real.cuMemPoolGetAttribute = fake_figure, real.cuMemAllocAsync = fake_async;
    int points = in_child(be_cancelled_at_points), anywhere = in_child(be_cancelled_anywhere);
    int driver = in_child(be_cancelled_in_the_driver);
    CHECK(points == 0, "deferred: %s %d", points == 128 + SIGALRM ? "a lock stayed held" : "status", points);
    CHECK(anywhere == 0, "asynchronous: %s %d", anywhere == 128 + SIGALRM ? "a lock stayed held" : "status", anywhere);
    CHECK(driver == 0, "in the driver: %s %d", driver == 128 + SIGALRM ? "the pool stayed locked" : "status", driver);
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_TENANT", "cancelled", 1);
    setenv("SLUICE_MEMORY", "1g", 1);
    RUN(should_leave_no_lock_held);
    RUN(should_take_part_although_the_thread_is_cancelled);
    return 0;
}
