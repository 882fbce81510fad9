/* pool: what the driver's pools hold: memory pools, and on each GPU the memory of graphs. */
#ifndef SL_POOL_H
#define SL_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

typedef struct sl_pool sl_pool_t;

/* What a call may let a pool grow by, reserved in the ledger; sl_pool_settle must follow. */
typedef struct {
    uint64_t growth;
    uint64_t used; /* what the ledger said */
} sl_pool_claim_t;

/* NULL: not known. */
sl_pool_t *sl_pool_find(CUmemoryPool handle);
/* A negative gpu: the memory is not on a GPU, or on one that is not accounted. NULL: there are too many. */
sl_pool_t *sl_pool_open(CUmemoryPool handle, int gpu);
sl_pool_t *sl_pool_of_graphs(CUdevice device, int gpu);
/* The entry of its GPU, or negative. */
int sl_pool_gpu(const sl_pool_t *pool);

/* Before a call that takes bytes from a pool. False: it would have to grow and the quota does not allow it. */
bool sl_pool_admit(sl_pool_t *pool, uint64_t bytes, sl_pool_claim_t *claim);
/* Reserves growth by so many bytes, whatever the pool has left. */
bool sl_pool_claim(sl_pool_t *pool, uint64_t bytes, sl_pool_claim_t *claim);
/* After it: the charge becomes what the pool has. Not 0: it grew by so much more than was claimed, and that passes the
 * quota. */
uint64_t sl_pool_settle(sl_pool_t *pool, const sl_pool_claim_t *claim);
/* What the pool has left by its own figures; some of it may be in pieces, or not free before a stream has come there. */
uint64_t sl_pool_room(sl_pool_t *pool);
/* The pool grew unasked and must lose so much again: now or, where a stream still uses it, at a later refresh. */
void sl_pool_shrink(sl_pool_t *pool, uint64_t bytes);

/* Sets the charge to what the pool has now. True: it fell. */
bool sl_pool_follow(sl_pool_t *pool);
/* The same for all pools of a GPU: they give memory back at synchronisation without telling. */
bool sl_pool_refresh(unsigned gpu);
void sl_pool_refresh_all(void);
/* Lets pools of a GPU give back what they do not use, as the driver itself does when a GPU is full. */
bool sl_pool_trim(unsigned gpu);
/* Counts the times that memory may have left the pool. */
unsigned sl_pool_trims(const sl_pool_t *pool);
void sl_pool_note_trim(sl_pool_t *pool);

/* Before the pool is destroyed: what it uses. */
uint64_t sl_pool_begin_close(sl_pool_t *pool);
/* It is not destroyed after all. */
void sl_pool_keep(sl_pool_t *pool);
/* It is. What was still used stays charged: so many bytes of its GPU are to be refunded when that is freed. */
uint64_t sl_pool_close(sl_pool_t *pool, uint64_t used);
/* The primary context of the GPU is gone and with it the memory. Its pools may be gone too: they are not asked before
 * the program itself uses them again. */
void sl_pool_end(unsigned gpu);

/* After a fork. */
void sl_pool_forget(void);

#endif
