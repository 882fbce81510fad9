/* reclaim: what can give memory back before the ledger refuses a request. */
#ifndef SL_RECLAIM_H
#define SL_RECLAIM_H

#include <stdbool.h>

/* Gives back what it can on a GPU (an entry of the region). True: charges fell. The caller holds no lock of the library. */
typedef bool (*sl_reclaimer_t)(unsigned gpu);

/* In the order in which they are asked, cheapest first; NULL ends the table. memory/reclaimers.c fills it. */
extern const sl_reclaimer_t sl_reclaimers[];

#endif
