/* A tenant of low priority whose first probe of the control calls is slow: its slice is short later all the same, so the tenant of high priority
 * need not take turns. */
#include "on_strict.h"

#include <signal.h>

#include "compute/lane.h"

static void take_part(const char *priority, const char *answers, const char *state) {
    setenv("SLUICE_SIM_STATE", state, 1);
    setenv("SLUICE_SIM_MEMORY", "1g", 1);
    setenv("SLUICE_SIM_RM", answers, 1);
    setenv("SLUICE_SLICES", "1", 1);
    setenv("SLUICE_TENANT", priority, 1);
    setenv("SLUICE_MEMORY", "256m", 1);
    setenv("SLUICE_PRIORITY", priority, 1);
    CUcontext context;
    if (!dlopen("libcuda.so.1", RTLD_NOW))
        exit(SKIPPED);
    CHECK(sl_driver_load(&sl_driver_cuda, true) && hook_cuInit(0) == 0);
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && real.cuCtxSetCurrent(context) == 0);
    load_spin();
    launch(MILLI);
    wait_for_all();
}

static const sl_board_process_t *own_entry(void) {
    const sl_board_t *board = &sl_lane_current()->gpu->board;
    CHECK(board->base);
    return &board->processes[board->process];
}

static bool becomes_short(unsigned millis) {
    const sl_board_process_t *entry = own_entry();
    for (unsigned i = 0; i < millis && entry->slice_micros != 1; i++)
        usleep(1000);
    return entry->slice_micros == 1;
}

static void should_have_a_short_slice_after_a_slow_probe(void) {
    char state[200];
    use_test_folder();
    snprintf(state, sizeof state, "%s/sim", test_folder);
    fflush(stdout);
    pid_t high = fork();
    if (!high) {
        take_part("high", "", state);
        for (;;)
            pause();
    }
    take_part("low", "get@1=sleep:150ms", state);
    CHECK(!becomes_short(500), "the probe was not slow");
    CHECK(becomes_short(6000), "%u us", (unsigned)own_entry()->slice_micros);
    CHECK(sl_control_is_ready());
    kill(high, SIGKILL);
    int status;
    CHECK(waitpid(high, &status, 0) == high);
}

int main(int argc, char **argv) {
    only = argc > 1 ? argv[1] : NULL;
    RUN(should_have_a_short_slice_after_a_slow_probe);
    return 0;
}
