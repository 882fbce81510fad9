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
/* Whether any stream of the process captures: then nobody waits. */
bool sl_pending_is_capturing(void);

#endif
