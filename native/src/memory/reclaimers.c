/* reclaimers: the functions that give memory back before a request is refused. A new way to give memory back is one more line here. */
#include <stddef.h>

#include "ledger/reclaim.h"
#include "memory/kept.h"
#include "memory/overhead.h"
#include "memory/pending.h"
#include "memory/pool.h"

const sl_reclaimer_t sl_reclaimers[] = {
    sl_pool_refresh,       /* pools tell what they gave back without being asked */
    sl_overhead_came_back, /* so does the driver */
    sl_kept_reclaim,       /* mapped memory goes that the GPU no longer uses */
    sl_pool_trim,          /* pools give back what they do not use */
    sl_pending_reclaim,    /* and what they will not use as soon as a stream has come to a free */
    NULL,
};
