/* linear: settling what was charged for an entry of the table of allocations. */
#ifndef SL_LINEAR_H
#define SL_LINEAR_H

#include "ledger/allocations.h"

/* Refunds an allocation of any kind that the driver no longer has. */
void sl_linear_refund(const sl_allocation_t *allocation);
/* Puts an allocation into the table. An older entry at its address was freed unseen, and is refunded. False: no memory for the table. */
bool sl_linear_keep(sl_allocation_t allocation);

#endif
