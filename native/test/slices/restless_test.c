/* A job under librestless.so, on the simulated driver: it ends with the right result although thousands of random control calls were made on it.
 * Usage: restless_test LIBRARY CALLS   The test runs itself as the job. */
#include "check.h"
#include "programs/driver_calls.h"

#define COUNT 4096u
#define PATIENCE_SECONDS 100u

static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*synchronize)(void);

static void run(void *function, void **values) {
    CHECK(launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, values, NULL) == 0);
}

/* Adds 1 so often that the sum shows whether each kernel ran once. */
static void job(const char *until) {
    static const char text[] = ".version 6.0\n.target sm_52\n.address_size 64\n"
                               ".visible .entry sluice_spin(.param .u64 nanoseconds) { ret; }\n"
                               ".visible .entry sluice_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 count) { ret; }\n";
    static float values[COUNT], ones[COUNT];
    uint64_t a, b, count = COUNT, nanos = 3000000;
    unsigned steps = 0;
    alarm(PATIENCE_SECONDS);
    driver_open();
    int (*load)(void **, const void *), (*find)(void **, void *, const char *), (*up)(uint64_t, const void *, size_t), (*down)(void *, uint64_t, size_t);
    *(void **)&launch = driver_function("cuLaunchKernel");
    *(void **)&synchronize = driver_function("cuCtxSynchronize");
    *(void **)&load = driver_function("cuModuleLoadData");
    *(void **)&find = driver_function("cuModuleGetFunction");
    *(void **)&up = driver_function("cuMemcpyHtoD_v2");
    *(void **)&down = driver_function("cuMemcpyDtoH_v2");
    void *module, *add, *spin;
    CHECK(load(&module, text) == 0 && find(&spin, module, "sluice_spin") == 0 && find(&add, module, "sluice_add") == 0);
    for (unsigned i = 0; i < COUNT; i++) {
        values[i] = (float)i;
        ones[i] = 1;
    }
    CHECK(cuMemAlloc_v2(&a, sizeof values) == 0 && cuMemAlloc_v2(&b, sizeof ones) == 0);
    CHECK(up(a, values, sizeof values) == 0 && up(b, ones, sizeof ones) == 0);
    for (; access(until, F_OK) != 0; steps++) {
        run(add, (void *[]){&a, &b, &a, &count});
        run(spin, (void *[]){&nanos});
        if (steps % 8 == 0)
            CHECK(synchronize() == 0);
    }
    CHECK(synchronize() == 0 && down(values, a, sizeof values) == 0);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK(values[i] == (float)(i + steps), "%g at %u after %u steps", (double)values[i], i, steps);
    printf("%u steps\n", steps);
}

static void start(char *self, const char *library, const char *calls, const char *file) {
    char state[200];
    snprintf(state, sizeof state, "%s/sim", test_folder);
    setenv("SLUICE_SIM_STATE", state, 1);
    setenv("SLUICE_SLICES", "1", 1);
    setenv("SLUICE_MEMORY", "512m", 1);
    setenv("RESTLESS_CALLS", calls, 1);
    setenv("RESTLESS_FILE", file, 1);
    setenv("LD_PRELOAD", library, 1);
    execl(self, self, file, NULL);
    _exit(127);
}

int main(int argc, char **argv) {
    if (argc == 2)
        return job(argv[1]), 0;
    CHECK(argc == 3);
    pid_t probe = fork();
    if (!probe)
        _exit(dlopen("libcuda.so.1", RTLD_NOW) ? 0 : SKIPPED);
    int status;
    CHECK(waitpid(probe, &status, 0) == probe);
    if (WEXITSTATUS(status) == SKIPPED) {
        printf("skipped: the simulated driver is not built\n");
        return SKIPPED;
    }
    use_test_folder();
    char file[200], line[1000] = "";
    snprintf(file, sizeof file, "%s/restless", test_folder);
    pid_t pid = fork();
    if (!pid)
        start(argv[0], argv[1], argv[2], file);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the job ended with 0x%x", status);
    FILE *told = fopen(file, "r");
    CHECK(told && fgets(line, sizeof line, told));
    fclose(told);
    printf("%s", line);
    unsigned long calls = 0;
    CHECK(sscanf(line, "calls=%lu ", &calls) == 1 && calls == strtoul(argv[2], NULL, 10));
    CHECK(strstr(line, "obstacle=none"));
    return 0;
}
