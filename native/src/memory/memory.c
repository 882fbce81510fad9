/* memory: the hooks that charge and refund memory: admit, forward, settle.
 *
 * Whatever Sluice cannot judge (no context, an address it does not know) goes to the driver, which gives its own
 * answer. A pointer is taken out of the table before the driver frees it: afterwards another thread may own it. */
#include "memory/memory.h"

#include "memory/array.h"
#include "driver/driver.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/orphan.h"
#include "memory/overhead.h"
#include "real.h"
#include "tenant/tenant.h"

#define LARGEST_CHARGE (1ull << 56)
#define PITCH_STEP 512u

typedef struct {
    int gpu;             /* negative: not accounted */
    bool only_to_block;  /* the quota allows no new block, but one that is paid for may have room */
    uint64_t reserved;
    uint64_t used;       /* by all, with this reservation */
    sl_allocation_t allocation;
} charge_t;

static uint64_t whole_blocks(uint64_t size, uint64_t granularity) {
    return size > LARGEST_CHARGE ? LARGEST_CHARGE : (size + granularity - 1) / granularity * granularity;
}

SL_HOT static CUresult admit(charge_t *charge, uint64_t size, sl_allocation_kind_t kind) {
    *charge = (charge_t){.gpu = SL_GPU_UNCOUNTED};
    sl_tenant_state_t state = sl_tenant_attach();
    if (state != SL_TENANT_ATTACHED)
        return state == SL_TENANT_REFUSE ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    CUcontext context = NULL;
    charge->gpu = size ? sl_gpu_of_context(&context) : SL_GPU_UNCOUNTED;
    sl_tenant_count_call(charge->gpu >= 0);
    if (charge->gpu < 0)
        return charge->gpu == SL_GPU_REFUSED ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    unsigned gpu = (unsigned)charge->gpu;
    uint32_t granularity = sl_gpu_granularity(gpu);
    if (kind == SL_WHOLE && granularity == SL_BLOCK_BYTES && size <= SL_BLOCK_BYTES)
        kind = SL_SMALL;
    charge->reserved = whole_blocks(size, granularity);
    charge->allocation = (sl_allocation_t){.bytes = kind == SL_SMALL ? size : charge->reserved, .context = context,
                                           .gpu = (uint8_t)gpu, .kind = (uint8_t)kind};
    bool may_share = kind == SL_SMALL;
    charge->used = may_share ? sl_ledger_try(gpu, charge->reserved) : sl_ledger_reserve(gpu, charge->reserved);
    if (SL_UNLIKELY(!charge->used && may_share)) {
        if (sl_allocations_have_room(gpu, size)) {
            charge->only_to_block = true;
            charge->reserved = 0;
            return CUDA_SUCCESS;
        }
        charge->used = sl_ledger_reserve(gpu, charge->reserved);
    }
    if (charge->used)
        return CUDA_SUCCESS;
    sl_ledger_refuse(gpu, charge->reserved);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static sl_ledger_use_t use_of(const sl_allocation_t *allocation) {
    if (allocation->kind == SL_CONTEXT)
        return SL_USE_CONTEXT;
    return allocation->kind == SL_MANAGED ? SL_USE_MANAGED : SL_USE_LINEAR;
}

SL_HOT void sl_memory_refund(const sl_allocation_t *allocation, bool last_in_block) {
    if (allocation->kind == SL_ARRAY || allocation->kind == SL_SMALL_ARRAY) {
        sl_array_refund(allocation);
        return;
    }
    uint64_t bytes = allocation->kind == SL_SMALL ? (last_in_block ? SL_BLOCK_BYTES : 0) : allocation->bytes;
    if (bytes)
        sl_ledger_refund(allocation->gpu, use_of(allocation), bytes);
    if (allocation->kind != SL_CONTEXT)
        sl_ledger_count(allocation->gpu, -1);
}

/* What the driver answered decides: keep the charge, or give it back. */
SL_HOT static CUresult settle(charge_t *charge, CUresult status, CUdeviceptr address) {
    if (charge->gpu < 0)
        return status;
    unsigned gpu = (unsigned)charge->gpu;
    if (status != CUDA_SUCCESS) {
        sl_ledger_cancel(gpu, charge->reserved);
        return status;
    }
    charge->allocation.address = address;
    sl_added_t added = sl_allocations_add(charge->allocation, charge->only_to_block, sl_memory_refund);
    if (added == SL_NOT_ADDED && charge->only_to_block && real.cuMemFree_v2) {
        real.cuMemFree_v2(address);
        sl_ledger_refuse(gpu, SL_BLOCK_BYTES);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (added == SL_ADDED)
        sl_ledger_commit(gpu, use_of(&charge->allocation), charge->reserved, charge->used);
    else
        sl_ledger_cancel(gpu, charge->reserved);
    if (added != SL_NOT_ADDED)
        sl_ledger_count(gpu, 1);
    sl_overhead_now_and_then(gpu);
    return status;
}

#define CHARGE_HOOK(function, kind, parameters, ...)                                    \
    SL_HOT CUresult hook_##function parameters {                                        \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                                      \
            return CUDA_ERROR_NOT_FOUND;                                                \
        charge_t charge;                                                                \
        CUresult status = admit(&charge, bytesize, kind);                               \
        if (status != CUDA_SUCCESS)                                                     \
            return status;                                                              \
        status = real.function(__VA_ARGS__);                                            \
        return settle(&charge, status, status == CUDA_SUCCESS ? *dptr : 0);             \
    }
CHARGE_HOOK(cuMemAlloc_v2, SL_WHOLE, (CUdeviceptr *dptr, size_t bytesize), dptr, bytesize)
CHARGE_HOOK(cuMemAlloc, SL_WHOLE, (CUdeviceptr_v1 *dptr, unsigned int bytesize), dptr, bytesize)
CHARGE_HOOK(cuMemAllocManaged, SL_MANAGED, (CUdeviceptr *dptr, size_t bytesize, unsigned int flags), dptr, bytesize, flags)

/* The driver chooses the pitch. Multiples of 512 were seen on every GPU; settle_pitch corrects where that is wrong. */
static uint64_t expected_bytes(uint64_t width, uint64_t height) {
    uint64_t pitch = (width + PITCH_STEP - 1) / PITCH_STEP * PITCH_STEP, bytes;
    return pitch < width || __builtin_mul_overflow(pitch, height, &bytes) ? UINT64_MAX : bytes;
}

static CUresult settle_pitch(charge_t *charge, CUresult status, CUdeviceptr address, uint64_t pitch, uint64_t height) {
    if (charge->gpu < 0 || status != CUDA_SUCCESS)
        return settle(charge, status, address);
    unsigned gpu = (unsigned)charge->gpu;
    uint64_t bytes = pitch * height, taken = whole_blocks(bytes, sl_gpu_granularity(gpu));
    if (charge->allocation.kind == SL_SMALL && bytes <= SL_BLOCK_BYTES) {
        charge->allocation.bytes = bytes;
        return settle(charge, status, address);
    }
    if (taken > charge->reserved && !sl_ledger_try(gpu, taken - charge->reserved)) {
        real.cuMemFree_v2(address);
        sl_ledger_cancel(gpu, charge->reserved);
        sl_ledger_refuse(gpu, taken);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (taken < charge->reserved)
        sl_ledger_cancel(gpu, charge->reserved - taken);
    charge->reserved = charge->allocation.bytes = taken;
    charge->allocation.kind = SL_WHOLE;
    charge->only_to_block = false;
    return settle(charge, status, address);
}

#define PITCH_HOOK(function, address_t, size)                                                              \
    CUresult hook_##function(address_t *dptr, size *pPitch, size WidthInBytes, size Height,                \
                             unsigned int ElementSizeBytes) {                                              \
        if (!SL_DRIVER_HAS(function))                                                                      \
            return CUDA_ERROR_NOT_FOUND;                                                                   \
        charge_t charge;                                                                                   \
        CUresult status = admit(&charge, expected_bytes(WidthInBytes, Height), SL_WHOLE);                  \
        if (status != CUDA_SUCCESS)                                                                        \
            return status;                                                                                 \
        status = real.function(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);                      \
        bool done = status == CUDA_SUCCESS;                                                                \
        return settle_pitch(&charge, status, done ? *dptr : 0, done ? *pPitch : 0, Height);                \
    }
PITCH_HOOK(cuMemAllocPitch_v2, CUdeviceptr, size_t)
PITCH_HOOK(cuMemAllocPitch, CUdeviceptr_v1, unsigned int)

/* True when the address is ours: then it is out of the table until settle_free. */
SL_HOT static bool take(CUdeviceptr address, sl_allocation_t *allocation) {
    if (!address || sl_tenant_attach() != SL_TENANT_ATTACHED)
        return false;
    sl_tenant_count_call(true);
    return sl_allocations_take(address, allocation);
}

SL_HOT static CUresult settle_free(const sl_allocation_t *allocation, CUresult status) {
    if (status == CUDA_SUCCESS)
        sl_memory_refund(allocation, allocation->kind == SL_SMALL && sl_allocations_leave_block(allocation));
    else
        sl_allocations_restore(allocation);
    return status;
}

static CUresult settle_other(const sl_orphan_t *orphan, CUresult status) {
    if (SL_UNLIKELY(orphan->pool != NULL) && status == CUDA_SUCCESS)
        sl_orphan_freed(orphan);
    return status;
}

#define FREE_HOOK(function, parameters, ...)                                                   \
    SL_HOT CUresult hook_##function parameters {                                               \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                                             \
            return CUDA_ERROR_NOT_FOUND;                                                       \
        sl_allocation_t allocation;                                                            \
        bool ours = take(dptr, &allocation);                                                   \
        sl_orphan_t orphan = ours ? (sl_orphan_t){NULL, 0} : sl_orphan_find(dptr);             \
        CUresult status = real.function(__VA_ARGS__);                                          \
        return ours ? settle_free(&allocation, status) : settle_other(&orphan, status);        \
    }
FREE_HOOK(cuMemFree_v2, (CUdeviceptr dptr), dptr)
FREE_HOOK(cuMemFree, (CUdeviceptr_v1 dptr), dptr)
FREE_HOOK(cuMemFreeAsync, (CUdeviceptr dptr, CUstream hStream), dptr, hStream)
FREE_HOOK(cuMemFreeAsync_ptsz, (CUdeviceptr dptr, CUstream hStream), dptr, hStream)
