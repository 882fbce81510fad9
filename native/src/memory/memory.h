/* memory: settling what was charged. */
#ifndef SL_MEMORY_H
#define SL_MEMORY_H

#include "ledger/allocations.h"

/* An allocation is gone; last_in_block says of a small one that its block went with it. */
void sl_memory_refund(const sl_allocation_t *allocation, bool last_in_block);

#endif
