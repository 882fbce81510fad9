/* Two GPUs that use each other's memory. */
#include "check.h"

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, CUstream stream);
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count);
CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location);
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address);

static CUcontext contexts[2];

static void should_tell_who_reaches_whom(void) {
    int can, value;
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    EQUAL(can, 1);
    OK(cuDeviceCanAccessPeer(&can, 1, 1));
    EQUAL(can, 0);
    EQUAL(cuDeviceCanAccessPeer(&can, 0, 2), 101);
    OK(cuDeviceGetP2PAttribute(&value, 2, 0, 1));
    EQUAL(value, 1);
    EQUAL(cuDeviceGetP2PAttribute(&value, 2, 0, 0), 101);
    EQUAL(cuDeviceGetP2PAttribute(&value, 9, 0, 1), 1);
}

static void should_enable_and_disable_once(void) {
    EQUAL(cuCtxDisablePeerAccess(contexts[1]), 705);
    EQUAL(cuCtxEnablePeerAccess(contexts[1], 1), 1);
    OK(cuCtxEnablePeerAccess(contexts[1], 0));
    EQUAL(cuCtxEnablePeerAccess(contexts[1], 0), 704);
    EQUAL(cuCtxEnablePeerAccess(contexts[0], 0), 201);
    OK(cuCtxDisablePeerAccess(contexts[1]));
    EQUAL(cuCtxDisablePeerAccess(contexts[1]), 705);
    CUcontext beside;
    OK(cuCtxCreate_v2(&beside, 0, 0));
    EQUAL(cuCtxEnablePeerAccess(contexts[0], 0), 217);
    OK(cuCtxEnablePeerAccess(contexts[1], 0));
    OK(cuCtxDestroy_v2(beside));
    OK(cuCtxSetCurrent(contexts[0]));
}

static void should_copy_between_devices(void) {
    CUdeviceptr here, there;
    unsigned value;
    OK(cuMemAlloc_v2(&here, MIB));
    OK(cuCtxSetCurrent(contexts[1]));
    OK(cuMemAlloc_v2(&there, MIB));
    OK(cuMemsetD32_v2(there, 5, 16));
    OK(cuCtxSetCurrent(contexts[0]));
    OK(cuMemcpyPeer(here, contexts[0], there, contexts[1], 4));
    OK(cuMemcpyPeerAsync(here + 4, contexts[0], there + 4, contexts[1], 4, NULL));
    CUDA_MEMCPY3D_PEER copy = {.srcMemoryType = 2, .srcDevice = there, .srcContext = contexts[1], .dstMemoryType = 2, .dstDevice = here + 8,
                               .dstContext = contexts[0], .WidthInBytes = 4, .Height = 1, .Depth = 1};
    OK(cuMemcpy3DPeer(&copy));
    for (int i = 0; i < 3; i++) {
        OK(cuMemcpyDtoH_v2(&value, here + 4 * (unsigned)i, 4));
        EQUAL(value, 5);
    }
    EQUAL(cuMemcpyPeer(here, contexts[0], there, NULL, 4), 201);
    OK(cuMemFree_v2(here));
    OK(cuMemFree_v2(there));
}

static void should_keep_access_for_each_device(void) {
    CUmemoryPool pool;
    CUmemAccess_flags flags;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolGetAccess(&flags, pool, &(CUmemLocation){1, 1}));
    EQUAL(flags, 0);
    OK(cuMemPoolSetAccess(pool, &(CUmemAccessDesc){{1, 1}, 3}, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &(CUmemLocation){1, 1}));
    EQUAL(flags, 3);
    EQUAL(cuMemPoolSetAccess(pool, &(CUmemAccessDesc){{1, 0}, 0}, 1), 1);
    EQUAL(cuMemPoolSetAccess(pool, &(CUmemAccessDesc){{1, 7}, 3}, 1), 101);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    unsigned long long access;
    OK(cuMemCreate(&handle, 2 * MIB, &(CUmemAllocationProp){.type = 1, .location = {1, 1}}, 0));
    OK(cuMemAddressReserve(&address, 2 * MIB, 0, 0, 0));
    OK(cuMemMap(address, 2 * MIB, 0, handle, 0));
    EQUAL(cuMemsetD8_v2(address, 1, 1), 1);
    OK(cuMemSetAccess(address, 2 * MIB, &(CUmemAccessDesc){{1, 0}, 3}, 1));
    EQUAL(cuMemSetAccess(address, 2 * MIB, &(CUmemAccessDesc){{1, 5}, 3}, 1), 101);
    OK(cuMemsetD8_v2(address, 1, 1));
    OK(cuMemGetAccess(&access, &(CUmemLocation){1, 1}, address));
    EQUAL(access, 0);
    OK(cuMemGetAccess(&access, &(CUmemLocation){1, 0}, address));
    EQUAL(access, 3);
    OK(cuMemUnmap(address, 2 * MIB));
    OK(cuMemAddressFree(address, 2 * MIB));
    OK(cuMemRelease(handle));
}

int main(void) {
    setenv("SLUICE_SIM_GPUS", "2", 1);
    contexts[0] = use_gpu();
    OK(cuDevicePrimaryCtxRetain(&contexts[1], 1));
    should_tell_who_reaches_whom();
    should_enable_and_disable_once();
    should_copy_between_devices();
    should_keep_access_for_each_device();
    return 0;
}
