/* physical: memory apart from addresses (cuMemCreate): charged until the last handle and the last mapping are gone. */
#ifndef SL_PHYSICAL_H
#define SL_PHYSICAL_H

#include <stdint.h>

#include "cuda_abi.h"

/* Something else than an address range maps the handle: a number that names this pin; 0: the handle is not accounted. */
uint32_t sl_physical_pin(CUmemGenericAllocationHandle handle);
void sl_physical_unpin(CUmemGenericAllocationHandle handle, uint32_t pin);

#endif
