/* unanswered: the file beside the agent's socket with the word `run` or `fail`. It says what a job does if it gets no region from the
 * agent. The file stays when the agent ends. */
#define _GNU_SOURCE
#include "tenant/unanswered.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "tenant/region.h"

#define FILE_NAME "on-error"

/* Opens a file of the socket's folder, or with an empty name the folder. */
static int open_beside(const char *socket, const char *name, int flags) {
    char path[SL_REGION_PATH_BYTES];
    const char *slash = strrchr(socket, '/');
    int length = snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - socket) + 1 : 2, slash ? socket : "./", name);
    return length > 0 && (size_t)length < sizeof path ? open(path, flags | O_CLOEXEC) : -1;
}

static bool close_if_open(int fd) {
    return fd >= 0 && close(fd) == 0;
}

/* Only files of root and of the agent's user count. The folder stays when the agent has ended. */
static bool is_of_the_agent(const char *socket, uid_t owner) {
    struct stat status;
    if (owner == 0 || sl_os_lstat(socket, &status))
        return owner == 0 || status.st_uid == owner;
    int fd = open_beside(socket, "", O_RDONLY | O_DIRECTORY);
    bool same = fd >= 0 && sl_os_stat(fd, &status) && status.st_uid == owner;
    close_if_open(fd);
    return same;
}

static int open_word(const char *socket) {
    struct stat status;
    int fd = open_beside(socket, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && sl_os_stat(fd, &status) && S_ISREG(status.st_mode) && !(status.st_mode & 022) && is_of_the_agent(socket, status.st_uid))
        return fd;
    close_if_open(fd);
    return -1;
}

bool sl_unanswered_is_said(const char *socket) {
    int saved = errno;
    bool said = close_if_open(open_word(socket));
    errno = saved;
    return said;
}

bool sl_unanswered_must_fail(const char *socket) {
    char word[5];
    int saved = errno, fd = open_word(socket);
    bool fails = fd >= 0 && read(fd, word, sizeof word) == sizeof word && memcmp(word, "fail\n", sizeof word) == 0;
    close_if_open(fd);
    errno = saved;
    return fails;
}
