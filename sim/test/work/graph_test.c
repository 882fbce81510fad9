/* Graphs: made by hand and captured, with a data effect each time they are launched. */
#include "check.h"

#include <pthread.h>

static CUcontext context;
static char order[8];

static void note(void *data) { strcat(order, data); }

static unsigned word(CUdeviceptr address) {
    unsigned value;
    OK(cuMemcpyDtoH_v2(&value, address, 4));
    return value;
}

static void should_run_nodes_in_the_order_of_their_dependencies(void) {
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode a, b, c;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddHostNode(&c, graph, NULL, 0, &(CUDA_HOST_NODE_PARAMS){note, "c"}));
    OK(cuGraphAddHostNode(&b, graph, NULL, 0, &(CUDA_HOST_NODE_PARAMS){note, "b"}));
    OK(cuGraphAddHostNode(&a, graph, NULL, 0, &(CUDA_HOST_NODE_PARAMS){note, "a"}));
    OK(cuGraphAddDependencies(graph, (CUgraphNode[]){a, b}, (CUgraphNode[]){b, c}, 2));
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphAddDependencies(graph, &c, &a, 1));
    CUgraphExec circle;
    EQUAL(cuGraphInstantiateWithFlags(&circle, graph, 0), 1);
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(executable, NULL));
    OK(cuStreamSynchronize(NULL));
    CHECK(strcmp(order, "abc") == 0);
    OK(cuGraphExecDestroy(executable));
}

static void should_capture_a_fork_and_a_join(void) {
    CUstream stream, side;
    CUevent forked, joined;
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr from, to;
    CUstreamCaptureStatus status;
    size_t nodes = 0;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&side, 1));
    OK(cuEventCreate(&forked, 2));
    OK(cuEventCreate(&joined, 2));
    OK(cuMemAlloc_v2(&from, 4096));
    OK(cuMemAlloc_v2(&to, 4096));
    OK(cuMemsetD32_v2(to, 0, 1024));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuStreamIsCapturing(stream, &status));
    EQUAL(status, 1);
    OK(cuMemsetD32Async(from, 77, 1024, stream));
    OK(cuEventRecord(forked, stream));
    OK(cuStreamWaitEvent(side, forked, 0));
    OK(cuMemcpyDtoDAsync_v2(to, from, 4096, side));
    OK(cuEventRecord(joined, side));
    OK(cuStreamWaitEvent(stream, joined, 0));
    uint64_t count = 1;
    unsigned last = 78;
    launch(kernel("sluice_fill"), stream, (void *[]){&from, &last, &count});
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    EQUAL(nodes, 3);
    EQUAL(word(to + 4092), 0);
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphLaunch(executable, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(word(to + 4092), 77);
    EQUAL(word(to), 77);
    EQUAL(word(from), 78);
    OK(cuGraphExecDestroy(executable));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree_v2(from));
    OK(cuMemFree_v2(to));
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(side));
}

static void should_spoil_a_capture_by_waiting(void) {
    CUstream stream;
    CUgraph graph;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 0));
    EQUAL(cuStreamSynchronize(stream), 900);
    EQUAL(cuStreamEndCapture(stream, &graph), 901);
    CHECK(graph == NULL);
    EQUAL(cuStreamBeginCapture_v2(NULL, 0), 900);
    OK(cuStreamDestroy_v2(stream));
}

static CUevent asked;

static void *ask(void *mode) {
    OK(cuCtxSetCurrent(context));
    if (mode) OK(cuThreadExchangeStreamCaptureMode(mode));
    return (void *)(uintptr_t)cuEventQuery(asked);
}

/* What another thread sees when it asks for an event, having chosen a mode or not. */
static CUresult asked_elsewhere(CUstreamCaptureMode *mode) {
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, ask, mode) == 0 && pthread_join(thread, &result) == 0);
    return (CUresult)(uintptr_t)result;
}

static void should_spoil_a_capture_by_asking_for_an_event_where_its_mode_forbids(void) {
    CUstream stream;
    CUgraph graph;
    OK(cuEventCreate(&asked, 0));
    OK(cuStreamCreate(&stream, 1));
    for (CUstreamCaptureMode mode = 0; mode < 3; mode++) {
        CUstreamCaptureMode relaxed = 2, own = 2;
        OK(cuStreamBeginCapture_v2(stream, mode));
        OK(asked_elsewhere(&relaxed));
        OK(cuThreadExchangeStreamCaptureMode(&own));
        OK(cuEventQuery(asked));
        OK(cuThreadExchangeStreamCaptureMode(&own));
        EQUAL(asked_elsewhere(NULL), mode == 0 ? 900 : 0);
        EQUAL(cuEventQuery(asked), mode == 2 ? 0 : 900);
        EQUAL(cuStreamEndCapture(stream, &graph), mode == 2 ? 0 : 901);
    }
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuStreamDestroy_v2(stream));
    OK(cuEventQuery(asked));
    OK(cuEventDestroy_v2(asked));
}

static void should_take_memory_of_allocation_nodes_at_launch(void) {
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr address;
    size_t before = free_bytes(), nodes = 0;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 2));
    OK(cuMemAllocAsync(&address, MIB, stream));
    OK(cuMemsetD32Async(address, 1, 100, stream));
    OK(cuMemFreeAsync(address, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    EQUAL(nodes, 3);
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphLaunch(executable, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(free_bytes() < before);
    OK(cuGraphExecDestroy(executable));
    OK(cuGraphDestroy(graph));
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(free_bytes(), before);
    OK(cuStreamDestroy_v2(stream));
}

int main(void) {
    context = use_gpu();
    should_run_nodes_in_the_order_of_their_dependencies();
    should_capture_a_fork_and_a_join();
    should_spoil_a_capture_by_waiting();
    should_spoil_a_capture_by_asking_for_an_event_where_its_mode_forbids();
    should_take_memory_of_allocation_nodes_at_launch();
    return 0;
}
