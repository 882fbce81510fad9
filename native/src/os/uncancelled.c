/* uncancelled: the C library's functions that are cancellation points, as versions without cancellation.
 *
 * A thread that is cancelled in our code would leave a lock held, a slot half emptied, a descriptor open, or bytes without an owner. So
 * these functions replace those of the C library, for this library alone: the linker finds them first, and they are not exported. `syscall`
 * is no cancellation point. The test `symbols` fails when a file calls another such function: add it here. A thread with asynchronous
 * cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) cannot be cancelled while it holds a lock. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((visibility("hidden")))
#define KERNEL_SIGNAL_BYTES 8 /* of a set of signals; the C library's has room for more */

OWN int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

OWN int close(int fd) {
    return (int)syscall(SYS_close, fd);
}

OWN ssize_t read(int fd, void *buffer, size_t size) {
    return syscall(SYS_read, fd, buffer, size);
}

OWN ssize_t write(int fd, const void *buffer, size_t size) {
    return syscall(SYS_write, fd, buffer, size);
}

OWN ssize_t pread(int fd, void *buffer, size_t size, off_t offset) {
    return syscall(SYS_pread64, fd, buffer, size, offset);
}

OWN ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset) {
    return syscall(SYS_pwrite64, fd, buffer, size, offset);
}

OWN ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return syscall(SYS_pwritev, fd, parts, (long)count, offset, 0L);
}

OWN int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* If the file system does not support it, writes a byte of each page instead, as the C library does. */
static int write_pages(int fd, off_t offset, off_t length) {
    enum { PAGE = 4096 };
    for (off_t at = offset; at < offset + length; at += PAGE) {
        char byte = 0;
        if (syscall(SYS_pread64, fd, &byte, (size_t)1, at) < 0 || syscall(SYS_pwrite64, fd, &byte, (size_t)1, at) != 1)
            return errno;
    }
    char last = 0;
    bool there = syscall(SYS_pread64, fd, &last, (size_t)1, offset + length - 1) == 1;
    return there || syscall(SYS_pwrite64, fd, &last, (size_t)1, offset + length - 1) == 1 ? 0 : errno;
}

OWN int posix_fallocate(int fd, off_t offset, off_t length) {
    int saved = errno, error = syscall(SYS_fallocate, fd, 0, offset, length) == 0 ? 0 : errno;
    if (error == EOPNOTSUPP)
        error = write_pages(fd, offset, length);
    errno = saved;
    return error;
}

OWN int poll(struct pollfd *fds, nfds_t count, int millis) {
    struct timespec span = {millis / 1000, millis % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, count, millis < 0 ? NULL : &span, NULL, (size_t)KERNEL_SIGNAL_BYTES);
}

OWN int nanosleep(const struct timespec *span, struct timespec *left) {
    return (int)syscall(SYS_nanosleep, span, left);
}

OWN int sigtimedwait(const sigset_t *set, siginfo_t *information, const struct timespec *span) {
    return (int)syscall(SYS_rt_sigtimedwait, set, information, span, (size_t)KERNEL_SIGNAL_BYTES);
}

OWN int connect(int fd, const struct sockaddr *address, socklen_t length) {
    return (int)syscall(SYS_connect, fd, address, length);
}

OWN ssize_t send(int fd, const void *buffer, size_t size, int flags) {
    return syscall(SYS_sendto, fd, buffer, size, flags, NULL, 0);
}

OWN ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    return syscall(SYS_recvmsg, fd, message, flags);
}

OWN ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return syscall(SYS_sendmsg, fd, message, flags);
}

OWN int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    return (int)syscall(SYS_accept4, fd, address, length, flags);
}

OWN ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    return syscall(SYS_recvfrom, fd, buffer, size, flags, NULL, NULL);
}
