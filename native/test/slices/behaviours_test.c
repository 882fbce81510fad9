/* How the kernel driver may behave after the probe, and while work is off the GPU. In each case the library goes on or falls back, says it once,
 * and nothing stays off the GPU. */
#include "on_libcuda.h"

#include <stdarg.h>
#include <sys/syscall.h>

#include "os/fork.h"
#include "os/os.h"
#include "slices/control.h"
#include "slices/stops.h"

#define MILLI 1000000ull
#define GROUPS 3u
#define MANY 80u
#define CHANNELS 80u

enum { NONE, SET, GET, PREEMPT, DISABLE, ENABLE, ANY }; /* kinds of calls */
enum { OK, PERMISSIONS = 0x1b, SIZE = 0x37, UNSUPPORTED = 0x56, NOT_FOUND = 0x57, TIMEOUT = 0x65 };

typedef enum {
    ANSWERS,  /* a status, and does nothing */
    DOES_AND_ANSWERS,
    FAILS,    /* with an errno, and does nothing */
    LIES,     /* says OK and does nothing */
    SAYS_NOTHING, /* leaves the status as it was */
    TELLS,    /* a slice */
    SLEEPS,   /* milliseconds, then does it */
    /* What libcuda does at that moment, in another thread: */
    FREES_GROUP,
    FREES_CHANNEL,
    MAKES_CHANNEL,
    SWAPS_CHANNEL, /* makes one, and frees the one that it made before, or one of the first */
    MAKES_CHANNELS,
    MAKES_GROUPS,
    FREES_ALL,
} action_t;

typedef struct {
    const char *name;
    unsigned kind, from, to; /* which calls of this kind, by number; to 0: all */
    action_t action;
    uint64_t value;
    bool goes_on; /* the library still controls its slices afterwards */
    bool mends;   /* it says that work is not put back, and later that it is */
} behaviour_t;

static const behaviour_t behaviours[] = {
    {"all is well", NONE, 0, 0, ANSWERS, 0, true, false},
    {"get: refused", GET, 1, 0, ANSWERS, PERMISSIONS, false, false},
    {"get: another value", GET, 1, 0, TELLS, 1000, false, false},
    {"get: zero", GET, 1, 0, TELLS, 0, false, false},
    {"get: refused for the second group", GET, 2, 0, ANSWERS, NOT_FOUND, false, false},
    {"set: refused at the probe", SET, 1, 0, ANSWERS, PERMISSIONS, false, false},
    {"set: refused after the probe", SET, 4, 0, ANSWERS, PERMISSIONS, false, false},
    {"set: refused in the middle", SET, 5, 5, ANSWERS, PERMISSIONS, false, false},
    {"set: says OK and does nothing", SET, 4, 0, LIES, 0, true, false},
    {"any: ENOTTY", ANY, 1, 0, FAILS, ENOTTY, false, false},
    {"any: EINTR once", ANY, 1, 1, FAILS, EINTR, true, false},
    {"any: EINTR now and then", ANY, 20, 21, FAILS, EINTR, true, false},
    {"any: EINTR for ever", ANY, 1, 0, FAILS, EINTR, false, false},
    {"any: EAGAIN once", ANY, 12, 12, FAILS, EAGAIN, true, false},
    {"any: the status is not written", ANY, 1, 0, SAYS_NOTHING, 0, false, false},
    {"preempt: refused", PREEMPT, 1, 0, ANSWERS, UNSUPPORTED, false, false},
    {"disable: another size is expected", DISABLE, 1, 0, ANSWERS, SIZE, false, false},
    {"disable: refused", DISABLE, 1, 0, ANSWERS, PERMISSIONS, false, false},
    {"disable: refused in the middle", DISABLE, 2, 2, ANSWERS, TIMEOUT, false, false},
    {"disable: refused for the last group", DISABLE, 3, 0, ANSWERS, UNSUPPORTED, false, false},
    {"disable: refused the second time", DISABLE, 4, 4, ANSWERS, PERMISSIONS, false, false},
    {"disable: done, and a time-out", DISABLE, 2, 2, DOES_AND_ANSWERS, TIMEOUT, false, false},
    {"disable: done, and an unknown status", DISABLE, 1, 0, DOES_AND_ANSWERS, 0xdeadbeef, false, false},
    {"disable: EIO", DISABLE, 2, 0, FAILS, EIO, false, false},
    {"disable: says OK and does nothing", DISABLE, 1, 0, LIES, 0, true, false},
    {"disable: the status is not written", DISABLE, 3, 3, SAYS_NOTHING, 0, false, false},
    {"get: takes a second", GET, 1, 1, SLEEPS, 1000, false, false},
    {"disable: takes a second, once", DISABLE, 1, 1, SLEEPS, 1000, true, false},
    {"disable: takes 150 ms each", DISABLE, 1, 0, SLEEPS, 150, false, false},
    {"disable: takes a second in the second round", DISABLE, 7, 9, SLEEPS, 1000, false, false},
    {"enable: refused once", ENABLE, 1, 1, ANSWERS, TIMEOUT, false, false},
    {"enable: refused eight times", ENABLE, 1, 8, ANSWERS, TIMEOUT, false, true},
    {"enable: refused for the middle group", ENABLE, 2, 2, ANSWERS, UNSUPPORTED, false, false},
    {"enable: refused in the second round", ENABLE, 5, 12, ANSWERS, PERMISSIONS, false, true},
    {"enable: EPERM ten times", ENABLE, 1, 10, FAILS, EPERM, false, true},
    {"enable: done, and a time-out", ENABLE, 1, 1, DOES_AND_ANSWERS, TIMEOUT, false, false},
    {"enable: the status is not written", ENABLE, 2, 9, SAYS_NOTHING, 0, false, true},
    {"enable: says OK and does nothing, once", ENABLE, 1, 1, LIES, 0, true, false},
    {"enable: takes a second, once", ENABLE, 2, 2, SLEEPS, 1000, true, false},
    {"enable: takes 150 ms each", ENABLE, 1, 0, SLEEPS, 150, false, false},
    {"a group is freed before it is stopped", DISABLE, 2, 2, FREES_GROUP, 1, true, false},
    {"a group is freed while it is off", ENABLE, 2, 2, FREES_GROUP, 1, true, false},
    {"a channel is freed before its group is stopped", DISABLE, 2, 2, FREES_CHANNEL, 1, true, false},
    {"a channel is freed while its group is off", ENABLE, 2, 2, FREES_CHANNEL, 1, true, false},
    {"a channel is made and one is freed before their group is stopped", DISABLE, 2, 2, SWAPS_CHANNEL, 1, true, false},
    {"channels come and go before every stop of their group", DISABLE, 2, 0, SWAPS_CHANNEL, 1, true, false},
    {"a channel is made while its group is off", ENABLE, 1, 1, MAKES_CHANNEL, 1, true, false},
    {"more channels than one call names are made", ENABLE, 1, 1, MAKES_CHANNELS, 1, false, false},
    {"more groups than fit are made", ENABLE, 1, 1, MAKES_GROUPS, 0, false, false},
    {"all is freed while it is off", ENABLE, 1, 1, FREES_ALL, 0, true, false},
    {"all is freed in the middle of a stop", DISABLE, 2, 2, FREES_ALL, 0, true, false},
};

static const behaviour_t *behaviour;

/* What the kernel driver knows. */
static struct {
    bool exists[MANY], disabled[MANY][CHANNELS], has[MANY][CHANNELS];
    uint64_t slice[MANY];
    unsigned calls[ANY + 1];
    bool acts; /* the behaviour applies */
} kernel;

static unsigned number_of(uint32_t handle) {
    return handle >= 0x6c000000 ? 8 + (handle - 0x6c000000) / 256 : (handle - GROUP) / 16;
}

static unsigned channel_of(uint32_t handle) {
    return handle >= 0x6c000000 ? handle % 256 : handle >= 0x5d000000 ? 16 + handle % 256 : (handle - GROUP) % 16;
}

/* Channels beyond the usual three of group N have numbers of their own. */
static uint32_t more_of(unsigned number, unsigned channel) {
    return 0x5d000000u + number * 256 + channel;
}

static unsigned group_of_channel(uint32_t handle) {
    return handle >= 0x5d000000 && handle < 0x6c000000 ? (handle - 0x5d000000u) / 256 : number_of(handle);
}

static void see_allocation(const uint32_t *words) {
    if (words[3] == SL_RM_GROUP) {
        kernel.exists[number_of(words[2])] = true;
        kernel.slice[number_of(words[2])] = 1000;
    } else if (words[3] == 0xc86f) {
        kernel.has[group_of_channel(words[2])][channel_of(words[2])] = true;
        kernel.disabled[group_of_channel(words[2])][channel_of(words[2])] = false;
    }
}

static void see_release(uint32_t handle) {
    if (handle == DEVICE)
        memset(kernel.exists, 0, sizeof kernel.exists);
    else if (handle >= 0x5d000000 || (handle - GROUP) % 16)
        kernel.has[group_of_channel(handle)][channel_of(handle)] = false;
    else
        kernel.exists[number_of(handle)] = false;
    for (unsigned i = 0; i < MANY; i++)
        if (!kernel.exists[i])
            memset(kernel.has[i], 0, sizeof kernel.has[i]);
}

/* A channel that there is not is refused before anything is done. */
static uint32_t switch_channels(const sl_rm_disable_t *call) {
    CHECK(call->count && call->count <= SL_RM_CHANNELS && !call->rewind && !call->only_scheduling && !call->event);
    for (unsigned i = 0; i < call->count; i++)
        if (!kernel.has[group_of_channel(call->channels[i])][channel_of(call->channels[i])])
            return NOT_FOUND;
    for (unsigned i = 0; i < call->count; i++)
        kernel.disabled[group_of_channel(call->channels[i])][channel_of(call->channels[i])] = call->disable;
    return OK;
}

static uint32_t carry_out(uint32_t command, uint32_t object, void *parameters) {
    if (command == SL_RM_DISABLE)
        return object == SUBDEVICE ? switch_channels(parameters) : NOT_FOUND;
    if (!kernel.exists[number_of(object)])
        return NOT_FOUND;
    if (command == SL_RM_SET_SLICE)
        kernel.slice[number_of(object)] = *(uint64_t *)parameters;
    if (command == SL_RM_GET_SLICE)
        *(uint64_t *)parameters = kernel.slice[number_of(object)];
    return OK;
}

static unsigned kind_of(uint32_t command, const void *parameters) {
    switch (command) {
    case SL_RM_SET_SLICE:
        return SET;
    case SL_RM_GET_SLICE:
        return GET;
    case SL_RM_PREEMPT:
        return PREEMPT;
    default:
        CHECK(command == SL_RM_DISABLE, "command 0x%x", command);
        return ((const sl_rm_disable_t *)parameters)->disable ? DISABLE : ENABLE;
    }
}

static bool applies(unsigned kind) {
    unsigned number = ++kernel.calls[kind], any = ++kernel.calls[ANY], seen = behaviour->kind == ANY ? any : number;
    bool named = behaviour->kind == ANY || behaviour->kind == kind;
    return kernel.acts && named && seen >= behaviour->from && (!behaviour->to || seen <= behaviour->to);
}

static unsigned swapped; /* the channel that was made last; 0: none */

static void do_as_libcuda(void) {
    unsigned number = (unsigned)behaviour->value;
    counting = false;
    switch (behaviour->action) {
    case FREES_GROUP:
        release(group_of(number));
        break;
    case FREES_CHANNEL:
        release(group_of(number) + 2);
        break;
    case MAKES_CHANNEL:
        allocate(group_of(number), more_of(number, 1), 0xc86f, true, false);
        break;
    case SWAPS_CHANNEL:
        release(swapped ? more_of(number, swapped) : group_of(number) + 2);
        swapped = 1 + swapped % 40;
        allocate(group_of(number), more_of(number, swapped), 0xc86f, true, false);
        break;
    case MAKES_CHANNELS:
        for (unsigned i = 0; i < 62; i++)
            allocate(group_of(number), more_of(number, i), 0xc86f, true, false);
        break;
    case MAKES_GROUPS:
        for (unsigned i = 0; i < 70; i++) {
            uint64_t micros = 2048;
            uint32_t handle = 0x6c000000 + i * 256;
            allocate(DEVICE, handle, SL_RM_GROUP, true, false);
            sl_rm_control_t control = {CLIENT, handle, SL_RM_SET_SLICE, 0, (uintptr_t)&micros, sizeof micros, 0};
            CHECK(call(fd, SL_RM_CONTROL_REQUEST, &control) == 0);
        }
        break;
    case FREES_ALL:
        release(DEVICE);
        break;
    default:
        break;
    }
    counting = true;
}

static int control(sl_rm_control_t *words) {
    void *parameters = (void *)(uintptr_t)words->parameters;
    bool acts = counting && applies(kind_of(words->command, parameters));
    action_t action = acts ? behaviour->action : ANSWERS;
    if (acts && action == FAILS)
        return errno = (int)behaviour->value, -1;
    if (acts && action >= FREES_GROUP)
        do_as_libcuda();
    if (acts && action == SLEEPS)
        sl_os_sleep_nanos(behaviour->value * MILLI);
    bool idle = acts && (action == ANSWERS || action == LIES || action == SAYS_NOTHING);
    uint32_t status = idle ? OK : carry_out(words->command, words->object, parameters);
    if (acts && action == TELLS)
        *(uint64_t *)parameters = behaviour->value;
    if (acts && (action == ANSWERS || action == DOES_AND_ANSWERS))
        status = (uint32_t)behaviour->value;
    if (!acts || action != SAYS_NOTHING)
        words->status = status;
    return 0;
}

__attribute__((visibility("default"))) int ioctl(int file, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (_IOC_TYPE(request) != 'F')
        return (int)syscall(SYS_ioctl, file, request, argument);
    uint32_t escape = _IOC_NR(request);
    if (escape == SL_RM_XFER) {
        sl_rm_xfer_t *xfer = argument;
        escape = xfer->escape;
        argument = (void *)(uintptr_t)xfer->parameters;
    }
    int result = 0;
    if (escape == SL_RM_ALLOC)
        see_allocation(argument);
    else if (escape == SL_RM_FREE)
        see_release(((sl_rm_free_t *)argument)->object);
    else
        result = control(argument);
    if (result == 0)
        errno = 77;
    return result;
}

static unsigned channels_off(void) {
    unsigned count = 0;
    for (unsigned i = 0; i < MANY; i++)
        for (unsigned k = 0; k < CHANNELS; k++)
            count += kernel.exists[i] && kernel.has[i][k] && kernel.disabled[i][k];
    return count;
}

static bool slices_are_libcudas(void) {
    for (unsigned i = 0; i < MANY; i++)
        if (kernel.exists[i] && kernel.slice[i] != 2048)
            return false;
    return true;
}

static char log_path[300];

static void begin_log(void) {
    snprintf(log_path, sizeof log_path, "%s/log", test_folder);
    CHECK(freopen(log_path, "w+", stderr));
    setvbuf(stderr, NULL, _IONBF, 0);
}

static unsigned told(const char *words) {
    FILE *file = fopen(log_path, "r");
    char line[1000];
    unsigned count = 0;
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, words) != NULL;
    if (file)
        fclose(file);
    return count;
}

static void until_all_are_on(void) {
    for (int i = 0; i < 3000 && channels_off(); i++)
        usleep(1000);
    CHECK(!channels_off(), "%u channels are off", channels_off());
}

/* What a process with a strict cap does that is paused now and then, and has a neighbour of high priority. */
static void control_for_a_while(void) {
    for (int round = 0; round < 3; round++) {
        sl_control_slice(1);
        sl_control_stop(SL_CONTROL_STRICT);
        sl_control_stop(SL_CONTROL_PAUSE);
        sl_control_go(SL_CONTROL_STRICT);
        sl_control_go(SL_CONTROL_PAUSE);
        sl_control_preempt();
        sl_control_slice(0);
    }
}

static void should_leave_nothing_off(void) {
    bool sets_fail = behaviour->kind == SET || behaviour->kind == ANY;
    begin(GROUPS);
    kernel.acts = true;
    control_for_a_while();
    CHECK(sl_control_is_ready() == behaviour->goes_on || behaviour->action == FREES_ALL, "ready: %d", sl_control_is_ready());
    CHECK(!sl_control_is_stopped(SL_CONTROL_STRICT) && !sl_control_is_stopped(SL_CONTROL_PAUSE));
    until_all_are_on();
    CHECK(sets_fail || slices_are_libcudas());
    usleep(30000); /* a thread that puts work back says so afterwards */
    uint64_t now = sl_os_nanos();
    CHECK(sl_stops_between(now - MILLI, now) == 0, "time is still subtracted");
    CHECK(told("does not control time slices") == !behaviour->goes_on, "said %u times", told("does not control time slices"));
    CHECK(told("does not put the process's work back") == behaviour->mends && told("has put the process's work back") <= 1);
    control_for_a_while();
    CHECK(told("does not control time slices") == !behaviour->goes_on && !channels_off());
}

static const behaviour_t enable_refused = {"enable: refused for good", ENABLE, 1, 0, ANSWERS, TIMEOUT, false, true};

/* It goes on trying, and does not stop the work again meanwhile. */
static void should_go_on_trying_while_the_driver_keeps_work_off(void) {
    behaviour = &enable_refused;
    begin(GROUPS);
    CHECK(sl_control_stop(SL_CONTROL_STRICT) && channels_off() == 9);
    kernel.acts = true;
    CHECK(!sl_control_go(SL_CONTROL_STRICT) && channels_off() == 9 && !sl_control_is_stopped(SL_CONTROL_STRICT));
    unsigned before = kernel.calls[ENABLE];
    usleep(1500000);
    CHECK(kernel.calls[ENABLE] > before + 3 && kernel.calls[ENABLE] < before + 200, "%u calls", kernel.calls[ENABLE] - before);
    CHECK(!sl_control_stop(SL_CONTROL_PAUSE));
    CHECK(told("does not put the process's work back") == 1 && told("has put") == 0);
    uint64_t now = sl_os_nanos();
    CHECK(sl_stops_between(now - 2000 * MILLI, now) < 600 * MILLI && sl_stops_between(now, now + MILLI) == 0, "in doubt time is not subtracted");
    kernel.acts = false;
    until_all_are_on();
    usleep(50000);
    CHECK(told("has put the process's work back") == 1);
}

static bool has_no_threads;

bool __real_sl_thread_start(void *(*body)(void *), void *argument);
bool __wrap_sl_thread_start(void *(*body)(void *), void *argument);
bool __wrap_sl_thread_start(void *(*body)(void *), void *argument) {
    return !has_no_threads && __real_sl_thread_start(body, argument);
}

static void keep_off_without_a_thread(void) {
    behaviour = &enable_refused;
    has_no_threads = true;
    begin(GROUPS);
    CHECK(sl_control_stop(SL_CONTROL_STRICT) && channels_off() == 9);
    kernel.acts = true;
    CHECK(!sl_control_go(SL_CONTROL_STRICT) && channels_off() == 9);
    unsigned before = kernel.calls[ENABLE];
    usleep(100000);
    CHECK(kernel.calls[ENABLE] == before, "there is a thread");
}

/* At the end of the process, for example, which would wait for the work. */
/* The answer to the first call is right, because it names a channel that is gone. The others of its group still ran. */
static void should_stop_a_group_whose_channels_change(void) {
    static const behaviour_t changes = {"", DISABLE, 2, 2, SWAPS_CHANNEL, 1, true, false};
    behaviour = &changes;
    begin(GROUPS);
    kernel.acts = true;
    CHECK(sl_control_stop(SL_CONTROL_STRICT) && channels_off() == 9, "%u channels are off", channels_off());
    CHECK(sl_control_go(SL_CONTROL_STRICT) && !channels_off());
}

/* A stop that cannot be complete leaves nothing off. */
static void should_give_up_a_stop_while_channels_come_and_go(void) {
    static const behaviour_t changes = {"", DISABLE, 2, 0, SWAPS_CHANNEL, 1, true, false};
    behaviour = &changes;
    begin(GROUPS);
    kernel.acts = true;
    CHECK(!sl_control_stop(SL_CONTROL_STRICT) && !channels_off() && !sl_control_is_stopped(SL_CONTROL_STRICT), "%u channels are off", channels_off());
    kernel.acts = false;
    CHECK(sl_control_is_ready() && sl_control_stop(SL_CONTROL_STRICT) && channels_off() == 9 && sl_control_go(SL_CONTROL_STRICT));
}

static void should_put_back_at_a_later_call_without_a_thread(void) {
    keep_off_without_a_thread();
    CHECK(!sl_control_is_ready() && channels_off() == 9);
    kernel.acts = false;
    CHECK(sl_control_go(SL_CONTROL_STRICT) && !channels_off(), "%u channels are off", channels_off());
    CHECK(told("has put the process's work back") == 1);
    unsigned before = kernel.calls[ANY];
    CHECK(sl_control_go(SL_CONTROL_STRICT) && !sl_control_is_ready() && kernel.calls[ANY] == before);
}

static void should_mend_with_a_thread_that_comes_later(void) {
    keep_off_without_a_thread();
    has_no_threads = false;
    CHECK(!sl_control_stop(SL_CONTROL_PAUSE));
    kernel.acts = false;
    until_all_are_on();
}

/* The driver puts the work back and answers an error, for ten minutes: all that time is work. */
static void should_charge_work_that_is_back_in_spite_of_the_answer(void) {
    static const behaviour_t lies = {"enable: done, and a time-out", ENABLE, 1, 0, DOES_AND_ANSWERS, TIMEOUT, false, true};
    behaviour = &lies;
    begin(GROUPS);
    CHECK(sl_control_stop(SL_CONTROL_STRICT));
    kernel.acts = true;
    uint64_t from = sl_os_nanos();
    CHECK(!sl_control_go(SL_CONTROL_STRICT) && !channels_off());
    uint64_t to = sl_os_nanos() + 1000 * MILLI;
    CHECK(sl_stops_between(from, to) < 100 * MILLI, "%.1f ms are free", (double)sl_stops_between(from, to) / 1e6);
}

static void should_make_no_call_in_a_child_and_go_on_in_the_parent(void) {
    behaviour = behaviours;
    begin(GROUPS);
    sl_fork_begin();
    CHECK(sl_control_stop(SL_CONTROL_STRICT) && channels_off() == 9);
    pid_t child = fork();
    if (!child) {
        unsigned before = kernel.calls[ANY];
        bool calm = sl_control_go(SL_CONTROL_STRICT) && !sl_control_stop(SL_CONTROL_STRICT) && !sl_control_is_stopped(SL_CONTROL_STRICT);
        _exit(calm && kernel.calls[ANY] == before && sl_stops_between(0, UINT64_MAX) == 0 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status 0x%x", status);
    CHECK(sl_control_go(SL_CONTROL_STRICT) && !channels_off());
}

static void should_forget_what_is_off_after_a_checkpoint(void) {
    behaviour = behaviours;
    begin(GROUPS);
    CHECK(sl_control_stop(SL_CONTROL_STRICT));
    release(DEVICE);
    sl_control_drop();
    unsigned before = kernel.calls[ANY];
    CHECK(!sl_control_is_stopped(SL_CONTROL_STRICT) && sl_control_go(SL_CONTROL_STRICT) && kernel.calls[ANY] == before);
    uint64_t now = sl_os_nanos();
    CHECK(sl_stops_between(now, now + MILLI) == 0);
}

static void should_stay_off_as_long_as_a_reason_is_left(void) {
    behaviour = behaviours;
    begin(GROUPS);
    CHECK(sl_control_stop(SL_CONTROL_STRICT) && sl_control_stop(SL_CONTROL_PAUSE) && channels_off() == 9);
    unsigned before = kernel.calls[ENABLE];
    CHECK(sl_control_go(SL_CONTROL_STRICT) && channels_off() == 9 && sl_control_go(SL_CONTROL_STRICT) && channels_off() == 9);
    CHECK(kernel.calls[ENABLE] == before && sl_control_is_stopped(SL_CONTROL_PAUSE) && !sl_control_is_stopped(SL_CONTROL_STRICT));
    CHECK(sl_control_go(SL_CONTROL_PAUSE) && !channels_off());
}

/* Each in a process of its own, because a hook stays. */
static void run(void (*test)(void), const char *name) {
    printf("%s\n", name);
    fflush(stdout);
    int own = dup(STDERR_FILENO);
    pid_t child = fork();
    if (!child) {
        alarm(30);
        begin_log();
        test();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status) {
        char line[1000];
        snprintf(log_path, sizeof log_path, "%s/log", test_folder);
        FILE *file = fopen(log_path, "r");
        while (file && fgets(line, sizeof line, file))
            fputs(line, stdout);
    }
    dup2(own, STDERR_FILENO);
    close(own);
    CHECK(status == 0, "%s: status 0x%x", name, status);
}

#undef RUN
#define RUN(test) run(test, #test)

int main(void) {
    use_test_folder();
    for (behaviour = behaviours; behaviour < behaviours + sizeof behaviours / sizeof *behaviours; behaviour++)
        run(should_leave_nothing_off, behaviour->name);
    RUN(should_go_on_trying_while_the_driver_keeps_work_off);
    RUN(should_stop_a_group_whose_channels_change);
    RUN(should_give_up_a_stop_while_channels_come_and_go);
    RUN(should_put_back_at_a_later_call_without_a_thread);
    RUN(should_mend_with_a_thread_that_comes_later);
    RUN(should_charge_work_that_is_back_in_spite_of_the_answer);
    RUN(should_make_no_call_in_a_child_and_go_on_in_the_parent);
    RUN(should_forget_what_is_off_after_a_checkpoint);
    RUN(should_stay_off_as_long_as_a_reason_is_left);
    return 0;
}
