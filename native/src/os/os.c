/* os: what Sluice asks the kernel about processes, files and time.
 *
 * Only functions that glibc 2.17 has; stat and its kin got new symbol versions in 2.33, so they are raw calls here. */
#define _GNU_SOURCE
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/timens.h"

#define HIGH_DESCRIPTOR 512

ssize_t sl_os_read(const char *path, char *buffer, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t length = 0;
    while (length < size - 1) {
        ssize_t got = read(fd, buffer + length, size - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    buffer[length] = 0;
    return (ssize_t)length;
}

/* A write may raise SIGPIPE (the reader is gone), SIGXFSZ (the file has its largest size) and SIGTTOU (the terminal belongs to another
 * job). The kernel sends them to the writing thread. So the thread blocks them during the write, and then removes those that the write
 * raised. */
void sl_os_print(int fd, const char *line, size_t length) {
    enum { PRINT_MILLIS = 1000 };
    int saved = errno;
    sigset_t raised, before, pending;
    sigemptyset(&raised);
    sigaddset(&raised, SIGPIPE);
    sigaddset(&raised, SIGXFSZ);
    sigaddset(&raised, SIGTTOU);
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (poll(&ready, 1, PRINT_MILLIS) == 1 && ready.revents & POLLOUT && sigprocmask(SIG_BLOCK, &raised, &before) == 0) {
        sigpending(&pending);
        ssize_t ignored = write(fd, line, length);
        (void)ignored;
        for (int number = 1; number < NSIG; number++)
            if (sigismember(&pending, number) == 1)
                sigdelset(&raised, number);
        struct timespec now = {0, 0};
        while (sigtimedwait(&raised, NULL, &now) > 0)
            ;
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    errno = saved;
}

bool sl_os_process(pid_t pid, sl_os_process_t *process) {
    char path[32] = "/proc/self/stat", text[1024];
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (sl_os_read(path, text, sizeof text) <= 0)
        return false;
    char *at = strrchr(text, ')'); /* the name before it may hold anything, also ") Z 1" */
    if (!at || at[1] != ' ' || !at[2])
        return false;
    process->state = at[2];
    uint64_t fields[29] = {0};
    at += 3;
    for (int field = 4; field <= 28 && *at; field++) {
        while (*at == ' ' || *at == '-')
            at++;
        while (*at >= '0' && *at <= '9')
            fields[field] = fields[field] * 10 + (uint64_t)(*at++ - '0');
    }
    process->parent = (pid_t)fields[4];
    process->threads = fields[20];
    process->start_ticks = fields[22];
    process->memory_bytes = fields[23];
    process->stack = fields[28];
    return true;
}

bool sl_os_is_alone(void) {
    int saved = errno;
    sl_os_process_t self;
    bool alone = sl_os_process(0, &self) && self.threads == 1;
    errno = saved;
    return alone;
}

int sl_os_raise(int fd) {
    int saved = errno, high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    if (high >= 0)
        close(fd);
    errno = saved;
    return high >= 0 ? high : fd;
}

void sl_os_widen(void) {
    int saved = errno, any = sl_os_raise(open("/", O_PATH | O_CLOEXEC));
    if (any >= 0)
        close(any);
    errno = saved;
}

uint64_t sl_os_identity(pid_t pid, const sl_os_process_t *process) {
    return (process->start_ticks << 22 | (uint64_t)pid) & ~(1ull << 63);
}

pid_t sl_os_pid(uint64_t identity) {
    return (pid_t)(identity & 0x3fffff);
}

static uint32_t stack_part(uint64_t stack) {
    return (uint32_t)(stack >> 4);
}

uint64_t sl_os_image(const sl_os_process_t *self) {
    uint32_t drawn = 0;
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random)
        memcpy(&drawn, random, sizeof drawn);
    return (uint64_t)drawn << 32 | stack_part(self->stack);
}

/* In a new pid namespace /proc may still be that of the old one. */
static bool proc_is_ours(void) {
    static _Atomic pid_t known; /* the process that found this true; negative: false */
    pid_t own = getpid(), seen = known;
    if (seen != own && seen != -own) {
        char link[16] = "";
        ssize_t length = readlink("/proc/self", link, sizeof link - 1);
        known = seen = length > 0 && atoi(link) == own ? own : -own;
    }
    return seen == own;
}

bool sl_os_alive(uint64_t identity, uint64_t image) {
    pid_t pid = sl_os_pid(identity);
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return false;
    sl_os_process_t process;
    if (!proc_is_ours())
        return true;
    if (!sl_os_process(pid, &process))
        return !(kill(pid, 0) != 0 && errno == ESRCH);
    if (sl_os_identity(pid, &process) != identity)
        return false;
    /* A main thread that ended before the others is a zombie too, but the process lives. */
    if ((process.state == 'Z' || process.state == 'X') && process.threads <= 1)
        return false;
    uint32_t part = (uint32_t)image;
    return !part || !process.stack || part == stack_part(process.stack);
}

bool sl_os_is_ending(uint64_t identity) {
    sl_os_process_t process;
    pid_t pid = sl_os_pid(identity);
    return proc_is_ours() && sl_os_process(pid, &process) && sl_os_identity(pid, &process) == identity && !process.memory_bytes &&
           !((process.state == 'Z' || process.state == 'X') && process.threads <= 1);
}

bool sl_os_stat(int fd, struct stat *status) {
    return syscall(SYS_fstat, fd, status) == 0;
}

bool sl_os_lstat(const char *path, struct stat *status) {
    return syscall(SYS_lstat, path, status) == 0;
}

uint64_t sl_os_pid_namespace(void) {
    struct stat status;
    return syscall(SYS_stat, "/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

uint64_t sl_os_proc_namespace(void) {
    return proc_is_ours() ? sl_os_pid_namespace() : SL_OS_UNKNOWN_NAMESPACE;
}

static uint64_t clock_nanos(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t sl_os_wall_nanos(void) {
    return clock_nanos(CLOCK_REALTIME);
}

uint64_t sl_os_nanos(void) {
    return clock_nanos(CLOCK_MONOTONIC) - (uint64_t)sl_timens_offset();
}

uint64_t sl_os_coarse_nanos(void) {
    return clock_nanos(CLOCK_MONOTONIC_COARSE) - (uint64_t)sl_timens_offset();
}

unsigned sl_os_processors(void) {
    static _Atomic unsigned known;
    if (!known) {
        long count = sysconf(_SC_NPROCESSORS_ONLN);
        known = count > 0 ? (unsigned)count : 1;
    }
    return known;
}

void sl_os_sleep_nanos(uint64_t nanos) {
    struct timespec span = {(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)};
    nanosleep(&span, NULL);
}
