/* pending: before a request is refused, waits for memory that is freed but that its stream has not reached yet. */
#ifndef SL_PENDING_H
#define SL_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

typedef struct {
    unsigned gpu;
    CUstream stream;                      /* of the request */
    CUresult (*query)(CUstream stream);   /* whether that stream is busy; NULL: not known */
    bool is_reserved;                     /* the ledger has the request already, so bytes above the quota are its own */
    uint64_t start_nanos;                 /* 0: not begun */
    uint64_t progress_nanos;              /* when memory last came back */
    uint64_t span_nanos;
    uint64_t lowest_bytes;                /* the least charge of the pools so far */
} sl_pending_t;

/* Sleeps a moment and trims the pools of the GPU; all calls for a request take a second at most. False: a longer wait is of no use. The
 * caller holds no lock. */
bool sl_pending_wait(sl_pending_t *pending);
/* After the last wait: whether the request was met. */
void sl_pending_end(const sl_pending_t *pending, bool met);
/* The last reclaimer. Waits until a request that is in the ledger fits the quota, for 20 ms without progress at most. True: charges fell. */
bool sl_pending_reclaim(unsigned gpu);
/* Whether any stream of the process captures: then no thread waits. */
bool sl_pending_is_capturing(void);

#endif
