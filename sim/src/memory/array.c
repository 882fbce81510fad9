/* Arrays and mipmapped arrays. An H200 pads rows to 64 bytes and 8 rows, 3-D arrays to 16 slices, and then packs and rounds as
 * with any allocation; small arrays share blocks with each other only. Sparse and deferred ones have no memory. */
#include "memory/array.h"

#define ROW_STEP 64u
#define ROWS_STEP 8u
#define BLOCK_STEPS 16u
#define SLICES_STEP 16u
#define TILE_BYTES 65536u

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

/* Measured on an H200: layers and mipmaps lie in blocks of up to 16 groups of 8 rows, one above the other; a 3-D array does not. */
static size_t padded_rows(const CUDA_ARRAY3D_DESCRIPTOR *wanted, bool mipmapped) {
    bool layered = wanted->Flags & (SIM_ARRAY_LAYERED | SIM_ARRAY_CUBEMAP), stacked = wanted->Height && wanted->Depth && !layered;
    size_t groups = (at_least_one(wanted->Height) + ROWS_STEP - 1) / ROWS_STEP, step = 1;
    while (!stacked && (layered || mipmapped) && step < groups && step < BLOCK_STEPS) step *= 2;
    return ROWS_STEP * SIM_ROUND(groups, step);
}

static bool lay_out(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR *wanted, bool mipmapped) {
    size_t bytes = format_bytes(wanted->Format);
    if (!bytes || !wanted->Width || wanted->Width > 131072 || wanted->Height > 131072 || wanted->Depth > 16384) return false;
    if (wanted->NumChannels != 1 && wanted->NumChannels != 2 && wanted->NumChannels != 4) return false;
    *array = (struct CUarray_opaque){.description = *wanted, .element_bytes = bytes * wanted->NumChannels};
    array->pitch = SIM_ROUND(sim_array_row_bytes(array), ROW_STEP);
    array->padded_rows = padded_rows(wanted, mipmapped);
    return true;
}

static size_t padded_slices(const CUDA_ARRAY3D_DESCRIPTOR *description) {
    size_t depth = at_least_one(description->Depth), step = 1;
    if (!description->Height || description->Flags & (SIM_ARRAY_LAYERED | SIM_ARRAY_CUBEMAP)) return depth;
    while (step < depth && step < SLICES_STEP) step *= 2;
    return SIM_ROUND(depth, step);
}

static size_t total_bytes(CUarray array) {
    return array->pitch * array->padded_rows * padded_slices(&array->description);
}

bool sim_array_has_memory(const CUDA_ARRAY3D_DESCRIPTOR *description) {
    return !(description->Flags & (SIM_ARRAY_SPARSE | SIM_ARRAY_DEFERRED));
}

const CUDA_ARRAY3D_DESCRIPTOR *sim_mipmap_description(CUmipmappedArray mipmap) { return &mipmap->description; }

static CUresult take(CUcontext context, const CUDA_ARRAY3D_DESCRIPTOR *description, size_t bytes, CUdeviceptr *address) {
    *address = 0;
    return sim_array_has_memory(description) ? sim_memory_take_array(context, bytes, address) : CUDA_SUCCESS;
}

static CUresult give(void *array, CUdeviceptr address) {
    sim_sparse_drop_array(array);
    return address ? sim_memory_give(address) : CUDA_SUCCESS;
}

CUresult sim_cuArray3DCreate_v2(CUarray *result, const CUDA_ARRAY3D_DESCRIPTOR *wanted) {
    CUcontext context;
    struct CUarray_opaque array;
    SIM_REQUIRE(result && wanted && lay_out(&array, wanted, false), CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    CUarray kept = malloc(sizeof *kept);
    SIM_REQUIRE(kept, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult taken = take(context, wanted, total_bytes(&array), &array.address);
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
    SIM_TRY(give(array, array->address));
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

CUresult sim_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *needed, CUarray array, CUdevice device) {
    SIM_REQUIRE(needed && array && sim_device_is_known(device), CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(array->description.Flags & SIM_ARRAY_DEFERRED, CUDA_ERROR_INVALID_VALUE);
    *needed = (CUDA_ARRAY_MEMORY_REQUIREMENTS){.size = SIM_ROUND(total_bytes(array), TILE_BYTES), .alignment = TILE_BYTES};
    return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayCreate(CUmipmappedArray *result, const CUDA_ARRAY3D_DESCRIPTOR *wanted, unsigned int levels) {
    CUcontext context;
    struct CUarray_opaque first;
    SIM_REQUIRE(result && wanted && levels > 0 && levels <= 18 && lay_out(&first, wanted, levels > 1), CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    CUmipmappedArray mipmap = calloc(1, sizeof *mipmap + levels * sizeof *mipmap->level);
    SIM_REQUIRE(mipmap, CUDA_ERROR_OUT_OF_MEMORY);
    mipmap->description = *wanted;
    CUDA_ARRAY3D_DESCRIPTOR description = *wanted;
    size_t bytes = 0;
    for (; mipmap->levels < levels; mipmap->levels++) {
        CUarray level = &mipmap->level[mipmap->levels];
        lay_out(level, &description, levels > 1);
        level->mipmap = mipmap;
        level->address = bytes;
        bytes += SIM_ROUND(total_bytes(level), 512);
        description.Width = at_least_one(description.Width / 2);
        if (description.Height) description.Height = at_least_one(description.Height / 2);
        if (description.Depth && !(wanted->Flags & (SIM_ARRAY_LAYERED | SIM_ARRAY_CUBEMAP))) description.Depth = at_least_one(description.Depth / 2);
    }
    CUresult taken = take(context, wanted, bytes, &mipmap->address);
    if (taken) return free(mipmap), taken;
    for (unsigned i = 0; i < levels; i++) mipmap->level[i].address = mipmap->address ? mipmap->level[i].address + mipmap->address : 0;
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
    SIM_TRY(give(mipmap, mipmap->address));
    free(mipmap);
    return CUDA_SUCCESS;
}
