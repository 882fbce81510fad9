/* Processors that this process may use. What it may take of the host's memory: reservoir_test. */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>

#include "os/host.h"

/* The test may have fewer processors than a quota would leave. */
static void check(unsigned expected) {
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    unsigned all = (unsigned)CPU_COUNT(&set), most = expected < all ? expected : all, found = sl_host_processors();
    CHECK(found == most, "%u, not %u", found, most);
}

static void should_count_what_the_thread_may_run_on(void) {
    cpu_set_t before, one;
    check(UINT32_MAX);
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    for (unsigned i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0 && sl_host_processors() == 1);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void should_follow_the_quota_of_a_group(void) {
    write_below("/proc/self/cgroup", "0::/jobs/one\n");
    write_below("/sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n");
    check(UINT32_MAX);
    write_below("/sys/fs/cgroup/jobs/cpu.max", "100000 100000\n");
    check(1);
    write_below("/sys/fs/cgroup/jobs/cpu.max", "20000 100000\n");
    check(1);
    write_below("/sys/fs/cgroup/jobs/cpu.max", "160000 100000\n");
    check(2);
    write_below("/sys/fs/cgroup/jobs/cpu.max", "max 100000\n");
    check(UINT32_MAX);
}

static void should_follow_the_quota_of_an_older_group(void) {
    write_below("/proc/self/cgroup", "7:memory:/m\n4:cpuset:/s\n3:cpuacct,cpu:/c\n1:name=systemd:/x\n");
    check(UINT32_MAX);
    write_below("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write_below("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    check(UINT32_MAX);
    write_below("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "100000\n");
    write_below("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
    check(1);
}

int main(void) {
    use_test_folder();
    sl_host_root = test_folder;
    RUN(should_count_what_the_thread_may_run_on);
    RUN(should_follow_the_quota_of_a_group);
    RUN(should_follow_the_quota_of_an_older_group);
    return 0;
}
