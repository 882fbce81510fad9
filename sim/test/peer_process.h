/* A second process for tests of what processes share: it is made before either uses the driver, and both exchange values
 * and file descriptors in turn. */
#ifndef SIM_PEER_PROCESS_H
#define SIM_PEER_PROCESS_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "check.h"

static int peer_socket;
static pid_t peer;

static inline void start_peer(void (*body)(void)) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    peer = fork();
    peer_socket = ends[peer ? 0 : 1];
    close(ends[peer ? 1 : 0]);
    if (peer) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    exit(0);
}

static inline void end_peer(void) {
    int status;
    CHECK(waitpid(peer, &status, 0) == peer);
    EQUAL(status, 0);
    close(peer_socket);
}

static inline void say(const void *value, size_t bytes) { CHECK(write(peer_socket, value, bytes) == (ssize_t)bytes); }
static inline void hear(void *value, size_t bytes) { CHECK(read(peer_socket, value, bytes) == (ssize_t)bytes); }

static inline void say_turn(void) { say("x", 1); }
static inline void hear_turn(void) { hear(&(char){0}, 1); }

static inline void pass_file(int file) {
    union { char room[CMSG_SPACE(sizeof file)]; struct cmsghdr align; } control = {0};
    struct iovec letter = {"x", 1};
    struct msghdr message = {.msg_iov = &letter, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &file, sizeof file);
    CHECK(sendmsg(peer_socket, &message, 0) == 1);
}

static inline int take_file(void) {
    int file;
    union { char room[CMSG_SPACE(sizeof file)]; struct cmsghdr align; } control;
    struct iovec letter = {&(char){0}, 1};
    struct msghdr message = {.msg_iov = &letter, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    CHECK(recvmsg(peer_socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

#endif
