/* linear: plain, pitched and managed memory.
 *
 * A call that Sluice cannot judge (no context, an unknown address) goes to the driver, which gives its own answer. A free has one
 * order: remove the allocation from the table and its block, ask the driver, refund. */
#include "memory/plain/linear.h"

#include "driver/driver.h"
#include "hooks.h"
#include "ledger/blocks.h"
#include "ledger/charge.h"
#include "ledger/places.h"
#include "memory/mapped/mapped.h"
#include "memory/plain/array.h"
#include "memory/deferred.h"
#include "memory/overhead.h"
#include "real.h"

#define PITCH_STEP 512u
#define PITCH_MOST INT32_MAX /* larger widths and heights are left to the driver */
#define AGAIN (-1) /* no charged block had room: try again with a new block, if the quota allows one */

typedef struct {
    sl_charge_t charge;
    sl_allocation_t allocation;
    bool only_shared; /* the quota allows no new block, but a charged one may have room */
} request_t;

/* In the worst case a small request needs a new block. If the quota has no room for one now, the request first tries the charged
 * blocks, and only then the reclaimers. */
SL_HOT static CUresult reserve_small(request_t *request, bool may_share) {
    request->only_shared = false;
    if (sl_charge_try_at_once(&request->charge, SL_BLOCK_BYTES))
        return CUDA_SUCCESS;
    request->only_shared = may_share && sl_blocks_have_room((unsigned)request->charge.gpu, request->allocation.bytes);
    if (request->only_shared || sl_charge_reserve(&request->charge, SL_BLOCK_BYTES))
        return CUDA_SUCCESS;
    return sl_charge_refuse(&request->charge, SL_BLOCK_BYTES);
}

/* Nothing is reserved yet. */
SL_HOT static CUresult open_request(request_t *request, uint64_t size, sl_allocation_kind_t kind) {
    *request = (request_t){.charge = SL_CHARGE_NONE};
    CUresult status;
    if (!sl_charge_accounts(&status))
        return status;
    CUcontext context = NULL;
    int gpu = size ? sl_gpu_of_context(&context) : SL_GPU_UNCOUNTED;
    status = sl_charge_open(&request->charge, gpu, kind == SL_MANAGED ? SL_USE_MANAGED : SL_USE_LINEAR);
    if (gpu < 0)
        return status;
    if (kind == SL_WHOLE && size <= SL_BLOCK_BYTES && sl_gpu_granularity((unsigned)gpu) == SL_BLOCK_BYTES)
        kind = SL_SMALL;
    uint64_t bytes = sl_charge_round(&request->charge, size);
    request->allocation = (sl_allocation_t){.bytes = kind == SL_SMALL ? size : bytes, .context = context, .gpu = (uint8_t)gpu,
                                            .kind = (uint8_t)kind};
    return CUDA_SUCCESS;
}

SL_HOT static CUresult reserve(request_t *request) {
    if (request->charge.gpu < 0)
        return CUDA_SUCCESS;
    if (request->allocation.kind == SL_SMALL)
        return reserve_small(request, true);
    uint64_t bytes = request->allocation.bytes;
    return sl_charge_reserve(&request->charge, bytes) ? CUDA_SUCCESS : sl_charge_refuse(&request->charge, bytes);
}

static sl_ledger_use_t use_of(const sl_allocation_t *allocation) {
    if (allocation->kind == SL_CONTEXT)
        return SL_USE_CONTEXT;
    return allocation->kind == SL_MANAGED ? SL_USE_MANAGED : SL_USE_LINEAR;
}

/* The allocation has left its block before. */
SL_HOT static void refund(const sl_allocation_t *allocation, uint64_t bytes) {
    if (bytes)
        sl_ledger_refund(allocation->gpu, use_of(allocation), bytes);
    if (allocation->kind != SL_CONTEXT)
        sl_ledger_count(allocation->gpu, -1);
}

/* With the place locked. Returns the bytes to refund when the driver frees the allocation. */
SL_HOT static uint64_t leave(const sl_allocation_t *allocation) {
    if (allocation->kind != SL_SMALL)
        return allocation->bytes;
    return sl_blocks_leave(allocation) ? SL_BLOCK_BYTES : 0;
}

/* The table had an older block at the same address, which the driver has freed unseen. */
static void refund_replaced(int gpu) {
    if (SL_UNLIKELY(gpu >= 0))
        sl_ledger_refund((unsigned)gpu, SL_USE_LINEAR, SL_BLOCK_BYTES);
}

void sl_linear_refund(const sl_allocation_t *allocation) {
    if (allocation->kind == SL_ARRAY || allocation->kind == SL_SMALL_ARRAY) {
        sl_array_refund(allocation);
        return;
    }
    sl_place_lock(allocation->address);
    uint64_t bytes = leave(allocation);
    sl_place_unlock(allocation->address);
    refund(allocation, bytes);
}

bool sl_linear_keep(sl_allocation_t allocation) {
    sl_allocation_t stale;
    sl_place_lock(allocation.address);
    bool kept = sl_allocations_add(&allocation, &stale);
    sl_place_unlock(allocation.address);
    if (SL_UNLIKELY(stale.kind != SL_FREE_ENTRY))
        sl_linear_refund(&stale);
    return kept;
}

/* With the place locked. False: no block lies there, and the request must not make one. */
SL_HOT static bool enter_block(request_t *request, sl_block_t *block, int *replaced) {
    *block = sl_blocks_enter(&request->allocation, !request->only_shared, replaced);
    if (*block != SL_BLOCK_NONE || request->only_shared)
        return *block != SL_BLOCK_NONE;
    request->allocation.kind = SL_WHOLE; /* the table of blocks has no room */
    request->allocation.bytes = SL_BLOCK_BYTES;
    return true;
}

/* The first occupant of a block is charged for it. */
SL_HOT static bool keep(request_t *request) {
    sl_allocation_t *allocation = &request->allocation, stale = {.kind = SL_FREE_ENTRY};
    sl_block_t block = SL_BLOCK_NEW;
    int replaced = -1;
    sl_place_lock(allocation->address);
    bool entered = allocation->kind != SL_SMALL || enter_block(request, &block, &replaced);
    bool kept = entered && sl_allocations_add(allocation, &stale);
    sl_place_unlock(allocation->address);
    refund_replaced(replaced);
    if (SL_UNLIKELY(!entered))
        return false;
    if (block == SL_BLOCK_SHARED)
        sl_charge_cancel(&request->charge);
    else
        sl_charge_commit(&request->charge);
    sl_ledger_count(allocation->gpu, 1);
    if (SL_UNLIKELY(stale.kind != SL_FREE_ENTRY))
        sl_linear_refund(&stale);
    if (SL_UNLIKELY(!kept))
        sl_linear_refund(allocation); /* a later free would not find the allocation */
    return true;
}

/* Frees an allocation that the program never saw. */
static void free_unused(CUdeviceptr address) {
    if (sl_mapped_has(address))
        sl_mapped_give(address, SL_MAPPED_UNUSED, NULL, 0);
    else
        real.cuMemFree_v2(address);
}

/* Keeps the charge if the driver succeeded, else refunds it. */
SL_HOT static CUresult settle(request_t *request, CUresult status, CUdeviceptr address) {
    sl_charge_t *charge = &request->charge;
    if (charge->gpu < 0)
        return status;
    if (SL_UNLIKELY(status == SL_MAPPED_NO_SLAB))
        return AGAIN;
    if (status != CUDA_SUCCESS) {
        sl_charge_cancel(charge);
        return status;
    }
    request->allocation.address = address;
    if (!keep(request)) {
        free_unused(address);
        return AGAIN;
    }
    sl_overhead_now_and_then((unsigned)charge->gpu);
    return status;
}

/* Takes mapped memory, if this process and the GPU can map it. SL_MAPPED_PASS: the caller asks the driver. */
static CUresult take_mapped(const request_t *request, uint64_t bytes, CUdeviceptr *address) {
    if (request->charge.gpu < 0 || !address)
        return SL_MAPPED_PASS;
    return sl_mapped_take(request->allocation.context, (unsigned)request->charge.gpu, bytes, !request->only_shared, address);
}

/* Mapped memory that is charged already needs neither quota nor the driver. False: there is none. */
static bool take_paid(request_t *request, uint64_t bytes, CUdeviceptr *address) {
    sl_mapped_paid_t paid;
    sl_charge_t *charge = &request->charge;
    if (charge->gpu < 0 || !address || !sl_mapped_take_paid(request->allocation.context, (unsigned)charge->gpu, bytes, &paid))
        return false;
    if (paid.bytes)
        sl_charge_adopt(charge, paid.bytes, paid.used);
    request->only_shared = !paid.bytes;
    if (settle(request, CUDA_SUCCESS, paid.address) != CUDA_SUCCESS)
        return false;
    *address = paid.address;
    return true;
}

SL_HOT static CUresult take_linear(const request_t *request, CUdeviceptr *address, size_t bytes) {
    CUresult status = sl_mapped_is_on() ? take_mapped(request, bytes, address) : SL_MAPPED_PASS;
    return status == SL_MAPPED_PASS ? real.cuMemAlloc_v2(address, bytes) : status;
}

#define CHARGE_HOOK(function, kind, is_paid, take, parameters, ...)                     \
    SL_HOT CUresult hook_##function parameters {                                        \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                                      \
            return CUDA_ERROR_NOT_FOUND;                                                \
        request_t request;                                                              \
        CUresult status = open_request(&request, bytesize, kind);                       \
        if (status == CUDA_SUCCESS && is_paid)                                          \
            return status;                                                              \
        if (status == CUDA_SUCCESS)                                                     \
            status = reserve(&request);                                                 \
        while (status == CUDA_SUCCESS) {                                                \
            status = take(__VA_ARGS__);                                                 \
            status = settle(&request, status, status == CUDA_SUCCESS ? *dptr : 0);      \
            if (status != AGAIN)                                                        \
                return status;                                                          \
            status = reserve_small(&request, false);                                    \
        }                                                                               \
        return status;                                                                  \
    }
CHARGE_HOOK(cuMemAlloc_v2, SL_WHOLE, (sl_mapped_is_on() && take_paid(&request, bytesize, dptr)), take_linear,
            (CUdeviceptr *dptr, size_t bytesize), &request, dptr, bytesize)
CHARGE_HOOK(cuMemAlloc, SL_WHOLE, false, real.cuMemAlloc, (CUdeviceptr_v1 *dptr, unsigned int bytesize), dptr, bytesize)
CHARGE_HOOK(cuMemAllocManaged, SL_MANAGED, false, real.cuMemAllocManaged, (CUdeviceptr *dptr, size_t bytesize, unsigned int flags),
            dptr, bytesize, flags)

/* The driver chooses the pitch. Every GPU seen so far takes multiples of 512; settle_pitch corrects the charge for any other. */
static uint64_t expected_bytes(uint64_t width, uint64_t height) {
    uint64_t pitch = (width + PITCH_STEP - 1) / PITCH_STEP * PITCH_STEP, bytes;
    return pitch < width || __builtin_mul_overflow(pitch, height, &bytes) ? UINT64_MAX : bytes;
}

/* Changes the reservation to what the driver's pitch shows that it took. */
static CUresult settle_pitch(request_t *request, CUresult status, CUdeviceptr address, uint64_t pitch, uint64_t height) {
    sl_charge_t *charge = &request->charge;
    if (charge->gpu < 0 || status != CUDA_SUCCESS)
        return settle(request, status, address);
    uint64_t bytes = pitch * height, taken = sl_charge_round(charge, bytes);
    if (request->allocation.kind == SL_SMALL && bytes <= SL_BLOCK_BYTES) {
        request->allocation.bytes = bytes;
        return settle(request, status, address);
    }
    if (!sl_charge_resize(charge, taken)) {
        free_unused(address);
        sl_charge_cancel(charge);
        return sl_charge_refuse(charge, taken);
    }
    request->allocation.bytes = taken;
    request->allocation.kind = SL_WHOLE;
    return settle(request, status, address);
}

/* Passes parameters that the driver may judge differently to the driver. */
static bool maps_pitch(const size_t *pitch, size_t width, size_t height, unsigned element) {
    return (element == 4 || element == 8 || element == 16) && pitch && width && height && width <= PITCH_MOST && height <= PITCH_MOST &&
           sl_mapped_is_on();
}

static bool take_paid_pitch(request_t *request, CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    uint64_t bytes = expected_bytes(width, height);
    bool taken = maps_pitch(pitch, width, height, element) && take_paid(request, bytes, address);
    if (taken)
        *pitch = bytes / height;
    return taken;
}

static CUresult take_pitch(const request_t *request, CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    uint64_t bytes = expected_bytes(width, height);
    CUresult status = maps_pitch(pitch, width, height, element) ? take_mapped(request, bytes, address) : SL_MAPPED_PASS;
    if (status == SL_MAPPED_PASS)
        return real.cuMemAllocPitch_v2(address, pitch, width, height, element);
    if (status == CUDA_SUCCESS)
        *pitch = bytes / height;
    return status;
}

static CUresult take_pitch_32(const request_t *request, CUdeviceptr_v1 *address, unsigned *pitch, unsigned width, unsigned height,
                              unsigned element) {
    (void)request;
    return real.cuMemAllocPitch(address, pitch, width, height, element);
}

#define PITCH_HOOK(function, is_paid, take, address_t, size)                                               \
    CUresult hook_##function(address_t *dptr, size *pPitch, size WidthInBytes, size Height,                \
                             unsigned int ElementSizeBytes) {                                              \
        if (!SL_DRIVER_HAS(function))                                                                      \
            return CUDA_ERROR_NOT_FOUND;                                                                   \
        request_t request;                                                                                 \
        CUresult status = open_request(&request, expected_bytes(WidthInBytes, Height), SL_WHOLE);          \
        if (status == CUDA_SUCCESS && is_paid)                                                             \
            return status;                                                                                 \
        if (status == CUDA_SUCCESS)                                                                        \
            status = reserve(&request);                                                                    \
        while (status == CUDA_SUCCESS) {                                                                   \
            status = take(&request, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);                 \
            bool done = status == CUDA_SUCCESS;                                                            \
            status = settle_pitch(&request, status, done ? *dptr : 0, done ? *pPitch : 0, Height);         \
            if (status != AGAIN)                                                                           \
                return status;                                                                             \
            status = reserve_small(&request, false);                                                       \
        }                                                                                                  \
        return status;                                                                                     \
    }
PITCH_HOOK(cuMemAllocPitch_v2, take_paid_pitch(&request, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes), take_pitch, CUdeviceptr, size_t)
PITCH_HOOK(cuMemAllocPitch, false, take_pitch_32, CUdeviceptr_v1, unsigned int)

/* An allocation that is being freed. */
typedef struct {
    bool ours; /* the table had it; it is out of the table until settle_free */
    sl_allocation_t allocation;
    uint64_t refund;
} release_t;

SL_HOT static void take(CUdeviceptr address, release_t *release) {
    release->ours = false;
    if (!address || sl_tenant_attach() != SL_TENANT_ATTACHED)
        return;
    sl_tenant_count_call(true);
    if (!sl_allocations_may_have(address))
        return;
    sl_place_lock(address);
    release->ours = sl_allocations_take(address, &release->allocation);
    release->refund = release->ours ? leave(&release->allocation) : 0;
    sl_place_unlock(address);
    if (release->refund)
        sl_ledger_leave(release->allocation.gpu, use_of(&release->allocation), release->refund);
}

/* The driver did not free it. Its block may be gone, or another occupant may have been charged for it again. */
static void restore(const release_t *release) {
    const sl_allocation_t *allocation = &release->allocation;
    int replaced = -1;
    sl_place_lock(allocation->address);
    sl_block_t block = allocation->kind == SL_SMALL ? sl_blocks_enter(allocation, true, &replaced) : SL_BLOCK_NONE;
    sl_place_unlock(allocation->address);
    refund_replaced(replaced);
    if (block == SL_BLOCK_SHARED && release->refund)
        sl_ledger_refund_left(allocation->gpu, release->refund);
    else if (release->refund)
        sl_ledger_keep_left(allocation->gpu, use_of(allocation), release->refund);
    if (block == SL_BLOCK_NEW && !release->refund)
        sl_ledger_charge(allocation->gpu, SL_USE_LINEAR, SL_BLOCK_BYTES);
    sl_place_lock(allocation->address);
    sl_allocations_restore(allocation);
    sl_place_unlock(allocation->address);
}

/* stream NULL: the driver has freed it; else the driver frees it in the order of that stream. */
SL_HOT static CUresult settle_free(const release_t *release, CUstream stream, CUresult status) {
    if (SL_UNLIKELY(status != CUDA_SUCCESS)) {
        restore(release);
        return status;
    }
    if (release->refund && stream)
        sl_deferred_add(release->allocation.gpu, release->allocation.context, stream, release->refund);
    else if (release->refund)
        sl_ledger_refund_left(release->allocation.gpu, release->refund);
    if (release->allocation.kind != SL_CONTEXT)
        sl_ledger_count(release->allocation.gpu, -1);
    return status;
}

/* The room memory/mapped refunds its memory when that is unmapped. */
static CUresult free_mapped(const release_t *release, CUdeviceptr address, sl_mapped_when_t when, CUstream stream) {
    CUresult status = sl_mapped_give(address, when, stream, release->ours ? release->refund : 0);
    if (release->ours && status == CUDA_SUCCESS)
        sl_ledger_count(release->allocation.gpu, -1);
    else if (release->ours)
        restore(release);
    return status;
}

#define FREE_HOOK(function, when, handle, stream, parameters, ...)                                        \
    SL_HOT CUresult hook_##function parameters {                                                          \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                                                        \
            return CUDA_ERROR_NOT_FOUND;                                                                  \
        release_t release;                                                                                \
        take(dptr, &release);                                                                             \
        if (sl_mapped_has(dptr))                                                                          \
            return free_mapped(&release, dptr, when, handle);                                             \
        CUresult status = real.function(__VA_ARGS__);                                                     \
        return release.ours ? settle_free(&release, stream, status) : status;                             \
    }
FREE_HOOK(cuMemFree_v2, SL_MAPPED_SYNCHRONIZED, NULL, NULL, (CUdeviceptr dptr), dptr)
FREE_HOOK(cuMemFree, SL_MAPPED_SYNCHRONIZED, NULL, NULL, (CUdeviceptr_v1 dptr), dptr)
FREE_HOOK(cuMemFreeAsync, SL_MAPPED_IN_STREAM, hStream, hStream ? hStream : SL_DEFERRED_LEGACY, (CUdeviceptr dptr, CUstream hStream), dptr, hStream)
FREE_HOOK(cuMemFreeAsync_ptsz, SL_MAPPED_IN_STREAM_OF_THREAD, hStream, hStream ? hStream : SL_DEFERRED_PER_THREAD,
          (CUdeviceptr dptr, CUstream hStream), dptr, hStream)
