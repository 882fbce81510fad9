/* A line on stderr never harms the program: whatever stderr is, no signal, no changed errno, no wait without a bound. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "os/os.h"
#include "os/report.h"

#define BOUND_NANOS 5000000000ull

static void report_once(void) {
    uint64_t began = sl_os_nanos();
    errno = EDOM;
    sl_report_tell("line %d", 1);
    CHECK(errno == EDOM);
    CHECK(sl_os_nanos() - began < BOUND_NANOS);
}

static void use_as_stderr(int fd) {
    CHECK(dup2(fd, STDERR_FILENO) == STDERR_FILENO);
}

static void report_to_a_closed_pipe(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    use_as_stderr(ends[1]);
    close(ends[0]);
    report_once();
}

static void report_to_a_closed_socket(void) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    use_as_stderr(ends[1]);
    close(ends[0]);
    report_once();
}

static void report_to_a_file_at_its_limit(void) {
    char path[64];
    snprintf(path, sizeof path, "%s/full", test_folder);
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 100) == 0 && setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100}) == 0);
    use_as_stderr(fd);
    report_once();
}

static void report_to_a_full_pipe(void) {
    int ends[2];
    char page[4096] = {0};
    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    while (write(ends[1], page, sizeof page) > 0)
        ;
    CHECK(fcntl(ends[1], F_SETFL, 0) == 0);
    use_as_stderr(ends[1]);
    report_once();
}

static void should_survive_any_stderr(void) {
    CHECK(in_child(report_to_a_closed_pipe) == 0);
    CHECK(in_child(report_to_a_closed_socket) == 0);
    CHECK(in_child(report_to_a_file_at_its_limit) == 0);
    alarm(30);
    CHECK(in_child(report_to_a_full_pipe) == 0);
    alarm(0);
}

static void should_leave_the_programs_own_signals_as_they_were(void) {
    sigset_t pipe_signal, before, after, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    int kept = dup(STDERR_FILENO), ends[2];
    CHECK(sigprocmask(SIG_BLOCK, &pipe_signal, NULL) == 0 && raise(SIGPIPE) == 0);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &before) == 0 && pipe(ends) == 0);
    close(ends[0]);
    use_as_stderr(ends[1]);
    report_once();
    use_as_stderr(kept);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &after) == 0 && sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGPIPE) == 1, "the program's own pending SIGPIPE is gone");
    for (int number = 1; number < 32; number++)
        CHECK(sigismember(&before, number) == sigismember(&after, number), "signal %d", number);
    CHECK(sigtimedwait(&pipe_signal, NULL, &(struct timespec){0}) == SIGPIPE);
    use_as_stderr(ends[1]);
    report_once();
    use_as_stderr(kept);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0, "a SIGPIPE that is not the program's is pending");
}

int main(void) {
    use_test_folder();
    RUN(should_survive_any_stderr);
    RUN(should_leave_the_programs_own_signals_as_they_were);
    return 0;
}
