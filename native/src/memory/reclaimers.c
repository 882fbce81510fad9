/* reclaimers: the functions that give memory back before a request is refused. A new way to give memory back is one more line here. */
#include <stddef.h>

#include "ledger/reclaim.h"
#include "memory/kept.h"
#include "memory/overhead.h"
#include "memory/pending.h"
#include "memory/pool.h"

const sl_reclaimer_t sl_reclaimers[] = {
    sl_pool_refresh,       /* books what pools have given back by themselves */
    sl_overhead_came_back, /* books what the driver has given back of its overhead */
    sl_kept_reclaim,       /* unmaps freed memory that the GPU no longer uses */
    sl_pool_trim,          /* lets pools give back what they do not use */
    sl_pending_reclaim,    /* waits until streams reach frees of pool memory */
    NULL,
};
