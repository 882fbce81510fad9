/* pool_charge: what one of the driver's pools has reserved on the GPU, and its charge. */
#ifndef SL_POOL_CHARGE_H
#define SL_POOL_CHARGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "os/mutex.h"

#define SL_POOL_STEP (32ull << 20) /* by which pools and graph memory grow, seen on an H200 with driver 580 */

typedef struct {
    sl_mutex_t lock;      /* for all below */
    bool open;            /* false: destroyed */
    bool made;            /* by the program, so it can be destroyed */
    atomic_bool closing;  /* the program destroyed it, the driver not yet; read without the lock too */
    bool asleep;          /* its context is gone, and perhaps the handle: the library must not ask it until the program uses it */
    bool overgrown;       /* a trial made it pass the quota and could not be undone at once */
    int gpu;              /* the entry of the region; negative: not accounted */
    CUdevice device;      /* of graphs only */
    CUmemLocation place;  /* of a pool that the program made, and its type */
    CUmemAllocationType type;
    CUmemoryPool handle;  /* NULL: the memory of graphs on the device */
    _Atomic uint64_t charged; /* never less than the pool has; read without the lock too */
    uint64_t step;        /* the pool grows by multiples of this power of two */
    unsigned trims;       /* how often memory may have left the pool */
} __attribute__((aligned(64))) sl_pool_t;

static inline void sl_pool_charge_lock(sl_pool_t *pool) {
    sl_mutex_lock(&pool->lock);
}

static inline bool sl_pool_charge_lock_at_once(sl_pool_t *pool) {
    return sl_mutex_try(&pool->lock);
}

static inline void sl_pool_charge_unlock(sl_pool_t *pool) {
    sl_mutex_unlock(&pool->lock);
}

/* Gives up after a second: another thread may be in a call of the driver that lasts. */
bool sl_pool_charge_lock_soon(sl_pool_t *pool);

/* All others with the lock held. */
void sl_pool_charge_open(sl_pool_t *pool, CUmemoryPool handle, CUdevice device, int gpu);
/* By how much an allocation can make the pool grow at most. */
uint64_t sl_pool_charge_need(const sl_pool_t *pool, uint64_t bytes);
/* What the pool has in use, by its own figure; without a figure, its charge. */
uint64_t sl_pool_charge_used(const sl_pool_t *pool);
/* By its own figures the pool has nothing reserved and nothing in use. */
bool sl_pool_charge_is_empty(const sl_pool_t *pool);
/* The charge becomes what the pool has. promised bytes were reserved in the ledger for its growth, and sum is what that returned. What
 * the pool did not take is refunded. Returns by how much the pool grew. */
uint64_t sl_pool_charge_settle(sl_pool_t *pool, uint64_t promised, uint64_t sum);
/* The charge becomes what the pool has. True: it fell. */
bool sl_pool_charge_follow(sl_pool_t *pool);
/* Lets the pool give back all that it does not use. True: the charge fell. */
bool sl_pool_charge_trim(sl_pool_t *pool);
/* After a synchronisation. True: the charge fell. */
bool sl_pool_charge_refresh(sl_pool_t *pool);
/* The charge becomes this, without asking. */
void sl_pool_charge_set(sl_pool_t *pool, uint64_t bytes);

#endif
