/* The room slices on a kernel driver of the test's own, reached as the real one is: by a library's table of addresses for ioctl. */
#define _GNU_SOURCE
#include "on_libcuda.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fork.h"
#include "os/os.h"
#include "slices/channels.h"
#include "slices/control.h"

/* What the kernel driver does. */
static struct {
    uint64_t slice[8];
    bool disabled[8], preempted[8];
    unsigned sets, gets, switches, alien;
    uint32_t set_status, get_status, switch_status; /* 0: OK */
    unsigned refuses_from;                          /* calls of ours from this one on; 0: none */
    bool fails, lies;
    uint64_t delay_nanos, other_value;
} kernel;
static unsigned ours;

static uint32_t answer(uint32_t command, uint32_t object, void *parameters) {
    uint64_t *micros = parameters;
    sl_rm_disable_t *disable = parameters;
    unsigned group = (object - GROUP) / 16;
    switch (command) {
    case SL_RM_SET_SLICE:
        kernel.sets++;
        if (!kernel.set_status && !kernel.lies)
            kernel.slice[group] = *micros;
        return counting ? kernel.set_status : 0;
    case SL_RM_GET_SLICE:
        kernel.gets++;
        *micros = kernel.other_value ? kernel.other_value : kernel.slice[group];
        return kernel.get_status;
    case SL_RM_PREEMPT:
        kernel.preempted[group] = true;
        return 0;
    case SL_RM_DISABLE:
        kernel.switches++;
        CHECK(object == SUBDEVICE && disable->count && !disable->rewind && !disable->only_scheduling && !disable->event);
        for (unsigned i = 0; i < disable->count; i++)
            kernel.disabled[(disable->channels[i] - GROUP) / 16] = disable->disable;
        return kernel.switch_status;
    }
    kernel.alien++;
    return 0x56;
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (_IOC_TYPE(request) != 'F')
        return (int)syscall(SYS_ioctl, fd, request, argument);
    if (_IOC_NR(request) != SL_RM_CONTROL)
        return 0;
    sl_rm_control_t *control = argument;
    if (counting)
        ours++;
    if (counting && kernel.delay_nanos)
        sl_os_sleep_nanos(kernel.delay_nanos);
    if (counting && kernel.fails) {
        errno = EPERM;
        return -1;
    }
    bool refuses = counting && kernel.refuses_from && ours >= kernel.refuses_from;
    control->status = refuses ? 0x1b : answer(control->command, control->object, (void *)(uintptr_t)control->parameters);
    errno = 77;
    return 0;
}

static unsigned group_count(void) {
    sl_channels_group_t groups[SL_CHANNELS_GROUPS];
    unsigned count = 99;
    CHECK(sl_channels_read(groups, &count));
    return count;
}

static void should_learn_groups_and_channels(void) {
    begin(3);
    sl_channels_group_t groups[SL_CHANNELS_GROUPS];
    unsigned count;
    CHECK(sl_channels_read(groups, &count) && count == 3, "%u groups", count);
    for (unsigned i = 0; i < count; i++)
        CHECK(groups[i].count == 3 && groups[i].subdevice == SUBDEVICE && groups[i].own_micros == 2048 && groups[i].fd == fd && groups[i].client == CLIENT);
}

static void should_forget_what_is_freed(void) {
    begin(4);
    release(group_of(1));
    CHECK(group_count() == 3, "%u", group_count());
    release(0x12345678);
    CHECK(group_count() == 3);
    make_group(1);
    CHECK(group_count() == 4);
    release(DEVICE);
    CHECK(group_count() == 0, "%u", group_count());
}

static void should_forget_the_objects_of_a_client(void) {
    begin(2);
    sl_rm_free_t words = {CLIENT, CLIENT, CLIENT, 0};
    CHECK(call(fd, _IOC(3, 'F', SL_RM_FREE, sizeof words), &words) == 0);
    CHECK(group_count() == 0);
}

static void should_control_slices(void) {
    begin(3);
    CHECK(sl_control_slice(1) == 1 && kernel.slice[0] == 1 && kernel.slice[2] == 1);
    make_group(3);
    CHECK(kernel.slice[3] == 2048);
    CHECK(sl_control_slice(1) == 1 && kernel.slice[3] == 1);
    CHECK(sl_control_slice(0) == 2048 && kernel.slice[0] == 2048 && kernel.slice[3] == 2048);
    CHECK(kernel.alien == 0);
}

static void should_stop_and_go(void) {
    begin(2);
    CHECK(sl_control_stop(SL_CONTROL_PAUSE) && kernel.disabled[0] && kernel.disabled[1] && sl_control_is_stopped(SL_CONTROL_PAUSE));
    CHECK(sl_control_go(SL_CONTROL_PAUSE) && !kernel.disabled[0] && !kernel.disabled[1] && !sl_control_is_stopped(SL_CONTROL_PAUSE));
    unsigned before = kernel.switches;
    CHECK(sl_control_go(SL_CONTROL_PAUSE) && kernel.switches == before);
    unsigned interruptions = sl_control_interruptions();
    CHECK(sl_control_preempt() && sl_control_interruptions() != interruptions && kernel.preempted[0] && kernel.preempted[1]);
}

static void should_have_nothing_after_a_checkpoint_until_libcuda_is_back(void) {
    begin(1);
    CHECK(sl_control_slice(1) == 1);
    close(fd);
    sl_control_drop();
    CHECK(group_count() == 0 && sl_control_slice(1) == 0);
    counting = false;
    begin_driver(2);
    CHECK(sl_control_slice(1) == 1 && kernel.slice[1] == 1);
}

/* From before the driver closes its descriptors until libcuda has opened them again. */
static void should_make_no_call_while_the_driver_stores_its_state(void) {
    begin(2);
    CHECK(sl_control_slice(1) == 1 && sl_control_stop(SL_CONTROL_STRICT) && kernel.disabled[1]);
    sl_control_suspend();
    CHECK(!kernel.disabled[0] && !kernel.disabled[1] && !sl_control_is_stopped(SL_CONTROL_STRICT), "work is off, and the driver would wait for it");
    unsigned before = ours;
    close(fd);
    CHECK(!sl_control_stop(SL_CONTROL_STRICT) && !sl_control_slice(0) && !sl_control_preempt() && sl_control_go(SL_CONTROL_STRICT));
    CHECK(!sl_control_is_ready() && !sl_control_obstacle() && ours == before, "%u calls", ours - before);
    sl_control_drop();
    counting = false;
    begin_driver(2);
    before = ours;
    CHECK(!sl_control_stop(SL_CONTROL_STRICT) && ours == before, "the driver is in the middle of it");
    sl_control_resume();
    CHECK(sl_control_is_ready() && sl_control_slice(1) == 1 && sl_control_stop(SL_CONTROL_STRICT) && sl_control_go(SL_CONTROL_STRICT));
}

static void should_go_on_when_the_driver_did_not_store_its_state(void) {
    begin(2);
    CHECK(sl_control_slice(1) == 1);
    sl_control_suspend();
    unsigned version = sl_channels_version();
    CHECK(sl_control_slice(0) == 0 && kernel.slice[0] == 1);
    sl_control_resume();
    CHECK(sl_channels_version() != version, "nobody would ask again");
    CHECK(sl_control_slice(0) == 2048 && kernel.slice[0] == 2048 && kernel.slice[1] == 2048);
}

/* A busy machine, for a while. One process without slices takes them from all on its board. */
static void should_probe_again_after_a_slow_probe(void) {
    begin(1);
    kernel.delay_nanos = 150000000;
    CHECK(!sl_control_is_ready() && sl_control_obstacle());
    kernel.delay_nanos = 0;
    unsigned before = ours;
    CHECK(!sl_control_is_ready() && ours == before, "it does not wait");
    usleep(2100000);
    CHECK(sl_control_is_ready() && !sl_control_obstacle() && sl_control_slice(1) == 1);
}

static void should_not_probe_again_after_slow_calls(void) {
    begin(1);
    CHECK(sl_control_is_ready());
    kernel.delay_nanos = 150000000;
    for (int i = 0; i < 3; i++)
        sl_control_slice(i % 2);
    CHECK(!sl_control_is_ready());
    kernel.delay_nanos = 0;
    usleep(2100000);
    CHECK(!sl_control_is_ready());
}

static void should_not_call_on_a_descriptor_that_is_another_file_now(void) {
    begin(1);
    int pipes[2];
    CHECK(pipe(pipes) == 0 && dup2(pipes[0], fd) == fd);
    unsigned before = ours;
    CHECK(!sl_control_is_ready() && ours == before);
}

static void should_forget_in_the_child_of_a_fork(void) {
    begin(2);
    CHECK(sl_control_slice(1) == 1);
    sl_fork_begin();
    pid_t child = fork();
    if (!child)
        _exit(group_count() == 0 && !sl_control_is_ready() ? 0 : 1);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(sl_control_slice(0) == 2048);
}

static void should_do_nothing_when_switched_off(void) {
    sl_options_slices = SL_OPTIONS_SLICES_OFF;
    load(FAKE_RM);
    CHECK(!sl_hook_is_set());
    begin_driver(1);
    CHECK(group_count() == 0 && !sl_control_is_ready() && ours == 0);
}

static void should_hook_a_library_that_binds_late(void) {
    sl_options_slices = SL_OPTIONS_SLICES_ON;
    struct link_map *map = dlopen(FAKE_RM_LAZY, RTLD_LAZY | RTLD_LOCAL);
    CHECK(map);
    *(void **)&call = dlsym(map, "fake_rm_call");
    sl_driver_cuda.map = map;
    sl_hook_begin();
    CHECK(sl_hook_is_set());
    begin_driver(1);
    CHECK(group_count() == 1 && sl_control_slice(1) == 1);
}

static void should_say_absent_until_there_is_a_group(void) {
    begin(0);
    CHECK(!sl_control_is_ready() && sl_control_slice(1) == 0 && !sl_control_stop(SL_CONTROL_PAUSE));
    counting = false;
    make_group(0);
    counting = true;
    CHECK(sl_control_is_ready());
}

static void should_leave_auto_off_with_an_unknown_driver(void) {
    sl_options_slices = SL_OPTIONS_SLICES_AUTO;
    load(FAKE_RM);
    begin_driver(1);
    if (access("/proc/driver/nvidia/version", R_OK) == 0)
        return;
    CHECK(!sl_control_is_ready() && ours == 0);
}

/* Behaviours of the control calls: after any of them the process is off, its slices are libcuda's, and its channels run. */
typedef struct {
    const char *name;
    uint32_t set_status, get_status, switch_status;
    unsigned refuses_from;
    bool fails, lies;
    uint64_t delay_nanos, other_value;
    bool survives_probe; /* it shows only later */
} behaviour_t;

static const behaviour_t behaviours[] = {
    {.name = "set: insufficient permissions", .set_status = 0x1b},
    {.name = "set: not supported", .set_status = 0x56},
    {.name = "set: invalid argument", .set_status = 0x1f},
    {.name = "set: invalid client", .set_status = 0x23},
    {.name = "set: object not found", .set_status = 0x57},
    {.name = "set: time-out", .set_status = 0x65},
    {.name = "set: unknown status", .set_status = 0xdeadbeef},
    {.name = "get: insufficient permissions", .get_status = 0x1b},
    {.name = "get: not supported", .get_status = 0x56},
    {.name = "get: invalid parameters", .get_status = 0x37},
    {.name = "get: another value", .other_value = 1000},
    {.name = "get: nanoseconds", .other_value = 2048000},
    {.name = "get: huge value", .other_value = UINT64_MAX},
    {.name = "the call fails with EPERM", .fails = true},
    {.name = "each call takes a second", .delay_nanos = 1000000000},
    {.name = "each call takes 150 ms", .delay_nanos = 150000000},
    {.name = "disable: insufficient permissions", .switch_status = 0x1b, .survives_probe = true},
    {.name = "disable: not supported", .switch_status = 0x56, .survives_probe = true},
    {.name = "disable: unknown status", .switch_status = 0xffff0000, .survives_probe = true},
    {.name = "refuses from its third call on", .refuses_from = 3, .survives_probe = true},
    {.name = "refuses from its fourth call on", .refuses_from = 4, .survives_probe = true},
};

static const behaviour_t *behaviour;

static void should_fall_back(void) {
    begin(1);
    kernel.set_status = behaviour->set_status;
    kernel.get_status = behaviour->get_status;
    kernel.switch_status = behaviour->switch_status;
    kernel.refuses_from = behaviour->refuses_from;
    kernel.fails = behaviour->fails;
    kernel.delay_nanos = behaviour->delay_nanos;
    kernel.other_value = behaviour->other_value;
    CHECK(sl_control_is_ready() == behaviour->survives_probe, "ready: %d", sl_control_is_ready());
    if (behaviour->survives_probe) {
        sl_control_slice(1);
        CHECK(!sl_control_stop(SL_CONTROL_PAUSE));
    }
    CHECK(!sl_control_is_ready() && sl_control_slice(1) == 0 && !sl_control_stop(SL_CONTROL_PAUSE) && !sl_control_is_stopped(SL_CONTROL_PAUSE));
    unsigned before = ours;
    CHECK(!sl_control_is_ready() && sl_control_slice(0) == 0 && sl_control_go(SL_CONTROL_PAUSE) && ours == before, "it goes on calling");
    if (!behaviour->refuses_from)
        CHECK(kernel.slice[0] == 2048 && !kernel.disabled[0], "slice %llu", (unsigned long long)kernel.slice[0]);
}

static void *make_and_free(void *number) {
    for (int i = 0; i < 300; i++) {
        make_group((unsigned)(uintptr_t)number);
        release(group_of((unsigned)(uintptr_t)number));
    }
    return NULL;
}

static void should_control_while_contexts_come_and_go(void) {
    begin(1);
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, make_and_free, (void *)(i + 2)) == 0);
    for (int i = 0; i < 500; i++)
        CHECK(sl_control_slice(i % 2) == (i % 2 ? 1u : 2048u));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(group_count() == 1);
}

static void should_be_off_with_more_groups_than_fit(void) {
    begin(0);
    counting = false;
    for (unsigned i = 0; i <= SL_CHANNELS_GROUPS; i++) {
        allocate(DEVICE, 0x6c000000 + i, SL_RM_GROUP, true, false);
        uint64_t micros = 2048;
        sl_rm_control_t control = {CLIENT, 0x6c000000 + i, SL_RM_SET_SLICE, 0, (uintptr_t)&micros, sizeof micros, 0};
        kernel.lies = true;
        CHECK(call(fd, SL_RM_CONTROL_REQUEST, &control) == 0);
    }
    counting = true;
    CHECK(!sl_control_is_ready() && ours == 0);
}

/* Each in a process of its own, because a hook stays. */
static void run(void (*test)(void), const char *name) {
    pid_t child = fork();
    if (!child) {
        test();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "%s: status 0x%x", name, status);
}

#undef RUN
#define RUN(test) run(test, #test)

int main(void) {
    RUN(should_learn_groups_and_channels);
    RUN(should_forget_what_is_freed);
    RUN(should_forget_the_objects_of_a_client);
    RUN(should_control_slices);
    RUN(should_stop_and_go);
    RUN(should_have_nothing_after_a_checkpoint_until_libcuda_is_back);
    RUN(should_make_no_call_while_the_driver_stores_its_state);
    RUN(should_go_on_when_the_driver_did_not_store_its_state);
    RUN(should_probe_again_after_a_slow_probe);
    RUN(should_not_probe_again_after_slow_calls);
    RUN(should_not_call_on_a_descriptor_that_is_another_file_now);
    RUN(should_forget_in_the_child_of_a_fork);
    RUN(should_do_nothing_when_switched_off);
    RUN(should_hook_a_library_that_binds_late);
    RUN(should_say_absent_until_there_is_a_group);
    RUN(should_leave_auto_off_with_an_unknown_driver);
    RUN(should_control_while_contexts_come_and_go);
    RUN(should_be_off_with_more_groups_than_fit);
    for (behaviour = behaviours; behaviour < behaviours + sizeof behaviours / sizeof *behaviours; behaviour++)
        run(should_fall_back, behaviour->name);
    return 0;
}
