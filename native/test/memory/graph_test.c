/* A graph that allocates is admitted before the driver takes its memory. The fake driver is a few functions on one graph with some
 * allocation and free nodes. */
#include "check.h"

#include "compute/meter/meter.h"
#include "tenant/gpu.h"
#include "memory/stream/graph.h"
#include "memory/stream/graph_need.h"
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
#define SECOND ((CUgraphExec)0x310)
#define STREAM ((CUstream)0x400)
#define OTHER ((CUstream)0x410)
#define LEGACY ((CUstream)0x420) /* the default streams, which both have the number 0 */
#define OWN ((CUstream)0x430)
#define CONTEXT ((CUcontext)0x500)

enum { CHILD_NODE = 4, ALLOCATE_NODE = 10, FREE_NODE = 11 };

typedef struct {
    int type;
    uint64_t address, bytes;
} node_t;

static node_t nodes[8], child_node;
static size_t count;
static uint64_t reserved, needed, need_of_second;
static int launches, questions, trims;
static uint64_t kept;             /* what a trim leaves */
static uint64_t borrowed;         /* what the last graph took over from graphs before it */
static uint64_t surprise;         /* what a launch takes beyond the prediction */
static CUresult launch_answer;    /* of a launch that took its memory */
static CUcontext current;
static bool is_running, is_busy, is_capturing, own_captures;
static CUgraphExec last;
static CUstream running_in; /* where the memory is in use; NULL: nowhere, or in several */

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

static CUgraphExec next_exec = EXEC;

static CUresult fake_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    (void)graph, (void)flags;
    *exec = next_exec;
    return CUDA_SUCCESS;
}

/* Like an H200: the last graph still has its memory, and graphs share idle memory and memory of the same stream. In another stream the last
 * graph gets other memory for what it shares. */
static CUresult fake_launch(CUgraphExec exec, CUstream stream) {
    uint64_t bytes = exec == SECOND ? need_of_second : needed, whole = (bytes + STEP - 1) / STEP * STEP + surprise, before = reserved;
    launches++;
    stream = stream ? stream : LEGACY;
    bool elsewhere = is_running && running_in != stream;
    if (elsewhere && (exec != last || borrowed))
        reserved += exec == last ? borrowed : whole;
    else if (exec != last || !reserved)
        reserved = reserved > whole ? reserved : whole;
    if (exec != last || elsewhere)
        borrowed = elsewhere ? 0 : whole - (reserved - before);
    running_in = is_running && running_in != stream ? NULL : stream;
    is_running = true;
    last = exec;
    return launch_answer;
}

static CUresult fake_synchronize(void) {
    if (current != CONTEXT)
        return CUDA_SUCCESS;
    is_running = false;
    running_in = NULL;
    return CUDA_SUCCESS;
}

static CUresult fake_context(CUstream stream, CUcontext *context) {
    (void)stream;
    *context = CONTEXT;
    return CUDA_SUCCESS;
}

static CUresult fake_current(CUcontext *context) {
    *context = current;
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUstream stream) {
    (void)stream;
    return is_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult fake_capturing(CUstream stream, CUstreamCaptureStatus *status) {
    (void)stream;
    *status = is_capturing;
    return CUDA_SUCCESS;
}

/* For the twins the number 0 is the default stream of the thread. */
static CUresult twin_launch(CUgraphExec exec, CUstream stream) {
    return fake_launch(exec, stream ? stream : OWN);
}

static CUresult twin_capturing(CUstream stream, CUstreamCaptureStatus *status) {
    (void)stream;
    *status = own_captures;
    return CUDA_SUCCESS;
}

static CUresult fake_id(CUstream stream, unsigned long long *id) {
    *id = (uintptr_t)(stream ? stream : LEGACY);
    return CUDA_SUCCESS;
}

static CUresult twin_id(CUstream stream, unsigned long long *id) {
    return fake_id(stream ? stream : OWN, id);
}

static CUresult fake_instantiate_params(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    (void)graph;
    *exec = next_exec;
    return params->flags & 2 ? fake_launch(*exec, params->hUploadStream) : CUDA_SUCCESS;
}

static CUresult twin_instantiate_params(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    (void)graph;
    *exec = next_exec;
    return params->flags & 2 ? twin_launch(*exec, params->hUploadStream) : CUDA_SUCCESS;
}

static CUresult fake_destroy(CUgraphExec exec) {
    last = last == exec ? NULL : last;
    return CUDA_SUCCESS;
}

static CUresult fake_trim(CUdevice device) {
    (void)device;
    trims++;
    if (is_running)
        return CUDA_SUCCESS;
    reserved = kept;
    last = NULL;
    return CUDA_SUCCESS;
}

static CUresult fake_attribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    CHECK(device == 0);
    (void)attribute;
    *(uint64_t *)value = reserved; /* idle graph memory counts as in use */
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
    real.cuCtxSynchronize = fake_synchronize;
    real.cuCtxGetCurrent = fake_current;
    real.cuStreamGetCtx = fake_context;
    real.cuStreamQuery = fake_query;
    real.cuStreamIsCapturing = fake_capturing;
    real.cuGraphExecDestroy = fake_destroy;
    real.cuDeviceGraphMemTrim = fake_trim;
    real.cuDeviceGetGraphMemAttribute = fake_attribute;
    real.cuGraphLaunch_ptsz = twin_launch;
    real.cuGraphUpload = fake_launch;
    real.cuGraphUpload_ptsz = twin_launch;
    real.cuGraphInstantiateWithParams = fake_instantiate_params;
    real.cuGraphInstantiateWithParams_ptsz = twin_instantiate_params;
    real.cuStreamGetCtx_ptsz = fake_context;
    real.cuStreamQuery_ptsz = fake_query;
    real.cuStreamIsCapturing_ptsz = twin_capturing;
    current = CONTEXT;
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    CHECK(sl_gpu_find(0) == (int)GPU);
}

static void check_charge(void) {
    const sl_region_account_t *account = sl_region_account(&sl_tenant.region, sl_tenant.slot, GPU);
    CHECK(account->charged_bytes == reserved && account->graph_bytes == reserved && account->in_flight_bytes == 0,
          "%llu of %llu", (unsigned long long)account->charged_bytes, (unsigned long long)reserved);
}

static void make_graph(CUgraphExec as, uint64_t bytes, bool frees) {
    CUgraphExec exec;
    nodes[0] = (node_t){ALLOCATE_NODE, 1, bytes};
    nodes[1] = (node_t){FREE_NODE, 1, 0};
    count = frees ? 2 : 1;
    *(as == SECOND ? &need_of_second : &needed) = bytes;
    next_exec = as;
    CHECK(hook_cuGraphInstantiateWithFlags(&exec, GRAPH, 0) == CUDA_SUCCESS);
    launches = trims = 0;
}

static void make(uint64_t bytes) {
    make_graph(EXEC, bytes, true);
}

static void end(void) {
    fake_synchronize();
    CHECK(hook_cuGraphExecDestroy(EXEC) == CUDA_SUCCESS && hook_cuGraphExecDestroy(SECOND) == CUDA_SUCCESS);
    CHECK(hook_cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
    CHECK(reserved == 0);
    check_charge();
}

static uint64_t need(void) {
    sl_graph_need_t found;
    sl_graph_need_find(GRAPH, &found);
    return found.bytes[0] / MIB;
}

static bool keeps(void) {
    sl_graph_need_t found;
    sl_graph_need_find(GRAPH, &found);
    return found.keeps[0];
}

/* The launch needs more than so much, which is all that is left. */
static void check_refused(CUgraphExec exec, CUstream stream, uint64_t left) {
    const sl_region_account_t *account = sl_region_account(&sl_tenant.region, sl_tenant.slot, GPU);
    uint64_t taken = LIMIT - account->charged_bytes - left;
    int before = launches;
    CHECK(sl_ledger_reserve(GPU, taken) == LIMIT - left);
    CHECK(hook_cuGraphLaunch(exec, stream) == CUDA_ERROR_OUT_OF_MEMORY && launches == before, "%llu MiB", (unsigned long long)(reserved / MIB));
    sl_ledger_cancel(GPU, taken);
    check_charge();
}

static void should_not_look_at_graphs_before_one_allocates(void) {
    make(10 * LIMIT);
    CHECK(questions == 0);
    needed = 0;
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    check_charge();
    sl_graph_note_allocation();
}

#define AT(mib) (0x302000000ull + (mib) * MIB)

static void should_need_what_the_addresses_tell(void) {
    count = 0;
    CHECK(need() == 0);
    nodes[0] = (node_t){ALLOCATE_NODE, AT(0), 100 * MIB};
    nodes[1] = (node_t){ALLOCATE_NODE, AT(100), 50 * MIB};
    nodes[2] = (node_t){FREE_NODE, AT(0), 0};
    nodes[3] = (node_t){ALLOCATE_NODE, AT(0), 90 * MIB};
    nodes[4] = (node_t){FREE_NODE, AT(0), 0};
    count = 5;
    CHECK(need() == 192 && keeps());
    nodes[5] = (node_t){FREE_NODE, AT(100), 0};
    count = 6;
    CHECK(need() == 192 && !keeps());
    nodes[3].address = nodes[4].address = AT(150); /* of another branch */
    CHECK(need() == 288 && !keeps());
    nodes[5] = (node_t){CHILD_NODE, 0, 0};
    child_node = (node_t){ALLOCATE_NODE, 4, 1000 * MIB};
    CHECK(need() == 288 + 1024 && keeps());
}

/* Seen on an H200: graphs whose addresses lie in several runs, and what they took in MiB. */
static void should_count_each_run_of_addresses(void) {
    static const struct { node_t nodes[3]; uint64_t took; } seen[] = {
        {{{ALLOCATE_NODE, 0x30e000000, 9435904}, {ALLOCATE_NODE, 0x30e8ffc00, 13644032}, {ALLOCATE_NODE, 0x302000000, 35844608}}, 96},
        {{{ALLOCATE_NODE, 0x302000000, 259729920}, {ALLOCATE_NODE, 0x32e000000, 29894656}, {ALLOCATE_NODE, 0x3117b2a00, 34784256}}, 352},
        {{{ALLOCATE_NODE, 0x394000000, 33611264}, {ALLOCATE_NODE, 0x33c000000, 189040128}, {ALLOCATE_NODE, 0x39600e000, 26150144}}, 256},
        {{{ALLOCATE_NODE, 0x346000000, 154261504}, {ALLOCATE_NODE, 0x366000000, 295292928}, {ALLOCATE_NODE, 0x34f31da00, 105656320}}, 576},
        {{{ALLOCATE_NODE, 0x364000000, 69106688}, {ALLOCATE_NODE, 0x364000000, 30614528}, {ALLOCATE_NODE, 0x340000000, 262445056}}, 352},
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        memcpy(nodes, seen[i].nodes, sizeof seen[i].nodes);
        count = 3;
        CHECK(need() == seen[i].took, "%zu: %llu MiB", i, (unsigned long long)need());
    }
}

/* Seen on an H200: allocations that live at once, in MiB, and what they took. */
static void should_round_as_the_driver_does(void) {
    static const struct { uint64_t mib[4], took; } seen[] = {{{10, 10}, 32}, {{33, 33}, 128}, {{40, 1, 70}, 160}, {{5, 202, 4}, 256},
                                                             {{6, 83}, 128}, {{1, 404}, 448}, {{523, 51}, 608}, {{98, 27, 6}, 160}, {{489, 50, 75, 7}, 672}};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        uint64_t at = 0;
        for (count = 0; count < 4 && seen[i].mib[count]; count++) {
            nodes[count] = (node_t){ALLOCATE_NODE, AT(at), seen[i].mib[count] * MIB};
            at += seen[i].mib[count];
        }
        CHECK(need() == seen[i].took, "%llu of %llu", (unsigned long long)need(), (unsigned long long)seen[i].took);
    }
    nodes[0].bytes = UINT64_MAX;
    CHECK(need() == 1ull << 28);
    nodes[1] = nodes[0];
    CHECK(need() == 1ull << 28);
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
    fake_synchronize();
    CHECK(hook_cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
    CHECK(sl_ledger_reserve(GPU, LIMIT) == LIMIT);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_ERROR_OUT_OF_MEMORY);
    sl_ledger_cancel(GPU, LIMIT);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    end();
}

static void should_launch_in_any_stream_what_was_launched_last(void) {
    make(LIMIT);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    CHECK(hook_cuGraphLaunch(EXEC, OTHER) == CUDA_SUCCESS);
    CHECK(trims == 0);
    check_charge();
    end();
}

/* A graph that took over the memory of one that runs before it gets other memory in another stream. */
static void should_reserve_what_the_last_graph_shares_in_another_stream(void) {
    make(LIMIT / 2);
    make_graph(SECOND, LIMIT / 4, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && hook_cuGraphLaunch(SECOND, STREAM) == CUDA_SUCCESS);
    CHECK(hook_cuGraphLaunch(SECOND, STREAM) == CUDA_SUCCESS && reserved == LIMIT / 2);
    check_refused(SECOND, OTHER, LIMIT / 8);
    CHECK(hook_cuGraphLaunch(SECOND, OTHER) == CUDA_SUCCESS && reserved == LIMIT * 3 / 4);
    check_charge();
    CHECK(sl_ledger_reserve(GPU, LIMIT / 4) == LIMIT);
    CHECK(hook_cuGraphLaunch(SECOND, STREAM) == CUDA_SUCCESS && reserved == LIMIT * 3 / 4);
    sl_ledger_cancel(GPU, LIMIT / 4);
    end();
}

/* The same where that graph had ended: 448 MiB taken over after a wait, and 448 MiB more in another stream (H200). */
static void should_reserve_what_an_idle_graph_left_in_another_stream(void) {
    make(LIMIT / 2);
    make_graph(SECOND, LIMIT / 4, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && hook_cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(hook_cuGraphLaunch(SECOND, STREAM) == CUDA_SUCCESS && reserved == LIMIT / 2);
    check_refused(SECOND, OTHER, LIMIT / 8);
    CHECK(hook_cuGraphLaunch(SECOND, OTHER) == CUDA_SUCCESS && reserved == LIMIT * 3 / 4);
    check_charge();
    end();
}

/* When all is idle, a graph finds its memory in any stream. */
static void should_launch_in_any_stream_after_a_wait(void) {
    make(LIMIT / 2);
    make_graph(SECOND, LIMIT / 2, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && hook_cuGraphLaunch(SECOND, STREAM) == CUDA_SUCCESS);
    CHECK(hook_cuCtxSynchronize() == CUDA_SUCCESS && sl_ledger_reserve(GPU, LIMIT / 2) == LIMIT);
    CHECK(hook_cuGraphLaunch(SECOND, OTHER) == CUDA_SUCCESS && reserved == LIMIT / 2);
    sl_ledger_cancel(GPU, LIMIT / 2);
    end();
}

/* Another driver may round in another way. */
static void should_learn_what_a_launch_takes(void) {
    make(LIMIT / 4);
    surprise = STEP;
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && reserved == LIMIT / 4 + STEP);
    check_charge();
    fake_synchronize();
    CHECK(hook_cuDeviceGraphMemTrim(0) == CUDA_SUCCESS && reserved == 0);
    check_refused(EXEC, STREAM, LIMIT / 4);
    surprise = 0;
    end();
}

static void should_share_with_the_graph_before_it_in_the_stream(void) {
    make(LIMIT * 3 / 4);
    make_graph(SECOND, LIMIT, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    CHECK(hook_cuGraphLaunch(SECOND, STREAM) == CUDA_SUCCESS);
    CHECK(trims == 0 && reserved == LIMIT);
    check_charge();
    end();
}

static void should_not_count_on_memory_that_another_stream_uses(void) {
    make(LIMIT * 3 / 4);
    make_graph(SECOND, LIMIT / 2, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    CHECK(hook_cuGraphLaunch(SECOND, OTHER) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(launches == 1 && reserved == LIMIT * 3 / 4);
    CHECK(hook_cuCtxSynchronize() == CUDA_SUCCESS);
    trims = 0;
    CHECK(hook_cuGraphLaunch(SECOND, OTHER) == CUDA_SUCCESS);
    CHECK(trims == 0 && reserved == LIMIT * 3 / 4);
    check_charge();
    end();
}

/* Of three launches in two streams the first one's memory is in use, whichever stream came last. */
static void should_reserve_a_graph_that_is_launched_again_in_another_stream(void) {
    make(LIMIT * 3 / 4);
    make_graph(SECOND, LIMIT / 2, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && hook_cuGraphLaunch(SECOND, STREAM) == CUDA_SUCCESS);
    CHECK(hook_cuGraphLaunch(EXEC, OTHER) == CUDA_ERROR_OUT_OF_MEMORY && launches == 2, "%llu MiB", (unsigned long long)(reserved / MIB));
    check_charge();
    end();
    make(LIMIT * 3 / 8);
    make_graph(SECOND, LIMIT * 3 / 8, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && hook_cuGraphLaunch(SECOND, OTHER) == CUDA_SUCCESS);
    CHECK(reserved == LIMIT * 3 / 4);
    CHECK(hook_cuGraphLaunch(EXEC, OTHER) == CUDA_ERROR_OUT_OF_MEMORY && launches == 2, "%llu MiB", (unsigned long long)(reserved / MIB));
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_ERROR_OUT_OF_MEMORY && launches == 2, "%llu MiB", (unsigned long long)(reserved / MIB));
    check_charge();
    end();
}

typedef CUresult (*submit_t)(CUgraphExec exec, CUstream stream);

/* Launches one graph after the other in default streams, and checks whether the second needs memory of its own. */
static void check_shares(submit_t first, submit_t second, bool shares) {
    make(LIMIT * 3 / 4);
    make_graph(SECOND, LIMIT / 2, true);
    CHECK(first(EXEC, NULL) == CUDA_SUCCESS);
    CHECK(second(SECOND, NULL) == (shares ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY), "%llu MiB", (unsigned long long)(reserved / MIB));
    CHECK(reserved == LIMIT * 3 / 4);
    check_charge();
    end();
}

static void should_tell_the_default_streams_apart(void) {
    submit_t legacy[] = {hook_cuGraphLaunch, hook_cuGraphUpload}, own[] = {hook_cuGraphLaunch_ptsz, hook_cuGraphUpload_ptsz};
    real.cuStreamGetId = fake_id;
    real.cuStreamGetId_ptsz = twin_id;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            check_shares(legacy[i], own[k], false);
            check_shares(own[i], legacy[k], false);
            check_shares(legacy[i], legacy[k], true);
            check_shares(own[i], own[k], true);
        }
    real.cuStreamGetId = real.cuStreamGetId_ptsz = NULL;
}

static void make_with_upload(bool of_thread) {
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 2};
    make(LIMIT * 3 / 4);
    CHECK((of_thread ? hook_cuGraphInstantiateWithParams_ptsz : hook_cuGraphInstantiateWithParams)(&exec, GRAPH, &params) == CUDA_SUCCESS);
    CHECK(reserved == LIMIT * 3 / 4);
    check_charge();
    make_graph(SECOND, LIMIT / 2, true);
}

static void should_know_the_stream_of_an_upload_when_a_graph_is_made(void) {
    real.cuStreamGetId = fake_id;
    real.cuStreamGetId_ptsz = twin_id;
    for (int of_thread = 0; of_thread < 2; of_thread++)
        for (int launched = 0; launched < 2; launched++) {
            make_with_upload(of_thread);
            CUresult expected = of_thread == launched ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
            CHECK((launched ? hook_cuGraphLaunch_ptsz : hook_cuGraphLaunch)(SECOND, NULL) == expected, "%llu MiB after an upload of %s",
                  (unsigned long long)(reserved / MIB), of_thread ? "the thread's stream" : "the legacy stream");
            check_charge();
            end();
        }
    real.cuStreamGetId = real.cuStreamGetId_ptsz = NULL;
}

static void should_trim_idle_graphs_before_it_refuses_another(void) {
    make(LIMIT * 3 / 4);
    make_graph(SECOND, LIMIT / 2, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    fake_synchronize(); /* in a way that is not seen */
    CHECK(hook_cuGraphLaunch(SECOND, OTHER) == CUDA_SUCCESS);
    CHECK(trims > 0 && reserved == LIMIT / 2);
    check_charge();
    end();
}

/* Some memory stays, and the graph that was launched last has lost its part. */
static void should_reserve_again_what_a_trim_took(void) {
    make(LIMIT * 3 / 4);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    fake_synchronize();
    kept = STEP;
    CHECK(hook_cuDeviceGraphMemTrim(0) == CUDA_SUCCESS && reserved == STEP);
    check_charge();
    check_refused(EXEC, STREAM, LIMIT / 2);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    check_charge();
    kept = 0;
    end();
}

static void should_reserve_a_new_graph_with_the_handle_of_an_old_one(void) {
    make(LIMIT / 4);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && hook_cuGraphExecDestroy(EXEC) == CUDA_SUCCESS);
    make(LIMIT * 3 / 4);
    check_refused(EXEC, STREAM, LIMIT / 4);
    end();
}

/* It is not known what a failed launch took, and in which stream. */
static void should_not_share_with_a_launch_that_failed(void) {
    make(LIMIT * 3 / 4);
    make_graph(SECOND, LIMIT / 2, true);
    launch_answer = 700;
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == 700);
    launch_answer = 0;
    check_charge();
    CHECK(hook_cuGraphLaunch(SECOND, STREAM) == CUDA_ERROR_OUT_OF_MEMORY && launches == 1);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_ERROR_OUT_OF_MEMORY && launches == 1);
    end();
}

static void should_not_take_a_wait_in_another_context_for_rest(void) {
    make(LIMIT * 3 / 4);
    make_graph(SECOND, LIMIT / 2, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    current = (CUcontext)0x510;
    CHECK(hook_cuCtxSynchronize() == CUDA_SUCCESS);
    current = CONTEXT;
    CHECK(hook_cuGraphLaunch(SECOND, OTHER) == CUDA_ERROR_OUT_OF_MEMORY && launches == 1);
    end();
}

static void should_not_share_what_a_graph_keeps(void) {
    make_graph(EXEC, LIMIT / 2, false);
    make_graph(SECOND, LIMIT * 3 / 4, true);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS);
    CHECK(hook_cuGraphLaunch(SECOND, STREAM) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(launches == 1);
    end();
}

static void should_leave_captures_alone(void) {
    make(10 * LIMIT);
    needed = 0;
    is_capturing = true;
    atomic_fetch_add(&sl_stream_open_captures, 1);
    CHECK(hook_cuGraphLaunch(EXEC, STREAM) == CUDA_SUCCESS && launches == 1);
    atomic_fetch_sub(&sl_stream_open_captures, 1);
    is_capturing = false;
    end();
}

/* Of the two default streams one captures. */
static void should_ask_the_same_default_stream_whether_it_captures(void) {
    make(10 * LIMIT);
    needed = 0;
    atomic_fetch_add(&sl_stream_open_captures, 1);
    own_captures = true;
    CHECK(hook_cuGraphLaunch_ptsz(EXEC, NULL) == CUDA_SUCCESS && launches == 1);
    CHECK(hook_cuGraphLaunch(EXEC, NULL) == CUDA_ERROR_OUT_OF_MEMORY && launches == 1);
    own_captures = false;
    is_capturing = true;
    CHECK(hook_cuGraphLaunch(EXEC, NULL) == CUDA_SUCCESS && launches == 2);
    CHECK(hook_cuGraphLaunch_ptsz(EXEC, NULL) == CUDA_ERROR_OUT_OF_MEMORY && launches == 2);
    is_capturing = false;
    atomic_fetch_sub(&sl_stream_open_captures, 1);
    end();
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_MEMORY", "1g", 1);
    setenv("SLUICE_TENANT", "graphs", 1);
    setenv("SLUICE_LOG", "error", 1);
    begin();
    RUN(should_not_look_at_graphs_before_one_allocates);
    RUN(should_need_what_the_addresses_tell);
    RUN(should_count_each_run_of_addresses);
    RUN(should_round_as_the_driver_does);
    RUN(should_charge_what_the_driver_keeps);
    RUN(should_refuse_before_the_driver_takes);
    RUN(should_launch_again_at_the_quota);
    RUN(should_refuse_again_when_the_memory_went_elsewhere);
    RUN(should_launch_in_any_stream_what_was_launched_last);
    RUN(should_reserve_what_the_last_graph_shares_in_another_stream);
    RUN(should_reserve_what_an_idle_graph_left_in_another_stream);
    RUN(should_launch_in_any_stream_after_a_wait);
    RUN(should_learn_what_a_launch_takes);
    RUN(should_share_with_the_graph_before_it_in_the_stream);
    RUN(should_not_count_on_memory_that_another_stream_uses);
    RUN(should_reserve_a_graph_that_is_launched_again_in_another_stream);
    RUN(should_tell_the_default_streams_apart);
    RUN(should_know_the_stream_of_an_upload_when_a_graph_is_made);
    RUN(should_trim_idle_graphs_before_it_refuses_another);
    RUN(should_reserve_again_what_a_trim_took);
    RUN(should_reserve_a_new_graph_with_the_handle_of_an_old_one);
    RUN(should_not_share_with_a_launch_that_failed);
    RUN(should_not_take_a_wait_in_another_context_for_rest);
    RUN(should_not_share_what_a_graph_keeps);
    RUN(should_leave_captures_alone);
    RUN(should_ask_the_same_default_stream_whether_it_captures);
    return 0;
}
