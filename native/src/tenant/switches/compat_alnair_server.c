/* compat_alnair_server: the registration of a container with Alnair's server.
 *
 * Each connection carries one request, "<cgroup> <ALNAIR_ID>" and a newline; the answer is "ok" or the text of an error. The server
 * writes the pids of the container into its workspace, for Alnair's exporter. No limit depends on it. A server that is down costs each
 * process one line on standard error and at most sl_compat_alnair_wait_nanos. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tenant/switches/compat.h"
#include "os/os.h"

#define SOCKET_PATH "/run/alnair/alnair.sock"
#define CGROUP_BYTES 8192
#define PATH_BYTES 4096
#define ANSWER_BYTES 160
#define RETRY_NANOS 10000000u

const char *sl_compat_alnair_cgroup = "/proc/self/cgroup";
uint64_t sl_compat_alnair_wait_nanos = 2000000000u;

static bool is_memory(const char *controllers, const char *end) {
    for (const char *at = controllers, *next; at < end; at = next + 1) {
        next = memchr(at, ',', (size_t)(end - at));
        next = next ? next : end;
        if (next - at == 6 && memcmp(at, "memory", 6) == 0)
            return true;
    }
    return false;
}

/* A line is "<number>:<controllers>:<path>". Takes the line of the memory controller; with cgroups of version 2 there is one line without
 * controllers. */
static void find_cgroup(char path[PATH_BYTES]) {
    char text[CGROUP_BYTES];
    path[0] = 0;
    if (sl_os_read(sl_compat_alnair_cgroup, text, sizeof text) <= 0)
        return;
    for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        char *controllers = memchr(line, ':', (size_t)(end - line));
        char *name = controllers ? memchr(controllers + 1, ':', (size_t)(end - controllers - 1)) : NULL;
        if (!name || end - name > PATH_BYTES)
            continue;
        bool memory = is_memory(controllers + 1, name), unified = strncmp(line, "0::", 3) == 0;
        if (memory || (unified && !path[0]))
            snprintf(path, PATH_BYTES, "%.*s", (int)(end - name - 1), name + 1);
        if (memory)
            return;
    }
}

/* A connect returns at once, unless the queue of the socket is full (EAGAIN). */
static bool connect_to(int fd, const char *path, uint64_t deadline) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return false;
    strcpy(address.sun_path, path);
    while (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if ((errno != EAGAIN && errno != EINTR) || sl_os_nanos() + RETRY_NANOS > deadline)
            return false;
        sl_os_sleep_nanos(RETRY_NANOS);
    }
    return true;
}

/* The kernel closes descriptors that the server sends, because the message has no room for them. */
static size_t receive(int fd, char answer[ANSWER_BYTES], uint64_t deadline) {
    size_t length = 0;
    uint64_t now;
    while (length < ANSWER_BYTES - 1 && (now = sl_os_nanos()) < deadline) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, (int)((deadline - now) / 1000000u) + 1) <= 0)
            continue;
        struct iovec part = {answer + length, ANSWER_BYTES - 1 - length};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
        if ((length == 2 && memcmp(answer, "ok", 2) == 0) || memchr(answer, '\n', length))
            break;
    }
    answer[length] = 0;
    return length;
}

static bool ask(const char *path, const char *request, char answer[ANSWER_BYTES]) {
    uint64_t deadline = sl_os_nanos() + sl_compat_alnair_wait_nanos;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    size_t length = strlen(request);
    bool ok = connect_to(fd, path, deadline) && send(fd, request, length, MSG_NOSIGNAL) == (ssize_t)length && receive(fd, answer, deadline);
    close(fd);
    return ok;
}

/* The first line, without control characters of a terminal. */
static void say_refused(const char *answer) {
    char line[ANSWER_BYTES + 40];
    int length = snprintf(line, sizeof line, "cgroup registration error: %.*s\n", (int)strcspn(answer, "\r\n"), answer);
    for (int i = 0; i < length - 1; i++)
        if (line[i] < ' ' || line[i] > '~')
            line[i] = '?';
    sl_os_print(STDERR_FILENO, line, (size_t)length);
}

void sl_compat_alnair_register(void) {
    static const char down[] = "server is down.\n";
    const char *id = sl_options_variable("ALNAIR_ID"), *path = sl_options_variable("ALNAIR_SOCKET");
    if (!id || !sl_options_is_name(id) || (!path && !sl_options_loaded_as("libcuinterpose.so")))
        return;
    char cgroup[PATH_BYTES], request[PATH_BYTES + 80], answer[ANSWER_BYTES];
    int saved = errno;
    find_cgroup(cgroup);
    snprintf(request, sizeof request, "%s %s\n", cgroup, id);
    if (!ask(path ? path : SOCKET_PATH, request, answer))
        sl_os_print(STDERR_FILENO, down, sizeof down - 1);
    else if (strcmp(answer, "ok") != 0)
        say_refused(answer);
    errno = saved;
}
