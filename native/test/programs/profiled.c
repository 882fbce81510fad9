/* profiled: makes a known number of calls, so that a test can count them.
 * Usage: profiled PTX ROUNDS [OPTION...]   ROUNDS 0: until standard input ends
 *   --bytes N      of an allocation and each copy (1048576)
 *   --pause MICROS after each round
 *   --processes N  so many processes do this at once; the parent only waits
 *   --hold MILLIS  waits so long with its memory before the last round ends
 *   --limit N      no file may be larger, from the first round on
 *   --end HOW      exit (default), or kill: by SIGKILL after the last round
 * A round: an allocation; a copy to the GPU, one from it, one on it and one by addresses alone, then the same four
 * asynchronous; two launches; a free. Prints "pid N" and, at the end, "rounds N" and "threads N". */
#include "driver_calls.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*to_gpu)(uint64_t, const void *, size_t);
static int (*from_gpu)(void *, uint64_t, size_t);
static int (*on_gpu)(uint64_t, uint64_t, size_t);
static int (*anywhere)(uint64_t, uint64_t, size_t);
static int (*to_gpu_async)(uint64_t, const void *, size_t, void *);
static int (*from_gpu_async)(void *, uint64_t, size_t, void *);
static int (*on_gpu_async)(uint64_t, uint64_t, size_t, void *);
static int (*anywhere_async)(uint64_t, uint64_t, size_t, void *);
static int (*load)(void **, const void *);
static int (*find)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*synchronize)(void);
static char text[1 << 16];
static long rounds, processes, pause_micros, hold_millis, limit_bytes;
static size_t bytes = 1 << 20;
static const char *end = "exit";

static void check(const char *what, int status) {
    if (status == 0)
        return;
    printf("%s %d\n", what, status);
    exit(1);
}

static void find_calls(void) {
    *(void **)&to_gpu = driver_function("cuMemcpyHtoD_v2");
    *(void **)&from_gpu = driver_function("cuMemcpyDtoH_v2");
    *(void **)&on_gpu = driver_function("cuMemcpyDtoD_v2");
    *(void **)&anywhere = driver_function("cuMemcpy");
    *(void **)&to_gpu_async = driver_function("cuMemcpyHtoDAsync_v2");
    *(void **)&from_gpu_async = driver_function("cuMemcpyDtoHAsync_v2");
    *(void **)&on_gpu_async = driver_function("cuMemcpyDtoDAsync_v2");
    *(void **)&anywhere_async = driver_function("cuMemcpyAsync");
    *(void **)&load = driver_function("cuModuleLoadData");
    *(void **)&find = driver_function("cuModuleGetFunction");
    *(void **)&launch = driver_function("cuLaunchKernel");
    *(void **)&synchronize = driver_function("cuCtxSynchronize");
}

static void go_round(void *host, void *function, int is_last) {
    uint64_t address, nanos = 1000;
    size_t half = bytes / 2;
    check("alloc", cuMemAlloc_v2(&address, bytes));
    check("to", to_gpu(address, host, bytes));
    check("from", from_gpu(host, address, bytes));
    check("on", on_gpu(address, address + half, half));
    check("anywhere", anywhere(address, address + half, half));
    check("to async", to_gpu_async(address, host, bytes, NULL));
    check("from async", from_gpu_async(host, address, bytes, NULL));
    check("on async", on_gpu_async(address, address + half, half, NULL));
    check("anywhere async", anywhere_async(address, address + half, half, NULL));
    for (int i = 0; i < 2; i++)
        check("launch", launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL));
    check("synchronize", synchronize());
    if (is_last && hold_millis) {
        usleep((useconds_t)hold_millis * 1000);
        check("synchronize", synchronize());
    }
    check("free", cuMemFree_v2(address));
}

static int is_told_to_end(void) {
    return rounds == 0 && poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 0) != 0;
}

static int threads(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

static void run(void) {
    void *module, *function, *host = malloc(bytes);
    driver_open();
    find_calls();
    printf("pid %d\n", (int)getpid());
    memset(host, 1, bytes);
    check("load", load(&module, text));
    check("find", find(&function, module, "sluice_spin"));
    struct rlimit files = {(rlim_t)limit_bytes, (rlim_t)limit_bytes};
    if (limit_bytes)
        check("limit", setrlimit(RLIMIT_FSIZE, &files));
    long done = 0;
    while (rounds ? done < rounds : !is_told_to_end()) {
        go_round(host, function, ++done == rounds);
        usleep((useconds_t)pause_micros);
    }
    printf("rounds %ld\n", done);
    printf("threads %d\n", threads());
    if (strcmp(end, "kill") == 0)
        kill(getpid(), SIGKILL);
}

static int run_processes(void) {
    int failed = 0, status;
    for (long i = 0; i < processes; i++)
        if (fork() == 0) {
            run();
            exit(0);
        }
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}

int main(int argc, char **argv) {
    FILE *file = argc > 2 ? fopen(argv[1], "r") : NULL;
    if (!file || !fread(text, 1, sizeof text - 1, file))
        return fprintf(stderr, "usage: profiled PTX ROUNDS [OPTION...]\n"), 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    rounds = atol(argv[2]);
    for (int i = 3; i + 1 < argc; i += 2) {
        const char *option = argv[i], *value = argv[i + 1];
        if (strcmp(option, "--bytes") == 0)
            bytes = strtoull(value, NULL, 10);
        else if (strcmp(option, "--pause") == 0)
            pause_micros = atol(value);
        else if (strcmp(option, "--processes") == 0)
            processes = atol(value);
        else if (strcmp(option, "--hold") == 0)
            hold_millis = atol(value);
        else if (strcmp(option, "--limit") == 0)
            limit_bytes = atol(value);
        else if (strcmp(option, "--end") == 0)
            end = value;
        else
            return fprintf(stderr, "profiled: unknown option %s\n", option), 2;
    }
    if (processes)
        return run_processes();
    run();
    return 0;
}
