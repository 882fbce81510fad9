/* Generated from spec/cuda.api: the entry points of the simulated driver, twins included.
 *
 * The table holds the simulated driver's own functions, also when a preloaded library exports the same names. */
#include "sim_bodies.h"

#define SIM_EXPORT __attribute__((visibility("default")))
#define SIM_NOT_SUPPORTED 801

static CUresult entry_cuInit(unsigned int Flags) {
    CUresult sim_result;
    if (!sim_cuInit) return SIM_NOT_SUPPORTED;
    if (sim_enter(0, 0, &sim_result)) return sim_result;
    sim_result = sim_cuInit(Flags);
    return sim_leave(0, sim_result);
}
SIM_EXPORT CUresult cuInit(unsigned int Flags) __attribute__((alias("entry_cuInit")));

static CUresult entry_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    CUresult sim_result;
    if (!sim_cuDeviceGetUuid) return SIM_NOT_SUPPORTED;
    if (sim_enter(1, 0, &sim_result)) return sim_result;
    sim_result = sim_cuDeviceGetUuid(uuid, dev);
    return sim_leave(1, sim_result);
}
SIM_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) __attribute__((alias("entry_cuDeviceGetUuid")));

static CUresult entry_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    CUresult sim_result;
    if (!sim_cuDeviceGetProperties) return SIM_NOT_SUPPORTED;
    if (sim_enter(2, 0, &sim_result)) return sim_result;
    sim_result = sim_cuDeviceGetProperties(prop, dev);
    return sim_leave(2, sim_result);
}
SIM_EXPORT CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) __attribute__((alias("entry_cuDeviceGetProperties")));

static CUresult entry_cuCtxSynchronize(void) {
    CUresult sim_result;
    if (!sim_cuCtxSynchronize) return SIM_NOT_SUPPORTED;
    if (sim_enter(3, 0, &sim_result)) return sim_result;
    sim_result = sim_cuCtxSynchronize();
    return sim_leave(3, sim_result);
}
SIM_EXPORT CUresult cuCtxSynchronize(void) __attribute__((alias("entry_cuCtxSynchronize")));

static CUresult entry_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) {
    CUresult sim_result;
    if (!sim_cuMemAlloc) return SIM_NOT_SUPPORTED;
    if (sim_enter(4, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemAlloc(dptr, bytesize);
    return sim_leave(4, sim_result);
}
SIM_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) __attribute__((alias("entry_cuMemAlloc")));

static CUresult entry_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    CUresult sim_result;
    if (!sim_cuMemAlloc_v2) return SIM_NOT_SUPPORTED;
    if (sim_enter(5, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemAlloc_v2(dptr, bytesize);
    return sim_leave(5, sim_result);
}
SIM_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) __attribute__((alias("entry_cuMemAlloc_v2")));

static CUresult entry_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuMemAllocAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(6, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemAllocAsync(dptr, bytesize, hStream);
    return sim_leave(6, sim_result);
}
SIM_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) __attribute__((alias("entry_cuMemAllocAsync")));

static CUresult entry_cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuMemAllocAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(7, 1, &sim_result)) return sim_result;
    sim_result = sim_cuMemAllocAsync(dptr, bytesize, hStream);
    return sim_leave(7, sim_result);
}
SIM_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) __attribute__((alias("entry_cuMemAllocAsync_ptsz")));

static CUresult entry_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuMemFreeAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(8, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemFreeAsync(dptr, hStream);
    return sim_leave(8, sim_result);
}
SIM_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync")));

static CUresult entry_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuMemFreeAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(9, 1, &sim_result)) return sim_result;
    sim_result = sim_cuMemFreeAsync(dptr, hStream);
    return sim_leave(9, sim_result);
}
SIM_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) __attribute__((alias("entry_cuMemFreeAsync_ptsz")));

static CUresult entry_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    CUresult sim_result;
    if (!sim_cuMemcpyDtoH_v2) return SIM_NOT_SUPPORTED;
    if (sim_enter(10, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount);
    return sim_leave(10, sim_result);
}
SIM_EXPORT CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) __attribute__((alias("entry_cuMemcpyDtoH_v2")));

static CUresult entry_cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    CUresult sim_result;
    if (!sim_cuMemcpyDtoH_v2) return SIM_NOT_SUPPORTED;
    if (sim_enter(11, 1, &sim_result)) return sim_result;
    sim_result = sim_cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount);
    return sim_leave(11, sim_result);
}
SIM_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) __attribute__((alias("entry_cuMemcpyDtoH_v2_ptds")));

static CUresult entry_cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuMemcpy2DAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(12, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemcpy2DAsync(pCopy, hStream);
    return sim_leave(12, sim_result);
}
SIM_EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) __attribute__((alias("entry_cuMemcpy2DAsync")));

static CUresult entry_cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuMemcpy2DAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(13, 1, &sim_result)) return sim_result;
    sim_result = sim_cuMemcpy2DAsync(pCopy, hStream);
    return sim_leave(13, sim_result);
}
SIM_EXPORT CUresult cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream) __attribute__((alias("entry_cuMemcpy2DAsync_ptsz")));

static CUresult entry_cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
    CUresult sim_result;
    if (!sim_cuMemsetD2D16) return SIM_NOT_SUPPORTED;
    if (sim_enter(14, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemsetD2D16(dstDevice, dstPitch, us, Width, Height);
    return sim_leave(14, sim_result);
}
SIM_EXPORT CUresult cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) __attribute__((alias("entry_cuMemsetD2D16")));

static CUresult entry_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuMemPrefetchBatchAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(15, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemPrefetchBatchAsync(dptrs, sizes, count, hStream);
    return sim_leave(15, sim_result);
}
SIM_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream) __attribute__((alias("entry_cuMemPrefetchBatchAsync")));

static CUresult entry_cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) {
    CUresult sim_result;
    if (!sim_cuMemBatchDecompressAsync) return SIM_NOT_SUPPORTED;
    if (sim_enter(16, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemBatchDecompressAsync(paramsArray, count, stream);
    return sim_leave(16, sim_result);
}
SIM_EXPORT CUresult cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream) __attribute__((alias("entry_cuMemBatchDecompressAsync")));

static CUresult entry_cuLaunchEverywhere(unsigned int numDevices) {
    CUresult sim_result;
    if (!sim_cuLaunchEverywhere) return SIM_NOT_SUPPORTED;
    if (sim_enter(17, 0, &sim_result)) return sim_result;
    sim_result = sim_cuLaunchEverywhere(numDevices);
    return sim_leave(17, sim_result);
}
SIM_EXPORT CUresult cuLaunchEverywhere(unsigned int numDevices) __attribute__((alias("entry_cuLaunchEverywhere")));

static CUresult entry_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuLaunchKernel) return SIM_NOT_SUPPORTED;
    if (sim_enter(18, 0, &sim_result)) return sim_result;
    sim_result = sim_cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream);
    return sim_leave(18, sim_result);
}
SIM_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) __attribute__((alias("entry_cuLaunchKernel")));

static CUresult entry_cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) {
    CUresult sim_result;
    if (!sim_cuLaunchKernel) return SIM_NOT_SUPPORTED;
    if (sim_enter(19, 1, &sim_result)) return sim_result;
    sim_result = sim_cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream);
    return sim_leave(19, sim_result);
}
SIM_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream) __attribute__((alias("entry_cuLaunchKernel_ptsz")));

static CUresult entry_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    CUresult sim_result;
    if (!sim_cuLaunchHostFunc) return SIM_NOT_SUPPORTED;
    if (sim_enter(20, 0, &sim_result)) return sim_result;
    sim_result = sim_cuLaunchHostFunc(hStream, fn, userData);
    return sim_leave(20, sim_result);
}
SIM_EXPORT CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) __attribute__((alias("entry_cuLaunchHostFunc")));

static CUresult entry_cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData) {
    CUresult sim_result;
    if (!sim_cuLaunchHostFunc) return SIM_NOT_SUPPORTED;
    if (sim_enter(21, 1, &sim_result)) return sim_result;
    sim_result = sim_cuLaunchHostFunc(hStream, fn, userData);
    return sim_leave(21, sim_result);
}
SIM_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData) __attribute__((alias("entry_cuLaunchHostFunc_ptsz")));

static CUresult entry_cuMemGetInfo_v2(size_t *free, size_t *total) {
    CUresult sim_result;
    if (!sim_cuMemGetInfo_v2) return SIM_NOT_SUPPORTED;
    if (sim_enter(22, 0, &sim_result)) return sim_result;
    sim_result = sim_cuMemGetInfo_v2(free, total);
    return sim_leave(22, sim_result);
}
SIM_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) __attribute__((alias("entry_cuMemGetInfo_v2")));

const sim_entry_t sim_entries[SIM_ENTRY_COUNT] = {
    {"cuInit", "cuInit", 2000, 0, (sim_function_t)entry_cuInit, (sim_function_t)sim_cuInit},
    {"cuDeviceGetUuid", "cuDeviceGetUuid", 9020, 0, (sim_function_t)entry_cuDeviceGetUuid, (sim_function_t)sim_cuDeviceGetUuid},
    {"cuDeviceGetProperties", "cuDeviceGetProperties", 2000, 0, (sim_function_t)entry_cuDeviceGetProperties, (sim_function_t)sim_cuDeviceGetProperties},
    {"cuCtxSynchronize", "cuCtxSynchronize", 2000, 0, (sim_function_t)entry_cuCtxSynchronize, (sim_function_t)sim_cuCtxSynchronize},
    {"cuMemAlloc", "cuMemAlloc", 2000, 0, (sim_function_t)entry_cuMemAlloc, (sim_function_t)sim_cuMemAlloc},
    {"cuMemAlloc_v2", "cuMemAlloc", 3020, 0, (sim_function_t)entry_cuMemAlloc_v2, (sim_function_t)sim_cuMemAlloc_v2},
    {"cuMemAllocAsync", "cuMemAllocAsync", 11020, 0, (sim_function_t)entry_cuMemAllocAsync, (sim_function_t)sim_cuMemAllocAsync},
    {"cuMemAllocAsync_ptsz", "cuMemAllocAsync", 11020, 1, (sim_function_t)entry_cuMemAllocAsync_ptsz, (sim_function_t)sim_cuMemAllocAsync},
    {"cuMemFreeAsync", "cuMemFreeAsync", 11020, 0, (sim_function_t)entry_cuMemFreeAsync, (sim_function_t)sim_cuMemFreeAsync},
    {"cuMemFreeAsync_ptsz", "cuMemFreeAsync", 11020, 1, (sim_function_t)entry_cuMemFreeAsync_ptsz, (sim_function_t)sim_cuMemFreeAsync},
    {"cuMemcpyDtoH_v2", "cuMemcpyDtoH", 3020, 0, (sim_function_t)entry_cuMemcpyDtoH_v2, (sim_function_t)sim_cuMemcpyDtoH_v2},
    {"cuMemcpyDtoH_v2_ptds", "cuMemcpyDtoH", 7000, 1, (sim_function_t)entry_cuMemcpyDtoH_v2_ptds, (sim_function_t)sim_cuMemcpyDtoH_v2},
    {"cuMemcpy2DAsync", "cuMemcpy2DAsync", 3020, 0, (sim_function_t)entry_cuMemcpy2DAsync, (sim_function_t)sim_cuMemcpy2DAsync},
    {"cuMemcpy2DAsync_ptsz", "cuMemcpy2DAsync", 7000, 1, (sim_function_t)entry_cuMemcpy2DAsync_ptsz, (sim_function_t)sim_cuMemcpy2DAsync},
    {"cuMemsetD2D16", "cuMemsetD2D16", 3020, 0, (sim_function_t)entry_cuMemsetD2D16, (sim_function_t)sim_cuMemsetD2D16},
    {"cuMemPrefetchBatchAsync", "cuMemPrefetchBatchAsync", 13000, 0, (sim_function_t)entry_cuMemPrefetchBatchAsync, (sim_function_t)sim_cuMemPrefetchBatchAsync},
    {"cuMemBatchDecompressAsync", "cuMemBatchDecompressAsync", 12060, 0, (sim_function_t)entry_cuMemBatchDecompressAsync, (sim_function_t)sim_cuMemBatchDecompressAsync},
    {"cuLaunchEverywhere", "cuLaunchEverywhere", 9000, 0, (sim_function_t)entry_cuLaunchEverywhere, (sim_function_t)sim_cuLaunchEverywhere},
    {"cuLaunchKernel", "cuLaunchKernel", 4000, 0, (sim_function_t)entry_cuLaunchKernel, (sim_function_t)sim_cuLaunchKernel},
    {"cuLaunchKernel_ptsz", "cuLaunchKernel", 7000, 1, (sim_function_t)entry_cuLaunchKernel_ptsz, (sim_function_t)sim_cuLaunchKernel},
    {"cuLaunchHostFunc", "cuLaunchHostFunc", 10000, 0, (sim_function_t)entry_cuLaunchHostFunc, (sim_function_t)sim_cuLaunchHostFunc},
    {"cuLaunchHostFunc_ptsz", "cuLaunchHostFunc", 10000, 1, (sim_function_t)entry_cuLaunchHostFunc_ptsz, (sim_function_t)sim_cuLaunchHostFunc},
    {"cuMemGetInfo_v2", "cuMemGetInfo", 3020, 0, (sim_function_t)entry_cuMemGetInfo_v2, (sim_function_t)sim_cuMemGetInfo_v2},
};
