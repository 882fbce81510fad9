/* Graphs as structures: nodes, dependencies, clones. */
#include "work/graph.h"

bool sim_node_depends_on(CUgraphNode node, CUgraphNode other) {
    for (size_t i = 0; i < node->dependency_count; i++)
        if (node->dependencies[i] == other) return true;
    return false;
}

CUresult sim_node_link(CUgraphNode node, CUgraphNode dependency) {
    SIM_REQUIRE(node && dependency && node->graph == dependency->graph && node != dependency, CUDA_ERROR_INVALID_VALUE);
    if (sim_node_depends_on(node, dependency)) return CUDA_SUCCESS;
    CUgraphNode *grown = realloc(node->dependencies, (node->dependency_count + 1) * sizeof *grown);
    SIM_REQUIRE(grown, CUDA_ERROR_OUT_OF_MEMORY);
    node->dependencies = grown;
    node->dependencies[node->dependency_count++] = dependency;
    return CUDA_SUCCESS;
}

bool sim_graph_reaches(CUgraphNode from, CUgraphNode to) {
    if (from == to) return true;
    for (size_t i = 0; i < to->dependency_count; i++)
        if (sim_graph_reaches(from, to->dependencies[i])) return true;
    return false;
}

static void free_node(CUgraphNode node) {
    sim_graph_memory_drop(&node->work);
    if (node->work.kind == SIM_WORK_CHILD) sim_graph_drop(node->work.child.graph);
    free(node->dependencies);
    free(node);
}

CUresult sim_graph_add(CUgraph graph, const CUgraphNode *dependencies, size_t count, const sim_work_t *work, CUgraphNode *result) {
    SIM_REQUIRE(graph && result && (dependencies || !count), CUDA_ERROR_INVALID_VALUE);
    CUgraphNode node = calloc(1, sizeof *node);
    SIM_REQUIRE(node, CUDA_ERROR_OUT_OF_MEMORY);
    node->graph = graph;
    node->work = *work;
    sim_graph_memory_share(work);
    for (size_t i = 0; i < count; i++) {
        CUresult linked = sim_node_link(node, dependencies[i]);
        if (linked) return free_node(node), linked;
    }
    if (graph->last) graph->last->next = node;
    else graph->first = node;
    graph->last = node;
    graph->count++;
    *result = node;
    return CUDA_SUCCESS;
}

void sim_graph_drop(CUgraph graph) {
    for (CUgraphNode node = graph->first, next; node; node = next) {
        next = node->next;
        free_node(node);
    }
    free(graph);
}

static CUgraphNode copy_of(CUgraph copy, CUgraphNode node) {
    CUgraphNode each = copy->first;
    while (each && each->copied_from != node) each = each->next;
    return each;
}

CUgraph sim_graph_copy(CUgraph graph) {
    CUgraph copy = calloc(1, sizeof *copy);
    for (CUgraphNode node = graph->first; copy && node; node = node->next) {
        sim_work_t work = node->work;
        CUgraphNode made;
        if (work.kind == SIM_WORK_CHILD) work.child.graph = sim_graph_copy(work.child.graph);
        if (sim_graph_add(copy, NULL, 0, &work, &made)) return sim_graph_drop(copy), NULL;
        made->copied_from = node;
    }
    for (CUgraphNode node = graph->first; copy && node; node = node->next)
        for (size_t i = 0; i < node->dependency_count; i++) sim_node_link(copy_of(copy, node), copy_of(copy, node->dependencies[i]));
    return copy;
}

/* Memory of allocation nodes belongs to one graph: such graphs can be neither cloned nor made a child, nor lose a node. */
bool sim_graph_has_memory(CUgraph graph) {
    for (CUgraphNode node = graph->first; node; node = node->next) {
        if (node->work.kind == SIM_WORK_ALLOC || node->work.kind == SIM_WORK_FREE) return true;
        if (node->work.kind == SIM_WORK_CHILD && sim_graph_has_memory(node->work.child.graph)) return true;
    }
    return false;
}

CUresult sim_cuGraphClone(CUgraph *clone, CUgraph graph) {
    SIM_REQUIRE(clone && graph, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!sim_graph_has_memory(graph), CUDA_ERROR_NOT_SUPPORTED);
    *clone = sim_graph_copy(graph);
    return *clone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuGraphNodeFindInClone(CUgraphNode *result, CUgraphNode original, CUgraph clone) {
    SIM_REQUIRE(result && original && clone, CUDA_ERROR_INVALID_VALUE);
    CUgraphNode found = copy_of(clone, original);
    SIM_REQUIRE(found, CUDA_ERROR_INVALID_VALUE);
    *result = found;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphCreate(CUgraph *graph, unsigned int flags) {
    SIM_REQUIRE(graph && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *graph = calloc(1, sizeof **graph);
    return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuGraphDestroy(CUgraph graph) {
    SIM_REQUIRE(graph, CUDA_ERROR_INVALID_VALUE);
    sim_graph_drop(graph);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphDestroyNode(CUgraphNode node) {
    SIM_REQUIRE(node, CUDA_ERROR_INVALID_VALUE);
    CUgraph graph = node->graph;
    CUgraphNode before = NULL;
    SIM_REQUIRE(!sim_graph_has_memory(graph), CUDA_ERROR_NOT_SUPPORTED);
    for (CUgraphNode each = graph->first; each; each = each->next) {
        if (each->next == node) before = each;
        for (size_t i = 0; i < each->dependency_count; i++)
            if (each->dependencies[i] == node) each->dependencies[i--] = each->dependencies[--each->dependency_count];
    }
    if (before) before->next = node->next;
    else graph->first = node->next;
    if (graph->last == node) graph->last = before;
    graph->count--;
    free_node(node);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    static const int types[] = {
        [SIM_WORK_EMPTY] = SIM_NODE_EMPTY, [SIM_WORK_KERNEL] = SIM_NODE_KERNEL, [SIM_WORK_COPY] = SIM_NODE_COPY, [SIM_WORK_FILL] = SIM_NODE_FILL,
        [SIM_WORK_HOST] = SIM_NODE_HOST, [SIM_WORK_CALLBACK] = SIM_NODE_HOST, [SIM_WORK_RECORD] = SIM_NODE_RECORD,
        [SIM_WORK_WAIT_EVENT] = SIM_NODE_WAIT_EVENT, [SIM_WORK_WRITE_VALUE] = SIM_NODE_MEMOP, [SIM_WORK_WAIT_VALUE] = SIM_NODE_MEMOP,
        [SIM_WORK_ALLOC] = SIM_NODE_ALLOC, [SIM_WORK_FREE] = SIM_NODE_FREE, [SIM_WORK_CHILD] = SIM_NODE_CHILD,
    };
    SIM_REQUIRE(node && type, CUDA_ERROR_INVALID_VALUE);
    *type = types[node->work.kind];
    return CUDA_SUCCESS;
}

/* Lists are asked for twice: without an array for their length, then with one. */
typedef struct { CUgraphNode *nodes; size_t room, count; } list_t;

static void put(list_t *list, CUgraphNode node) {
    if (list->nodes && list->count < list->room) list->nodes[list->count] = node;
    list->count++;
}

static CUresult finish(const list_t *list, size_t *count) {
    if (list->nodes) for (size_t i = list->count; i < list->room; i++) list->nodes[i] = NULL;
    *count = list->nodes && list->room < list->count ? list->room : list->count;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    SIM_REQUIRE(graph && count, CUDA_ERROR_INVALID_VALUE);
    list_t list = {nodes, *count, 0};
    for (CUgraphNode node = graph->first; node; node = node->next) put(&list, node);
    return finish(&list, count);
}

CUresult sim_cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    SIM_REQUIRE(graph && count, CUDA_ERROR_INVALID_VALUE);
    list_t list = {nodes, *count, 0};
    for (CUgraphNode node = graph->first; node; node = node->next)
        if (!node->dependency_count) put(&list, node);
    return finish(&list, count);
}

CUresult sim_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    SIM_REQUIRE(node && count, CUDA_ERROR_INVALID_VALUE);
    list_t list = {nodes, *count, 0};
    for (size_t i = 0; i < node->dependency_count; i++) put(&list, node->dependencies[i]);
    return finish(&list, count);
}

CUresult sim_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    SIM_REQUIRE(graph && ((from && to) || !count), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) SIM_TRY(sim_node_link(to[i], from[i]));
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                       const CUgraphEdgeData *edges, size_t count) {
    (void)edges;
    return sim_cuGraphAddDependencies(graph, from, to, count);
}

