/* query: answers about memory show the tenant's quota and use, and never more than the GPU has. */
#include <limits.h>

#include "driver/driver.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/overhead.h"
#include "memory/pool.h"
#include "real.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The quota of a device and its entry; 0 = no limit. */
static uint64_t limit_of(CUdevice device, unsigned *gpu) {
    int found = sl_tenant_attach() == SL_TENANT_ATTACHED ? sl_gpu_find(device) : SL_GPU_UNCOUNTED;
    *gpu = (unsigned)found;
    return found < 0 ? 0 : sl_accounts_limit((unsigned)found);
}

/* Spare memory counts as free, as memory that the driver keeps does. It may be given back between two reads of it. */
static void tell_tenant(size_t *free, size_t *total) {
    CUdevice device;
    unsigned gpu;
    if (!real.cuCtxGetDevice || real.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return;
    uint64_t limit = limit_of(device, &gpu), used = 0;
    if (gpu >= SL_REGION_GPU_COUNT)
        return;
    uint64_t spare = sl_ledger_spare(gpu);
    if (limit) {
        sl_pool_refresh(gpu);
        sl_overhead_now_and_then(gpu);
        used = sl_accounts_used(gpu);
    }
    spare = least(spare, sl_ledger_spare(gpu));
    *free = least(*free + spare, *total);
    if (!limit)
        return;
    used -= least(used, spare);
    *free = least(used < limit ? limit - used : 0, *free);
    *total = least(limit, *total);
}

CUresult hook_cuMemGetInfo_v2(size_t *free, size_t *total) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemGetInfo_v2)))
        return CUDA_ERROR_NOT_FOUND;
    size_t free_bytes = 0, total_bytes = 0;
    CUresult status = real.cuMemGetInfo_v2(&free_bytes, &total_bytes);
    if (status != CUDA_SUCCESS)
        return status;
    tell_tenant(&free_bytes, &total_bytes);
    if (free)
        *free = free_bytes;
    if (total)
        *total = total_bytes;
    return status;
}

CUresult hook_cuMemGetInfo(unsigned int *free, unsigned int *total) {
    if (!SL_DRIVER_HAS(cuMemGetInfo))
        return CUDA_ERROR_NOT_FOUND;
    unsigned int free_32 = 0, total_32 = 0;
    CUresult status = real.cuMemGetInfo(&free_32, &total_32);
    size_t free_bytes = free_32, total_bytes = total_32;
    if (status != CUDA_SUCCESS)
        return status;
    /* The old call returns 32 bits, which may be too few; the new call has the real value. */
    if (real.cuMemGetInfo_v2 && real.cuMemGetInfo_v2(&free_bytes, &total_bytes) != CUDA_SUCCESS)
        free_bytes = free_32, total_bytes = total_32;
    tell_tenant(&free_bytes, &total_bytes);
    if (free)
        *free = (unsigned int)least(free_bytes, UINT_MAX);
    if (total)
        *total = (unsigned int)least(total_bytes, UINT_MAX);
    return status;
}

CUresult hook_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
    if (!SL_DRIVER_HAS(cuDeviceTotalMem_v2))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuDeviceTotalMem_v2(bytes, dev);
    unsigned gpu;
    uint64_t limit = status == CUDA_SUCCESS ? limit_of(dev, &gpu) : 0;
    if (limit)
        *bytes = least(limit, *bytes);
    return status;
}

CUresult hook_cuDeviceTotalMem(unsigned int *bytes, CUdevice dev) {
    if (!SL_DRIVER_HAS(cuDeviceTotalMem))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuDeviceTotalMem(bytes, dev);
    size_t total;
    if (status == CUDA_SUCCESS && real.cuDeviceTotalMem_v2 && hook_cuDeviceTotalMem_v2(&total, dev) == CUDA_SUCCESS)
        *bytes = (unsigned int)least(total, UINT_MAX);
    return status;
}
