/* The child of a fork has none of its parent's GPU memory. It is charged for all that it takes, refunds nothing of the parent's, and counts
 * beside the parent. The driver gives both processes the same addresses. */
#include "fakes/fake_gpus.h"

#include "hooks.h"
#include "tenant/gpu.h"
#include "tenant/accounts.h"

#define ADDRESS 0x700000000000ull
#define SMALL 4096u
#define FLOAT 0x20

static uint64_t next_address;
static unsigned loaded;

static CUresult fake_allocate(CUdeviceptr *address, size_t bytes) {
    *address = next_address;
    next_address += bytes < 2 * MIB ? SMALL : (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    return 0;
}
static CUresult fake_free(CUdeviceptr address) { return (void)address, 0; }
static CUresult fake_free_async(CUdeviceptr address, CUstream stream) { return (void)address, (void)stream, 0; }
static CUresult fake_wait(CUstream stream) { return (void)stream, 0; }
static CUresult fake_array(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *shape) {
    (void)shape;
    *array = (CUarray)(0x555500000000 + 16 * (uintptr_t)++loaded);
    return 0;
}
static CUresult fake_destroy(CUarray array) { return (void)array, 0; }
static CUresult fake_context_destroy(CUcontext context) { return (void)context, 0; }

static CUdeviceptr allocate(uint64_t bytes) {
    CUdeviceptr address = 0;
    CHECK(hook_cuMemAlloc_v2(&address, bytes) == 0);
    return address;
}

static CUarray make_array(void) {
    CUarray array = NULL;
    CHECK(hook_cuArrayCreate_v2(&array, &(CUDA_ARRAY_DESCRIPTOR){16, 16, FLOAT, 1}) == 0);
    return array;
}

static unsigned gpu(void) {
    int found = sl_gpu_find(0);
    CHECK(found >= 0);
    return (unsigned)found;
}

#define EXPECT(bytes) CHECK(account(gpu())->charged_bytes == (bytes), "%lld", (long long)account(gpu())->charged_bytes)

/* A process of its own, which attaches with its first call. */
static void in_fork(void (*body)(void)) {
    int status = in_child(body);
    CHECK(status == 0, "%d", status);
}

static CUdeviceptr of_parent;
static CUarray array_of_parent;

static void takes_small_memory(void) {
    next_address = ADDRESS + 64 * SMALL; /* in the block that the parent has paid for */
    CUdeviceptr own = allocate(100);
    EXPECT(2 * MIB);
    CHECK(hook_cuMemFree_v2(of_parent) == 0 && account(gpu())->charged_bytes == 2 * MIB, "it freed what the parent has");
    CHECK(hook_cuMemFree_v2(own) == 0);
    EXPECT(0);
}

static void should_pay_for_its_own_blocks(void) {
    next_address = ADDRESS;
    of_parent = allocate(100);
    EXPECT(2 * MIB);
    in_fork(takes_small_memory);
    CHECK(hook_cuMemFree_v2(of_parent) == 0);
    EXPECT(0);
}

static void takes_a_small_array(void) {
    CUarray own = make_array();
    EXPECT(2 * MIB);
    CHECK(hook_cuArrayDestroy(array_of_parent) == 0);
    EXPECT(2 * MIB);
    CHECK(hook_cuArrayDestroy(own) == 0);
    EXPECT(0);
}

static void should_pay_for_its_own_blocks_of_arrays(void) {
    array_of_parent = make_array();
    in_fork(takes_a_small_array);
    CHECK(hook_cuArrayDestroy(array_of_parent) == 0);
    EXPECT(0);
}

static void waits(void) {
    next_address = ADDRESS;
    CUdeviceptr own = allocate(4 * MIB);
    CHECK(hook_cuStreamSynchronize(NULL) == 0);
    EXPECT(4 * MIB);
    CHECK(hook_cuCtxDestroy_v2(current_context) == 0);
    EXPECT(0);
    (void)own;
}

static void should_not_refund_what_its_parent_freed(void) {
    next_address = ADDRESS;
    of_parent = allocate(64 * MIB);
    CHECK(hook_cuMemFreeAsync(of_parent, NULL) == 0);
    EXPECT(64 * MIB);
    in_fork(waits);
    EXPECT(64 * MIB);
    CHECK(hook_cuStreamSynchronize(NULL) == 0);
    EXPECT(0);
}

static int told[2], asked[2];

static void holds(void) {
    char c = 0;
    next_address = ADDRESS;
    allocate(600 * MIB);
    EXPECT(600 * MIB);
    CHECK(write(told[1], &c, 1) == 1 && read(asked[0], &c, 1) == 1);
}

/* The quota is that of both. */
static void should_count_beside_its_parent(void) {
    char c = 0;
    CUdeviceptr none;
    CHECK(pipe(told) == 0 && pipe(asked) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        holds();
        _exit(0);
    }
    close(told[1]);
    CHECK(read(told[0], &c, 1) == 1);
    next_address = ADDRESS;
    CUdeviceptr own = allocate(424 * MIB);
    CHECK(hook_cuMemAlloc_v2(&none, 4 * MIB) == CUDA_ERROR_OUT_OF_MEMORY, "both have %llu MiB", (unsigned long long)(sl_accounts_used(gpu()) / MIB));
    CHECK(sl_accounts_used(gpu()) == 1024 * MIB);
    int status;
    CHECK(write(asked[1], &c, 1) == 1 && waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(hook_cuMemAlloc_v2(&none, 4 * MIB) == 0 && hook_cuMemFree_v2(none) == 0 && hook_cuMemFree_v2(own) == 0);
    EXPECT(0);
}

int main(void) {
    use_fake_gpus("fork", "1g");
    setenv("SLUICE_LOG", "error", 1);
    real.cuMemAlloc_v2 = fake_allocate;
    real.cuMemFree_v2 = fake_free;
    real.cuMemFreeAsync = fake_free_async;
    real.cuStreamSynchronize = fake_wait;
    real.cuArrayCreate_v2 = fake_array;
    real.cuArrayDestroy = fake_destroy;
    real.cuCtxDestroy_v2 = fake_context_destroy;
    RUN(should_pay_for_its_own_blocks);
    RUN(should_pay_for_its_own_blocks_of_arrays);
    RUN(should_not_refund_what_its_parent_freed);
    RUN(should_count_beside_its_parent);
    return 0;
}
