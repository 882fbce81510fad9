/* pool_charge: what one of the driver's pools has reserved on the GPU, and its charge.
 *
 * The rule: a thread that may make the pool grow holds the lock from the reservation in the ledger until the charge is settled.
 * So only one call at a time can make it grow, and the pool's own figure afterwards is the charge. Everything else can only make the pool
 * shrink; the refund follows when the driver has freed the memory. A charge is never less than what is on the GPU. */
#include "memory/pool_charge.h"

#include <errno.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "tenant/accounts.h"
#include "os/os.h"
#include "real.h"

#define LEAST_STEP (2ull << 20)
#define LARGEST (1ull << 48)
#define LOCK_NANOS 1000000000u /* chosen: how long a call waits for another that may make the pool grow */
#define SHORTEST_NANOS 20000u  /* chosen: first sleep of that wait; it doubles up to the longest */
#define LONGEST_NANOS 1000000u

enum { POOL_RESERVED = 5, POOL_USED = 7, GRAPH_USED = 0, GRAPH_RESERVED = 2, CAPTURE_RELAXED = 2 };

bool sl_pool_charge_lock_soon(sl_pool_t *pool) {
    if (sl_pool_charge_lock_at_once(pool))
        return true;
    int saved = errno;
    uint64_t start = sl_os_nanos(), span = SHORTEST_NANOS;
    bool held = false;
    while (!held && sl_os_nanos() - start < LOCK_NANOS) {
        sl_os_sleep_nanos(span);
        span = span * 2 < LONGEST_NANOS ? span * 2 : LONGEST_NANOS;
        held = sl_pool_charge_lock_at_once(pool);
    }
    errno = saved;
    return held;
}

void sl_pool_charge_open(sl_pool_t *pool, CUmemoryPool handle, CUdevice device, int gpu) {
    pool->gpu = gpu;
    pool->device = device;
    pool->handle = handle;
    pool->step = SL_POOL_STEP;
    pool->charged = 0;
    pool->asleep = pool->overgrown = pool->made = pool->closing = false;
    pool->open = true;
}

static sl_ledger_use_t use_of(const sl_pool_t *pool) {
    return pool->handle ? SL_USE_POOL : SL_USE_GRAPH;
}

static bool ask(const sl_pool_t *pool, int pool_attribute, int graph_attribute, uint64_t *bytes) {
    if (pool->handle)
        return real.cuMemPoolGetAttribute &&
               real.cuMemPoolGetAttribute(pool->handle, pool_attribute, bytes) == CUDA_SUCCESS;
    return real.cuDeviceGetGraphMemAttribute &&
           real.cuDeviceGetGraphMemAttribute(pool->device, graph_attribute, bytes) == CUDA_SUCCESS;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t sl_pool_charge_need(const sl_pool_t *pool, uint64_t bytes) {
    uint64_t step = pool->step;
    return bytes > LARGEST ? LARGEST : (bytes + step - 1) & ~(step - 1);
}

bool sl_pool_charge_is_empty(const sl_pool_t *pool) {
    uint64_t reserved, used;
    return ask(pool, POOL_USED, GRAPH_USED, &used) && ask(pool, POOL_RESERVED, GRAPH_RESERVED, &reserved) && !used && !reserved;
}

uint64_t sl_pool_charge_used(const sl_pool_t *pool) {
    uint64_t used;
    return ask(pool, POOL_USED, GRAPH_USED, &used) ? used : pool->charged;
}

/* The size of a pool shows if the driver's steps are smaller. A pool that grew by more than expected has steps of many sizes. */
static void learn_step(sl_pool_t *pool, uint64_t reserved, bool surprised) {
    uint64_t step = reserved & -reserved;
    if (surprised)
        pool->step = SL_POOL_STEP;
    else if (step >= LEAST_STEP && step < pool->step)
        pool->step = step;
}

uint64_t sl_pool_charge_settle(sl_pool_t *pool, uint64_t promised, uint64_t sum) {
    unsigned gpu = (unsigned)pool->gpu;
    uint64_t reserved = pool->charged, charged = pool->charged;
    if (!ask(pool, POOL_RESERVED, GRAPH_RESERVED, &reserved))
        reserved = charged;
    uint64_t grown = reserved > charged ? reserved - charged : 0, foreseen = least(grown, promised);
    atomic_store_explicit(&pool->charged, reserved, memory_order_relaxed);
    if (foreseen)
        sl_ledger_commit(gpu, use_of(pool), foreseen, sum - (promised - foreseen));
    if (grown > foreseen)
        sl_ledger_charge(gpu, use_of(pool), grown - foreseen);
    if (promised > foreseen)
        sl_ledger_cancel(gpu, promised - foreseen);
    if (reserved < charged)
        sl_ledger_refund(gpu, use_of(pool), charged - reserved);
    learn_step(pool, reserved, grown > foreseen);
    return grown;
}

bool sl_pool_charge_follow(sl_pool_t *pool) {
    uint64_t before = pool->charged;
    sl_pool_charge_settle(pool, 0, 0);
    return pool->charged < before;
}

/* While another thread captures, the driver may forbid this call. It does not disturb the capture, so this thread exempts itself. */
bool sl_pool_charge_trim(sl_pool_t *pool) {
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    if (!pool->charged)
        return false;
    bool relaxed = real.cuThreadExchangeStreamCaptureMode && real.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    if (!pool->handle && real.cuDeviceGraphMemTrim)
        real.cuDeviceGraphMemTrim(pool->device);
    if (pool->handle && real.cuMemPoolTrimTo)
        real.cuMemPoolTrimTo(pool->handle, 0);
    if (relaxed)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    pool->trims++;
    return sl_pool_charge_follow(pool);
}

/* Memory that a trial left behind is freed as soon as its stream reaches the free. */
bool sl_pool_charge_refresh(sl_pool_t *pool) {
    bool fell = sl_pool_charge_follow(pool);
    if (SL_UNLIKELY(pool->overgrown)) {
        fell |= sl_pool_charge_trim(pool);
        uint64_t limit = sl_accounts_limit((unsigned)pool->gpu);
        pool->overgrown = limit && sl_accounts_used((unsigned)pool->gpu) > limit;
    }
    return fell;
}

void sl_pool_charge_set(sl_pool_t *pool, uint64_t bytes) {
    if (bytes < pool->charged)
        sl_ledger_refund((unsigned)pool->gpu, use_of(pool), pool->charged - bytes);
    if (bytes > pool->charged)
        sl_ledger_charge((unsigned)pool->gpu, use_of(pool), bytes - pool->charged);
    pool->charged = bytes;
}
