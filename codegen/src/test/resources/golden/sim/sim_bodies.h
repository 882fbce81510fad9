/* Generated from spec/cuda.api: the entry points of the simulated driver and their bodies.
 *
 * A body is weak: an entry point whose body nobody defines returns CUDA_ERROR_NOT_SUPPORTED (801). An entry
 * point and its per-thread twin share a body; sim_enter is told which of them was called. */
#ifndef SIM_BODIES_H
#define SIM_BODIES_H

#include <stdbool.h>

#include "cuda_abi.h"

#define SIM_ENTRY_COUNT 23

typedef void (*sim_function_t)(void);

typedef struct {
    const char *symbol;
    const char *name; /* as cuGetProcAddress takes it */
    int since;
    int per_thread;
    sim_function_t function;
    sim_function_t body; /* NULL: not implemented */
} sim_entry_t;

extern const sim_entry_t sim_entries[SIM_ENTRY_COUNT];

/* True: the call ends here with *result. */
bool sim_enter(unsigned index, int per_thread, CUresult *result);

/* What the program gets for a body's result. */
CUresult sim_leave(unsigned index, CUresult result);

extern CUresult sim_cuInit(unsigned int) __attribute__((weak));
extern CUresult sim_cuDeviceGetUuid(CUuuid *, CUdevice) __attribute__((weak));
extern CUresult sim_cuDeviceGetProperties(CUdevprop *, CUdevice) __attribute__((weak));
extern CUresult sim_cuCtxSynchronize(void) __attribute__((weak));
extern CUresult sim_cuMemAlloc(CUdeviceptr_v1 *, unsigned int) __attribute__((weak));
extern CUresult sim_cuMemAlloc_v2(CUdeviceptr *, size_t) __attribute__((weak));
extern CUresult sim_cuMemAllocAsync(CUdeviceptr *, size_t, CUstream) __attribute__((weak));
extern CUresult sim_cuMemFreeAsync(CUdeviceptr, CUstream) __attribute__((weak));
extern CUresult sim_cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t) __attribute__((weak));
extern CUresult sim_cuMemcpy2DAsync(const CUDA_MEMCPY2D *, CUstream) __attribute__((weak));
extern CUresult sim_cuMemsetD2D16(CUdeviceptr, size_t, unsigned short, size_t, size_t) __attribute__((weak));
extern CUresult sim_cuMemPrefetchBatchAsync(CUdeviceptr *, size_t *, size_t, CUstream) __attribute__((weak));
extern CUresult sim_cuMemBatchDecompressAsync(void *, size_t, CUstream) __attribute__((weak));
extern CUresult sim_cuLaunchEverywhere(unsigned int) __attribute__((weak));
extern CUresult sim_cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream) __attribute__((weak));
extern CUresult sim_cuLaunchHostFunc(CUstream, CUhostFn, void *) __attribute__((weak));
extern CUresult sim_cuMemGetInfo_v2(size_t *, size_t *) __attribute__((weak));

#endif
