/* async: takes stream-ordered memory step by step until it is refused, and graph memory, and says what it got. Sizes
 * take k, m and g. Runs the words on its command line one after the other; options count for the words behind them.
 *   --step SIZE       size of one allocation (64m)
 *   --count N         at most so many (1000000)
 *   --device N        CUDA device of context, stream and own pools (0); before the first word
 *   --pool KIND       default, own (made at first use) or none: cuMemAllocAsync without naming a pool (none)
 *   --threads N       so many threads do a "fill" or "churn" at once, each with a stream of its own (1)
 *   --streams N       streams that each thread of a "churn" uses by turns (1)
 *   --every N         a "churn" synchronizes after so many calls (never)
 * Words:
 *   threshold         lets the pool keep all it has
 *   fill              allocates until refused: "got COUNT BYTES STATUS"
 *   free, free-now    frees all with cuMemFreeAsync or cuMemFree: "freed COUNT FAILED"
 *   churn             COUNT random allocations, of up to STEP in whole MiB, and frees in each thread: "churn GRANTED REFUSED HIGH",
 *                     HIGH is the most that the driver ever reserved for the pool; all is freed in the end
 *   sync, trim        "sync STATUS", "trim STATUS"
 *   use               makes the own pool the device's current one; says "use STATUS"
 *   destroy           destroys the own pool: "destroy STATUS"
 *   plain             one cuMemAlloc, kept: "plain STATUS"
 *   info              "free B reserved B used B graph B"
 *   graph             captures COUNT pairs of allocation and free, instantiates, launches twice, waits:
 *                     "graph CAPTURE INSTANTIATE LAUNCH LAUNCH"
 *   graphs            COUNT graphs of STEP, STEP + 1 MiB and so on, each launched and destroyed before the next one: "graphs REFUSED"
 *   graph-trim        destroys the last graph and trims: "graph-trim STATUS"
 *   reset             resets the primary context and makes it anew: "reset STATUS" */
#include "driver_calls.h"

#include <pthread.h>
#include <string.h>

enum { RESERVED = 5, RESERVED_HIGH = 6, USED = 7, PIECES = 64, STREAMS = 16, THRESHOLD = 4, GRAPH_RESERVED = 2, NON_BLOCKING = 1, RELAXED = 2, THREADS = 64 };

typedef struct {
    int type, handle_types, location_type, location_id;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} properties_t;

typedef struct {
    void *stream;
    uint64_t *held;
    long got;
} taker_t;

static int (*cuStreamCreate)(void **, unsigned);
static int (*cuStreamSynchronize)(void *);
static int (*cuMemAllocAsync)(uint64_t *, size_t, void *);
static int (*cuMemAllocFromPoolAsync)(uint64_t *, size_t, void *, void *);
static int (*cuMemFreeAsync)(uint64_t, void *);
static int (*cuDeviceGetDefaultMemPool)(void **, int);
static int (*cuDeviceGetMemPool)(void **, int);
static int (*cuDeviceSetMemPool)(int, void *);
static int (*cuMemPoolCreate)(void **, const properties_t *);
static int (*cuMemPoolDestroy)(void *);
static int (*cuMemPoolTrimTo)(void *, size_t);
static int (*cuMemPoolSetAttribute)(void *, int, void *);
static int (*cuMemPoolGetAttribute)(void *, int, void *);
static int (*cuStreamBeginCapture_v2)(void *, int);
static int (*cuStreamEndCapture)(void *, void **);
static int (*cuGraphInstantiateWithFlags)(void **, void *, unsigned long long);
static int (*cuGraphLaunch)(void *, void *);
static int (*cuGraphExecDestroy)(void *);
static int (*cuGraphDestroy)(void *);
static int (*cuDeviceGraphMemTrim)(int);
static int (*cuDeviceGetGraphMemAttribute)(int, int, void *);

static size_t step = 64u << 20;
static long count = 1000000, threads = 1, streams = 1, every;
static long granted, refused;
static int device;
static const char *pool_kind = "none";
static void *own_pool, *graph, *executable;
static taker_t takers[THREADS];

static void load(void) {
    driver_load();
#define LOAD(name) *(void **)&name = driver_function(#name)
    LOAD(cuStreamCreate), LOAD(cuStreamSynchronize), LOAD(cuMemAllocAsync), LOAD(cuMemAllocFromPoolAsync);
    LOAD(cuMemFreeAsync), LOAD(cuDeviceGetDefaultMemPool), LOAD(cuDeviceGetMemPool), LOAD(cuDeviceSetMemPool);
    LOAD(cuMemPoolCreate), LOAD(cuMemPoolDestroy), LOAD(cuMemPoolTrimTo), LOAD(cuMemPoolSetAttribute);
    LOAD(cuMemPoolGetAttribute), LOAD(cuStreamBeginCapture_v2), LOAD(cuStreamEndCapture);
    LOAD(cuGraphInstantiateWithFlags), LOAD(cuGraphLaunch), LOAD(cuGraphExecDestroy), LOAD(cuGraphDestroy);
    LOAD(cuDeviceGraphMemTrim), LOAD(cuDeviceGetGraphMemAttribute);
    driver_begin(device);
}

static size_t size_of(const char *text) {
    char *unit;
    size_t size = strtoull(text, &unit, 10);
    return size << (*unit == 'k' ? 10 : *unit == 'm' ? 20 : *unit == 'g' ? 30 : 0);
}

static void *pool_now(void) {
    void *pool = own_pool;
    if (strcmp(pool_kind, "default") == 0)
        cuDeviceGetDefaultMemPool(&pool, device);
    else if (strcmp(pool_kind, "none") == 0)
        cuDeviceGetMemPool(&pool, device);
    else if (!own_pool && cuMemPoolCreate(&own_pool, &(properties_t){.type = 1, .location_type = 1, .location_id = device}) == 0)
        pool = own_pool;
    return pool;
}

static void *stream_of(taker_t *taker) {
    if (!taker->stream)
        cuStreamCreate(&taker->stream, NON_BLOCKING);
    return taker->stream;
}

static int allocate(uint64_t *address, void *stream) {
    if (strcmp(pool_kind, "none") == 0)
        return cuMemAllocAsync(address, step, stream);
    return cuMemAllocFromPoolAsync(address, step, pool_now(), stream);
}

static void *fill(void *argument) {
    taker_t *taker = argument;
    int status = 0;
    driver_begin(device);
    void *stream = stream_of(taker);
    long most = taker->got + count;
    taker->held = realloc(taker->held, sizeof *taker->held * (size_t)most);
    long before = taker->got;
    while (taker->got < most && (status = allocate(&taker->held[taker->got], stream)) == 0)
        taker->got++;
    printf("got %ld %zu %d\n", taker->got - before, (size_t)(taker->got - before) * step, status);
    return NULL;
}

static void in_all_threads(void *(*body)(void *)) {
    pthread_t thread[THREADS];
    pool_now();
    for (long i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, body, &takers[i]);
    body(&takers[0]);
    for (long i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static void *churn(void *argument) {
    taker_t *taker = argument;
    unsigned seed = (unsigned)(taker - takers) + 1;
    void *stream[STREAMS] = {0};
    uint64_t held[PIECES] = {0};
    driver_begin(device);
    for (long i = 0; i < streams; i++)
        cuStreamCreate(&stream[i], NON_BLOCKING);
    for (long i = 0; i < count; i++) {
        int piece = rand_r(&seed) % PIECES;
        void *in = stream[rand_r(&seed) % streams];
        if (every && i % every == 0)
            cuStreamSynchronize(in);
        size_t bytes = (1 + (size_t)rand_r(&seed) % (step >> 20)) << 20;
        if (held[piece]) {
            cuMemFreeAsync(held[piece], in);
            held[piece] = 0;
        } else if (cuMemAllocAsync(&held[piece], bytes, in) == 0) {
            __atomic_add_fetch(&granted, 1, __ATOMIC_RELAXED);
        } else {
            held[piece] = 0;
            __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
        }
    }
    for (int piece = 0; piece < PIECES; piece++)
        if (held[piece])
            cuMemFreeAsync(held[piece], stream[0]);
    for (long i = 0; i < streams; i++)
        cuStreamSynchronize(stream[i]);
    return NULL;
}

static void churn_all(void) {
    uint64_t high = 0;
    granted = refused = 0;
    in_all_threads(churn);
    cuMemPoolGetAttribute(pool_now(), RESERVED_HIGH, &high);
    printf("churn %ld %ld %llu\n", granted, refused, (unsigned long long)high);
}

static void free_all(int now) {
    long freed = 0, failed = 0;
    for (taker_t *taker = takers; taker < takers + THREADS; taker++)
        for (; taker->got > 0; taker->got--, freed++) {
            uint64_t address = taker->held[taker->got - 1];
            failed += (now ? cuMemFree_v2(address) : cuMemFreeAsync(address, taker->stream)) != 0;
        }
    printf("freed %ld %ld\n", freed, failed);
}

static int sync_all(void) {
    int status = 0;
    for (taker_t *taker = takers; taker < takers + THREADS; taker++)
        if (taker->stream && status == 0)
            status = cuStreamSynchronize(taker->stream);
    return status;
}

static void say_info(void) {
    size_t free_bytes = 0, total_bytes = 0;
    uint64_t reserved = 0, used = 0, of_graphs = 0;
    cuMemGetInfo_v2(&free_bytes, &total_bytes);
    void *pool = pool_now();
    if (pool)
        cuMemPoolGetAttribute(pool, RESERVED, &reserved), cuMemPoolGetAttribute(pool, USED, &used);
    cuDeviceGetGraphMemAttribute(device, GRAPH_RESERVED, &of_graphs);
    printf("free %zu reserved %llu used %llu graph %llu\n", free_bytes, (unsigned long long)reserved,
           (unsigned long long)used, (unsigned long long)of_graphs);
}

static int capture_pairs(void *stream, long pairs, size_t bytes) {
    int captured = cuStreamBeginCapture_v2(stream, RELAXED);
    for (long i = 0; i < pairs && captured == 0; i++) {
        uint64_t address;
        size_t before = step;
        step = bytes;
        captured = allocate(&address, stream);
        step = before;
        if (captured == 0)
            captured = cuMemFreeAsync(address, stream);
    }
    int ended = cuStreamEndCapture(stream, &graph);
    return captured ? captured : ended;
}

static void run_graph(void) {
    void *stream = stream_of(&takers[0]);
    int instantiated = -1, first = -1, second = -1, captured = capture_pairs(stream, count < 1000 ? count : 1, step);
    if (captured == 0)
        instantiated = cuGraphInstantiateWithFlags(&executable, graph, 0);
    if (instantiated == 0) {
        first = cuGraphLaunch(executable, stream);
        second = cuGraphLaunch(executable, stream);
        cuStreamSynchronize(stream);
    }
    printf("graph %d %d %d %d\n", captured, instantiated, first, second);
}

static void run_graphs(void) {
    void *stream = stream_of(&takers[0]);
    long failed = 0;
    for (long i = 0; i < count; i++) {
        if (capture_pairs(stream, 1, step + ((size_t)i << 20)) || cuGraphInstantiateWithFlags(&executable, graph, 0))
            break;
        failed += cuGraphLaunch(executable, stream) != 0;
        cuGraphExecDestroy(executable);
        cuGraphDestroy(graph);
        cuStreamSynchronize(stream);
    }
    executable = graph = NULL;
    printf("graphs %ld\n", failed);
}

static void trim_graph(void) {
    if (executable)
        cuGraphExecDestroy(executable);
    if (graph)
        cuGraphDestroy(graph);
    executable = graph = NULL;
    printf("graph-trim %d\n", cuDeviceGraphMemTrim(device));
}

static void reset(void) {
    printf("reset %d\n", cuDevicePrimaryCtxReset_v2(device));
    memset(takers, 0, sizeof takers);
    own_pool = graph = executable = NULL;
    driver_begin(device);
}

static int run(const char *word) {
    uint64_t all = UINT64_MAX, address;
    if (strcmp(word, "threshold") == 0)
        printf("threshold %d\n", cuMemPoolSetAttribute(pool_now(), THRESHOLD, &all));
    else if (strcmp(word, "fill") == 0)
        in_all_threads(fill);
    else if (strcmp(word, "churn") == 0)
        churn_all();
    else if (strcmp(word, "free") == 0)
        free_all(0);
    else if (strcmp(word, "free-now") == 0)
        free_all(1);
    else if (strcmp(word, "sync") == 0)
        printf("sync %d\n", sync_all());
    else if (strcmp(word, "trim") == 0)
        printf("trim %d\n", cuMemPoolTrimTo(pool_now(), 0));
    else if (strcmp(word, "use") == 0)
        printf("use %d\n", cuDeviceSetMemPool(device, pool_now()));
    else if (strcmp(word, "destroy") == 0)
        printf("destroy %d\n", cuMemPoolDestroy(own_pool)), own_pool = NULL;
    else if (strcmp(word, "plain") == 0)
        printf("plain %d\n", cuMemAlloc_v2(&address, step));
    else if (strcmp(word, "info") == 0)
        say_info();
    else if (strcmp(word, "graph") == 0)
        run_graph();
    else if (strcmp(word, "graphs") == 0)
        run_graphs();
    else if (strcmp(word, "graph-trim") == 0)
        trim_graph();
    else if (strcmp(word, "reset") == 0)
        reset();
    else
        return fprintf(stderr, "async: unknown word %s\n", word), 2;
    return 0;
}

static int set(const char *option, const char *value) {
    if (strcmp(option, "--step") == 0)
        step = size_of(value);
    else if (strcmp(option, "--count") == 0)
        count = atol(value);
    else if (strcmp(option, "--device") == 0)
        device = (int)atol(value);
    else if (strcmp(option, "--pool") == 0)
        pool_kind = value;
    else if (strcmp(option, "--streams") == 0)
        streams = atol(value) > STREAMS ? STREAMS : atol(value);
    else if (strcmp(option, "--every") == 0)
        every = atol(value);
    else if (strcmp(option, "--threads") == 0)
        threads = atol(value) > THREADS ? THREADS : atol(value);
    else
        return fprintf(stderr, "async: unknown option %s\n", option), 2;
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0, loaded = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc && !failed; i++) {
        if (strncmp(argv[i], "--", 2) == 0 && i + 1 < argc) {
            failed = set(argv[i], argv[i + 1]);
            i++;
            continue;
        }
        if (!loaded++)
            load();
        failed = run(argv[i]);
    }
    return failed;
}
