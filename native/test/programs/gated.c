/* gated: puts work on the GPU in one of the ways that are hard for a gate.
 * Usage: gated PTX WAY  prints "gpu MILLIS" for the work it submitted, "took MILLIS", and what else a way has to tell. */
#include "driver_calls.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KERNELS 120
#define LONG_NANOS 1000000u
#define SHORT_NANOS 50000u

typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*cooperative_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);

static launch_t launch, launch_per_thread;
static cooperative_t launch_cooperative;
static int (*load)(void **, const void *);
static int (*find)(void **, void *, const char *);
static int (*create_stream)(void **, unsigned);
static int (*destroy_stream)(void *);
static int (*wait_for)(void *);
static int (*wait_for_own)(void *);
static int (*wait_for_all)(void);
static int (*begin_capture)(void *, int);
static int (*end_capture)(void *, void **);
static int (*nodes_of)(void *, void **, size_t *);
static int (*instantiate)(void **, void *, unsigned long long);
static int (*launch_graph)(void *, void *);
static char text[1 << 16];
static void *spin, *context;
static volatile int stop;

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

static void find_calls(void) {
    launch = (launch_t)driver_function("cuLaunchKernel");
    launch_per_thread = (launch_t)driver_function("cuLaunchKernel_ptsz");
    launch_cooperative = (cooperative_t)driver_function("cuLaunchCooperativeKernel");
    *(void **)&load = driver_function("cuModuleLoadData");
    *(void **)&find = driver_function("cuModuleGetFunction");
    *(void **)&create_stream = driver_function("cuStreamCreate");
    *(void **)&destroy_stream = driver_function("cuStreamDestroy_v2");
    *(void **)&wait_for = driver_function("cuStreamSynchronize");
    *(void **)&wait_for_own = driver_function("cuStreamSynchronize_ptsz");
    *(void **)&wait_for_all = driver_function("cuCtxSynchronize");
    *(void **)&begin_capture = driver_function("cuStreamBeginCapture_v2");
    *(void **)&end_capture = driver_function("cuStreamEndCapture");
    *(void **)&nodes_of = driver_function("cuGraphGetNodes");
    *(void **)&instantiate = driver_function("cuGraphInstantiateWithFlags");
    *(void **)&launch_graph = driver_function("cuGraphLaunch");
}

static void *spin_here(void) {
    void *module, *function;
    check("load", load(&module, text));
    check("find", find(&function, module, "sluice_spin"));
    return function;
}

static void *stream_here(void) {
    void *stream;
    check("create", create_stream(&stream, 1));
    return stream;
}

static void run(launch_t call, void *function, uint64_t nanos, void *stream) {
    check("launch", call(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&nanos}, NULL));
}

static double plainly(void) {
    void *stream = stream_here();
    for (int i = 0; i < KERNELS; i++)
        run(launch, spin, LONG_NANOS, stream);
    return KERNELS;
}

static double cooperatively(void) {
    uint64_t nanos = LONG_NANOS;
    void *stream = stream_here();
    for (int i = 0; i < KERNELS; i++)
        check("launch", launch_cooperative(spin, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&nanos}));
    return KERNELS;
}

static void run_threads(int count, void *(*body)(void *)) {
    pthread_t threads[4];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, body, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void *on_own_stream(void *unused) {
    check("current", cuCtxSetCurrent(context));
    for (int i = 0; i < KERNELS / 2; i++)
        run(launch_per_thread, spin, LONG_NANOS, NULL);
    check("wait", wait_for_own(NULL));
    return unused;
}

static double in_threads(void) {
    run_threads(2, on_own_stream);
    return KERNELS;
}

static void *wait_on_own_stream(void *unused) {
    check("current", cuCtxSetCurrent(context));
    for (int i = 0; i < KERNELS * 5; i++) {
        run(launch_per_thread, spin, SHORT_NANOS, NULL);
        check("wait", wait_for_own(NULL));
    }
    return unused;
}

static double in_threads_that_wait(void) {
    run_threads(4, wait_on_own_stream);
    return KERNELS * 4 * 5.0 * SHORT_NANOS / 1e6;
}

static void *for_a_moment(void *stream) {
    check("current", cuCtxSetCurrent(context));
    for (int i = 0; i < 5; i++)
        run(launch, spin, SHORT_NANOS, stream);
    return NULL;
}

/* Each ends with credit that it has taken and not used. */
static double in_threads_that_end(void) {
    void *stream = stream_here();
    for (int i = 0; i < KERNELS * 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, for_a_moment, stream);
        pthread_join(thread, NULL);
    }
    return KERNELS * 4 * 5.0 * SHORT_NANOS / 1e6;
}

static double in_two_contexts(void) {
    void *contexts[2] = {context, NULL}, *functions[2] = {spin, NULL};
    check("second context", cuCtxCreate_v2(&contexts[1], 0, 0));
    functions[1] = spin_here();
    for (int i = 0; i < KERNELS; i++) {
        int one = i / 5 % 2;
        check("current", cuCtxSetCurrent(contexts[one]));
        run(launch, functions[one], LONG_NANOS, NULL);
    }
    for (int i = 0; i < 2; i++)
        check("wait", cuCtxSetCurrent(contexts[i]) || wait_for_all());
    return KERNELS;
}

/* Each ends with a batch that is not closed. */
static double in_contexts_that_end(void) {
    for (int i = 0; i < KERNELS / 4; i++) {
        void *one;
        check("context", cuCtxCreate_v2(&one, 0, 0));
        void *function = spin_here();
        for (int k = 0; k < 40; k++)
            run(launch, function, 2 * SHORT_NANOS, NULL);
        check("destroy", cuCtxDestroy_v2(one));
    }
    check("current", cuCtxSetCurrent(context));
    return KERNELS / 4 * 40 * 2.0 * SHORT_NANOS / 1e6;
}

static double on_streams_that_end(void) {
    for (int i = 0; i < KERNELS * 20; i++) {
        void *stream = stream_here();
        run(launch, spin, SHORT_NANOS, stream);
        check("destroy", destroy_stream(stream));
    }
    return KERNELS * 20.0 * SHORT_NANOS / 1e6;
}

static double as_graph(void) {
    void *stream = stream_here(), *graph, *executable;
    check("begin", begin_capture(stream, 0));
    for (int i = 0; i < 20; i++)
        run(launch, spin, SHORT_NANOS, stream);
    check("end", end_capture(stream, &graph));
    check("instantiate", instantiate(&executable, graph, 0));
    for (int i = 0; i < KERNELS; i++)
        check("launch", launch_graph(executable, stream));
    return KERNELS * 20.0 * SHORT_NANOS / 1e6;
}

static void *keep_busy(void *kernels) {
    check("current", cuCtxSetCurrent(context));
    void *stream = stream_here();
    for (*(int *)kernels = 0; !stop; ++*(int *)kernels)
        run(launch, spin, LONG_NANOS / 2, stream);
    check("wait", wait_for(stream));
    return NULL;
}

/* Captures in each mode while another thread is at the gate. Tells how many nodes the graphs have. */
static double beside_captures(void) {
    enum { NODES = 200, MODES = 3 };
    int kernels;
    pthread_t busy;
    void *stream = stream_here();
    pthread_create(&busy, NULL, keep_busy, &kernels);
    for (int mode = 0; mode < MODES; mode++) {
        void *graph = NULL;
        size_t count = 0;
        check("begin", begin_capture(stream, mode));
        for (int i = 0; i < NODES; i++) {
            run(launch, spin, SHORT_NANOS, stream);
            usleep(500);
        }
        int status = end_capture(stream, &graph);
        if (status == 0)
            check("nodes", nodes_of(graph, NULL, &count));
        printf("mode %d: status %d, %zu of %d nodes\n", mode, status, count, NODES);
    }
    stop = 1;
    pthread_join(busy, NULL);
    return kernels / 2.0;
}

/* Processes are forked while another thread is at the gate. None of them can use CUDA, and none may hang when it tries. */
static double beside_forks(void) {
    enum { CHILDREN = 30 };
    int kernels, good = 0;
    pthread_t busy;
    pthread_create(&busy, NULL, keep_busy, &kernels);
    for (int i = 0; i < CHILDREN; i++) {
        usleep(15000);
        pid_t child = fork();
        if (child == 0) {
            uint64_t nanos = LONG_NANOS;
            alarm(10);
            _exit(launch(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL) == 3 ? 0 : 1);
        }
        int status = 1;
        waitpid(child, &status, 0);
        good += status == 0;
    }
    stop = 1;
    pthread_join(busy, NULL);
    printf("children %d of %d\n", good, CHILDREN);
    return kernels / 2.0;
}

static void *on_gpu(void *number) {
    int device = *(int *)number, kernels = 0;
    driver_begin(device);
    void *function = spin_here(), *stream = stream_here();
    double end = now_millis() + 1500;
    for (; now_millis() < end; kernels++) {
        run(launch, function, LONG_NANOS, stream);
        check("wait", wait_for(stream));
    }
    *(int *)number = kernels;
    return NULL;
}

/* Tells for how many milliseconds each GPU worked. */
static double on_two_gpus(void) {
    int numbers[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, on_gpu, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("first %d\nsecond %d\n", numbers[0], numbers[1]);
    return numbers[0] + numbers[1];
}

/* Calls into a stream of the second GPU while a context of the first one is current. */
static double on_anothers_stream(void) {
    void *other, *stream, *function;
    check("create context", cuCtxCreate_v2(&other, 0, 1));
    function = spin_here();
    stream = stream_here();
    check("current", cuCtxSetCurrent(context));
    for (int i = 0; i < KERNELS; i++)
        run(launch, function, LONG_NANOS, stream);
    check("wait", wait_for(stream));
    return KERNELS;
}

static const struct {
    const char *name;
    double (*go)(void);
} ways[] = {
    {"plain", plainly},
    {"cooperative", cooperatively},
    {"threads", in_threads},
    {"waiting-threads", in_threads_that_wait},
    {"contexts", in_two_contexts},
    {"ended-contexts", in_contexts_that_end},
    {"ended-threads", in_threads_that_end},
    {"ended-streams", on_streams_that_end},
    {"graph", as_graph},
    {"captures", beside_captures},
    {"forks", beside_forks},
    {"gpus", on_two_gpus},
    {"another", on_anothers_stream},
};

int main(int argc, char **argv) {
    FILE *file = argc > 2 ? fopen(argv[1], "r") : NULL;
    if (!file || !fread(text, 1, sizeof text - 1, file))
        return fprintf(stderr, "usage: gated PTX WAY\n"), 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    driver_load();
    check("init", cuInit(0));
    check("retain", cuDevicePrimaryCtxRetain(&context, 0));
    check("current", cuCtxSetCurrent(context));
    find_calls();
    spin = spin_here();
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, argv[2]) != 0)
            continue;
        double start = now_millis(), millis = ways[i].go();
        check("wait", wait_for_all());
        printf("gpu %.1f\ntook %.1f\n", millis, now_millis() - start);
        return 0;
    }
    return fprintf(stderr, "there is no way '%s'\n", argv[2]), 2;
}
