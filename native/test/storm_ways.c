/* storm_ways: every way to take device memory, and to give it back. A request is complete in itself, so the judge can make it
 * again, through Sluice or past it. */
#define _GNU_SOURCE
#include "storm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) do { CUresult tried = (call); if (tried) return tried; } while (0)
#define STACK_DEFAULT 1024u
#define STACK_STEP 16u
#define MODULE_MOST (256 * MIB)
#define CONTEXTS_MOST 2

enum { NON_BLOCKING = 1, CAPTURE_RELAXED = 2, THRESHOLD = 4, ATTACH_GLOBAL = 1, LIMIT_STACK = 0, LAYERED = 1, CUBEMAP = 4 };

const char *const way_names[WAY_COUNT] = {"plain",  "pitch", "managed", "async",  "pool",   "graph",  "vmm",   "array",
                                          "mipmap", "module", "stack",  "context", "absurd", "launch", "orphan", "tiny"};
sl_real_t given, direct;

static const char KERNELS[] =
    ".version 6.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry sluice_spin(.param .u64 nanoseconds)\n{\n"
    ".reg .pred %p<2>;\n.reg .u64 %t<5>;\nld.param.u64 %t0, [nanoseconds];\nmov.u64 %t1, %globaltimer;\n"
    "again:\nmov.u64 %t2, %globaltimer;\nsub.u64 %t3, %t2, %t1;\nsetp.lt.u64 %p0, %t3, %t0;\n@%p0 bra again;\nret;\n}\n";

static CUcontext contexts[GPUS_MOST];
static CUmodule modules[GPUS_MOST];
static CUfunction spin[GPUS_MOST];
static atomic_flag stack_is_held[GPUS_MOST];
static atomic_int contexts_held;

#define ENTRIES(X)                                                                                                              \
    X(cuInit) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2) X(cuCtxSetCurrent) X(cuCtxCreate_v2) X(cuCtxDestroy_v2)  \
    X(cuCtxPopCurrent_v2) X(cuCtxSynchronize) X(cuCtxSetLimit) X(cuMemGetInfo_v2) X(cuMemAlloc_v2) X(cuMemFree_v2)                 \
    X(cuMemAllocPitch_v2) X(cuMemAllocManaged) X(cuMemsetD2D8_v2) X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuStreamSynchronize)   \
    X(cuMemAllocAsync) X(cuMemAllocAsync_ptsz) X(cuMemAllocFromPoolAsync) X(cuMemAllocFromPoolAsync_ptsz) X(cuMemFreeAsync)        \
    X(cuMemFreeAsync_ptsz) X(cuDeviceGetDefaultMemPool) X(cuDeviceSetMemPool) X(cuMemPoolCreate) X(cuMemPoolDestroy)               \
    X(cuMemPoolTrimTo) X(cuMemPoolSetAttribute) X(cuDeviceGraphMemTrim) X(cuGraphCreate) X(cuGraphDestroy)                         \
    X(cuGraphAddMemAllocNode) X(cuGraphAddMemFreeNode) X(cuGraphAddKernelNode_v2) X(cuGraphInstantiateWithFlags) X(cuGraphLaunch)   \
    X(cuGraphExecDestroy) X(cuStreamBeginCapture_v2) X(cuStreamEndCapture) X(cuMemCreate) X(cuMemRelease) X(cuMemMap)              \
    X(cuMemUnmap) X(cuMemSetAccess) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemRetainAllocationHandle)                      \
    X(cuArray3DCreate_v2) X(cuArrayDestroy) X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy) X(cuModuleLoadData)               \
    X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel)

bool ways_load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return fprintf(stderr, "storm: %s\n", dlerror()), false;
    bool all = true;
#define LOAD(name)                                           \
    *(void **)&given.name = dlsym(library, #name);           \
    *(void **)&direct.name = truth_symbol("libcuda.so", #name); \
    all = all && given.name && direct.name;
    ENTRIES(LOAD)
    return all;
}

void ways_use(int gpu) {
    given.cuCtxSetCurrent(contexts[gpu]);
}

bool ways_begin(int gpus) {
    bool all = given.cuInit(0) == 0;
    for (int gpu = 0; gpu < gpus && all; gpu++) {
        all = given.cuDevicePrimaryCtxRetain(&contexts[gpu], gpu) == 0;
        if (!all)
            break;
        ways_use(gpu);
        all = given.cuModuleLoadData(&modules[gpu], KERNELS) == 0 && given.cuModuleGetFunction(&spin[gpu], modules[gpu], "sluice_spin") == 0;
    }
    if (!all)
        ways_end(gpus);
    return all;
}

void ways_end(int gpus) {
    for (int gpu = 0; gpu < gpus; gpu++) {
        if (!contexts[gpu])
            continue;
        ways_use(gpu);
        if (modules[gpu])
            given.cuModuleUnload(modules[gpu]);
        given.cuCtxSetCurrent(NULL);
        given.cuDevicePrimaryCtxRelease_v2(gpu);
        contexts[gpu] = NULL;
        modules[gpu] = NULL;
    }
}

void ways_open(worker_t *worker) {
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        ways_use(gpu);
        for (int i = 0; i < options.streams; i++)
            given.cuStreamCreate(&worker->streams[gpu][i], NON_BLOCKING);
    }
}

void ways_close(worker_t *worker) {
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        ways_use(gpu);
        for (int i = 0; i < POOLS_EACH; i++)
            if (worker->pools[gpu][i])
                given.cuMemPoolDestroy(worker->pools[gpu][i]);
        for (int i = 0; i < options.streams; i++)
            given.cuStreamDestroy_v2(worker->streams[gpu][i]);
        memset(worker->pools[gpu], 0, sizeof worker->pools[gpu]);
    }
}

static uint64_t choose_size(uint64_t *random, uint64_t most) {
    uint64_t kind = below(random, 8), bits = 63 - (uint64_t)__builtin_clzll(most | 1), bytes;
    if (kind < 5)
        bytes = 1 + below(random, 2ull << below(random, bits + 1));
    else if (kind == 5)
        bytes = (1ull << below(random, bits + 1)) + below(random, 3) - 1;
    else if (kind == 6)
        bytes = BLOCK * (1 + below(random, most / BLOCK + 1)) + below(random, 3) - 1;
    else
        bytes = (512ull << below(random, 14)) + below(random, 3) - 1;
    return bytes < 1 ? 1 : bytes > most ? most : bytes;
}

static CUstream stream_of(const worker_t *worker, const request_t *request) {
    return request->stream < options.streams ? worker->streams[request->gpu][request->stream] : NULL;
}

static bool is_per_thread(const request_t *request) {
    return request->stream > options.streams;
}

static CUresult make_pool(worker_t *worker, int gpu, int which, uint64_t choice) {
    CUmemPoolProps properties = {.allocType = 1, .location = {1, gpu}};
    uint64_t kinds[] = {0, 32 * MIB, 64 * MIB, UINT64_MAX, options.base / 8, choice % (options.base / 2)}, threshold = kinds[choice % 6];
    TRY(given.cuMemPoolCreate(&worker->pools[gpu][which], &properties));
    return given.cuMemPoolSetAttribute(worker->pools[gpu][which], THRESHOLD, &threshold);
}

/* Pools come and go beside the requests; one that is destroyed lives on in what was taken from it. */
static void change_pools(worker_t *worker, const request_t *request) {
    int which = request->pool;
    CUmemoryPool *pool = &worker->pools[request->gpu][which];
    uint64_t any = UINT64_MAX, none = 0;
    CUmemoryPool usual;
    if (!*pool)
        make_pool(worker, request->gpu, which, request->choice >> 8);
    else if ((options.ways >> WAY_ORPHAN & 1) && request->choice % 16 == 0) {
        given.cuMemPoolDestroy(*pool);
        *pool = NULL;
        make_pool(worker, request->gpu, which, request->choice >> 8);
    } else if (request->choice % 16 == 1)
        given.cuMemPoolTrimTo(*pool, request->choice >> 8 & (256 * MIB - 1));
    else if (request->choice % 64 == 2 && given.cuDeviceGetDefaultMemPool(&usual, request->gpu) == 0)
        given.cuMemPoolSetAttribute(usual, THRESHOLD, request->choice >> 8 & 1 ? &any : &none);
}

request_t ways_choose(worker_t *worker) {
    request_t request = {.way = WAY_PLAIN};
    uint64_t *random = &worker->random, most = options.base / 4;
    do
        request.way = (way_t)below(random, WAY_COUNT);
    while (request.way >= WAY_ORPHAN || !(options.ways >> request.way & 1));
    request.gpu = (int)below(random, (uint64_t)options.gpus);
    request.stream = (int)below(random, (uint64_t)options.streams + 2);
    request.pool = (int)below(random, POOLS_EACH);
    request.count = 1 + (int)below(random, 3);
    request.bytes = choose_size(random, most);
    for (int i = 0; i < 2; i++)
        request.more[i] = choose_size(random, most / 2);
    request.choice = draw(random);
    if (request.way == WAY_GRAPH && request.choice % 3)
        for (int i = 0; i < worker->held_count; i++)
            if (worker->held[i].request.way == WAY_GRAPH && worker->held[i].request.gpu == request.gpu)
                request.again = worker->held[i].thing;
    if (request.way == WAY_POOL)
        change_pools(worker, &request);
    if (request.way == WAY_POOL && !worker->pools[request.gpu][request.pool])
        request.way = WAY_ASYNC;
    return request;
}

static CUresult take_pitch(const sl_real_t *cu, const request_t *request, held_t *held) {
    size_t width = 1 + request->choice % 8000, pitch, height = request->bytes / ((width + 511) / 512 * 512);
    return cu->cuMemAllocPitch_v2(&held->address, &pitch, width, height ? height : 1, 4u << request->choice % 3);
}

/* Touched at once, a byte in each block, because the driver takes it only then. */
static CUresult take_managed(const sl_real_t *cu, const request_t *request, held_t *held) {
    TRY(cu->cuMemAllocManaged(&held->address, request->bytes, ATTACH_GLOBAL));
    TRY(cu->cuMemsetD2D8_v2(held->address, BLOCK, 1, 1, (request->bytes + BLOCK - 1) / BLOCK));
    return cu->cuCtxSynchronize();
}

static CUresult take_async(const sl_real_t *cu, const worker_t *worker, const request_t *request, held_t *held) {
    CUstream stream = stream_of(worker, request);
    if (request->way == WAY_ASYNC)
        return is_per_thread(request) ? cu->cuMemAllocAsync_ptsz(&held->address, request->bytes, NULL)
                                      : cu->cuMemAllocAsync(&held->address, request->bytes, stream);
    CUmemoryPool pool = worker->pools[request->gpu][request->pool];
    return is_per_thread(request) ? cu->cuMemAllocFromPoolAsync_ptsz(&held->address, request->bytes, pool, NULL)
                                  : cu->cuMemAllocFromPoolAsync(&held->address, request->bytes, pool, stream);
}

/* Freed where it was taken, in another stream once that is safe, or at once. */
static CUresult give_async(const sl_real_t *cu, const worker_t *worker, const held_t *held) {
    const request_t *request = &held->request;
    CUstream stream = stream_of(worker, request), other = worker->streams[request->gpu][0];
    switch (request->choice % 8) {
    case 0:
        return cu->cuMemFree_v2(held->address);
    case 1:
        TRY(cu->cuCtxSynchronize());
        return cu->cuMemFreeAsync(held->address, other);
    default:
        return is_per_thread(request) ? cu->cuMemFreeAsync_ptsz(held->address, NULL) : cu->cuMemFreeAsync(held->address, stream);
    }
}

static CUresult add_spin(const sl_real_t *cu, CUgraph graph, CUgraphNode after, const request_t *request, CUgraphNode *node) {
    uint64_t nanos = request->choice >> 16 & 0xfffff; /* up to a millisecond */
    void *values[] = {&nanos};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = spin[request->gpu], .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
                                      .blockDimY = 1, .blockDimZ = 1, .kernelParams = values};
    return cu->cuGraphAddKernelNode_v2(node, graph, &after, 1, &kernel);
}

static uint64_t node_bytes(const request_t *request, int i) {
    return i ? request->more[i - 1] : request->bytes / 2 + 1;
}

static CUresult build_graph(const sl_real_t *cu, const request_t *request, CUgraph graph) {
    CUgraphNode last = NULL;
    for (int i = 0; i < request->count; i++) {
        CUDA_MEM_ALLOC_NODE_PARAMS memory = {.poolProps = {.allocType = 1, .location = {1, request->gpu}}, .bytesize = node_bytes(request, i)};
        CUgraphNode taken, busy;
        bool in_line = last && request->choice & 1;
        TRY(cu->cuGraphAddMemAllocNode(&taken, graph, &last, in_line, &memory));
        TRY(add_spin(cu, graph, taken, request, &busy));
        TRY(cu->cuGraphAddMemFreeNode(&last, graph, &busy, 1, memory.dptr));
    }
    return 0;
}

static CUresult capture_graph(const sl_real_t *cu, const worker_t *worker, const request_t *request, CUgraph *graph) {
    CUstream stream = worker->streams[request->gpu][0];
    CUdeviceptr addresses[3];
    CUresult status = 0;
    TRY(cu->cuStreamBeginCapture_v2(stream, CAPTURE_RELAXED));
    int taken = 0;
    for (; taken < request->count && !status; taken++)
        status = cu->cuMemAllocAsync(&addresses[taken], node_bytes(request, taken), stream);
    for (int i = 0; i < taken && !status; i++)
        status = cu->cuMemFreeAsync(addresses[i], stream);
    CUresult ended = cu->cuStreamEndCapture(stream, graph);
    return status ? status : ended;
}

static void drop_graph(const sl_real_t *cu, held_t *held) {
    if (held->thing)
        cu->cuGraphExecDestroy(held->thing);
    if (held->graph)
        cu->cuGraphDestroy(held->graph);
    held->thing = held->graph = NULL;
}

static CUresult launch_graph(const sl_real_t *cu, const worker_t *worker, const request_t *request, CUgraphExec executable) {
    CUresult status = 0;
    for (int i = 0; i < 1 + (int)(request->choice >> 4 & 1) && !status; i++)
        status = cu->cuGraphLaunch(executable, worker->streams[request->gpu][(request->stream + i) % options.streams]);
    return status;
}

static CUresult take_graph(const sl_real_t *cu, const worker_t *worker, const request_t *request, held_t *held) {
    if (request->again)
        return launch_graph(cu, worker, request, request->again);
    CUresult status;
    if (request->choice & 2)
        status = capture_graph(cu, worker, request, &held->graph);
    else {
        status = cu->cuGraphCreate(&held->graph, 0);
        status = status ? status : build_graph(cu, request, held->graph);
    }
    CUgraphExec executable = NULL;
    status = status ? status : cu->cuGraphInstantiateWithFlags(&executable, held->graph, 0);
    held->thing = executable;
    status = status ? status : launch_graph(cu, worker, request, executable);
    if (status || (request->choice & 8)) /* the latter: while it runs */
        drop_graph(cu, held);
    return status;
}

static void give_mappings(const sl_real_t *cu, held_t *held) {
    for (; held->maps > 0; held->maps--) {
        cu->cuMemUnmap(held->mapped[held->maps - 1], held->bytes);
        cu->cuMemAddressFree(held->mapped[held->maps - 1], held->bytes);
    }
}

static CUresult map_physical(const sl_real_t *cu, const request_t *request, held_t *held) {
    CUmemAccessDesc access = {{1, request->gpu}, 3};
    CUdeviceptr *at = &held->mapped[held->maps];
    TRY(cu->cuMemAddressReserve(at, held->bytes, 0, 0, 0));
    CUresult status = cu->cuMemMap(*at, held->bytes, 0, held->handle, 0);
    if (status)
        return cu->cuMemAddressFree(*at, held->bytes), status;
    held->maps++;
    return cu->cuMemSetAccess(*at, held->bytes, &access, 1);
}

static CUresult take_physical(const sl_real_t *cu, const request_t *request, held_t *held) {
    CUmemAllocationProp properties = {.type = 1, .location = {1, request->gpu}};
    CUmemGenericAllocationHandle handle, again;
    held->bytes = (request->bytes + BLOCK - 1) / BLOCK * BLOCK;
    TRY(cu->cuMemCreate(&handle, held->bytes, &properties, 0));
    held->handle = handle;
    CUresult status = 0;
    for (unsigned i = 0; i < request->choice % 3 && !status; i++)
        status = map_physical(cu, request, held);
    if (!status && held->maps && (request->choice & 16)) {
        status = cu->cuMemRetainAllocationHandle(&again, (void *)held->mapped[0]);
        status = status ? status : cu->cuMemRelease(again);
    }
    if (!status && held->maps && (request->choice & 32)) {
        status = cu->cuMemRelease(handle);
        held->handle = 0;
    }
    return status;
}

static CUresult give_physical(const sl_real_t *cu, held_t *held) {
    give_mappings(cu, held);
    return held->handle ? cu->cuMemRelease(held->handle) : 0;
}

/* Which block a small array or variable shares, and with what, only the driver knows. */
static uint64_t at_least_a_block(uint64_t bytes) {
    return options.ways >> WAY_TINY & 1 || bytes > 2 * BLOCK ? bytes : bytes % BLOCK + 2 * BLOCK;
}

static CUDA_ARRAY3D_DESCRIPTOR shape_of(const request_t *request) {
    static const struct { int format; unsigned bytes; } formats[] = {{0x01, 1}, {0x02, 2}, {0x10, 2}, {0x03, 4}, {0x20, 4}};
    unsigned which = request->choice % 5, channels = 1u << (request->choice >> 8) % 3, kind = (request->choice >> 12) % 6;
    bool large = !(options.ways >> WAY_TINY & 1);
    uint64_t texels = at_least_a_block(request->bytes) / (formats[which].bytes * channels) + 1;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Format = formats[which].format, .NumChannels = channels};
    uint64_t width = (large ? 1024 : 1) + (request->choice >> 20) % 4096, depth = kind == 2 ? 1 + (request->choice >> 32) % 200 : 1 + (request->choice >> 32) % 16;
    width = width > texels ? texels : width;
    shape.Width = width;
    shape.Height = texels / width / (kind >= 2 ? depth : 1);
    shape.Height = shape.Height < 1 ? 1 : shape.Height > 16000 ? 16000 : shape.Height;
    shape.Depth = kind >= 2 ? depth : 0;
    if (kind == 0 && !large) {
        shape.Width = texels > 100000 ? 100000 : texels;
        shape.Height = 0;
    }
    if (kind >= 3)
        shape.Flags = LAYERED;
    if (kind == 5) {
        shape.Width = shape.Height = shape.Width < 2048 ? shape.Width : 2048; /* of at least 1024: 6 MiB */
        shape.Depth = 6;
        shape.Flags = CUBEMAP;
    }
    return shape;
}

static CUresult take_array(const sl_real_t *cu, const request_t *request, held_t *held) {
    CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(request);
    if (request->way == WAY_ARRAY) {
        CUarray array;
        TRY(cu->cuArray3DCreate_v2(&array, &shape));
        held->thing = array;
        return 0;
    }
    CUmipmappedArray mipmap;
    uint64_t side = shape.Width > shape.Height ? shape.Width : shape.Height, levels = 1;
    while (side >> levels && levels < 1 + (request->choice >> 40) % 14)
        levels++;
    TRY(cu->cuMipmappedArrayCreate(&mipmap, &shape, (unsigned)levels));
    held->thing = mipmap;
    return 0;
}

static CUresult take_module(const sl_real_t *cu, const request_t *request, held_t *held) {
    char text[256];
    CUmodule module;
    snprintf(text, sizeof text, ".version 6.0\n.target sm_52\n.address_size 64\n.visible .global .align 16 .b8 storm_data[%llu];\n",
             (unsigned long long)(at_least_a_block(request->bytes % MODULE_MOST + 1)));
    TRY(cu->cuModuleLoadData(&module, text));
    held->thing = module;
    return 0;
}

/* The context has one size of stacks, so one worker at a time; any other makes an empty request. */
static CUresult take_stack(const sl_real_t *cu, const request_t *request, held_t *held) {
    if (atomic_flag_test_and_set(&stack_is_held[request->gpu]))
        return 0;
    CUresult status = cu->cuCtxSetLimit(LIMIT_STACK, STACK_DEFAULT + STACK_STEP * (1 + request->bytes / (4 * MIB)));
    held->bytes = status == 0;
    if (status)
        atomic_flag_clear(&stack_is_held[request->gpu]);
    return status;
}

static CUresult give_stack(const sl_real_t *cu, held_t *held) {
    if (!held->bytes)
        return 0;
    CUresult status = cu->cuCtxSetLimit(LIMIT_STACK, STACK_DEFAULT);
    atomic_flag_clear(&stack_is_held[held->request.gpu]);
    return status;
}

/* With memory in it that nobody frees: that goes with the context. */
static CUresult take_context(const sl_real_t *cu, const request_t *request, held_t *held) {
    CUcontext made, popped;
    CUdeviceptr address;
    CUresult status = 0;
    bool full = contexts_held++ >= CONTEXTS_MOST;
    if (!full)
        status = cu->cuCtxCreate_v2(&made, 0, request->gpu);
    if (full || status) {
        contexts_held--;
        return status;
    }
    for (unsigned i = 0; i < request->choice % 3; i++)
        cu->cuMemAlloc_v2(&address, request->more[i % 2] / 4 + 1);
    held->thing = made;
    return cu->cuCtxPopCurrent_v2(&popped);
}

static CUresult give_context(const sl_real_t *cu, held_t *held) {
    if (!held->thing)
        return 0;
    contexts_held--;
    return cu->cuCtxDestroy_v2(held->thing);
}

static CUresult launch(const sl_real_t *cu, const worker_t *worker, const request_t *request) {
    uint64_t nanos = request->choice >> 16 & 0x3ffff;
    void *values[] = {&nanos};
    CUstream stream = stream_of(worker, request);
    TRY(cu->cuLaunchKernel(spin[request->gpu], 1, 1, 1, 1, 1, 1, 0, stream, values, NULL));
    return request->choice % 4 ? 0 : cu->cuStreamSynchronize(stream);
}

CUresult ways_take(const sl_real_t *cu, worker_t *worker, const request_t *request, held_t *held) {
    memset(held, 0, sizeof *held);
    held->request = *request;
    cu->cuCtxSetCurrent(contexts[request->gpu]);
    CUresult status = 0;
    switch (request->way) {
    case WAY_PITCH: status = take_pitch(cu, request, held); break;
    case WAY_MANAGED: status = take_managed(cu, request, held); break;
    case WAY_ASYNC: case WAY_POOL: status = take_async(cu, worker, request, held); break;
    case WAY_GRAPH: return take_graph(cu, worker, request, held);
    case WAY_VMM: status = take_physical(cu, request, held); break;
    case WAY_ARRAY: case WAY_MIPMAP: return take_array(cu, request, held);
    case WAY_MODULE: return take_module(cu, request, held);
    case WAY_STACK: return take_stack(cu, request, held);
    case WAY_CONTEXT: return take_context(cu, request, held);
    case WAY_LAUNCH: return launch(cu, worker, request);
    default: status = cu->cuMemAlloc_v2(&held->address, request->bytes);
    }
    if (status && held->handle)
        give_physical(cu, held);
    if (status && request->way == WAY_MANAGED && held->address)
        cu->cuMemFree_v2(held->address);
    return status;
}

CUresult ways_give(const sl_real_t *cu, worker_t *worker, held_t *held) {
    cu->cuCtxSetCurrent(contexts[held->request.gpu]);
    switch (held->request.way) {
    case WAY_ASYNC: case WAY_POOL: return give_async(cu, worker, held);
    case WAY_GRAPH: return drop_graph(cu, held), 0;
    case WAY_VMM: return give_physical(cu, held);
    case WAY_ARRAY: return cu->cuArrayDestroy(held->thing);
    case WAY_MIPMAP: return cu->cuMipmappedArrayDestroy(held->thing);
    case WAY_MODULE: return cu->cuModuleUnload(held->thing);
    case WAY_STACK: return give_stack(cu, held);
    case WAY_CONTEXT: return give_context(cu, held);
    case WAY_LAUNCH: return 0;
    case WAY_PLAIN: if (held->request.choice & 1) return cu->cuMemFreeAsync(held->address, worker->streams[held->request.gpu][0]); /* fall through */
    default: return cu->cuMemFree_v2(held->address);
    }
}

/* Sizes that no GPU has; whatever is granted is an error. */
CUresult ways_absurd(worker_t *worker, uint64_t choice) {
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 511, UINT64_MAX - BLOCK, UINT64_MAX - BLOCK + 1, 1ull << 63,
                                     (1ull << 63) - 1, (1ull << 63) + 1, 1ull << 62, (1ull << 56) + 1, 1ull << 48};
    uint64_t bytes = sizes[(choice >> 8) % 11], whole = bytes / BLOCK * BLOCK;
    int gpu = (int)(choice >> 40) % options.gpus;
    CUdeviceptr address;
    size_t pitch;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties = {.type = 1, .location = {1, gpu}};
    CUDA_ARRAY3D_DESCRIPTOR shape = {bytes, bytes >> 32, bytes >> 40, 0x20, 4, 0}, tall = {131072, 131072, 16384, 0x20, 4, 0};
    CUarray array;
    CUmipmappedArray mipmap;
    ways_use(gpu);
    switch (choice % 9) {
    case 0: return given.cuMemAlloc_v2(&address, bytes);
    case 1: return given.cuMemAllocPitch_v2(&address, &pitch, bytes, 2, 4);
    case 2: return given.cuMemAllocPitch_v2(&address, &pitch, 1ull << 33, 1ull << 33, 4);
    case 3: return given.cuMemAllocManaged(&address, bytes, ATTACH_GLOBAL);
    case 4: return given.cuMemAllocAsync(&address, bytes, worker->streams[gpu][0]);
    case 5: return given.cuMemCreate(&handle, whole ? whole : BLOCK << 40, &properties, 0);
    case 6: return given.cuArray3DCreate_v2(&array, choice >> 32 & 1 ? &shape : &tall);
    case 7: return given.cuMipmappedArrayCreate(&mipmap, choice >> 32 & 1 ? &shape : &tall, 3);
    default: return given.cuMemAllocFromPoolAsync(&address, bytes, worker->pools[gpu][0], worker->streams[gpu][0]);
    }
}

CUresult ways_settle(const sl_real_t *cu, worker_t *workers, int count, bool wait) {
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        CUmemoryPool usual;
        cu->cuCtxSetCurrent(contexts[gpu]);
        if (wait)
            TRY(cu->cuCtxSynchronize());
        TRY(cu->cuDeviceGetDefaultMemPool(&usual, gpu));
        TRY(cu->cuMemPoolTrimTo(usual, 0));
        for (int i = 0; i < count; i++)
            for (int k = 0; k < POOLS_EACH; k++)
                if (workers[i].pools[gpu][k])
                    TRY(cu->cuMemPoolTrimTo(workers[i].pools[gpu][k], 0));
        TRY(cu->cuDeviceGraphMemTrim(gpu));
    }
    return 0;
}
