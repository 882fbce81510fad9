/* deferred: plain memory that was freed in the order of a stream. The driver keeps it until the program waits. */
#ifndef SL_DEFERRED_H
#define SL_DEFERRED_H

#include <stdatomic.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "driver/entry.h"

#define SL_DEFERRED_LEGACY ((CUstream)1)
#define SL_DEFERRED_PER_THREAD ((CUstream)2)

extern atomic_int sl_deferred_count;
void sl_deferred_end_slowly(CUcontext context, CUstream stream);

/* So many bytes, which left their use already, are freed when the stream has come there and the program has waited. */
void sl_deferred_add(unsigned gpu, CUcontext context, CUstream stream, uint64_t bytes);
/* The program has waited for a stream of the current context (context NULL), or for a context (stream NULL): refunds. */
static inline void sl_deferred_end(CUcontext context, CUstream stream) {
    if (SL_UNLIKELY(atomic_load_explicit(&sl_deferred_count, memory_order_acquire) > 0))
        sl_deferred_end_slowly(context, stream);
}

#endif
