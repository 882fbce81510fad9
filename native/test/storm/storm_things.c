/* storm_things: memory that comes with a thing: graphs, physical memory, arrays, modules, stacks, contexts. */
#define _GNU_SOURCE
#include "storm.h"

#include <stdio.h>

#define STACK_DEFAULT 1024u
#define STACK_STEP 16u
#define MODULE_MOST (256 * MIB)
#define CONTEXTS_MOST 2
#define LINE_MOST 100000
#define MIPMAP_LINE_MOST 16384 /* of one dimension: every driver makes them; an H200 up to 32768 */

enum { CAPTURE_RELAXED = 2, LIMIT_STACK = 0, LAYERED = 1, CUBEMAP = 4 };

static atomic_flag stack_is_held[GPUS_MOST];
static atomic_int contexts_held;

static CUresult add_spin(const sl_real_t *cu, CUgraph graph, CUgraphNode after, const request_t *request, CUgraphNode *node) {
    uint64_t nanos = request->choice >> 16 & 0xfffff; /* up to a millisecond */
    void *values[] = {&nanos};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = ways_spin[request->gpu], .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
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

static CUresult capture(const sl_real_t *cu, const worker_t *worker, const request_t *request, CUgraph *graph) {
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

/* One thread at a time: the driver (580) itself crashes when two add allocation nodes at once, to whichever graphs, in captures or not. */
static CUresult make_graph(const sl_real_t *cu, const worker_t *worker, const request_t *request, CUgraph *graph) {
    ways_begin_capture();
    CUresult status = request->choice & 2 ? capture(cu, worker, request, graph) : cu->cuGraphCreate(graph, 0);
    if (!status && !(request->choice & 2))
        status = build_graph(cu, request, *graph);
    ways_end_capture();
    return status;
}

static CUresult drop_graph(const sl_real_t *cu, held_t *held) {
    CUresult first = held->thing ? cu->cuGraphExecDestroy(held->thing) : 0, second = held->graph ? cu->cuGraphDestroy(held->graph) : 0;
    held->thing = held->graph = NULL;
    return first ? first : second;
}

int things_launches(const request_t *request) {
    return 1 + (int)(request->choice >> 4 & 1);
}

static CUresult launch_graph(const sl_real_t *cu, const worker_t *worker, const request_t *request, CUgraphExec executable) {
    CUresult status = 0;
    for (int i = 0; i < things_launches(request) && !status; i++)
        status = cu->cuGraphLaunch(executable, worker->streams[request->gpu][(request->stream + i) % options.streams]);
    return status;
}

static CUresult take_graph(const sl_real_t *cu, const worker_t *worker, const request_t *request, held_t *held) {
    if (request->again)
        return launch_graph(cu, worker, request, request->again);
    CUresult status = make_graph(cu, worker, request, &held->graph);
    CUgraphExec executable = NULL;
    status = status ? status : cu->cuGraphInstantiateWithFlags(&executable, held->graph, 0);
    held->thing = executable;
    status = status ? status : launch_graph(cu, worker, request, executable);
    if (status || (request->choice & 8)) /* the latter: while it runs */
        drop_graph(cu, held);
    return status;
}

static CUresult give_physical(const sl_real_t *cu, held_t *held) {
    CUresult status = 0;
    for (; held->maps > 0; held->maps--) {
        CUresult unmapped = cu->cuMemUnmap(held->mapped[held->maps - 1], held->bytes);
        CUresult freed = cu->cuMemAddressFree(held->mapped[held->maps - 1], held->bytes);
        status = status ? status : unmapped ? unmapped : freed;
    }
    CUresult released = held->handle ? cu->cuMemRelease(held->handle) : 0;
    held->handle = 0;
    return status ? status : released;
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
    if (status)
        give_physical(cu, held);
    return status;
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
        uint64_t most = request->way == WAY_MIPMAP ? MIPMAP_LINE_MOST : LINE_MOST;
        shape.Width = texels > most ? most : texels;
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

static unsigned levels_of(const request_t *request, const CUDA_ARRAY3D_DESCRIPTOR *shape) {
    uint64_t side = shape->Width > shape->Height ? shape->Width : shape->Height;
    unsigned levels = 1;
    while (side >> levels && levels < 1 + (request->choice >> 40) % 14)
        levels++;
    return levels;
}

void things_describe(const request_t *request, char *text, size_t room) {
    *text = 0;
    if (request->way != WAY_ARRAY && request->way != WAY_MIPMAP)
        return;
    CUDA_ARRAY3D_DESCRIPTOR shape = shape_of(request);
    snprintf(text, room, "; %zu x %zu x %zu, %u channels of format 0x%x, flags %u, %u levels", shape.Width, shape.Height, shape.Depth, shape.NumChannels,
             (unsigned)shape.Format, shape.Flags, request->way == WAY_MIPMAP ? levels_of(request, &shape) : 1);
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
    TRY(cu->cuMipmappedArrayCreate(&mipmap, &shape, levels_of(request, &shape)));
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

CUresult things_take(const sl_real_t *cu, const worker_t *worker, const request_t *request, held_t *held) {
    switch (request->way) {
    case WAY_GRAPH: return take_graph(cu, worker, request, held);
    case WAY_VMM: return take_physical(cu, request, held);
    case WAY_MODULE: return take_module(cu, request, held);
    case WAY_STACK: return take_stack(cu, request, held);
    case WAY_CONTEXT: return take_context(cu, request, held);
    default: return take_array(cu, request, held);
    }
}

CUresult things_give(const sl_real_t *cu, held_t *held) {
    switch (held->request.way) {
    case WAY_GRAPH: return drop_graph(cu, held);
    case WAY_VMM: return give_physical(cu, held);
    case WAY_MODULE: return cu->cuModuleUnload(held->thing);
    case WAY_STACK: return give_stack(cu, held);
    case WAY_CONTEXT: return give_context(cu, held);
    case WAY_MIPMAP: return cu->cuMipmappedArrayDestroy(held->thing);
    default: return cu->cuArrayDestroy(held->thing);
    }
}
