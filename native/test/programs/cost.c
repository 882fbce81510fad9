/* cost: what calls cost, one line "<what> <live> <nanoseconds>" each, the least of so many rounds. Usage: cost [calls [rounds [what]]]
 * Run it with and without Sluice and compare. On a busy machine take many short rounds. A launch of no function is refused by the
 * driver; only the way there counts. */
#include "driver_calls.h"

#include <string.h>
#include <time.h>

static int calls = 20000, rounds = 9;
static const char *only; /* NULL: everything */

typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static launch_t launch;
static int (*stream_create)(void **, unsigned);
static int (*allocate_async)(uint64_t *, size_t, void *);
static int (*free_async)(uint64_t, void *);
static int (*graph_launch)(void *, void *);
static void *stream, *graph;
static size_t plain_bytes = 512, async_bytes;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void allocate_and_free(void) {
    uint64_t one;
    cuMemAlloc_v2(&one, plain_bytes);
    cuMemFree_v2(one);
}

static void allocate_and_free_async(void) {
    uint64_t one;
    allocate_async(&one, async_bytes, stream);
    free_async(one, stream);
}

static void launch_graph(void) {
    graph_launch(graph, stream);
}

static void get_info(void) {
    size_t free_bytes, total_bytes;
    cuMemGetInfo_v2(&free_bytes, &total_bytes);
}

static void launch_nothing(void) {
    launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void measure(const char *what, int live, void (*call)(void)) {
    double best = 1e18;
    if (only && strcmp(only, what))
        return;
    for (int round = 0; round < rounds; round++) {
        double start = now();
        for (int i = 0; i < calls; i++)
            call();
        double each = (now() - start) / calls;
        best = each < best ? each : best;
    }
    printf("%s %d %.1f\n", what, live, best);
}

/* A graph that takes memory and gives it back; NULL where the driver cannot make it. */
static void *make_graph(void) {
    int (*begin)(void *, int), (*end)(void *, void **), (*make)(void **, void *, unsigned long long);
    *(void **)&begin = driver_function("cuStreamBeginCapture_v2");
    *(void **)&end = driver_function("cuStreamEndCapture");
    *(void **)&make = driver_function("cuGraphInstantiateWithFlags");
    uint64_t one;
    void *source = NULL, *made = NULL;
    if (begin(stream, 2) == 0 && allocate_async(&one, 1 << 20, stream) == 0)
        free_async(one, stream);
    return end(stream, &source) == 0 && make(&made, source, 0) == 0 ? made : NULL;
}

int main(int argc, char **argv) {
    int live = 0;
    calls = argc > 1 ? atoi(argv[1]) : calls;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    only = argc > 3 ? argv[3] : NULL;
    driver_open();
    launch = (launch_t)driver_function("cuLaunchKernel");
    *(void **)&stream_create = driver_function("cuStreamCreate");
    *(void **)&allocate_async = driver_function("cuMemAllocAsync");
    *(void **)&free_async = driver_function("cuMemFreeAsync");
    *(void **)&graph_launch = driver_function("cuGraphLaunch");
    uint64_t *held = malloc(sizeof *held * 100001);
    cuMemAlloc_v2(&held[100000], 512); /* so that a block is there and only the calls are measured */
    measure("getinfo", live, get_info);
    measure("launch", live, launch_nothing);
    measure("graph-launch", live, launch_graph);
    stream_create(&stream, 1);
    uint64_t kept; /* so that the pool has room */
    for (async_bytes = 1 << 10; async_bytes <= 64 << 20; async_bytes <<= 16) {
        allocate_async(&kept, async_bytes, stream);
        measure("async+free", (int)(async_bytes >> 10), allocate_and_free_async);
    }
    for (int target = 0; target <= 100000; target = target ? target * 10 : 1000) {
        for (; live < target; live++)
            if (cuMemAlloc_v2(&held[live], 512) != 0)
                return puts("refused"), 1;
        measure("alloc+free", live, allocate_and_free);
    }
    plain_bytes = 4 << 20;
    measure("large+free", live, allocate_and_free);
    plain_bytes = 2 << 20;
    measure("2m+free", live, allocate_and_free);
    plain_bytes = 64 << 20;
    measure("64m+free", live, allocate_and_free);
    if ((graph = make_graph()))
        measure("graph-memory", live, launch_graph);
    return 0;
}
