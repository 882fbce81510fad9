/* Clones of graphs: independent of their original, children included, not for graphs with memory of their own. */
#include "check.h"

CUresult cuGraphClone(CUgraph *clone, CUgraph graph);
CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone);
CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUgraph child);
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count);

static char order[16];

static void note(void *data) { strcat(order, data); }

static CUgraphNode add(CUgraph graph, CUgraphNode after, const char *letter) {
    CUgraphNode node;
    OK(cuGraphAddHostNode(&node, graph, &after, after ? 1 : 0, &(CUDA_HOST_NODE_PARAMS){note, (void *)letter}));
    return node;
}

static const char *run(CUgraph graph) {
    CUgraphExec executable;
    order[0] = 0;
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphLaunch(executable, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuGraphExecDestroy(executable));
    return order;
}

static void should_not_follow_its_original(void) {
    CUgraph graph, child, clone, childs_clone;
    CUgraphNode child_node, found, twin;
    size_t count = 0;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&child, 0));
    CUgraphNode a = add(graph, NULL, "a"), b = add(graph, a, "b");
    add(child, NULL, "c");
    OK(cuGraphAddChildGraphNode(&child_node, graph, &b, 1, child));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&found, b, clone));
    CHECK(found != b);
    OK(cuGraphNodeGetDependencies(found, NULL, &count));
    EQUAL(count, 1);
    OK(cuGraphNodeFindInClone(&twin, child_node, clone));
    OK(cuGraphChildGraphNodeGetGraph(twin, &childs_clone));
    CHECK(childs_clone != child);
    add(graph, child_node, "d");
    OK(cuGraphDestroyNode(found));
    EQUAL(cuGraphNodeFindInClone(&found, b, clone), 1);
    EQUAL(cuGraphNodeFindInClone(&found, b, graph), 1);
    CHECK(strcmp(run(graph), "abcd") == 0);
    OK(cuGraphDestroy(graph));
    CHECK(strcmp(run(clone), "ac") == 0 || strcmp(order, "ca") == 0);
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(child));
}

static void should_refuse_graphs_with_memory(void) {
    CUgraph graph, clone, parent;
    CUgraphNode node;
    CUstream stream;
    CUdeviceptr address;
    size_t one = 1;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 2));
    OK(cuMemAllocAsync(&address, MIB, stream));
    OK(cuMemFreeAsync(address, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphCreate(&parent, 0));
    EQUAL(cuGraphClone(&clone, graph), 801);
    EQUAL(cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph), 801);
    OK(cuGraphGetNodes(graph, &node, &one));
    EQUAL(cuGraphDestroyNode(node), 801);
    OK(cuGraphDestroy(parent));
    OK(cuGraphDestroy(graph));
}

int main(void) {
    use_gpu();
    should_not_follow_its_original();
    should_refuse_graphs_with_memory();
    return 0;
}
