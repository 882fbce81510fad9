/* A process that has lost its environment joins the tenant of the nearest ancestor with limits.
 *
 * The test starts itself as a parent with one environment. The parent starts a child with another, directly or through a process without
 * an environment. The child reports what it reads. */
#include "check.h"

#include "os/os.h"
#include "tenant/switches/options.h"
#include "tenant/switches/ancestor.h"
#include "tenant/region.h"

enum { FOUND = 10, OTHER_ANCESTOR, NOTHING, REGION, AGENT, CAPPED };

static char *own_path;

/* The exit status of a program of this test with an environment, as another user where one is given. */
static int run(char *const arguments[], char *const environment[], uid_t user) {
    pid_t pid = fork();
    if (pid == 0) {
        if (user && setuid(user) != 0)
            _exit(1);
        execve("/proc/self/exe", arguments, environment);
        _exit(1);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int judge(const char *first) {
    sl_options_t options;
    sl_reason_t reason;
    sl_os_process_t self;
    if (!sl_options_read(&options, &reason))
        return 2;
    if (!options.wanted)
        return NOTHING;
    if (options.region)
        return strcmp(options.region, "/some/region") == 0 ? REGION : 3;
    if (options.agent)
        return strcmp(options.agent, "/some/agent.sock") == 0 ? AGENT : 4;
    if (options.shares.compute_permille[0] == 300)
        return CAPPED;
    if (options.memory_bytes[0] != 1u << 30 || !sl_os_process(0, &self))
        return 5;
    return sl_os_pid(sl_ancestor_find(sl_os_identity(getpid(), &self))) == atoi(first) ? FOUND : OTHER_ANCESTOR;
}

/* What a child finds: its parent has one environment, and it another. */
static int found(char *parent, char *child, const char *how) {
    char *const arguments[] = {own_path, "parent", (char *)how, child, NULL};
    char *const environment[] = {parent, NULL};
    return run(arguments, environment, 0);
}

static int be_parent(const char *how, char *child) {
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    bool distant = strcmp(how, "distant") == 0;
    char *const arguments[] = {own_path, distant ? "between" : "child", pid, child, NULL};
    char *const environment[] = {distant ? NULL : child, NULL};
    return run(arguments, environment, strcmp(how, "user") == 0 ? 64001 : 0);
}

static int be_between(char *pid, char *child) {
    char *const arguments[] = {own_path, "child", pid, NULL};
    char *const environment[] = {child, NULL};
    return run(arguments, environment, 0);
}

static void should_find_the_limits_of_the_ancestor(void) {
    CHECK(found("SLUICE_MEMORY=1g", "HOME=/", "near") == FOUND);
    CHECK(found("SLUICE_MEMORY=1g", "HOME=/", "distant") == FOUND, "one in between has none");
    CHECK(found("CUDA_DEVICE_MEMORY_LIMIT_0=1g", "HOME=/", "near") == FOUND);
    CHECK(found("WRAPPER_MAX_MEMORY=1073741824", "HOME=/", "near") == FOUND);
    CHECK(found("CUDA_DEVICE_SM_LIMIT=30", "HOME=/", "near") == CAPPED);
    CHECK(found("SLUICE_REGION=/some/region", "HOME=/", "near") == REGION);
    CHECK(found("SLUICE_AGENT=/some/agent.sock", "HOME=/", "near") == AGENT);
}

static void should_want_nothing_where_there_was_nothing(void) {
    CHECK(found("HOME=/", "HOME=/", "near") == NOTHING);
    CHECK(found("SLUICE_LOG=error", "HOME=/", "distant") == NOTHING);
}

/* A process that has LD_PRELOAD, a limit, or an explicit "no limit" has not lost its environment. */
static void should_leave_what_was_chosen(void) {
    CHECK(found("SLUICE_MEMORY=1g", "LD_PRELOAD=/none", "near") == NOTHING);
    CHECK(found("SLUICE_MEMORY=1g", "SLUICE_MEMORY=", "near") == NOTHING);
    CHECK(found("SLUICE_MEMORY=1g", "CUDA_DISABLE_CONTROL=true", "near") == NOTHING);
    CHECK(found("SLUICE_MEMORY=5g", "CUDA_DEVICE_SM_LIMIT=30", "near") == CAPPED);
}

static void should_not_follow_another_user(void) {
    if (geteuid() == 0)
        CHECK(found("SLUICE_MEMORY=1g", "HOME=/", "user") == NOTHING);
}

int main(int count, char **arguments) {
    own_path = arguments[0];
    if (count >= 4 && strcmp(arguments[1], "parent") == 0)
        return be_parent(arguments[2], arguments[3]);
    if (count >= 4 && strcmp(arguments[1], "between") == 0)
        return be_between(arguments[2], arguments[3]);
    if (count >= 3 && strcmp(arguments[1], "child") == 0)
        return judge(arguments[2]);
    RUN(should_find_the_limits_of_the_ancestor);
    RUN(should_want_nothing_where_there_was_nothing);
    RUN(should_leave_what_was_chosen);
    RUN(should_not_follow_another_user);
    return 0;
}
