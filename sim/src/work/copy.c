/* The calls that copy. Each builds the one three-dimensional form and queues it; a copy from or to host memory that is not
 * pinned is waited for, as the real driver does by staging. */
#include "work/work.h"

enum { HOST = 1, DEVICE = 2, ARRAY = 3, UNIFIED = 4 };

typedef struct {
    int type;
    CUdeviceptr address;
    CUarray array;
    size_t offset;
} end_t;

static end_t host(const void *start) { return (end_t){HOST, (CUdeviceptr)start, NULL, 0}; }
static end_t device(CUdeviceptr address) { return (end_t){DEVICE, address, NULL, 0}; }
static end_t unified(CUdeviceptr address) { return (end_t){UNIFIED, address, NULL, 0}; }
static end_t in_array(CUarray array, size_t offset) { return (end_t){ARRAY, 0, array, offset}; }

static bool is_pageable(int type, const void *host_start, CUdeviceptr address) {
    CUdeviceptr start = type == HOST ? (CUdeviceptr)host_start : address;
    return (type == HOST || type == UNIFIED) && !sim_space_find(start) && !sim_host_find(start, NULL, NULL, NULL);
}

static CUresult perform(const CUDA_MEMCPY3D *copy, CUstream handle, bool wait) {
    CUcontext context;
    CUstream stream;
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(sim_copy_is_valid(copy), CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    sim_work_t work = {.kind = SIM_WORK_COPY, .copy = *copy};
    if (!wait && stream->tips.capture) return sim_capture_add(stream, &work);
    SIM_TRY(sim_capture_forbid(stream));
    SIM_TRY(sim_capture_check_legacy(stream));
    wait |= is_pageable(copy->srcMemoryType, copy->srcHost, copy->srcDevice) || is_pageable(copy->dstMemoryType, copy->dstHost, copy->dstDevice);
    return wait ? sim_work_run(stream, &work) : sim_work_queue(stream, &work);
}

static CUresult move(end_t to, end_t from, size_t bytes, CUstream stream, bool wait) {
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = from.type, .srcHost = (void *)from.address, .srcDevice = from.address, .srcArray = from.array, .srcXInBytes = from.offset,
        .dstMemoryType = to.type, .dstHost = (void *)to.address, .dstDevice = to.address, .dstArray = to.array, .dstXInBytes = to.offset,
        .WidthInBytes = bytes, .Height = 1, .Depth = 1,
    };
    return perform(&copy, stream, wait);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) { return move(device(to), host(from), bytes, NULL, true); }
CUresult sim_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) { return move(host(to), device(from), bytes, NULL, true); }
CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return move(device(to), device(from), bytes, NULL, true); }
CUresult sim_cuMemcpyDtoA_v2(CUarray to, size_t at, CUdeviceptr from, size_t bytes) { return move(in_array(to, at), device(from), bytes, NULL, true); }
CUresult sim_cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t at, size_t bytes) { return move(device(to), in_array(from, at), bytes, NULL, true); }
CUresult sim_cuMemcpyHtoA_v2(CUarray to, size_t at, const void *from, size_t bytes) { return move(in_array(to, at), host(from), bytes, NULL, true); }
CUresult sim_cuMemcpyAtoH_v2(void *to, CUarray from, size_t at, size_t bytes) { return move(host(to), in_array(from, at), bytes, NULL, true); }
CUresult sim_cuMemcpyAtoA_v2(CUarray to, size_t to_at, CUarray from, size_t from_at, size_t bytes) { return move(in_array(to, to_at), in_array(from, from_at), bytes, NULL, true); }
CUresult sim_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return move(unified(to), unified(from), bytes, NULL, true); }

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) { return move(device(to), host(from), bytes, stream, false); }
CUresult sim_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) { return move(host(to), device(from), bytes, stream, false); }
CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) { return move(device(to), device(from), bytes, stream, false); }
CUresult sim_cuMemcpyHtoAAsync_v2(CUarray to, size_t at, const void *from, size_t bytes, CUstream stream) { return move(in_array(to, at), host(from), bytes, stream, false); }
CUresult sim_cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t at, size_t bytes, CUstream stream) { return move(host(to), in_array(from, at), bytes, stream, false); }
CUresult sim_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) { return move(unified(to), unified(from), bytes, stream, false); }

CUresult sim_cuMemcpyHtoD(CUdeviceptr_v1 to, const void *from, unsigned int bytes) { return sim_cuMemcpyHtoD_v2(to, from, bytes); }
CUresult sim_cuMemcpyDtoH(void *to, CUdeviceptr_v1 from, unsigned int bytes) { return sim_cuMemcpyDtoH_v2(to, from, bytes); }
CUresult sim_cuMemcpyDtoD(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int bytes) { return sim_cuMemcpyDtoD_v2(to, from, bytes); }
CUresult sim_cuMemcpyHtoDAsync(CUdeviceptr_v1 to, const void *from, unsigned int bytes, CUstream stream) { return sim_cuMemcpyHtoDAsync_v2(to, from, bytes, stream); }
CUresult sim_cuMemcpyDtoHAsync(void *to, CUdeviceptr_v1 from, unsigned int bytes, CUstream stream) { return sim_cuMemcpyDtoHAsync_v2(to, from, bytes, stream); }
CUresult sim_cuMemcpyDtoDAsync(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int bytes, CUstream stream) { return sim_cuMemcpyDtoDAsync_v2(to, from, bytes, stream); }

CUresult sim_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes) {
    SIM_REQUIRE(sim_context_is_known(to_context) && sim_context_is_known(from_context), CUDA_ERROR_INVALID_CONTEXT);
    return sim_cuMemcpyDtoD_v2(to, from, bytes);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                               CUstream stream) {
    SIM_REQUIRE(sim_context_is_known(to_context) && sim_context_is_known(from_context), CUDA_ERROR_INVALID_CONTEXT);
    return sim_cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

static CUDA_MEMCPY3D widen(const CUDA_MEMCPY2D *copy) {
    return (CUDA_MEMCPY3D){
        .srcXInBytes = copy->srcXInBytes, .srcY = copy->srcY, .srcMemoryType = copy->srcMemoryType, .srcHost = copy->srcHost,
        .srcDevice = copy->srcDevice, .srcArray = copy->srcArray, .srcPitch = copy->srcPitch,
        .dstXInBytes = copy->dstXInBytes, .dstY = copy->dstY, .dstMemoryType = copy->dstMemoryType, .dstHost = copy->dstHost,
        .dstDevice = copy->dstDevice, .dstArray = copy->dstArray, .dstPitch = copy->dstPitch,
        .WidthInBytes = copy->WidthInBytes, .Height = copy->Height, .Depth = 1,
    };
}

static CUresult perform_2d(const CUDA_MEMCPY2D *copy, CUstream stream, bool wait) {
    SIM_REQUIRE(copy, CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY3D wide = widen(copy);
    return perform(&wide, stream, wait);
}

CUresult sim_cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy) { return perform_2d(copy, NULL, true); }
CUresult sim_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy) { return perform_2d(copy, NULL, true); }
CUresult sim_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) { return perform_2d(copy, stream, false); }

CUresult sim_cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) {
    SIM_REQUIRE(copy, CUDA_ERROR_INVALID_VALUE);
    return perform(copy, NULL, true);
}

CUresult sim_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
    SIM_REQUIRE(copy, CUDA_ERROR_INVALID_VALUE);
    return perform(copy, stream, false);
}
