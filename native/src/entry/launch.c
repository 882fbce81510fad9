/* launch: calls that end a stream, or begin and end a capture. */
#include "driver/driver.h"
#include "compute/gate.h"
#include "hooks.h"
#include "real.h"

/* A batch that uses the stream must be closed while the stream exists. */
#define STREAM_HOOK(function)                                \
    CUresult hook_##function(CUstream hStream) {             \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))           \
            return CUDA_ERROR_NOT_FOUND;                     \
        sl_gate_leave_stream(hStream);                       \
        return real.function(hStream);                       \
    }
STREAM_HOOK(cuStreamDestroy)
STREAM_HOOK(cuStreamDestroy_v2)

/* While the count of open captures is 0, a launch need not ask the driver whether its stream captures. */
#define BEGIN_HOOK(function, parameters, ...)                                    \
    CUresult hook_##function parameters {                                        \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                               \
            return CUDA_ERROR_NOT_FOUND;                                         \
        sl_stream_begin_capture();                                                \
        sl_credit_revoke_all();                                                   \
        CUresult status = real.function(__VA_ARGS__);                            \
        if (status != CUDA_SUCCESS)                                              \
            atomic_fetch_sub(&sl_stream_open_captures, 1);                        \
        return status;                                                           \
    }
#define INTO_GRAPH                                                                                           \
    (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, \
     size_t numDependencies, CUstreamCaptureMode mode)
#define INTO_GRAPH_NAMES hStream, hGraph, dependencies, dependencyData, numDependencies, mode
BEGIN_HOOK(cuStreamBeginCapture, (CUstream hStream), hStream)
BEGIN_HOOK(cuStreamBeginCapture_ptsz, (CUstream hStream), hStream)
BEGIN_HOOK(cuStreamBeginCapture_v2, (CUstream hStream, CUstreamCaptureMode mode), hStream, mode)
BEGIN_HOOK(cuStreamBeginCapture_v2_ptsz, (CUstream hStream, CUstreamCaptureMode mode), hStream, mode)
BEGIN_HOOK(cuStreamBeginCaptureToGraph, INTO_GRAPH, INTO_GRAPH_NAMES)
BEGIN_HOOK(cuStreamBeginCaptureToGraph_ptsz, INTO_GRAPH, INTO_GRAPH_NAMES)

#define END_HOOK(function)                                                       \
    CUresult hook_##function(CUstream hStream, CUgraph *phGraph) {               \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                               \
            return CUDA_ERROR_NOT_FOUND;                                         \
        CUresult status = real.function(hStream, phGraph);                       \
        sl_gate_end_capture(status);                                             \
        return status;                                                           \
    }
END_HOOK(cuStreamEndCapture)
END_HOOK(cuStreamEndCapture_ptsz)
