/* events: makes many CUDA calls: an empty kernel and two queries, again and again.
 * usage: events CALLS SECONDS   stops at whichever comes first; prints how many were made in which time */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *library;
#define CALL(name, types, ...) ((int (*) types)dlsym(library, name))(__VA_ARGS__)
static const char *kernel = ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }\n";

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return fprintf(stderr, "usage: events CALLS SECONDS\n"), 2;
    long most = atol(argv[1]), made = 0;
    void *context, *module, *function, *stream;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    int status = CALL("cuInit", (unsigned), 0);
    status |= CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, 0);
    status |= CALL("cuCtxSetCurrent", (void *), context);
    status |= CALL("cuModuleLoadData", (void **, const void *), &module, kernel);
    status |= CALL("cuModuleGetFunction", (void **, void *, const char *), &function, module, "nothing");
    status |= CALL("cuStreamCreate", (void **, unsigned), &stream, 1);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))dlsym(library, "cuLaunchKernel");
    int (*query)(void *) = (int (*)(void *))dlsym(library, "cuStreamQuery");
    if (status)
        return fprintf(stderr, "events: CUDA says %d\n", status), 1;
    struct timespec pause = {3, 0};
    nanosleep(&pause, NULL); /* so that a recorder can begin */
    double began = seconds(), end = began + atof(argv[2]);
    for (; made < most && (made % 3000 || seconds() < end) && !status; made += 3) {
        status = launch(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
        query(stream);
        query(stream);
    }
    CALL("cuStreamSynchronize", (void *), stream);
    printf("%ld calls in %.2f s, status %d\n", made, seconds() - began, status);
    return status != 0;
}
