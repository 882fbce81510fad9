/* cost: what calls cost, one line "<what> <live> <nanoseconds>" each. Usage: cost [calls]
 * Run it with and without Sluice and compare. */
#include "driver_calls.h"

#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    int calls = argc > 1 ? atoi(argv[1]) : 20000;
    driver_open();
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))
        driver_function("cuLaunchKernel");
    size_t free_bytes, total_bytes;
    uint64_t *held = malloc(sizeof *held * 100000), one;
    int live = 0;
    for (int target = 0; target <= 100000; target = target ? target * 10 : 1000) {
        for (; live < target; live++)
            if (cuMemAlloc_v2(&held[live], 512) != 0)
                return puts("refused"), 1;
        uint64_t keep;
        cuMemAlloc_v2(&keep, 512);
        double best = 1e18;
        for (int round = 0; round < 5; round++) {
            double start = now();
            for (int i = 0; i < calls; i++) {
                cuMemAlloc_v2(&one, 512);
                cuMemFree_v2(one);
            }
            double each = (now() - start) / calls;
            best = each < best ? each : best;
        }
        printf("alloc+free %d %.1f\n", target, best);
        cuMemFree_v2(keep);
    }
    double start = now();
    for (int i = 0; i < calls; i++)
        cuMemGetInfo_v2(&free_bytes, &total_bytes);
    printf("getinfo %d %.1f\n", live, (now() - start) / calls);
    start = now();
    for (int i = 0; i < calls; i++)
        launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    printf("launch-refused %d %.1f\n", live, (now() - start) / calls);
    return 0;
}
