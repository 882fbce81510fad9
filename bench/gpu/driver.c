/* driver: what the driver itself does with pools, graphs, limits and code; the facts that the library's rules stand on.
 * Run it without Sluice. usage: driver plain|ordered|threads|pools|pending|pieces|random|graphs|shapes|again|sequence|limits|buffers|code|edge */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define OK(call)                                                                                   \
    do {                                                                                           \
        CUresult status_ = (call);                                                                 \
        if (status_) { printf("line %d: %s = %d\n", __LINE__, #call, status_); exit(3); }          \
    } while (0)

static const char *ptx_format =
    ".version 7.8\n.target sm_80\n.address_size 64\n%s"
    ".visible .entry spin(.param .u64 nanos) {\n .reg .u64 %%rd<4>; .reg .pred %%p;\n ld.param.u64 %%rd1, [nanos];\n"
    " mov.u64 %%rd2, %%globaltimer;\n add.u64 %%rd1, %%rd1, %%rd2;\nL: mov.u64 %%rd2, %%globaltimer;\n setp.lt.u64 %%p, %%rd2, %%rd1;\n"
    " @%%p bra L;\n ret;\n}\n";
static const char *heap_source =
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
    ".visible .entry heap() {\n .reg .b64 %rd<4>;\n mov.b64 %rd1, 64;\n { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd1; call.uni (b), malloc, (a);"
    " ld.param.b64 %rd2, [b]; }\n { .param .b64 a; st.param.b64 [a], %rd2; call.uni free, (a); }\n ret;\n}\n"
    ".visible .entry print() {\n .reg .b64 %rd<4>; .reg .b32 %r<3>;\n mov.u64 %rd1, text;\n cvta.global.u64 %rd2, %rd1;\n mov.b64 %rd3, 0;\n"
    " { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd2; st.param.b64 [b], %rd3; call.uni (c), vprintf, (a, b); ld.param.b32 %r1, [c]; }\n ret;\n}\n";

static CUcontext context;
static CUfunction spin;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t used(void) { /* of the whole GPU; nobody else is on it */
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

static char *ptx(const char *extra) {
    char *text = malloc(8192);
    snprintf(text, 8192, ptx_format, extra);
    return text;
}

static void start(void) {
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    CUmodule module;
    OK(cuModuleLoadData(&module, ptx("")));
    OK(cuModuleGetFunction(&spin, module, "spin"));
}

static void launch(CUstream stream, uint64_t millis) {
    uint64_t nanos = millis * 1000000;
    void *arguments[] = {&nanos};
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static CUmemoryPool new_pool(uint64_t threshold) {
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED};
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    return pool;
}

static uint64_t ask(CUmemoryPool pool, CUmemPool_attribute what) {
    uint64_t bytes = 0;
    OK(cuMemPoolGetAttribute(pool, what, &bytes));
    return bytes;
}
#define RESERVED(pool) ask(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
#define USED(pool) ask(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)

static void show(const char *what, CUmemoryPool pool) {
    printf("%-58s reserved %6.1f used %6.1f MiB, GPU %8.1f\n", what, RESERVED(pool) / (double)MIB, USED(pool) / (double)MIB, used() / (double)MIB);
}

static void pools(void) {
    static const double sizes[] = {0.001, 1, 2, 3, 16, 31, 32, 33, 48, 63, 64, 65, 96, 100, 129, 1000.5};
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUmemoryPool pool = new_pool(0);
        CUdeviceptr one, two;
        uint64_t before = used(), bytes = (uint64_t)(sizes[i] * MIB);
        OK(cuMemAllocFromPoolAsync(&one, bytes, pool, stream));
        uint64_t first = RESERVED(pool), gpu = used() - before;
        OK(cuMemAllocFromPoolAsync(&two, bytes, pool, stream));
        printf("first of %8.3f MiB: reserved %6.1f, GPU +%6.1f; second: reserved %6.1f", sizes[i], first / (double)MIB, gpu / (double)MIB, RESERVED(pool) / (double)MIB);
        OK(cuMemFreeAsync(one, stream));
        OK(cuStreamSynchronize(stream));
        printf("; one freed, synced: %6.1f", RESERVED(pool) / (double)MIB);
        OK(cuMemFreeAsync(two, stream));
        OK(cuStreamSynchronize(stream));
        printf("; both: %6.1f\n", RESERVED(pool) / (double)MIB);
        OK(cuMemPoolDestroy(pool));
    }
    CUmemoryPool pool = new_pool(UINT64_MAX);
    CUdeviceptr p;
    uint64_t last = 0;
    printf("a pool that grows by pieces of 5 MiB:");
    for (int i = 0; i < 40; i++) {
        OK(cuMemAllocFromPoolAsync(&p, 5 * MIB, pool, stream));
        if (RESERVED(pool) != last)
            printf(" %d:%.0f", i, (last = RESERVED(pool)) / (double)MIB);
    }
    printf("\n");
    uint64_t begin = now();
    for (int i = 0; i < 20000; i++)
        last += RESERVED(pool);
    printf("to ask for reserved: %.0f ns", (now() - begin) / 20000.0);
    begin = now();
    for (int i = 0; i < 20000; i++)
        last += USED(pool);
    printf(", for used: %.0f ns\n", (now() - begin) / 20000.0);
    begin = now();
    for (int i = 0; i < 20000; i++) {
        OK(cuMemAllocFromPoolAsync(&p, MIB, pool, stream));
        OK(cuMemFreeAsync(p, stream));
    }
    printf("alloc + free of 1 MiB, warm: %.0f ns\n", (now() - begin) / 20000.0);
    begin = now();
    for (int i = 0; i < 2000; i++)
        OK(cuMemPoolTrimTo(pool, UINT64_MAX));
    printf("trim that gives nothing: %.0f ns\n", (now() - begin) / 2000.0);
}

/* Memory whose free is still behind a kernel. */
static void pending(void) {
    for (int reuse = 0; reuse < 2; reuse++) {
        CUmemoryPool pool = new_pool(UINT64_MAX);
        if (reuse) {
            int no = 0;
            OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no));
            OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &no));
        }
        printf("-- internal dependencies %s\n", reuse ? "forbidden" : "allowed (default)");
        CUstream a, b;
        CUdeviceptr p, q, r;
        OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
        OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
        OK(cuMemAllocFromPoolAsync(&p, 256 * MIB, pool, a));
        show("256 MiB in stream A", pool);
        launch(a, 300);
        OK(cuMemFreeAsync(p, a));
        show("freed behind a kernel of 300 ms", pool);
        OK(cuMemPoolTrimTo(pool, 0));
        show("trimmed meanwhile", pool);
        uint64_t begin = now();
        OK(cuMemAllocFromPoolAsync(&q, 256 * MIB, pool, b));
        printf("the same in stream B took %.1f ms\n", (now() - begin) / 1e6);
        show("", pool);
        OK(cuMemAllocFromPoolAsync(&r, 256 * MIB, pool, a));
        show("and once more in stream A", pool);
        OK(cuCtxSynchronize());
        show("synchronized", pool);
        OK(cuMemFreeAsync(q, b));
        OK(cuMemFreeAsync(r, a));
        OK(cuMemPoolTrimTo(pool, 0));
        show("all freed, trimmed without a wait", pool);
        OK(cuCtxSynchronize());
        OK(cuMemPoolTrimTo(pool, 0));
        show("after a wait", pool);
        OK(cuMemPoolDestroy(pool));
    }
}

/* Holes between pieces in use. */
static void pieces(void) {
    static const unsigned piece[] = {1, 4, 10, 40};
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned n = 0; n < 4; n++) {
        CUmemoryPool pool = new_pool(UINT64_MAX);
        CUdeviceptr p[512], big, small;
        unsigned count = 400 / piece[n];
        for (unsigned i = 0; i < count; i++)
            OK(cuMemAllocFromPoolAsync(&p[i], piece[n] * MIB, pool, stream));
        OK(cuStreamSynchronize(stream));
        printf("-- %u pieces of %u MiB\n", count, piece[n]);
        show("all", pool);
        for (unsigned i = 0; i < count; i += 2)
            OK(cuMemFreeAsync(p[i], stream));
        OK(cuStreamSynchronize(stream));
        show("every other one freed and synced", pool);
        OK(cuMemAllocFromPoolAsync(&big, 100 * MIB, pool, stream));
        show("100 MiB in one piece", pool);
        OK(cuMemFreeAsync(big, stream));
        OK(cuStreamSynchronize(stream));
        OK(cuMemPoolTrimTo(pool, 0));
        show("freed, trimmed", pool);
        OK(cuMemAllocFromPoolAsync(&small, piece[n] * MIB, pool, stream));
        show("one small piece more", pool);
        OK(cuMemAllocFromPoolAsync(&big, 100 * MIB, pool, stream));
        show("100 MiB in one piece, after the trim", pool);
    }
}

/* How often a pool grows although by its own figures it has room. */
static void random_walk(void) {
    static const char *const ways[] = {"one stream", "four streams", "four streams, sync every 10", "four streams, kernels", "four streams, trim every 50"};
    for (int way = 0; way < 5; way++)
        for (int threshold = 0; threshold < 2; threshold++) {
            CUmemoryPool pool = new_pool(threshold ? UINT64_MAX : 0);
            CUstream streams[4];
            for (int i = 0; i < 4; i++)
                OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
            CUdeviceptr p[128] = {0};
            size_t size[128];
            unsigned seed = 1, grew = 0, calls = 0, surprises = 0, steps[4] = {0};
            uint64_t worst = 0, most_hole = 0, odd = 0;
            for (int round = 0; round < 3000; round++) {
                int i = rand_r(&seed) % 128;
                CUstream stream = streams[way ? rand_r(&seed) % 4 : 0];
                if (way == 2 && round % 10 == 0)
                    OK(cuCtxSynchronize());
                if (way == 3 && round % 20 == 0)
                    launch(stream, 1);
                if (way == 4 && round % 50 == 0)
                    OK(cuMemPoolTrimTo(pool, 0));
                if (p[i]) {
                    OK(cuMemFreeAsync(p[i], stream));
                    p[i] = 0;
                    continue;
                }
                size[i] = (1 + rand_r(&seed) % 64) * MIB - rand_r(&seed) % 4096;
                uint64_t reserved = RESERVED(pool), room = reserved - USED(pool);
                calls++;
                OK(cuMemAllocFromPoolAsync(&p[i], size[i], pool, stream));
                uint64_t after = RESERVED(pool);
                if (after > reserved) {
                    uint64_t by = after - reserved;
                    grew++;
                    if (room >= size[i]) {
                        surprises++;
                        if (by > worst)
                            worst = by;
                        if (room > most_hole)
                            most_hole = room;
                    }
                    uint64_t rounded = (size[i] + 32 * MIB - 1) / (32 * MIB) * (32 * MIB);
                    steps[by == rounded ? 0 : by < rounded ? 1 : 2]++;
                    if (by > rounded && by - rounded > odd)
                        odd = by - rounded;
                }
            }
            printf("%-28s threshold %s: %u allocations, grew %u, though it had room %u (by %.0f MiB at most, room %.0f at most); growth = size in steps of 32 MiB %u, less %u, more %u (by %.0f); end: reserved %.0f used %.0f\n",
                   ways[way], threshold ? "max" : "0  ", calls, grew, surprises, worst / (double)MIB, most_hole / (double)MIB, steps[0], steps[1], steps[2],
                   odd / (double)MIB, RESERVED(pool) / (double)MIB, USED(pool) / (double)MIB);
            OK(cuCtxSynchronize());
            OK(cuMemPoolTrimTo(pool, 0));
            printf("   synchronized and trimmed: reserved %.0f used %.0f\n", RESERVED(pool) / (double)MIB, USED(pool) / (double)MIB);
            for (int i = 0; i < 128; i++)
                if (p[i])
                    OK(cuMemFreeAsync(p[i], streams[0]));
            OK(cuCtxSynchronize());
            OK(cuMemPoolDestroy(pool));
        }
}

static void show_graphs(const char *what) {
    cuuint64_t reserved, in_use, high, high_used;
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &in_use));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &high));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high_used));
    printf("%-58s reserved %6.0f used %6.0f (high %6.0f %6.0f)\n", what, reserved / (double)MIB, in_use / (double)MIB, high / (double)MIB, high_used / (double)MIB);
}

static CUgraphNode add_alloc(CUgraph graph, CUgraphNode *after, uint64_t bytes, CUdeviceptr *p) {
    CUDA_MEM_ALLOC_NODE_PARAMS params = {0};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = bytes;
    CUgraphNode node;
    OK(cuGraphAddMemAllocNode(&node, graph, after, after ? 1 : 0, &params));
    *p = params.dptr;
    return node;
}

static CUgraphNode add_spin(CUgraph graph, CUgraphNode after, uint64_t nanos) {
    static uint64_t spans[64];
    static int at;
    spans[at = (at + 1) % 64] = nanos;
    void *arguments[] = {&spans[at]};
    CUDA_KERNEL_NODE_PARAMS params = {.func = spin, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = arguments};
    CUgraphNode node;
    OK(cuGraphAddKernelNode(&node, graph, &after, 1, &params));
    return node;
}

static CUgraphExec graph_of(const unsigned mib[], int count, int in_turn, int frees) {
    CUgraph graph;
    CUgraphExec exec;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode last = NULL, node, release;
    CUdeviceptr p[8];
    if (in_turn) {
        for (int i = 0; i < count; i++) {
            node = add_alloc(graph, last ? &last : NULL, mib[i] * MIB, &p[i]);
            last = add_spin(graph, node, 2000000);
            OK(cuGraphAddMemFreeNode(&release, graph, &last, 1, p[i]));
            last = release;
        }
    } else {
        for (int i = 0; i < count; i++)
            last = add_alloc(graph, last ? &last : NULL, mib[i] * MIB, &p[i]);
        last = add_spin(graph, last, 2000000);
        for (int i = 0; frees && i < count; i++) {
            OK(cuGraphAddMemFreeNode(&release, graph, &last, 1, p[i]));
            last = release;
        }
    }
    OK(cuGraphInstantiateWithFlags(&exec, graph, frees ? 0 : CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    return exec;
}

static void graphs(void) {
    CUstream a, b;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    show_graphs("before");
    CUgraphExec turn = graph_of((unsigned[]){100, 100, 100}, 3, 1, 1);
    show_graphs("instantiated: 3 x 100 MiB one after the other");
    OK(cuGraphLaunch(turn, a));
    show_graphs("launched (running)");
    OK(cuCtxSynchronize());
    show_graphs("done");
    OK(cuGraphLaunch(turn, a));
    show_graphs("launched again in A");
    OK(cuGraphLaunch(turn, b));
    show_graphs("and in B (the same exec)");
    OK(cuCtxSynchronize());
    CUgraphExec other = graph_of((unsigned[]){150}, 1, 0, 1);
    OK(cuGraphLaunch(other, b));
    show_graphs("a second graph of 150 MiB in B, the first one idle");
    OK(cuGraphLaunch(turn, a));
    show_graphs("the first in A beside it");
    OK(cuCtxSynchronize());
    show_graphs("done");
    OK(cuDeviceGraphMemTrim(0));
    show_graphs("trimmed");
    OK(cuGraphLaunch(other, b));
    OK(cuGraphExecDestroy(other));
    show_graphs("150 MiB launched and destroyed while it runs");
    OK(cuDeviceGraphMemTrim(0));
    show_graphs("trimmed while it runs");
    CUgraphExec third = graph_of((unsigned[]){160}, 1, 0, 1);
    OK(cuGraphLaunch(third, b));
    show_graphs("160 MiB behind it in the same stream");
    CUgraphExec fourth = graph_of((unsigned[]){170}, 1, 0, 1);
    OK(cuGraphLaunch(fourth, a));
    show_graphs("170 MiB in another stream");
    OK(cuCtxSynchronize());
    show_graphs("done");
    OK(cuDeviceGraphMemTrim(0));
    show_graphs("trimmed");
    for (int i = 0; i < 6; i++) {
        CUgraphExec each = graph_of((unsigned[]){150 + 10 * (unsigned)i}, 1, 0, 1);
        char text[64];
        OK(cuGraphLaunch(each, a));
        snprintf(text, sizeof text, "%d MiB launched, ", 150 + 10 * i);
        show_graphs(text);
        OK(cuCtxSynchronize());
        OK(cuGraphExecDestroy(each));
        show_graphs("    synced and destroyed");
    }
    OK(cuDeviceGraphMemTrim(0));
    show_graphs("trimmed");
    CUgraphExec kept = graph_of((unsigned[]){40, 1, 70}, 3, 0, 0);
    OK(cuGraphLaunch(kept, a));
    show_graphs("40 + 1 + 70 MiB that stay (auto free)");
    OK(cuGraphLaunch(kept, a));
    show_graphs("launched again");
    OK(cuCtxSynchronize());
    OK(cuDeviceGraphMemTrim(0));
    show_graphs("synced and trimmed");
    OK(cuGraphExecDestroy(kept));
    OK(cuDeviceGraphMemTrim(0));
    show_graphs("destroyed and trimmed");
    for (unsigned mib = 1; mib <= 130; mib = mib * 2 + 1) {
        CUgraphExec each = graph_of((unsigned[]){mib}, 1, 0, 1);
        char text[64];
        uint64_t before = used();
        OK(cuGraphLaunch(each, a));
        snprintf(text, sizeof text, "%u MiB alone, GPU +%.0f", mib, (used() - before) / (double)MIB);
        show_graphs(text);
        OK(cuCtxSynchronize());
        OK(cuGraphExecDestroy(each));
        OK(cuDeviceGraphMemTrim(0));
    }
    CUgraphExec two = graph_of((unsigned[]){10, 10}, 2, 0, 1);
    OK(cuGraphLaunch(two, a));
    show_graphs("10 + 10 at once");
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(two));
    OK(cuDeviceGraphMemTrim(0));
    two = graph_of((unsigned[]){33, 33}, 2, 0, 1);
    OK(cuGraphLaunch(two, a));
    show_graphs("33 + 33 at once");
    OK(cuCtxSynchronize());
}

/* What NVML says that this process has. */
typedef struct { unsigned pid; unsigned long long bytes; unsigned instance, part; } process_t;

static uint64_t listed(void) {
    static int (*list)(void *, unsigned *, process_t *);
    static void *device;
    if (!list) {
        void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        int (*init)(void) = (int (*)(void))dlsym(library, "nvmlInit_v2");
        int (*handle)(unsigned, void **) = (int (*)(unsigned, void **))dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
        list = (int (*)(void *, unsigned *, process_t *))dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
        if (!init || init() || handle(0, &device))
            return 0;
    }
    process_t processes[64];
    unsigned count = 64;
    uint64_t bytes = 0;
    if (list(device, &count, processes))
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (processes[i].pid == (unsigned)getpid())
            bytes += processes[i].bytes;
    return bytes;
}

/* Plain memory of random sizes: what it should take in blocks of 2 MiB, what cuMemGetInfo says and what NVML says, at once and later. */
static struct { uint64_t block; int count; } blocks[4096];
static int64_t expected;

static void note_block(CUdeviceptr p, int by) {
    uint64_t block = p >> 21;
    int i = 0;
    while (blocks[i].count && blocks[i].block != block)
        i++;
    if (!blocks[i].count && by > 0)
        blocks[i].block = block, expected += 2 * MIB;
    blocks[i].count += by;
    if (!blocks[i].count) {
        expected -= 2 * MIB;
        int last = i;
        while (blocks[last + 1].count)
            last++;
        blocks[i] = blocks[last], blocks[last].count = 0;
    }
}

static void plain(void) {
    CUdeviceptr p[64] = {0}, first;
    uint64_t size[64];
    unsigned seed = 3;
    OK(cuMemAlloc(&first, 3 * MIB));
    OK(cuMemFree(first));
    int64_t base = (int64_t)used(), base_listed = (int64_t)listed();
    int64_t most_used = 0, least_used = 0, most_listed = 0, least_listed = 0;
    unsigned worst_small = 0;
    uint64_t alloc_nanos = 0, free_nanos = 0, list_nanos = 0;
    unsigned allocs = 0, frees = 0;
    for (int round = 0; round < 3000; round++) {
        int i = rand_r(&seed) % 64;
        uint64_t begin = now();
        if (p[i]) {
            OK(cuMemFree(p[i]));
            free_nanos += now() - begin, frees++;
            if (size[i] <= 2 * MIB)
                note_block(p[i], -1);
            else
                expected -= (int64_t)((size[i] + 2 * MIB - 1) / (2 * MIB) * (2 * MIB));
            p[i] = 0;
        } else {
            size[i] = 1 + (uint64_t)rand_r(&seed) % (1ull << (9 + rand_r(&seed) % 22));
            OK(cuMemAlloc(&p[i], size[i]));
            alloc_nanos += now() - begin, allocs++;
            if (size[i] <= 2 * MIB)
                note_block(p[i], 1);
            else
                expected += (int64_t)((size[i] + 2 * MIB - 1) / (2 * MIB) * (2 * MIB));
        }
        int64_t by_used = (int64_t)used() - base - expected;
        begin = now();
        int64_t by_list = (int64_t)listed() - base_listed - expected;
        list_nanos += now() - begin;
        if (by_used > most_used)
            most_used = by_used, worst_small = (unsigned)round;
        least_used = by_used < least_used ? by_used : least_used;
        most_listed = by_list > most_listed ? by_list : most_listed;
        least_listed = by_list < least_listed ? by_list : least_listed;
        if (round % 500 == 499) {
            usleep(50000);
            printf("round %d: expected %.0f MiB, cuMemGetInfo %+.1f, NVML %+.1f; later %+.1f %+.1f\n", round + 1, expected / (double)MIB, by_used / (double)MIB, by_list / (double)MIB,
                   ((int64_t)used() - base - expected) / (double)MIB, ((int64_t)listed() - base_listed - expected) / (double)MIB);
        }
    }
    printf("off at most: cuMemGetInfo %+.1f (round %u) %+.1f, NVML %+.1f %+.1f MiB; allocate %.1f us, free %.1f us, NVML's list %.1f us\n", most_used / (double)MIB, worst_small,
           least_used / (double)MIB, most_listed / (double)MIB, least_listed / (double)MIB, alloc_nanos / 1e3 / allocs, free_nanos / 1e3 / frees, list_nanos / 3e6);
    for (int i = 0; i < 64; i++)
        if (p[i])
            OK(cuMemFree(p[i]));
    printf("all freed: cuMemGetInfo %+.1f, NVML %+.1f\n", ((int64_t)used() - base) / (double)MIB, ((int64_t)listed() - base_listed) / (double)MIB);
}

/* Plain memory that is freed in the order of a stream. */
static void ordered(void) {
    CUstream a;
    CUdeviceptr p, q, small;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    int64_t base = (int64_t)used();
    OK(cuMemAlloc(&small, 1000));
#define SHOW(what) printf("%-50s cuMemGetInfo %+.1f MiB\n", what, ((int64_t)used() - base) / (double)MIB)
    for (int behind = 0; behind < 2; behind++) {
        OK(cuMemAlloc(&p, 256 * MIB));
        SHOW(behind ? "-- 256 MiB, behind a kernel" : "-- 256 MiB, idle stream");
        if (behind)
            launch(a, 100);
        uint64_t begin = now();
        CUresult status = cuMemFreeAsync(p, a);
        printf("cuMemFreeAsync: %d after %.0f us\n", status, (now() - begin) / 1e3);
        SHOW("at once");
        usleep(5000);
        SHOW("5 ms later");
        usleep(200000);
        SHOW("205 ms later");
        OK(cuStreamQuery(a));
        SHOW("stream asked");
        OK(cuMemAlloc(&q, 4 * MIB));
        OK(cuMemFree(q));
        SHOW("something else allocated and freed");
        OK(cuStreamSynchronize(a));
        SHOW("stream synchronized");
        OK(cuCtxSynchronize());
        SHOW("context synchronized");
        OK(cuMemAlloc(&q, 256 * MIB));
        SHOW("256 MiB again");
        OK(cuMemFree(q));
        SHOW("and freed by cuMemFree");
    }
    CUmemoryPool pool;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    printf("default pool: reserved %.1f used %.1f\n", RESERVED(pool) / (double)MIB, USED(pool) / (double)MIB);
    OK(cuMemPoolTrimTo(pool, 0));
    SHOW("default pool trimmed");
}

static atomic_int ended;

static void *churn(void *number) {
    CUdeviceptr p[32] = {0};
    unsigned seed = (unsigned)(uintptr_t)number + 5;
    OK(cuCtxSetCurrent(context));
    for (int round = 0; round < 2000; round++) {
        int i = rand_r(&seed) % 32;
        if (p[i]) {
            OK(cuMemFree(p[i]));
            p[i] = 0;
        } else {
            OK(cuMemAlloc(&p[i], 1 + (uint64_t)rand_r(&seed) % (1ull << (9 + rand_r(&seed) % 22))));
        }
    }
    for (int i = 0; i < 32; i++)
        if (p[i])
            OK(cuMemFree(p[i]));
    ended++;
    return NULL;
}

/* Four threads; how long after the last free the figures are back. */
static void threads(void) {
    pthread_t thread[4];
    int64_t base = (int64_t)used(), base_listed = (int64_t)listed();
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, churn, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int wait = 0; wait < 6; wait++) {
        printf("%3d ms after the last free: cuMemGetInfo %+.1f, NVML %+.1f MiB\n", wait ? 1 << (2 * wait) : 0, ((int64_t)used() - base) / (double)MIB, ((int64_t)listed() - base_listed) / (double)MIB);
        usleep(1000u << (2 * wait));
    }
}

/* Random graphs, as nodes in line, as branches, captured. What they take, against the chunks of 32 MiB of the address space in which their
 * allocations lie. */
typedef struct { CUdeviceptr address; uint64_t bytes; } place_t;

static uint64_t in_chunks(const place_t *places, int count, uint64_t chunk) {
    static uint64_t seen[4096];
    int distinct = 0;
    for (int i = 0; i < count; i++)
        for (uint64_t at = places[i].address / chunk; at <= (places[i].address + places[i].bytes - 1) / chunk; at++) {
            int k = 0;
            while (k < distinct && seen[k] != at)
                k++;
            if (k == distinct && distinct < 4096)
                seen[distinct++] = at;
        }
    return (uint64_t)distinct * chunk;
}

static uint64_t any_size(unsigned *seed) {
    uint64_t most = rand_r(seed) % 3 == 0 ? 8 * MIB : rand_r(seed) % 2 ? 100 * MIB : 600 * MIB;
    return rand_r(seed) % 6 == 0 ? (most / MIB / 2 + 1) * MIB : 1 + (uint64_t)rand_r(seed) % most;
}

static int in_line(CUgraph graph, unsigned *seed, place_t *places) {
    CUgraphNode last = NULL, node;
    int live[16], lives = 0, allocations = 1 + rand_r(seed) % 8;
    for (int i = 0; i < allocations || lives;) {
        if (i < allocations && (!lives || rand_r(seed) % 3)) {
            places[i].bytes = any_size(seed);
            last = add_alloc(graph, last ? &last : NULL, places[i].bytes, &places[i].address);
            live[lives++] = i++;
        } else {
            int at = rand_r(seed) % lives;
            OK(cuGraphAddMemFreeNode(&node, graph, &last, 1, places[live[at]].address));
            last = node;
            live[at] = live[--lives];
        }
    }
    return allocations;
}

static int in_branches(CUgraph graph, unsigned *seed, place_t *places) {
    int count = 1 + rand_r(seed) % 4;
    CUgraphNode release;
    for (int i = 0; i < count; i++) {
        places[i].bytes = any_size(seed);
        CUgraphNode node = add_spin(graph, add_alloc(graph, NULL, places[i].bytes, &places[i].address), 1000);
        OK(cuGraphAddMemFreeNode(&release, graph, &node, 1, places[i].address));
    }
    return count;
}

static int captured(CUstream stream, CUgraph *graph, unsigned *seed, place_t *places) {
    int count = 1 + rand_r(seed) % 4;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < count; i++) {
        places[i].bytes = any_size(seed);
        OK(cuMemAllocAsync(&places[i].address, places[i].bytes, stream));
        if (i && rand_r(seed) % 3 == 0) {
            OK(cuMemFreeAsync(places[i - 1].address, stream));
            places[i - 1].bytes |= 1ull << 63;
        }
    }
    for (int i = 0; i < count; i++) {
        if (!(places[i].bytes >> 63))
            OK(cuMemFreeAsync(places[i].address, stream));
        places[i].bytes &= ~(1ull << 63);
    }
    OK(cuStreamEndCapture(stream, graph));
    return count;
}

static void shapes(void) {
    unsigned seed = getenv("SEED") ? (unsigned)atoi(getenv("SEED")) : 7, equal = 0, less = 0, more = 0;
    CUstream a;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 900; round++) {
        OK(cuDeviceGraphMemTrim(0));
        CUgraph graph;
        CUgraphExec exec;
        place_t places[16];
        int kind = round % 3;
        if (kind < 2)
            OK(cuGraphCreate(&graph, 0));
        int count = kind == 0 ? in_line(graph, &seed, places) : kind == 1 ? in_branches(graph, &seed, places) : captured(a, &graph, &seed, places);
        OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        OK(cuGraphLaunch(exec, a));
        cuuint64_t reserved;
        OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
        uint64_t chunks = in_chunks(places, count, 32 * MIB);
        equal += reserved == chunks, less += reserved < chunks, more += reserved > chunks;
        printf("%s%s took %llu chunks %llu:", reserved == chunks ? "" : "! ", kind == 0 ? "line" : kind == 1 ? "branches" : "captured", (unsigned long long)(reserved / MIB), (unsigned long long)(chunks / MIB));
        for (int i = 0; i < count; i++)
            printf(" %llx+%.2f", (unsigned long long)places[i].address, (double)places[i].bytes / MIB);
        printf("\n");
        OK(cuCtxSynchronize());
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
    printf("random graphs: took as many chunks as they lie in %u, less %u, more %u\n", equal, less, more);
}

/* Two graphs that share memory in one stream, and the second one again elsewhere. */
static void again(void) {
    CUstream a, b, c;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&c, CU_STREAM_NON_BLOCKING));
    CUgraphExec first = graph_of((unsigned[]){200}, 1, 0, 1), second = graph_of((unsigned[]){100}, 1, 0, 1), third = graph_of((unsigned[]){300}, 1, 0, 1);
    OK(cuGraphLaunch(first, a));
    show_graphs("200 in A");
    OK(cuGraphLaunch(second, a));
    show_graphs("100 behind it in A");
    OK(cuGraphLaunch(second, b));
    show_graphs("the 100 again, in B");
    OK(cuGraphLaunch(second, b));
    show_graphs("the 100 again, in B");
    OK(cuGraphLaunch(second, a));
    show_graphs("the 100 again, in A");
    OK(cuGraphLaunch(third, c));
    show_graphs("300 in C");
    OK(cuGraphLaunch(third, b));
    show_graphs("300 in B");
    OK(cuGraphLaunch(first, a));
    show_graphs("200 in A");
    OK(cuGraphLaunch(first, b));
    show_graphs("200 in B");
    OK(cuGraphLaunch(first, c));
    show_graphs("200 in C");
    OK(cuCtxSynchronize());
    OK(cuDeviceGraphMemTrim(0));
    OK(cuGraphLaunch(first, a));
    OK(cuGraphLaunch(third, b));
    show_graphs("trimmed; 200 in A, 300 in B");
    OK(cuStreamSynchronize(a));
    OK(cuGraphLaunch(second, c));
    show_graphs("A waited for; 100 in C");
    OK(cuGraphLaunch(second, b));
    show_graphs("the 100 again, in B");
    OK(cuCtxSynchronize());
}

/* Random launches of several graphs in several streams, with waits, trims and ends in between. Prints each step and what the driver has
 * reserved after it, for a model to be compared with. */
enum { SEQUENCE_GRAPHS = 6, SEQUENCE_STREAMS = 4 };

static CUgraphExec sequence_graph(int number, unsigned *seed, CUgraph *graph) {
    place_t places[16];
    CUgraphExec exec;
    OK(cuGraphCreate(graph, 0));
    int count = 1 + rand_r(seed) % 3, in_turn = rand_r(seed) % 2;
    CUgraphNode last = NULL;
    printf("make %d", number);
    for (int i = 0; i < count; i++) {
        places[i].bytes = 1 + (uint64_t)rand_r(seed) % ((rand_r(seed) % 2 ? 300 : 40) * MIB);
        CUgraphNode node = add_spin(*graph, add_alloc(*graph, in_turn && last ? &last : NULL, places[i].bytes, &places[i].address), rand_r(seed) % 600000);
        OK(cuGraphAddMemFreeNode(&last, *graph, &node, 1, places[i].address));
        printf(" %llx+%llu", (unsigned long long)places[i].address, (unsigned long long)places[i].bytes);
    }
    printf("\n");
    OK(cuGraphInstantiateWithFlags(&exec, *graph, 0));
    return exec;
}

static void sequence(void) {
    unsigned seed = getenv("SEED") ? (unsigned)atoi(getenv("SEED")) : 7;
    CUgraph graphs[SEQUENCE_GRAPHS];
    CUgraphExec execs[SEQUENCE_GRAPHS];
    CUstream streams[SEQUENCE_STREAMS];
    for (int i = 0; i < SEQUENCE_STREAMS; i++)
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < SEQUENCE_GRAPHS; i++)
        execs[i] = sequence_graph(i, &seed, &graphs[i]);
    for (int step = 0; step < 6000; step++) {
        int graph = rand_r(&seed) % SEQUENCE_GRAPHS, stream = rand_r(&seed) % SEQUENCE_STREAMS, dice = rand_r(&seed) % 100;
        cuuint64_t reserved, used_bytes;
        if (dice < 65) {
            OK(cuGraphLaunch(execs[graph], streams[stream]));
            printf("launch %d in %d", graph, stream);
        } else if (dice < 78) {
            OK(cuGraphExecDestroy(execs[graph]));
            OK(cuGraphDestroy(graphs[graph]));
            execs[graph] = sequence_graph(graph, &seed, &graphs[graph]);
            printf("made");
        } else if (dice < 85) {
            OK(cuCtxSynchronize());
            printf("wait");
        } else if (dice < 90) {
            OK(cuStreamSynchronize(streams[stream]));
            printf("wait for %d", stream);
        } else if (dice < 93) {
            OK(cuDeviceGraphMemTrim(0));
            printf("trim");
        } else {
            launch(streams[stream], 1 + (uint64_t)rand_r(&seed) % 2);
            printf("spin in %d", stream);
        }
        OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
        OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used_bytes));
        printf(": reserved %llu used %llu\n", (unsigned long long)(reserved / MIB), (unsigned long long)(used_bytes / MIB));
    }
    OK(cuCtxSynchronize());
}

static void limits(void) {
    static const size_t stacks[] = {1024, 1040, 2048, 4096, 8192, 16384, 65536, 1024};
    size_t value;
    int sms, threads;
    OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    OK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    printf("SMs %d, threads of each %d, stack %zu\n", sms, threads, value);
    uint64_t base = used(), before;
    for (unsigned i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        CUresult status = cuCtxSetLimit(CU_LIMIT_STACK_SIZE, stacks[i]);
        OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
        uint64_t set = used() - base;
        launch(NULL, 1);
        OK(cuCtxSynchronize());
        printf("stack %6zu: status %d, is %zu, GPU +%.1f MiB (value x threads = %.1f), after a launch +%.1f\n", stacks[i], status, value,
               (double)(int64_t)set / MIB, stacks[i] * (double)sms * threads / MIB, (double)(int64_t)(used() - base) / MIB);
    }
    OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    printf("heap %zu MiB, ", value >> 20);
    OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
    printf("fifo %zu KiB\n", value >> 10);
    for (int round = 0; round < 2; round++) {
        before = used();
        printf("set heap %d MiB: status %d", 256 << round, cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)(256 << round) << 20));
        printf(", fifo %d MiB: status %d, GPU +%.1f\n", 64 << round, cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)(64 << round) << 20), (used() - before) / (double)MIB);
        before = used();
        CUmodule module;
        CUfunction function;
        OK(cuModuleLoadData(&module, ptx(heap_source)));
        printf("module that uses both loaded: +%.1f\n", (double)(int64_t)(used() - before) / MIB);
        static const char *const names[] = {"heap", "print"};
        for (int i = 0; i < 2; i++) {
            before = used();
            OK(cuModuleGetFunction(&function, module, names[i]));
            printf("%s: found +%.1f", names[i], (double)(int64_t)(used() - before) / MIB);
            before = used();
            CUresult status = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
            OK(cuCtxSynchronize());
            printf(", launched (%d) +%.1f MiB\n", status, (double)(int64_t)(used() - before) / MIB);
        }
        before = used();
        OK(cuModuleUnload(module));
        printf("unloaded: %.1f\n", (double)(int64_t)(used() - before) / MIB);
    }
    printf("stack of 512 KiB: %d, of 1 MiB: %d, of 1 GiB: %d\n", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 512 << 10), cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1 << 20), cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1 << 30));
}

/* One of the two limits alone, in a process of its own: HEAP=256 or FIFO=64 (MiB) in the environment. */
static void buffers(void) {
    const char *heap = getenv("HEAP"), *fifo = getenv("FIFO");
    uint64_t before = used();
    if (heap)
        OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)atol(heap) << 20));
    if (fifo)
        OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)atol(fifo) << 20));
    printf("heap %s fifo %s: set +%.1f", heap ? heap : "-", fifo ? fifo : "-", (double)(int64_t)(used() - before) / MIB);
    static const char *const names[] = {"heap", "print"};
    CUmodule module;
    CUfunction function;
    before = used();
    OK(cuModuleLoadData(&module, ptx(heap_source)));
    printf(", loaded +%.1f", (double)(int64_t)(used() - before) / MIB);
    for (int i = 0; i < 2; i++) {
        before = used();
        OK(cuModuleGetFunction(&function, module, names[i]));
        OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        OK(cuCtxSynchronize());
        printf(", %s launched +%.1f", names[i], (double)(int64_t)(used() - before) / MIB);
    }
    printf("\n");
}

typedef struct { uint32_t name, type; uint64_t flags, address, offset, size; uint32_t link, info; uint64_t align, entry; } section_t;

static void tell_sections(const unsigned char *image) {
    uint64_t at;
    uint16_t count, names;
    memcpy(&at, image + 0x28, 8);
    memcpy(&count, image + 0x3c, 2);
    memcpy(&names, image + 0x3e, 2);
    const section_t *sections = (const section_t *)(image + at);
    uint64_t alloc = 0;
    for (int i = 0; i < count; i++) {
        const char *name = (const char *)image + sections[names].offset + sections[i].name;
        if (sections[i].flags & 2)
            alloc += sections[i].size;
        if (sections[i].size > 65536 || (sections[i].flags & 2))
            printf("   %-32s type %u flags %llx size %llu align %llu\n", name, sections[i].type, (unsigned long long)sections[i].flags, (unsigned long long)sections[i].size,
                   (unsigned long long)sections[i].align);
    }
    printf("   all that is loaded: %llu bytes, machine %u\n", (unsigned long long)alloc, image[0x12]);
}

static void code(void) {
    static const unsigned sizes[] = {0, 1, 100, 1000};
    for (unsigned i = 0; i < 4; i++) {
        char extra[256] = "";
        if (sizes[i])
            snprintf(extra, sizeof extra, ".visible .global .align 8 .b8 big[%llu];\n.visible .global .align 4 .b8 init[8] = {1,2,3,4,5,6,7,8};\n.const .align 4 .b8 fixed[4000];\n", sizes[i] * MIB - 100);
        char *text = ptx(extra);
        uint64_t before = used(), begin = now();
        CUmodule module;
        CUresult status = cuModuleLoadData(&module, text);
        double millis = (now() - begin) / 1e6;
        printf("PTX with %u MiB: status %d, %.1f ms, GPU +%.2f MiB", sizes[i], status, millis, (double)(int64_t)(used() - before) / MIB);
        before = used();
        CUfunction function;
        OK(cuModuleGetFunction(&function, module, "spin"));
        uint64_t nanos = 1000;
        void *arguments[] = {&nanos};
        OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
        OK(cuCtxSynchronize());
        printf(", at the first launch +%.2f\n", (double)(int64_t)(used() - before) / MIB);
        OK(cuModuleUnload(module));
        CUlinkState link;
        void *cubin;
        size_t bytes;
        before = used();
        begin = now();
        OK(cuLinkCreate(0, NULL, NULL, &link));
        OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "x", 0, NULL, NULL));
        OK(cuLinkComplete(link, &cubin, &bytes));
        printf(" linked: cubin of %zu bytes, %.1f ms, GPU +%.2f\n", bytes, (now() - begin) / 1e6, (double)(int64_t)(used() - before) / MIB);
        tell_sections(cubin);
        before = used();
        begin = now();
        OK(cuModuleLoadData(&module, cubin));
        printf(" cubin loaded: %.1f ms, GPU +%.2f\n", (now() - begin) / 1e6, (double)(int64_t)(used() - before) / MIB);
        OK(cuModuleUnload(module));
        OK(cuLinkDestroy(link));
        CUlibrary library;
        before = used();
        OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
        printf(" as a library: GPU +%.2f", (double)(int64_t)(used() - before) / MIB);
        before = used();
        CUkernel kernel;
        OK(cuLibraryGetKernel(&kernel, library, "spin"));
        printf(", kernel found +%.2f", (double)(int64_t)(used() - before) / MIB);
        before = used();
        OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
        OK(cuCtxSynchronize());
        printf(", launched +%.2f\n", (double)(int64_t)(used() - before) / MIB);
        OK(cuLibraryUnload(library));
    }
}

/* What the driver answers when its own memory is nearly gone and a free is pending. */
static void edge(void) {
    size_t free_bytes, total;
    CUdeviceptr fill, p, q;
    CUstream a, b;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuMemGetInfo(&free_bytes, &total));
    OK(cuMemAlloc(&fill, free_bytes - 1024 * MIB));
    CUmemoryPool pool = new_pool(UINT64_MAX), other = new_pool(UINT64_MAX);
    OK(cuMemAllocFromPoolAsync(&p, 700 * MIB, pool, a));
    launch(a, 300);
    OK(cuMemFreeAsync(p, a));
    show("700 of 1024 MiB freed behind a kernel of 300 ms", pool);
    uint64_t begin = now();
    CUresult status = cuMemAllocFromPoolAsync(&q, 700 * MIB, pool, b);
    printf("700 MiB in another stream: status %d after %.1f ms\n", status, (now() - begin) / 1e6);
    if (!status)
        OK(cuMemFreeAsync(q, b));
    OK(cuCtxSynchronize());
    begin = now();
    status = cuMemAllocFromPoolAsync(&q, 700 * MIB, other, b);
    printf("700 MiB from another pool while the first keeps 700 unused: status %d after %.1f ms\n", status, (now() - begin) / 1e6);
    if (!status)
        OK(cuMemFreeAsync(q, b));
    OK(cuCtxSynchronize());
    OK(cuMemPoolTrimTo(other, 0));
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuMemAllocFromPoolAsync(&p, 700 * MIB, pool, a));
    OK(cuMemFreeAsync(p, a));
    OK(cuCtxSynchronize());
    begin = now();
    status = cuMemAlloc(&q, 700 * MIB);
    printf("cuMemAlloc of 700 MiB while a pool keeps 700 unused: status %d after %.1f ms\n", status, (now() - begin) / 1e6);
    show("", pool);
}

int main(int count, char **words) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    start();
    for (int i = 1; i < count; i++) {
        printf("== %s\n", words[i]);
        void (*part)(void) = !strcmp(words[i], "pools") ? pools : !strcmp(words[i], "pending") ? pending : !strcmp(words[i], "pieces") ? pieces :
                             !strcmp(words[i], "random") ? random_walk : !strcmp(words[i], "graphs") ? graphs : !strcmp(words[i], "shapes") ? shapes : !strcmp(words[i], "again") ? again : !strcmp(words[i], "sequence") ? sequence : !strcmp(words[i], "plain") ? plain : !strcmp(words[i], "threads") ? threads : !strcmp(words[i], "ordered") ? ordered : !strcmp(words[i], "limits") ? limits :
                             !strcmp(words[i], "buffers") ? buffers : !strcmp(words[i], "code") ? code : !strcmp(words[i], "edge") ? edge : NULL;
        if (part)
            part();
    }
    return 0;
}
