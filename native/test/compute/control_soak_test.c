/* Random stops, returns, cuts, slices, caps, contexts, streams, captures, forks, SIGSTOP and SIGKILL beside jobs on one simulated GPU. A job that is not killed ends with
 * the right result, and its driver never refused a call.
 * Usage: control_soak_test [SEED [SECONDS]]   a failure names the seed; the same seed makes the same choices, at other times */
#include "on_sim.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "os/os.h"
#include "slices/control.h"
#include "slices/stops.h"

#define JOBS 2u
#define COUNT 4096u
#define MICRO 1000ull
#define MILLI 1000000ull
#define PATIENCE_SECONDS 60u

typedef struct {
    uint64_t state;
} random_t;

static uint64_t below(random_t *random, uint64_t bound) {
    random->state = random->state * 6364136223846793005ull + 1442695040888963407ull;
    return (random->state >> 33) % bound;
}

static uint64_t seed;
static _Atomic bool over;
static sl_region_limits_t *limits;
static CUfunction add, spin;
static CUcontext context;

static const char text[] = ".version 6.0\n.target sm_52\n.address_size 64\n"
                           ".visible .entry sluice_spin(.param .u64 nanoseconds) { ret; }\n"
                           ".visible .entry sluice_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 count) { ret; }\n";

static void load(void) {
    CUmodule module;
    CHECK(hook_cuModuleLoadData(&module, text) == 0 && real.cuModuleGetFunction(&spin, module, "sluice_spin") == 0 &&
          real.cuModuleGetFunction(&add, module, "sluice_add") == 0);
}

static void be_able_to_set_limits(void) {
    uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    limits = (sl_region_limits_t *)sl_tenant.region.limits;
}

static void nap(random_t *random, uint64_t most) {
    sl_os_sleep_nanos(1 + below(random, most));
}

/* As a pause does, and a neighbour of high priority. */
static void *control(void *number) {
    random_t random = {seed + (uintptr_t)number};
    while (!over) {
        switch (below(&random, 7)) {
        case 0:
        case 1:
            sl_control_stop(SL_CONTROL_PAUSE);
            nap(&random, 5 * MILLI);
            break;
        case 2:
        case 3:
            sl_control_go(SL_CONTROL_PAUSE);
            nap(&random, 10 * MILLI);
            break;
        case 4:
            sl_control_preempt();
            break;
        case 5: /* as a driver that does not store its state */
            if (below(&random, 4))
                break;
            sl_control_suspend();
            nap(&random, 3 * MILLI);
            sl_control_resume();
            break;
        default:
            sl_control_slice(below(&random, 2) ? 1 : 0);
        }
        nap(&random, MILLI);
    }
    sl_control_go(SL_CONTROL_PAUSE);
    sl_control_slice(0);
    return NULL;
}

static void set_cap(uint32_t permille, uint32_t strict) {
    atomic_store(&limits->compute_permille[0], permille);
    atomic_store(&limits->strict, strict);
    atomic_fetch_add(&limits->epoch, 1);
}

static void *change_caps(void *number) {
    random_t random = {seed + (uintptr_t)number};
    while (!over) {
        atomic_store(&limits->cap_when_shared, below(&random, 3) == 0);
        set_cap((uint32_t)(100 + 100 * below(&random, 10)), below(&random, 4) != 0);
        nap(&random, 100 * MILLI);
    }
    set_cap(0, 0);
    return NULL;
}

/* In the current context, which may end before the work does. */
static void work_a_little(uint64_t nanos) {
    CUmodule module;
    CUfunction function;
    CHECK(hook_cuModuleLoadData(&module, text) == 0 && real.cuModuleGetFunction(&function, module, "sluice_spin") == 0);
    CHECK(hook_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL) == 0);
}

static void *make_contexts(void *number) {
    random_t random = {seed + (uintptr_t)number};
    while (!over) {
        CUcontext other;
        CHECK(hook_cuCtxCreate_v2(&other, 0, 0) == 0);
        if (!below(&random, 3))
            work_a_little(below(&random, 8) * MILLI);
        nap(&random, 4 * MILLI);
        CHECK(hook_cuCtxDestroy_v2(other) == 0);
        nap(&random, 10 * MILLI);
    }
    return NULL;
}

/* Streams that end with work in an open batch, and captures that begin and end. */
static void *make_streams(void *number) {
    random_t random = {seed + (uintptr_t)number};
    CHECK(real.cuCtxSetCurrent(context) == 0);
    while (!over) {
        CUstream stream;
        CUgraph graph;
        CHECK(real.cuStreamCreate(&stream, 1) == 0);
        bool captures = !below(&random, 4);
        if (captures)
            CHECK(hook_cuStreamBeginCapture_v2(stream, 2) == 0);
        for (uint64_t i = 1 + below(&random, 6); i; i--) {
            uint64_t nanos = below(&random, 60) * MICRO;
            CHECK(hook_cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&nanos}, NULL) == 0);
        }
        nap(&random, 12 * MILLI);
        if (captures)
            CHECK(hook_cuStreamEndCapture(stream, &graph) == 0 && graph && real.cuGraphDestroy(graph) == 0);
        CHECK(hook_cuStreamDestroy_v2(stream) == 0);
        nap(&random, 5 * MILLI);
    }
    return NULL;
}

static void *make_children(void *number) {
    random_t random = {seed + (uintptr_t)number};
    while (!over) {
        pid_t child = fork();
        if (!child)
            _exit(sl_control_is_stopped(SL_CONTROL_STRICT) || sl_control_is_stopped(SL_CONTROL_PAUSE) || !sl_control_go(SL_CONTROL_STRICT));
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0, "seed %llu: a child ended with 0x%x", (unsigned long long)seed, status);
        nap(&random, 60 * MILLI);
    }
    return NULL;
}

/* Adds 1 so often that the sum shows whether each kernel ran once. */
static void work(unsigned steps) {
    random_t random = {seed};
    static float values[COUNT], ones[COUNT];
    CUdeviceptr a, b;
    uint64_t bytes = sizeof values, count = COUNT;
    for (unsigned i = 0; i < COUNT; i++) {
        values[i] = (float)i;
        ones[i] = 1;
    }
    CHECK(hook_cuMemAlloc_v2(&a, bytes) == 0 && hook_cuMemAlloc_v2(&b, bytes) == 0);
    CHECK(real.cuMemcpyHtoD_v2(a, values, bytes) == 0 && real.cuMemcpyHtoD_v2(b, ones, bytes) == 0);
    for (unsigned i = 0; i < steps; i++) {
        uint64_t nanos = below(&random, 20) ? below(&random, 300) * MICRO : below(&random, 30) * MILLI;
        CHECK(hook_cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&a, &b, &a, &count}, NULL) == 0);
        CHECK(hook_cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL) == 0);
        if (!below(&random, 10))
            CHECK(hook_cuCtxSynchronize() == 0);
    }
    CHECK(hook_cuCtxSynchronize() == 0);
    CHECK(real.cuMemcpyDtoH_v2(values, a, bytes) == 0);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK(values[i] == (float)(i + steps), "seed %llu: %g at %u after %u steps", (unsigned long long)seed, (double)values[i], i, steps);
}

static void job(void) {
    void *(*const bodies[])(void *) = {control, control, change_caps, make_contexts, make_streams, make_children};
    enum { THREADS = sizeof bodies / sizeof *bodies };
    pthread_t threads[THREADS];
    alarm(PATIENCE_SECONDS);
    load();
    be_able_to_set_limits();
    CHECK(real.cuCtxGetCurrent(&context) == 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, bodies[i], (void *)(i + 1)) == 0);
    work(250);
    over = true;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    work(20);
    CHECK(sl_control_is_ready(), "seed %llu: %s", (unsigned long long)seed, sl_control_obstacle());
    CHECK(!sl_control_is_stopped(SL_CONTROL_PAUSE), "seed %llu", (unsigned long long)seed);
    uint64_t now = sl_os_nanos();
    CHECK(sl_stops_between(now, now + MILLI) == 0, "seed %llu: it is off", (unsigned long long)seed);
}

typedef struct {
    pid_t pid;
    uint64_t killed_at; /* 0: it ends by itself */
    bool stopped;
} child_t;

static child_t start(random_t *random) {
    seed = below(random, 1u << 30);
    bool dies = below(random, 3) == 0;
    uint64_t after = below(random, 2000 * MILLI);
    pid_t pid = fork();
    if (!pid) {
        setenv("SLUICE_COMPUTE", "60%", 1);
        setenv("SLUICE_STRICT", "1", 1);
        setenv("SLUICE_SLICES", "1", 1);
        char name[40];
        snprintf(name, sizeof name, "job-%d", (int)getpid());
        setenv("SLUICE_TENANT", name, 1);
        setenv("SLUICE_MEMORY", "512m", 1);
        CHECK(dlopen("libcuda.so.1", RTLD_NOW) && sl_driver_load(&sl_driver_cuda, true) && hook_cuInit(0) == 0);
        CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && real.cuCtxSetCurrent(context) == 0);
        job();
        exit(0);
    }
    CHECK(pid > 0);
    return (child_t){pid, dies ? sl_os_nanos() + after : 0, false};
}

/* False: it has ended. */
static bool attend(child_t *child, random_t *random) {
    int status;
    if (waitpid(child->pid, &status, WNOHANG) == child->pid) {
        bool killed = child->killed_at && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        CHECK(status == 0 || killed, "a job ended with 0x%x", status);
        return false;
    }
    if (child->killed_at && sl_os_nanos() > child->killed_at)
        kill(child->pid, SIGKILL);
    else if (child->stopped || !below(random, 8))
        kill(child->pid, child->stopped ? SIGCONT : SIGSTOP);
    else
        return true;
    child->stopped = !child->stopped;
    return true;
}

static void soak(uint64_t from, unsigned seconds) {
    random_t random = {from};
    uint64_t end = sl_os_nanos() + seconds * 1000 * MILLI;
    child_t children[JOBS];
    unsigned jobs = 0, live = 0;
    for (; live < JOBS; live++, jobs++)
        children[live] = start(&random);
    while (live) {
        nap(&random, 20 * MILLI);
        for (unsigned i = 0; i < live; i++) {
            if (attend(&children[i], &random))
                continue;
            if (sl_os_nanos() < end) {
                children[i] = start(&random);
                jobs++;
            } else {
                children[i--] = children[--live];
            }
        }
    }
    printf("%u jobs\n", jobs);
}

int main(int argc, char **argv) {
    uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 0) : sl_os_nanos() % 1000000;
    unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    printf("seed %llu\n", (unsigned long long)from);
    fflush(stdout);
    use_test_folder();
    char state[200];
    snprintf(state, sizeof state, "%s/sim", test_folder);
    setenv("SLUICE_SIM_STATE", state, 1);
    setenv("SLUICE_SIM_MEMORY", "4g", 1);
    setenv("SLUICE_SIM_CONTEXT", "0", 1);
    pid_t probe = fork();
    if (!probe)
        _exit(dlopen("libcuda.so.1", RTLD_NOW) ? 0 : SKIPPED);
    int status;
    CHECK(waitpid(probe, &status, 0) == probe);
    if (WEXITSTATUS(status) == SKIPPED) {
        printf("skipped: the simulated driver is not built\n");
        return SKIPPED;
    }
    soak(from, seconds);
    return 0;
}
