/* pool_take: one allocation from a pool, held to the quota. */
#ifndef SL_POOL_TAKE_H
#define SL_POOL_TAKE_H

#include <stddef.h>

#include "memory/pool_charge.h"

typedef struct sl_pool_request {
    CUresult (*allocate)(const struct sl_pool_request *request); /* asks the driver */
    CUresult (*free)(CUdeviceptr address, CUstream stream);      /* this and query: the variant for the same default stream */
    CUresult (*query)(CUstream stream);
    CUdeviceptr *address;
    size_t bytes;
    CUmemoryPool handle; /* that the program named, or NULL */
    CUstream stream;
} sl_pool_request_t;

/* Returns the driver's answer, or CUDA_ERROR_OUT_OF_MEMORY. known_as: the pool's handle at the time of the lookup. */
CUresult sl_pool_take(sl_pool_t *pool, CUmemoryPool known_as, const sl_pool_request_t *request);

#endif
