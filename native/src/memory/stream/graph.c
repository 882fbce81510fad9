/* graph: the memory of graphs that allocate.
 *
 * What a graph needs is found when it is instantiated; graph_charge.c reserves it when the graph is launched or uploaded.
 * Programs whose graphs do not allocate pay one load for a launch. */
#include "memory/stream/graph.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "driver/driver.h"
#include "memory/stream/graph_charge.h"
#include "hooks.h"
#include "driver/stream.h"
#include "os/fork.h"
#include "os/index.h"
#include "os/mutex.h"
#include "real.h"
#include "tenant/tenant.h"

#define DEVICES SL_GRAPH_NEED_DEVICES

enum { NODE_ALLOCATE = 10, FLAG_UPLOAD = 2 };

/* A launch copies the graph, so that it needs no lock while the driver works. */
typedef struct {
    uint64_t exec;
    sl_graph_t *graph;
} known_t;

static atomic_bool allocations_seen;
static sl_index_t graphs = {.record_bytes = sizeof(known_t)};
static sl_mutex_t lock = SL_MUTEX_INITIALIZER;

void sl_graph_note_allocation(void) {
    atomic_store_explicit(&allocations_seen, true, memory_order_relaxed);
}

static bool accounted(void) {
    return SL_UNLIKELY(atomic_load_explicit(&allocations_seen, memory_order_relaxed)) &&
           sl_tenant_attach() == SL_TENANT_ATTACHED;
}

static bool find(CUgraphExec exec, sl_graph_t *copy) {
    sl_mutex_lock_briefly(&lock);
    const known_t *known = sl_index_find(&graphs, (uintptr_t)exec);
    if (known)
        *copy = *known->graph;
    sl_mutex_unlock(&lock);
    return known;
}

static void put(sl_graph_t *graph) {
    sl_mutex_lock_briefly(&lock);
    known_t *known = sl_index_put(&graphs, (uintptr_t)graph->exec);
    sl_graph_t *old = known ? known->graph : graph;
    if (known)
        known->graph = graph;
    sl_mutex_unlock(&lock);
    free(old);
}

static sl_graph_t *take_out(CUgraphExec exec) {
    sl_mutex_lock_briefly(&lock);
    known_t *known = sl_index_find(&graphs, (uintptr_t)exec);
    sl_graph_t *graph = known ? known->graph : NULL;
    if (known)
        sl_index_remove(&graphs, known);
    sl_mutex_unlock(&lock);
    return graph;
}

/* A graph that is launched into a stream that captures becomes a part of another graph. */
static bool is_captured(CUstream stream, sl_graph_capture_query_t is_capturing) {
    CUstreamCaptureStatus status = 0;
    return atomic_load_explicit(&sl_stream_open_captures, memory_order_acquire) > 0 && is_capturing &&
           (is_capturing(stream, &status) != CUDA_SUCCESS || status != 0);
}

bool sl_graph_find_allocating(CUgraphExec exec, CUstream stream, sl_graph_capture_query_t is_capturing, sl_graph_t *graph) {
    return accounted() && find(exec, graph) && !is_captured(stream, is_capturing);
}

/* A driver that took more than predicted may do so again. */
static void learn(const sl_graph_t *graph, const uint64_t *grown) {
    for (CUdevice device = 0; device < DEVICES; device++) {
        if (grown[device] <= graph->need.bytes[device])
            continue;
        sl_mutex_lock_briefly(&lock);
        known_t *known = sl_index_find(&graphs, (uintptr_t)graph->exec);
        if (known && known->graph->need.bytes[device] < grown[device])
            known->graph->need.bytes[device] = grown[device];
        sl_mutex_unlock(&lock);
    }
}

CUresult sl_graph_submit(CUresult (*forward)(CUgraphExec, CUstream), const sl_graph_t *graph, CUstream stream,
                       const sl_graph_stream_t *calls) {
    sl_graph_charge_t charge = {.exec = graph->exec, .need = &graph->need, .stream = stream, .calls = calls};
    sl_tenant_count_call(true);
    CUresult status = sl_graph_charge_begin(&charge);
    if (status != CUDA_SUCCESS)
        return status;
    status = forward(graph->exec, stream);
    sl_graph_charge_end(&charge, status);
    learn(graph, charge.grown);
    return status;
}

#define UPLOAD_HOOK(function, twin)                                                           \
    CUresult hook_##function##twin(CUgraphExec hGraph, CUstream hStream) {                    \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function##twin)))                                      \
            return CUDA_ERROR_NOT_FOUND;                                                      \
        sl_graph_t graph;                                                                        \
        if (!accounted() || !find(hGraph, &graph))                                            \
            return real.function##twin(hGraph, hStream);                                      \
        return sl_graph_submit(real.function##twin, &graph, hStream, SL_GRAPH_STREAM_CALLS(twin));              \
    }
UPLOAD_HOOK(cuGraphUpload, )
UPLOAD_HOOK(cuGraphUpload, _ptsz)

static bool needs_any(const sl_graph_need_t *need) {
    for (int device = 0; device < DEVICES; device++)
        if (need->bytes[device])
            return true;
    return false;
}

/* NULL: the graph does not allocate. */
static sl_graph_t *describe(CUgraph source) {
    int saved = errno;
    sl_graph_t *graph = calloc(1, sizeof *graph);
    if (graph)
        sl_graph_need_find(source, &graph->need);
    if (graph && !needs_any(&graph->need)) {
        free(graph);
        graph = NULL;
    }
    errno = saved;
    return graph;
}

static CUresult settle_instantiated(sl_graph_t *graph, CUresult status, const CUgraphExec *exec) {
    if (status != CUDA_SUCCESS) {
        free(graph);
        return status;
    }
    graph->exec = *exec;
    put(graph);
    return status;
}

static CUresult begin_upload(sl_graph_charge_t *charge, sl_graph_t *graph, CUstream stream, const sl_graph_stream_t *calls) {
    *charge = (sl_graph_charge_t){.need = &graph->need, .stream = stream, .calls = calls};
    CUresult status = sl_graph_charge_begin(charge);
    if (status != CUDA_SUCCESS)
        free(graph);
    return status;
}

#define INSTANTIATE_HOOK(function, twin, uploads, upload_stream, parameters, ...)          \
    CUresult hook_##function##twin parameters {                                            \
        if (!SL_DRIVER_HAS(function##twin))                                                \
            return CUDA_ERROR_NOT_FOUND;                                                   \
        sl_graph_t *graph = accounted() ? describe(hGraph) : NULL;                            \
        if (!graph)                                                                        \
            return real.function##twin(__VA_ARGS__);                                       \
        sl_graph_charge_t charge;                                                          \
        bool charged = (uploads);                                                          \
        CUresult status = charged ? begin_upload(&charge, graph, upload_stream, SL_GRAPH_STREAM_CALLS(twin)) : CUDA_SUCCESS; \
        if (status != CUDA_SUCCESS)                                                        \
            return status;                                                                 \
        status = real.function##twin(__VA_ARGS__);                                         \
        if (charged)                                                                       \
            sl_graph_charge_end(&charge, status);                                          \
        return settle_instantiated(graph, status, phGraphExec);                            \
    }
#define WITH_LOG \
    (CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
#define WITH_PARAMS (CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
#define PARAMS_UPLOAD instantiateParams && (instantiateParams->flags & FLAG_UPLOAD)
INSTANTIATE_HOOK(cuGraphInstantiate, , false, NULL, WITH_LOG, phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
INSTANTIATE_HOOK(cuGraphInstantiate_v2, , false, NULL, WITH_LOG, phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
INSTANTIATE_HOOK(cuGraphInstantiateWithFlags, , flags & FLAG_UPLOAD, NULL,
                 (CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags), phGraphExec, hGraph, flags)
INSTANTIATE_HOOK(cuGraphInstantiateWithParams, , PARAMS_UPLOAD, instantiateParams->hUploadStream, WITH_PARAMS, phGraphExec, hGraph, instantiateParams)
INSTANTIATE_HOOK(cuGraphInstantiateWithParams, _ptsz, PARAMS_UPLOAD, instantiateParams->hUploadStream, WITH_PARAMS, phGraphExec, hGraph, instantiateParams)

/* The graph leaves the table before the driver destroys it: afterwards another thread may get the same handle. */
CUresult hook_cuGraphExecDestroy(CUgraphExec hGraphExec) {
    if (!SL_DRIVER_HAS(cuGraphExecDestroy))
        return CUDA_ERROR_NOT_FOUND;
    sl_graph_t *graph = accounted() ? take_out(hGraphExec) : NULL;
    for (CUdevice device = 0; graph && device < DEVICES; device++)
        if (graph->need.bytes[device])
            sl_graph_charge_forget_exec(device, hGraphExec);
    CUresult status = real.cuGraphExecDestroy(hGraphExec);
    if (graph && status != CUDA_SUCCESS)
        put(graph);
    else
        free(graph);
    return status;
}

CUresult hook_cuDeviceGraphMemTrim(CUdevice device) {
    if (!SL_DRIVER_HAS(cuDeviceGraphMemTrim))
        return CUDA_ERROR_NOT_FOUND;
    return accounted() ? sl_graph_charge_trim(device) : real.cuDeviceGraphMemTrim(device);
}

static CUresult note_node(CUresult status, bool allocates) {
    if (status == CUDA_SUCCESS && allocates)
        sl_graph_note_allocation();
    return status;
}

CUresult hook_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
    if (!SL_DRIVER_HAS(cuGraphAddMemAllocNode))
        return CUDA_ERROR_NOT_FOUND;
    return note_node(real.cuGraphAddMemAllocNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams), true);
}

CUresult hook_cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                             size_t numDependencies, CUgraphNodeParams *nodeParams) {
    if (!SL_DRIVER_HAS(cuGraphAddNode))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuGraphAddNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
    return note_node(status, nodeParams && nodeParams->type == NODE_ALLOCATE);
}

CUresult hook_cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                CUgraphNodeParams *nodeParams) {
    if (!SL_DRIVER_HAS(cuGraphAddNode_v2))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
    return note_node(status, nodeParams && nodeParams->type == NODE_ALLOCATE);
}

static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    graphs = (sl_index_t){.record_bytes = sizeof(known_t)};
    allocations_seen = false;
}
SL_FORK_FORGETS(forget);
