/* Generated from spec/cuda.api: the entry points.
 *
 * The table holds the address of this library's own wrapper, also when another library exports the same name. */
#include "driver/entry.h"
#include "hooks.h"
#include "real.h"
#include "cuda_entries.h"
#include "driver/driver.h"
#include "entry/launch.h"
#include "entry/watch.h"

sl_real_t real;

static const char names[][SL_ENTRY_NAME_BYTES] = {
    "cuInit",
    "cuDeviceGetUuid",
    "cuDeviceGetProperties",
    "cuCtxSynchronize",
    "cuMemAlloc",
    "cuMemAlloc_v2",
    "cuMemAllocAsync",
    "cuMemAllocAsync_ptsz",
    "cuMemFreeAsync",
    "cuMemFreeAsync_ptsz",
    "cuMemcpyDtoH_v2",
    "cuMemcpyDtoH_v2_ptds",
    "cuMemcpy2DAsync",
    "cuMemcpy2DAsync_ptsz",
    "cuMemsetD2D16",
    "cuMemPrefetchBatchAsync",
    "cuMemBatchDecompressAsync",
    "cuLaunchEverywhere",
    "cuLaunchKernel",
    "cuLaunchKernel_ptsz",
    "cuLaunchHostFunc",
    "cuLaunchHostFunc_ptsz",
    "cuMemGetInfo_v2",
    "cudbgMain",
};

__attribute__((noinline)) static CUresult told_cuInit(unsigned int Flags) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuInit(Flags);
    sl_watch_tell(begin, SL_ENTRY_cuInit, status, &(sl_detail_t){.kind = SL_DETAIL_NONE});
    return status;
}
static CUresult entry_cuInit(unsigned int Flags) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuInit(Flags));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuInit(Flags);
    sl_watch_end(begin, SL_ENTRY_cuInit, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuInit(unsigned int Flags) __attribute__((alias("entry_cuInit")));

__attribute__((noinline)) static CUresult told_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemAlloc(dptr, bytesize);
    sl_watch_tell(begin, SL_ENTRY_cuMemAlloc, status, &(sl_detail_t){.kind = SL_DETAIL_MEMORY, .bytes = bytesize, .address = status == CUDA_SUCCESS && dptr ? *dptr : 0});
    return status;
}
static CUresult entry_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemAlloc(dptr, bytesize));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemAlloc(dptr, bytesize);
    sl_watch_end_bytes(begin, SL_ENTRY_cuMemAlloc, status, bytesize);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) __attribute__((alias("entry_cuMemAlloc")));

__attribute__((noinline)) static CUresult told_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemAlloc_v2(dptr, bytesize);
    sl_watch_tell(begin, SL_ENTRY_cuMemAlloc_v2, status, &(sl_detail_t){.kind = SL_DETAIL_MEMORY, .bytes = bytesize, .address = status == CUDA_SUCCESS && dptr ? *dptr : 0});
    return status;
}
static CUresult entry_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemAlloc_v2(dptr, bytesize));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemAlloc_v2(dptr, bytesize);
    sl_watch_end_bytes(begin, SL_ENTRY_cuMemAlloc_v2, status, bytesize);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) __attribute__((alias("entry_cuMemAlloc_v2")));

__attribute__((noinline)) static CUresult told_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemFreeAsync(dptr, hStream);
    sl_watch_tell(begin, SL_ENTRY_cuMemFreeAsync, status, &(sl_detail_t){.kind = SL_DETAIL_MEMORY, .stream = sl_watch_stream(hStream, false), .address = dptr});
    return status;
}
static CUresult entry_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemFreeAsync(dptr, hStream));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemFreeAsync(dptr, hStream);
    sl_watch_end(begin, SL_ENTRY_cuMemFreeAsync, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync")));

__attribute__((noinline)) static CUresult told_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemFreeAsync_ptsz(dptr, hStream);
    sl_watch_tell(begin, SL_ENTRY_cuMemFreeAsync_ptsz, status, &(sl_detail_t){.kind = SL_DETAIL_MEMORY, .stream = sl_watch_stream(hStream, true), .address = dptr});
    return status;
}
static CUresult entry_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemFreeAsync_ptsz(dptr, hStream));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemFreeAsync_ptsz(dptr, hStream);
    sl_watch_end(begin, SL_ENTRY_cuMemFreeAsync_ptsz, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync_ptsz")));

__attribute__((noinline)) static CUresult told_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount);
    sl_watch_tell(begin, SL_ENTRY_cuMemcpyDtoH_v2, status, &(sl_detail_t){.kind = SL_DETAIL_COPY, .bytes = ByteCount, .direction = SL_DIRECTION_FROM_GPU, .stream = sl_watch_stream(NULL, false)});
    return status;
}
static CUresult entry_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount);
    sl_watch_end_copy(begin, SL_ENTRY_cuMemcpyDtoH_v2, status, ByteCount, SL_DIRECTION_FROM_GPU);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) __attribute__((alias("entry_cuMemcpyDtoH_v2")));

__attribute__((noinline)) static CUresult told_cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemcpyDtoH_v2_ptds(dstHost, srcDevice, ByteCount);
    sl_watch_tell(begin, SL_ENTRY_cuMemcpyDtoH_v2_ptds, status, &(sl_detail_t){.kind = SL_DETAIL_COPY, .bytes = ByteCount, .direction = SL_DIRECTION_FROM_GPU, .stream = sl_watch_stream(NULL, true)});
    return status;
}
static CUresult entry_cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemcpyDtoH_v2_ptds(dstHost, srcDevice, ByteCount));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemcpyDtoH_v2_ptds(dstHost, srcDevice, ByteCount);
    sl_watch_end_copy(begin, SL_ENTRY_cuMemcpyDtoH_v2_ptds, status, ByteCount, SL_DIRECTION_FROM_GPU);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) __attribute__((alias("entry_cuMemcpyDtoH_v2_ptds")));

__attribute__((noinline)) static CUresult told_cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemcpy2DAsync(pCopy, hStream);
    sl_watch_tell(begin, SL_ENTRY_cuMemcpy2DAsync, status, &(sl_detail_t){.kind = SL_DETAIL_COPY, .bytes = pCopy ? (uint64_t)pCopy->WidthInBytes * pCopy->Height : 0, .direction = pCopy ? sl_watch_direction(pCopy->srcMemoryType, pCopy->dstMemoryType) : SL_DIRECTION_OTHER, .stream = sl_watch_stream(hStream, false)});
    return status;
}
static CUresult entry_cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemcpy2DAsync(pCopy, hStream));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemcpy2DAsync(pCopy, hStream);
    sl_watch_end_copy(begin, SL_ENTRY_cuMemcpy2DAsync, status, pCopy ? (uint64_t)pCopy->WidthInBytes * pCopy->Height : 0, pCopy ? sl_watch_direction(pCopy->srcMemoryType, pCopy->dstMemoryType) : SL_DIRECTION_OTHER);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) __attribute__((alias("entry_cuMemcpy2DAsync")));

__attribute__((noinline)) static CUresult told_cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemcpy2DAsync_ptsz(pCopy, hStream);
    sl_watch_tell(begin, SL_ENTRY_cuMemcpy2DAsync_ptsz, status, &(sl_detail_t){.kind = SL_DETAIL_COPY, .bytes = pCopy ? (uint64_t)pCopy->WidthInBytes * pCopy->Height : 0, .direction = pCopy ? sl_watch_direction(pCopy->srcMemoryType, pCopy->dstMemoryType) : SL_DIRECTION_OTHER, .stream = sl_watch_stream(hStream, true)});
    return status;
}
static CUresult entry_cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemcpy2DAsync_ptsz(pCopy, hStream));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemcpy2DAsync_ptsz(pCopy, hStream);
    sl_watch_end_copy(begin, SL_ENTRY_cuMemcpy2DAsync_ptsz, status, pCopy ? (uint64_t)pCopy->WidthInBytes * pCopy->Height : 0, pCopy ? sl_watch_direction(pCopy->srcMemoryType, pCopy->dstMemoryType) : SL_DIRECTION_OTHER);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) __attribute__((alias("entry_cuMemcpy2DAsync_ptsz")));

__attribute__((noinline)) static CUresult told_cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemsetD2D16(dstDevice, dstPitch, us, Width, Height);
    sl_watch_tell(begin, SL_ENTRY_cuMemsetD2D16, status, &(sl_detail_t){.kind = SL_DETAIL_SET, .bytes = (uint64_t)Width * Height * 2, .stream = sl_watch_stream(NULL, false)});
    return status;
}
static CUresult entry_cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemsetD2D16(dstDevice, dstPitch, us, Width, Height));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemsetD2D16(dstDevice, dstPitch, us, Width, Height);
    sl_watch_end_bytes(begin, SL_ENTRY_cuMemsetD2D16, status, (uint64_t)Width * Height * 2);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) __attribute__((alias("entry_cuMemsetD2D16")));

__attribute__((noinline)) static CUresult told_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemPrefetchBatchAsync(dptrs, sizes, count, hStream);
    sl_watch_tell(begin, SL_ENTRY_cuMemPrefetchBatchAsync, status, &(sl_detail_t){.kind = SL_DETAIL_COPY, .bytes = sl_watch_sum(sizes, count), .direction = SL_DIRECTION_OTHER, .stream = sl_watch_stream(hStream, false)});
    return status;
}
static CUresult entry_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemPrefetchBatchAsync(dptrs, sizes, count, hStream));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemPrefetchBatchAsync(dptrs, sizes, count, hStream);
    sl_watch_end_copy(begin, SL_ENTRY_cuMemPrefetchBatchAsync, status, sl_watch_sum(sizes, count), SL_DIRECTION_OTHER);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) __attribute__((alias("entry_cuMemPrefetchBatchAsync")));

__attribute__((noinline)) static CUresult told_cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuMemBatchDecompressAsync(paramsArray, count, stream);
    sl_watch_tell(begin, SL_ENTRY_cuMemBatchDecompressAsync, status, &(sl_detail_t){.kind = SL_DETAIL_COPY, .direction = SL_DIRECTION_OTHER, .stream = sl_watch_stream(stream, false)});
    return status;
}
static CUresult entry_cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) {
    sl_hold_enter();
    if (sl_watch_is_told())
        return sl_hold_left(told_cuMemBatchDecompressAsync(paramsArray, count, stream));
    uint64_t begin = sl_watch_begin();
    CUresult status = hook_cuMemBatchDecompressAsync(paramsArray, count, stream);
    sl_watch_end_copy(begin, SL_ENTRY_cuMemBatchDecompressAsync, status, 0, SL_DIRECTION_OTHER);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) __attribute__((alias("entry_cuMemBatchDecompressAsync")));

__attribute__((noinline)) static CUresult told_cuLaunchEverywhere(unsigned int numDevices) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = hook_cuLaunchEverywhere(numDevices);
    sl_watch_tell(begin, SL_ENTRY_cuLaunchEverywhere, status, &(sl_detail_t){.kind = SL_DETAIL_KERNEL, .quick = true, .stream = sl_watch_stream(NULL, false)});
    return status;
}
static CUresult entry_cuLaunchEverywhere(unsigned int numDevices) {
    sl_hold_enter();
    sl_region_call_t *call = sl_watch_untimed(SL_ENTRY_cuLaunchEverywhere);
    if (SL_UNLIKELY(!call))
        return sl_hold_left(told_cuLaunchEverywhere(numDevices));
    CUresult status = hook_cuLaunchEverywhere(numDevices);
    sl_watch_count(call, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuLaunchEverywhere(unsigned int numDevices) __attribute__((alias("entry_cuLaunchEverywhere")));

SL_HOT static CUresult entry_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) {
    sl_hold_enter();
    uint64_t begin = sl_launch_begin(SL_ENTRY_cuLaunchKernel);
    CUresult status = hook_cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream);
    if (SL_UNLIKELY(begin != 0))
        sl_launch_tell(begin, SL_ENTRY_cuLaunchKernel, status, sl_watch_stream(hStream, false), (uintptr_t)f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes);
    else
        sl_watch_count(&sl_thread.watch.calls[SL_ENTRY_cuLaunchKernel], status);
    return sl_hold_left(status);
}
SL_EXPORT SL_HOT CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) __attribute__((alias("entry_cuLaunchKernel")));

SL_HOT static CUresult entry_cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) {
    sl_hold_enter();
    uint64_t begin = sl_launch_begin(SL_ENTRY_cuLaunchKernel_ptsz);
    CUresult status = hook_cuLaunchKernel_ptsz(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream);
    if (SL_UNLIKELY(begin != 0))
        sl_launch_tell(begin, SL_ENTRY_cuLaunchKernel_ptsz, status, sl_watch_stream(hStream, true), (uintptr_t)f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes);
    else
        sl_watch_count(&sl_thread.watch.calls[SL_ENTRY_cuLaunchKernel_ptsz], status);
    return sl_hold_left(status);
}
SL_EXPORT SL_HOT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) __attribute__((alias("entry_cuLaunchKernel_ptsz")));

static inline CUresult forward_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuDeviceGetUuid)) ? CUDA_ERROR_NOT_FOUND : real.cuDeviceGetUuid(uuid, dev);
}
__attribute__((noinline)) static CUresult told_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuDeviceGetUuid(uuid, dev);
    sl_watch_tell_question(begin, SL_ENTRY_cuDeviceGetUuid, status, 0);
    return status;
}
static CUresult entry_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    sl_hold_enter();
    sl_region_call_t *call = sl_watch_untimed(SL_ENTRY_cuDeviceGetUuid);
    if (SL_UNLIKELY(!call) || SL_UNLIKELY(!real.cuDeviceGetUuid))
        return sl_hold_left(told_cuDeviceGetUuid(uuid, dev));
    CUresult status = real.cuDeviceGetUuid(uuid, dev);
    sl_watch_count(call, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) __attribute__((alias("entry_cuDeviceGetUuid")));

static inline CUresult forward_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuDeviceGetProperties)) ? CUDA_ERROR_NOT_FOUND : real.cuDeviceGetProperties(prop, dev);
}
__attribute__((noinline)) static CUresult told_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuDeviceGetProperties(prop, dev);
    sl_watch_tell_question(begin, SL_ENTRY_cuDeviceGetProperties, status, 0);
    return status;
}
static CUresult entry_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    sl_hold_enter();
    sl_region_call_t *call = sl_watch_untimed(SL_ENTRY_cuDeviceGetProperties);
    if (SL_UNLIKELY(!call) || SL_UNLIKELY(!real.cuDeviceGetProperties))
        return sl_hold_left(told_cuDeviceGetProperties(prop, dev));
    CUresult status = real.cuDeviceGetProperties(prop, dev);
    sl_watch_count(call, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) __attribute__((alias("entry_cuDeviceGetProperties")));

static inline CUresult forward_cuCtxSynchronize(void) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuCtxSynchronize)) ? CUDA_ERROR_NOT_FOUND : real.cuCtxSynchronize();
}
__attribute__((noinline)) static CUresult told_cuCtxSynchronize(void) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuCtxSynchronize();
    sl_watch_tell(begin, SL_ENTRY_cuCtxSynchronize, status, &(sl_detail_t){.kind = SL_DETAIL_SYNC});
    return status;
}
static CUresult entry_cuCtxSynchronize(void) {
    sl_hold_enter();
    if (sl_watch_is_told() || SL_UNLIKELY(!real.cuCtxSynchronize))
        return sl_hold_left(told_cuCtxSynchronize());
    uint64_t begin = sl_watch_begin();
    CUresult status = real.cuCtxSynchronize();
    sl_watch_end(begin, SL_ENTRY_cuCtxSynchronize, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuCtxSynchronize(void) __attribute__((alias("entry_cuCtxSynchronize")));

static inline CUresult forward_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuMemAllocAsync)) ? CUDA_ERROR_NOT_FOUND : real.cuMemAllocAsync(dptr, bytesize, hStream);
}
__attribute__((noinline)) static CUresult told_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuMemAllocAsync(dptr, bytesize, hStream);
    sl_watch_tell(begin, SL_ENTRY_cuMemAllocAsync, status, &(sl_detail_t){.kind = SL_DETAIL_MEMORY, .bytes = bytesize, .stream = sl_watch_stream(hStream, false), .address = status == CUDA_SUCCESS && dptr ? *dptr : 0});
    return status;
}
static CUresult entry_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    sl_hold_enter();
    if (sl_watch_is_told() || SL_UNLIKELY(!real.cuMemAllocAsync))
        return sl_hold_left(told_cuMemAllocAsync(dptr, bytesize, hStream));
    uint64_t begin = sl_watch_begin();
    CUresult status = real.cuMemAllocAsync(dptr, bytesize, hStream);
    sl_watch_end_bytes(begin, SL_ENTRY_cuMemAllocAsync, status, bytesize);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) __attribute__((alias("entry_cuMemAllocAsync")));

static inline CUresult forward_cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuMemAllocAsync_ptsz)) ? CUDA_ERROR_NOT_FOUND : real.cuMemAllocAsync_ptsz(dptr, bytesize, hStream);
}
__attribute__((noinline)) static CUresult told_cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuMemAllocAsync_ptsz(dptr, bytesize, hStream);
    sl_watch_tell(begin, SL_ENTRY_cuMemAllocAsync_ptsz, status, &(sl_detail_t){.kind = SL_DETAIL_MEMORY, .bytes = bytesize, .stream = sl_watch_stream(hStream, true), .address = status == CUDA_SUCCESS && dptr ? *dptr : 0});
    return status;
}
static CUresult entry_cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    sl_hold_enter();
    if (sl_watch_is_told() || SL_UNLIKELY(!real.cuMemAllocAsync_ptsz))
        return sl_hold_left(told_cuMemAllocAsync_ptsz(dptr, bytesize, hStream));
    uint64_t begin = sl_watch_begin();
    CUresult status = real.cuMemAllocAsync_ptsz(dptr, bytesize, hStream);
    sl_watch_end_bytes(begin, SL_ENTRY_cuMemAllocAsync_ptsz, status, bytesize);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) __attribute__((alias("entry_cuMemAllocAsync_ptsz")));

static inline CUresult forward_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuLaunchHostFunc)) ? CUDA_ERROR_NOT_FOUND : real.cuLaunchHostFunc(hStream, fn, userData);
}
__attribute__((noinline)) static CUresult told_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuLaunchHostFunc(hStream, fn, userData);
    sl_watch_tell(begin, SL_ENTRY_cuLaunchHostFunc, status, &(sl_detail_t){.kind = SL_DETAIL_NONE, .stream = sl_watch_stream(hStream, false)});
    return status;
}
static CUresult entry_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    sl_hold_enter();
    if (sl_watch_is_told() || SL_UNLIKELY(!real.cuLaunchHostFunc))
        return sl_hold_left(told_cuLaunchHostFunc(hStream, fn, userData));
    uint64_t begin = sl_watch_begin();
    CUresult status = real.cuLaunchHostFunc(hStream, fn, userData);
    sl_watch_end(begin, SL_ENTRY_cuLaunchHostFunc, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) __attribute__((alias("entry_cuLaunchHostFunc")));

static inline CUresult forward_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuLaunchHostFunc_ptsz)) ? CUDA_ERROR_NOT_FOUND : real.cuLaunchHostFunc_ptsz(hStream, fn, userData);
}
__attribute__((noinline)) static CUresult told_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuLaunchHostFunc_ptsz(hStream, fn, userData);
    sl_watch_tell(begin, SL_ENTRY_cuLaunchHostFunc_ptsz, status, &(sl_detail_t){.kind = SL_DETAIL_NONE, .stream = sl_watch_stream(hStream, true)});
    return status;
}
static CUresult entry_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData) {
    sl_hold_enter();
    if (sl_watch_is_told() || SL_UNLIKELY(!real.cuLaunchHostFunc_ptsz))
        return sl_hold_left(told_cuLaunchHostFunc_ptsz(hStream, fn, userData));
    uint64_t begin = sl_watch_begin();
    CUresult status = real.cuLaunchHostFunc_ptsz(hStream, fn, userData);
    sl_watch_end(begin, SL_ENTRY_cuLaunchHostFunc_ptsz, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData) __attribute__((alias("entry_cuLaunchHostFunc_ptsz")));

static inline CUresult forward_cuMemGetInfo_v2(size_t *free, size_t *total) {
    return SL_UNLIKELY(!SL_DRIVER_HAS(cuMemGetInfo_v2)) ? CUDA_ERROR_NOT_FOUND : real.cuMemGetInfo_v2(free, total);
}
__attribute__((noinline)) static CUresult told_cuMemGetInfo_v2(size_t *free, size_t *total) {
    uint64_t begin = sl_watch_begin_told();
    CUresult status = forward_cuMemGetInfo_v2(free, total);
    sl_watch_tell(begin, SL_ENTRY_cuMemGetInfo_v2, status, &(sl_detail_t){.kind = SL_DETAIL_NONE});
    return status;
}
static CUresult entry_cuMemGetInfo_v2(size_t *free, size_t *total) {
    sl_hold_enter();
    if (sl_watch_is_told() || SL_UNLIKELY(!real.cuMemGetInfo_v2))
        return sl_hold_left(told_cuMemGetInfo_v2(free, total));
    uint64_t begin = sl_watch_begin();
    CUresult status = real.cuMemGetInfo_v2(free, total);
    sl_watch_end(begin, SL_ENTRY_cuMemGetInfo_v2, status);
    return sl_hold_left(status);
}
SL_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) __attribute__((alias("entry_cuMemGetInfo_v2")));

static const sl_entry_wrapper_t wrappers[] = {
    {0, (void *)entry_cuInit},
    {4, (void *)entry_cuMemAlloc},
    {5, (void *)entry_cuMemAlloc_v2},
    {8, (void *)entry_cuMemFreeAsync},
    {9, (void *)entry_cuMemFreeAsync_ptsz},
    {10, (void *)entry_cuMemcpyDtoH_v2},
    {11, (void *)entry_cuMemcpyDtoH_v2_ptds},
    {12, (void *)entry_cuMemcpy2DAsync},
    {13, (void *)entry_cuMemcpy2DAsync_ptsz},
    {14, (void *)entry_cuMemsetD2D16},
    {15, (void *)entry_cuMemPrefetchBatchAsync},
    {16, (void *)entry_cuMemBatchDecompressAsync},
    {17, (void *)entry_cuLaunchEverywhere},
    {18, (void *)entry_cuLaunchKernel},
    {19, (void *)entry_cuLaunchKernel_ptsz},
    {1, (void *)entry_cuDeviceGetUuid},
    {2, (void *)entry_cuDeviceGetProperties},
    {3, (void *)entry_cuCtxSynchronize},
    {6, (void *)entry_cuMemAllocAsync},
    {7, (void *)entry_cuMemAllocAsync_ptsz},
    {20, (void *)entry_cuLaunchHostFunc},
    {21, (void *)entry_cuLaunchHostFunc_ptsz},
    {22, (void *)entry_cuMemGetInfo_v2},
};

const sl_entry_table_t sl_entry_cuda = {
    .real = (void **)&real,
    .names = names,
    .count = sizeof names / sizeof *names,
    .wrappers = wrappers,
    .wrapper_count = sizeof wrappers / sizeof *wrappers,
};

_Static_assert(sizeof real / sizeof(void *) == sizeof names / sizeof *names, "one pointer for each entry point");
