/* Generated from spec/cuda.api: the driver's real functions. NULL: not looked up yet, or the driver lacks it. */
#ifndef SL_REAL_H
#define SL_REAL_H

#include "cuda_abi.h"

typedef struct {
    CUresult (*cuInit)(unsigned int Flags);
    CUresult (*cuDeviceGetUuid)(CUuuid *uuid, CUdevice dev);
    CUresult (*cuDeviceGetProperties)(CUdevprop *prop, CUdevice dev);
    CUresult (*cuCtxSynchronize)(void);
    CUresult (*cuMemAlloc)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
    CUresult (*cuMemAlloc_v2)(CUdeviceptr *dptr, size_t bytesize);
    CUresult (*cuMemAllocAsync)(CUdeviceptr *dptr, size_t bytesize, CUstream hStream);
    CUresult (*cuMemAllocAsync_ptsz)(CUdeviceptr *dptr, size_t bytesize, CUstream hStream);
    CUresult (*cuMemFreeAsync)(CUdeviceptr dptr, CUstream hStream);
    CUresult (*cuMemFreeAsync_ptsz)(CUdeviceptr dptr, CUstream hStream);
    CUresult (*cuMemcpyDtoH_v2)(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
    CUresult (*cuMemcpyDtoH_v2_ptds)(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
    CUresult (*cuMemcpy2DAsync)(const CUDA_MEMCPY2D *pCopy, CUstream hStream);
    CUresult (*cuMemcpy2DAsync_ptsz)(const CUDA_MEMCPY2D *pCopy, CUstream hStream);
    CUresult (*cuMemsetD2D16)(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height);
    CUresult (*cuMemPrefetchBatchAsync)(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream);
    CUresult (*cuMemBatchDecompressAsync)(void *paramsArray, size_t count, CUstream stream);
    CUresult (*cuLaunchEverywhere)(unsigned int numDevices);
    CUresult (*cuLaunchKernel)(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream);
    CUresult (*cuLaunchKernel_ptsz)(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream);
    CUresult (*cuLaunchHostFunc)(CUstream hStream, CUhostFn fn, void *userData);
    CUresult (*cuLaunchHostFunc_ptsz)(CUstream hStream, CUhostFn fn, void *userData);
    CUresult (*cuMemGetInfo_v2)(size_t *free, size_t *total);
    CUresult (*cudbgMain)(void);
} sl_real_t;

extern sl_real_t real __attribute__((visibility("hidden")));

#endif
