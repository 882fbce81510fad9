/* beside: threads that launch kernels of a known length, each on its own stream. A test reads their times in a trace.
 * Usage: beside PTX THREADS KERNELS NANOS AHEAD  Each thread launches KERNELS kernels and waits for them after each AHEAD. */
#include "driver_calls.h"

#include <pthread.h>

static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*create_stream)(void **, unsigned);
static int (*wait_for)(void *);
static char text[1 << 16];
static void *spin, *context;
static long kernels, ahead;
static uint64_t nanos;

static void check(const char *what, int status) {
    if (status == 0)
        return;
    printf("%s %d\n", what, status);
    exit(1);
}

static void *work(void *unused) {
    void *stream;
    check("current", cuCtxSetCurrent(context));
    check("create", create_stream(&stream, 1));
    for (long i = 1; i <= kernels; i++) {
        check("launch", launch(spin, 4, 2, 1, 32, 1, 1, 0, stream, (void *[]){&nanos}, NULL));
        if (i % ahead == 0 || i == kernels)
            check("wait", wait_for(stream));
    }
    return unused;
}

int main(int argc, char **argv) {
    FILE *file = argc == 6 ? fopen(argv[1], "r") : NULL;
    if (!file || fread(text, 1, sizeof text - 1, file) == 0)
        return 2;
    int count = atoi(argv[2]);
    kernels = atol(argv[3]), nanos = (uint64_t)atoll(argv[4]), ahead = atol(argv[5]);
    driver_open();
    int (*load)(void **, const void *), (*find)(void **, void *, const char *), (*current)(void **);
    *(void **)&launch = driver_function("cuLaunchKernel");
    *(void **)&load = driver_function("cuModuleLoadData");
    *(void **)&find = driver_function("cuModuleGetFunction");
    *(void **)&create_stream = driver_function("cuStreamCreate");
    *(void **)&wait_for = driver_function("cuStreamSynchronize");
    *(void **)&current = driver_function("cuCtxGetCurrent");
    void *module;
    check("current", current(&context));
    check("load", load(&module, text));
    check("find", find(&spin, module, "sluice_spin"));
    pthread_t threads[64];
    for (int i = 0; i < count && i < 64; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
