/* Memory of graphs: which graphs share it, and what comes back. The figures are those of an H200 with driver 580 (bench/gpu/driver.c
 * graphs). */
#include "check.h"

#include <stdbool.h>

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value);

enum { RESERVED = 2, AUTO_FREE = 1, MOST = 4 };

static CUstream a, b;

static uint64_t reserved(void) {
    uint64_t bytes;
    OK(cuDeviceGetGraphMemAttribute(0, RESERVED, &bytes));
    return bytes / MIB;
}

typedef struct {
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr address[MOST];
} made_t;

/* Allocations of so many MiB, all at once or one after the other, with a kernel of 100 ms behind the first. */
static made_t make(const unsigned *mib, bool at_once, bool frees) {
    made_t made;
    uint64_t nanos = 100000000;
    OK(cuStreamBeginCapture_v2(a, 2));
    for (int i = 0; i < MOST && mib[i]; i++) {
        OK(cuMemAllocAsync(&made.address[i], mib[i] * MIB, a));
        if (i == 0) launch(kernel("sluice_spin"), a, (void *[]){&nanos});
        if (frees && !at_once) OK(cuMemFreeAsync(made.address[i], a));
    }
    for (int i = 0; i < MOST && mib[i] && frees && at_once; i++) OK(cuMemFreeAsync(made.address[i], a));
    OK(cuStreamEndCapture(a, &made.graph));
    OK(cuGraphInstantiateWithFlags(&made.executable, made.graph, frees ? 0 : AUTO_FREE));
    return made;
}

static made_t one(unsigned mib) { return make((unsigned[MOST]){mib}, true, true); }

static void drop(made_t *made) {
    OK(cuGraphExecDestroy(made->executable));
    OK(cuGraphDestroy(made->graph));
}

static void wait_and_trim(void) {
    OK(cuCtxSynchronize());
    OK(cuDeviceGraphMemTrim(0));
}

static void should_share_between_allocations_that_live_one_after_the_other(void) {
    size_t before = free_bytes();
    made_t made = make((unsigned[MOST]){100, 100, 100}, false, true);
    EQUAL(reserved(), 0);
    OK(cuGraphLaunch(made.executable, a));
    EQUAL(reserved(), 128);
    EQUAL(before - free_bytes(), 128 * MIB);
    OK(cuGraphLaunch(made.executable, a));
    OK(cuGraphLaunch(made.executable, b));
    EQUAL(reserved(), 128);
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(reserved(), 128);
    OK(cuCtxSynchronize());
    EQUAL(reserved(), 128);
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(reserved(), 0);
    EQUAL(free_bytes(), before);
    drop(&made);
}

static void should_give_idle_memory_to_another_graph(void) {
    made_t first = one(100), second = one(150);
    OK(cuGraphLaunch(first.executable, a));
    OK(cuCtxSynchronize());
    OK(cuGraphLaunch(second.executable, b));
    EQUAL(reserved(), 160);
    OK(cuGraphLaunch(first.executable, a));
    EQUAL(reserved(), 288);
    wait_and_trim();
    EQUAL(reserved(), 0);
    drop(&first);
    drop(&second);
}

static void should_share_behind_a_graph_in_the_same_stream_only(void) {
    made_t first = one(150), behind = one(160), beside = one(170);
    OK(cuGraphLaunch(first.executable, a));
    drop(&first);
    EQUAL(reserved(), 160);
    OK(cuGraphLaunch(behind.executable, a));
    EQUAL(reserved(), 160);
    OK(cuGraphLaunch(beside.executable, b));
    EQUAL(reserved(), 352);
    drop(&behind);
    drop(&beside);
    wait_and_trim();
    EQUAL(reserved(), 0);
}

/* As on an H200: 100 MiB that share with the 200 before them get memory of their own in another stream. */
static void should_not_share_with_another_stream_when_it_is_launched_there(void) {
    made_t first = one(200), second = one(100);
    OK(cuGraphLaunch(first.executable, a));
    OK(cuGraphLaunch(second.executable, a));
    EQUAL(reserved(), 224);
    OK(cuGraphLaunch(second.executable, b));
    EQUAL(reserved(), 352);
    OK(cuGraphLaunch(second.executable, b));
    OK(cuGraphLaunch(second.executable, a));
    EQUAL(reserved(), 352);
    wait_and_trim();
    EQUAL(reserved(), 0);
    drop(&first);
    drop(&second);
}

static void should_pack_small_allocations(void) {
    static const struct { unsigned mib[MOST], chunks; } cases[] = {{{10, 10}, 1}, {{33, 33}, 4}, {{40, 1, 70}, 5}, {{31}, 1}, {{63}, 2}, {{5, 202, 4}, 8},
                                                                        {{6, 83}, 4}, {{523, 51}, 19}, {{98, 27, 6}, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_t made = make(cases[i].mib, true, true);
        OK(cuGraphLaunch(made.executable, a));
        EQUAL(reserved(), cases[i].chunks * 32);
        wait_and_trim();
        drop(&made);
    }
}

static void should_keep_what_a_graph_does_not_free(void) {
    made_t made = make((unsigned[MOST]){64}, true, false), other = one(64);
    OK(cuGraphLaunch(made.executable, a));
    OK(cuGraphLaunch(made.executable, a));
    EQUAL(reserved(), 64);
    OK(cuGraphLaunch(other.executable, a));
    EQUAL(reserved(), 128);
    wait_and_trim();
    EQUAL(reserved(), 64);
    drop(&made);
    wait_and_trim();
    EQUAL(reserved(), 64);
    OK(cuMemFree_v2(made.address[0]));
    wait_and_trim();
    EQUAL(reserved(), 0);
    drop(&other);
}

int main(void) {
    use_gpu();
    OK(cuStreamCreate(&a, 1));
    OK(cuStreamCreate(&b, 1));
    should_share_between_allocations_that_live_one_after_the_other();
    should_give_idle_memory_to_another_graph();
    should_share_behind_a_graph_in_the_same_stream_only();
    should_not_share_with_another_stream_when_it_is_launched_there();
    should_pack_small_allocations();
    should_keep_what_a_graph_does_not_free();
    return 0;
}
