/* pool_take: one allocation from a pool, held to the quota.
 *
 * Only the call itself shows whether a pool grows: its unused memory may be fragmented, or wait for a stream to reach a free. A pool never
 * grows by more than the request in whole steps. If the ledger has room for that, the call is covered and goes to the driver. If not, but
 * the pool has enough unused memory by its own figures, the call goes as a trial. All trials together pass the quota by a small slack at
 * most. A trial that passed the quota is undone. */
#include "memory/pool_take.h"

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "tenant/accounts.h"
#include "memory/overhead.h"
#include "memory/pending.h"

#define PART 100     /* of the quota */
#define HOLE_PART 50
#define HOLE (2 * SL_POOL_STEP)

typedef struct {
    sl_pool_t *pool;
    CUmemoryPool known_as;
    const sl_pool_request_t *request;
    unsigned gpu;
    uint64_t need;
    uint64_t hope; /* room in the quota and unused memory of the pool, at the last trial */
    CUresult status;
} take_t;

static bool is_over_quota(unsigned gpu) {
    uint64_t limit = sl_accounts_limit(gpu);
    return limit && sl_accounts_used(gpu) > limit;
}

static uint64_t most_of(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

/* By how much trials may pass the quota. In a trimmed pool, a hole lies between two steps that are partly in use. So a request that
 * fills it saves less than two steps of growth. That much is always tried if it is at most 2 % of the quota. 1 % is for larger requests,
 * which reuse what their stream freed. The rest of the 2 % is for memory that the driver takes unasked. */
static uint64_t slack(unsigned gpu) {
    uint64_t limit = sl_accounts_limit(gpu), hole = limit / HOLE_PART < HOLE ? limit / HOLE_PART : HOLE;
    return most_of(most_of(limit / PART, hole), SL_POOL_STEP);
}

/* Memory whose free the stream has not reached stays charged until a later trim. */
static bool undo(take_t *take) {
    const sl_pool_request_t *request = take->request;
    if (!request->free || request->free(*request->address, request->stream) != CUDA_SUCCESS)
        return false;
    *request->address = 0;
    sl_pool_charge_trim(take->pool);
    take->pool->overgrown = is_over_quota(take->gpu);
    return true;
}

/* With the lock held. The ledger has covered bytes for the growth. False: the allocation had to be undone. */
static bool forward(take_t *take, uint64_t sum, uint64_t covered) {
    take->status = take->request->allocate(take->request);
    uint64_t grown = sl_pool_charge_settle(take->pool, take->need, sum);
    bool passed = grown > covered && take->status == CUDA_SUCCESS && is_over_quota(take->gpu);
    return !passed || !undo(take);
}

static uint64_t less(uint64_t from, uint64_t bytes) {
    return from > bytes ? from - bytes : 0;
}

/* A request may begin in the unused end of the pool, so that the pool grows by less than the request. After an undone trial the next one
 * needs more room in the quota, or more unused memory. */
static bool may_try(take_t *take) {
    uint64_t left = less(take->pool->charged, sl_pool_charge_used(take->pool));
    uint64_t room = less(sl_accounts_limit(take->gpu), sl_accounts_used(take->gpu));
    if (!left || left + room <= take->hope || sl_pool_charge_need(take->pool, less(take->request->bytes, left)) > room)
        return false;
    take->hope = left + room;
    return true;
}

static bool try_with_lock(take_t *take) {
    uint64_t sum = sl_ledger_try_at_once(take->gpu, take->need, 0);
    if (!sum && sl_pool_charge_trim(take->pool))
        sum = sl_ledger_try_at_once(take->gpu, take->need, 0);
    if (sum)
        return forward(take, sum, take->need);
    if (!may_try(take) || !(sum = sl_ledger_try_at_once(take->gpu, take->need, slack(take->gpu))))
        return false;
    return forward(take, sum, 0);
}

/* False: the pool was destroyed meanwhile. The lock is held when true. */
static bool lock(take_t *take) {
    sl_pool_t *pool = take->pool;
    sl_pool_charge_lock(pool);
    if (pool->open && !pool->closing && pool->gpu >= 0 && pool->handle == take->known_as)
        return true;
    sl_pool_charge_unlock(pool);
    return false;
}

/* A program that names a destroyed pool gets the driver's answer. */
static CUresult allocate_elsewhere(const take_t *take) {
    const sl_pool_request_t *request = take->request;
    return request->handle && take->pool->closing ? CUDA_ERROR_INVALID_VALUE : request->allocate(request);
}

static bool try_now(take_t *take) {
    if (!lock(take))
        return take->status = allocate_elsewhere(take), true;
    take->gpu = (unsigned)take->pool->gpu;
    take->need = sl_pool_charge_need(take->pool, take->request->bytes);
    take->pool->asleep = false;
    bool done = try_with_lock(take);
    sl_pool_charge_unlock(take->pool);
    return done;
}

/* The reservation was made without the lock. */
static bool try_covered(take_t *take, uint64_t sum) {
    if (!sum)
        return false;
    if (!lock(take)) {
        sl_ledger_cancel(take->gpu, take->need);
        return take->status = allocate_elsewhere(take), true;
    }
    bool done = forward(take, sum, take->need);
    sl_pool_charge_unlock(take->pool);
    return done;
}

static uint64_t reserve_at_last(const take_t *take) {
    return (sl_pending_is_capturing() ? sl_ledger_try : sl_ledger_reserve)(take->gpu, take->need);
}

/* What the reclaimers gave back may be too little for whole steps but enough for a trial, even if nothing is pending. If the tenant chose
 * to wait for room, the reservation waits, after pending memory had its chance. */
static bool try_harder(take_t *take) {
    sl_pending_t pending = {.gpu = take->gpu, .stream = take->request->stream, .query = take->request->query};
    bool done = try_covered(take, sl_ledger_try(take->gpu, take->need)) || try_now(take);
    while (!done && sl_pending_wait(&pending))
        done = try_now(take);
    done = done || try_covered(take, reserve_at_last(take));
    sl_pending_end(&pending, done);
    return done;
}

CUresult sl_pool_take(sl_pool_t *pool, CUmemoryPool known_as, const sl_pool_request_t *request) {
    take_t take = {.pool = pool, .known_as = known_as, .request = request};
    if (!try_now(&take) && !try_harder(&take)) {
        sl_ledger_refuse(take.gpu, request->bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sl_overhead_now_and_then(take.gpu);
    return take.status;
}
