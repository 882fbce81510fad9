/* ledger: the account of memory: reserve before the driver is asked, commit or cancel after, refund when it is freed.
 * gpu is the number of an entry in the region's table of GPUs. */
#ifndef SL_LEDGER_H
#define SL_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/* What memory is used for; the order is that of the account's fields. */
typedef enum {
    SL_USE_LINEAR,
    SL_USE_MANAGED,
    SL_USE_POOL,
    SL_USE_PHYSICAL,
    SL_USE_ARRAY,
    SL_USE_GRAPH,
    SL_USE_CONTEXT,
    SL_USE_OVERHEAD,
} sl_ledger_use_t;

/* Returns the sum of all live processes with these bytes; 0: it would pass the quota. If the tenant chose to wait for room, waits before
 * it returns 0, so the caller holds no lock. */
uint64_t sl_ledger_reserve(unsigned gpu, uint64_t bytes);
/* The same without waiting, for callers that must not wait: while a stream captures, or where a refusal is no error. */
uint64_t sl_ledger_try(unsigned gpu, uint64_t bytes);
/* One attempt: it reclaims nothing and does not wait. The sum may pass the quota by beyond. */
uint64_t sl_ledger_try_at_once(unsigned gpu, uint64_t bytes, uint64_t beyond);
/* The driver has allocated the bytes. used: the return value of sl_ledger_reserve. */
void sl_ledger_commit(unsigned gpu, sl_ledger_use_t use, uint64_t bytes, uint64_t used);
/* The driver has allocated the bytes already: they count, whether they fit or not. */
void sl_ledger_charge(unsigned gpu, sl_ledger_use_t use, uint64_t bytes);
/* Whether the quota is kept. */
bool sl_ledger_fits(unsigned gpu);
void sl_ledger_cancel(unsigned gpu, uint64_t bytes);
void sl_ledger_refund(unsigned gpu, sl_ledger_use_t use, uint64_t bytes);
/* Before the driver frees bytes: until it answers, they may or may not be on the GPU. Then refund_left if the driver freed them, keep_left
 * if it did not. defer_left if it will free them later: they count as overhead until the driver's figure falls. */
void sl_ledger_leave(unsigned gpu, sl_ledger_use_t use, uint64_t bytes);
void sl_ledger_refund_left(unsigned gpu, uint64_t bytes);
void sl_ledger_defer_left(unsigned gpu, uint64_t bytes);
void sl_ledger_keep_left(unsigned gpu, sl_ledger_use_t use, uint64_t bytes);
/* Freed bytes stay on the GPU as spare memory of this process. They count as in flight, because the process gives them back before a
 * request of the tenant is refused. use_spare: a request or the driver gets them, and they are ordinary bytes in flight. */
void sl_ledger_spare_left(unsigned gpu, uint64_t bytes);
void sl_ledger_use_spare(unsigned gpu, uint64_t bytes);
uint64_t sl_ledger_spare(unsigned gpu);
/* What all live processes hold; 0: more than the quota allows. Reclaims nothing. */
uint64_t sl_ledger_used_within_quota(unsigned gpu);
/* put_aside sets this process's charge on the GPU to 0 and returns it: all its memory, contexts included, leaves the GPU for a while.
 * take_up reserves it again; false: the quota has no room. back ends the reservation when the memory is on the GPU; sl_ledger_cancel
 * drops it. */
uint64_t sl_ledger_put_aside(unsigned gpu);
bool sl_ledger_take_up(unsigned gpu, uint64_t bytes);
void sl_ledger_back(unsigned gpu, uint64_t bytes);
/* Counts live allocations up or down. */
void sl_ledger_count(unsigned gpu, int allocations);
/* Counts a refusal and logs it. */
void sl_ledger_refuse(unsigned gpu, uint64_t bytes);

/* What this process holds on a GPU. */
typedef struct {
    uint64_t certain;  /* in use by name and on the GPU for certain */
    uint64_t possible; /* named, but perhaps not on the GPU: managed memory, and requests that the driver has not answered */
    uint64_t context;  /* the part of certain that contexts take */
    uint64_t overhead;
} sl_ledger_own_t;
sl_ledger_own_t sl_ledger_own(unsigned gpu);
/* Changes the booked overhead from one value to another, unless another thread changed it in the meantime. */
bool sl_ledger_set_overhead(unsigned gpu, uint64_t before, uint64_t bytes);

#endif
