/* graph: the memory of graphs that allocate.
 *
 * The driver takes it when such a graph is launched or uploaded, keeps it for the next launch, and tells for each device
 * how much it keeps. A launch cannot be undone, so what a graph needs is reserved before. Programs whose graphs do not
 * allocate pay one load for a launch. */
#include "memory/graph.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "compute/gate.h"
#include "tenant/gpu.h"
#include "memory/graph_need.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/pool.h"
#include "real.h"
#include "tenant/tenant.h"

#define DEVICES SL_GRAPH_NEED_DEVICES
#define BUCKETS 256
#define MIX 0x9e3779b97f4a7c15ull

enum { NODE_ALLOCATE = 10, FLAG_UPLOAD = 2 };

typedef struct graph {
    struct graph *next;
    CUgraphExec exec;
    sl_graph_need_t need;
    CUstream stream;         /* of the last launch: in another one the memory may be in use */
    unsigned trims[DEVICES]; /* when it was launched, so that its memory is still there if no trim came since */
    bool launched;
} graph_t;

typedef struct {
    sl_holding_t *pool[DEVICES]; /* NULL: the graph needs nothing here */
    sl_holding_claim_t claim[DEVICES];
} charge_t;

static atomic_bool allocations_seen;
static graph_t *graphs[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sl_graph_note_allocation(void) {
    atomic_store_explicit(&allocations_seen, true, memory_order_relaxed);
}

static bool accounted(void) {
    return SL_UNLIKELY(atomic_load_explicit(&allocations_seen, memory_order_relaxed)) &&
           sl_tenant_attach() == SL_TENANT_ATTACHED;
}

static graph_t **bucket_of(CUgraphExec exec) {
    return &graphs[(uintptr_t)exec * MIX >> 56];
}

/* With the lock held: where the pointer to it is, or would be. */
static graph_t **place_of(CUgraphExec exec) {
    graph_t **place = bucket_of(exec);
    while (*place && (*place)->exec != exec)
        place = &(*place)->next;
    return place;
}

static bool find(CUgraphExec exec, graph_t *copy) {
    pthread_mutex_lock(&lock);
    const graph_t *graph = *place_of(exec);
    if (graph)
        *copy = *graph;
    pthread_mutex_unlock(&lock);
    return graph;
}

static void put(graph_t *graph) {
    pthread_mutex_lock(&lock);
    graph_t **place = place_of(graph->exec), *old = *place;
    graph->next = old ? old->next : NULL;
    *place = graph;
    pthread_mutex_unlock(&lock);
    free(old);
}

static graph_t *take_out(CUgraphExec exec) {
    pthread_mutex_lock(&lock);
    graph_t **place = place_of(exec), *graph = *place;
    if (graph)
        *place = graph->next;
    pthread_mutex_unlock(&lock);
    return graph;
}

static bool is_resident(const graph_t *graph, int device, const sl_holding_t *pool, CUstream stream) {
    return graph->launched && graph->stream == stream && graph->trims[device] == pool->trims;
}

static void settle(const charge_t *charge) {
    for (int device = 0; device < DEVICES; device++)
        if (charge->pool[device])
            sl_holding_settle(charge->pool[device], &charge->claim[device]);
}

/* What other graphs left behind is used first. */
static bool claim(charge_t *charge, int device, uint64_t bytes) {
    sl_holding_t *pool = charge->pool[device];
    uint64_t room = sl_holding_room(pool);
    return room >= bytes || sl_holding_claim(pool, bytes - room, &charge->claim[device]);
}

static CUresult admit(charge_t *charge, const graph_t *graph, CUstream stream) {
    memset(charge, 0, sizeof *charge);
    sl_tenant_count_call(true);
    for (int device = 0; device < DEVICES; device++) {
        uint64_t bytes = graph->need.bytes[device];
        int gpu = bytes ? sl_gpu_find(device) : SL_GPU_UNCOUNTED;
        sl_holding_t *pool = gpu >= 0 ? sl_pool_of_graphs(device, gpu) : NULL;
        charge->pool[device] = pool;
        if (!pool || is_resident(graph, device, pool, stream) || claim(charge, device, bytes))
            continue;
        settle(charge);
        sl_ledger_refuse((unsigned)gpu, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static void note_launch(CUgraphExec exec, CUstream stream, const charge_t *charge) {
    pthread_mutex_lock(&lock);
    graph_t *graph = *place_of(exec);
    if (graph) {
        graph->launched = true;
        graph->stream = stream;
        for (int device = 0; device < DEVICES; device++)
            graph->trims[device] = charge->pool[device] ? charge->pool[device]->trims : 0;
    }
    pthread_mutex_unlock(&lock);
}

#define LAUNCH(function, default_stream)                                          \
    static CUresult launch_##function(CUgraphExec hGraph, CUstream hStream) {     \
        if (!sl_gate_is_on())                                                     \
            return real.function(hGraph, hStream);                                \
        sl_gate_pass_t pass;                                                      \
        if (!sl_gate_enter_graph(&pass, hStream, default_stream, hGraph))         \
            return CUDA_ERROR_NOT_PERMITTED;                                      \
        CUresult status = real.function(hGraph, hStream);                         \
        sl_gate_leave(&pass);                                                     \
        return status;                                                            \
    }
LAUNCH(cuGraphLaunch, SL_GATE_LEGACY)
LAUNCH(cuGraphLaunch_ptsz, SL_GATE_PER_THREAD)

#define SUBMIT_HOOK(function, forward)                                    \
    CUresult hook_##function(CUgraphExec hGraph, CUstream hStream) {      \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                        \
            return CUDA_ERROR_NOT_FOUND;                                  \
        graph_t graph;                                                    \
        if (!accounted() || !find(hGraph, &graph))                        \
            return forward(hGraph, hStream);                              \
        charge_t charge;                                                  \
        CUresult status = admit(&charge, &graph, hStream);                \
        if (status != CUDA_SUCCESS)                                       \
            return status;                                                \
        status = forward(hGraph, hStream);                                \
        settle(&charge);                                                  \
        if (status == CUDA_SUCCESS)                                       \
            note_launch(hGraph, hStream, &charge);                        \
        return status;                                                    \
    }
SUBMIT_HOOK(cuGraphLaunch, launch_cuGraphLaunch)
SUBMIT_HOOK(cuGraphLaunch_ptsz, launch_cuGraphLaunch_ptsz)
SUBMIT_HOOK(cuGraphUpload, real.cuGraphUpload)
SUBMIT_HOOK(cuGraphUpload_ptsz, real.cuGraphUpload_ptsz)

static bool needs_any(const sl_graph_need_t *need) {
    for (int device = 0; device < DEVICES; device++)
        if (need->bytes[device])
            return true;
    return false;
}

/* NULL: the graph does not allocate. */
static graph_t *describe(CUgraph source) {
    int saved = errno;
    graph_t *graph = calloc(1, sizeof *graph);
    if (graph)
        sl_graph_need_find(source, &graph->need);
    if (graph && !needs_any(&graph->need)) {
        free(graph);
        graph = NULL;
    }
    errno = saved;
    return graph;
}

static CUresult settle_instantiated(graph_t *graph, const charge_t *charge, CUresult status, const CUgraphExec *exec) {
    settle(charge);
    if (status != CUDA_SUCCESS) {
        free(graph);
        return status;
    }
    graph->exec = *exec;
    put(graph);
    return status;
}

#define INSTANTIATE_HOOK(function, uploads, parameters, ...)                               \
    CUresult hook_##function parameters {                                                  \
        if (!SL_DRIVER_HAS(function))                                                      \
            return CUDA_ERROR_NOT_FOUND;                                                   \
        graph_t *graph = accounted() ? describe(hGraph) : NULL;                            \
        charge_t charge = {.pool = {NULL}};                                                \
        if (!graph)                                                                        \
            return real.function(__VA_ARGS__);                                             \
        CUresult status = (uploads) ? admit(&charge, graph, NULL) : CUDA_SUCCESS;          \
        if (status != CUDA_SUCCESS)                                                        \
            return free(graph), status;                                                    \
        return settle_instantiated(graph, &charge, real.function(__VA_ARGS__), phGraphExec); \
    }
#define WITH_LOG \
    (CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
#define WITH_PARAMS (CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
#define PARAMS_UPLOAD instantiateParams && (instantiateParams->flags & FLAG_UPLOAD)
INSTANTIATE_HOOK(cuGraphInstantiate, false, WITH_LOG, phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
INSTANTIATE_HOOK(cuGraphInstantiate_v2, false, WITH_LOG, phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
INSTANTIATE_HOOK(cuGraphInstantiateWithFlags, flags & FLAG_UPLOAD,
                 (CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags), phGraphExec, hGraph, flags)
INSTANTIATE_HOOK(cuGraphInstantiateWithParams, PARAMS_UPLOAD, WITH_PARAMS, phGraphExec, hGraph, instantiateParams)
INSTANTIATE_HOOK(cuGraphInstantiateWithParams_ptsz, PARAMS_UPLOAD, WITH_PARAMS, phGraphExec, hGraph, instantiateParams)

static void follow_device(CUdevice device, bool trimmed) {
    int gpu = sl_gpu_find(device);
    sl_holding_t *pool = gpu >= 0 ? sl_pool_of_graphs(device, gpu) : NULL;
    if (pool && trimmed)
        pool->trims++;
    if (pool)
        sl_holding_follow(pool);
}

/* Taken out first: afterwards another thread may get the same handle. */
CUresult hook_cuGraphExecDestroy(CUgraphExec hGraphExec) {
    if (!SL_DRIVER_HAS(cuGraphExecDestroy))
        return CUDA_ERROR_NOT_FOUND;
    graph_t *graph = accounted() ? take_out(hGraphExec) : NULL;
    CUresult status = real.cuGraphExecDestroy(hGraphExec);
    if (graph && status != CUDA_SUCCESS) {
        put(graph);
    } else if (graph) {
        for (CUdevice device = 0; device < DEVICES; device++)
            if (graph->need.bytes[device])
                follow_device(device, false);
        free(graph);
    }
    return status;
}

CUresult hook_cuDeviceGraphMemTrim(CUdevice device) {
    if (!SL_DRIVER_HAS(cuDeviceGraphMemTrim))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuDeviceGraphMemTrim(device);
    if (status == CUDA_SUCCESS && accounted())
        follow_device(device, true);
    return status;
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

void sl_graph_forget(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    memset(graphs, 0, sizeof graphs);
    allocations_seen = false;
}
