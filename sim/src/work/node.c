/* The calls that add nodes to graphs. */
#include "work/graph.h"
#include "code/module.h"

typedef const CUDA_KERNEL_NODE_PARAMS kernel_parameters_t;

static CUresult kernel(sim_work_t *work, kernel_parameters_t *from) {
    SIM_REQUIRE(from, CUDA_ERROR_INVALID_VALUE);
    CUfunction function = from->func ? from->func : (CUfunction)from->kern;
    return sim_kernel_work(work, function, (unsigned[]){from->gridDimX, from->gridDimY, from->gridDimZ},
                           (unsigned[]){from->blockDimX, from->blockDimY, from->blockDimZ}, from->sharedMemBytes, from->kernelParams, from->extra);
}

static CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1 *narrow) {
    CUDA_KERNEL_NODE_PARAMS wide = {0};
    memcpy(&wide, narrow, sizeof *narrow);
    return wide;
}

CUresult sim_cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                     kernel_parameters_t *parameters) {
    sim_work_t work;
    SIM_TRY(kernel(&work, parameters));
    return sim_graph_add(graph, after, count, &work, node);
}

CUresult sim_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                  const CUDA_KERNEL_NODE_PARAMS_v1 *parameters) {
    SIM_REQUIRE(parameters, CUDA_ERROR_INVALID_VALUE);
    CUDA_KERNEL_NODE_PARAMS wide = widen(parameters);
    return sim_cuGraphAddKernelNode_v2(node, graph, after, count, &wide);
}

static CUresult copy(sim_work_t *work, const CUDA_MEMCPY3D *parameters) {
    SIM_REQUIRE(parameters && sim_copy_is_valid(parameters), CUDA_ERROR_INVALID_VALUE);
    *work = (sim_work_t){.kind = SIM_WORK_COPY, .copy = *parameters};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                  const CUDA_MEMCPY3D *parameters, CUcontext context) {
    sim_work_t work;
    SIM_REQUIRE(sim_context_is_known(context), CUDA_ERROR_INVALID_CONTEXT);
    SIM_TRY(copy(&work, parameters));
    return sim_graph_add(graph, after, count, &work, node);
}

static CUresult fill(sim_work_t *work, const CUDA_MEMSET_NODE_PARAMS *parameters) {
    SIM_REQUIRE(parameters && (parameters->elementSize == 1 || parameters->elementSize == 2 || parameters->elementSize == 4), CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_fill_is_valid(parameters), CUDA_ERROR_INVALID_VALUE);
    *work = (sim_work_t){.kind = SIM_WORK_FILL, .fill = *parameters};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                  const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context) {
    sim_work_t work;
    SIM_REQUIRE(sim_context_is_known(context), CUDA_ERROR_INVALID_CONTEXT);
    SIM_TRY(fill(&work, parameters));
    return sim_graph_add(graph, after, count, &work, node);
}

CUresult sim_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                const CUDA_HOST_NODE_PARAMS *parameters) {
    SIM_REQUIRE(parameters && parameters->fn, CUDA_ERROR_INVALID_VALUE);
    return sim_graph_add(graph, after, count, &(sim_work_t){.kind = SIM_WORK_HOST, .host = *parameters}, node);
}

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count) {
    return sim_graph_add(graph, after, count, &(sim_work_t){.kind = SIM_WORK_EMPTY}, node);
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUgraph child) {
    SIM_REQUIRE(child, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!sim_graph_has_memory(child), CUDA_ERROR_NOT_SUPPORTED);
    sim_work_t work = {.kind = SIM_WORK_CHILD, .child = {sim_graph_copy(child)}};
    SIM_REQUIRE(work.child.graph, CUDA_ERROR_OUT_OF_MEMORY);
    return sim_graph_add(graph, after, count, &work, node);
}

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
    SIM_REQUIRE(node && graph && node->work.kind == SIM_WORK_CHILD, CUDA_ERROR_INVALID_VALUE);
    *graph = node->work.child.graph;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUevent event) {
    SIM_REQUIRE(event, CUDA_ERROR_INVALID_VALUE);
    return sim_graph_add(graph, after, count, &(sim_work_t){.kind = SIM_WORK_RECORD, .event = {event, 0}}, node);
}

CUresult sim_cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUevent event) {
    SIM_REQUIRE(event, CUDA_ERROR_INVALID_VALUE);
    return sim_graph_add(graph, after, count, &(sim_work_t){.kind = SIM_WORK_WAIT_EVENT, .event = {event, 0}}, node);
}

CUresult sim_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                    CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
    SIM_REQUIRE(parameters && parameters->bytesize && parameters->poolProps.location.type == 1, CUDA_ERROR_INVALID_VALUE);
    int device = parameters->poolProps.location.id;
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    SIM_REQUIRE(graph && (after || !count), CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_graph_memory_make(&(sim_graph_place_t){graph, after, count, device}, parameters->bytesize, &parameters->dptr));
    sim_work_t work = {.kind = SIM_WORK_ALLOC, .memory = {.address = parameters->dptr, .bytes = parameters->bytesize}};
    return sim_graph_add(graph, after, count, &work, node);
}

CUresult sim_cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUdeviceptr address) {
    SIM_REQUIRE(sim_graph_memory_is_known(address), CUDA_ERROR_INVALID_VALUE);
    return sim_graph_add(graph, after, count, &(sim_work_t){.kind = SIM_WORK_FREE, .memory = {.address = address}}, node);
}

