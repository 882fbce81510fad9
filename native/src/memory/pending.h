/* pending: before a request is refused, waits for memory that is freed but that its stream has not come to yet. */
#ifndef SL_PENDING_H
#define SL_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

typedef struct {
    unsigned gpu;
    CUstream stream;                      /* of the request */
    CUresult (*query)(CUstream stream);   /* whether that stream is busy; NULL: not known */
    bool is_reserved;                     /* the request is in the ledger already, so what is beyond the quota is its own */
    uint64_t start_nanos;                 /* 0: not begun */
    uint64_t progress_nanos;              /* when memory last came back */
    uint64_t span_nanos;
    uint64_t lowest_bytes;                /* the least that the pools had */
} sl_pending_t;

/* Waits a moment and lets the pools of the GPU give back what they can. False: to wait longer is of no use. It never lasts longer than
 * a second in all. Hold no lock. */
bool sl_pending_wait(sl_pending_t *pending);
/* After the last wait: whether the request was met. */
void sl_pending_end(const sl_pending_t *pending, bool met);
/* The last reclaimer, for a request that is in the ledger and passes the quota: waits until it fits, for 20 ms without progress
 * at most. True: charges fell. */
bool sl_pending_reclaim(unsigned gpu);
/* Whether any stream of the process captures: then no thread waits. */
bool sl_pending_is_capturing(void);

#endif
