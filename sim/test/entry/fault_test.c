/* Faults on demand and settings that make no sense. Each case runs in a process of its own with its own environment. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs *wanted);
CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *wanted);
CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs *wanted);

static char output[4096];

/* Exit status of this program run as `fault_test case` with one variable set; 128 + signal when killed. */
static int run(const char *name, const char *variable, const char *value) {
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        setenv(variable, value, 1);
        dup2(ends[1], 2);
        close(ends[0]);
        execl("/proc/self/exe", "fault_test", name, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    ssize_t length = 0, more;
    while ((more = read(ends[0], output + length, sizeof output - 1 - (size_t)length)) > 0) length += more;
    output[length] = 0;
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void should_fail_the_nth_call(void) {
    CUdeviceptr address;
    use_gpu();
    OK(cuMemAlloc_v2(&address, 10));
    OK(cuMemAlloc_v2(&address, 10));
    EQUAL(cuMemAlloc_v2(&address, 10), 2);
    OK(cuMemAlloc_v2(&address, 10));
}

static void should_fail_each_second_call(void) {
    CUdeviceptr address;
    use_gpu();
    for (int i = 0; i < 3; i++) {
        OK(cuMemAlloc_v2(&address, 10));
        EQUAL(cuMemAlloc_v2(&address, 10), 2);
    }
}

static void should_fail_from_the_second_call_on(void) {
    CUdeviceptr address;
    use_gpu();
    OK(cuMemAlloc_v2(&address, 10));
    for (int i = 0; i < 3; i++) EQUAL(cuMemAlloc_v2(&address, 10), 2);
}

static void should_stick(void) {
    CUdeviceptr address;
    CUcontext context;
    char byte;
    use_gpu();
    OK(cuMemAlloc_v2(&address, 10));
    OK(cuMemcpyDtoH_v2(&byte, address, 1));
    EQUAL(cuMemcpyDtoH_v2(&byte, address, 1), 700);
    EQUAL(cuMemAlloc_v2(&address, 10), 700);
    EQUAL(cuCtxSynchronize(), 700);
    OK(cuCtxGetCurrent(&context));
}

/* What a pause does, each step refused on demand. */
static void should_refuse_each_step_of_a_pause(void) {
    static const CUmemAllocationProp plain = {.type = 1, .location = {1, 0}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    use_gpu();
    EQUAL(cuMemAddressReserve(&address, 2 * MIB, 0, 0, 0), 2);
    OK(cuMemAddressReserve(&address, 2 * MIB, 0, 0, 0));
    EQUAL(cuMemCreate(&handle, 2 * MIB, &plain, 0), 2);
    OK(cuMemCreate(&handle, 2 * MIB, &plain, 0));
    EQUAL(cuMemMap(address, 2 * MIB, 0, handle, 0), 1);
    EQUAL(cuMemUnmap(address, 2 * MIB), 1);
    EQUAL(cuMemRelease(handle), 1);
    EQUAL(cuCheckpointProcessLock(getpid(), NULL), 600);
    OK(cuCheckpointProcessLock(getpid(), NULL));
    EQUAL(cuCheckpointProcessCheckpoint(getpid(), NULL), 801);
    OK(cuCheckpointProcessUnlock(getpid(), NULL));
}

static void should_allocate_once(void) {
    CUdeviceptr address;
    use_gpu();
    OK(cuMemAlloc_v2(&address, 10));
    fprintf(stderr, "still here");
}

static void should_miss_a_symbol(void) {
    void *function;
    int status;
    CUdeviceptr address;
    use_gpu();
    OK(cuGetProcAddress_v2("cuMemAllocAsync", &function, 13000, 0, &status));
    EQUAL(status, 1);
    OK(cuGetProcAddress_v2("cuMemAllocAsync", &function, 13000, 2, &status));
    EQUAL(status, 0);
    EQUAL(cuMemAllocAsync(&address, 10, NULL), 500);
}

static void should_be_an_old_driver(void) {
    int version, status;
    void *function;
    OK(cuInit(0));
    OK(cuDriverGetVersion(&version));
    EQUAL(version, 11040);
    OK(cuGetProcAddress("cuMemAllocAsync", &function, 11020, 0));
    EQUAL(cuGetProcAddress("cuLaunchKernelEx", &function, 11040, 0), 500);
    EQUAL(cuGetProcAddress("cuMemAlloc", &function, 12000, 0), 1);
    EQUAL(cuGetProcAddress_v2("cuMemAlloc", &function, 11040, 0, &status), 500);
}

static void should_sleep(void) {
    double begin = seconds();
    use_gpu();
    CHECK(seconds() - begin > 0.045);
}

static int refuses(void) { return cuInit(0); }

static void should_refuse_nonsense(void) {
    static const char *const cases[][2] = {
        {"SLUICE_SIM_GPUS", "0"}, {"SLUICE_SIM_GPUS", "two"}, {"SLUICE_SIM_GPUS", "17"}, {"SLUICE_SIM_MEMORY", "lots"}, {"SLUICE_SIM_MEMORY", ""},
        {"SLUICE_SIM_MEMORY", "4gg"}, {"SLUICE_SIM_MEMORY", "-4g"}, {"SLUICE_SIM_LINK", "fast"}, {"SLUICE_SIM_LAUNCH", "3"}, {"SLUICE_SIM_SMS", "1.5"},
        {"SLUICE_SIM_DRIVER", "new"}, {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2"}, {"SLUICE_SIM_FAULTS", "cuNoSuch=2"},
        {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2@0=2"}, {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2@1=explode"}, {"SLUICE_SIM_FAULTS", "cuInit@1=missing"},
        {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2%0=2"}, {"SLUICE_SIM_FAULTS", "cuInit%2=missing"},
        {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2@+=2"}, {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2%2+=2"}, {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2=sticky:0"}, {"SLUICE_SIM_FAULTS", "cuMemAlloc_v2=sticky"}, {"SLUICE_SIM_CHECKPOINT", "quick"},
        {"SLUICE_SIM_PAGEABLE", "slow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EQUAL(run("refuses", cases[i][0], cases[i][1]), 1);
        CHECK(strstr(output, "sluice-sim: ") == output && strstr(output, cases[i][0]));
        CHECK(strchr(output, '\n') == output + strlen(output) - 1);
    }
}

static int run_case(const char *name) {
    if (strcmp(name, "refuses") == 0) return refuses();
    if (strcmp(name, "nth") == 0) should_fail_the_nth_call();
    if (strcmp(name, "sticky") == 0) should_stick();
    if (strcmp(name, "each") == 0) should_fail_each_second_call();
    if (strcmp(name, "on") == 0) should_fail_from_the_second_call_on();
    if (strcmp(name, "pause") == 0) should_refuse_each_step_of_a_pause();
    if (strcmp(name, "once") == 0) should_allocate_once();
    if (strcmp(name, "missing") == 0) should_miss_a_symbol();
    if (strcmp(name, "old") == 0) should_be_an_old_driver();
    if (strcmp(name, "sleep") == 0) should_sleep();
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1) return run_case(arguments[1]);
    EQUAL(run("nth", "SLUICE_SIM_FAULTS", "cuMemAlloc_v2@3=2"), 0);
    EQUAL(run("each", "SLUICE_SIM_FAULTS", "cuMemAlloc_v2%2=2"), 0);
    EQUAL(run("sticky", "SLUICE_SIM_FAULTS", "cuMemcpyDtoH_v2@1=sticky:700"), 0);
    EQUAL(run("on", "SLUICE_SIM_FAULTS", "cuMemAlloc_v2@2+=2"), 0);
    EQUAL(run("pause", "SLUICE_SIM_FAULTS", "cuMemAddressReserve@1=2,cuMemCreate@1=2,cuMemMap@1=1,cuMemUnmap@1=1,cuMemRelease@1=1,"
              "cuCheckpointProcessLock@1=600,cuCheckpointProcessCheckpoint@1=801"), 0);
    EQUAL(run("pause", "SLUICE_SIM_FAULTS", "cuMemAddressReserve@1=2,cuMemCreate@2=kill-after,cuMemCreate@1=2"), 128 + SIGKILL);
    EQUAL(run("once", "SLUICE_SIM_FAULTS", "cuMemAlloc_v2=kill-before"), 128 + SIGKILL);
    EQUAL(run("once", "SLUICE_SIM_FAULTS", "cuMemAlloc_v2@1=kill-after,cuMemFree_v2=2"), 128 + SIGKILL);
    EQUAL(strlen(output), 0);
    EQUAL(run("once", "SLUICE_SIM_FAULTS", "cuMemAlloc_v2@2=kill-after"), 0);
    EQUAL(run("missing", "SLUICE_SIM_FAULTS", "cuMemAllocAsync=missing"), 0);
    EQUAL(run("sleep", "SLUICE_SIM_FAULTS", "cuInit=sleep:50ms"), 0);
    EQUAL(run("old", "SLUICE_SIM_DRIVER", "11040"), 0);
    should_refuse_nonsense();
    use_gpu();
    size_t bytes, total;
    OK(cuMemGetInfo_v2(&bytes, &total));
    EQUAL(total - bytes, 64 * MIB);
    return 0;
}
