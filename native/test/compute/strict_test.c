/* A strict cap on the simulated GPU: it holds in every second of a kernel of seconds, and nobody stays stopped. Each test is a process of its
 * own with a GPU of its own. */
#include "on_sim.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "gpu/state.h"
#include "os/os.h"
#include "pause/telling.h"
#include "slices/control.h"

#define MILLI 1000000ull
#define SECOND 1000000000ull
#define LATE_POINTS 2.0 /* what a second may be off */

static CUfunction spin;
static CUcontext context;
static const sim_state_gpu_t *gpu;
static sl_region_limits_t *limits;

static void be_able_to_ask(void) {
    uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    limits = (sl_region_limits_t *)sl_tenant.region.limits;
}

static void begin(const char *cap, const char *slices) {
    static const char text[] = ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry sluice_spin(.param .u64 nanoseconds) { ret; }\n";
    CUmodule module;
    setenv("SLUICE_COMPUTE", cap, 1);
    setenv("SLUICE_STRICT", "1", 1);
    setenv("SLUICE_SLICES", slices, 1);
    use_sim("strict", "1g");
    be_able_to_ask();
    CHECK(hook_cuModuleLoadData(&module, text) == 0 && real.cuModuleGetFunction(&spin, module, "sluice_spin") == 0);
    int file = open(getenv("SLUICE_SIM_STATE"), O_RDONLY | O_CLOEXEC);
    const sim_state_t *state = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, file, 0);
    CHECK(file >= 0 && state != MAP_FAILED && state->layout == SIM_STATE_LAYOUT);
    gpu = &state->gpu[0];
}

static void launch(uint64_t nanos) {
    CHECK(hook_cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL) == 0);
}

static void wait_for_all(void) {
    CHECK(hook_cuCtxSynchronize() == 0);
}

/* How long the GPU has worked. */
static uint64_t worked(void) {
    uint64_t now = sl_os_nanos(), until = gpu->busy_until_ns, total = gpu->busy_total_ns, ahead = until > now ? until - now : 0;
    return total > ahead ? total - ahead : 0;
}

static void sleep_until(uint64_t nanos) {
    uint64_t now = sl_os_nanos();
    if (nanos > now)
        sl_os_sleep_nanos(nanos - now);
}

static uint64_t charged(void) {
    return sl_tenant.region.shares[sl_gpu_find(0)].used_nanos;
}

static int cap;

/* One kernel of two seconds. */
static void hold_every_second(void) {
    char text[16];
    snprintf(text, sizeof text, "%d%%", cap);
    begin(text, "1");
    uint64_t start = sl_os_nanos(), before = worked();
    launch(2 * SECOND);
    unsigned seconds = 200 / (unsigned)cap - 1;
    for (unsigned second = 1; second <= seconds; second++) {
        sleep_until(start + second * SECOND);
        uint64_t now = worked();
        double points = (double)(now - before) / 1e7;
        before = now;
        printf("%d %%: second %u: %.2f %%\n", cap, second, points);
        CHECK(points < cap + LATE_POINTS && points > cap - LATE_POINTS, "%.2f %% of a second under a cap of %d %%", points, cap);
    }
    wait_for_all();
    double took = (double)(sl_os_nanos() - start) / 1e9;
    CHECK(took < 2.0 * 102 / cap, "%.2f s", took);
}

static void should_hold_in_every_second_of_a_kernel(void) {
    static const int caps[] = {10, 25, 50};
    pid_t children[3];
    fflush(stdout);
    for (unsigned i = 0; i < 3; i++) {
        cap = caps[i];
        children[i] = fork();
        if (!children[i]) {
            hold_every_second();
            exit(0);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0, "cap %d: status 0x%x", caps[i], status);
    }
}


static void until_stopped(void) {
    for (int i = 0; i < 2000 && !sl_control_is_stopped(SL_CONTROL_STRICT); i++)
        usleep(500);
    CHECK(sl_control_is_stopped(SL_CONTROL_STRICT));
}

static double seconds_until_done(void) {
    uint64_t start = sl_os_nanos();
    wait_for_all();
    return (double)(sl_os_nanos() - start) / 1e9;
}

static void set_cap(uint32_t permille, uint32_t strict) {
    atomic_store(&limits->compute_permille[0], permille);
    atomic_store(&limits->strict, strict);
    atomic_fetch_add(&limits->epoch, 1);
}

static unsigned told(const char *words) {
    unsigned times = 0;
    for (unsigned i = 0; i < SL_REGION_ERROR_COUNT; i++) {
        const sl_region_error_t *error = &sl_tenant.region.errors[i];
        times += error->state && strstr(error->text, words) ? (unsigned)error->count : 0;
    }
    return times;
}

/* The kernel took 300 ms of GPU time, and 900 ms more in which it stood still. The charge is made when the next call comes. */
static void should_charge_only_time_on_the_gpu(void) {
    begin("25%", "1");
    for (int i = 0; i < 2; i++) {
        launch(300 * MILLI);
        double took = seconds_until_done();
        CHECK(took > 1.0 && took < 1.4, "%.2f s", took);
    }
    launch(MILLI);
    wait_for_all();
    launch(MILLI);
    CHECK(charged() > 590 * MILLI && charged() < 625 * MILLI, "%.1f ms", (double)charged() / 1e6);
}

static void should_let_go_when_the_cap_is_taken_back(void) {
    begin("1%", "1");
    launch(SECOND);
    until_stopped();
    set_cap(0, 1);
    double took = seconds_until_done();
    CHECK(took < 1.3, "%.2f s", took);
    CHECK(!sl_control_is_stopped(SL_CONTROL_STRICT));
}

static void should_let_go_when_strict_is_taken_back(void) {
    begin("1%", "1");
    launch(SECOND);
    until_stopped();
    set_cap(10, 0);
    CHECK(seconds_until_done() < 1.3);
}

static void should_follow_a_cap_that_changes(void) {
    begin("5%", "1");
    launch(SECOND);
    until_stopped();
    set_cap(500, 1);
    double took = seconds_until_done();
    CHECK(took > 1.8 && took < 2.3, "%.2f s", took);
}

static bool ask(uint64_t command) {
    atomic_store(&limits->command, command);
    for (int i = 0; i < 5000 && sl_tenant.region.slots[sl_tenant.slot].answer != command; i++)
        usleep(1000);
    return sl_tenant.region.slots[sl_tenant.slot].answer == command;
}

/* Two reasons to be off the GPU: neither takes the other back. */
static void should_stay_off_while_the_process_is_paused(void) {
    begin("25%", "1");
    launch(400 * MILLI);
    until_stopped();
    CHECK(ask(1 << 8 | SL_REGION_COMMAND_PAUSE) && sl_control_is_stopped(SL_CONTROL_PAUSE));
    usleep(5000);
    uint64_t before = worked();
    usleep(300000);
    CHECK(worked() == before, "%.2f ms", (double)(worked() - before) / 1e6);
    CHECK(ask(2 << 8 | SL_REGION_COMMAND_RUN));
    double took = seconds_until_done();
    CHECK(took > 0.8 && took < 2, "%.2f s", took);
    launch(MILLI);
    launch(MILLI);
    CHECK(charged() > 390 * MILLI && charged() < 415 * MILLI, "%.1f ms", (double)charged() / 1e6);
}

static void should_give_memory_back_after_a_pause(void) {
    begin("25%", "1");
    launch(300 * MILLI);
    until_stopped();
    CHECK(ask(1 << 8 | SL_REGION_COMMAND_EVICT));
    CHECK(ask(2 << 8 | SL_REGION_COMMAND_VACATE));
    atomic_store(&limits->room_nanos, sl_os_nanos()); /* as a tool that has found room on the GPU */
    CHECK(ask(3 << 8 | SL_REGION_COMMAND_RUN));
    launch(300 * MILLI);
    double took = seconds_until_done();
    CHECK(took > 0.8 && took < 2, "%.2f s", took);
}

static void should_say_once_that_slices_are_off(void) {
    begin("25%", "0");
    launch(300 * MILLI);
    CHECK(seconds_until_done() < 0.5);
    launch(MILLI);
    wait_for_all();
    CHECK(told("not inside a kernel as strict asks: SLUICE_SLICES") == 1, "%u", told("as strict asks"));
}

static void fall_back(const char *answers, const char *reason) {
    setenv("SLUICE_SIM_RM", answers, 1);
    begin("25%", "1");
    launch(500 * MILLI);
    double took = seconds_until_done();
    CHECK(took < 1.5, "%s: %.2f s", answers, took);
    launch(20 * MILLI);
    wait_for_all();
    CHECK(told("not inside a kernel as strict asks") == 1, "%s: %u", answers, told("as strict asks"));
    CHECK(told(reason) >= 1, "%s: %s", answers, reason);
    CHECK(!sl_control_is_stopped(SL_CONTROL_STRICT));
}

static void should_go_on_when_the_driver_refuses_the_probe(void) { fall_back("set@2+=0x1b", "refused a control call"); }
static void should_go_on_when_the_driver_refuses_to_stop(void) { fall_back("disable=0x56", "refused a control call"); }
static void should_go_on_when_the_driver_refuses_a_later_stop(void) { fall_back("disable@3+=0x56", "refused a control call"); }
static void should_go_on_when_a_stop_is_slow(void) { fall_back("disable=sleep:150ms", "a control call took too long"); }

/* The driver takes the work off the GPU and then refuses to put it back, for a while. */
static void should_put_the_work_back_when_the_driver_refused_to(void) {
    setenv("SLUICE_SIM_RM", "enable@1=0x65,enable@2=0x65,enable@3=errno,enable@4=0x65,enable@5=0x65", 1);
    begin("25%", "1");
    launch(500 * MILLI);
    double took = seconds_until_done();
    CHECK(took < 1.5, "%.2f s", took);
    CHECK(told("does not put the process's work back") == 1 && told("has put the process's work back") == 1);
}

static void should_go_on_after_a_fork(void) {
    begin("25%", "1");
    launch(300 * MILLI);
    until_stopped();
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (!child)
            _exit(sl_control_is_stopped(SL_CONTROL_STRICT) || !sl_control_go(SL_CONTROL_STRICT));
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0, "status 0x%x", status);
        usleep(7000);
    }
    double took = seconds_until_done();
    CHECK(took < 1.4, "%.2f s", took);
}

static void exit_while_stopped(void) {
    begin("1%", "1");
    launch(SECOND);
    until_stopped();
    exit(0);
}

static void should_end_while_it_is_off(void) {
    uint64_t start = sl_os_nanos();
    pid_t child = fork();
    if (!child)
        exit_while_stopped();
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0 && sl_os_nanos() - start < 3 * SECOND);
}

static void should_leave_short_kernels_to_the_gate(void) {
    begin("50%", "1");
    uint64_t start = sl_os_nanos(), before = worked();
    while (sl_os_nanos() < start + SECOND) {
        launch(MILLI);
        if (sl_control_is_stopped(SL_CONTROL_STRICT))
            usleep(100);
    }
    double points = (double)(worked() - before) / (double)(sl_os_nanos() - start) * 100;
    CHECK(points < 52 && points > 44, "%.2f %%", points);
}

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

/* Each in a process of its own, because a driver is loaded once. */
static void run(void (*test)(void), const char *name) {
    printf("%s\n", name);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        alarm(60);
        test();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child, "%s", name);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        exit(SKIPPED);
    CHECK(status == 0, "%s: status 0x%x", name, status);
}

#undef RUN
#define RUN(test) run(test, #test)

int main(void) {
    RUN(should_charge_only_time_on_the_gpu);
    RUN(should_let_go_when_the_cap_is_taken_back);
    RUN(should_let_go_when_strict_is_taken_back);
    RUN(should_follow_a_cap_that_changes);
    RUN(should_stay_off_while_the_process_is_paused);
    RUN(should_give_memory_back_after_a_pause);
    RUN(should_say_once_that_slices_are_off);
    RUN(should_go_on_when_the_driver_refuses_the_probe);
    RUN(should_go_on_when_the_driver_refuses_to_stop);
    RUN(should_go_on_when_the_driver_refuses_a_later_stop);
    RUN(should_go_on_when_a_stop_is_slow);
    RUN(should_put_the_work_back_when_the_driver_refused_to);
    RUN(should_go_on_after_a_fork);
    RUN(should_end_while_it_is_off);
    RUN(should_leave_short_kernels_to_the_gate);
    RUN(should_leave_the_rest_to_a_neighbour);
    RUN(should_take_turns_inside_a_kernel);
    RUN(should_not_hold_a_neighbour_up_with_kernels_of_known_length);
    RUN(should_hold_in_every_second_of_a_kernel);
    return 0;
}
