/* linear: settling what was charged for an entry of the table of allocations. */
#ifndef SL_LINEAR_H
#define SL_LINEAR_H

#include "ledger/allocations.h"

/* The driver no longer has the allocation, of whatever kind: refunds it. */
void sl_linear_refund(const sl_allocation_t *allocation);
/* Puts an allocation into the table. What is still there at its address was freed unseen, and is refunded. False: there is
 * no memory for the table. */
bool sl_linear_keep(sl_allocation_t allocation);

#endif
