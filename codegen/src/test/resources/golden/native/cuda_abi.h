/* Generated from spec/cuda.api: the types of the API, as much of them as the ABI needs. */
#ifndef SL_CUDA_ABI_H
#define SL_CUDA_ABI_H

#include <stddef.h>

typedef struct CUcontext_opaque *CUcontext;
typedef struct CUfunction_opaque *CUfunction;
typedef struct CUstream_opaque *CUstream;
typedef int CUresult;
typedef struct CUdevprop_opaque CUdevprop;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned int CUdeviceptr_v1;
typedef void (*CUhostFn)(void *userData);
typedef struct {
    char bytes[16];
} CUuuid;
typedef struct {
    size_t srcPitch;
    int srcMemoryType;
    int dstMemoryType;
    size_t WidthInBytes;
    size_t Height;
} CUDA_MEMCPY2D;

#endif
