/* deferred: plain memory that was freed in the order of a stream. The driver keeps it until the program waits. */
#ifndef SL_DEFERRED_H
#define SL_DEFERRED_H

#include <stdatomic.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "driver/entry.h"

#define SL_DEFERRED_LEGACY ((CUstream)1)
#define SL_DEFERRED_PER_THREAD ((CUstream)2)

#define SL_DEFERRED_ANY UINT64_MAX

extern atomic_int sl_deferred_count;
extern _Atomic uint64_t sl_deferred_waits;
void sl_deferred_end_slowly(uint64_t wait, CUcontext context, CUstream stream);

/* Notes bytes that the program freed in the order of the stream. They have left their use in the ledger before. */
void sl_deferred_add(unsigned gpu, CUcontext context, CUstream stream, uint64_t bytes);
/* The program is about to wait. Returns a number for the end of the wait; 0: nothing is deferred. */
static inline uint64_t sl_deferred_begin(void) {
    return SL_UNLIKELY(atomic_load_explicit(&sl_deferred_count, memory_order_acquire) > 0) ? atomic_fetch_add(&sl_deferred_waits, 1) : 0;
}
/* The program has waited for a stream of the current context (context NULL), or for a context (stream NULL). Refunds memory that was
 * freed before the wait began; with SL_DEFERRED_ANY all of it, because the context is gone. */
static inline void sl_deferred_end(uint64_t wait, CUcontext context, CUstream stream) {
    if (SL_UNLIKELY(wait && atomic_load_explicit(&sl_deferred_count, memory_order_acquire) > 0))
        sl_deferred_end_slowly(wait, context, stream);
}

#endif
