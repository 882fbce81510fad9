/* The calls that allocate, free and describe device memory. */
#include "entry/sim.h"

#define PITCH 512u

CUresult sim_cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    CUcontext context;
    SIM_REQUIRE(address, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    return sim_memory_take(context, bytes, false, address);
}

CUresult sim_cuMemAlloc(CUdeviceptr_v1 *address, unsigned int bytes) {
    CUcontext context;
    CUdeviceptr wide;
    SIM_REQUIRE(address, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_memory_take(context, bytes, true, &wide));
    *address = (CUdeviceptr_v1)wide;
    return CUDA_SUCCESS;
}

static CUresult take_pitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element, bool low) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(element == 4 || element == 8 || element == 16, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(width && height && width <= 1ull << 40 && height <= 1ull << 40, CUDA_ERROR_INVALID_VALUE);
    size_t row = SIM_ROUND(width, PITCH), bytes;
    SIM_REQUIRE(!__builtin_mul_overflow(row, height, &bytes), CUDA_ERROR_OUT_OF_MEMORY);
    SIM_TRY(sim_memory_take(context, bytes, low, address));
    *pitch = row;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned int element) {
    SIM_REQUIRE(address && pitch, CUDA_ERROR_INVALID_VALUE);
    return take_pitch(address, pitch, width, height, element, false);
}

CUresult sim_cuMemAllocPitch(CUdeviceptr_v1 *address, unsigned int *pitch, unsigned int width, unsigned int height, unsigned int element) {
    CUdeviceptr wide;
    size_t wide_pitch;
    SIM_REQUIRE(address && pitch, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(take_pitch(&wide, &wide_pitch, width, height, element, true));
    *address = (CUdeviceptr_v1)wide;
    *pitch = (unsigned)wide_pitch;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags) {
    enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2 };
    CUcontext context;
    SIM_REQUIRE(address && bytes && (flags == ATTACH_GLOBAL || flags == ATTACH_HOST), CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    return sim_memory_take_managed(context, bytes, address);
}

/* Waits for work that may still use the memory, as the real call does. */
CUresult sim_cuMemFree_v2(CUdeviceptr address) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    if (address == 0) return CUDA_SUCCESS;
    SIM_TRY(sim_context_drain(context));
    return sim_memory_give(address);
}

CUresult sim_cuMemFree(CUdeviceptr_v1 address) { return sim_cuMemFree_v2(address); }

CUresult sim_cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    uint64_t total = sim_device_memory(context->device), taken = sim_state_taken(sim_device_gpu(context->device));
    if (free_bytes) *free_bytes = taken < total ? total - taken : 0;
    if (total_bytes) *total_bytes = total;
    return CUDA_SUCCESS;
}

static unsigned narrow(size_t bytes) { return bytes > UINT32_MAX ? UINT32_MAX : (unsigned)bytes; }

CUresult sim_cuMemGetInfo(unsigned int *free_bytes, unsigned int *total_bytes) {
    size_t wide_free, wide_total;
    SIM_TRY(sim_cuMemGetInfo_v2(&wide_free, &wide_total));
    if (free_bytes) *free_bytes = narrow(wide_free);
    if (total_bytes) *total_bytes = narrow(wide_total);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    CUcontext context;
    sim_allocation_t found = {0};
    sim_mapped_t mapped;
    SIM_TRY(sim_context_current(&context));
    bool known = sim_memory_find(address, &found);
    if (known && found.range->kind == SIM_RESERVED) SIM_REQUIRE(sim_vmm_look(found.range, address, &mapped) && mapped.usable, CUDA_ERROR_NOT_FOUND);
    if (!known) SIM_REQUIRE(sim_host_find(address, &found.base, &found.bytes, NULL), CUDA_ERROR_NOT_FOUND);
    if (base) *base = found.base;
    if (bytes) *bytes = found.bytes;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned int *bytes, CUdeviceptr_v1 address) {
    CUdeviceptr wide;
    size_t wide_bytes;
    SIM_TRY(sim_cuMemGetAddressRange_v2(&wide, &wide_bytes, address));
    if (base) *base = (CUdeviceptr_v1)wide;
    if (bytes) *bytes = narrow(wide_bytes);
    return CUDA_SUCCESS;
}
