/* The region decides whether a program may run without attaching to its tenant. The program's own switches do not count. */
#include "check.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "hooks.h"
#include "real.h"
#include "table.h"
#include "tenant/tenant.h"

static unsigned asked;

/* A region without a free slot. All belong to processes of another namespace, so this process cannot tell whether they live. */
static void make_full_region(const char *name, bool fails) {
    static const uint64_t memory_bytes[16] = {1 << 30};
    sl_slots_owner_t self;
    sl_region_t region;
    sl_reason_t reason;
    CHECK(sl_slots_self(&self, &reason), "%s", reason.text);
    sl_region_draft_t draft = {.tenant = name, .root_identity = self.identity, .memory_bytes = memory_bytes, .fail_on_error = fails,
                               .wait_on_oom = fails, .oom_wait_millis = 70};
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    CHECK(region.header->on_error == fails && region.limits->on_oom == fails && region.limits->oom_wait_millis == 70);
    for (int i = 0; i < SL_REGION_SLOT_COUNT; i++) {
        region.slots[i].pid_namespace = self.pid_namespace + 1;
        region.slots[i].owner = 99;
    }
    setenv("SLUICE_REGION", region.path, 1);
}

static CUresult fake_init(unsigned flags) {
    (void)flags;
    asked++;
    return CUDA_SUCCESS;
}

static void fails(void) {
    CHECK(sl_tenant_attach() == SL_TENANT_REFUSE);
    CHECK(hook_cuInit(0) == CUDA_ERROR_NOT_PERMITTED && !asked);
}

static void runs(void) {
    CHECK(sl_tenant_attach() == SL_TENANT_PASS);
    CHECK(hook_cuInit(0) == CUDA_SUCCESS && asked == 1);
}

static void should_fail_where_the_region_says_so(void) {
    make_full_region("strict", true);
    setenv("SLUICE_ON_ERROR", "run", 1);
    CHECK(in_child(fails) == 0);
    unsetenv("SLUICE_ON_ERROR");
    CHECK(in_child(fails) == 0);
}

static void should_run_where_the_region_says_so(void) {
    make_full_region("mild", false);
    setenv("SLUICE_ON_ERROR", "fail", 1);
    CHECK(in_child(runs) == 0);
}

/* Without a region the program's own switch counts. */
static void should_follow_the_switch_without_a_region(void) {
    setenv("SLUICE_REGION", "/nonexistent/no.region", 1);
    setenv("SLUICE_ON_ERROR", "fail", 1);
    CHECK(in_child(fails) == 0);
    setenv("SLUICE_ON_ERROR", "run", 1);
    CHECK(in_child(runs) == 0);
}

/* The administrator's setting beside the agent's socket overrides the job's own limits. */
static void should_fail_without_an_agent_where_the_machine_says_so(void) {
    char agent[256], word[256];
    snprintf(agent, sizeof agent, "%s/agent.sock", test_folder);
    snprintf(word, sizeof word, "%s/on-error", test_folder);
    int fd = open(word, O_CREAT | O_WRONLY | O_EXCL, 0644);
    CHECK(fd >= 0 && write(fd, "fail\n", 5) == 5 && close(fd) == 0);
    unsetenv("SLUICE_REGION");
    setenv("SLUICE_AGENT", agent, 1);
    setenv("SLUICE_ON_ERROR", "run", 1);
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(in_child(fails) == 0, "it runs with the limits of its own");
    unsetenv("SLUICE_MEMORY");
    CHECK(in_child(fails) == 0);
    CHECK(unlink(word) == 0);
    unsetenv("SLUICE_AGENT");
    unsetenv("SLUICE_ON_ERROR");
}

static void forks(void) {
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    unsigned slot = sl_tenant.slot;
    sl_region_account(&sl_tenant.region, slot, 0)->charged_bytes = 1000;
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(sl_tenant.state == SL_TENANT_UNKNOWN && sl_tenant_attach() == SL_TENANT_ATTACHED);
        CHECK(sl_tenant.slot != slot, "the parent's slot");
        CHECK(sl_region_account(&sl_tenant.region, slot, 0)->charged_bytes == 1000);
        sl_region_account(&sl_tenant.region, sl_tenant.slot, 0)->charged_bytes = 5;
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(sl_slots_reap(&sl_tenant.region, &sl_tenant.self) == 1, "the child's slot");
    CHECK(sl_region_account(&sl_tenant.region, slot, 0)->charged_bytes == 1000);
}

static void should_give_a_child_a_slot_of_its_own(void) {
    unsetenv("SLUICE_REGION");
    setenv("SLUICE_TENANT", "forks", 1);
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(in_child(forks) == 0);
}

static bool has_quick_barrier(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0;
}

static void attaches_with_a_small_table(void) {
    CHECK(!has_quick_barrier() && sl_tenant_attach() == SL_TENANT_ATTACHED);
    CHECK(has_quick_barrier() && table_size() <= 512, "%d", table_size());
}

static void attaches_with_a_large_table(void) {
    CHECK(table_size() <= 512 && sl_tenant_attach() == SL_TENANT_ATTACHED);
    CHECK(has_quick_barrier() && table_size() > 512, "%d", table_size());
    if (fork() == 0) {
        CHECK(table_size() <= 512 && sl_tenant_attach() == SL_TENANT_ATTACHED && table_size() > 512, "%d", table_size());
        _exit(0);
    }
    int status;
    CHECK(wait(&status) > 0 && status == 0);
}

static void *sleep_on(void *unused) {
    pause();
    return unused;
}

/* Then each of them takes the kernel some milliseconds, which belong to the attendant. */
static void attaches_with_another_thread(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, sleep_on, NULL) == 0);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED && !has_quick_barrier() && table_size() <= 512, "%d", table_size());
}

/* After that the kernel does both at once. */
static void should_make_ready_while_it_has_one_thread(void) {
    setenv("SLUICE_MEMORY", "1g", 1);
    setenv("SLUICE_TENANT", "ready", 1);
    CHECK(in_child(attaches_with_a_small_table) == 0);
    static const char *const asks[][2] = {{"SLUICE_WEIGHT", "2"}, {"SLUICE_COMPUTE", "50%"}, {"SLUICE_SLICES", "1"}, {"SLUICE_SLICES", "auto"}};
    for (unsigned i = 0; i < sizeof asks / sizeof *asks; i++) {
        char name[16];
        snprintf(name, sizeof name, "ready-%u", i);
        setenv("SLUICE_TENANT", name, 1);
        setenv(asks[i][0], asks[i][1], 1);
        CHECK(in_child(attaches_with_a_large_table) == 0, "%s=%s", asks[i][0], asks[i][1]);
        CHECK(in_child(attaches_with_another_thread) == 0, "%s=%s", asks[i][0], asks[i][1]);
        unsetenv(asks[i][0]);
    }
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_LOG", "error", 1);
    real.cuInit = fake_init;
    RUN(should_fail_where_the_region_says_so);
    RUN(should_run_where_the_region_says_so);
    RUN(should_follow_the_switch_without_a_region);
    RUN(should_fail_without_an_agent_where_the_machine_says_so);
    RUN(should_give_a_child_a_slot_of_its_own);
    RUN(should_make_ready_while_it_has_one_thread);
    return 0;
}
