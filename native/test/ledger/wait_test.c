/* An allocation over the quota waits where the tenant chose so, and only as long as it makes sense. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "ledger/ledger.h"
#include "ledger/wait.h"
#include "os/os.h"
#include "real.h"
#include "tenant/gpu.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define LIMIT 1000000u
#define GPU 0u

static void set(size_t offset, const void *value, size_t size) {
    int fd = open(sl_tenant.region.path, O_RDWR);
    CHECK(pwrite(fd, value, size, (off_t)(SL_REGION_LIMITS_OFFSET + offset)) == (ssize_t)size);
    close(fd);
}

static void set_limit(uint64_t bytes) {
    set(offsetof(sl_region_limits_t, memory_bytes), &bytes, sizeof bytes);
}

static void set_patience(uint32_t millis) {
    uint32_t waits = millis > 0;
    set(offsetof(sl_region_limits_t, on_oom), &waits, sizeof waits);
    set(offsetof(sl_region_limits_t, oom_wait_millis), &millis, sizeof millis);
}

static void attach(void) {
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    sl_region_gpu_t *gpu = &sl_tenant.region.gpus[GPU];
    gpu->granularity_bytes = 2 << 20;
    gpu->owner = 1;
    sl_gpu_open(GPU);
}

static void take(uint64_t bytes) {
    uint64_t used = sl_ledger_try(GPU, bytes);
    CHECK(used);
    sl_ledger_commit(GPU, SL_USE_LINEAR, bytes, used);
}

static void give(uint64_t bytes) {
    sl_ledger_refund(GPU, SL_USE_LINEAR, bytes);
}

static unsigned millis_since(uint64_t start) {
    return (unsigned)((sl_os_nanos() - start) / 1000000);
}

/* Whether the reservation succeeded, and after how long. */
static bool reserve_since(uint64_t start, uint64_t bytes, unsigned *millis) {
    bool got = sl_ledger_reserve(GPU, bytes) != 0;
    *millis = millis_since(start);
    if (got)
        sl_ledger_cancel(GPU, bytes);
    return got;
}

static bool reserve(uint64_t bytes, unsigned *millis) {
    return reserve_since(sl_os_nanos(), bytes, millis);
}

/* A sibling process that uses the whole quota for a while. */
static pid_t sibling(unsigned millis) {
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        attach();
        take(LIMIT);
        CHECK(write(ready[1], "x", 1) == 1);
        usleep(millis * 1000);
        give(LIMIT);
        usleep(200000);
        _exit(0);
    }
    char c;
    CHECK(read(ready[0], &c, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void should_refuse_at_once_unless_told_to_wait(void) {
    unsigned millis;
    set_patience(0);
    take(LIMIT);
    CHECK(!reserve(1, &millis) && millis < 5000, "%u ms", millis);
    give(LIMIT);
}

static void should_wait_until_a_sibling_frees(void) {
    unsigned millis;
    set_patience(10000);
    uint64_t start = sl_os_nanos();
    pid_t pid = sibling(150);
    CHECK(reserve_since(start, LIMIT / 2, &millis), "refused after %u ms", millis);
    CHECK(millis >= 100 && millis < 5000, "%u ms", millis);
    waitpid(pid, NULL, 0);
}

static void should_wait_until_a_sibling_dies(void) {
    unsigned millis;
    pid_t pid = sibling(60000);
    kill(pid, SIGKILL);
    CHECK(reserve(LIMIT / 2, &millis), "refused after %u ms", millis);
    waitpid(pid, NULL, 0);
}

static void should_give_up_in_the_end(void) {
    unsigned millis;
    set_patience(120);
    take(LIMIT);
    CHECK(!reserve(1, &millis) && millis >= 100 && millis < 2000, "%u ms", millis);
    CHECK(!sl_ledger_try(GPU, 1), "a try never waits");
    give(LIMIT);
}

static void should_never_wait_for_the_impossible(void) {
    unsigned millis;
    set_patience(10000);
    CHECK(!reserve(LIMIT + 1, &millis) && millis < 5000, "%u ms", millis);
}

static void *raise_limit(void *unused) {
    (void)unused;
    usleep(100000);
    set_limit(LIMIT * 2);
    return NULL;
}

static void *end_waiting(void *unused) {
    (void)unused;
    usleep(100000);
    set_patience(0);
    return NULL;
}

static void should_follow_limits_while_it_waits(void) {
    pthread_t thread;
    unsigned millis;
    set_patience(10000);
    take(LIMIT);
    uint64_t start = sl_os_nanos();
    pthread_create(&thread, NULL, raise_limit, NULL);
    CHECK(reserve_since(start, LIMIT, &millis) && millis >= 50 && millis < 5000, "%u ms", millis);
    pthread_join(thread, NULL);
    set_limit(LIMIT);
    start = sl_os_nanos();
    pthread_create(&thread, NULL, end_waiting, NULL);
    CHECK(!reserve_since(start, 1, &millis) && millis >= 50 && millis < 5000, "%u ms", millis);
    pthread_join(thread, NULL);
    give(LIMIT);
}

static CUresult capturing(CUstream stream, CUstreamCaptureStatus *status) {
    (void)stream, (void)status;
    return 906;
}

static void should_never_wait_while_a_stream_captures(void) {
    unsigned millis;
    set_patience(10000);
    take(LIMIT);
    real.cuStreamIsCapturing = capturing;
    CHECK(!reserve(1, &millis) && millis < 5000, "%u ms", millis);
    real.cuStreamIsCapturing = NULL;
    give(LIMIT);
}

static void should_block_growth_below_what_is_used(void) {
    set_patience(0);
    take(LIMIT / 2);
    set_limit(LIMIT / 4);
    CHECK(!sl_ledger_reserve(GPU, 1) && sl_accounts_used(GPU) == LIMIT / 2);
    give(LIMIT / 2);
    CHECK(sl_ledger_reserve(GPU, LIMIT / 4));
    sl_ledger_cancel(GPU, LIMIT / 4);
    set_limit(0);
    CHECK(sl_ledger_reserve(GPU, LIMIT * 100ull), "no limit at all");
    sl_ledger_cancel(GPU, LIMIT * 100ull);
    set_limit(LIMIT);
}

static void should_wait_for_an_hour_at_the_most(void) {
    set_patience(30000);
    CHECK(sl_wait_patience() == 30000000000ull);
    set_patience(UINT32_MAX);
    CHECK(sl_wait_patience() == 3600000000000ull, "%llu", (unsigned long long)sl_wait_patience());
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_TENANT", "wait", 1);
    setenv("SLUICE_MEMORY", "1000000b", 1);
    setenv("SLUICE_ON_OOM", "wait:7s", 1);
    attach();
    CHECK(sl_tenant.region.limits->on_oom == 1 && sl_tenant.region.limits->oom_wait_millis == 7000);
    RUN(should_refuse_at_once_unless_told_to_wait);
    RUN(should_wait_until_a_sibling_frees);
    RUN(should_wait_until_a_sibling_dies);
    RUN(should_give_up_in_the_end);
    RUN(should_never_wait_for_the_impossible);
    RUN(should_follow_limits_while_it_waits);
    RUN(should_never_wait_while_a_stream_captures);
    RUN(should_block_growth_below_what_is_used);
    RUN(should_wait_for_an_hour_at_the_most);
    return 0;
}
