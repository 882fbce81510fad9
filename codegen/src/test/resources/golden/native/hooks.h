/* Generated from spec/cuda.api: the bodies of the hooked entry points. */
#ifndef SL_HOOKS_H
#define SL_HOOKS_H

#include "cuda_abi.h"

CUresult hook_cuInit(unsigned int Flags);
CUresult hook_cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize);
CUresult hook_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUresult hook_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream);
CUresult hook_cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream);

#endif
