/* Host memory for released memory: made, registered, counted for the tenant, and never more than the host has. */
#define _GNU_SOURCE
#include "on_sim.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "os/host.h"
#include "pause/reservoir.h"
#include "pause/telling.h"

/* Replaces the attendant's function. */
void __wrap_sl_context_making(void);
void __wrap_sl_context_making(void) {}

static sl_reason_t reason;
static CUcontext context;

static sl_region_limits_t *limits(void) {
    uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    return (sl_region_limits_t *)sl_tenant.region.limits;
}

static void fill(uint64_t bytes, char with) {
    for (uint64_t at = 0; at < bytes; at += SL_RESERVOIR_BLOCK) {
        char *block = sl_reservoir_at(at);
        CHECK(block && (uintptr_t)block % (2 * MIB) == 0);
        memset(block, with, bytes - at < SL_RESERVOIR_BLOCK ? bytes - at : SL_RESERVOIR_BLOCK);
    }
}

static unsigned registered(uint64_t bytes) {
    unsigned count = 0, flags;
    for (uint64_t at = 0; at < bytes; at += SL_RESERVOIR_BLOCK)
        count += real.cuMemHostGetFlags(&flags, sl_reservoir_at(at)) == 0;
    return count;
}

static void should_make_and_let_go(void) {
    CHECK(sl_reservoir_reserve(150 * MIB, context, &reason), "%s", reason.text);
    sl_reservoir_begin(150 * MIB, context);
    fill(150 * MIB, 5);
    CHECK(sl_reservoir_end() && registered(150 * MIB) == 3);
    CHECK(sl_reservoir_bytes() == 150 * MIB && sl_telling_record()->reservoir_bytes == 150 * MIB);
    sl_reservoir_unregister(context);
    CHECK(registered(150 * MIB) == 0 && *(char *)sl_reservoir_at(149 * MIB) == 5);
    sl_reservoir_begin(150 * MIB, context);
    CHECK(sl_reservoir_end() && registered(150 * MIB) == 3 && *(char *)sl_reservoir_at(149 * MIB) == 5);
    sl_reservoir_keep(100 * MIB, context);
    CHECK(sl_reservoir_bytes() == 128 * MIB);
    CHECK(sl_reservoir_reserve(130 * MIB, context, &reason) && sl_reservoir_bytes() == 130 * MIB);
    CHECK(sl_reservoir_reserve(192 * MIB, context, &reason) && sl_reservoir_bytes() == 192 * MIB);
    sl_reservoir_keep(0, context);
    CHECK(sl_reservoir_bytes() == 0 && sl_telling_record()->reservoir_bytes == 0);
}

static void should_do_without_registration(void) {
    arm(1, 1000);
    CHECK(sl_reservoir_reserve(70 * MIB, context, &reason));
    sl_reservoir_begin(70 * MIB, context);
    fill(70 * MIB, 6);
    CHECK(sl_reservoir_end() && registered(70 * MIB) == 0);
    disarm();
    sl_reservoir_keep(0, context);
}

static unsigned refusals;
static CUresult (*true_unregister)(void *);

static CUresult refuse_to_unregister(void *start) {
    return refusals ? refusals--, FAULT : true_unregister(start);
}

/* The driver would take other memory at these addresses for registered. */
static void should_keep_addresses_that_stay_registered(void) {
    unsigned flags;
    true_unregister = real.cuMemHostUnregister;
    real.cuMemHostUnregister = refuse_to_unregister;
    for (unsigned times = 1; times <= 2; times++) {
        CHECK(sl_reservoir_reserve(2 * MIB, context, &reason));
        sl_reservoir_begin(2 * MIB, context);
        CHECK(sl_reservoir_end() && registered(2 * MIB) == 1);
        char *block = sl_reservoir_at(0);
        refusals = times;
        sl_reservoir_keep(0, context);
        bool stays = real.cuMemHostGetFlags(&flags, block) == 0, mapped = msync(block, 4096, MS_ASYNC) == 0;
        CHECK(sl_reservoir_bytes() == 0 && refusals == 0 && stays == (times == 2) && mapped == stays);
        CHECK(sl_telling_record()->reservoir_bytes == (stays ? 2 * MIB : 0));
        if (stays)
            CHECK(true_unregister(block) == 0 && munmap(block, 2 * MIB) == 0);
    }
    real.cuMemHostUnregister = true_unregister;
    sl_telling_record()->reservoir_bytes = 0;
}

static void should_count_for_the_tenant(void) {
    sl_region_slot_t *other = &sl_tenant.region.slots[sl_tenant.slot + 1];
    sl_region_pause_t *pause = &sl_tenant.region.pauses[sl_tenant.slot + 1];
    limits()->reservoir_bytes = 100 * MIB;
    pause->reservoir_bytes = 40 * MIB;
    CHECK(sl_reservoir_reserve(64 * MIB, context, &reason)); /* that slot is free */
    sl_reservoir_keep(0, context);
    uint64_t self = sl_tenant.region.slots[sl_tenant.slot].owner;
    other->owner = self & ~(1ull << 62); /* a process that lives */
    other->image = sl_tenant.region.slots[sl_tenant.slot].image;
    CHECK(!sl_reservoir_reserve(64 * MIB, context, &reason));
    CHECK(strstr(reason.text, "needs 64.0 MiB more of host memory, the limit leaves 60.0 MiB"), "%s", reason.text);
    CHECK(sl_reservoir_bytes() == 0 && sl_telling_record()->reservoir_bytes == 0);
    CHECK(sl_reservoir_reserve(60 * MIB, context, &reason), "%s", reason.text);
    sl_reservoir_keep(0, context);
    other->owner = 0;
    pause->reservoir_bytes = 0;
    limits()->reservoir_bytes = 0;
}

static void should_leave_memory_to_the_host(void) {
    sl_host_root = test_folder;
    CHECK(sl_host_memory_free() == UINT64_MAX);
    write_below("/proc/meminfo", "MemTotal: 999999 kB\nMemFree: 1 kB\nMemAvailable: 204800 kB\n");
    CHECK(sl_host_memory_free() == 190 * MIB);
    CHECK(!sl_reservoir_reserve(192 * MIB, context, &reason) && strstr(reason.text, "needs 192.0 MiB of host memory, 190.0 MiB are free"), "%s",
          reason.text);
    CHECK(sl_reservoir_bytes() == 0 && sl_telling_record()->reservoir_bytes == 0);
    write_below("/proc/self/cgroup", "0::/jobs/one\n");
    write_below("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
    write_below("/sys/fs/cgroup/jobs/one/memory.current", "1\n");
    CHECK(sl_host_memory_free() == 190 * MIB);
    write_below("/sys/fs/cgroup/jobs/memory.max", "209715200\n");
    write_below("/sys/fs/cgroup/jobs/memory.current", "125829120\n");
    CHECK(sl_host_memory_free() == 76 * MIB, "%llu", (unsigned long long)sl_host_memory_free());
    write_below("/sys/fs/cgroup/jobs/memory.stat", "anon 5\nfile 1\ninactive_file 10485760\nactive_file 10485760\n");
    CHECK(sl_host_memory_free() == 95 * MIB);
    CHECK(sl_reservoir_reserve(80 * MIB, context, &reason));
    write_below("/proc/meminfo", "MemAvailable: 10 kB\n"); /* the host is full before it is touched */
    sl_reservoir_begin(80 * MIB, context);
    CHECK(!sl_reservoir_at(0) && !sl_reservoir_end());
    sl_reservoir_keep(0, context);
    sl_host_root = "";
}

/* The agent's side of the socket: one answer to each request, until it is told to end. */
static struct {
    int listener, file;
    const char *answer; /* NULL: it hangs */
    bool fills;
    char heard[256];
    pthread_t thread;
} agent;

static void send_file(int to) {
    char any = '\n';
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {&any, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &agent.file, sizeof(int));
    CHECK(sendmsg(to, &message, MSG_NOSIGNAL) == 1);
}

static void *serve(void *unused) {
    (void)unused;
    for (int fd; (fd = accept(agent.listener, NULL, NULL)) >= 0; close(fd)) {
        ssize_t length = read(fd, agent.heard, sizeof agent.heard - 1);
        agent.heard[length > 0 ? length : 0] = 0;
        if (!agent.answer) {
            sleep(2);
            continue;
        }
        if (strncmp(agent.answer, "ok ", 3) == 0)
            send_file(fd);
        CHECK(send(fd, agent.answer, strlen(agent.answer), MSG_NOSIGNAL) > 0);
        if (agent.fills)
            CHECK(fallocate(agent.file, 0, 0, 96 * MIB) == 0);
    }
    return NULL;
}

static void begin_agent(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/agent.sock", test_folder);
    snprintf(sl_tenant.region.agent, sizeof sl_tenant.region.agent, "%s", address.sun_path);
    agent.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(agent.listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(agent.listener, 8) == 0);
    pthread_create(&agent.thread, NULL, serve, NULL);
}

static void end_agent(void) {
    shutdown(agent.listener, SHUT_RDWR);
    pthread_join(agent.thread, NULL);
    close(agent.listener);
}

static int new_file(int seals) {
    int file = memfd_create("reservoir", MFD_ALLOW_SEALING);
    CHECK(file >= 0 && ftruncate(file, 160 * MIB) == 0 && fcntl(file, F_ADD_SEALS, seals) == 0);
    return file;
}

static uint64_t taken(int file) {
    struct stat status;
    CHECK(fstat(file, &status) == 0);
    return (uint64_t)status.st_blocks * 512;
}

static void should_use_memory_of_an_agent(void) {
    agent.file = new_file(F_SEAL_SHRINK | F_SEAL_GROW);
    agent.answer = "full 100663296\n";
    begin_agent();
    CHECK(!sl_reservoir_reserve(98 * MIB, context, &reason) && strstr(reason.text, "needs 98.0 MiB of host memory, the agent's reservoir has 96.0 MiB for it"), "%s",
          reason.text);
    CHECK(strstr(agent.heard, "reservoir ") == agent.heard && strstr(agent.heard, " bytes=102760448 held=0\n"), "%s", agent.heard);
    CHECK(sl_reservoir_bytes() == 0 && sl_telling_record()->reservoir_bytes == 0);
    agent.answer = "ok job 1\n";
    agent.fills = true;
    CHECK(sl_reservoir_reserve(96 * MIB, context, &reason), "%s", reason.text);
    sl_reservoir_begin(96 * MIB, context);
    fill(96 * MIB, 7);
    CHECK(sl_reservoir_end());
    char byte = 0, held[64];
    CHECK(pread(agent.file, &byte, 1, 95 * MIB) == 1 && byte == 7);
    struct stat status;
    CHECK(fstat(agent.file, &status) == 0);
    agent.fills = false; /* from now on it stands still: the process touches what grows */
    CHECK(sl_reservoir_reserve(128 * MIB, context, &reason), "%s", reason.text);
    snprintf(held, sizeof held, " held=%llu\n", (unsigned long long)status.st_ino);
    CHECK(strstr(agent.heard, held), "%s", agent.heard);
    end_agent();
    CHECK(sl_reservoir_reserve(160 * MIB, context, &reason), "an agent that is gone does not refuse: %s", reason.text);
    sl_reservoir_begin(160 * MIB, context);
    fill(160 * MIB, 8);
    CHECK(sl_reservoir_end() && taken(agent.file) >= 160 * MIB);
    CHECK(!sl_reservoir_reserve(162 * MIB, context, &reason) && strstr(reason.text, "raise"), "%s", reason.text);
    sl_reservoir_keep(64 * MIB, context);
    CHECK(pread(agent.file, &byte, 1, 95 * MIB) == 1 && byte == 0 && pread(agent.file, &byte, 1, 63 * MIB) == 1 && byte == 8);
    sl_reservoir_keep(0, context);
    CHECK(taken(agent.file) == 0, "all pages are given back");
    close(agent.file);
}

static void should_use_its_own_memory_where_an_agent_has_none(void) {
    static const char *const answers[] = {"no the agent has no host memory for jobs\n", "nonsense\n", NULL, "ok job 1\n"};
    for (unsigned i = 0; i < 4; i++) {
        agent.file = new_file(i == 3 ? F_SEAL_SHRINK : F_SEAL_SHRINK | F_SEAL_GROW); /* the last could be made longer */
        agent.answer = answers[i];
        unlink(sl_tenant.region.agent);
        begin_agent();
        CHECK(sl_reservoir_reserve(66 * MIB, context, &reason), "%s", reason.text);
        sl_reservoir_begin(66 * MIB, context);
        fill(66 * MIB, 9);
        CHECK(sl_reservoir_end() && taken(agent.file) == 0);
        sl_reservoir_keep(0, context);
        end_agent();
        close(agent.file);
    }
    sl_tenant.region.agent[0] = 0;
}

static void look_at_nothing(void) {
    CHECK(sl_reservoir_bytes() == 0);
}

static void should_forget_after_a_fork(void) {
    CHECK(sl_reservoir_reserve(2 * MIB, context, &reason));
    CHECK(in_child(look_at_nothing) == 0);
    sl_reservoir_keep(0, context);
}

int main(void) {
    use_sim("reservoir", "512m");
    make_faulty();
    CHECK(real.cuCtxGetCurrent(&context) == 0);
    RUN(should_make_and_let_go);
    RUN(should_do_without_registration);
    RUN(should_keep_addresses_that_stay_registered);
    RUN(should_count_for_the_tenant);
    RUN(should_leave_memory_to_the_host);
    RUN(should_use_memory_of_an_agent);
    RUN(should_use_its_own_memory_where_an_agent_has_none);
    RUN(should_forget_after_a_fork);
    return 0;
}
