/* traced: makes a known number of calls, so that a test can count them in a trace.
 * Usage: traced PTX THREADS CALLS KERNELS PER_MILLI  Each thread makes CALLS quick calls, at most PER_MILLI in a millisecond, and
 * launches KERNELS kernels in between; without any it puts nothing on the GPU. It prints "ready", waits for a line, works, and
 * prints "took MILLIS". */
#include "driver_calls.h"

#include <pthread.h>
#include <time.h>

#define KERNEL_NANOS 20000u
#define BLOCK_BYTES (2u << 20)

static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*load)(void **, const void *);
static int (*find)(void **, void *, const char *);
static int (*create_stream)(void **, unsigned);
static int (*wait_for)(void *);
static int (*copy)(uint64_t, const void *, size_t);
static int (*current)(void **);
static char text[1 << 16];
static void *spin, *context;
static long calls, kernels, per_milli;

static void check(const char *what, int status) {
    if (status == 0)
        return;
    printf("%s %d\n", what, status);
    exit(1);
}

static double now_millis(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double pause_until(double millis) {
    while (now_millis() < millis)
        nanosleep(&(struct timespec){0, 200000}, NULL);
    return now_millis();
}

static void *work(void *unused) {
    void *stream = NULL, *found;
    uint64_t nanos = KERNEL_NANOS, block = 0;
    long launched = 0;
    check("current", cuCtxSetCurrent(context));
    if (kernels) {
        check("create", create_stream(&stream, 1));
        check("allocate", cuMemAlloc_v2(&block, BLOCK_BYTES));
        check("copy", copy(block, text, sizeof text));
    }
    double last = now_millis();
    for (long i = 0; i < calls; i++) {
        current(&found);
        for (; launched < kernels && launched * calls <= i * kernels; launched++)
            check("launch", launch(spin, 4, 2, 1, 32, 1, 1, 0, stream, (void *[]){&nanos}, NULL));
        if (i % 1000 == 0)
            last = pause_until(last + 1000.0 / (double)per_milli);
    }
    if (kernels) {
        check("wait", wait_for(stream));
        check("free", cuMemFree_v2(block));
    }
    return unused;
}

int main(int argc, char **argv) {
    FILE *file = argc == 6 ? fopen(argv[1], "r") : NULL;
    if (!file || fread(text, 1, sizeof text - 1, file) == 0)
        return 2;
    int count = atoi(argv[2]);
    calls = atol(argv[3]), kernels = atol(argv[4]), per_milli = atol(argv[5]);
    driver_open();
    *(void **)&launch = driver_function("cuLaunchKernel");
    *(void **)&load = driver_function("cuModuleLoadData");
    *(void **)&find = driver_function("cuModuleGetFunction");
    *(void **)&create_stream = driver_function("cuStreamCreate");
    *(void **)&wait_for = driver_function("cuStreamSynchronize");
    *(void **)&copy = driver_function("cuMemcpyHtoD_v2");
    *(void **)&current = driver_function("cuCtxGetCurrent");
    void *module;
    check("current", current(&context));
    check("load", load(&module, text));
    check("find", find(&spin, module, "sluice_spin"));
    puts("ready");
    fflush(stdout);
    getchar();
    current(&context); /* notices that a trace has begun: all that the threads do is in it */
    double start = now_millis();
    pthread_t threads[64];
    for (int i = 0; i < count && i < 64; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
    printf("took %.0f\n", now_millis() - start);
    return 0;
}
