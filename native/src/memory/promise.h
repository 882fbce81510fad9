/* promise: what modules, libraries and limits took or were promised, so that it is given back when they end. */
#ifndef SL_PROMISE_H
#define SL_PROMISE_H

#include <stdint.h>

#include "cuda_abi.h"
#include "memory/overhead.h"

/* The call was done: remembers what was given to the thing with this key, which lives in the context; NULL: in all. */
void sl_promise_keep(uint64_t key, CUcontext context, const sl_overhead_call_t *call);
/* The thing has ended with this call, whose end is not booked yet; or of a limit so many bytes. */
void sl_promise_end(uint64_t key, uint64_t bytes, sl_overhead_call_t *call);
/* The context has ended, and with it all that lived there. */
void sl_promise_end_context(CUcontext context);
/* After a fork. */
void sl_promise_forget(void);

#endif
