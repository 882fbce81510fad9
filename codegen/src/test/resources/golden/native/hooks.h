/* Generated from spec/cuda.api: the bodies of the hooked entry points. */
#ifndef SL_HOOKS_H
#define SL_HOOKS_H

#include "cuda_abi.h"

CUresult hook_cuInit(unsigned int Flags);
CUresult hook_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize);
CUresult hook_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUresult hook_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream);
CUresult hook_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream);
CUresult hook_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
CUresult hook_cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
CUresult hook_cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream);
CUresult hook_cuMemcpy2DAsync_ptsz(const CUDA_MEMCPY2D *pCopy, CUstream hStream);
CUresult hook_cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height);
CUresult hook_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUstream hStream);
CUresult hook_cuMemBatchDecompressAsync(void *paramsArray, size_t count, CUstream stream);
CUresult hook_cuLaunchEverywhere(unsigned int numDevices);
CUresult hook_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream);
CUresult hook_cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream);

#endif
