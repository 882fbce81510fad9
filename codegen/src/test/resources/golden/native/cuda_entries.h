/* Generated from spec/cuda.api: the numbers of the entry points, as in sl_entry_cuda and in the region's record call. */
#ifndef SL_CUDA_ENTRIES_H
#define SL_CUDA_ENTRIES_H

#define SL_ENTRY_DIGEST 0xe0b4f0e3de55a68ull

enum {
    SL_ENTRY_cuInit,
    SL_ENTRY_cuDeviceGetUuid,
    SL_ENTRY_cuDeviceGetProperties,
    SL_ENTRY_cuCtxSynchronize,
    SL_ENTRY_cuMemAlloc,
    SL_ENTRY_cuMemAlloc_v2,
    SL_ENTRY_cuMemAllocAsync,
    SL_ENTRY_cuMemAllocAsync_ptsz,
    SL_ENTRY_cuMemFreeAsync,
    SL_ENTRY_cuMemFreeAsync_ptsz,
    SL_ENTRY_cuMemcpyDtoH_v2,
    SL_ENTRY_cuMemcpyDtoH_v2_ptds,
    SL_ENTRY_cuMemcpy2DAsync,
    SL_ENTRY_cuMemcpy2DAsync_ptsz,
    SL_ENTRY_cuMemsetD2D16,
    SL_ENTRY_cuMemPrefetchBatchAsync,
    SL_ENTRY_cuMemBatchDecompressAsync,
    SL_ENTRY_cuLaunchEverywhere,
    SL_ENTRY_cuLaunchKernel,
    SL_ENTRY_cuLaunchKernel_ptsz,
    SL_ENTRY_cuLaunchHostFunc,
    SL_ENTRY_cuLaunchHostFunc_ptsz,
    SL_ENTRY_cuMemGetInfo_v2,
    SL_ENTRY_cudbgMain,
    SL_ENTRY_COUNT
};

#endif
