/* hog: takes memory step by step until it is refused, and says what it got. Sizes take k, m and g.
 *   --step SIZE      size of one allocation (64m)
 *   --count N        at most so many (1000000)
 *   --kind KIND      plain, managed or pitch
 *   --device N       CUDA device (0)
 *   --context own    a context of its own instead of the primary one
 *   --hold MILLIS    keeps the memory so long before it goes on
 *   --end HOW        keep (default), free, reset, destroy: how the memory is given up at the end
 *   --children N     so many processes do this at once; the parent only waits
 *   --threads N      so many threads do this at once
 *   --fork           when it holds its memory, a child tries to allocate
 *   --exec N         when it holds its memory, becomes itself anew, N times
 * Lines: "total B free B", "got COUNT BYTES STATUS", "after free B"; a child's begin with "child I ". */
#include "driver_calls.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t step = 64u << 20;
static long count = 1000000, children, threads = 1, execs, hold_millis, device;
static const char *kind = "plain", *end = "keep", *context_kind = "primary";
static int forks;
static char who[32];
static void *context;

static size_t size_of(const char *text) {
    char *unit;
    size_t size = strtoull(text, &unit, 10);
    return size << (*unit == 'k' ? 10 : *unit == 'm' ? 20 : *unit == 'g' ? 30 : 0);
}

static int allocate(uint64_t *address) {
    size_t pitch;
    if (strcmp(kind, "managed") == 0)
        return cuMemAllocManaged(address, step, 1);
    if (strcmp(kind, "pitch") == 0)
        return cuMemAllocPitch_v2(address, &pitch, 100, step / 512, 4);
    return cuMemAlloc_v2(address, step);
}

static void say_info(const char *label) {
    size_t free_bytes = 0, total_bytes = 0;
    int status = cuMemGetInfo_v2(&free_bytes, &total_bytes);
    if (status != 0)
        printf("%sgetinfo %d\n", who, status);
    else if (*label)
        printf("%s%s free %zu\n", who, label, free_bytes);
    else
        printf("%stotal %zu free %zu\n", who, total_bytes, free_bytes);
}

static void begin(void) {
    driver_load();
    if (strcmp(context_kind, "own") == 0) {
        int status = cuInit(0);
        if (status == 0)
            status = cuCtxCreate_v2(&context, 0, (int)device);
        if (status != 0) {
            printf("%sinit %d\n", who, status);
            exit(4);
        }
    } else {
        driver_begin((int)device);
    }
}

static void give_up(const uint64_t *held, long got) {
    if (strcmp(end, "free") == 0)
        for (long i = 0; i < got; i++)
            if (cuMemFree_v2(held[i]) != 0)
                printf("%scuMemFree_v2 failed\n", who);
    if (strcmp(end, "reset") == 0) {
        printf("%sreset %d\n", who, cuDevicePrimaryCtxReset_v2((int)device));
        driver_begin((int)device);
    }
    if (strcmp(end, "destroy") == 0) {
        printf("%sdestroy %d\n", who, cuCtxDestroy_v2(context));
        cuCtxCreate_v2(&context, 0, (int)device);
    }
}

static void *take(void *unused) {
    (void)unused;
    uint64_t *held = malloc(sizeof *held * (size_t)count);
    long got = 0;
    int status = 0;
    if (context)
        cuCtxSetCurrent(context);
    else
        driver_begin((int)device);
    while (got < count && (status = allocate(&held[got])) == 0)
        got++;
    printf("%sgot %ld %zu %d\n", who, got, (size_t)got * step, status);
    if (forks && fork() == 0) {
        uint64_t address;
        printf("%sfork %d\n", who, allocate(&address));
        exit(0);
    }
    if (forks)
        wait(NULL);
    usleep((useconds_t)hold_millis * 1000);
    if (strcmp(end, "keep") != 0) {
        give_up(held, got);
        say_info("after");
    }
    free(held);
    return NULL;
}

static void run(void) {
    pthread_t thread[64];
    begin();
    say_info("");
    for (long i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, take, NULL);
    take(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static int run_children(void) {
    int failed = 0, status;
    for (long i = 0; i < children; i++)
        if (fork() == 0) {
            snprintf(who, sizeof who, "child %ld ", i);
            run();
            exit(0);
        }
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(option, "--fork") == 0) {
            forks = 1;
            continue;
        }
        i++;
        if (strcmp(option, "--step") == 0)
            step = size_of(value);
        else if (strcmp(option, "--count") == 0)
            count = atol(value);
        else if (strcmp(option, "--kind") == 0)
            kind = value;
        else if (strcmp(option, "--device") == 0)
            device = atol(value);
        else if (strcmp(option, "--context") == 0)
            context_kind = value;
        else if (strcmp(option, "--hold") == 0)
            hold_millis = atol(value);
        else if (strcmp(option, "--end") == 0)
            end = value;
        else if (strcmp(option, "--children") == 0)
            children = atol(value);
        else if (strcmp(option, "--threads") == 0)
            threads = atol(value) > 64 ? 64 : atol(value);
        else if (strcmp(option, "--exec") == 0)
            snprintf((char *)value, strlen(value) + 1, "%ld", (execs = atol(value)) - 1);
        else
            return fprintf(stderr, "hog: unknown option %s\n", option), 2;
    }
    if (children)
        return run_children();
    run();
    if (execs > 0)
        execv("/proc/self/exe", argv);
    return 0;
}
