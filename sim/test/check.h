/* What the tests share: prototypes of the driver's calls, and checks that say what was expected. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda_abi.h"

#define MIB (1ull << 20)

#define CHECK(condition) \
    do { if (!(condition)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); exit(1); } } while (0)
#define EQUAL(actual, expected) \
    do { long long actual_ = (long long)(actual), expected_ = (long long)(expected); \
        if (actual_ != expected_) { fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, actual_, expected_); exit(1); } } while (0)
#define OK(call) EQUAL(call, 0)

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags, int *status);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuCtxSynchronize(void);
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
CUresult cuMemAlloc(CUdeviceptr_v1 *address, unsigned bytes);
CUresult cuMemFree(CUdeviceptr_v1 address);
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);
CUresult cuMemHostAlloc(void **start, size_t bytes, unsigned flags);
CUresult cuMemFreeHost(void *start);
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height);
CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *description);
CUresult cuArrayDestroy(CUarray array);
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *needed, CUarray array, CUdevice device);
CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *description, unsigned levels);
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array);
CUresult cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned count, CUstream stream);
CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags);
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data);
CUresult cuModuleLoad(CUmodule *module, const char *path);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                        CUstream stream, void **values, void **extra);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep);
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wish, unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count);
CUresult cuGraphCreate(CUgraph *graph, unsigned flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context);
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                            const CUDA_HOST_NODE_PARAMS *parameters);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec executable);
CUresult cuDeviceGraphMemTrim(CUdevice device);

/* Each run has a state file of its own, which goes with it; programs that it starts share it. */
static char own_state[64];

static inline void forget_state(void) {
    char owner[64];
    snprintf(owner, sizeof owner, "/dev/shm/sluice-sim-test-%d", (int)getpid());
    if (strcmp(owner, own_state) == 0) unlink(own_state);
}

__attribute__((constructor)) static void make_state(void) {
    if (getenv("SLUICE_SIM_STATE")) return;
    snprintf(own_state, sizeof own_state, "/dev/shm/sluice-sim-test-%d", (int)getpid());
    setenv("SLUICE_SIM_STATE", own_state, 1);
    atexit(forget_state);
}

static inline CUcontext use_gpu(void) {
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    return context;
}

static inline size_t free_bytes(void) {
    size_t bytes, total;
    OK(cuMemGetInfo_v2(&bytes, &total));
    return bytes;
}

static inline double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The simulated driver knows these kernels by name. To run the tests on a real driver set SLUICE_TEST_PTX to the file with
 * their code; what only the simulation promises is skipped then. */
static const char kernels[] =
    ".version 6.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry sluice_empty() { ret; }\n"
    ".visible .entry sluice_spin(.param .u64 nanoseconds) { ret; }\n"
    ".visible .entry sluice_stamp(.param .u64 nanoseconds, .param .u64 ring, .param .u64 count) { ret; }\n"
    ".visible .entry sluice_grind(.param .u64 rounds, .param .u64 result, .param .u64 beat, .param .u64 stamps) { ret; }\n"
    ".visible .entry sluice_fill(.param .u64 to, .param .u32 value, .param .u64 count) { ret; }\n"
    ".visible .entry sluice_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 count) { ret; }\n";

static inline int on_real_driver(const char *skipped) {
    if (!getenv("SLUICE_TEST_PTX")) return 0;
    printf("skipped on a real driver: %s\n", skipped);
    return 1;
}

static inline CUfunction kernel(const char *name) {
    static CUmodule module;
    const char *path = getenv("SLUICE_TEST_PTX");
    CUfunction function;
    if (!module) OK(path ? cuModuleLoad(&module, path) : cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline void launch(CUfunction function, CUstream stream, void **values) {
    OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, values, NULL));
}

static inline void spin(CUstream stream, uint64_t nanoseconds) { launch(kernel("sluice_spin"), stream, (void *[]){&nanoseconds}); }

#endif
