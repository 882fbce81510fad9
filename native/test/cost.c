/* cost: what calls cost, one line "<what> <live> <nanoseconds>" each. Usage: cost [calls]
 * Run it with and without Sluice and compare. A launch of no function is refused by the driver; only the way there counts. */
#include "driver_calls.h"

#include <time.h>

#define ROUNDS 9

typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static launch_t launch;

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
    uint64_t *held = malloc(sizeof *held * 100001);
    cuMemAlloc_v2(&held[100000], 512); /* so that a block is there and only the calls are measured */
    measure("getinfo", live, calls, get_info);
    measure("launch", live, calls, launch_nothing);
    for (int target = 0; target <= 100000; target = target ? target * 10 : 1000) {
        for (; live < target; live++)
            if (cuMemAlloc_v2(&held[live], 512) != 0)
                return puts("refused"), 1;
        measure("alloc+free", live, calls, allocate_and_free);
    }
    return 0;
}
