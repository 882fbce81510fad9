/* borrow: makes a context of the program current for our own calls, and restores everything afterwards.
 *
 * While any stream of the process captures, the driver forbids a thread calls that could disturb the capture, and such a call ends the
 * capture. Ours do not disturb it, so the thread is exempt meanwhile. */
#ifndef SL_BORROW_H
#define SL_BORROW_H

#include <stdbool.h>

#include "driver/entry.h"
#include "real.h"

typedef struct {
    bool pushed;
    CUstreamCaptureMode mode; /* of the thread before */
} sl_borrow_t;

static inline bool sl_borrow_begin(sl_borrow_t *borrow, CUcontext context) {
    enum { RELAXED = 2 };
    borrow->mode = RELAXED;
    if (real.cuThreadExchangeStreamCaptureMode)
        real.cuThreadExchangeStreamCaptureMode(&borrow->mode);
    borrow->pushed = context && real.cuCtxPushCurrent_v2 && real.cuCtxPopCurrent_v2 && real.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
    return borrow->pushed;
}

static inline void sl_borrow_end(sl_borrow_t *borrow) {
    CUcontext popped;
    if (borrow->pushed)
        real.cuCtxPopCurrent_v2(&popped);
    if (real.cuThreadExchangeStreamCaptureMode)
        real.cuThreadExchangeStreamCaptureMode(&borrow->mode);
}

#endif
