/* A strict cap on the simulated GPU: it holds in every second of a kernel of seconds, and nobody stays stopped. */
#include "on_strict.h"

#include <pthread.h>

#include "hold/hold.h"
#include "pause/telling.h"

#define LATE_POINTS 2.0 /* what a second may be off */

static CUcontext context;
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

static void *launch_short(void *unused) {
    CHECK(real.cuCtxSetCurrent(context) == 0);
    launch(MILLI);
    return unused;
}

/* What the kernel used before is not taken back by a stop of two seconds. */
static void should_begin_inside_a_kernel(void) {
    pthread_t thread;
    begin("10%", "1");
    CHECK(real.cuCtxGetCurrent(&context) == 0);
    set_cap(100, 0);
    launch(3 * SECOND);
    sl_os_sleep_nanos(SECOND);
    set_cap(100, 1);
    CHECK(pthread_create(&thread, NULL, launch_short, NULL) == 0);
    usleep(50000);
    uint64_t before = worked();
    sl_os_sleep_nanos(SECOND);
    double points = (double)(worked() - before) / 1e7;
    CHECK(points > 7 && points < 13, "%.2f %% of a second under a cap of 10 %%", points);
    set_cap(0, 0);
    pthread_join(thread, NULL);
}

static void should_follow_a_cap_that_changes(void) {
    begin("5%", "1");
    launch(SECOND);
    until_stopped();
    set_cap(500, 1);
    double took = seconds_until_done();
    CHECK(took > 1.8 && took < 2.3, "%.2f s", took);
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

static void *wait_in_the_driver(void *unused) {
    CHECK(real.cuCtxSetCurrent(context) == 0);
    sl_hold_enter(); /* as the wrappers do */
    usleep(1500000);
    sl_hold_leave();
    return unused;
}

/* The pause has taken work off the GPU while a call is in the driver, and then the driver refuses a control call, so the work runs again. Memory may
 * move only when the call is back. */
static void should_hold_again_when_control_ends_during_a_pause(void) {
    pthread_t thread;
    setenv("SLUICE_SIM_RM", "set@9+=0x1b", 1);
    begin("90%", "1");
    launch(100 * MILLI);
    CHECK(real.cuCtxGetCurrent(&context) == 0 && pthread_create(&thread, NULL, wait_in_the_driver, NULL) == 0);
    usleep(20000);
    CHECK(ask(1 << 8 | SL_REGION_COMMAND_PAUSE) && sl_control_is_stopped(SL_CONTROL_PAUSE));
    for (int i = 0; i < 20 && sl_control_slice(1); i++) {
    }
    CHECK(!sl_control_is_stopped(SL_CONTROL_PAUSE) && sl_hold_count() > 0);
    CHECK(ask(2 << 8 | SL_REGION_COMMAND_EVICT));
    CHECK(sl_hold_count() == 0, "memory moved while %u calls were in the driver", sl_hold_count());
    CHECK(ask(3 << 8 | SL_REGION_COMMAND_RUN));
    CHECK(pthread_join(thread, NULL) == 0);
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

static void *control_slices(void *over) {
    for (unsigned i = 0; !*(volatile bool *)over; i++) {
        sl_control_slice(i % 2);
        sl_control_stop(SL_CONTROL_STRICT);
        sl_control_go(SL_CONTROL_STRICT);
    }
    return NULL;
}

/* The driver closes its descriptors at any moment of that. */
static void should_keep_control_when_the_driver_stores_its_state(void) {
    pthread_t thread;
    bool over = false;
    begin("25%", "1");
    launch(MILLI);
    wait_for_all();
    CHECK(sl_control_is_ready() && pthread_create(&thread, NULL, control_slices, &over) == 0);
    CHECK(ask(1 << 8 | SL_REGION_COMMAND_EVICT));
    CHECK(ask(2 << 8 | SL_REGION_COMMAND_VACATE));
    CHECK(sl_tenant.region.slots[sl_tenant.slot].slice_micros == 0);
    atomic_store(&limits->room_nanos, sl_os_nanos());
    CHECK(ask(3 << 8 | SL_REGION_COMMAND_RUN));
    over = true;
    pthread_join(thread, NULL);
    CHECK(sl_control_is_ready(), "%s", sl_control_obstacle());
    launch(300 * MILLI);
    double took = seconds_until_done();
    CHECK(took > 0.9, "%.2f s", took);
}

static void should_hold_until_the_context_is_destroyed(void) {
    CUcontext other;
    begin("25%", "1");
    launch(MILLI);
    wait_for_all();
    CHECK(hook_cuCtxCreate_v2(&other, 0, 0) == 0);
    load_spin();
    launch(400 * MILLI);
    uint64_t start = sl_os_nanos();
    CHECK(hook_cuCtxDestroy_v2(other) == 0);
    double took = (double)(sl_os_nanos() - start) / 1e9;
    CHECK(took > 1.4 && took < 1.9, "%.2f s", took);
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

int main(int argc, char **argv) {
    only = argc > 1 ? argv[1] : NULL;
    RUN(should_charge_only_time_on_the_gpu);
    RUN(should_let_go_when_the_cap_is_taken_back);
    RUN(should_let_go_when_strict_is_taken_back);
    RUN(should_begin_inside_a_kernel);
    RUN(should_follow_a_cap_that_changes);
    RUN(should_stay_off_while_the_process_is_paused);
    RUN(should_hold_again_when_control_ends_during_a_pause);
    RUN(should_give_memory_back_after_a_pause);
    RUN(should_keep_control_when_the_driver_stores_its_state);
    RUN(should_hold_until_the_context_is_destroyed);
    RUN(should_say_once_that_slices_are_off);
    RUN(should_go_on_when_the_driver_refuses_the_probe);
    RUN(should_go_on_when_the_driver_refuses_to_stop);
    RUN(should_go_on_when_the_driver_refuses_a_later_stop);
    RUN(should_go_on_when_a_stop_is_slow);
    RUN(should_put_the_work_back_when_the_driver_refused_to);
    RUN(should_go_on_after_a_fork);
    RUN(should_end_while_it_is_off);
    RUN(should_leave_short_kernels_to_the_gate);
    RUN(should_hold_in_every_second_of_a_kernel);
    return 0;
}
