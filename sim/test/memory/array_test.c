/* Arrays take what an H200 takes; those without memory of their own hold what is mapped into them; handles of
 * host memory take nothing. */
#include "check.h"

enum { U8 = 0x01, U16 = 0x02, HALF = 0x10, FLOAT = 0x20 };

static void should_take_what_an_h200_takes(void) {
    static const struct { CUDA_ARRAY3D_DESCRIPTOR shape; unsigned levels, mib; } measured[] = {
        {{1024, 1024, 0, FLOAT, 4, 0}, 0, 16}, {{1000, 1000, 0, U8, 1, 0}, 0, 2}, {{100, 100, 100, FLOAT, 1, 0}, 0, 6},
        {{100, 100, 100, FLOAT, 2, 0}, 0, 10}, {{100, 100, 100, FLOAT, 4, 0}, 0, 18}, {{16, 16, 0, FLOAT, 1, 0}, 0, 2},
        {{4096, 4096, 0, HALF, 4, 0}, 0, 128}, {{65536, 0, 0, FLOAT, 1, 0}, 0, 2}, {{513, 257, 33, U16, 2, 0}, 0, 26},
        {{1000, 1000, 0, FLOAT, 4, 0}, 0, 16}, {{33, 17, 5, FLOAT, 4, 0}, 0, 2}, {{2048, 2048, 0, FLOAT, 1, 0}, 12, 22},
        {{1024, 1024, 0, U8, 4, 0}, 11, 6},
    };
    size_t before = free_bytes();
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        CUarray array;
        CUmipmappedArray mipmap;
        if (measured[i].levels) OK(cuMipmappedArrayCreate(&mipmap, &measured[i].shape, measured[i].levels));
        else OK(cuArray3DCreate_v2(&array, &measured[i].shape));
        EQUAL(before - free_bytes(), measured[i].mib * MIB);
        if (measured[i].levels) OK(cuMipmappedArrayDestroy(mipmap));
        else OK(cuArrayDestroy(array));
        EQUAL(free_bytes(), before);
    }
}

static void should_let_small_arrays_share_a_block(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 16, 0, FLOAT, 1, 0};
    CUarray arrays[20];
    size_t before = free_bytes();
    for (int i = 0; i < 20; i++) OK(cuArray3DCreate_v2(&arrays[i], &shape));
    EQUAL(before - free_bytes(), 2 * MIB);
    for (int i = 0; i < 20; i++) OK(cuArrayDestroy(arrays[i]));
    EQUAL(free_bytes(), before);
}

static void map(void *array, unsigned x, CUmemGenericAllocationHandle handle) {
    CUarrayMapInfo info = {.resource = array, .memOperationType = handle ? 1 : 2, .memHandle = handle};
    unsigned place[8] = {0, 0, x, 0, 0, 256, 256, 1};
    memcpy(info.subresource, place, sizeof place);
    OK(cuMemMapArrayAsync(&info, 1, NULL));
}

static void should_hold_what_is_mapped_into_a_sparse_array(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {4096, 4096, 0, FLOAT, 4, 0x40};
    CUmemAllocationProp where = {.type = 1, .location = {1, 0}};
    CUmemGenericAllocationHandle handles[2];
    CUarray array;
    size_t before = free_bytes();
    OK(cuArray3DCreate_v2(&array, &shape));
    EQUAL(free_bytes(), before);
    for (unsigned i = 0; i < 2; i++) {
        OK(cuMemCreate(&handles[i], 2 * MIB, &where, 0));
        map(array, i * 256, handles[i]);
        OK(cuMemRelease(handles[i]));
    }
    EQUAL(before - free_bytes(), 4 * MIB);
    map(array, 0, 0);
    EQUAL(before - free_bytes(), 2 * MIB);
    OK(cuArrayDestroy(array));
    EQUAL(free_bytes(), before);
}

static void should_take_nothing_of_the_gpu_for_memory_on_the_host(void) {
    CUmemAllocationProp where = {.type = 1, .location = {2, 0}};
    CUmemGenericAllocationHandle handle;
    size_t before = free_bytes();
    OK(cuMemCreate(&handle, 64 * MIB, &where, 0));
    EQUAL(free_bytes(), before);
    OK(cuMemRelease(handle));
    EQUAL(free_bytes(), before);
}

static void should_say_what_a_deferred_array_needs(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {1024, 1024, 0, FLOAT, 4, 0};
    CUDA_ARRAY_MEMORY_REQUIREMENTS needed;
    CUarray plain, deferred;
    OK(cuArray3DCreate_v2(&plain, &shape));
    EQUAL(cuArrayGetMemoryRequirements(&needed, plain, 0), 1);
    OK(cuArrayDestroy(plain));
    shape.Flags = 0x80;
    OK(cuArray3DCreate_v2(&deferred, &shape));
    OK(cuArrayGetMemoryRequirements(&needed, deferred, 0));
    EQUAL(needed.size, 16 * MIB);
    OK(cuArrayDestroy(deferred));
}

int main(void) {
    use_gpu();
    should_take_what_an_h200_takes();
    should_let_small_arrays_share_a_block();
    if (!on_real_driver("sparse and deferred arrays, handles of host memory")) {
        should_hold_what_is_mapped_into_a_sparse_array();
        should_take_nothing_of_the_gpu_for_memory_on_the_host();
        should_say_what_a_deferred_array_needs();
    }
    return 0;
}
