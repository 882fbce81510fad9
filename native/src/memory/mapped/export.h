/* export: mapped memory that other processes of the tenant may open. A chunk is exported as a whole, with all pieces of a slab. */
#ifndef SL_EXPORT_H
#define SL_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

/* An allocation that can be opened elsewhere. */
typedef struct {
    uint64_t number;  /* of the chunk; never used twice in this process */
    uint64_t address; /* of the chunk */
    uint32_t offset;  /* of the allocation in the chunk */
    uint64_t bytes;   /* of the allocation */
} sl_export_t;

/* The allocation that the address lies in. From now on its chunk stays on the GPU until it is freed. Errors are the driver's. */
CUresult sl_export_begin(CUdeviceptr address, sl_export_t *export);
/* A descriptor of a chunk, which the caller closes, and the size of the chunk. CUDA_ERROR_INVALID_VALUE: it is gone. */
CUresult sl_export_describe(uint64_t address, uint64_t number, int *fd, uint64_t *bytes);
/* Whether any memory is exported. */
bool sl_export_any(void);

#endif
