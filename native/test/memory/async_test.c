/* An allocation in the order of a stream counts on the GPU of that stream, which is not always the current one. The driver has two GPUs
 * with a pool each. The default stream of a context is on the first, that of the thread on the second; both have the number 0. */
#include "fakes/fake_gpus.h"

#include "hooks.h"
#include "memory/pool.h"
#include "tenant/gpu.h"

#define STEP (32 * MIB)
#define OWN ((CUstream)2)
#define FAR ((CUstream)0x2000) /* of the second GPU */

static uint64_t reserved[2];
static CUmemoryPool const pools[2] = {(CUmemoryPool)&reserved[0], (CUmemoryPool)&reserved[1]};
static CUdevice pushed = -1;
static unsigned questions;

static CUdevice device_of(CUstream stream) {
    return stream == OWN || stream == FAR;
}

static CUresult fake_count(int *count) {
    *count = 2;
    return 0;
}

static CUresult fake_device(CUstream stream, CUdevice *device) {
    questions++;
    *device = device_of(stream);
    return 0;
}

static CUresult twin_device(CUstream stream, CUdevice *device) {
    return fake_device(stream ? stream : OWN, device);
}

static CUresult fake_context(CUstream stream, CUcontext *context) {
    questions++;
    *context = (CUcontext)(uintptr_t)(0x1000 * (device_of(stream) + 1));
    return 0;
}

static CUresult twin_context(CUstream stream, CUcontext *context) {
    return fake_context(stream ? stream : OWN, context);
}

static CUresult fake_push(CUcontext context) {
    pushed = current_device;
    current_device = (CUdevice)((uintptr_t)context / 0x1000) - 1;
    return 0;
}

static CUresult fake_pop(CUcontext *context) {
    (void)context;
    current_device = pushed;
    return 0;
}

static CUresult fake_pool(CUmemoryPool *pool, CUdevice device) {
    *pool = pools[device];
    return 0;
}

static CUresult fake_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    (void)attribute;
    *(uint64_t *)value = reserved[pool == pools[1]];
    return 0;
}

static CUresult fake_allocate_from(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    (void)stream;
    *address = 0x700000000000;
    reserved[pool == pools[1]] += (bytes + STEP - 1) / STEP * STEP;
    return 0;
}

static CUresult fake_allocate(CUdeviceptr *address, size_t bytes, CUstream stream) {
    return fake_allocate_from(address, bytes, pools[device_of(stream)], stream);
}

static CUresult twin_allocate(CUdeviceptr *address, size_t bytes, CUstream stream) {
    return fake_allocate(address, bytes, stream ? stream : OWN);
}

static void check_charged(uint64_t first, uint64_t second) {
    for (int i = 0; i < 2; i++) {
        const sl_region_account_t *mine = account((unsigned)sl_gpu_find(i));
        CHECK(mine->pool_bytes == reserved[i] && mine->charged_bytes == (i ? second : first), "GPU %d: %llu MiB", i,
              (unsigned long long)(mine->charged_bytes / MIB));
    }
}

static void empty(void) {
    reserved[0] = reserved[1] = 0;
    sl_pool_refresh_all();
    check_charged(0, 0);
}

static void charge_each_stream(void) {
    CUdeviceptr address;
    CHECK(hook_cuMemAllocAsync(&address, STEP, NULL) == 0);
    check_charged(STEP, 0);
    CHECK(hook_cuMemAllocAsync_ptsz(&address, STEP, NULL) == 0);
    check_charged(STEP, STEP);
    CHECK(hook_cuMemAllocAsync(&address, STEP, FAR) == 0 && hook_cuMemAllocAsync(&address, STEP, OWN) == 0);
    check_charged(STEP, 3 * STEP);
    CHECK(questions > 0 && current_device == 0, "another context is current");
    empty();
}

static void should_charge_the_gpu_of_the_stream(void) {
    charge_each_stream();
}

/* Before CUDA 12.8 a driver tells the context of a stream, not its device. */
static void should_find_the_gpu_by_the_context_of_the_stream(void) {
    real.cuStreamGetDevice = real.cuStreamGetDevice_ptsz = NULL;
    questions = 0;
    charge_each_stream();
    real.cuStreamGetDevice = fake_device;
    real.cuStreamGetDevice_ptsz = twin_device;
}

/* The pool lies on a GPU of its own, whatever the stream. */
static void should_charge_the_gpu_of_the_pool(void) {
    CUdeviceptr address;
    sl_pool_forget();
    CHECK(hook_cuMemAllocFromPoolAsync(&address, STEP, pools[1], NULL) == 0);
    check_charged(0, STEP);
    CHECK(hook_cuMemAllocFromPoolAsync(&address, STEP, pools[0], FAR) == 0);
    check_charged(STEP, STEP);
    empty();
}

static void should_refuse_by_the_quota_of_the_gpu(void) {
    CUdeviceptr address;
    CHECK(hook_cuMemAllocAsync(&address, 1024 * MIB, NULL) == 0);
    CHECK(hook_cuMemAllocAsync(&address, STEP, NULL) == CUDA_ERROR_OUT_OF_MEMORY && hook_cuMemAllocAsync(&address, STEP, FAR) == 0);
    check_charged(1024 * MIB, STEP);
    empty();
}

int main(void) {
    real.cuDeviceGetCount = fake_count;
    use_fake_gpus("async", "1g");
    setenv("SLUICE_LOG", "error", 1);
    real.cuStreamGetDevice = fake_device;
    real.cuStreamGetDevice_ptsz = twin_device;
    real.cuStreamGetCtx = fake_context;
    real.cuStreamGetCtx_ptsz = twin_context;
    real.cuCtxPushCurrent_v2 = fake_push;
    real.cuCtxPopCurrent_v2 = fake_pop;
    real.cuDeviceGetMemPool = real.cuDeviceGetDefaultMemPool = fake_pool;
    real.cuMemPoolGetAttribute = fake_attribute;
    real.cuMemAllocAsync = fake_allocate;
    real.cuMemAllocAsync_ptsz = twin_allocate;
    real.cuMemAllocFromPoolAsync = fake_allocate_from;
    RUN(should_charge_the_gpu_of_the_stream);
    RUN(should_find_the_gpu_by_the_context_of_the_stream);
    RUN(should_charge_the_gpu_of_the_pool);
    RUN(should_refuse_by_the_quota_of_the_gpu);
    return 0;
}
