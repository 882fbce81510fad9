/* Copies and fills: the validity of their memory, their duration, and their effect. Every copy, from any call, is a three-dimensional
 * one. */
#include "work/work.h"
#include "memory/array.h"

#define DEVICE_BYTES_PER_S 3e12
#define LEAST_NS 1500u

enum { HOST = 1, DEVICE = 2, ARRAY = 3, UNIFIED = 4 };

typedef struct {
    char *start;
    size_t pitch, slice;
    bool on_host;
} side_t;

bool sim_memory_is_usable(CUdeviceptr address, size_t bytes) {
    sim_allocation_t found;
    sim_range_t *range = sim_space_find(address);
    if (range && range->kind == SIM_RESERVED) return sim_vmm_span_is_usable(range, address, bytes);
    return sim_memory_find(address, &found) && bytes <= found.bytes - (address - found.base);
}

static bool pinned_is_usable(CUdeviceptr address, size_t bytes) {
    CUdeviceptr base;
    size_t size;
    return sim_host_find(address, &base, &size, NULL) && bytes <= size - (address - base);
}

/* As driver 580.159 does: a copy that begins in pinned memory must end in the same piece, one that begins elsewhere may pass any. */
static bool host_is_usable(CUdeviceptr address, size_t bytes) {
    return address && (!sim_host_find(address, NULL, NULL, NULL) || pinned_is_usable(address, bytes));
}

static bool resolve(side_t *side, const CUDA_MEMCPY3D *copy, int type, const void *host, CUdeviceptr device, CUarray array,
                    size_t pitch, size_t height, size_t x, size_t y, size_t z, bool check) {
    if (type == ARRAY) {
        if (!array || !array->address || x + copy->WidthInBytes > sim_array_row_bytes(array) || y + copy->Height > sim_array_rows(array)
            || z + copy->Depth > sim_array_slices(array)) return false;
        *side = (side_t){(char *)array->address, array->pitch, array->pitch * array->padded_rows, false};
    } else {
        if (copy->Height > 1 && pitch < x + copy->WidthInBytes) return false;
        CUdeviceptr start = type == HOST ? (CUdeviceptr)host : device;
        *side = (side_t){(char *)start, pitch, pitch * (height ? height : copy->Height), type == HOST};
        if (type == UNIFIED) side->on_host = !sim_space_find(start);
    }
    side->start += x + y * side->pitch + z * side->slice;
    size_t span = (copy->Depth - 1) * side->slice + (copy->Height - 1) * side->pitch + copy->WidthInBytes;
    if (!check || type == ARRAY) return true;
    if (type == DEVICE) return sim_memory_is_usable((CUdeviceptr)side->start, span) || pinned_is_usable((CUdeviceptr)side->start, span);
    if (type == UNIFIED && !side->on_host) return sim_memory_is_usable((CUdeviceptr)side->start, span);
    return (type == HOST || type == UNIFIED) && host_is_usable((CUdeviceptr)side->start, span);
}

static bool sides(const CUDA_MEMCPY3D *copy, side_t *from, side_t *to, bool check) {
    return resolve(from, copy, copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray, copy->srcPitch, copy->srcHeight,
                   copy->srcXInBytes, copy->srcY, copy->srcZ, check)
        && resolve(to, copy, copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray, copy->dstPitch, copy->dstHeight,
                   copy->dstXInBytes, copy->dstY, copy->dstZ, check);
}

static bool is_nothing(const CUDA_MEMCPY3D *copy) { return !copy->WidthInBytes || !copy->Height || !copy->Depth; }

bool sim_copy_is_valid(const CUDA_MEMCPY3D *copy) {
    side_t from, to;
    if (is_nothing(copy)) return true;
    if (!sides(copy, &from, &to, true)) return false;
    if (!from.on_host) sim_memory_touch((CUdeviceptr)from.start);
    if (!to.on_host) sim_memory_touch((CUdeviceptr)to.start);
    return true;
}

static uint64_t time_for(double bytes, double bytes_per_s) { return LEAST_NS + (uint64_t)(bytes / bytes_per_s * 1e9); }

static bool is_pageable(const side_t *side) { return side->on_host && !sim_host_find((CUdeviceptr)side->start, NULL, NULL, NULL); }

uint64_t sim_copy_duration(const CUDA_MEMCPY3D *copy) {
    side_t from, to;
    if (is_nothing(copy) || !sides(copy, &from, &to, false)) return 0;
    double bytes = (double)copy->WidthInBytes * (double)copy->Height * (double)copy->Depth, rate = DEVICE_BYTES_PER_S;
    if (from.on_host || to.on_host) rate = (double)sim_settings()->link_bytes_per_s;
    if (is_pageable(&from) || is_pageable(&to)) rate = (double)sim_settings()->pageable_bytes_per_s;
    return time_for(bytes, rate);
}

CUresult sim_copy_apply(const CUDA_MEMCPY3D *copy) {
    side_t from, to;
    if (is_nothing(copy) || !sides(copy, &from, &to, false)) return CUDA_SUCCESS;
    for (size_t z = 0; z < copy->Depth; z++)
        for (size_t y = 0; y < copy->Height; y++)
            memmove(to.start + z * to.slice + y * to.pitch, from.start + z * from.slice + y * from.pitch, copy->WidthInBytes);
    return CUDA_SUCCESS;
}

bool sim_fill_is_valid(const CUDA_MEMSET_NODE_PARAMS *fill) {
    size_t row = fill->width * fill->elementSize;
    if (!fill->width || !fill->height) return true;
    if (fill->dst % fill->elementSize || (fill->height > 1 && (fill->pitch < row || fill->pitch % fill->elementSize))) return false;
    size_t span = (fill->height - 1) * fill->pitch + row;
    if (!sim_memory_is_usable(fill->dst, span) && !pinned_is_usable(fill->dst, span)) return false;
    sim_memory_touch(fill->dst);
    return true;
}

uint64_t sim_fill_duration(const CUDA_MEMSET_NODE_PARAMS *fill) {
    return time_for((double)fill->width * fill->elementSize * (double)fill->height, DEVICE_BYTES_PER_S);
}

CUresult sim_fill_apply(const CUDA_MEMSET_NODE_PARAMS *fill) {
    for (size_t y = 0; y < fill->height; y++) {
        char *row = (char *)fill->dst + y * fill->pitch;
        if (fill->elementSize == 1) memset(row, (int)fill->value, fill->width);
        else if (fill->elementSize == 2) for (size_t x = 0; x < fill->width; x++) ((uint16_t *)row)[x] = (uint16_t)fill->value;
        else for (size_t x = 0; x < fill->width; x++) ((uint32_t *)row)[x] = fill->value;
    }
    return CUDA_SUCCESS;
}
