/* Arrays are charged what an H200 takes for them, small ones share blocks, and a context takes its arrays with it. */
#include "fakes/fake_gpus.h"

#include "memory/plain/array.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "memory/plain/linear.h"

enum { U8 = 0x01, U16 = 0x02, HALF = 0x10, FLOAT = 0x20, LAYERED = 0x01, CUBEMAP = 0x04, SPARSE = 0x40, DEFERRED = 0x80 };

typedef CUmemGenericAllocationHandle handle_t;

static uint64_t next_array = 0x555500000010;
static CUresult answer;
static CUstreamCaptureStatus capturing;
static unsigned gpu;

static CUresult fake_create(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape) {
    (void)shape;
    *array = (CUarray)(next_array += 16);
    return answer;
}
static CUresult fake_create_2d(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *shape) { return (void)shape, fake_create(array, NULL); }
static CUresult fake_mipmap(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels) {
    return (void)levels, fake_create((CUarray *)array, shape);
}
static CUresult fake_destroy(CUarray array) { return (void)array, answer; }
static CUresult fake_destroy_mipmap(CUmipmappedArray array) { return (void)array, answer; }
static CUresult fake_map(CUarrayMapInfo *list, unsigned count, CUstream stream) { return (void)list, (void)count, (void)stream, answer; }
static CUresult fake_capturing(CUstream stream, CUstreamCaptureStatus *status) { return (void)stream, *status = capturing, 0; }
static CUresult fake_context_destroy(CUcontext context) { return (void)context, answer; }
static CUresult fake_create_handle(handle_t *handle, size_t size, const CUmemAllocationProp *prop, unsigned long long flags) {
    return (void)size, (void)prop, (void)flags, *handle = next_array += 16, answer;
}
static CUresult fake_release(handle_t handle) { return (void)handle, answer; }

static CUarray make(size_t width, size_t height, size_t depth, int format, unsigned channels, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {width, height, depth, format, channels, flags};
    CUarray array = NULL;
    CHECK(hook_cuArray3DCreate_v2(&array, &shape) == 0);
    return array;
}

static void check_charged(uint64_t bytes, uint64_t allocations) {
    const sl_region_account_t *mine = account(gpu);
    CHECK(mine->charged_bytes == bytes && mine->array_bytes + mine->physical_bytes == bytes && mine->in_flight_bytes == 0,
          "%llu, not %llu", (unsigned long long)mine->charged_bytes, (unsigned long long)bytes);
    CHECK(mine->allocations == allocations, "%llu", (unsigned long long)mine->allocations);
}

static void should_charge_what_an_h200_takes(void) {
    static const struct { CUDA_ARRAY3D_DESCRIPTOR shape; unsigned levels, mib; } measured[] = {
        {{1024, 1024, 0, FLOAT, 4, 0}, 0, 16}, {{1000, 1000, 0, U8, 1, 0}, 0, 2}, {{100, 100, 100, FLOAT, 1, 0}, 0, 6},
        {{16, 16, 0, FLOAT, 1, 0}, 0, 2}, {{4096, 4096, 0, HALF, 4, 0}, 0, 128}, {{65536, 0, 0, FLOAT, 1, 0}, 0, 2},
        {{513, 257, 33, U16, 2, 0}, 0, 26}, {{2048, 2048, 0, FLOAT, 1, 0}, 12, 22}, {{1024, 1024, 0, U8, 4, 0}, 11, 6},
        {{1, 0, 0, FLOAT, 1, 0}, 0, 2}, {{1, 0, 0, FLOAT, 4, 0}, 0, 2}, {{64, 64, 0, FLOAT, 4, 0}, 0, 2},
        {{1000, 1000, 0, FLOAT, 1, 0}, 0, 4}, {{1000, 1000, 0, FLOAT, 2, 0}, 0, 8}, {{1000, 1000, 0, FLOAT, 4, 0}, 0, 16},
        {{1024, 1024, 0, FLOAT, 1, 0}, 0, 4}, {{1024, 1024, 0, FLOAT, 2, 0}, 0, 8}, {{4096, 4096, 0, FLOAT, 1, 0}, 0, 64},
        {{4096, 4096, 0, FLOAT, 2, 0}, 0, 128}, {{4096, 4096, 0, FLOAT, 4, 0}, 0, 256},
        {{100, 100, 100, FLOAT, 2, 0}, 0, 10}, {{100, 100, 100, FLOAT, 4, 0}, 0, 18}, {{33, 17, 5, FLOAT, 4, 0}, 0, 2},
        {{1441, 1051, 9, U16, 4, LAYERED}, 0, 116}, {{1730, 295, 10, FLOAT, 4, LAYERED}, 0, 102}, {{798, 798, 6, FLOAT, 2, CUBEMAP}, 0, 34},
        {{513, 513, 6, FLOAT, 4, CUBEMAP}, 0, 32}, {{1804, 75, 14, U8, 4, LAYERED}, 0, 14}, {{2490, 1070, 8, U16, 2, LAYERED}, 0, 88},
        {{100000, 0, 0, FLOAT, 2, 0}, 0, 8}, {{100000, 0, 0, FLOAT, 4, 0}, 0, 14}, {{65537, 0, 0, FLOAT, 1, 0}, 0, 4},
        {{16384, 0, 0, FLOAT, 4, 0}, 14, 4}, {{812, 812, 6, FLOAT, 4, CUBEMAP}, 10, 94}, {{2428, 4750, 0, U16, 4, 0}, 11, 122},
        {{3541, 666, 13, FLOAT, 2, LAYERED}, 7, 368}, {{728, 1440, 15, FLOAT, 1, LAYERED}, 11, 88}, {{2473, 397, 8, FLOAT, 4, LAYERED}, 2, 194},
    };
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        CUmipmappedArray array;
        unsigned levels = measured[i].levels;
        CHECK((levels ? hook_cuMipmappedArrayCreate(&array, &measured[i].shape, levels)
                      : hook_cuArray3DCreate_v2((CUarray *)&array, &measured[i].shape)) == 0);
        check_charged(measured[i].mib * MIB, 1);
        CHECK((levels ? hook_cuMipmappedArrayDestroy(array) : hook_cuArrayDestroy((CUarray)array)) == 0);
        check_charged(0, 0);
    }
}

static void should_know_sizes_of_other_kinds(void) {
    CUDA_ARRAY3D_DESCRIPTOR layers = {1024, 1024, 3, FLOAT, 1, LAYERED}, compressed = {1024, 1024, 0, 0x91, 4, 0};
    CUDA_ARRAY3D_DESCRIPTOR tall = {64, 0, 0, U8, 1, 0}, planes = {1024, 1024, 0, 0xb0, 3, 0}, absurd = {1ull << 60, 9, 9, U8, 1, 0};
    CHECK(sl_array_bytes(&layers, 1) == 12 * MIB && sl_array_bytes(&compressed, 1) == MIB / 2);
    CHECK(sl_array_bytes(&tall, 1) == 512 && sl_array_bytes(&planes, 1) == 3 * MIB / 2 && sl_array_bytes(&absurd, 1) == 0);
}

/* Each layer has all levels; only the slices of a 3-D array become fewer. */
static void should_keep_all_layers_in_each_level(void) {
    CUDA_ARRAY3D_DESCRIPTOR flat = {1024, 1024, 0, FLOAT, 1, 0}, layers = {1024, 1024, 4, FLOAT, 1, LAYERED};
    CUDA_ARRAY3D_DESCRIPTOR cube = {1024, 1024, 6, FLOAT, 1, CUBEMAP}, cubes = {1024, 1024, 12, FLOAT, 1, CUBEMAP | LAYERED};
    CUDA_ARRAY3D_DESCRIPTOR slices = {1024, 1024, 64, FLOAT, 1, 0}, row = {1024, 0, 4, FLOAT, 1, LAYERED};
    for (unsigned levels = 1; levels <= 11; levels++) {
        uint64_t bytes = sl_array_bytes(&flat, levels);
        CHECK(sl_array_bytes(&layers, levels) == 4 * bytes, "%u levels", levels);
        CHECK(sl_array_bytes(&cube, levels) == 6 * bytes && sl_array_bytes(&cubes, levels) == 12 * bytes, "%u levels", levels);
    }
    CHECK(sl_array_bytes(&layers, 30) == sl_array_bytes(&layers, 11) && sl_array_bytes(&row, 30) == sl_array_bytes(&row, 11));
    CHECK(sl_array_bytes(&slices, 2) - sl_array_bytes(&slices, 1) == 32 * MIB, "half as many slices of a quarter");
}

static void should_let_small_arrays_share(void) {
    CUarray arrays[20], later;
    for (int i = 0; i < 20; i++)
        arrays[i] = make(16, 16, 0, FLOAT, 1, 0);
    check_charged(2 * MIB, 20);
    later = make(1024, 510, 0, FLOAT, 1, 0);
    check_charged(4 * MIB, 21);
    for (int i = 0; i < 20; i++)
        CHECK(hook_cuArrayDestroy(arrays[i]) == 0);
    check_charged(2 * MIB, 1);
    CHECK(hook_cuArrayDestroy(later) == 0);
    check_charged(0, 0);
}

static void should_not_share_between_contexts(void) {
    CUarray first = make(16, 16, 0, FLOAT, 1, 0);
    current_context = (CUcontext)0x2000;
    CUarray second = make(16, 16, 0, FLOAT, 1, 0);
    current_context = (CUcontext)0x1000;
    check_charged(4 * MIB, 2);
    hook_cuArrayDestroy(first);
    hook_cuArrayDestroy(second);
    check_charged(0, 0);
}

static void should_refuse_what_passes_the_quota(void) {
    CUarray most = make(16384, 4032, 0, FLOAT, 4, 0), small = make(16, 16, 0, FLOAT, 1, 0), none = NULL;
    CUDA_ARRAY_DESCRIPTOR shape = {2048, 2048, FLOAT, 1};
    check_charged(1010 * MIB, 2);
    CHECK(hook_cuArrayCreate_v2(&none, &shape) == CUDA_ERROR_OUT_OF_MEMORY && !none);
    CHECK(sl_tenant.region.gpus[gpu].refused_bytes == 16 * MIB);
    shape.Height = 1792;
    CHECK(hook_cuArrayCreate_v2(&none, &shape) == 0);
    check_charged(1024 * MIB, 3);
    CUarray another = make(16, 16, 0, FLOAT, 1, 0);
    check_charged(1024 * MIB, 4);
    CUarray all[] = {most, small, none, another};
    for (int i = 0; i < 4; i++)
        CHECK(hook_cuArrayDestroy(all[i]) == 0);
    check_charged(0, 0);
}

static void should_follow_the_driver_when_it_refuses(void) {
    CUarray small = make(16, 16, 0, FLOAT, 1, 0), large = make(1024, 1024, 0, FLOAT, 4, 0), none;
    CUDA_ARRAY_DESCRIPTOR tiny = {16, 16, FLOAT, 1}, shape = {1024, 1024, FLOAT, 4};
    answer = 1;
    CHECK(hook_cuArrayCreate_v2(&none, &tiny) == 1 && hook_cuArrayCreate_v2(&none, &shape) == 1);
    CHECK(hook_cuArrayDestroy(small) == 1 && hook_cuArrayDestroy(large) == 1 && hook_cuArray3DCreate_v2(&none, NULL) == 1);
    check_charged(18 * MIB, 2);
    answer = 0;
    CHECK(hook_cuArrayDestroy(small) == 0 && hook_cuArrayDestroy(large) == 0 && hook_cuArrayDestroy(large) == 0);
    check_charged(0, 0);
}

static void should_refund_with_the_context(void) {
    make(1024, 1024, 0, FLOAT, 4, 0);
    make(16, 16, 0, FLOAT, 1, 0);
    CUarray sparse = make(4096, 4096, 0, FLOAT, 4, SPARSE);
    check_charged(18 * MIB, 3);
    CHECK(sparse && hook_cuCtxDestroy_v2(current_context) == 0);
    check_charged(0, 0);
}

static handle_t handle_of(uint64_t bytes) {
    handle_t handle;
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}};
    CHECK(hook_cuMemCreate(&handle, bytes, &prop, 0) == 0);
    return handle;
}

static void map(CUarray array, uint32_t from, uint32_t extent, handle_t handle) {
    uint32_t place[8] = {0, 0, from, 0, 0, extent, 256, 1};
    CUarrayMapInfo info = {.resource = array, .memOperationType = handle ? 1 : 2, .memHandle = handle};
    memcpy(info.subresource, place, sizeof place);
    CHECK(hook_cuMemMapArrayAsync(&info, 1, NULL) == 0);
}

static void should_hold_what_is_mapped_into_a_sparse_array(void) {
    CUarray array = make(4096, 4096, 0, FLOAT, 4, SPARSE), deferred = make(64, 64, 0, FLOAT, 4, DEFERRED);
    handle_t first = handle_of(2 * MIB), second = handle_of(4 * MIB);
    check_charged(6 * MIB, 4);
    map(array, 0, 256, first);
    map(array, 256, 512, second);
    hook_cuMemRelease(first);
    hook_cuMemRelease(second);
    check_charged(6 * MIB, 4);
    map(array, 0, 512, 0);
    check_charged(4 * MIB, 3);
    capturing = 1;
    map(array, 512, 256, 0);
    check_charged(4 * MIB, 3);
    capturing = 0;
    map(array, 512, 256, 0);
    check_charged(0, 2);
    handle_t third = handle_of(2 * MIB);
    map(deferred, 0, 64, third);
    hook_cuMemRelease(third);
    check_charged(2 * MIB, 3);
    CHECK(hook_cuArrayDestroy(deferred) == 0);
    check_charged(0, 1);
    CHECK(hook_cuArrayDestroy(array) == 0);
    check_charged(0, 0);
}

static void should_need_a_context(void) {
    current_device = -1;
    CUarray array = make(1024, 1024, 0, FLOAT, 4, 0);
    current_device = 0;
    check_charged(0, 0);
    CHECK(hook_cuArrayDestroy(array) == 0);
}

int main(void) {
    use_fake_gpus("array", "1g");
    real.cuArray3DCreate_v2 = fake_create;
    real.cuArrayCreate_v2 = fake_create_2d;
    real.cuMipmappedArrayCreate = fake_mipmap;
    real.cuArrayDestroy = fake_destroy;
    real.cuMipmappedArrayDestroy = fake_destroy_mipmap;
    real.cuMemMapArrayAsync = fake_map;
    real.cuStreamIsCapturing = fake_capturing;
    real.cuCtxDestroy_v2 = fake_context_destroy;
    real.cuMemCreate = fake_create_handle;
    real.cuMemRelease = fake_release;
    gpu = (unsigned)sl_gpu_find(0);
    RUN(should_charge_what_an_h200_takes);
    RUN(should_know_sizes_of_other_kinds);
    RUN(should_keep_all_layers_in_each_level);
    RUN(should_let_small_arrays_share);
    RUN(should_not_share_between_contexts);
    RUN(should_refuse_what_passes_the_quota);
    RUN(should_follow_the_driver_when_it_refuses);
    RUN(should_refund_with_the_context);
    RUN(should_hold_what_is_mapped_into_a_sparse_array);
    RUN(should_need_a_context);
    return 0;
}
