/* visit: see visit.h. */
#define _GNU_SOURCE
#include "memory/ipc/visit.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "driver/entry.h"
#include "memory/ipc/door.h"
#include "os/os.h"

enum { CANNOT_MAP = 205, INVALID_HANDLE = 400 };

#define QUEUE_NANOS 1000000u /* time between two attempts while the queue of the other process is full */
#define MOST_DESCRIPTORS 4

uint64_t sl_visit_most_nanos = 10000000000ull;

/* While the other process lives, no third process can have its name and its user. */
static bool is_of_this_user(int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

static CUresult fail(sl_reason_t *reason, CUresult status, const sl_ticket_t *ticket, const char *why) {
    sl_report_fail(reason, "the memory of process %u cannot be opened: %s", ticket->pid, why);
    return status;
}

static CUresult knock(int to, const sl_ticket_t *ticket, uint64_t until, sl_reason_t *reason) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sl_door_name(ticket->door, address.sun_path));
    while (connect(to, (struct sockaddr *)&address, length) != 0) {
        if (errno != EAGAIN && errno != EINTR)
            return fail(reason, INVALID_HANDLE, ticket, "it has ended, or it is in another network namespace");
        if (sl_os_nanos() >= until)
            return fail(reason, CANNOT_MAP, ticket, "it answers nobody");
        sl_os_sleep_nanos(QUEUE_NANOS);
    }
    if (!is_of_this_user(to))
        return fail(reason, INVALID_HANDLE, ticket, "it belongs to another user");
    if (send(to, ticket, sizeof *ticket, MSG_NOSIGNAL) != sizeof *ticket)
        return fail(reason, INVALID_HANDLE, ticket, "it has ended");
    return CUDA_SUCCESS;
}

/* One descriptor is kept, whatever a peer sends. */
static int keep_one(struct msghdr *message) {
    int kept = -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            if (kept < 0)
                kept = fd;
            else
                close(fd);
        }
    }
    return kept;
}

static CUresult wait_for(int from, const sl_ticket_t *ticket, uint64_t until, sl_reason_t *reason) {
    struct pollfd ready = {.fd = from, .events = POLLIN};
    for (uint64_t now; (now = sl_os_nanos()) < until;)
        if (poll(&ready, 1, (int)((until - now) / 1000000u) + 1) > 0)
            return CUDA_SUCCESS;
    return fail(reason, CANNOT_MAP, ticket, "it does not answer");
}

static CUresult receive(int from, const sl_ticket_t *ticket, int *fd, uint64_t *bytes, sl_reason_t *reason) {
    sl_ticket_answer_t answer = {0};
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {&answer, sizeof answer};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
    ssize_t got = recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int kept = got < 0 ? -1 : keep_one(&message);
    bool valid = got == sizeof answer && answer.magic == SL_TICKET_MAGIC;
    if (valid && answer.status == CUDA_SUCCESS && kept >= 0) {
        *fd = kept;
        *bytes = answer.bytes;
        return CUDA_SUCCESS;
    }
    if (kept >= 0)
        close(kept);
    if (valid && answer.status == CUDA_SUCCESS)
        return fail(reason, CANNOT_MAP, ticket, "this process has no descriptor left for it");
    if (valid && answer.status != CUDA_ERROR_INVALID_VALUE)
        return fail(reason, CANNOT_MAP, ticket, "its driver does not export it");
    return fail(reason, INVALID_HANDLE, ticket, valid ? "it has freed the memory" : "it ended, or it did not make this handle");
}

CUresult sl_visit(const sl_ticket_t *ticket, int *fd, uint64_t *bytes, sl_reason_t *reason) {
    uint64_t until = sl_os_nanos() + sl_visit_most_nanos;
    int to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (to < 0)
        return fail(reason, CANNOT_MAP, ticket, "this process cannot open another socket");
    CUresult status = knock(to, ticket, until, reason);
    if (status == CUDA_SUCCESS)
        status = wait_for(to, ticket, until, reason);
    if (status == CUDA_SUCCESS)
        status = receive(to, ticket, fd, bytes, reason);
    close(to);
    return status;
}
