/* paired: what the library adds to a call, measured within one process: blocks of calls as any program makes them, in turns with
 * blocks of the driver's own function of the same name. Two processes differ by 100 ns for reasons of their own (where their pages
 * and caches lie); two blocks of one process by a few.
 *
 * Usage: paired    Says "hello=PID". For each line "launch|replay|trivial CALLS PAIRS" it answers with one of tab-separated
 * key=value: "without" and "with" hold PAIRS times in nanoseconds per call, separated by commas; place i of both was measured
 * next to each other, more than one of them warm. An "error" says what went wrong. Without the library both are the same function. */
#include "driver_calls.h"
#include "driver/elf.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_PAIRS 10000
#define WARM_UP_NANOS 300e6
#define GRAPH_KERNELS 100

/* How a call is made: by the address that a program is given, or by the driver's own. */
typedef struct {
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    int (*replay)(void *, void *);
    int (*trivial)(int *);
    int (*wait)(void *);
} way_t;

typedef struct {
    const char *name;
    int (*block)(const way_t *, int calls);
} call_t;

static const char PTX[] = ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry sluice_empty()\n{\n    ret;\n}\n";
static void *kernel, *graph, *stream;
static double without[MOST_PAIRS], with[MOST_PAIRS];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int launches(const way_t *way, int calls) {
    int worst = 0;
    for (int i = 0; i < calls; i++)
        worst |= way->launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    return worst;
}

/* A replay takes the GPU longer than the host, so what counts is when the last one is done. */
static int replays(const way_t *way, int calls) {
    int worst = 0;
    for (int i = 0; i < calls; i++)
        worst |= way->replay(graph, stream);
    return worst | way->wait(stream);
}

static int trivials(const way_t *way, int calls) {
    int worst = 0, device;
    for (int i = 0; i < calls; i++)
        worst |= way->trivial(&device);
    return worst;
}

static const call_t CALLS[] = {{"launch", launches}, {"replay", replays}, {"trivial", trivials}};

/* The driver's table of symbols, because the library answers for dlsym. */
static int visit_driver(struct dl_phdr_info *info, size_t size, void *data) {
    way_t *way = data;
    if (!info->dlpi_name || !sl_elf_has_name(info->dlpi_name, "libcuda.so") || size < sizeof *info)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        *(void **)&way->launch = sl_elf_lookup(info->dlpi_addr, dynamic, "cuLaunchKernel");
        *(void **)&way->replay = sl_elf_lookup(info->dlpi_addr, dynamic, "cuGraphLaunch");
        *(void **)&way->trivial = sl_elf_lookup(info->dlpi_addr, dynamic, "cuCtxGetDevice");
        *(void **)&way->wait = sl_elf_lookup(info->dlpi_addr, dynamic, "cuStreamSynchronize");
    }
    return 1;
}

static int make_work(const way_t *given) {
    int (*load)(void **, const void *), (*find)(void **, void *, const char *), (*create)(void **, unsigned);
    int (*begin)(void *, int), (*end)(void *, void **), (*instantiate)(void **, void *, unsigned long long);
    *(void **)&load = driver_function("cuModuleLoadData");
    *(void **)&find = driver_function("cuModuleGetFunction");
    *(void **)&create = driver_function("cuStreamCreate");
    *(void **)&begin = driver_function("cuStreamBeginCapture_v2");
    *(void **)&end = driver_function("cuStreamEndCapture");
    *(void **)&instantiate = driver_function("cuGraphInstantiateWithFlags");
    void *module, *captured;
    int status = load(&module, PTX);
    status = status ? status : find(&kernel, module, "sluice_empty");
    status = status ? status : create(&stream, 1);
    status = status ? status : begin(stream, 2);
    status = status ? status : launches(given, GRAPH_KERNELS);
    status = status ? status : end(stream, &captured);
    return status ? status : instantiate(&graph, captured, 0);
}

/* Nanoseconds per call. The first calls after a wait are slower and those of the other way have filled the caches, so some come
 * before; the GPU is idle when a block begins. */
static double timed(const call_t *call, const way_t *way, const way_t *given, int calls, int *worst) {
    *worst |= call->block(way, calls / 10 + 1);
    double start = now();
    *worst |= call->block(way, calls);
    double nanos = (now() - start) / calls;
    *worst |= given->wait(stream);
    return nanos;
}

static int measure(const call_t *call, const way_t *given, const way_t *own, int calls, int pairs) {
    int worst = 0;
    for (double until = now() + WARM_UP_NANOS; pairs > 1 && now() < until;) {
        timed(call, own, given, calls, &worst);
        timed(call, given, given, calls, &worst);
    }
    for (int i = 0; i < pairs; i++) {
        if (i % 2 == 0)
            without[i] = timed(call, own, given, calls, &worst);
        with[i] = timed(call, given, given, calls, &worst);
        if (i % 2 == 1)
            without[i] = timed(call, own, given, calls, &worst);
    }
    return worst;
}

static void print(const char *key, const double *values, int count) {
    printf("%s=", key);
    for (int i = 0; i < count; i++)
        printf("%s%.2f", i ? "," : "", values[i]);
}

static void answer(const char *line, const way_t *given, const way_t *own) {
    char name[16];
    int calls, pairs;
    const call_t *call = NULL;
    if (sscanf(line, "%15s %d %d", name, &calls, &pairs) == 3)
        for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
            if (strcmp(name, CALLS[i].name) == 0)
                call = &CALLS[i];
    if (!call || calls < 1 || pairs < 1 || pairs > MOST_PAIRS) {
        printf("error=cannot measure %s", line);
        return;
    }
    int worst = measure(call, given, own, calls, pairs);
    if (worst) {
        printf("error=a call failed, status %d\n", worst);
        return;
    }
    print("without", without, pairs);
    print("\twith", with, pairs);
    printf("\n");
}

int main(void) {
    way_t given = {0}, own = {0};
    char line[64];
    printf("hello=%d\n", (int)getpid());
    fflush(stdout);
    driver_open();
    *(void **)&given.launch = driver_function("cuLaunchKernel");
    *(void **)&given.replay = driver_function("cuGraphLaunch");
    *(void **)&given.trivial = driver_function("cuCtxGetDevice");
    *(void **)&given.wait = driver_function("cuStreamSynchronize");
    dl_iterate_phdr(visit_driver, &own);
    int status = make_work(&given);
    if (status || !own.launch || !own.replay || !own.trivial || !own.wait) {
        printf("error=%s, status %d\n", status ? "no work for the GPU" : "the driver's own functions are not found", status);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        answer(line, &given, &own);
        fflush(stdout);
    }
    return 0;
}
