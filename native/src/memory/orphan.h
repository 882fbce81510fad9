/* orphan: memory that outlives its pool: a destroyed pool goes when the last allocation from it is freed. */
#ifndef SL_ORPHAN_H
#define SL_ORPHAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

typedef struct {
    CUmemoryPool pool; /* NULL: the address is not of this kind */
    uint64_t bytes;
} sl_orphan_t;

extern atomic_int sl_orphan_count;
sl_orphan_t sl_orphan_find_slowly(CUdeviceptr address);

/* So many bytes stay charged on the GPU for allocations of used bytes. */
void sl_orphan_add(CUmemoryPool pool, unsigned gpu, uint64_t charged, uint64_t used);
/* Before a free: what the address is. */
static inline sl_orphan_t sl_orphan_find(CUdeviceptr address) {
    if (atomic_load_explicit(&sl_orphan_count, memory_order_relaxed) == 0)
        return (sl_orphan_t){NULL, 0};
    return sl_orphan_find_slowly(address);
}
void sl_orphan_freed(const sl_orphan_t *orphan);
/* The GPU's memory is gone: refunds all. */
void sl_orphan_end(unsigned gpu);
/* After a fork. */
void sl_orphan_forget(void);

#endif
