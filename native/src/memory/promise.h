/* promise: remembers how much memory modules, libraries and limits took or were promised, so that their end refunds it. */
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
    uint32_t elsewhere; /* those of gpus that the ending call does not book */
    bool later;     /* the driver may not have taken them yet */
} sl_promise_t;

/* After a successful call: remembers the bytes for the object with this key. The object ends with the context; NULL: with no context. */
void sl_promise_keep(uint64_t key, CUcontext context, const sl_overhead_call_t *call);
/* Before the driver is asked: the object ends with this call; of a limit, so many bytes end. After the call another object may have the
 * same key. */
sl_promise_t sl_promise_leave(uint64_t key, uint64_t bytes, sl_overhead_call_t *call);
/* After the driver has answered, and before the call's end is booked. */
void sl_promise_end(const sl_promise_t *promise, bool done);
/* The context has ended, with everything in it. */
void sl_promise_end_context(CUcontext context);

#endif
