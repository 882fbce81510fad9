/* storm_ways: every way to take device memory, and to give it back; those with a thing of their own are in storm_things.c. A request is complete in itself, so the judge can make it
 * again, through Sluice or past it. */
#define _GNU_SOURCE
#include "storm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


enum { NON_BLOCKING = 1, THRESHOLD = 4, ATTACH_GLOBAL = 1 };

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
CUfunction ways_spin[GPUS_MOST];

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
    X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel) X(cuStreamQuery) X(cuStreamQuery_ptsz)

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
        all = given.cuModuleLoadData(&modules[gpu], KERNELS) == 0 && given.cuModuleGetFunction(&ways_spin[gpu], modules[gpu], "sluice_spin") == 0;
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

/* No thread may wait for a whole context while another captures. */
static pthread_mutex_t capturing = PTHREAD_MUTEX_INITIALIZER;

void ways_begin_capture(void) {
    pthread_mutex_lock(&capturing);
}

void ways_end_capture(void) {
    pthread_mutex_unlock(&capturing);
}

static CUresult synchronize(const sl_real_t *cu) {
    pthread_mutex_lock(&capturing);
    CUresult status = cu->cuCtxSynchronize();
    pthread_mutex_unlock(&capturing);
    return status;
}

static CUresult take_pitch(const sl_real_t *cu, const request_t *request, held_t *held) {
    size_t width = 1 + request->choice % 8000, pitch, height = request->bytes / ((width + 511) / 512 * 512);
    return cu->cuMemAllocPitch_v2(&held->address, &pitch, width, height ? height : 1, 4u << request->choice % 3);
}

/* Touched at once, a byte in each block, because the driver takes it only then. */
static CUresult take_managed(const sl_real_t *cu, const request_t *request, held_t *held) {
    TRY(cu->cuMemAllocManaged(&held->address, request->bytes, ATTACH_GLOBAL));
    TRY(cu->cuMemsetD2D8_v2(held->address, BLOCK, 1, 1, (request->bytes + BLOCK - 1) / BLOCK));
    return synchronize(cu);
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
        TRY(synchronize(cu));
        return cu->cuMemFreeAsync(held->address, other);
    default:
        return is_per_thread(request) ? cu->cuMemFreeAsync_ptsz(held->address, NULL) : cu->cuMemFreeAsync(held->address, stream);
    }
}

static CUresult launch(const sl_real_t *cu, const worker_t *worker, const request_t *request) {
    uint64_t nanos = request->choice >> 16 & 0x3ffff;
    void *values[] = {&nanos};
    CUstream stream = stream_of(worker, request);
    TRY(cu->cuLaunchKernel(ways_spin[request->gpu], 1, 1, 1, 1, 1, 1, 0, stream, values, NULL));
    return request->choice % 4 ? 0 : cu->cuStreamSynchronize(stream);
}

CUresult ways_take(const sl_real_t *cu, worker_t *worker, const request_t *request, held_t *held) {
    memset(held, 0, sizeof *held);
    held->request = *request;
    cu->cuCtxSetCurrent(contexts[request->gpu]);
    CUresult status;
    switch (request->way) {
    case WAY_PLAIN: return cu->cuMemAlloc_v2(&held->address, request->bytes);
    case WAY_PITCH: return take_pitch(cu, request, held);
    case WAY_ASYNC: case WAY_POOL: return take_async(cu, worker, request, held);
    case WAY_LAUNCH: return launch(cu, worker, request);
    case WAY_MANAGED:
        status = take_managed(cu, request, held);
        if (status && held->address)
            cu->cuMemFree_v2(held->address);
        return status;
    default: return things_take(cu, worker, request, held);
    }
}

CUresult ways_give(const sl_real_t *cu, worker_t *worker, held_t *held) {
    cu->cuCtxSetCurrent(contexts[held->request.gpu]);
    switch (held->request.way) {
    case WAY_PLAIN:
        /* The driver keeps it until the next wait. Beside managed memory the ledger cannot tell when it is gone. */
        return held->request.choice % 8 == 1 && !(options.ways >> WAY_MANAGED & 1)
                   ? cu->cuMemFreeAsync(held->address, worker->streams[held->request.gpu][0])
                   : cu->cuMemFree_v2(held->address);
    case WAY_PITCH: case WAY_MANAGED: return cu->cuMemFree_v2(held->address);
    case WAY_ASYNC: case WAY_POOL: return give_async(cu, worker, held);
    case WAY_LAUNCH: return 0;
    default: return things_give(cu, held);
    }
}

/* Sizes that no GPU has; whatever is granted is an error. */
CUresult ways_absurd(worker_t *worker, uint64_t choice) {
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 511, UINT64_MAX - BLOCK, UINT64_MAX - BLOCK + 1, 1ull << 63,
                                     (1ull << 63) - 1, (1ull << 63) + 1, 1ull << 62, (1ull << 56) + 1, 1ull << 48};
    uint64_t below_zero = 0 - (choice >> 16) % options.base; /* added to what is used, it wraps */
    uint64_t bytes = choice >> 60 & 1 ? below_zero : sizes[(choice >> 8) % 11], whole = bytes / BLOCK * BLOCK;
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
    default:
        return worker->pools[gpu][0] ? given.cuMemAllocFromPoolAsync(&address, bytes, worker->pools[gpu][0], worker->streams[gpu][0])
                                     : given.cuMemAlloc_v2(&address, bytes);
    }
}

/* Asked past Sluice, so that the library does not learn from it. */
bool ways_are_idle(const worker_t *worker) {
    bool idle = true;
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        direct.cuCtxSetCurrent(contexts[gpu]);
        idle = direct.cuStreamQuery(NULL) == 0 && direct.cuStreamQuery_ptsz(NULL) == 0 && idle;
        for (int i = 0; i < options.streams; i++)
            idle = direct.cuStreamQuery(worker->streams[gpu][i]) == 0 && idle;
    }
    return idle;
}

CUresult ways_settle(const sl_real_t *cu, worker_t *workers, int count, bool wait) {
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        CUmemoryPool usual;
        cu->cuCtxSetCurrent(contexts[gpu]);
        if (wait)
            TRY(synchronize(cu));
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
