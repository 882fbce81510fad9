/* profile_file: writes text into files of a shared folder, without harm to the host program.
 *
 * Files are opened for each write: a host program may close descriptors that it does not know, and get the same number for a file of its
 * own. Only regular files are written, and never past the host's limit on file size, because that would raise a signal. */
#define _GNU_SOURCE
#include "trace/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/os.h"

#define ATTEMPT_NANOS 100000u
#define TAIL_BYTES 256
#define FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK)

int sl_profile_file_lock(const char *folder, uint64_t patience_nanos) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return SL_PROFILE_FILE_NO_LOCK;
    for (uint64_t began = sl_os_nanos();; sl_os_sleep_nanos(ATTEMPT_NANOS)) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        bool busy = errno == EWOULDBLOCK;
        if (errno != EINTR && (!busy || sl_os_nanos() - began > patience_nanos)) {
            close(fd);
            return busy ? SL_PROFILE_FILE_BUSY : SL_PROFILE_FILE_NO_LOCK;
        }
    }
}

/* A child that was forked in between has the descriptor too, so closing it would not release the lock. */
void sl_profile_file_unlock(int lock) {
    if (lock < 0)
        return;
    flock(lock, LOCK_UN);
    close(lock);
}

/* alone: a partly written text can be removed. */
static bool write_all(int fd, off_t size, const char *text, size_t length, bool alone) {
    struct rlimit files;
    if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY && (rlim_t)size + length > files.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    ssize_t written;
    do
        written = write(fd, text, length);
    while (written < 0 && errno == EINTR);
    if (written == (ssize_t)length)
        return true;
    int problem = written < 0 ? errno : ENOSPC;
    if (written > 0 && alone && ftruncate(fd, size) != 0)
        problem = errno;
    errno = problem;
    return false;
}

static int open_regular(const char *path, int flags, struct stat *status) {
    int fd = open(path, flags | FLAGS, 0644);
    if (fd < 0 || (sl_os_stat(fd, status) && S_ISREG(status->st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static bool close_with(int fd, bool ok) {
    int problem = errno;
    bool closed = close(fd) == 0 || errno == EINTR; /* some file systems report only here that they are full */
    if (!ok)
        errno = problem;
    return ok && closed;
}

bool sl_profile_file_replace(const char *folder, const char *name, const char *text, size_t length) {
    char path[PATH_MAX], temporary[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        snprintf(temporary, sizeof temporary, "%s/.%s.%d.tmp", folder, name, (int)getpid()) >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = open_regular(temporary, O_WRONLY | O_CREAT | O_EXCL, &status);
    if (fd < 0 && errno == EEXIST && unlink(temporary) == 0) /* of a killed process with this number */
        fd = open_regular(temporary, O_WRONLY | O_CREAT | O_EXCL, &status);
    if (fd < 0)
        return false;
    bool ok = close_with(fd, write_all(fd, 0, text, length, true)) && rename(temporary, path) == 0;
    int problem = errno;
    if (!ok)
        unlink(temporary);
    errno = problem;
    return ok;
}

static off_t end_of_lines(int fd, off_t size) {
    char tail[TAIL_BYTES];
    size_t wanted = size < TAIL_BYTES ? (size_t)size : TAIL_BYTES;
    ssize_t got = pread(fd, tail, wanted, size - (off_t)wanted);
    if (got != (ssize_t)wanted)
        return size;
    for (size_t i = wanted; i > 0; i--)
        if (tail[i - 1] == '\n')
            return size - (off_t)(wanted - i);
    return wanted < TAIL_BYTES ? 0 : size; /* no tool writes so long a line */
}

bool sl_profile_file_append(const char *folder, const char *name, const char *lines, size_t length, bool afresh, bool alone) {
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = open_regular(path, O_RDWR | O_CREAT | O_APPEND | (afresh ? O_TRUNC : 0), &status);
    if (fd < 0)
        return false;
    off_t end = alone ? end_of_lines(fd, status.st_size) : status.st_size;
    bool ok = end == status.st_size || ftruncate(fd, end) == 0;
    return close_with(fd, ok && write_all(fd, end, lines, length, alone));
}
