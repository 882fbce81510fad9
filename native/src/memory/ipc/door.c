/* door: see door.h.
 *
 * Only processes of the same user and of the same tenant get an answer. A program may close descriptors that it does not know, and get the
 * same number for a file of its own. So each descriptor is used only if it is still the socket that it was. */
#define _GNU_SOURCE
#include "memory/ipc/door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "driver/entry.h"
#include "memory/mapped/export.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "os/os.h"
#include "os/thread.h"
#include "tenant/tenant.h"

#define CALLERS 64
#define BACKLOG 128
#define SILENT_NANOS 2000000000ull /* a connection without a request is closed after that */
#define LOOK_NANOS 1000000000ull
#define END_NANOS 2000000000ull    /* the end of the process waits this long for an answer */
#define MILLI 1000000u

typedef struct {
    int fd; /* negative: none */
    uint64_t inode;
    uint64_t until;
} own_socket_t;

typedef struct {
    own_socket_t entrance;
    own_socket_t callers[CALLERS];
    uint64_t name, secret;
} door_t;

static sl_mutex_t lock;         /* for opening it */
static door_t *current;         /* NULL: none was opened */
static _Atomic bool in_driver;  /* the thread may be in it */
static _Atomic bool ending;
static bool has_handler;

static uint64_t inode_of(int fd) {
    struct stat status;
    return fd >= 0 && sl_os_stat(fd, &status) && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

static bool is_there(const own_socket_t *own) {
    return own->fd >= 0 && inode_of(own->fd) == own->inode;
}

static void drop(own_socket_t *own) {
    if (is_there(own))
        close(own->fd);
    own->fd = -1;
}

uint64_t sl_door_tenant(void) {
    return sl_tenant.region.header->created_nanos;
}

unsigned sl_door_name(uint64_t door, char name[SL_DOOR_NAME_BYTES]) {
    name[0] = 0;
    return 1 + (unsigned)snprintf(name + 1, SL_DOOR_NAME_BYTES - 1, "sluice-ipc-%016llx", (unsigned long long)door);
}

static bool is_of_this_user(int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

/* If the table is full, closes the connection that has been silent longest. */
static own_socket_t *room_for_caller(door_t *door) {
    own_socket_t *oldest = door->callers;
    for (own_socket_t *caller = door->callers; caller < door->callers + CALLERS; caller++) {
        if (caller->fd < 0)
            return caller;
        if (caller->until < oldest->until)
            oldest = caller;
    }
    drop(oldest);
    return oldest;
}

static void let_in(door_t *door) {
    int fd = accept4(door->entrance.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            sl_os_sleep_nanos(MILLI); /* no descriptors: the callers wait in the queue */
        return;
    }
    if (is_of_this_user(fd)) {
        *room_for_caller(door) = (own_socket_t){fd, inode_of(fd), sl_os_nanos() + SILENT_NANOS};
        return;
    }
    sl_report(SL_WARN, "a process of another user asked for memory of this one by IPC, and got no answer");
    close(fd);
}

/* The driver must not end under this thread. */
static CUresult describe(const sl_ticket_t *ticket, int *fd, uint64_t *bytes) {
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    atomic_store(&in_driver, true);
    if (!atomic_load(&ending))
        status = sl_export_describe(ticket->address, ticket->number, fd, bytes);
    atomic_store(&in_driver, false);
    return status;
}

static void send_answer(int to, const sl_ticket_answer_t *answer, int fd) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof fd)];
    } control = {.bytes = {0}};
    struct iovec part = {(void *)answer, sizeof *answer};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool is_valid(const door_t *door, const sl_ticket_t *ticket, ssize_t bytes) {
    return bytes == sizeof *ticket && ticket->magic == SL_TICKET_MAGIC && ticket->tenant == sl_door_tenant() && ticket->door == door->name &&
           ticket->secret == door->secret;
}

/* One request, one answer. */
static void serve(const door_t *door, own_socket_t *caller) {
    sl_ticket_t ticket;
    ssize_t got = recv(caller->fd, &ticket, sizeof ticket, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (is_valid(door, &ticket, got)) {
        int fd = -1;
        sl_ticket_answer_t answer = {.magic = SL_TICKET_MAGIC};
        answer.status = describe(&ticket, &fd, &answer.bytes);
        send_answer(caller->fd, &answer, answer.status == CUDA_SUCCESS ? fd : -1);
        if (answer.status == CUDA_SUCCESS)
            close(fd);
    }
    drop(caller);
}

/* Milliseconds until the next silent connection is closed, or until the thread checks its socket. If the program closed that and its number
 * names another file, the kernel keeps the socket while the thread waits, but never wakes the thread. */
static int patience(const door_t *door) {
    uint64_t now = sl_os_nanos(), next = now + LOOK_NANOS;
    for (const own_socket_t *caller = door->callers; caller < door->callers + CALLERS; caller++)
        if (caller->fd >= 0 && caller->until < next)
            next = caller->until;
    return next <= now ? 0 : (int)((next - now) / MILLI) + 1;
}

static void serve_all(door_t *door, const struct pollfd *ready) {
    uint64_t now = sl_os_nanos();
    for (unsigned i = 0; i < CALLERS; i++) {
        own_socket_t *caller = &door->callers[i];
        if (caller->fd < 0 || caller->fd != ready[i].fd)
            continue;
        if (!is_there(caller))
            caller->fd = -1;
        else if (ready[i].revents)
            serve(door, caller);
        else if (caller->until <= now)
            drop(caller);
    }
}

static void *attend(void *of) {
    door_t *door = of;
    prctl(PR_SET_NAME, "sluice-ipc");
    while (is_there(&door->entrance)) {
        struct pollfd ready[CALLERS + 1];
        for (unsigned i = 0; i < CALLERS; i++)
            ready[i] = (struct pollfd){.fd = door->callers[i].fd, .events = POLLIN};
        ready[CALLERS] = (struct pollfd){.fd = door->entrance.fd, .events = POLLIN};
        int count = poll(ready, CALLERS + 1, patience(door));
        if (count < 0 && errno != EINTR)
            sl_os_sleep_nanos(MILLI);
        if (count < 0)
            continue;
        serve_all(door, ready);
        if (ready[CALLERS].revents && is_there(&door->entrance))
            let_in(door);
    }
    for (unsigned i = 0; i < CALLERS; i++)
        drop(&door->callers[i]);
    return NULL; /* the next handle opens another door; this one stays in memory, for forget() */
}

/* exit() runs this before the driver's own handlers. These end the driver even while a thread is in it. */
static void end_process(void) {
    uint64_t until = sl_os_nanos() + END_NANOS;
    atomic_store(&ending, true);
    while (atomic_load(&in_driver) && sl_os_nanos() < until)
        sl_os_sleep_nanos(MILLI);
}

static uint64_t random_number(void) {
    uint64_t number;
    if (syscall(SYS_getrandom, &number, sizeof number, 0) != sizeof number)
        number = sl_os_nanos() * 0x9e3779b97f4a7c15ull ^ (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&number;
    return number | 1;
}

static int listen_at(uint64_t name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    unsigned length = sl_door_name(name, address.sun_path);
    int fd = sl_os_raise(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0 || (bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0 && listen(fd, BACKLOG) == 0))
        return fd;
    close(fd);
    return -1;
}

/* With the lock held. NULL: the process has no room for it. */
static door_t *make(sl_reason_t *reason) {
    door_t *door = calloc(1, sizeof *door);
    if (!door)
        return NULL;
    *door = (door_t){.name = random_number(), .secret = random_number()};
    for (unsigned i = 0; i < CALLERS; i++)
        door->callers[i].fd = -1;
    int fd = listen_at(door->name);
    door->entrance = (own_socket_t){fd, inode_of(fd), 0};
    if (fd >= 0 && sl_thread_start(attend, door)) {
        if (!has_handler)
            has_handler = atexit(end_process) == 0;
        return door;
    }
    if (fd < 0)
        sl_report_fail(reason, "the process cannot open another socket: %s", strerror(errno));
    else
        sl_report_fail(reason, "the process can have no more threads");
    drop(&door->entrance);
    free(door);
    return NULL;
}

bool sl_door_open(sl_ticket_t *ticket, sl_reason_t *reason) {
    int saved = errno;
    sl_report_fail(reason, "the process has no memory left");
    sl_mutex_lock(&lock);
    if (!current || !is_there(&current->entrance)) {
        door_t *made = make(reason);
        current = made ? made : current;
        if (!made) {
            sl_mutex_unlock(&lock);
            errno = saved;
            return false;
        }
    }
    ticket->door = current->name;
    ticket->secret = current->secret;
    ticket->pid = (uint32_t)getpid();
    sl_mutex_unlock(&lock);
    errno = saved;
    return true;
}

bool sl_door_is_own(const sl_ticket_t *ticket) {
    sl_mutex_lock_briefly(&lock);
    bool own = current && current->name == ticket->door;
    sl_mutex_unlock(&lock);
    return own;
}

/* The child has the sockets, but no thread that answers. Without this a caller would wait even after the parent has ended. */
static void forget(void) {
    int saved = errno;
    if (current) {
        drop(&current->entrance);
        for (unsigned i = 0; i < CALLERS; i++)
            drop(&current->callers[i]);
    }
    current = NULL;
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    atomic_store(&in_driver, false);
    atomic_store(&ending, false);
    errno = saved;
}
SL_FORK_FORGETS(forget);
