/* A process with a strict cap on a simulated GPU of its own. A test is a process, because a driver is loaded once. */
#ifndef ON_STRICT_H
#define ON_STRICT_H

#include "on_sim.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "gpu/state.h"
#include "os/os.h"
#include "slices/control.h"

#define MILLI 1000000ull
#define SECOND 1000000000ull

static CUfunction spin;
static const sim_state_gpu_t *gpu;
static sl_region_limits_t *limits;

static inline void be_able_to_ask(void) {
    uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    limits = (sl_region_limits_t *)sl_tenant.region.limits;
}

static inline void load_spin(void) {
    static const char text[] = ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry sluice_spin(.param .u64 nanoseconds) { ret; }\n";
    CUmodule module;
    CHECK(hook_cuModuleLoadData(&module, text) == 0 && real.cuModuleGetFunction(&spin, module, "sluice_spin") == 0);
}

static inline void begin(const char *cap, const char *slices) {
    setenv("SLUICE_COMPUTE", cap, 1);
    setenv("SLUICE_STRICT", "1", 1);
    setenv("SLUICE_SLICES", slices, 1);
    use_sim("strict", "1g");
    be_able_to_ask();
    load_spin();
    int file = open(getenv("SLUICE_SIM_STATE"), O_RDONLY | O_CLOEXEC);
    const sim_state_t *state = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, file, 0);
    CHECK(file >= 0 && state != MAP_FAILED && state->layout == SIM_STATE_LAYOUT);
    gpu = &state->gpu[0];
}

static inline void launch(uint64_t nanos) {
    CHECK(hook_cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nanos}, NULL) == 0);
}

static inline void wait_for_all(void) {
    CHECK(hook_cuCtxSynchronize() == 0);
}

/* How long the GPU has worked. */
static inline uint64_t worked(void) {
    uint64_t now = sl_os_nanos(), until = gpu->busy_until_ns, total = gpu->busy_total_ns, ahead = until > now ? until - now : 0;
    return total > ahead ? total - ahead : 0;
}

static inline void sleep_until(uint64_t nanos) {
    uint64_t now = sl_os_nanos();
    if (nanos > now)
        sl_os_sleep_nanos(nanos - now);
}

static inline uint64_t charged(void) {
    return sl_tenant.region.shares[sl_gpu_find(0)].used_nanos;
}

static inline void until_stopped(void) {
    for (int i = 0; i < 2000 && !sl_control_is_stopped(SL_CONTROL_STRICT); i++)
        usleep(500);
    CHECK(sl_control_is_stopped(SL_CONTROL_STRICT));
}

static inline double seconds_until_done(void) {
    uint64_t start = sl_os_nanos();
    wait_for_all();
    return (double)(sl_os_nanos() - start) / 1e9;
}

static inline void set_cap(uint32_t permille, uint32_t strict) {
    atomic_store(&limits->compute_permille[0], permille);
    atomic_store(&limits->strict, strict);
    atomic_fetch_add(&limits->epoch, 1);
}

static inline unsigned told(const char *words) {
    unsigned times = 0;
    for (unsigned i = 0; i < SL_REGION_ERROR_COUNT; i++) {
        const sl_region_error_t *error = &sl_tenant.region.errors[i];
        times += error->state && strstr(error->text, words) ? (unsigned)error->count : 0;
    }
    return times;
}

static inline bool ask(uint64_t command) {
    atomic_store(&limits->command, command);
    for (int i = 0; i < 5000 && sl_tenant.region.slots[sl_tenant.slot].answer != command; i++)
        usleep(1000);
    return sl_tenant.region.slots[sl_tenant.slot].answer == command;
}

static const char *only; /* the test to run; NULL: all */

static inline void run(void (*test)(void), const char *name) {
    if (only && strcmp(only, name) != 0)
        return;
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

#endif
