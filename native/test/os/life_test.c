/* A place in a file is held exactly as long as the program image that took it, seen from any namespace. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/life.h"
#include "os/os.h"
#include "os/timens.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define PLACE 128u

static char path[64];
static int file;

static void begin(void) {
    snprintf(path, sizeof path, "/dev/shm/sluice-life-%d", (int)getpid());
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0);
}

static void end(void) {
    close(file);
    unlink(path);
}

static void wait_for(sl_life_t wanted) {
    for (int i = 0; i < 2000 && sl_life_of(file, PLACE) != wanted; i++)
        sl_os_sleep_nanos(1000000);
    CHECK(sl_life_of(file, PLACE) == wanted);
}

typedef void body_t(void);

static pid_t start(body_t *body) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    return child;
}

static void kill_and_wait(pid_t child) {
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
}

static void take(void) {
    CHECK(sl_life_begin(file, PLACE));
    pause();
}

static void should_hold_a_place_until_the_process_is_killed(void) {
    begin();
    CHECK(sl_life_of(file, PLACE) == SL_LIFE_ENDED);
    pid_t child = start(take);
    wait_for(SL_LIFE_ALIVE);
    CHECK(sl_life_of(file, PLACE + 1) == SL_LIFE_ENDED);
    CHECK(!sl_life_begin(file, PLACE), "two have one place");
    kill_and_wait(child);
    CHECK(sl_life_of(file, PLACE) == SL_LIFE_ENDED);
    end();
}

static void take_and_close_everything(void) {
    CHECK(sl_life_begin(file, PLACE));
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    pause();
}

static void should_hold_a_place_without_a_descriptor(void) {
    begin();
    pid_t child = start(take_and_close_everything);
    wait_for(SL_LIFE_ALIVE);
    sl_os_sleep_nanos(20000000);
    CHECK(sl_life_of(file, PLACE) == SL_LIFE_ALIVE);
    kill_and_wait(child);
    end();
}

static void take_and_execute(void) {
    CHECK(sl_life_begin(file, PLACE));
    sl_os_sleep_nanos(50000000);
    execl("/bin/sleep", "sleep", "30", (char *)NULL);
}

static void should_end_with_execve(void) {
    begin();
    pid_t child = start(take_and_execute);
    wait_for(SL_LIFE_ALIVE);
    wait_for(SL_LIFE_ENDED);
    CHECK(waitpid(child, NULL, WNOHANG) == 0, "sleep does not run");
    kill_and_wait(child);
    end();
}

static void should_not_live_on_in_a_child(void) {
    begin();
    void *sign = sl_life_begin(file, PLACE);
    CHECK(sign);
    int looked[2], ended[2];
    char byte = 0;
    CHECK(pipe(looked) == 0 && pipe(ended) == 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK(sl_life_of(file, PLACE) == SL_LIFE_ALIVE, "a child cannot see its parent");
        _exit(write(looked[1], &byte, 1) == 1 && read(ended[0], &byte, 1) == 1 ? 0 : 1);
    }
    CHECK(read(looked[0], &byte, 1) == 1);
    sl_life_end(sign);
    CHECK(sl_life_of(file, PLACE) == SL_LIFE_ENDED, "the child has it");
    CHECK(write(ended[1], &byte, 1) == 1);
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    end();
}

static void take_as_first_process(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        _exit(77);
    pid_t first = fork();
    if (first == 0)
        take();
    pause();
}

static void should_be_seen_from_another_pid_namespace(void) {
    begin();
    pid_t child = start(take_as_first_process);
    int status = 0;
    for (int i = 0; i < 2000 && sl_life_of(file, PLACE) != SL_LIFE_ALIVE && waitpid(child, &status, WNOHANG) == 0; i++)
        sl_os_sleep_nanos(1000000);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("skipped: this machine gives no pid namespaces to tests\n");
        end();
        return;
    }
    CHECK(sl_life_of(file, PLACE) == SL_LIFE_ALIVE);
    char text[32], children[64];
    snprintf(children, sizeof children, "/proc/%d/task/%d/children", (int)child, (int)child);
    CHECK(sl_os_read(children, text, sizeof text) > 0, "%s", children);
    kill((pid_t)atoi(text), SIGKILL);
    wait_for(SL_LIFE_ENDED);
    kill_and_wait(child);
    end();
}

static void should_say_when_it_does_not_know(void) {
    CHECK(sl_life_of(-1, PLACE) == SL_LIFE_UNKNOWN);
    CHECK(!sl_life_begin(-1, PLACE));
    begin();
    int closed = file;
    end();
    errno = 4711;
    CHECK(sl_life_of(closed, PLACE) == SL_LIFE_UNKNOWN && errno == 4711);
}

static void should_not_take_another_file_for_its_own(void) {
    begin();
    void *sign = sl_life_begin(file, PLACE);
    sl_life_file_t judged = sl_life_open(file);
    CHECK(sign && judged.fd > file && sl_life_in(&judged, PLACE) == SL_LIFE_ALIVE);
    int other = open("/dev/null", O_RDWR);
    CHECK(dup2(other, judged.fd) == judged.fd);
    CHECK(sl_life_in(&judged, PLACE) == SL_LIFE_UNKNOWN);
    int number = judged.fd;
    sl_life_close(&judged);
    CHECK(fcntl(number, F_GETFD) >= 0, "the program's descriptor was closed");
    sl_life_end(sign);
    end();
}

static uint64_t *told;

static void tell_time_there(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    sl_timens_forget();
    told[0] = sl_os_nanos();
    told[1] = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void tell_time(void) {
    int offsets = unshare(CLONE_NEWUSER | CLONE_NEWTIME) == 0 ? open("/proc/self/timens_offsets", O_WRONLY) : -1;
    if (offsets < 0 || write(offsets, "monotonic 100000 0\n", 19) != 19)
        _exit(SKIPPED);
    close(offsets);
    _exit(in_child(tell_time_there));
}

static void should_have_one_time_in_all_time_namespaces(void) {
    told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t before = sl_os_nanos();
    int status = in_child(tell_time);
    uint64_t after = sl_os_nanos();
    if (status == SKIPPED) {
        printf("skipped: this machine gives no time namespaces to tests\n");
        return;
    }
    CHECK(status == 0, "%d", status);
    CHECK(told[1] > before + 90000000000000ull, "the namespace is not another");
    CHECK(told[0] >= before && told[0] <= after, "off by %lld ns", (long long)(told[0] - before));
}

int main(void) {
    RUN(should_hold_a_place_until_the_process_is_killed);
    RUN(should_hold_a_place_without_a_descriptor);
    RUN(should_end_with_execve);
    RUN(should_not_live_on_in_a_child);
    RUN(should_be_seen_from_another_pid_namespace);
    RUN(should_say_when_it_does_not_know);
    RUN(should_not_take_another_file_for_its_own);
    RUN(should_have_one_time_in_all_time_namespaces);
    return 0;
}
