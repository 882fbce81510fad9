/* gate: the place where a call that submits work waits until it may go. */
#ifndef SL_GATE_H
#define SL_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "costs/cost.h"
#include "cuda_abi.h"
#include "driver/entry.h"
#include "compute/lane.h"
#include "turns/window.h"
#include "compute/meter/meter.h"
#include "compute/credit.h"
#include "compute/gate_on.h"

enum { SL_GATE_LEGACY, SL_GATE_PER_THREAD };

typedef struct {
    sl_lane_t *lane; /* NULL: nothing is left to do after the call */
    sl_stream_t stream;
    sl_cost_t *cost;
    unsigned batch; /* the batch of the call */
    bool alone;  /* the call is measured by itself */
    bool counted; /* the call counts as submitted */
    bool blocks; /* the call returns only when its work is done */
    sl_lane_t *windows; /* the lane whose windows of culocker follow the call; NULL: none */
    sl_window_operation_t operation;
} sl_gate_pass_t;

/* False: the call is refused, because the limits cannot be enforced and on-error is fail. Then the caller must not leave the gate. */
bool sl_gate_enter_kernel(sl_gate_pass_t *pass, CUstream stream, int default_stream, uint64_t key);
bool sl_gate_enter_graph(sl_gate_pass_t *pass, CUstream stream, int default_stream, CUgraphExec graph);
bool sl_gate_enter_copy(sl_gate_pass_t *pass, CUstream stream, int default_stream, unsigned entry, uint64_t bytes);
void sl_gate_settle_slowly(sl_gate_pass_t *pass);

/* A call that the driver refused was not submitted. */
static inline void sl_gate_leave(sl_gate_pass_t *pass, CUresult status) {
    if (SL_UNLIKELY(status != CUDA_SUCCESS) && pass->counted)
        sl_credit_count_calls(-1);
    if (SL_UNLIKELY(pass->lane != NULL || pass->windows != NULL))
        sl_gate_settle_slowly(pass);
}

/* Work that cannot be gated. */
void sl_gate_pass_uncounted(void);

/* Around a call that waits for the GPU: a process without work must not keep the turn, and a process with work must not lose it. The
 * result of the first function is the argument of the second. */
bool sl_gate_before_wait(void);
void sl_gate_after_wait(bool blocked);

/* After the driver has answered to the end of a capture. */
void sl_gate_end_capture(CUresult status);
void sl_gate_leave_stream(CUstream stream);
/* The next call ends the context, and the tenant's cap is strict: waits until its work is done, with a bound. */
void sl_gate_finish_context(CUcontext context);
/* Before the driver is asked to destroy a context, and when it has answered. */
void sl_gate_leave_context(CUcontext context);
void sl_gate_settle_context(CUcontext context, bool gone);

#endif
