/* A graph that allocates is admitted before the driver takes its memory. The driver is a few functions on one graph: some
 * allocation and free nodes, put where the real ones go. */
#include "check.h"

#include "tenant/gpu.h"
#include "memory/graph.h"
#include "memory/graph_need.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/pool.h"
#include "real.h"
#include "tenant/tenant.h"

#define GPU 0u
#define MIB (1ull << 20)
#define STEP (32 * MIB)
#define LIMIT (1024 * MIB)
#define GRAPH ((CUgraph)0x100)
#define CHILD ((CUgraph)0x200)
#define EXEC ((CUgraphExec)0x300)
#define STREAM ((CUstream)0x400)

enum { CHILD_NODE = 4, ALLOCATE_NODE = 10, FREE_NODE = 11, GRAPH_USED = 0, GRAPH_RESERVED = 2 };

typedef struct {
    int type;
    uint64_t address, bytes;
} node_t;

static node_t nodes[8], child_node;
static size_t count;
static uint64_t reserved, used, needed;
static int launches, questions;

static CUresult fake_count(int *devices) {
    *devices = 1;
    return CUDA_SUCCESS;
}

static CUresult fake_uuid(CUuuid *uuid, CUdevice device) {
    memset(uuid, 7 + device, sizeof *uuid);
    return CUDA_SUCCESS;
}

static CUresult fake_nodes(CUgraph graph, CUgraphNode *list, size_t *length) {
    questions++;
    *length = graph == CHILD ? 1 : count;
    for (size_t i = 0; list && i < *length; i++)
        list[i] = (CUgraphNode)(graph == CHILD ? &child_node : &nodes[i]);
    return CUDA_SUCCESS;
}

static CUresult fake_type(CUgraphNode node, CUgraphNodeType *type) {
    *type = ((node_t *)node)->type;
    return CUDA_SUCCESS;
}

static CUresult fake_child(CUgraphNode node, CUgraph *graph) {
    CHECK(((node_t *)node)->type == CHILD_NODE);
    *graph = CHILD;
    return CUDA_SUCCESS;
}

static CUresult fake_allocation(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    const node_t *of = (node_t *)node;
    *params = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = {.location = {1, 0}}, .bytesize = of->bytes, .dptr = of->address};
    return CUDA_SUCCESS;
}

static CUresult fake_freed(CUgraphNode node, CUdeviceptr *address) {
    *address = ((node_t *)node)->address;
    return CUDA_SUCCESS;
}

static CUresult fake_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    (void)graph, (void)flags;
    *exec = EXEC;
    return CUDA_SUCCESS;
}

static CUresult fake_launch(CUgraphExec exec, CUstream stream) {
    (void)exec, (void)stream;
    launches++;
    uint64_t whole = (needed + STEP - 1) / STEP * STEP;
    used = needed;
    reserved = reserved > whole ? reserved : whole;
    return CUDA_SUCCESS;
}

static CUresult fake_destroy(CUgraphExec exec) {
    (void)exec;
    used = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_trim(CUdevice device) {
    (void)device;
    reserved = (used + STEP - 1) / STEP * STEP;
    return CUDA_SUCCESS;
}

static CUresult fake_attribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    CHECK(device == 0);
    *(uint64_t *)value = attribute == GRAPH_RESERVED ? reserved : used;
    return CUDA_SUCCESS;
}

static void begin(void) {
    real.cuDeviceGetCount = fake_count;
    real.cuDeviceGetUuid_v2 = fake_uuid;
    real.cuGraphGetNodes = fake_nodes;
    real.cuGraphNodeGetType = fake_type;
    real.cuGraphChildGraphNodeGetGraph = fake_child;
    real.cuGraphMemAllocNodeGetParams = fake_allocation;
    real.cuGraphMemFreeNodeGetParams = fake_freed;
    real.cuGraphInstantiateWithFlags = fake_instantiate;
    real.cuGraphLaunch = fake_launch;
    real.cuGraphExecDestroy = fake_destroy;
    real.cuDeviceGraphMemTrim = fake_trim;
    real.cuDeviceGetGraphMemAttribute = fake_attribute;
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    CHECK(sl_gpu_find(0) == (int)GPU);
}

static void check_charge(void) {
    const sl_region_account_t *account = sl_region_account(&sl_tenant.region, sl_tenant.slot, GPU);
    CHECK(account->charged_bytes == reserved && account->graph_bytes == reserved && account->in_flight_bytes == 0,
          "%llu of %llu", (unsigned long long)account->charged_bytes, (unsigned long long)reserved);
}

static void make(uint64_t bytes) {
    CUgraphExec exec;
    nodes[0] = (node_t){ALLOCATE_NODE, 1, bytes};
    nodes[1] = (node_t){FREE_NODE, 1, 0};
    count = 2;
    needed = bytes;
    CHECK(hook_cuGraphInstantiateWithFlags(&exec, GRAPH, 0) == CUDA_SUCCESS);
    launches = 0;
}

static void end(void) {
    CHECK(hook_cuGraphExecDestroy(EXEC) == CUDA_SUCCESS);
    CHECK(hook_cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
    CHECK(reserved == 0);
    check_charge();
}

static uint64_t need(void) {
    sl_graph_need_t found;
    sl_graph_need_find(GRAPH, &found);
    return found.bytes[0];
}

static void should_not_look_at_graphs_before_one_allocates(void) {
    make(10 * LIMIT);
    CHECK(questions == 0);
    needed = 0;
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    check_charge();
    sl_graph_note_allocation();
}

static void should_need_what_lives_at_once(void) {
    count = 0;
    CHECK(need() == 0);
    nodes[0] = (node_t){ALLOCATE_NODE, 1, 100};
    nodes[1] = (node_t){ALLOCATE_NODE, 2, 50};
    nodes[2] = (node_t){FREE_NODE, 1, 0};
    nodes[3] = (node_t){ALLOCATE_NODE, 3, 90};
    nodes[4] = (node_t){FREE_NODE, 3, 0};
    count = 5;
    CHECK(need() == 150);
    nodes[5] = (node_t){CHILD_NODE, 0, 0};
    child_node = (node_t){ALLOCATE_NODE, 4, 1000};
    count = 6;
    CHECK(need() == 1050);
}

static void should_charge_what_the_driver_keeps(void) {
    make(100 * MIB);
    check_charge();
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    CHECK(reserved == 128 * MIB);
    check_charge();
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    check_charge();
    end();
}

static void should_refuse_before_the_driver_takes(void) {
    make(LIMIT + 1);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(launches == 0);
    check_charge();
    end();
}

static void should_launch_again_at_the_quota(void) {
    make(LIMIT);
    for (int i = 0; i < 10; i++)
        CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    check_charge();
    CHECK(!sl_ledger_reserve(GPU, 1));
    end();
}

static void should_refuse_again_when_the_memory_went_elsewhere(void) {
    make(LIMIT / 2);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    used = 0;
    CHECK(hook_cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
    CHECK(sl_ledger_reserve(GPU, LIMIT) == LIMIT);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_ERROR_OUT_OF_MEMORY);
    sl_ledger_cancel(GPU, LIMIT);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    end();
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_MEMORY", "1g", 1);
    setenv("SLUICE_TENANT", "graphs", 1);
    setenv("SLUICE_LOG", "error", 1);
    begin();
    RUN(should_not_look_at_graphs_before_one_allocates);
    RUN(should_need_what_lives_at_once);
    RUN(should_charge_what_the_driver_keeps);
    RUN(should_refuse_before_the_driver_takes);
    RUN(should_launch_again_at_the_quota);
    RUN(should_refuse_again_when_the_memory_went_elsewhere);
    return 0;
}
