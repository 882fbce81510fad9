/* array: arrays and mipmapped arrays. The table of allocations has them by their handles. */
#ifndef SL_ARRAY_H
#define SL_ARRAY_H

#include "ledger/allocations.h"

/* An array is gone. */
void sl_array_refund(const sl_allocation_t *allocation);

/* What an array takes before the driver packs or rounds it; 0: nothing, or not known. */
uint64_t sl_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels);

#endif
