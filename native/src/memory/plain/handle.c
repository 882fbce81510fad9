/* handle: the program's number of a handle and the driver's, and the calls whose hooks only translate it. */
#include "memory/plain/handle.h"

#include "driver/driver.h"
#include "driver/entry.h"
#include "hooks.h"
#include "memory/plain/physical.h"
#include "os/fork.h"
#include "os/index.h"
#include "os/mutex.h"
#include "real.h"

#define OWN_NUMBERS (1ull << 63) /* the driver's are addresses of its heap */

typedef struct {
    uint64_t from, to;
} pair_t;

bool sl_handle_exchanged;
static sl_mutex_t lock; /* never held around a call of the driver */
static sl_index_t reals = {.record_bytes = sizeof(pair_t)}; /* the program's number → the driver's, where they differ */
static sl_index_t names = {.record_bytes = sizeof(pair_t)}; /* and back */
static uint64_t last_number = OWN_NUMBERS;

static uint64_t look_up(const sl_index_t *index, uint64_t number) {
    const pair_t *pair = sl_index_find(index, number);
    return pair ? pair->to : 0;
}

static void drop(sl_index_t *index, uint64_t from, uint64_t to) {
    pair_t *pair = sl_index_find(index, from);
    if (pair && pair->to == to)
        sl_index_remove(index, pair);
}

static bool put(sl_index_t *index, uint64_t from, uint64_t to) {
    pair_t *pair = sl_index_put(index, from);
    if (pair)
        pair->to = to;
    return pair;
}

static bool pair(uint64_t handle, uint64_t real) {
    if (!put(&reals, handle, real))
        return false;
    if (put(&names, real, handle))
        return true;
    drop(&reals, handle, real);
    return false;
}

static void forget_pair(uint64_t handle) {
    uint64_t real = look_up(&reals, handle);
    if (!real)
        return;
    drop(&names, real, handle);
    drop(&reals, handle, real);
}

uint64_t sl_handle_real_slowly(uint64_t handle) {
    sl_mutex_lock_briefly(&lock);
    uint64_t real = look_up(&reals, handle);
    sl_mutex_unlock(&lock);
    return real ? real : handle;
}

/* With the lock held. Without memory for the table the program gets the driver's number, as it would without Sluice. */
static uint64_t name_for(uint64_t real) {
    if (!look_up(&reals, real))
        return real;
    return pair(++last_number, real) ? last_number : real;
}

uint64_t sl_handle_name_slowly(uint64_t real) {
    sl_mutex_lock_briefly(&lock);
    uint64_t handle = look_up(&names, real);
    if (!handle)
        handle = name_for(real);
    sl_mutex_unlock(&lock);
    return handle;
}

uint64_t sl_handle_made_slowly(uint64_t real) {
    sl_mutex_lock_briefly(&lock);
    uint64_t gone = look_up(&names, real);
    if (gone)
        forget_pair(gone);
    uint64_t handle = name_for(real);
    sl_mutex_unlock(&lock);
    return handle;
}

void sl_handle_forget_slowly(uint64_t handle) {
    sl_mutex_lock_briefly(&lock);
    forget_pair(handle);
    sl_mutex_unlock(&lock);
}

bool sl_handle_exchange(uint64_t handle, uint64_t real) {
    sl_mutex_lock_briefly(&lock);
    uint64_t before = look_up(&reals, handle);
    bool done = handle == real || pair(handle, real);
    if (done && before && before != real)
        drop(&names, before, handle);
    if (done && before && handle == real)
        sl_index_remove(&reals, sl_index_find(&reals, handle));
    sl_handle_exchanged |= done;
    sl_mutex_unlock(&lock);
    return done;
}

/* The child of a fork has no memory of the driver. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    sl_handle_exchanged = false;
    reals = (sl_index_t){.record_bytes = sizeof(pair_t)};
    names = (sl_index_t){.record_bytes = sizeof(pair_t)};
}
SL_FORK_FORGETS(forget);

/* Another process may have the memory from now on, so it stays on the GPU. */
CUresult hook_cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                           CUmemAllocationHandleType handleType, unsigned long long flags) {
    if (!SL_DRIVER_HAS(cuMemExportToShareableHandle))
        return CUDA_ERROR_NOT_FOUND;
    sl_physical_stay(handle);
    return real.cuMemExportToShareableHandle(shareableHandle, sl_handle_real(handle), handleType, flags);
}

/* Another device may use memory that is exported as a file (dma-buf), so it stays on the GPU. */
CUresult hook_cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType,
                                            unsigned long long flags) {
    if (!SL_DRIVER_HAS(cuMemGetHandleForAddressRange))
        return CUDA_ERROR_NOT_FOUND;
    sl_physical_stay_at(dptr, size);
    return real.cuMemGetHandleForAddressRange(handle, dptr, size, handleType, flags);
}

CUresult hook_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle) {
    if (!SL_DRIVER_HAS(cuMemGetAllocationPropertiesFromHandle))
        return CUDA_ERROR_NOT_FOUND;
    return real.cuMemGetAllocationPropertiesFromHandle(prop, sl_handle_real(handle));
}

CUresult hook_cuMulticastCreate(CUmemGenericAllocationHandle *mcHandle, const CUmulticastObjectProp *prop) {
    if (!SL_DRIVER_HAS(cuMulticastCreate))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuMulticastCreate(mcHandle, prop);
    if (status == CUDA_SUCCESS)
        *mcHandle = sl_handle_made(*mcHandle);
    return status;
}

CUresult hook_cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle, CUdevice dev) {
    if (!SL_DRIVER_HAS(cuMulticastAddDevice))
        return CUDA_ERROR_NOT_FOUND;
    return real.cuMulticastAddDevice(sl_handle_real(mcHandle), dev);
}

/* Other GPUs write to bound memory, so it stays on the GPU. */
CUresult hook_cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUmemGenericAllocationHandle memHandle,
                                 size_t memOffset, size_t size, unsigned long long flags) {
    if (!SL_DRIVER_HAS(cuMulticastBindMem))
        return CUDA_ERROR_NOT_FOUND;
    sl_physical_stay(memHandle);
    return real.cuMulticastBindMem(sl_handle_real(mcHandle), mcOffset, sl_handle_real(memHandle), memOffset, size, flags);
}

CUresult hook_cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size,
                                  unsigned long long flags) {
    if (!SL_DRIVER_HAS(cuMulticastBindAddr))
        return CUDA_ERROR_NOT_FOUND;
    sl_physical_stay_at(memptr, size);
    return real.cuMulticastBindAddr(sl_handle_real(mcHandle), mcOffset, memptr, size, flags);
}

CUresult hook_cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size) {
    if (!SL_DRIVER_HAS(cuMulticastUnbind))
        return CUDA_ERROR_NOT_FOUND;
    return real.cuMulticastUnbind(sl_handle_real(mcHandle), dev, mcOffset, size);
}
