/* graph_need: how much memory the allocation nodes of a graph need at once.
 *
 * The driver gives the same memory to two allocations of a graph only if one is freed before the other is made, on every way
 * through the graph. So at each allocation all earlier ones count, except those whose free node it depends on. The largest sum
 * is a bound: of allocations that are alive together, the last one sees all others. An allocation of a step or more takes
 * whole steps; smaller ones share steps, at least half of each is used but for one (H200, driver 580: 33 + 33 MiB take 128,
 * 10 + 10 take 32, 40 + 1 + 70 take 160). */
#include "memory/graph_need.h"

#include <stdlib.h>
#include <string.h>

#include "driver/entry.h"
#include "memory/pool_charge.h"
#include "real.h"

#define NEVER SIZE_MAX
#define LARGEST (1ull << 48)
#define MOST_LOOKS (1ull << 28) /* beyond, nothing is taken to be freed before something else is made */

enum { NODE_CHILD = 4, NODE_ALLOCATE = 10, NODE_FREE = 11, LOCATION_DEVICE = 1, DEEPEST = 16 };

typedef struct {
    CUdeviceptr address; /* 0: of a child graph */
    uint64_t bytes;
    int device;
    size_t made_by, freed_by; /* numbers of nodes */
} life_t;

typedef struct {
    CUgraphNode node;
    size_t number;
} place_t;

typedef struct {
    CUgraphNode *nodes;
    place_t *places; /* by address */
    size_t count;
    size_t *first, *edges; /* the dependencies of node i are edges[first[i]] up to edges[first[i + 1] - 1]; NULL: not known */
    size_t *stack;
    bool *seen;
    life_t *lives;
    size_t live_count, live_room;
} walk_t;

static void find(CUgraph graph, sl_graph_need_t *need, int depth);

static void add(walk_t *walk, life_t life) {
    if (walk->live_count == walk->live_room) {
        size_t room = walk->live_room ? walk->live_room * 2 : 64;
        life_t *grown = realloc(walk->lives, room * sizeof *grown);
        if (!grown)
            return;
        walk->lives = grown;
        walk->live_room = room;
    }
    walk->lives[walk->live_count++] = life;
}

static void allocate(walk_t *walk, size_t number) {
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    CUgraphNode node = walk->nodes[number];
    if (!real.cuGraphMemAllocNodeGetParams || real.cuGraphMemAllocNodeGetParams(node, &params) != CUDA_SUCCESS)
        return;
    int device = params.poolProps.location.id;
    if (params.poolProps.location.type != LOCATION_DEVICE || device < 0 || device >= SL_GRAPH_NEED_DEVICES)
        return;
    add(walk, (life_t){params.dptr, params.bytesize, device, number, NEVER});
}

static void release(walk_t *walk, size_t number) {
    CUdeviceptr address;
    CUgraphNode node = walk->nodes[number];
    if (!real.cuGraphMemFreeNodeGetParams || real.cuGraphMemFreeNodeGetParams(node, &address) != CUDA_SUCCESS)
        return;
    for (size_t i = walk->live_count; i-- > 0;)
        if (walk->lives[i].address == address && walk->lives[i].freed_by == NEVER) {
            walk->lives[i].freed_by = number;
            return;
        }
}

static void enter_child(walk_t *walk, size_t number, int depth) {
    CUgraph child;
    sl_graph_need_t need;
    if (depth >= DEEPEST || !real.cuGraphChildGraphNodeGetGraph ||
        real.cuGraphChildGraphNodeGetGraph(walk->nodes[number], &child) != CUDA_SUCCESS)
        return;
    find(child, &need, depth + 1);
    for (int device = 0; device < SL_GRAPH_NEED_DEVICES; device++)
        if (need.bytes[device])
            add(walk, (life_t){0, need.bytes[device], device, number, need.keeps[device] ? NEVER : number});
}

/* A free node may come in the list before the node that allocates. */
static void collect(walk_t *walk, int depth) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < walk->count; i++) {
            CUgraphNodeType type;
            if (real.cuGraphNodeGetType(walk->nodes[i], &type) != CUDA_SUCCESS)
                continue;
            if (type == NODE_ALLOCATE && pass == 0)
                allocate(walk, i);
            else if (type == NODE_CHILD && pass == 0)
                enter_child(walk, i, depth);
            else if (type == NODE_FREE && pass == 1)
                release(walk, i);
        }
}

static int by_address(const void *one, const void *other) {
    uintptr_t a = (uintptr_t)((const place_t *)one)->node, b = (uintptr_t)((const place_t *)other)->node;
    return a < b ? -1 : a > b;
}

static CUresult ask_dependencies(CUgraphNode node, CUgraphNode *list, CUgraphEdgeData *data, size_t *count) {
    if (real.cuGraphNodeGetDependencies_v2)
        return real.cuGraphNodeGetDependencies_v2(node, list, data, count);
    return real.cuGraphNodeGetDependencies ? real.cuGraphNodeGetDependencies(node, list, count) : CUDA_ERROR_NOT_FOUND;
}

static bool add_dependencies(walk_t *walk, size_t number, CUgraphNode *list, CUgraphEdgeData *data, size_t *room) {
    size_t count = walk->count, from = walk->first[number];
    if (ask_dependencies(walk->nodes[number], list, data, &count) != CUDA_SUCCESS || count > walk->count)
        return false;
    if (from + count > *room) {
        *room = (from + count) * 2;
        size_t *grown = realloc(walk->edges, *room * sizeof *grown);
        if (!grown)
            return false;
        walk->edges = grown;
    }
    for (size_t i = 0; i < count; i++) {
        const place_t *place = bsearch(&(place_t){list[i], 0}, walk->places, walk->count, sizeof *walk->places, by_address);
        if (!place)
            return false;
        walk->edges[from + i] = place->number;
    }
    walk->first[number + 1] = from + count;
    return true;
}

static bool read_dependencies(walk_t *walk) {
    size_t room = walk->count * 2;
    CUgraphNode *list = calloc(walk->count, sizeof *list);
    CUgraphEdgeData *data = calloc(walk->count, sizeof *data);
    walk->places = calloc(walk->count, sizeof *walk->places);
    walk->first = calloc(walk->count + 1, sizeof *walk->first);
    walk->edges = calloc(room, sizeof *walk->edges);
    walk->stack = calloc(walk->count, sizeof *walk->stack);
    walk->seen = calloc(walk->count, sizeof *walk->seen);
    bool ok = list && data && walk->places && walk->first && walk->edges && walk->stack && walk->seen;
    for (size_t i = 0; ok && i < walk->count; i++)
        walk->places[i] = (place_t){walk->nodes[i], i};
    if (ok)
        qsort(walk->places, walk->count, sizeof *walk->places, by_address);
    for (size_t i = 0; ok && i < walk->count; i++)
        ok = add_dependencies(walk, i, list, data, &room);
    free(list);
    free(data);
    return ok;
}

/* Marks all nodes that this one depends on. */
static void look_back(walk_t *walk, size_t number) {
    size_t waiting = 1;
    memset(walk->seen, 0, walk->count * sizeof *walk->seen);
    walk->stack[0] = number;
    while (waiting) {
        size_t from = walk->stack[--waiting];
        for (size_t i = walk->first[from]; i < walk->first[from + 1]; i++)
            if (!walk->seen[walk->edges[i]]) {
                walk->seen[walk->edges[i]] = true;
                walk->stack[waiting++] = walk->edges[i];
            }
    }
}

static uint64_t whole_steps(uint64_t bytes) {
    return bytes > LARGEST ? LARGEST : (bytes + SL_POOL_STEP - 1) / SL_POOL_STEP * SL_POOL_STEP;
}

/* What is alive when this one is made. */
static uint64_t alive_at(walk_t *walk, size_t last, bool ordered) {
    uint64_t large = 0, small = 0, count = 0;
    for (size_t i = 0; i <= last; i++) {
        const life_t *life = &walk->lives[i];
        if (life->device != walk->lives[last].device || (ordered && life->freed_by != NEVER && walk->seen[life->freed_by]))
            continue;
        if (life->bytes >= SL_POOL_STEP) {
            large = whole_steps(large + whole_steps(life->bytes));
        } else {
            small += life->bytes;
            count++;
        }
    }
    uint64_t shared = small * 2 / SL_POOL_STEP + 1;
    return large + (shared < count ? shared : count) * SL_POOL_STEP;
}

static void measure(walk_t *walk, sl_graph_need_t *need) {
    bool ordered = walk->live_count > 1 && (uint64_t)walk->live_count * walk->count < MOST_LOOKS && read_dependencies(walk);
    for (size_t i = 0; i < walk->live_count; i++) {
        const life_t *life = &walk->lives[i];
        if (ordered)
            look_back(walk, life->made_by);
        uint64_t bytes = alive_at(walk, i, ordered);
        if (bytes > need->bytes[life->device])
            need->bytes[life->device] = bytes;
        need->keeps[life->device] |= life->freed_by == NEVER;
    }
}

static void find(CUgraph graph, sl_graph_need_t *need, int depth) {
    walk_t walk = {.count = 0};
    *need = (sl_graph_need_t){{0}, {false}};
    if (real.cuGraphGetNodes(graph, NULL, &walk.count) != CUDA_SUCCESS || !walk.count)
        return;
    walk.nodes = calloc(walk.count, sizeof *walk.nodes);
    if (walk.nodes && real.cuGraphGetNodes(graph, walk.nodes, &walk.count) == CUDA_SUCCESS) {
        collect(&walk, depth);
        measure(&walk, need);
    }
    free(walk.nodes);
    free(walk.places);
    free(walk.first);
    free(walk.edges);
    free(walk.stack);
    free(walk.seen);
    free(walk.lives);
}

void sl_graph_need_find(CUgraph graph, sl_graph_need_t *need) {
    *need = (sl_graph_need_t){{0}, {false}};
    if (graph && real.cuGraphGetNodes && real.cuGraphNodeGetType)
        find(graph, need, 0);
}
