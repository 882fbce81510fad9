/* graph_need: how much memory the allocation nodes of a graph need at once.
 *
 * CUDA may give the same memory to allocations that do not live at the same time (not measured yet; where it does not, the
 * need is too low and the launch is charged only afterwards). Nodes come in the order in which
 * they were made, which for a captured graph is the order of its streams; what lives at once in that order is taken for
 * the need. */
#include "memory/graph_need.h"

#include <stdlib.h>

#include "driver/entry.h"
#include "real.h"

enum { NODE_CHILD = 4, NODE_ALLOCATE = 10, NODE_FREE = 11, LOCATION_DEVICE = 1, DEEPEST = 16 };

typedef struct {
    CUdeviceptr address;
    uint64_t bytes;
    int device;
} live_t;

typedef struct {
    sl_graph_need_t *most;
    uint64_t now[SL_GRAPH_NEED_DEVICES];
    live_t *live;
    size_t count, room;
} walk_t;

static void allocate(walk_t *walk, CUgraphNode node) {
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    if (!real.cuGraphMemAllocNodeGetParams || real.cuGraphMemAllocNodeGetParams(node, &params) != CUDA_SUCCESS)
        return;
    int device = params.poolProps.location.id;
    if (params.poolProps.location.type != LOCATION_DEVICE || device < 0 || device >= SL_GRAPH_NEED_DEVICES)
        return;
    walk->now[device] += params.bytesize;
    if (walk->now[device] > walk->most->bytes[device])
        walk->most->bytes[device] = walk->now[device];
    if (walk->count == walk->room) {
        size_t room = walk->room ? walk->room * 2 : 64;
        live_t *grown = realloc(walk->live, room * sizeof *grown);
        if (!grown)
            return;
        walk->live = grown;
        walk->room = room;
    }
    walk->live[walk->count++] = (live_t){params.dptr, params.bytesize, device};
}

static void release(walk_t *walk, CUgraphNode node) {
    CUdeviceptr address;
    if (!real.cuGraphMemFreeNodeGetParams || real.cuGraphMemFreeNodeGetParams(node, &address) != CUDA_SUCCESS)
        return;
    for (size_t i = walk->count; i-- > 0;)
        if (walk->live[i].address == address) {
            walk->now[walk->live[i].device] -= walk->live[i].bytes;
            walk->live[i] = walk->live[--walk->count];
            return;
        }
}

static void visit(walk_t *walk, CUgraph graph, int depth);

static void visit_node(walk_t *walk, CUgraphNode node, int depth) {
    CUgraphNodeType type;
    CUgraph child;
    if (real.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return;
    if (type == NODE_ALLOCATE)
        allocate(walk, node);
    else if (type == NODE_FREE)
        release(walk, node);
    else if (type == NODE_CHILD && depth < DEEPEST && real.cuGraphChildGraphNodeGetGraph &&
             real.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS)
        visit(walk, child, depth + 1);
}

static void visit(walk_t *walk, CUgraph graph, int depth) {
    size_t count = 0;
    if (real.cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS || !count)
        return;
    CUgraphNode *nodes = calloc(count, sizeof *nodes);
    if (nodes && real.cuGraphGetNodes(graph, nodes, &count) == CUDA_SUCCESS)
        for (size_t i = 0; i < count; i++)
            visit_node(walk, nodes[i], depth);
    free(nodes);
}

void sl_graph_need_find(CUgraph graph, sl_graph_need_t *need) {
    *need = (sl_graph_need_t){{0}};
    if (!graph || !real.cuGraphGetNodes || !real.cuGraphNodeGetType)
        return;
    walk_t walk = {.most = need};
    visit(&walk, graph, 0);
    free(walk.live);
}
