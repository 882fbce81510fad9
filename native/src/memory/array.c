/* array: arrays and mipmapped arrays.
 *
 * The driver does not say where an array lies, so which small ones share a block of 2 MiB is a model: the first block of
 * the same context with room takes it, and a block is charged from its first array to its last. */
#include "memory/array.h"

#include <stdbool.h>

#include "driver/driver.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/memory.h"
#include "memory/overhead.h"
#include "real.h"
#include "memory/sparse.h"
#include "tenant/tenant.h"
#include "os/latch.h"

#define BLOCKS 4096 /* small arrays beyond these are charged as if each had a block for itself */
#define UNIT 512u

typedef struct {
    CUcontext context;
    uint32_t room;
    uint32_t arrays; /* 0: free entry */
    unsigned gpu;
} block_t;

typedef struct {
    int gpu; /* negative: not accounted */
    bool in_block;
    uint64_t reserved;
    uint64_t used; /* by all, with this reservation */
    sl_allocation_t allocation;
} charge_t;

static sl_latch_t lock = SL_LATCH_INITIALIZER; /* never held around a call of the driver */
static block_t blocks[BLOCKS];
static unsigned blocks_seen; /* entries that were ever in use */

static uint32_t units(uint64_t bytes) {
    return (uint32_t)((bytes + UNIT - 1) / UNIT * UNIT);
}

typedef enum { NO_BLOCK, OLD_BLOCK, NEW_BLOCK } entered_t;

static entered_t enter_block(sl_allocation_t *allocation, bool may_make) {
    uint32_t needed = units(allocation->bytes);
    block_t *place = NULL;
    sl_latch_lock(&lock);
    for (block_t *block = blocks; block < blocks + blocks_seen; block++) {
        if (block->arrays && block->context == allocation->context && block->gpu == allocation->gpu && block->room >= needed) {
            place = block;
            break;
        }
        if (!block->arrays && !place && may_make)
            place = block;
    }
    if (!place && may_make && blocks_seen < BLOCKS)
        place = &blocks[blocks_seen++];
    entered_t entered = !place ? NO_BLOCK : place->arrays ? OLD_BLOCK : NEW_BLOCK;
    if (entered == NEW_BLOCK)
        *place = (block_t){allocation->context, SL_BLOCK_BYTES, 0, allocation->gpu};
    if (place) {
        place->arrays++;
        place->room -= needed;
        allocation->block = (uint16_t)(place - blocks);
    }
    sl_latch_unlock(&lock);
    return entered;
}

/* True: it was the last. */
static bool leave_block(const sl_allocation_t *allocation) {
    sl_latch_lock(&lock);
    block_t *block = &blocks[allocation->block];
    block->room += units(allocation->bytes);
    bool last = --block->arrays == 0;
    sl_latch_unlock(&lock);
    return last;
}

void sl_array_forget(void) {
    lock = (sl_latch_t)SL_LATCH_INITIALIZER;
    for (block_t *block = blocks; block < blocks + blocks_seen; block++)
        block->arrays = 0;
    blocks_seen = 0;
}

void sl_array_refund(const sl_allocation_t *allocation) {
    uint64_t bytes = allocation->bytes;
    if (allocation->kind == SL_SMALL_ARRAY)
        bytes = leave_block(allocation) ? SL_BLOCK_BYTES : 0;
    if (!allocation->bytes)
        sl_sparse_array_gone(allocation->address);
    if (bytes)
        sl_ledger_refund(allocation->gpu, SL_USE_ARRAY, bytes);
    sl_ledger_count(allocation->gpu, -1);
}

static CUresult admit(charge_t *charge, const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels) {
    *charge = (charge_t){.gpu = SL_GPU_UNCOUNTED};
    sl_tenant_state_t state = sl_tenant_attach();
    if (state != SL_TENANT_ATTACHED)
        return state == SL_TENANT_REFUSE ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    CUcontext context = NULL;
    charge->gpu = shape ? sl_gpu_of_context(&context) : SL_GPU_UNCOUNTED;
    sl_tenant_count_call(charge->gpu >= 0);
    if (charge->gpu < 0)
        return charge->gpu == SL_GPU_REFUSED ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    unsigned gpu = (unsigned)charge->gpu;
    uint64_t bytes = sl_array_bytes(shape, levels), granularity = sl_gpu_granularity(gpu);
    bool small = bytes && bytes <= SL_BLOCK_BYTES && granularity == SL_BLOCK_BYTES;
    charge->allocation = (sl_allocation_t){.bytes = bytes, .context = context, .gpu = (uint8_t)gpu,
                                           .kind = small ? SL_SMALL_ARRAY : SL_ARRAY};
    charge->in_block = small && enter_block(&charge->allocation, false) == OLD_BLOCK;
    if (!bytes || charge->in_block)
        return CUDA_SUCCESS;
    charge->reserved = (bytes + granularity - 1) / granularity * granularity;
    if (!small)
        charge->allocation.bytes = charge->reserved;
    charge->used = sl_ledger_reserve(gpu, charge->reserved);
    if (charge->used)
        return CUDA_SUCCESS;
    sl_ledger_refuse(gpu, charge->reserved);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static void give_up(const charge_t *charge) {
    unsigned gpu = (unsigned)charge->gpu;
    if (charge->in_block && leave_block(&charge->allocation))
        sl_ledger_refund(gpu, SL_USE_ARRAY, SL_BLOCK_BYTES);
    if (charge->reserved)
        sl_ledger_cancel(gpu, charge->reserved);
}

/* While the driver was asked others may have made a block. */
static void settle_block(charge_t *charge) {
    entered_t entered = enter_block(&charge->allocation, true);
    if (entered == OLD_BLOCK) {
        sl_ledger_cancel((unsigned)charge->gpu, charge->reserved);
        charge->reserved = 0;
    } else if (entered == NO_BLOCK) {
        charge->allocation.kind = SL_ARRAY;
        charge->allocation.bytes = charge->reserved;
    }
}

static CUresult settle(charge_t *charge, CUresult status, const void *array) {
    if (charge->gpu < 0)
        return status;
    if (status != CUDA_SUCCESS)
        return give_up(charge), status;
    unsigned gpu = (unsigned)charge->gpu;
    charge->allocation.address = (uint64_t)array;
    if (charge->allocation.kind == SL_SMALL_ARRAY && !charge->in_block)
        settle_block(charge);
    if (charge->reserved)
        sl_ledger_commit(gpu, SL_USE_ARRAY, charge->reserved, charge->used);
    sl_ledger_count(gpu, 1);
    if (sl_allocations_add(charge->allocation, false, sl_memory_refund) == SL_NOT_ADDED)
        sl_array_refund(&charge->allocation);
    sl_overhead_now_and_then(gpu);
    return status;
}

#define SHAPE_2D(given) {(given)->Width, (given)->Height, 0, (given)->Format, (given)->NumChannels, 0}
#define SHAPE_3D(given) {(given)->Width, (given)->Height, (given)->Depth, (given)->Format, (given)->NumChannels, (given)->Flags}

#define CREATE_HOOK(function, array_t, given_t, shape_of)                               \
    CUresult hook_##function(array_t *pHandle, const given_t *pAllocateArray) {         \
        if (!SL_DRIVER_HAS(function))                                                   \
            return CUDA_ERROR_NOT_FOUND;                                                \
        static const given_t nothing;                                                   \
        const given_t *given = pAllocateArray ? pAllocateArray : &nothing;              \
        CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(given);                                \
        charge_t charge;                                                                \
        CUresult status = admit(&charge, pAllocateArray ? &shape : NULL, 1);            \
        if (status != CUDA_SUCCESS)                                                     \
            return status;                                                              \
        status = real.function(pHandle, pAllocateArray);                                \
        return settle(&charge, status, status == CUDA_SUCCESS ? *pHandle : NULL);       \
    }
CREATE_HOOK(cuArrayCreate, CUarray, CUDA_ARRAY_DESCRIPTOR_v1, SHAPE_2D)
CREATE_HOOK(cuArrayCreate_v2, CUarray, CUDA_ARRAY_DESCRIPTOR, SHAPE_2D)
CREATE_HOOK(cuArray3DCreate, CUarray, CUDA_ARRAY3D_DESCRIPTOR_v1, SHAPE_3D)
CREATE_HOOK(cuArray3DCreate_v2, CUarray, CUDA_ARRAY3D_DESCRIPTOR, SHAPE_3D)

CUresult hook_cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                     unsigned int numMipmapLevels) {
    if (!SL_DRIVER_HAS(cuMipmappedArrayCreate))
        return CUDA_ERROR_NOT_FOUND;
    charge_t charge;
    CUresult status = admit(&charge, pMipmappedArrayDesc, numMipmapLevels);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuMipmappedArrayCreate(pHandle, pMipmappedArrayDesc, numMipmapLevels);
    return settle(&charge, status, status == CUDA_SUCCESS ? *pHandle : NULL);
}

/* Out of the table before the driver is asked: afterwards another thread may have an array of the same handle. */
#define DESTROY_HOOK(function, array_t, array)                                          \
    CUresult hook_##function(array_t array) {                                           \
        if (!SL_DRIVER_HAS(function))                                                   \
            return CUDA_ERROR_NOT_FOUND;                                                \
        sl_allocation_t allocation;                                                     \
        bool ours = sl_tenant_attach() == SL_TENANT_ATTACHED && array &&                \
                    sl_allocations_take((uint64_t)array, &allocation);                  \
        CUresult status = real.function(array);                                         \
        if (ours && status == CUDA_SUCCESS)                                             \
            sl_array_refund(&allocation);                                               \
        else if (ours)                                                                  \
            sl_allocations_restore(&allocation);                                        \
        return status;                                                                  \
    }
DESTROY_HOOK(cuArrayDestroy, CUarray, hArray)
DESTROY_HOOK(cuMipmappedArrayDestroy, CUmipmappedArray, hMipmappedArray)
