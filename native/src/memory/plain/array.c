/* array: arrays and mipmapped arrays.
 *
 * The driver does not say where an array lies. So a model says which small arrays share a block of 2 MiB: an array goes into the first
 * block of its context that has room, and a block is charged from its first array to its last. In the driver's own blocks that room may
 * be fragmented, and then the driver takes one more. So the library asks NVML what the process has: after every few arrays that the model
 * put into a block, and after each array when the quota allows no new block. If NVML does not know the process, the process can pass its
 * quota by the blocks that the model misses. */
#include "memory/plain/array.h"

#include <stdbool.h>

#include "driver/driver.h"
#include "hooks.h"
#include "ledger/blocks.h"
#include "ledger/charge.h"
#include "ledger/places.h"
#include "memory/plain/linear.h"
#include "memory/overhead.h"
#include "memory/plain/sparse.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "real.h"
#include "tenant/accounts.h"

#define BLOCKS 4096 /* each small array beyond these is charged a whole block */
#define UNIT 512u
#define UNSURE 4 /* arrays in shared blocks between two looks: the model is off by so many blocks at most */

typedef struct {
    CUcontext context;
    uint32_t room;
    uint32_t arrays; /* 0: free entry */
    unsigned gpu;
} block_t;

typedef struct {
    sl_charge_t charge;
    sl_allocation_t allocation;
    bool only_shared; /* the quota allows no new block */
    sl_overhead_call_t look;
} request_t;

static sl_mutex_t lock; /* never held around a call of the driver */
static block_t blocks[BLOCKS];
static unsigned blocks_seen; /* entries that were ever in use */
static atomic_uint unsure;

static uint32_t units(uint64_t bytes) {
    return (uint32_t)((bytes + UNIT - 1) / UNIT * UNIT);
}

static sl_block_t enter_block(sl_allocation_t *allocation, bool may_make) {
    uint32_t needed = units(allocation->bytes);
    block_t *place = NULL;
    sl_mutex_lock_briefly(&lock);
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
    sl_block_t entered = !place ? SL_BLOCK_NONE : place->arrays ? SL_BLOCK_SHARED : SL_BLOCK_NEW;
    if (entered == SL_BLOCK_NEW)
        *place = (block_t){allocation->context, SL_BLOCK_BYTES, 0, allocation->gpu};
    if (place) {
        place->arrays++;
        place->room -= needed;
        allocation->block = (uint16_t)(place - blocks);
    }
    sl_mutex_unlock(&lock);
    return entered;
}

/* True: the block is empty. */
static bool leave_block(const sl_allocation_t *allocation) {
    sl_mutex_lock_briefly(&lock);
    block_t *block = &blocks[allocation->block];
    block->room += units(allocation->bytes);
    bool last = --block->arrays == 0;
    sl_mutex_unlock(&lock);
    return last;
}

static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    for (block_t *block = blocks; block < blocks + blocks_seen; block++)
        block->arrays = 0;
    blocks_seen = 0;
}
SL_FORK_FORGETS(forget);

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

/* In the worst case a small array needs a new block. If the quota has no room for one, it must fit into a charged block. */
static CUresult reserve_small(request_t *request) {
    if (sl_charge_try(&request->charge, SL_BLOCK_BYTES))
        return CUDA_SUCCESS;
    sl_allocation_t probe = request->allocation;
    request->only_shared = enter_block(&probe, false) == SL_BLOCK_SHARED;
    if (request->only_shared) {
        request->allocation.block = probe.block;
        sl_overhead_begin(&request->look, request->charge.gpu, 0, false);
        return CUDA_SUCCESS;
    }
    return sl_charge_reserve(&request->charge, SL_BLOCK_BYTES) ? CUDA_SUCCESS : sl_charge_refuse(&request->charge, SL_BLOCK_BYTES);
}

static CUresult begin(request_t *request, const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels) {
    request->charge = SL_CHARGE_NONE;
    request->only_shared = false;
    CUresult status;
    if (!sl_charge_accounts(&status))
        return status;
    CUcontext context = NULL;
    int gpu = shape ? sl_gpu_of_context(&context) : SL_GPU_UNCOUNTED;
    status = sl_charge_open(&request->charge, gpu, SL_USE_ARRAY);
    if (gpu < 0)
        return status;
    uint64_t bytes = sl_array_bytes(shape, levels), taken = sl_charge_round(&request->charge, bytes);
    bool small = bytes && bytes <= SL_BLOCK_BYTES && sl_gpu_granularity((unsigned)gpu) == SL_BLOCK_BYTES;
    request->allocation = (sl_allocation_t){.bytes = small ? bytes : taken, .context = context, .gpu = (uint8_t)gpu,
                                            .kind = small ? SL_SMALL_ARRAY : SL_ARRAY};
    if (small)
        return reserve_small(request);
    return sl_charge_reserve(&request->charge, taken) ? CUDA_SUCCESS : sl_charge_refuse(&request->charge, taken);
}

static void give_up(request_t *request) {
    if (request->only_shared && leave_block(&request->allocation))
        sl_ledger_refund((unsigned)request->charge.gpu, SL_USE_ARRAY, SL_BLOCK_BYTES);
    sl_charge_cancel(&request->charge);
}

static void settle_block(request_t *request) {
    sl_block_t block = enter_block(&request->allocation, true);
    if (block == SL_BLOCK_SHARED) {
        unsigned gpu = (unsigned)request->charge.gpu;
        uint64_t limit = sl_accounts_limit(gpu), used = request->charge.used;
        bool near = limit && used + (uint64_t)UNSURE * SL_BLOCK_BYTES > limit;
        sl_charge_cancel(&request->charge);
        if (++unsure % UNSURE == 0 || near)
            sl_overhead_came_back(gpu);
    } else if (block == SL_BLOCK_NONE) {
        request->allocation.kind = SL_ARRAY;
        request->allocation.bytes = request->charge.bytes;
    }
}

/* False: the driver took a new block, which the quota does not allow. The caller destroys the array. */
static bool settle(request_t *request, CUresult status, const void *array) {
    sl_charge_t *charge = &request->charge;
    if (charge->gpu < 0)
        return true;
    if (status != CUDA_SUCCESS)
        return give_up(request), true;
    if (request->only_shared && !sl_overhead_end(&request->look, true))
        return give_up(request), false;
    request->allocation.address = (uint64_t)array;
    if (request->allocation.kind == SL_SMALL_ARRAY && !request->only_shared)
        settle_block(request);
    sl_charge_commit(charge);
    sl_ledger_count((unsigned)charge->gpu, 1);
    if (!sl_linear_keep(request->allocation))
        sl_array_refund(&request->allocation);
    sl_overhead_now_and_then((unsigned)charge->gpu);
    return true;
}

static CUresult undo(request_t *request, CUresult destroyed) {
    (void)destroyed;
    sl_overhead_refuse(&request->look);
    return CUDA_ERROR_OUT_OF_MEMORY;
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
        request_t request;                                                              \
        CUresult status = begin(&request, pAllocateArray ? &shape : NULL, 1);           \
        if (status != CUDA_SUCCESS)                                                     \
            return status;                                                              \
        status = real.function(pHandle, pAllocateArray);                                \
        if (settle(&request, status, status == CUDA_SUCCESS ? *pHandle : NULL))         \
            return status;                                                              \
        return undo(&request, real.cuArrayDestroy(*pHandle));                           \
    }
CREATE_HOOK(cuArrayCreate, CUarray, CUDA_ARRAY_DESCRIPTOR_v1, SHAPE_2D)
CREATE_HOOK(cuArrayCreate_v2, CUarray, CUDA_ARRAY_DESCRIPTOR, SHAPE_2D)
CREATE_HOOK(cuArray3DCreate, CUarray, CUDA_ARRAY3D_DESCRIPTOR_v1, SHAPE_3D)
CREATE_HOOK(cuArray3DCreate_v2, CUarray, CUDA_ARRAY3D_DESCRIPTOR, SHAPE_3D)

CUresult hook_cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                     unsigned int numMipmapLevels) {
    if (!SL_DRIVER_HAS(cuMipmappedArrayCreate))
        return CUDA_ERROR_NOT_FOUND;
    request_t request;
    CUresult status = begin(&request, pMipmappedArrayDesc, numMipmapLevels);
    if (status != CUDA_SUCCESS)
        return status;
    status = real.cuMipmappedArrayCreate(pHandle, pMipmappedArrayDesc, numMipmapLevels);
    if (settle(&request, status, status == CUDA_SUCCESS ? *pHandle : NULL))
        return status;
    return undo(&request, real.cuMipmappedArrayDestroy(*pHandle));
}

/* An array that is being destroyed. It leaves the table before the driver is asked, because another thread may get the same handle
 * afterwards. It leaves its block after the driver has destroyed it. */
typedef struct {
    bool ours;
    sl_allocation_t allocation;
    uint64_t left;
} release_t;

static void take(const void *array, release_t *release) {
    *release = (release_t){.ours = false};
    uint64_t address = (uint64_t)array;
    if (sl_tenant_attach() != SL_TENANT_ATTACHED || !array || !sl_allocations_may_have(address))
        return;
    sl_place_lock(address);
    release->ours = sl_allocations_take(address, &release->allocation);
    sl_place_unlock(address);
    if (!release->ours || release->allocation.kind != SL_ARRAY)
        return;
    release->left = release->allocation.bytes;
    if (release->left)
        sl_ledger_leave(release->allocation.gpu, SL_USE_ARRAY, release->left);
}

static CUresult settle_destroyed(const release_t *release, CUresult status) {
    if (!release->ours)
        return status;
    const sl_allocation_t *allocation = &release->allocation;
    if (status != CUDA_SUCCESS) {
        if (release->left)
            sl_ledger_keep_left(allocation->gpu, SL_USE_ARRAY, release->left);
        sl_place_lock(allocation->address);
        sl_allocations_restore(allocation);
        sl_place_unlock(allocation->address);
    } else if (release->left) {
        sl_ledger_refund_left(allocation->gpu, release->left);
        sl_ledger_count(allocation->gpu, -1);
    } else {
        sl_array_refund(allocation);
    }
    return status;
}

#define DESTROY_HOOK(function, array_t, array)                                          \
    CUresult hook_##function(array_t array) {                                           \
        if (!SL_DRIVER_HAS(function))                                                   \
            return CUDA_ERROR_NOT_FOUND;                                                \
        release_t release;                                                              \
        take(array, &release);                                                          \
        return settle_destroyed(&release, real.function(array));                        \
    }
DESTROY_HOOK(cuArrayDestroy, CUarray, hArray)
DESTROY_HOOK(cuMipmappedArrayDestroy, CUmipmappedArray, hMipmappedArray)
