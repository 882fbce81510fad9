/* graph_launch: a launch of a graph passes the gate, and takes the memory that the graph allocates. */
#include "compute/gate.h"
#include "driver/driver.h"
#include "hooks.h"
#include "memory/stream/graph.h"
#include "real.h"

/* The gate comes first, because no thread may wait for a turn while it holds the lock of a pool. */
#define LAUNCH_HOOK(function, twin, default_stream)                                           \
    CUresult hook_##function##twin(CUgraphExec hGraph, CUstream hStream) {                    \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function##twin)))                                      \
            return CUDA_ERROR_NOT_FOUND;                                                      \
        sl_graph_t graph;                                                                     \
        bool allocates = sl_graph_find_allocating(hGraph, hStream, real.cuStreamIsCapturing##twin, &graph); \
        bool gated = sl_gate_is_on();                                                         \
        if (!allocates && !gated)                                                             \
            return real.function##twin(hGraph, hStream);                                      \
        sl_gate_pass_t pass;                                                                  \
        if (gated && !sl_gate_enter_graph(&pass, hStream, default_stream, hGraph))            \
            return CUDA_ERROR_NOT_PERMITTED;                                                  \
        CUresult status = allocates ? sl_graph_submit(real.function##twin, &graph, hStream, SL_GRAPH_STREAM_CALLS(twin)) \
                                    : real.function##twin(hGraph, hStream);                   \
        if (gated)                                                                            \
            sl_gate_leave(&pass, status);                                                     \
        return status;                                                                        \
    }
LAUNCH_HOOK(cuGraphLaunch, , SL_GATE_LEGACY)
LAUNCH_HOOK(cuGraphLaunch, _ptsz, SL_GATE_PER_THREAD)
