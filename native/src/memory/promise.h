/* promise: what modules, libraries and limits took or were promised, so that it is given back when they end. */
#ifndef SL_PROMISE_H
#define SL_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "memory/overhead.h"

typedef struct {
    uint64_t key;
    CUcontext context;
    uint64_t bytes; /* on each of the GPUs */
    uint32_t gpus;  /* a bit for each entry of the region */
    uint32_t elsewhere; /* those of them that the call that ends it does not book */
    bool later;     /* the driver may not have taken them yet */
} sl_promise_t;

/* The call was done: remembers what was given to the thing with this key, which lives in the context; NULL: in all. */
void sl_promise_keep(uint64_t key, CUcontext context, const sl_overhead_call_t *call);
/* The thing ends with this call, or of a limit so many bytes, and the driver is not asked yet: afterwards another thing may have
 * the same key. */
sl_promise_t sl_promise_leave(uint64_t key, uint64_t bytes, sl_overhead_call_t *call);
/* The driver was asked, and the call's end is not booked yet. */
void sl_promise_end(const sl_promise_t *promise, bool done);
/* The context has ended, and with it all that lived there. */
void sl_promise_end_context(CUcontext context);

#endif
