/* A region comes from the agent by file descriptor, and whatever the agent does, the library waits only so long. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "os/os.h"
#include "tenant/registration.h"
#include "tenant/tenant.h"
#include "tenant/unanswered.h"

#define ANSWER_NANOS 4000000000u

static sl_reason_t reason;
static sl_region_t region;
static char path[128], heard[256];
static int listener, limits, ledger;
static const char *answer;
static int descriptors; /* how many are sent with the answer */

static int memory(size_t bytes) {
    int fd = (int)syscall(SYS_memfd_create, "test", 1u);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    return fd;
}

static void send_descriptor(int to, int fd) {
    char any = '\n';
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {&any, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    sendmsg(to, &message, MSG_NOSIGNAL);
}

static int busy_times; /* how often the agent answers "busy" first */
static int hang_ups;   /* how often it hangs up before that */

static void put_off(void) {
    for (; busy_times + hang_ups > 0;) {
        int fd = accept(listener, NULL, NULL);
        ssize_t length = read(fd, heard, sizeof heard - 1);
        CHECK(length > 0);
        if (busy_times > 0) {
            busy_times--;
            send(fd, "busy 20\n", 8, MSG_NOSIGNAL);
        } else
            hang_ups--;
        close(fd);
    }
}

static void *agent(void *unused) {
    (void)unused;
    put_off();
    int fd = accept(listener, NULL, NULL);
    ssize_t length = read(fd, heard, sizeof heard - 1);
    heard[length > 0 ? length : 0] = 0;
    for (int i = 0; i < descriptors; i++)
        send_descriptor(fd, i == 0 ? limits : ledger);
    if (answer)
        send(fd, answer, strlen(answer), MSG_NOSIGNAL);
    else
        sleep(2);
    close(fd);
    return NULL;
}

static bool ask(const char *text, int count) {
    pthread_t thread;
    answer = text;
    descriptors = count;
    pthread_create(&thread, NULL, agent, NULL);
    uint64_t began = sl_os_nanos();
    bool ok = sl_registration_open(&region, path, "small", &reason);
    CHECK(sl_os_nanos() - began < 5000000000u);
    pthread_join(thread, NULL);
    return ok;
}

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static const sl_region_format_t format = SL_REGION_FORMAT;

static void should_map_what_the_agent_hands_over(void) {
    sl_region_header_t header = {.magic = SL_REGION_MAGIC, .layout = SL_REGION_LAYOUT, .page_bytes = SL_REGION_PAGE_BYTES,
                                 .region_bytes = SL_REGION_BYTES};
    CHECK(pwrite(limits, &header, sizeof header, 0) == sizeof header);
    CHECK(pwrite(limits, &format, sizeof format, SL_REGION_FORMAT_OFFSET) == sizeof format);
    int before = open_descriptors();
    CHECK(ask("ok job 4711 features=3 colour=blue\n", 2), "%s", reason.text);
    CHECK(sl_registration_identity(&region, 1) == 4711 && sl_registration_identity(&region, 0) == 0, "the same namespace needs no other number");
    CHECK(strstr(region.path, "job from"), "%s", region.path);
    char features[60];
    snprintf(features, sizeof features, " small features=%llu version=", (unsigned long long)SL_REGION_FEATURES);
    CHECK(strncmp(heard, "region ", 7) == 0 && strstr(heard, features), "%s", heard);
    CHECK(open_descriptors() == before, "descriptors stay open");
    CHECK(region.header->magic == SL_REGION_MAGIC && strcmp(region.agent, path) == 0);
    region.slots[511].calls = 7;
    uint64_t calls;
    CHECK(pread(ledger, &calls, sizeof calls, (char *)&region.slots[511].calls - region.base) == sizeof calls && calls == 7);
    sl_region_close(&region);
}

/* Drops connections of clients that tried again. */
static void empty_backlog(void) {
    fcntl(listener, F_SETFL, O_NONBLOCK);
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
        close(fd);
    fcntl(listener, F_SETFL, 0);
}

static void should_come_again_when_the_agent_is_busy(void) {
    busy_times = 5;
    hang_ups = 3;
    CHECK(ask("ok job\n", 2), "%s", reason.text);
    sl_region_close(&region);
    busy_times = 1000;
    sl_registration_answer_nanos = 300000000;
    pthread_t thread;
    pthread_create(&thread, NULL, agent, NULL);
    uint64_t began = sl_os_nanos();
    CHECK(!sl_registration_open(&region, path, "small", &reason) && strstr(reason.text, "too much to do"), "%s", reason.text);
    CHECK(sl_os_nanos() - began < 2000000000u, "the deadline is for all tries together");
    busy_times = 1;
    sl_registration_answer_nanos = ANSWER_NANOS;
    answer = "ok job\n";
    descriptors = 2;
    CHECK(sl_registration_open(&region, path, "small", &reason), "%s", reason.text);
    pthread_join(thread, NULL);
    sl_region_close(&region);
}

static void should_refuse_a_label_with_odd_bytes(void) {
    CHECK(!sl_registration_open(&region, path, "a b", &reason) && strstr(reason.text, "SLUICE_LABEL"), "%s", reason.text);
    CHECK(!sl_registration_open(&region, path, "a\nregion", &reason) && !sl_registration_open(&region, path, "\xff", &reason));
}

static void write_word(const char *text, mode_t mode) {
    char file[256];
    snprintf(file, sizeof file, "%s/on-error", test_folder);
    unlink(file);
    int fd = open(file, O_CREAT | O_WRONLY | O_EXCL, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0);
    close(fd);
}

static void should_read_what_the_machine_wants_of_a_job_without_an_answer(void) {
    char file[256], other[256];
    CHECK(!sl_unanswered_is_said(path) && !sl_unanswered_must_fail(path), "nothing was said");
    write_word("run\n", 0644);
    CHECK(sl_unanswered_is_said(path) && !sl_unanswered_must_fail(path));
    write_word("fail\n", 0644);
    CHECK(sl_unanswered_is_said(path) && sl_unanswered_must_fail(path));
    write_word("failure", 0644);
    CHECK(!sl_unanswered_must_fail(path));
    write_word("fail\n", 0666);
    CHECK(!sl_unanswered_is_said(path) && !sl_unanswered_must_fail(path), "anybody can write it");
    snprintf(file, sizeof file, "%s/on-error", test_folder);
    snprintf(other, sizeof other, "%s/elsewhere", test_folder);
    write_word("fail\n", 0644);
    CHECK(rename(file, other) == 0 && symlink(other, file) == 0);
    CHECK(!sl_unanswered_is_said(path), "a link is not followed");
    CHECK(unlink(file) == 0 && mkfifo(file, 0644) == 0);
    CHECK(!sl_unanswered_is_said(path), "a pipe is not waited for");
    CHECK(unlink(file) == 0);
    if (geteuid() == 0) {
        write_word("fail\n", 0644);
        CHECK(chown(file, 64001, 64001) == 0);
        CHECK(!sl_unanswered_is_said(path), "another user's");
        CHECK(chown(path, 64001, 64001) == 0);
        CHECK(sl_unanswered_must_fail(path), "the agent's user's");
        CHECK(chown(path, 0, 0) == 0 && unlink(file) == 0);
    }
}

static void should_refuse_what_is_no_region(void) {
    int before = open_descriptors();
    CHECK(!ask("no the policy has none\n", 0) && strstr(reason.text, "the policy has none"), "%s", reason.text);
    CHECK(!ask("ok job\n", 0) && !ask("ok job\n", 1) && !ask("what\n", 2));
    sl_registration_answer_nanos = 200000000;
    CHECK(!ask("", 2) && strstr(reason.text, "does not answer"), "%s", reason.text);
    empty_backlog();
    CHECK(!ask("ok job", 2), "half an answer");
    empty_backlog();
    sl_registration_answer_nanos = ANSWER_NANOS;
    CHECK(ask("ok job\n", 9), "what comes beside the region is closed: %s", reason.text);
    sl_region_close(&region);
    int whole = ledger;
    ledger = memory(4096);
    CHECK(!ask("ok job\n", 2) && strstr(reason.text, "size"), "%s", reason.text);
    close(ledger);
    ledger = whole;
    CHECK(open_descriptors() == before, "descriptors stay open");
}

static int page(uint64_t created_nanos, uint64_t memory_bytes) {
    sl_region_header_t header = {.magic = SL_REGION_MAGIC, .layout = SL_REGION_LAYOUT, .page_bytes = SL_REGION_PAGE_BYTES,
                                 .region_bytes = SL_REGION_BYTES, .created_nanos = created_nanos};
    sl_region_limits_t of_tenant = {.memory_bytes = {memory_bytes}};
    int fd = memory(SL_REGION_PAGE_BYTES);
    CHECK(pwrite(fd, &header, sizeof header, 0) == sizeof header);
    CHECK(pwrite(fd, &format, sizeof format, SL_REGION_FORMAT_OFFSET) == sizeof format);
    CHECK(pwrite(fd, &of_tenant, sizeof of_tenant, SL_REGION_LIMITS_OFFSET) == sizeof of_tenant);
    return fd;
}

/* Whether the agent was asked. */
static bool follow(int handed_over) {
    pthread_t thread;
    struct stat status;
    int before = limits;
    limits = handed_over;
    answer = "ok job\n";
    descriptors = 1;
    heard[0] = 0;
    CHECK(fstat(limits, &status) == 0);
    sl_tenant.region.slots[0].limits_page = status.st_ino;
    pthread_create(&thread, NULL, agent, NULL);
    sl_registration_follow();
    bool asked = heard[0];
    if (!asked) { /* the agent still waits */
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        memcpy(address.sun_path, path, strlen(path) + 1);
        CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
        close(fd);
    }
    pthread_join(thread, NULL);
    limits = before;
    return asked;
}

static void should_take_the_limits_of_the_next_agent(void) {
    int first = page(7, 1000), second = page(7, 2000), foreign = page(8, 3000), before = open_descriptors(), at_first = limits;
    limits = first;
    CHECK(ask("ok job\n", 2), "%s", reason.text);
    limits = at_first;
    sl_tenant.region = region;
    sl_tenant.slot = 0;
    sl_tenant.state = SL_TENANT_ATTACHED;
    sl_registration_follow();
    CHECK(region.limits->memory_bytes[0] == 1000, "nobody has others");
    CHECK(!follow(first), "they are mapped");
    CHECK(follow(second) && strncmp(heard, "limits ", 7) == 0 && strstr(heard, " small features="), "%s", heard);
    CHECK(region.limits->memory_bytes[0] == 2000);
    CHECK(pwrite(second, &(uint64_t){2500}, 8, (const char *)region.limits->memory_bytes - region.base) == 8);
    CHECK(region.limits->memory_bytes[0] == 2500, "it is the agent's memory");
    CHECK(follow(foreign) && region.limits->memory_bytes[0] == 2500, "of another tenant");
    CHECK(!follow(foreign), "not again at once");
    CHECK(open_descriptors() == before, "descriptors stay open");
    sl_tenant.state = SL_TENANT_UNKNOWN;
    sl_region_close(&region);
}

static void should_wait_only_so_long(void) {
    sl_registration_answer_nanos = 1000000000;
    CHECK(!ask(NULL, 0) && strstr(reason.text, "does not answer"), "an agent that says nothing: %s", reason.text);
    empty_backlog();
    close(listener);
    uint64_t began = sl_os_nanos();
    CHECK(!sl_registration_open(&region, path, NULL, &reason) && strstr(reason.text, "no agent"), "%s", reason.text);
    CHECK(!sl_registration_open(&region, "/nowhere/agent.sock", NULL, &reason));
    CHECK(sl_os_nanos() - began < 3000000000u);
}

int main(void) {
    use_test_folder();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(path, sizeof path, "%s/agent.sock", test_folder);
    memcpy(address.sun_path, path, strlen(path) + 1);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0);
    limits = memory(SL_REGION_PAGE_BYTES);
    ledger = memory(SL_REGION_BYTES);
    sl_registration_answer_nanos = ANSWER_NANOS;
    RUN(should_map_what_the_agent_hands_over);
    RUN(should_come_again_when_the_agent_is_busy);
    RUN(should_refuse_a_label_with_odd_bytes);
    RUN(should_read_what_the_machine_wants_of_a_job_without_an_answer);
    RUN(should_refuse_what_is_no_region);
    RUN(should_take_the_limits_of_the_next_agent);
    RUN(should_wait_only_so_long);
    return 0;
}
