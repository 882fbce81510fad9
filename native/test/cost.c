/* cost: what calls cost, one line "<what> <live> <nanoseconds>" each. Usage: cost [calls]
 * Run it with and without Sluice and compare. A launch of no function is refused by the driver; only the way there counts. */
#include "driver_calls.h"

#include <time.h>

#define ROUNDS 9

typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static launch_t launch;
static int (*stream_create)(void **, unsigned);
static int (*allocate_async)(uint64_t *, size_t, void *);
static int (*free_async)(uint64_t, void *);
static int (*graph_launch)(void *, void *);
static void *stream;
static size_t async_bytes;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void allocate_and_free(void) {
    uint64_t one;
    cuMemAlloc_v2(&one, 512);
    cuMemFree_v2(one);
}

static void allocate_and_free_async(void) {
    uint64_t one;
    allocate_async(&one, async_bytes, stream);
    free_async(one, stream);
}

static void launch_graph(void) {
    graph_launch(NULL, stream);
}

static void get_info(void) {
    size_t free_bytes, total_bytes;
    cuMemGetInfo_v2(&free_bytes, &total_bytes);
}

static void launch_nothing(void) {
    launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void measure(const char *what, int live, int calls, void (*call)(void)) {
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < calls; i++)
            call();
        double each = (now() - start) / calls;
        best = each < best ? each : best;
    }
    printf("%s %d %.1f\n", what, live, best);
}

int main(int argc, char **argv) {
    int calls = argc > 1 ? atoi(argv[1]) : 20000, live = 0;
    driver_open();
    launch = (launch_t)driver_function("cuLaunchKernel");
    *(void **)&stream_create = driver_function("cuStreamCreate");
    *(void **)&allocate_async = driver_function("cuMemAllocAsync");
    *(void **)&free_async = driver_function("cuMemFreeAsync");
    *(void **)&graph_launch = driver_function("cuGraphLaunch");
    uint64_t *held = malloc(sizeof *held * 100001);
    cuMemAlloc_v2(&held[100000], 512); /* so that a block is there and only the calls are measured */
    measure("getinfo", live, calls, get_info);
    measure("launch", live, calls, launch_nothing);
    measure("graph-launch", live, calls, launch_graph);
    stream_create(&stream, 1);
    uint64_t kept; /* so that the pool has room */
    for (async_bytes = 1 << 10; async_bytes <= 64 << 20; async_bytes <<= 16) {
        allocate_async(&kept, async_bytes, stream);
        measure("async+free", (int)(async_bytes >> 10), calls, allocate_and_free_async);
    }
    for (int target = 0; target <= 100000; target = target ? target * 10 : 1000) {
        for (; live < target; live++)
            if (cuMemAlloc_v2(&held[live], 512) != 0)
                return puts("refused"), 1;
        measure("alloc+free", live, calls, allocate_and_free);
    }
    return 0;
}
