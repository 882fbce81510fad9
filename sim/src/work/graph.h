/* Graphs: nodes of work with dependencies, and the flat list that an executable graph is. */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include "memory/pool.h"
#include "work/work.h"

enum {
    SIM_NODE_KERNEL = 0, SIM_NODE_COPY = 1, SIM_NODE_FILL = 2, SIM_NODE_HOST = 3, SIM_NODE_CHILD = 4, SIM_NODE_EMPTY = 5,
    SIM_NODE_WAIT_EVENT = 6, SIM_NODE_RECORD = 7, SIM_NODE_ALLOC = 10, SIM_NODE_FREE = 11, SIM_NODE_MEMOP = 12
};

struct CUgraphNode_opaque {
    CUgraph graph;
    CUgraphNode next;
    CUgraphNode copied_from;
    sim_work_t work;
    size_t dependency_count;
    CUgraphNode *dependencies;
    bool visited;
};

struct CUgraph_opaque {
    CUgraphNode first, last;
    size_t count;
};

struct CUgraphExec_opaque {
    unsigned long long flags;
    size_t count;
    sim_work_t *steps;
};

CUresult sim_graph_add(CUgraph graph, const CUgraphNode *dependencies, size_t count, const sim_work_t *work, CUgraphNode *result);
CUgraph sim_graph_copy(CUgraph graph);
bool sim_graph_has_memory(CUgraph graph);
void sim_graph_drop(CUgraph graph);
bool sim_graph_reaches(CUgraphNode from, CUgraphNode to);
bool sim_node_depends_on(CUgraphNode node, CUgraphNode other);
CUresult sim_node_link(CUgraphNode node, CUgraphNode dependency);

/* Where an allocation node is made. */
typedef struct {
    CUgraph graph;
    const CUgraphNode *after;
    size_t count;
    int device;
} sim_graph_place_t;

/* Memory of allocation nodes: an address for as long as any graph or executable graph names it or it is allocated. */
CUresult sim_graph_memory_make(const sim_graph_place_t *place, size_t bytes, CUdeviceptr *address);
void sim_graph_memory_share(const sim_work_t *work);
void sim_graph_memory_drop(const sim_work_t *work);
/* To this one, or NULL: to none. False: another executable graph has it; a GPU's driver (580) answers 801 then. */
bool sim_graph_memory_bind(const sim_work_t *work, CUgraphExec executable);
/* Around a launch: takes the memory that it needs at once; the engine finishes with the number of the owner. */
CUresult sim_graph_memory_begin(CUgraphExec executable, CUstream stream);
CUresult sim_graph_memory_end(CUgraphExec executable, CUstream stream);
void sim_graph_memory_finish(uint64_t owner);
void sim_graph_memory_leave(CUgraphExec executable);
CUresult sim_graph_memory_allocate(CUdeviceptr address);
CUresult sim_graph_memory_free(CUdeviceptr address);
bool sim_graph_memory_is_known(CUdeviceptr address);

#endif
