/* windows: submits kernels that spin, as a program that has the GPU in windows does.
 * Usage: windows PTX KERNELS MICROSECONDS [--copy | --poll | --fork | --longer | --pause MICROSECONDS]
 * prints "done KERNELS MILLISECONDS BEGIN", BEGIN in ms of the monotonic clock
 * --copy: a copy that waits after each; --poll: asks after each until it is done, and does not wait; --fork: so does a child;
 * --longer: waits after each, and as many that take 50 us come before; --pause: waits after each, then does nothing for so long */
#include "driver_calls.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_READY = 600 };

typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static double now_millis(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void check(const char *what, int status) {
    if (status == 0)
        return;
    printf("%s %d\n", what, status);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 4)
        return fprintf(stderr, "usage: windows PTX KERNELS MICROSECONDS [--copy | --poll | --fork | --longer | --pause MICROSECONDS]\n"), 2;
    const char *way = argc > 4 ? argv[4] : "";
    int kernels = atoi(argv[2]), copies = strcmp(way, "--copy") == 0, polls = strcmp(way, "--poll") == 0, longer = strcmp(way, "--longer") == 0;
    useconds_t pause = argc > 5 && strcmp(way, "--pause") == 0 ? (useconds_t)atoi(argv[5]) : 0;
    uint64_t nanos = strtoull(argv[3], NULL, 10) * 1000, address;
    uint64_t short_nanos = 50000;
    void *module, *function, *stream, *parameters[] = {&nanos}, *short_parameters[] = {&short_nanos};
    static char text[1 << 16], host[4096];
    FILE *file = fopen(argv[1], "r");
    if (!file || !fread(text, 1, sizeof text - 1, file))
        return fprintf(stderr, "cannot read %s\n", argv[1]), 2;
    driver_load();
    pid_t child = strcmp(way, "--fork") == 0 ? fork() : 0;
    driver_begin(0);
    int (*load)(void **, const void *) = (int (*)(void **, const void *))driver_function("cuModuleLoadData");
    int (*find)(void **, void *, const char *) = (int (*)(void **, void *, const char *))driver_function("cuModuleGetFunction");
    int (*create)(void **, unsigned) = (int (*)(void **, unsigned))driver_function("cuStreamCreate");
    int (*wait)(void *) = (int (*)(void *))driver_function("cuStreamSynchronize");
    int (*query)(void *) = (int (*)(void *))driver_function("cuStreamQuery");
    int (*copy)(void *, uint64_t, size_t) = (int (*)(void *, uint64_t, size_t))driver_function("cuMemcpyDtoH_v2");
    launch_t launch = (launch_t)driver_function("cuLaunchKernel");
    check("load", load(&module, text));
    check("find", find(&function, module, "sluice_spin"));
    check("create", create(&stream, 1));
    check("allocate", cuMemAlloc_v2(&address, sizeof host));
    for (int i = 0; longer && i < kernels; i++) {
        check("launch", launch(function, 1, 1, 1, 1, 1, 1, 0, stream, short_parameters, NULL));
        check("wait", wait(stream));
    }
    double start = now_millis();
    for (int i = 0; i < kernels; i++) {
        check("launch", launch(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
        if (longer || pause)
            check("wait", wait(stream));
        if (pause)
            usleep(pause);
        if (copies)
            check("copy", copy(host, address, sizeof host));
        while (polls && query(stream) == NOT_READY)
            usleep(20);
    }
    check("wait", wait(stream));
    printf("done %d %.1f %.1f\n", kernels, now_millis() - start, start);
    fflush(stdout);
    return child > 0 && waitpid(child, NULL, 0) != child;
}
