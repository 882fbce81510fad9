/* Executable graphs: nodes in an order that respects the dependencies, child graphs unfolded, queued one after the other in
 * the stream of the launch. */
#include "work/graph.h"

static CUresult append(CUgraphExec executable, const sim_work_t *work) {
    SIM_REQUIRE(sim_graph_memory_bind(work, executable), CUDA_ERROR_NOT_SUPPORTED);
    sim_work_t *grown = realloc(executable->steps, (executable->count + 1) * sizeof *grown);
    SIM_REQUIRE(grown, CUDA_ERROR_OUT_OF_MEMORY);
    executable->steps = grown;
    executable->steps[executable->count++] = *work;
    sim_graph_memory_share(work);
    return CUDA_SUCCESS;
}

static bool is_due(CUgraphNode node) {
    for (size_t i = 0; i < node->dependency_count; i++)
        if (!node->dependencies[i]->visited) return false;
    return !node->visited;
}

static CUresult unfold(CUgraphExec executable, CUgraph graph) {
    size_t done = 0;
    for (CUgraphNode node = graph->first; node; node = node->next) node->visited = false;
    for (bool moved = true; moved && done < graph->count;) {
        moved = false;
        for (CUgraphNode node = graph->first; node; node = node->next) {
            if (!is_due(node)) continue;
            if (node->work.kind == SIM_WORK_CHILD) SIM_TRY(unfold(executable, node->work.child.graph));
            else SIM_TRY(append(executable, &node->work));
            node->visited = moved = true;
            done++;
        }
    }
    return done == graph->count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void drop(CUgraphExec executable) {
    sim_graph_memory_leave(executable);
    for (size_t i = 0; i < executable->count; i++) {
        sim_graph_memory_bind(&executable->steps[i], NULL);
        sim_graph_memory_drop(&executable->steps[i]);
    }
    free(executable->steps);
    free(executable);
}

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *result, CUgraph graph, unsigned long long flags) {
    CUcontext context;
    SIM_REQUIRE(result && graph, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    CUgraphExec executable = calloc(1, sizeof *executable);
    SIM_REQUIRE(executable, CUDA_ERROR_OUT_OF_MEMORY);
    executable->flags = flags;
    CUresult unfolded = unfold(executable, graph);
    if (unfolded) return drop(executable), unfolded;
    *result = executable;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiate_v2(CUgraphExec *result, CUgraph graph, CUgraphNode *error_node, char *log, size_t room) {
    if (error_node) *error_node = NULL;
    if (log && room) *log = 0;
    return sim_cuGraphInstantiateWithFlags(result, graph, 0);
}

CUresult sim_cuGraphInstantiate(CUgraphExec *result, CUgraph graph, CUgraphNode *error_node, char *log, size_t room) {
    return sim_cuGraphInstantiate_v2(result, graph, error_node, log, room);
}

CUresult sim_cuGraphInstantiateWithParams(CUgraphExec *result, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
    SIM_REQUIRE(parameters, CUDA_ERROR_INVALID_VALUE);
    parameters->hErrNode_out = NULL;
    CUresult made = sim_cuGraphInstantiateWithFlags(result, graph, parameters->flags);
    parameters->result_out = made != CUDA_SUCCESS;
    return made;
}

CUresult sim_cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t *flags) {
    SIM_REQUIRE(executable && flags, CUDA_ERROR_INVALID_VALUE);
    *flags = executable->flags;
    return CUDA_SUCCESS;
}

/* Its launches keep what they need, so it may go while they run. */
CUresult sim_cuGraphExecDestroy(CUgraphExec executable) {
    SIM_REQUIRE(executable, CUDA_ERROR_INVALID_VALUE);
    drop(executable);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphUpload(CUgraphExec executable, CUstream handle) {
    CUstream stream;
    SIM_REQUIRE(executable, CUDA_ERROR_INVALID_VALUE);
    return sim_stream_resolve(handle, &stream);
}

static CUresult start(CUstream stream, const sim_work_t *work) {
    switch (work->kind) {
    case SIM_WORK_RECORD: return sim_event_record(work->event.event, stream);
    case SIM_WORK_WAIT_EVENT: return sim_event_wait_in(work->event.event, stream);
    case SIM_WORK_ALLOC: return sim_graph_memory_allocate(work->memory.address);
    case SIM_WORK_FREE: return sim_graph_memory_free(work->memory.address);
    default: break;
    }
    SIM_TRY(sim_limits_prepare(stream->context, work));
    return sim_work_queue(stream, work);
}

CUresult sim_cuGraphLaunch(CUgraphExec executable, CUstream handle) {
    CUstream stream;
    SIM_REQUIRE(executable, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    bool captures = stream->tips.capture;
    if (!captures) SIM_TRY(sim_graph_memory_begin(executable, stream));
    for (size_t i = 0; i < executable->count; i++) {
        if (captures) SIM_TRY(sim_capture_add(stream, &executable->steps[i]));
        else SIM_TRY(start(stream, &executable->steps[i]));
    }
    return captures ? CUDA_SUCCESS : sim_graph_memory_end(executable, stream);
}
