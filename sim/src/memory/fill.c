/* The calls that set memory, and those that only advise where it should be. */
#include "work/work.h"

static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                     CUstream handle, bool wait) {
    CUcontext context;
    CUstream stream;
    sim_work_t work = {.kind = SIM_WORK_FILL, .fill = {to, pitch, value, element, width, height}};
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(sim_fill_is_valid(&work.fill), CUDA_ERROR_INVALID_VALUE);
    if (!width || !height) return CUDA_SUCCESS;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    if (!wait) return sim_work_submit(stream, &work);
    SIM_TRY(sim_capture_forbid(stream));
    SIM_TRY(sim_capture_check_legacy(stream));
    return sim_work_run(stream, &work);
}

CUresult sim_cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) { return fill(to, 0, value, 1, count, 1, NULL, true); }
CUresult sim_cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) { return fill(to, 0, value, 2, count, 1, NULL, true); }
CUresult sim_cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) { return fill(to, 0, value, 4, count, 1, NULL, true); }
CUresult sim_cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) { return fill(to, pitch, value, 1, width, height, NULL, true); }
CUresult sim_cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) { return fill(to, pitch, value, 2, width, height, NULL, true); }
CUresult sim_cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) { return fill(to, pitch, value, 4, width, height, NULL, true); }

CUresult sim_cuMemsetD8(CUdeviceptr_v1 to, unsigned char value, unsigned int count) { return sim_cuMemsetD8_v2(to, value, count); }
CUresult sim_cuMemsetD16(CUdeviceptr_v1 to, unsigned short value, unsigned int count) { return sim_cuMemsetD16_v2(to, value, count); }
CUresult sim_cuMemsetD32(CUdeviceptr_v1 to, unsigned int value, unsigned int count) { return sim_cuMemsetD32_v2(to, value, count); }
CUresult sim_cuMemsetD2D8(CUdeviceptr_v1 to, unsigned int pitch, unsigned char value, unsigned int width, unsigned int height) { return sim_cuMemsetD2D8_v2(to, pitch, value, width, height); }
CUresult sim_cuMemsetD2D16(CUdeviceptr_v1 to, unsigned int pitch, unsigned short value, unsigned int width, unsigned int height) { return sim_cuMemsetD2D16_v2(to, pitch, value, width, height); }
CUresult sim_cuMemsetD2D32(CUdeviceptr_v1 to, unsigned int pitch, unsigned int value, unsigned int width, unsigned int height) { return sim_cuMemsetD2D32_v2(to, pitch, value, width, height); }

CUresult sim_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) { return fill(to, 0, value, 1, count, 1, stream, false); }
CUresult sim_cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) { return fill(to, 0, value, 2, count, 1, stream, false); }
CUresult sim_cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) { return fill(to, 0, value, 4, count, 1, stream, false); }
CUresult sim_cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream) { return fill(to, pitch, value, 1, width, height, stream, false); }
CUresult sim_cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream) { return fill(to, pitch, value, 2, width, height, stream, false); }
CUresult sim_cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream) { return fill(to, pitch, value, 4, width, height, stream, false); }

static CUresult check_managed(CUdeviceptr address, size_t count) {
    CUcontext context;
    sim_allocation_t found;
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(count && sim_memory_find(address, &found) && found.range->kind == SIM_MANAGED, CUDA_ERROR_INVALID_VALUE);
    return count <= found.bytes - (address - found.base) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemAdvise(CUdeviceptr address, size_t count, CUmem_advise advice, CUdevice device) {
    SIM_REQUIRE(advice >= 1 && advice <= 6, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(device < 0 || sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    return check_managed(address, count);
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr address, size_t count, CUmem_advise advice, CUmemLocation location) {
    return sim_cuMemAdvise(address, count, advice, location.type == 1 ? location.id : -1);
}

CUresult sim_cuMemPrefetchAsync(CUdeviceptr address, size_t count, CUdevice device, CUstream handle) {
    CUstream stream;
    SIM_REQUIRE(device < 0 || sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    SIM_TRY(check_managed(address, count));
    SIM_TRY(sim_stream_resolve(handle, &stream));
    if (device >= 0) sim_memory_touch(address);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr address, size_t count, CUmemLocation location, unsigned int flags, CUstream stream) {
    SIM_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    return sim_cuMemPrefetchAsync(address, count, location.type == 1 ? location.id : -1, stream);
}
