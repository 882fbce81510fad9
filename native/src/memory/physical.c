/* physical: memory apart from addresses (cuMemCreate): charged until the last handle and the last mapping are gone.
 *
 * Only memory that this process made on a GPU is in the table. Imports, multicast objects (address space onto memory that
 * is charged where it was made) and memory of the host are not, so nothing is refunded when they go. Who exports memory is
 * charged as long as it has a handle or a mapping of its own; what importers do with it afterwards nobody sees here.
 *
 * Everything is settled after the driver answered. It may give the number of a handle out again before the end of the old
 * one is settled: then the old one is refunded on the spot, and the serial number keeps late news from the new one. */
#include "memory/physical.h"

#include <stdbool.h>

#include "driver/driver.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "os/index.h"
#include "os/latch.h"
#include "ledger/ledger.h"
#include "memory/overhead.h"
#include "real.h"
#include "tenant/tenant.h"

#define LOCATION_DEVICE 1

typedef struct {
    uint64_t handle;
    uint64_t bytes;
    uint32_t serial;
    uint32_t references; /* handles given out */
    uint32_t mappings;
    uint32_t gpu;
} physical_t;

typedef struct {
    uint64_t address;
    uint64_t bytes;
    uint64_t handle;
    uint32_t serial;
} mapping_t;

static sl_latch_t latch; /* never held around a call of the driver */
static sl_index_t handles = {.record_bytes = sizeof(physical_t)};
static sl_index_t mappings = {.record_bytes = sizeof(mapping_t)};
static uint32_t last_serial;
static uint64_t mapping_step = 1ull << 30; /* all mappings began at multiples of this power of two */

static void refund(const physical_t *physical) {
    sl_ledger_refund(physical->gpu, SL_USE_PHYSICAL, physical->bytes);
    sl_ledger_count(physical->gpu, -1);
}

static physical_t *find(uint64_t handle, uint32_t serial) {
    physical_t *physical = sl_index_find(&handles, handle);
    return physical && physical->serial == serial ? physical : NULL;
}

static void drop_if_unused(physical_t *physical) {
    if (physical->references || physical->mappings)
        return;
    refund(physical);
    sl_index_remove(&handles, physical);
}

SL_HOT static uint32_t serial_of(uint64_t handle) {
    sl_latch_lock(&latch);
    const physical_t *physical = sl_index_find(&handles, handle);
    uint32_t serial = physical ? physical->serial : 0;
    sl_latch_unlock(&latch);
    return serial;
}

static void add_reference(uint64_t handle) {
    sl_latch_lock(&latch);
    physical_t *physical = sl_index_find(&handles, handle);
    if (physical)
        physical->references++;
    sl_latch_unlock(&latch);
}

SL_HOT static void drop_reference(uint64_t handle, uint32_t serial) {
    sl_latch_lock(&latch);
    physical_t *physical = find(handle, serial);
    if (physical && physical->references) {
        physical->references--;
        drop_if_unused(physical);
    }
    sl_latch_unlock(&latch);
}

static uint32_t hold(uint64_t handle) {
    physical_t *physical = sl_index_find(&handles, handle);
    if (!physical)
        return 0;
    physical->mappings++;
    return physical->serial;
}

static void let_go(uint64_t handle, uint32_t serial) {
    physical_t *physical = find(handle, serial);
    if (!physical || !physical->mappings)
        return;
    physical->mappings--;
    drop_if_unused(physical);
}

uint32_t sl_physical_hold(CUmemGenericAllocationHandle handle) {
    sl_latch_lock(&latch);
    uint32_t serial = hold(handle);
    sl_latch_unlock(&latch);
    return serial;
}

void sl_physical_let_go(CUmemGenericAllocationHandle handle, uint32_t holding) {
    sl_latch_lock(&latch);
    let_go(handle, holding);
    sl_latch_unlock(&latch);
}

SL_HOT static bool add(uint64_t handle, unsigned gpu, uint64_t bytes) {
    sl_latch_lock(&latch);
    physical_t *physical = sl_index_put(&handles, handle);
    if (physical) {
        if (physical->serial)
            refund(physical);
        last_serial += last_serial == UINT32_MAX ? 2 : 1;
        *physical = (physical_t){handle, bytes, last_serial, 1, 0, gpu};
    }
    sl_latch_unlock(&latch);
    return physical;
}

static void remove_mapping(mapping_t *mapping) {
    mapping_t gone = *mapping;
    sl_index_remove(&mappings, mapping);
    let_go(gone.handle, gone.serial);
}

SL_HOT static void add_mapping(uint64_t address, uint64_t bytes, uint64_t handle) {
    sl_latch_lock(&latch);
    mapping_t *old = sl_index_find(&mappings, address);
    if (old)
        remove_mapping(old);
    mapping_t *mapping = sl_index_find(&handles, handle) ? sl_index_put(&mappings, address) : NULL;
    if (mapping) {
        *mapping = (mapping_t){address, bytes, handle, hold(handle)};
        while (address & (mapping_step - 1))
            mapping_step /= 2;
    }
    sl_latch_unlock(&latch);
}

static bool sweep(uint64_t from, uint64_t end) {
    bool any = false;
    for (uint64_t place = 0; place < mappings.capacity; place++) {
        mapping_t *mapping = sl_index_at(&mappings, place);
        if (mapping && mapping->address >= from && mapping->address < end) {
            remove_mapping(mapping);
            any = true;
        }
    }
    return any;
}

/* Looks at every address where a mapping can begin, or through the whole table where that is less. */
SL_HOT static void remove_mappings(uint64_t from, uint64_t bytes) {
    uint64_t end = from + bytes;
    sl_latch_lock(&latch);
    if (bytes / mapping_step > mappings.capacity) {
        while (sweep(from, end))
            ; /* again, because to remove one moves others */
    } else {
        for (uint64_t at = from; mappings.count && at < end;) {
            at = (at + mapping_step - 1) & ~(mapping_step - 1);
            mapping_t *mapping = at < end ? sl_index_find(&mappings, at) : NULL;
            at += mapping ? mapping->bytes : mapping_step;
            if (mapping)
                remove_mapping(mapping);
        }
    }
    sl_latch_unlock(&latch);
}

/* Another thread of the parent may have been changing a table, so even to unmap it is not safe. */
void sl_physical_forget(void) {
    latch.state = 0;
    handles = (sl_index_t){.record_bytes = sizeof(physical_t)};
    mappings = (sl_index_t){.record_bytes = sizeof(mapping_t)};
}

/* The GPU is the one where the memory shall be, whatever context is current. Negative: not accounted. */
SL_HOT static CUresult admit(const CUmemAllocationProp *prop, uint64_t size, int *gpu, uint64_t *used) {
    *gpu = SL_GPU_UNCOUNTED;
    sl_tenant_state_t state = sl_tenant_attach();
    if (state != SL_TENANT_ATTACHED)
        return state == SL_TENANT_REFUSE ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    if (!prop || !size || prop->location.type != LOCATION_DEVICE)
        return CUDA_SUCCESS;
    *gpu = sl_gpu_find(prop->location.id);
    sl_tenant_count_call(*gpu >= 0);
    if (*gpu < 0)
        return *gpu == SL_GPU_REFUSED ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    *used = sl_ledger_reserve((unsigned)*gpu, size);
    if (*used)
        return CUDA_SUCCESS;
    sl_ledger_refuse((unsigned)*gpu, size);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SL_HOT CUresult hook_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                                 unsigned long long flags) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemCreate)))
        return CUDA_ERROR_NOT_FOUND;
    int gpu;
    uint64_t used;
    CUresult status = admit(prop, size, &gpu, &used);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuMemCreate(handle, size, prop, flags);
    if (gpu < 0)
        return status;
    if (status == CUDA_SUCCESS && add(*handle, (unsigned)gpu, size)) {
        sl_ledger_commit((unsigned)gpu, SL_USE_PHYSICAL, size, used);
        sl_ledger_count((unsigned)gpu, 1);
        sl_overhead_now_and_then((unsigned)gpu);
    } else {
        sl_ledger_cancel((unsigned)gpu, size);
    }
    return status;
}

SL_HOT CUresult hook_cuMemRelease(CUmemGenericAllocationHandle handle) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemRelease)))
        return CUDA_ERROR_NOT_FOUND;
    uint32_t serial = serial_of(handle);
    CUresult status = real.cuMemRelease(handle);
    if (status == CUDA_SUCCESS && serial)
        drop_reference(handle, serial);
    return status;
}

SL_HOT CUresult hook_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                              unsigned long long flags) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemMap)))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemMap(ptr, size, offset, handle, flags);
    if (status == CUDA_SUCCESS)
        add_mapping(ptr, size, handle);
    return status;
}

/* The driver also says that it did it when nothing was mapped there (seen on an H200, driver 580). */
SL_HOT CUresult hook_cuMemUnmap(CUdeviceptr ptr, size_t size) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemUnmap)))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemUnmap(ptr, size);
    if (status == CUDA_SUCCESS)
        remove_mappings(ptr, size);
    return status;
}

/* The driver gives the same number as cuMemCreate did, and one more release is due. */
CUresult hook_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    if (SL_UNLIKELY(!SL_DRIVER_HAS(cuMemRetainAllocationHandle)))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemRetainAllocationHandle(handle, addr);
    if (status == CUDA_SUCCESS)
        add_reference(*handle);
    return status;
}

/* Not charged: the exporter is. Should a process import what it has itself exported, and get the number it has already,
 * that is one more reference. */
CUresult hook_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                             CUmemAllocationHandleType shHandleType) {
    if (!SL_DRIVER_HAS(cuMemImportFromShareableHandle))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMemImportFromShareableHandle(handle, osHandle, shHandleType);
    if (status == CUDA_SUCCESS)
        add_reference(*handle);
    return status;
}
