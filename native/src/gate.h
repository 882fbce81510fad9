/* gate: where a call that submits work waits until it may go. */
#ifndef SL_GATE_H
#define SL_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

/* What a stream of 0 means to the variant of the call. */
enum { SL_GATE_LEGACY, SL_GATE_PER_THREAD };

typedef struct {
    CUstream stream;
} sl_gate_pass_t;

/* False: the tenant has no share of GPU time, and its calls go straight to the driver. */
static inline bool sl_gate_is_on(void) {
    return false;
}

/* Each returns when the call may go. `entry` is the position of the call among the entry points of libcuda; 0 bytes or
 * 0 threads of a block: not known. */
void sl_gate_enter_copy(sl_gate_pass_t *pass, CUstream stream, int default_stream, unsigned entry, uint64_t bytes);
void sl_gate_enter_kernel(sl_gate_pass_t *pass, CUstream stream, int default_stream, CUfunction function, unsigned grid_x,
                          unsigned grid_y, unsigned grid_z, unsigned threads);
void sl_gate_enter_graph(sl_gate_pass_t *pass, CUstream stream, int default_stream, CUgraphExec graph);
/* After the driver has the work, or has refused it. */
void sl_gate_leave(sl_gate_pass_t *pass);
/* Counts a call that went through although its GPU time cannot be charged. */
void sl_gate_pass_uncounted(void);

#endif
