/* Arrays and mipmapped arrays. An H200 pads rows to 64 bytes, 8 rows and 8 slices before it rounds like any allocation. */
#include "array.h"

#define ROW_STEP 64u
#define ROWS_STEP 8u

struct CUmipmappedArray_opaque {
    CUDA_ARRAY3D_DESCRIPTOR description;
    unsigned levels;
    CUdeviceptr address;
    struct CUarray_opaque level[];
};

static size_t format_bytes(int format) {
    switch (format) {
    case 0x01: case 0x08: return 1;
    case 0x02: case 0x09: case 0x10: return 2;
    case 0x03: case 0x0a: case 0x20: return 4;
    default: return 0;
    }
}

static size_t at_least_one(size_t value) { return value ? value : 1; }

size_t sim_array_row_bytes(CUarray array) { return array->description.Width * array->element_bytes; }
size_t sim_array_rows(CUarray array) { return at_least_one(array->description.Height); }
size_t sim_array_slices(CUarray array) { return at_least_one(array->description.Depth); }

static bool lay_out(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR *wanted) {
    size_t bytes = format_bytes(wanted->Format);
    if (!bytes || !wanted->Width || wanted->Width > 131072 || wanted->Height > 131072 || wanted->Depth > 16384) return false;
    if (wanted->NumChannels != 1 && wanted->NumChannels != 2 && wanted->NumChannels != 4) return false;
    *array = (struct CUarray_opaque){.description = *wanted, .element_bytes = bytes * wanted->NumChannels};
    array->pitch = SIM_ROUND(sim_array_row_bytes(array), ROW_STEP);
    array->padded_rows = wanted->Height ? SIM_ROUND(wanted->Height, ROWS_STEP) : 1;
    return true;
}

static size_t total_bytes(CUarray array) {
    size_t slices = array->description.Depth ? SIM_ROUND(array->description.Depth, ROWS_STEP) : 1;
    return array->pitch * array->padded_rows * slices;
}

CUresult sim_cuArray3DCreate_v2(CUarray *result, const CUDA_ARRAY3D_DESCRIPTOR *wanted) {
    CUcontext context;
    struct CUarray_opaque array;
    SIM_REQUIRE(result && wanted && lay_out(&array, wanted), CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    CUarray kept = malloc(sizeof *kept);
    SIM_REQUIRE(kept, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult taken = sim_memory_take(context, total_bytes(&array), false, &array.address);
    if (taken) return free(kept), taken;
    *kept = array;
    *result = kept;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayCreate_v2(CUarray *result, const CUDA_ARRAY_DESCRIPTOR *wanted) {
    SIM_REQUIRE(wanted, CUDA_ERROR_INVALID_VALUE);
    CUDA_ARRAY3D_DESCRIPTOR full = {wanted->Width, wanted->Height, 0, wanted->Format, wanted->NumChannels, 0};
    return sim_cuArray3DCreate_v2(result, &full);
}

CUresult sim_cuArray3DCreate(CUarray *result, const CUDA_ARRAY3D_DESCRIPTOR_v1 *wanted) {
    SIM_REQUIRE(wanted, CUDA_ERROR_INVALID_VALUE);
    CUDA_ARRAY3D_DESCRIPTOR full = {wanted->Width, wanted->Height, wanted->Depth, wanted->Format, wanted->NumChannels, wanted->Flags};
    return sim_cuArray3DCreate_v2(result, &full);
}

CUresult sim_cuArrayCreate(CUarray *result, const CUDA_ARRAY_DESCRIPTOR_v1 *wanted) {
    SIM_REQUIRE(wanted, CUDA_ERROR_INVALID_VALUE);
    CUDA_ARRAY3D_DESCRIPTOR full = {wanted->Width, wanted->Height, 0, wanted->Format, wanted->NumChannels, 0};
    return sim_cuArray3DCreate_v2(result, &full);
}

CUresult sim_cuArrayDestroy(CUarray array) {
    CUcontext context;
    SIM_REQUIRE(array && !array->mipmap, CUDA_ERROR_INVALID_HANDLE);
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_context_drain(context));
    SIM_TRY(sim_memory_give(array->address));
    free(array);
    return CUDA_SUCCESS;
}

CUresult sim_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *description, CUarray array) {
    SIM_REQUIRE(description, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(array, CUDA_ERROR_INVALID_HANDLE);
    *description = array->description;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *description, CUarray array) {
    SIM_REQUIRE(description, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(array, CUDA_ERROR_INVALID_HANDLE);
    const CUDA_ARRAY3D_DESCRIPTOR *full = &array->description;
    *description = (CUDA_ARRAY_DESCRIPTOR){full->Width, full->Height, full->Format, full->NumChannels};
    return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayCreate(CUmipmappedArray *result, const CUDA_ARRAY3D_DESCRIPTOR *wanted, unsigned int levels) {
    CUcontext context;
    struct CUarray_opaque first;
    SIM_REQUIRE(result && wanted && levels > 0 && levels <= 18 && lay_out(&first, wanted), CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    CUmipmappedArray mipmap = calloc(1, sizeof *mipmap + levels * sizeof *mipmap->level);
    SIM_REQUIRE(mipmap, CUDA_ERROR_OUT_OF_MEMORY);
    mipmap->description = *wanted;
    CUDA_ARRAY3D_DESCRIPTOR description = *wanted;
    size_t bytes = 0;
    for (; mipmap->levels < levels; mipmap->levels++) {
        CUarray level = &mipmap->level[mipmap->levels];
        lay_out(level, &description);
        level->mipmap = mipmap;
        level->address = bytes;
        bytes += SIM_ROUND(total_bytes(level), 512);
        description.Width = at_least_one(description.Width / 2);
        if (description.Height) description.Height = at_least_one(description.Height / 2);
        if (description.Depth) description.Depth = at_least_one(description.Depth / 2);
    }
    CUresult taken = sim_memory_take(context, bytes, false, &mipmap->address);
    if (taken) return free(mipmap), taken;
    for (unsigned i = 0; i < levels; i++) mipmap->level[i].address += mipmap->address;
    *result = mipmap;
    return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned int level) {
    SIM_REQUIRE(mipmap, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(array && level < mipmap->levels, CUDA_ERROR_INVALID_VALUE);
    *array = &mipmap->level[level];
    return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
    CUcontext context;
    SIM_REQUIRE(mipmap, CUDA_ERROR_INVALID_HANDLE);
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_context_drain(context));
    SIM_TRY(sim_memory_give(mipmap->address));
    free(mipmap);
    return CUDA_SUCCESS;
}
