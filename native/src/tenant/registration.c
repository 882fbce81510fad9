/* registration: a tenant whose region and boards come from the agent, by file descriptor.
 *
 * Each connection has one request and one answer. Both are a line; the answer also carries the descriptors. The agent learns from the
 * kernel which process asks. A busy agent answers when to ask again. All attempts together have a deadline, so an agent that hangs delays
 * a program once, for a bounded time. A file beside the socket says whether the job then runs without limits, or fails (unanswered.h). */
#define _GNU_SOURCE
#include "tenant/registration.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/fork.h"
#include "os/os.h"
#include "tenant/tenant.h"
#include "tenant/unanswered.h"

#define LIMITS_NANOS 3000000000ull  /* for a new limits page, of a process that has a page */
#define NOBODY_NANOS 1000000000ull  /* without a known agent */
#define RESTART_NANOS 5000000000ull /* if an agent has been there: it may be restarting */
#define RETRY_NANOS 10000000ull     /* doubles up to */
#define RETRY_MOST_NANOS 160000000ull
#define HUNG_UP_MILLIS 100u
#define BUSY_MOST_MILLIS 2000u
#define MEMORY_NANOS 1000000000ull /* for host memory: the job is paused meanwhile */
#define AGAIN_NANOS 1000000000ull /* if the agent gave no limits, ask again after this time, */
#define AGAIN_TIMES 10u           /* plus so many times the duration of its answer */
#define MOST_DESCRIPTORS 2
#define LINE_BYTES 256

typedef struct {
    int fds[MOST_DESCRIPTORS];
    int count;
    char line[LINE_BYTES];
} answer_t;

static struct {
    char label[64];
    uint64_t identity; /* of this process, as the agent sees it */
    _Atomic uint64_t page; /* inode of the limits that are mapped */
    _Atomic uint64_t again_nanos;
    atomic_flag busy;
} handed = {.busy = ATOMIC_FLAG_INIT};

static void drop(answer_t *answer) {
    while (answer->count)
        close(answer->fds[--answer->count]);
}

uint64_t sl_registration_answer_nanos = 20000000000ull;

static bool nobody_there(int error) {
    return error == ENOENT || error == ECONNREFUSED;
}

static bool may_pass(int error) {
    return nobody_there(error) || error == EAGAIN || error == EINTR;
}

/* Random, so that many waiting processes do not return at the same time. */
static void pause_until(uint64_t nanos, uint64_t deadline) {
    uint64_t now = sl_os_nanos(), wait = nanos + nanos / 8 * ((uint64_t)getpid() % 8) / 8;
    if (now < deadline)
        sl_os_sleep_nanos(now + wait < deadline ? wait : deadline - now);
}

/* patience: how long the agent may be unreachable; 0: it must answer at once. */
static int connect_to(const char *path, uint64_t patience, uint64_t deadline, sl_reason_t *reason) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        sl_report_fail(reason, "SLUICE_AGENT=%.120s: a socket's path has at most %zu letters", path, sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    uint64_t began = sl_os_nanos(), wait = RETRY_NANOS;
    while (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        uint64_t until = nobody_there(error) && began + patience < deadline ? began + patience : deadline;
        if (!may_pass(error) || sl_os_nanos() >= until) {
            sl_report_fail(reason, "no agent at SLUICE_AGENT=%.120s: %s", path, strerror(error));
            close(fd);
            return -1;
        }
        pause_until(wait, until);
        wait = wait * 2 < RETRY_MOST_NANOS ? wait * 2 : RETRY_MOST_NANOS;
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

/* A descriptor comes with one byte whose value means nothing: Netty (seen in 4.2.17) does not set it. The kernel passes no other byte with
 * it. False: the agent closed the connection, or it failed. */
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

static bool receive(int fd, answer_t *answer, uint64_t deadline) {
    uint64_t now;
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

static bool is_busy(const answer_t *answer) {
    return strncmp(answer->line, "busy ", 5) == 0;
}

/* In how many milliseconds a busy agent wants to be asked again; 0: it has answered. */
static unsigned again_millis(const answer_t *answer, bool answered) {
    if (!answered)
        return HUNG_UP_MILLIS;
    if (!is_busy(answer))
        return 0;
    unsigned long millis = strtoul(answer->line + 5, NULL, 10);
    return millis < 1 ? 1 : millis < BUSY_MOST_MILLIS ? (unsigned)millis : BUSY_MOST_MILLIS;
}

static bool explain(const char *path, const answer_t *answer, bool answered, bool busy, sl_reason_t *reason) {
    if (answered && strncmp(answer->line, "no ", 3) == 0)
        return sl_report_fail(reason, "the agent gives no limits: %.160s", answer->line + 3);
    if (busy)
        return sl_report_fail(reason, "the agent at %.120s has too much to do", path);
    if (!answered && !answer->line[0])
        return sl_report_fail(reason, "the agent at %.120s does not answer", path);
    return sl_report_fail(reason, "the agent at %.120s does not answer as expected; is it of this version?", path);
}

/* Repeats the request until there is an answer, for at most so long. */
static bool ask(const char *path, const char *request, uint64_t patience, uint64_t nanos, int wanted, answer_t *answer, sl_reason_t *reason) {
    uint64_t deadline = sl_os_nanos() + nanos;
    for (bool busy = false;;) {
        *answer = (answer_t){.count = 0};
        int fd = connect_to(path, patience, deadline, reason);
        if (fd < 0)
            return false;
        bool sent = send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request);
        bool answered = sent && receive(fd, answer, deadline);
        close(fd);
        if (answered && strncmp(answer->line, "ok ", 3) == 0 && answer->count == wanted)
            return true;
        drop(answer);
        busy |= is_busy(answer);
        unsigned again = again_millis(answer, answered);
        if (!again || sl_os_nanos() >= deadline)
            return explain(path, answer, answered, busy, reason);
        pause_until(again * 1000000ull, deadline);
    }
}

static uint64_t inode_of(int fd) {
    struct stat status;
    return sl_os_stat(fd, &status) ? (uint64_t)status.st_ino : 0;
}

/* In the answer, the identity of this process in the agent's namespace follows the name of the tenant. */
static void note_identity(answer_t *answer) {
    char *end = strchr(answer->line + 3, ' ');
    handed.identity = end ? strtoull(end, NULL, 10) : 0;
    if (end)
        *end = 0;
}

static bool note_label(const char *label, sl_reason_t *reason) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/=@+-";
    size_t length = strlen(label);
    if (length >= sizeof handed.label || strspn(label, allowed) != length)
        return sl_report_fail(reason, "SLUICE_LABEL=%.70s: a label is 1 to 63 of A-Z a-z 0-9 . _ : / = @ + -", label);
    memcpy(handed.label, label, length + 1);
    return true;
}

/* The agent ignores words that it does not know, and the library does the same with its answer. */
static void write_request(char request[LINE_BYTES], const char *what) {
    snprintf(request, LINE_BYTES, "%s %d %s features=%llx version=%s\n", what, SL_REGION_LAYOUT, handed.label, (unsigned long long)SL_REGION_FEATURES,
             SL_VERSION);
}

bool sl_registration_open(sl_region_t *region, const char *socket, const char *label, sl_reason_t *reason) {
    char request[LINE_BYTES];
    answer_t answer;
    if (!note_label(label ? label : "-", reason))
        return false;
    write_request(request, "region");
    if (!ask(socket, request, sl_unanswered_is_said(socket) ? RESTART_NANOS : NOBODY_NANOS, sl_registration_answer_nanos, 2, &answer, reason))
        return false;
    note_identity(&answer);
    bool ok = sl_region_open_handed(region, answer.fds[0], answer.fds[1], answer.line + 3, reason);
    if (ok) {
        snprintf(region->agent, sizeof region->agent, "%s", socket);
        handed.page = inode_of(answer.fds[0]);
    }
    drop(&answer);
    return ok;
}

uint64_t sl_registration_identity(const sl_region_t *region, uint64_t pid_namespace) {
    char request[LINE_BYTES];
    sl_reason_t reason;
    answer_t answer;
    if (!region->agent[0] || region->header->pid_namespace == pid_namespace)
        return 0;
    write_request(request, "limits");
    if (!handed.identity && ask(region->agent, request, 0, LIMITS_NANOS, 1, &answer, &reason)) {
        note_identity(&answer);
        drop(&answer);
    }
    return handed.identity;
}

/* Maps the new limits over the old ones: a concurrent reader sees the old or the new ones. */
static bool replace_limits(sl_region_t *region, int fd, sl_reason_t *reason) {
    struct stat status;
    if (!sl_os_stat(fd, &status) || status.st_size < SL_REGION_PAGE_BYTES)
        return sl_report_fail(reason, "the agent's limits have another size");
    char *page = mmap(NULL, SL_REGION_PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return sl_report_fail(reason, "cannot map the agent's limits: %s", strerror(errno));
    const sl_region_header_t *header = (const sl_region_header_t *)page;
    if (header->magic != SL_REGION_MAGIC || header->layout != SL_REGION_LAYOUT || header->created_nanos != region->header->created_nanos)
        sl_report_fail(reason, "the agent's limits are of another tenant");
    else if (mremap(page, SL_REGION_PAGE_BYTES, SL_REGION_PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, region->base) == region->base)
        return true;
    else
        sl_report_fail(reason, "cannot map the agent's limits: %s", strerror(errno));
    munmap(page, SL_REGION_PAGE_BYTES);
    return false;
}

static void take_limits(sl_region_t *region) {
    char request[LINE_BYTES];
    sl_reason_t reason;
    answer_t answer;
    uint64_t began = sl_os_nanos();
    write_request(request, "limits");
    bool asked = ask(region->agent, request, 0, LIMITS_NANOS, 1, &answer, &reason), ok = asked && replace_limits(region, answer.fds[0], &reason);
    if (ok)
        handed.page = inode_of(answer.fds[0]);
    else {
        uint64_t now = sl_os_nanos();
        handed.again_nanos = now + AGAIN_NANOS + AGAIN_TIMES * (now - began);
        SL_TELL(SL_INFO, "%s; the limits stay as they are", reason.text);
    }
    if (asked)
        drop(&answer);
}

static void forget(void) {
    handed.identity = 0;
    atomic_flag_clear(&handed.busy);
}
SL_FORK_FORGETS(forget);

void sl_registration_follow(void) {
    sl_region_t *region = &sl_tenant.region;
    if (atomic_load_explicit(&sl_tenant.state, memory_order_acquire) != SL_TENANT_ATTACHED || !region->agent[0])
        return;
    uint64_t wanted = region->slots[sl_tenant.slot].limits_page;
    if (!wanted || wanted == handed.page || handed.again_nanos > sl_os_nanos() || atomic_flag_test_and_set(&handed.busy))
        return;
    int saved = errno;
    take_limits(region);
    errno = saved;
    atomic_flag_clear(&handed.busy);
}

int sl_registration_board(const char *socket, const uint8_t uuid[16], sl_reason_t *reason) {
    char request[64] = "board ";
    size_t length = strlen(request);
    answer_t answer;
    for (int i = 0; i < 16; i++)
        length += (size_t)snprintf(request + length, sizeof request - length, "%02x", uuid[i]);
    request[length] = '\n';
    return ask(socket, request, sl_unanswered_is_said(socket) ? RESTART_NANOS : NOBODY_NANOS, sl_registration_answer_nanos, 1, &answer, reason) ? answer.fds[0] : -1;
}

static bool is_size_sealed(int fd) {
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) == (F_SEAL_SHRINK | F_SEAL_GROW);
}

sl_registration_grant_t sl_registration_reservoir(uint64_t bytes, uint64_t present, sl_registration_memory_t *memory) {
    const char *socket = sl_tenant.region.agent;
    char request[LINE_BYTES];
    sl_reason_t ignored;
    answer_t answer = {.count = 0};
    struct stat status;
    *memory = (sl_registration_memory_t){.fd = -1};
    if (!socket[0])
        return SL_REGISTRATION_OWN;
    write_request(request, "reservoir");
    size_t length = strlen(request) - 1;
    snprintf(request + length, sizeof request - length, " bytes=%llu held=%llu\n", (unsigned long long)bytes, (unsigned long long)present);
    if (!ask(socket, request, 0, MEMORY_NANOS, 1, &answer, &ignored)) {
        bool full = strncmp(answer.line, "full ", 5) == 0;
        memory->bytes = full ? strtoull(answer.line + 5, NULL, 10) : 0;
        return full ? SL_REGISTRATION_FULL : SL_REGISTRATION_OWN;
    }
    if (!is_size_sealed(answer.fds[0]) || !sl_os_stat(answer.fds[0], &status)) {
        drop(&answer);
        return SL_REGISTRATION_OWN;
    }
    *memory = (sl_registration_memory_t){.fd = answer.fds[0], .bytes = (uint64_t)status.st_size};
    return SL_REGISTRATION_GRANTED;
}
