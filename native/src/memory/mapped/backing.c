/* backing: the driver's part of mapped memory.
 *
 * The handle is released as soon as the memory is mapped. From then on the mapping alone holds the memory, and one cuMemUnmap frees it. */
#include "memory/mapped/backing.h"

#include <stdatomic.h>

#include "driver/driver.h"
#include "memory/mapped/arena.h"
#include "os/fork.h"
#include "os/report.h"
#include "real.h"
#include "tenant/gpu.h"

enum { TYPE_PINNED = 1, LOCATION_DEVICE = 1, ACCESS_NONE = 0, ACCESS_READ_WRITE = 3, GRANULARITY_MINIMUM = 0 };
enum { VMM_SUPPORTED = 102, DESCRIPTOR_SUPPORTED = 103, RDMA_WITH_VMM_SUPPORTED = 110 };
enum { FILE_DESCRIPTOR = 1 };
enum { NOT_SUPPORTED = 801 };
enum { UNKNOWN, CANNOT, CAN, CAN_WITH_RDMA };

#define TIMES_MEMORY 4 /* addresses reserved at once, as a multiple of the GPU's memory */

static _Atomic int abilities[SL_GPU_DEVICES];
static _Atomic bool shareable[SL_GPU_DEVICES];
static _Atomic uint64_t totals[SL_GPU_DEVICES];

static bool has_calls(void) {
    return SL_DRIVER_HAS(cuMemCreate) && real.cuMemRelease && real.cuMemMap && real.cuMemUnmap && real.cuMemSetAccess &&
           real.cuMemAddressReserve && real.cuMemAddressFree && real.cuMemGetAllocationGranularity && real.cuDeviceGetAttribute &&
           real.cuDeviceTotalMem_v2 && real.cuCtxGetDevice && real.cuCtxGetCurrent && real.cuCtxSynchronize;
}

static bool attribute(CUdevice device, int number) {
    int value = 0;
    return real.cuDeviceGetAttribute(&value, number, device) == CUDA_SUCCESS && value;
}

static CUmemAllocationProp properties_of(CUdevice device) {
    return (CUmemAllocationProp){.type = TYPE_PINNED, .location = {LOCATION_DEVICE, device},
                                 .requestedHandleTypes = shareable[device] ? FILE_DESCRIPTOR : 0,
                                 .gpuDirectRDMACapable = abilities[device] == CAN_WITH_RDMA};
}

static bool has_calls_to_share(void) {
    return real.cuMemExportToShareableHandle && real.cuMemImportFromShareableHandle && real.cuMemRetainAllocationHandle &&
           real.cuMemGetAllocationPropertiesFromHandle;
}

static int ask(CUdevice device, unsigned gpu) {
    size_t granularity = 0;
    shareable[device] = has_calls_to_share() && attribute(device, DESCRIPTOR_SUPPORTED);
    if (!has_calls() || !attribute(device, VMM_SUPPORTED) || sl_gpu_granularity(gpu) != SL_ARENA_BLOCK)
        return CANNOT;
    CUmemAllocationProp properties = properties_of(device);
    if (real.cuMemGetAllocationGranularity(&granularity, &properties, GRANULARITY_MINIMUM) != CUDA_SUCCESS || !granularity ||
        SL_ARENA_BLOCK % granularity)
        return CANNOT;
    return attribute(device, RDMA_WITH_VMM_SUPPORTED) ? CAN_WITH_RDMA : CAN;
}

bool sl_backing_can(CUdevice device, unsigned gpu) {
    if (device < 0 || device >= SL_GPU_DEVICES)
        return false;
    int ability = abilities[device];
    if (ability == UNKNOWN) {
        abilities[device] = ability = ask(device, gpu);
        if (ability == CANNOT)
            sl_report(SL_WARN, "GPU %d cannot map memory in blocks of 2 MiB: its memory stays with the driver and cannot leave the GPU", device);
    }
    return ability != CANNOT;
}

uint64_t sl_backing_total(CUdevice device) {
    size_t total = totals[device];
    if (!total && real.cuDeviceTotalMem_v2(&total, device) == CUDA_SUCCESS)
        totals[device] = total = (total + SL_ARENA_BLOCK - 1) & ~(SL_ARENA_BLOCK - 1);
    return total;
}

bool sl_backing_reserve(CUdevice device, uint64_t least, uint64_t *base, uint64_t *bytes) {
    uint64_t wanted = TIMES_MEMORY * sl_backing_total(device);
    for (wanted = wanted > least ? wanted : least;; wanted = wanted / 2 > least ? wanted / 2 & ~(SL_ARENA_BLOCK - 1) : least) {
        CUdeviceptr address = 0;
        if (real.cuMemAddressReserve(&address, wanted, SL_ARENA_BLOCK, 0, 0) == CUDA_SUCCESS) {
            *base = address;
            *bytes = wanted;
            return true;
        }
        if (wanted == least)
            return false;
    }
}

CUmemAccessDesc sl_backing_access(CUdevice device, bool allowed) {
    return (CUmemAccessDesc){{LOCATION_DEVICE, device}, allowed ? ACCESS_READ_WRITE : ACCESS_NONE};
}

CUresult sl_backing_take(uint64_t base, uint64_t bytes) {
    return real.cuMemUnmap(base, bytes);
}

CUresult sl_backing_allow(uint64_t base, uint64_t bytes, const CUmemAccessDesc *accesses, unsigned count) {
    return real.cuMemSetAccess(base, bytes, accesses, count);
}

CUresult sl_backing_wait(CUcontext context) {
    CUcontext current = NULL, popped;
    if (!context || (real.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context))
        return real.cuCtxSynchronize();
    if (real.cuCtxSynchronize_v2)
        return real.cuCtxSynchronize_v2(context);
    if (!real.cuCtxPushCurrent_v2 || !real.cuCtxPopCurrent_v2)
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuCtxPushCurrent_v2(context);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuCtxSynchronize();
    real.cuCtxPopCurrent_v2(&popped);
    return status;
}

/* Tries twice if the driver fails: memory that stays is lost to the program. */
static CUresult release(CUmemGenericAllocationHandle handle) {
    CUresult status = real.cuMemRelease(handle);
    return status == CUDA_SUCCESS ? status : real.cuMemRelease(handle);
}

static bool unmap(uint64_t base, uint64_t bytes) {
    return real.cuMemUnmap(base, bytes) == CUDA_SUCCESS || real.cuMemUnmap(base, bytes) == CUDA_SUCCESS;
}

/* The GPU reports that it can share memory, but the driver refuses it here: then memory is made without sharing. */
static CUresult create(CUmemGenericAllocationHandle *handle, CUdevice device, uint64_t bytes) {
    CUmemAllocationProp properties = properties_of(device);
    CUresult status = real.cuMemCreate(handle, bytes, &properties, 0);
    bool unsupported = status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_PERMITTED || status == NOT_SUPPORTED;
    if (!unsupported || !properties.requestedHandleTypes)
        return status;
    properties.requestedHandleTypes = 0;
    status = real.cuMemCreate(handle, bytes, &properties, 0);
    if (status == CUDA_SUCCESS)
        shareable[device] = false;
    return status;
}

/* Releases the handle in any case. */
static CUresult map(CUmemGenericAllocationHandle handle, uint64_t base, uint64_t bytes, const CUmemAccessDesc *accesses, unsigned count,
                    bool *stuck) {
    CUresult status = real.cuMemMap(base, bytes, 0, handle, 0);
    bool mapped = status == CUDA_SUCCESS;
    if (mapped)
        status = real.cuMemSetAccess(base, bytes, accesses, count);
    CUresult released = release(handle);
    if (status == CUDA_SUCCESS)
        status = released;
    if (status != CUDA_SUCCESS && mapped)
        *stuck = !unmap(base, bytes);
    return status;
}

CUresult sl_backing_put(CUdevice device, uint64_t base, uint64_t bytes, const CUmemAccessDesc *accesses, unsigned count, bool *stuck) {
    CUmemGenericAllocationHandle handle;
    *stuck = false;
    CUresult status = create(&handle, device, bytes);
    return status == CUDA_SUCCESS ? map(handle, base, bytes, accesses, count, stuck) : status;
}

bool sl_backing_can_share(CUdevice device) {
    return device >= 0 && device < SL_GPU_DEVICES && shareable[device];
}

CUresult sl_backing_export(uint64_t address, int *fd) {
    CUmemGenericAllocationHandle handle;
    CUresult status = real.cuMemRetainAllocationHandle(&handle, (void *)address);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuMemExportToShareableHandle(fd, handle, FILE_DESCRIPTOR, 0);
    release(handle);
    return status;
}

/* The GPU that has the memory need not be the one that uses it. */
CUresult sl_backing_import(int fd, CUdevice user, uint64_t base, uint64_t bytes, bool *stuck) {
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties;
    *stuck = false;
    CUresult status = real.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, FILE_DESCRIPTOR);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuMemGetAllocationPropertiesFromHandle(&properties, handle);
    if (status != CUDA_SUCCESS) {
        release(handle);
        return status;
    }
    CUdevice where = properties.location.id;
    CUmemAccessDesc accesses[] = {sl_backing_access(user, true), sl_backing_access(where, true)};
    return map(handle, base, bytes, accesses, where == user ? 1 : 2, stuck);
}

static void forget(void) {
    for (int device = 0; device < SL_GPU_DEVICES; device++)
        abilities[device] = UNKNOWN;
}
SL_FORK_FORGETS(forget);
