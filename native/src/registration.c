/* registration: a tenant whose region and boards come from the agent, by file descriptor.
 *
 * One request and one answer for each connection: a line, and with the answer the descriptors. The kernel tells the agent
 * who asks. The whole conversation has a deadline, so that an agent that hangs costs a program some seconds, once. */
#define _GNU_SOURCE
#include "registration.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os.h"

#define CONNECT_NANOS 1000000000ull /* an agent that is restarted is back by then */
#define ANSWER_NANOS 3000000000ull
#define RETRY_NANOS 10000000ull
#define MOST_DESCRIPTORS 2
#define LINE_BYTES 256

typedef struct {
    int fds[MOST_DESCRIPTORS];
    int count;
    char line[LINE_BYTES];
} answer_t;

static void drop(answer_t *answer) {
    while (answer->count)
        close(answer->fds[--answer->count]);
}

/* Nobody there, or too many at once: both may be over soon. */
static bool may_pass(int error) {
    return error == ENOENT || error == ECONNREFUSED || error == EAGAIN || error == EINTR;
}

static int connect_to(const char *path, sl_reason_t *reason) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        sl_report_fail(reason, "SLUICE_AGENT=%.120s: a socket's path has at most %zu letters", path, sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    uint64_t deadline = sl_os_nanos() + CONNECT_NANOS;
    while (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (may_pass(errno) && sl_os_nanos() < deadline) {
            sl_os_sleep_nanos(RETRY_NANOS);
            continue;
        }
        sl_report_fail(reason, "no agent at SLUICE_AGENT=%.120s: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    if (fd < 0)
        sl_report_fail(reason, "cannot make a socket for the agent: %s", strerror(errno));
    return fd;
}

static bool keep_descriptors(struct msghdr *message, answer_t *answer) {
    bool any = false;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        any = true;
        int count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int)), fd;
        for (int i = 0; i < count; i++) {
            memcpy(&fd, CMSG_DATA(header) + (size_t)i * sizeof fd, sizeof fd);
            if (answer->count < MOST_DESCRIPTORS)
                answer->fds[answer->count++] = fd;
            else
                close(fd);
        }
    }
    return any;
}

/* A descriptor comes with one byte, which means nothing: Netty (seen in 4.2.17) does not set it. The kernel gives no other with
 * it. False when the other end closed or failed. */
static bool receive_some(int fd, answer_t *answer, size_t *length) {
    char bytes[LINE_BYTES];
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (keep_descriptors(&message, answer))
        return true;
    for (ssize_t i = 0; i < got && *length < LINE_BYTES - 1; i++)
        answer->line[(*length)++] = bytes[i];
    answer->line[*length] = 0;
    return *length < LINE_BYTES - 1;
}

static bool receive(int fd, answer_t *answer) {
    uint64_t deadline = sl_os_nanos() + ANSWER_NANOS, now;
    size_t length = 0;
    while (!strchr(answer->line, '\n') && (now = sl_os_nanos()) < deadline) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, (int)((deadline - now) / 1000000u) + 1) > 0 && !receive_some(fd, answer, &length))
            break;
    }
    char *end = strchr(answer->line, '\n');
    if (end)
        *end = 0;
    return end != NULL;
}

static bool ask(const char *path, const char *request, int wanted, answer_t *answer, sl_reason_t *reason) {
    *answer = (answer_t){.count = 0};
    int fd = connect_to(path, reason);
    if (fd < 0)
        return false;
    bool sent = send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request);
    bool answered = sent && receive(fd, answer);
    close(fd);
    if (answered && strncmp(answer->line, "ok ", 3) == 0 && answer->count == wanted)
        return true;
    if (answered && strncmp(answer->line, "no ", 3) == 0)
        sl_report_fail(reason, "the agent gives no limits: %.160s", answer->line + 3);
    else
        sl_report_fail(reason, "the agent at %.120s does not answer as expected; is it of this version?", path);
    drop(answer);
    return false;
}

bool sl_registration_open(sl_region_t *region, const char *socket, const char *label, sl_reason_t *reason) {
    char request[LINE_BYTES];
    answer_t answer;
    snprintf(request, sizeof request, "region %d %.63s\n", SL_REGION_LAYOUT, label ? label : "-");
    if (!ask(socket, request, 2, &answer, reason))
        return false;
    bool ok = sl_region_open_handed(region, answer.fds[0], answer.fds[1], answer.line + 3, reason);
    if (ok)
        snprintf(region->agent, sizeof region->agent, "%s", socket);
    drop(&answer);
    return ok;
}

int sl_registration_board(const char *socket, const uint8_t uuid[16], sl_reason_t *reason) {
    char request[64] = "board ";
    size_t length = strlen(request);
    answer_t answer;
    for (int i = 0; i < 16; i++)
        length += (size_t)snprintf(request + length, sizeof request - length, "%02x", uuid[i]);
    request[length] = '\n';
    return ask(socket, request, 1, &answer, reason) ? answer.fds[0] : -1;
}
