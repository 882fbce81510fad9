/* Generated from spec/cuda.api: the hooked entry points.
 *
 * The table holds the address of this library's own wrapper, also when another library exports the same name. */
#include "entry.h"
#include "hooks.h"
#include "real.h"

sl_real_t real;

static const char *const names[] = {
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
    "cuLaunchHostFunc",
    "cuLaunchHostFunc_ptsz",
    "cuMemGetInfo_v2",
    "cudbgMain",
};

static CUresult entry_cuInit(unsigned int Flags) {
    return hook_cuInit(Flags);
}
SL_EXPORT CUresult cuInit(unsigned int Flags) __attribute__((alias("entry_cuInit")));

static CUresult entry_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) {
    return hook_cuMemAlloc(dptr, bytesize);
}
SL_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) __attribute__((alias("entry_cuMemAlloc")));

static CUresult entry_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    return hook_cuMemAlloc_v2(dptr, bytesize);
}
SL_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) __attribute__((alias("entry_cuMemAlloc_v2")));

static CUresult entry_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    return hook_cuMemFreeAsync(dptr, hStream);
}
SL_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync")));

static CUresult entry_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    return hook_cuMemFreeAsync_ptsz(dptr, hStream);
}
SL_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync_ptsz")));

static CUresult entry_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return hook_cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount);
}
SL_EXPORT CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) __attribute__((alias("entry_cuMemcpyDtoH_v2")));

static CUresult entry_cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return hook_cuMemcpyDtoH_v2_ptds(dstHost, srcDevice, ByteCount);
}
SL_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) __attribute__((alias("entry_cuMemcpyDtoH_v2_ptds")));

static CUresult entry_cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    return hook_cuMemcpy2DAsync(pCopy, hStream);
}
SL_EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) __attribute__((alias("entry_cuMemcpy2DAsync")));

static CUresult entry_cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    return hook_cuMemcpy2DAsync_ptsz(pCopy, hStream);
}
SL_EXPORT CUresult cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) __attribute__((alias("entry_cuMemcpy2DAsync_ptsz")));

static CUresult entry_cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
    return hook_cuMemsetD2D16(dstDevice, dstPitch, us, Width, Height);
}
SL_EXPORT CUresult cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) __attribute__((alias("entry_cuMemsetD2D16")));

static CUresult entry_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) {
    return hook_cuMemPrefetchBatchAsync(dptrs, sizes, count, hStream);
}
SL_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) __attribute__((alias("entry_cuMemPrefetchBatchAsync")));

static CUresult entry_cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) {
    return hook_cuMemBatchDecompressAsync(paramsArray, count, stream);
}
SL_EXPORT CUresult cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) __attribute__((alias("entry_cuMemBatchDecompressAsync")));

static CUresult entry_cuLaunchEverywhere(unsigned int numDevices) {
    return hook_cuLaunchEverywhere(numDevices);
}
SL_EXPORT CUresult cuLaunchEverywhere(unsigned int numDevices) __attribute__((alias("entry_cuLaunchEverywhere")));

static const sl_entry_hook_t hooks[] = {
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
};

const sl_entry_table_t sl_entry_cuda = {
    .real = (void **)&real,
    .names = names,
    .count = sizeof names / sizeof *names,
    .hooks = hooks,
    .hook_count = sizeof hooks / sizeof *hooks,
};

_Static_assert(sizeof real == sizeof names, "one pointer for each entry point");
