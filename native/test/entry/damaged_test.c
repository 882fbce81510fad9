/* Every call returns with a result, whatever a tenant or a neighbour writes into the writable words of a region.
 * Usage: damaged_test [SEED [SECONDS]] */
#include "fakes/fake_gpus.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "hooks.h"
#include "os/os.h"
#include "tenant/gpu.h"
#include "tenant/slots.h"

#define CALL_NANOS 10000000000ull /* an allocation may wait for those in flight, but no longer than this, even on a busy machine */

static uint64_t seed = 17, seconds = 3;
static _Atomic uint64_t next_address = 1ull << 40;
static atomic_bool done;
static char *words;

static CUresult fake_alloc(CUdeviceptr *address, size_t bytes) {
    *address = atomic_fetch_add(&next_address, (bytes + (2 * MIB) - 1) / (2 * MIB) * (2 * MIB));
    return 0;
}
static CUresult fake_pitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    return (void)element, *pitch = (width + 511) / 512 * 512, fake_alloc(address, *pitch * height);
}
static CUresult fake_free(CUdeviceptr address) { return (void)address, 0; }
static CUresult fake_array(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape) {
    return (void)shape, fake_alloc((CUdeviceptr *)array, 4 * MIB);
}
static CUresult fake_destroy(CUarray array) { return (void)array, 0; }
static CUresult fake_launch(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared,
                            CUstream stream, void **parameters, void **extra) {
    return (void)f, (void)x, (void)y, (void)z, (void)a, (void)b, (void)c, (void)shared, (void)stream, (void)parameters, (void)extra, 0;
}

static uint64_t draw(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static uint64_t draw_word(uint64_t *state) {
    static const uint64_t corners[] = {0, 1, 2, UINT64_MAX, 1ull << 63, 1ull << 62, 1ull << 31, UINT32_MAX, (1ull << 31) - 1, 1ull << 32, 511, 512};
    uint64_t value = draw(state);
    return value % 3 ? corners[value / 3 % (sizeof corners / sizeof *corners)] : draw(state);
}

/* Half of the damage hits the words that a call reads first. */
static void *damage(void *unused) {
    uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
    const uint64_t first = SL_REGION_PAGE_BYTES, near = SL_REGION_GPU_OFFSET + 2 * sizeof(sl_region_gpu_t);
    while (!atomic_load(&done)) {
        uint64_t end = draw(&state) % 2 ? near : SL_REGION_BYTES, place = first + draw(&state) % (end - first) / 8 * 8;
        atomic_store_explicit((_Atomic uint64_t *)(words + place), draw_word(&state), memory_order_relaxed);
        if (draw(&state) % 16 == 0)
            usleep((useconds_t)(draw(&state) % 200));
    }
    return unused;
}

static void call_once(uint64_t *state) {
    CUdeviceptr address = 0;
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR shape = {1 + draw(state) % 2048, 1 + draw(state) % 2048, 0, 0x20, 1, 0};
    size_t pitch, bytes = 1 + draw(state) % (8 * MIB);
    switch (draw(state) % 6) {
    case 0: if (hook_cuMemAlloc_v2(&address, bytes) == 0) CHECK(hook_cuMemFree_v2(address) == 0); break;
    case 1: if (hook_cuMemAllocPitch_v2(&address, &pitch, 1 + bytes % 4096, 1 + bytes / 4096, 4) == 0) CHECK(hook_cuMemFree_v2(address) == 0); break;
    case 2: if (hook_cuArray3DCreate_v2(&array, &shape) == 0) CHECK(hook_cuArrayDestroy(array) == 0); break;
    case 3: CHECK(hook_cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == 0); break;
    case 4: sl_slots_reap(&sl_tenant.region, &sl_tenant.self); sl_slots_pid(&sl_tenant.region, (unsigned)(bytes % 512), &sl_tenant.self); break;
    case 5: sl_gpu_forget(); sl_gpu_find(0); sl_slots_ended(&sl_tenant.region); break;
    }
}

static void survive(void) {
    use_fake_gpus("damaged", "1g");
    real.cuMemAlloc_v2 = fake_alloc, real.cuMemFree_v2 = fake_free, real.cuMemAllocPitch_v2 = fake_pitch;
    real.cuArray3DCreate_v2 = fake_array, real.cuArrayDestroy = fake_destroy, real.cuLaunchKernel = fake_launch;
    int fd = open(sl_tenant.region.path, O_RDWR);
    words = mmap(NULL, SL_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(fd >= 0 && words != MAP_FAILED && sl_gpu_find(0) >= 0);
    sl_report_level = -1;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, damage, NULL) == 0);
    uint64_t state = seed, began = sl_os_nanos(), before = began, calls = 0, longest = 0;
    while (before - began < seconds * 1000000000u) {
        call_once(&state);
        uint64_t now = sl_os_nanos();
        longest = now - before > longest ? now - before : longest;
        before = now, calls++;
    }
    done = true;
    pthread_join(thread, NULL);
    printf("  seed %llu: %llu calls, the longest %llu ms\n", (unsigned long long)seed, (unsigned long long)calls,
           (unsigned long long)longest / 1000000);
    CHECK(longest < CALL_NANOS);
    fflush(stdout);
    remove_test_folder();
}

static void should_survive_random_words(void) {
    int status = in_child(survive);
    CHECK(status == 0, "seed %llu: status %d", (unsigned long long)seed, status);
}

int main(int argc, char **argv) {
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : seed;
    seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : seconds;
    RUN(should_survive_random_words);
    return 0;
}
