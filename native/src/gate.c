/* gate: where a call that submits work waits until it may go. */
#include "gate.h"

void sl_gate_enter_copy(sl_gate_pass_t *pass, CUstream stream, int default_stream, unsigned entry, uint64_t bytes) {
    (void)default_stream, (void)entry, (void)bytes;
    pass->stream = stream;
}

void sl_gate_enter_kernel(sl_gate_pass_t *pass, CUstream stream, int default_stream, CUfunction function, unsigned grid_x,
                          unsigned grid_y, unsigned grid_z, unsigned threads) {
    (void)default_stream, (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)threads;
    pass->stream = stream;
}

void sl_gate_enter_graph(sl_gate_pass_t *pass, CUstream stream, int default_stream, CUgraphExec graph) {
    (void)default_stream, (void)graph;
    pass->stream = stream;
}

void sl_gate_leave(sl_gate_pass_t *pass) {
    pass->stream = NULL;
}

void sl_gate_pass_uncounted(void) {
}
