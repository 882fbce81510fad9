/* closing: pools that the program destroyed while memory of theirs lives.
 *
 * The driver keeps such a pool until its last memory is freed. But a destroyed pool must not be asked for its figures. So the library
 * lets the driver destroy it only when it is empty. Until then the library asks and trims it like every other pool. */
#include "memory/closing.h"

#include "driver/entry.h"
#include "memory/pool.h"
#include "os/fork.h"
#include "real.h"
#include "tenant/tenant.h"

enum { POOL_THRESHOLD = 4, TYPE_PINNED = 1, LOCATION_DEVICE = 1, CAPTURE_RELAXED = 2 };

atomic_int sl_closing_count;

bool sl_closing_has_slowly(CUmemoryPool handle) {
    sl_pool_t *pool = sl_pool_find(handle);
    return pool && pool->closing;
}

void sl_closing_make_room(void) {
    if (SL_UNLIKELY(sl_closing_count >= SL_CLOSING_MOST))
        sl_pool_refresh_all();
}

static bool keeps_nothing(const sl_pool_t *pool) {
    uint64_t none = 0;
    return real.cuMemPoolSetAttribute && real.cuMemPoolSetAttribute(pool->handle, POOL_THRESHOLD, &none) == CUDA_SUCCESS;
}

/* Drivers before CUDA 13 have no other pools, and no calls for them. */
static bool is_of_device(const sl_pool_t *pool) {
    return pool->type == TYPE_PINNED && pool->place.type == LOCATION_DEVICE;
}

static CUresult get_current(const sl_pool_t *pool, CUmemoryPool *handle) {
    CUmemLocation place = pool->place;
    if (is_of_device(pool) && real.cuDeviceGetMemPool)
        return real.cuDeviceGetMemPool(handle, place.id);
    return real.cuMemGetMemPool ? real.cuMemGetMemPool(handle, &place, pool->type) : CUDA_ERROR_NOT_FOUND;
}

static CUresult get_default(const sl_pool_t *pool, CUmemoryPool *handle) {
    CUmemLocation place = pool->place;
    if (is_of_device(pool) && real.cuDeviceGetDefaultMemPool)
        return real.cuDeviceGetDefaultMemPool(handle, place.id);
    return real.cuMemGetDefaultMemPool ? real.cuMemGetDefaultMemPool(handle, &place, pool->type) : CUDA_ERROR_NOT_FOUND;
}

static CUresult set_current(const sl_pool_t *pool, CUmemoryPool handle) {
    CUmemLocation place = pool->place;
    if (is_of_device(pool) && real.cuDeviceSetMemPool)
        return real.cuDeviceSetMemPool(place.id, handle);
    return real.cuMemSetMemPool ? real.cuMemSetMemPool(&place, pool->type, handle) : CUDA_ERROR_NOT_FOUND;
}

/* The driver's destroy makes the default pool of the device current again. */
static bool is_not_current(const sl_pool_t *pool) {
    CUmemoryPool handle;
    if (get_current(pool, &handle) != CUDA_SUCCESS)
        return false;
    return handle != pool->handle || (get_default(pool, &handle) == CUDA_SUCCESS && set_current(pool, handle) == CUDA_SUCCESS);
}

static bool has_room(void) {
    static atomic_bool told;
    if (sl_closing_count < SL_CLOSING_MOST)
        return true;
    if (!atomic_exchange(&told, true))
        sl_report(SL_WARN, "more than %d destroyed memory pools have memory in use: the memory of further ones is not limited", SL_CLOSING_MOST);
    return false;
}

static bool can_wait(sl_pool_t *pool) {
    if (!pool->made || pool->gpu < 0 || pool->asleep || !keeps_nothing(pool))
        return false;
    sl_pool_charge_follow(pool);
    sl_pool_charge_trim(pool);
    return !sl_pool_charge_is_empty(pool) && has_room() && is_not_current(pool);
}

CUresult sl_closing_begin(sl_pool_t *pool) {
    if (pool->closing)
        return CUDA_ERROR_INVALID_VALUE;
    if (can_wait(pool)) {
        pool->closing = true;
        sl_closing_count++;
        sl_pool_ask_again();
        return CUDA_SUCCESS;
    }
    CUresult status = real.cuMemPoolDestroy(pool->handle);
    if (status == CUDA_SUCCESS)
        sl_pool_close(pool);
    return status;
}

/* While another thread captures, the driver may forbid this call. It does not disturb the capture, so this thread exempts itself. */
static void destroy(sl_pool_t *pool) {
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    bool relaxed = real.cuThreadExchangeStreamCaptureMode && real.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    real.cuMemPoolDestroy(pool->handle);
    if (relaxed)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    sl_pool_close(pool);
}

bool sl_closing_look(sl_pool_t *pool) {
    if (sl_pool_charge_used(pool))
        return false;
    bool fell = sl_pool_charge_trim(pool);
    if (sl_pool_charge_is_empty(pool))
        destroy(pool);
    return fell;
}

void sl_closing_end(sl_pool_t *pool) {
    if (atomic_exchange(&pool->closing, false))
        sl_closing_count--;
}

static void forget(void) {
    sl_closing_count = 0;
}
SL_FORK_FORGETS(forget);
