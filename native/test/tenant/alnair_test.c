/* Under Alnair's name the library registers its container, and whatever its server does, the program goes on. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "os/os.h"
#include "tenant/switches/compat.h"
#include "tenant/switches/options.h"

#define WAIT_NANOS 300000000u
#define HEARD_BYTES 8192
#define SLOW_NANOS 20000000000u /* a bound that even a busy machine keeps */

static char socket_path[96], cgroup_path[96], *heard; /* shared with the server, which is a process of its own */
static int listener = -1;
static const char *answer; /* NULL: the server says nothing and keeps the connection */
static bool hangs_up_unheard;

static void serve(void) {
    int fd = accept(listener, NULL, NULL);
    ssize_t length = hangs_up_unheard ? 0 : read(fd, heard, HEARD_BYTES - 1);
    heard[length > 0 ? length : 0] = 0;
    if (answer)
        send(fd, answer, strlen(answer), MSG_NOSIGNAL);
    else if (!hangs_up_unheard)
        pause();
    _exit(0);
}

static void listen_at(const char *path, int backlog) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, backlog) == 0);
}

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* What reading the options writes to a descriptor. Reading must take a bounded time and leave no descriptor open. */
static const char *said_on(int descriptor, uint64_t most_nanos) {
    static char text[4096];
    sl_options_t options;
    sl_reason_t reason;
    int before = open_descriptors(), ends[2], saved = dup(descriptor);
    CHECK(pipe(ends) == 0 && dup2(ends[1], descriptor) == descriptor);
    close(ends[1]);
    uint64_t began = sl_os_nanos();
    bool ok = sl_options_read(&options, &reason);
    uint64_t took = sl_os_nanos() - began;
    fflush(NULL);
    dup2(saved, descriptor);
    close(saved);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    close(ends[0]);
    CHECK(ok && options.memory_bytes[0] == 1073741824, "the limits hold all the same");
    CHECK(took < most_nanos, "%llu ns", (unsigned long long)took);
    CHECK(open_descriptors() == before, "a descriptor stays open");
    return text;
}

static const char *said(void) {
    return said_on(STDERR_FILENO, SLOW_NANOS);
}

static const char *answered(const char *text) {
    answer = text;
    heard[0] = 0;
    pid_t server = fork();
    if (server == 0)
        serve();
    const char *line = said();
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return line;
}

static void write_cgroup(const char *text) {
    FILE *file = fopen(cgroup_path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void should_register_its_container(void) {
    write_cgroup("12:pids:/other\n4:memory:/kubepods/pod1/docker-ab.scope\n0::/unified\n");
    CHECK(strcmp(answered("ok"), "") == 0);
    CHECK(strcmp(heard, "/kubepods/pod1/docker-ab.scope ab1de\n") == 0, "%s", heard);
    write_cgroup("3:cpu,memory:/both\n");
    CHECK(strcmp(answered("ok"), "") == 0 && strcmp(heard, "/both ab1de\n") == 0, "%s", heard);
    write_cgroup("0::/system.slice/docker-cd.scope\n");
    CHECK(strcmp(answered("ok"), "") == 0 && strcmp(heard, "/system.slice/docker-cd.scope ab1de\n") == 0, "%s", heard);
    write_cgroup("");
    CHECK(strcmp(answered("ok"), "") == 0 && strcmp(heard, " ab1de\n") == 0, "%s", heard);
    unlink(cgroup_path);
    CHECK(strcmp(answered("ok"), "") == 0 && strcmp(heard, " ab1de\n") == 0, "%s", heard);
}

static void should_say_why_it_is_refused(void) {
    CHECK(strcmp(answered("no such container"), "cgroup registration error: no such container\n") == 0);
    const char *line = answered("red \033[31m\nnext line");
    CHECK(strcmp(line, "cgroup registration error: red ?[31m\n") == 0, "%s", line);
}

static void should_go_on_when_the_server_is_down(void) {
    CHECK(strcmp(answered(""), "server is down.\n") == 0, "it hung up");
    hangs_up_unheard = true;
    CHECK(strcmp(answered(NULL), "server is down.\n") == 0, "it hung up before it heard");
    hangs_up_unheard = false;
    sl_compat_alnair_wait_nanos = WAIT_NANOS;
    CHECK(strcmp(answered(NULL), "server is down.\n") == 0, "it hangs");
    close(listener);
    CHECK(strcmp(said(), "server is down.\n") == 0, "its socket is left");
    unlink(socket_path);
    CHECK(strcmp(said(), "server is down.\n") == 0, "there is none");
    CHECK(mkfifo(socket_path, 0600) == 0 && strcmp(said(), "server is down.\n") == 0 && unlink(socket_path) == 0);
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = 0;
    setenv("ALNAIR_SOCKET", longest, 1);
    CHECK(strcmp(said(), "server is down.\n") == 0, "no socket has such a path");
    setenv("ALNAIR_SOCKET", socket_path, 1);
}

/* Nobody accepts, and the queue is full. */
static void should_not_wait_for_a_full_server(void) {
    int clients[8];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, socket_path);
    listen_at(socket_path, 0);
    for (int i = 0; i < 8; i++) {
        clients[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(clients[i], (struct sockaddr *)&address, sizeof address);
    }
    CHECK(strcmp(said(), "server is down.\n") == 0);
    for (int i = 0; i < 8; i++)
        close(clients[i]);
    close(listener);
    unlink(socket_path);
}

static void should_write_nothing_to_standard_output(void) {
    int saved = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, STDERR_FILENO);
    const char *text = said_on(STDOUT_FILENO, SLOW_NANOS);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(nothing);
    CHECK(strcmp(text, "") == 0, "%s", text);
}

static void register_with_errno(void) {
    errno = EXDEV;
    sl_compat_alnair_register();
    _exit(errno == EXDEV ? 0 : 1);
}

static void should_keep_errno(void) {
    CHECK(in_child(register_with_errno) == 0);
}

static void should_not_register_without_the_name_or_the_socket(void) {
    CHECK(strcmp(said(), "server is down.\n") == 0);
    sl_options_file_name = "libsluice.so";
    CHECK(strcmp(said(), "server is down.\n") == 0, "the variable is there");
    unsetenv("ALNAIR_SOCKET");
    CHECK(strcmp(said(), "") == 0, "%s", said());
    setenv("ALNAIR_SOCKET", socket_path, 1);
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(strcmp(said(), "server is down.\n") == 0, "it goes with everybody's limits");
    setenv("ALNAIR_ID", "a\nb", 1);
    CHECK(strcmp(said(), "") == 0, "no such id");
    unsetenv("ALNAIR_ID");
    CHECK(strcmp(said(), "") == 0, "no id");
}

int main(void) {
    char path[128];
    use_test_folder();
    heard = mmap(NULL, HEARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(heard != MAP_FAILED);
    signal(SIGPIPE, SIG_DFL);
    snprintf(socket_path, sizeof socket_path, "%s/alnair.sock", test_folder);
    snprintf(cgroup_path, sizeof cgroup_path, "%s/cgroup", test_folder);
    snprintf(path, sizeof path, "%s/limits", test_folder);
    FILE *limits = fopen(path, "w");
    CHECK(limits && fputs("vmem:1073741824", limits) >= 0 && fclose(limits) == 0);
    setenv("ALNAIR_ID", "ab1de", 1);
    setenv("ALNAIR_WORKSPACE_PATH", test_folder, 1);
    setenv("ALNAIR_SOCKET", socket_path, 1);
    sl_compat_alnair_cgroup = cgroup_path;
    sl_compat_alnair_wait_nanos = SLOW_NANOS / 2;
    sl_options_file_name = "/opt/alnair/libcuinterpose.so";
    listen_at(socket_path, 4);
    RUN(should_register_its_container);
    RUN(should_say_why_it_is_refused);
    RUN(should_go_on_when_the_server_is_down);
    RUN(should_not_wait_for_a_full_server);
    RUN(should_write_nothing_to_standard_output);
    RUN(should_keep_errno);
    RUN(should_not_register_without_the_name_or_the_socket);
    return 0;
}
