/* A strict cap beside others: tenants that take turns, and processes of the same tenant. */
#include "on_strict.h"

#include <pthread.h>

static CUcontext context;

/* A neighbour that always has short kernels. It tells how many milliseconds it worked while the strict one had its kernel. */
static void be_a_neighbour(const char *state, const char *folder, int told_to, int begins_from) {
    static const char text[] = ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry sluice_spin(.param .u64 nanoseconds) { ret; }\n";
    CUmodule module;
    char byte;
    unsigned done = 0, before;
    setenv("SLUICE_SIM_STATE", state, 1);
    setenv("SLUICE_RUNTIME_DIR", folder, 1);
    setenv("SLUICE_WEIGHT", "1", 1);
    unsetenv("SLUICE_COMPUTE");
    unsetenv("SLUICE_STRICT");
    setenv("SLUICE_TENANT", "neighbour", 1);
    setenv("SLUICE_MEMORY", "1g", 1);
    setenv("SLUICE_SIM_GPUS", "2", 1);
    setenv("SLUICE_SIM_MEMORY", "1g", 1);
    setenv("SLUICE_SLICES", "1", 1);
    CHECK(dlopen("libcuda.so.1", RTLD_NOW) && sl_driver_load(&sl_driver_cuda, true) && hook_cuInit(0) == 0);
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && real.cuCtxSetCurrent(context) == 0);
    CHECK(hook_cuModuleLoadData(&module, text) == 0 && real.cuModuleGetFunction(&spin, module, "sluice_spin") == 0);
    CHECK(read(begins_from, &byte, 1) == 1);
    for (uint64_t end = sl_os_nanos() + 2 * SECOND; sl_os_nanos() < end; done++) {
        launch(MILLI);
        wait_for_all();
    }
    before = done;
    for (uint64_t end = sl_os_nanos() + 4 * SECOND; sl_os_nanos() < end; done++) {
        launch(MILLI);
        wait_for_all();
    }
    done -= before;
    CHECK(write(told_to, &done, sizeof done) == sizeof done);
}

typedef struct {
    pid_t pid;
    int begins, tells;
} neighbour_t;

static neighbour_t start_neighbour(void) {
    int told_to[2], begins[2];
    char state[200];
    use_test_folder();
    snprintf(state, sizeof state, "%s/sim", test_folder);
    CHECK(pipe(told_to) == 0 && pipe(begins) == 0);
    pid_t child = fork();
    if (!child) {
        be_a_neighbour(state, test_folder, told_to[1], begins[0]);
        _exit(0);
    }
    return (neighbour_t){child, begins[1], told_to[0]};
}

static void work_beside_a_neighbour(const char *cap_text, double least, double most, double least_rest) {
    unsigned done;
    neighbour_t neighbour = start_neighbour();
    begin(cap_text, "1");
    launch(100 * MILLI);
    wait_for_all();
    launch(100 * MILLI);
    wait_for_all();
    CHECK(write(neighbour.begins, "", 1) == 1);
    usleep(500000);
    launch(4 * SECOND);
    usleep(1500000);
    uint64_t before = worked();
    usleep(4000000);
    double all = (double)(worked() - before) / 4e7;
    CHECK(read(neighbour.tells, &done, sizeof done) == sizeof done);
    double rest = done / 40.0, own = all - rest;
    printf("strict %s: %.1f %%, neighbour %.1f %%\n", cap_text, own, rest);
    fflush(stdout);
    CHECK(own < most && own > least && rest > least_rest, "strict %.1f %%, neighbour %.1f %%", own, rest);
    int status;
    CHECK(waitpid(neighbour.pid, &status, 0) == neighbour.pid && status == 0);
    set_cap(0, 0);
}

static void should_leave_the_rest_to_a_neighbour(void) { work_beside_a_neighbour("25%", 20, 27, 50); }

/* Its turn ends inside the kernel. */
static void should_take_turns_inside_a_kernel(void) { work_beside_a_neighbour("80%", 38, 56, 35); }

static void *submit_known_kernels(void *ended) {
    CHECK(real.cuCtxSetCurrent(context) == 0);
    while (!*(volatile bool *)ended) {
        launch(300 * MILLI);
        wait_for_all();
    }
    return NULL;
}

/* The program says that the GPU is busy for as long as the cost that it knows. The neighbour must not wait for that. */
static void should_not_hold_a_neighbour_up_with_kernels_of_known_length(void) {
    unsigned done;
    bool ended = false;
    pthread_t thread;
    neighbour_t neighbour = start_neighbour();
    begin("20%", "1");
    CHECK(real.cuCtxGetCurrent(&context) == 0 && pthread_create(&thread, NULL, submit_known_kernels, &ended) == 0);
    usleep(3000000);
    CHECK(write(neighbour.begins, "", 1) == 1);
    CHECK(read(neighbour.tells, &done, sizeof done) == sizeof done);
    printf("neighbour %.1f %%\n", done / 40.0);
    CHECK(done / 40.0 > 50, "neighbour %.1f %%", done / 40.0);
    ended = true;
    set_cap(0, 0);
    pthread_join(thread, NULL);
    int status;
    CHECK(waitpid(neighbour.pid, &status, 0) == neighbour.pid && status == 0);
}

int main(int argc, char **argv) {
    only = argc > 1 ? argv[1] : NULL;
    RUN(should_leave_the_rest_to_a_neighbour);
    RUN(should_take_turns_inside_a_kernel);
    RUN(should_not_hold_a_neighbour_up_with_kernels_of_known_length);
    return 0;
}
