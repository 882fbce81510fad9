/* However many processes race and die, they never hold more than the quota, and the dead hold nothing. */
#include "check.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "ledger/ledger.h"
#include "os/os.h"
#include "tenant/gpu.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define PROCESSES 6
#define LIMIT 1000000u
#define GPU 0u

static volatile struct {
    _Atomic uint64_t held[PROCESSES]; /* what each process really has */
    _Atomic uint64_t admitted, refused, checked, over;
} *shared;

/* The first call of the library in this process; every child attaches for itself. */
static void attach(void) {
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    sl_region_gpu_t *gpu = &sl_tenant.region.gpus[GPU];
    gpu->granularity_bytes = 2 << 20;
    gpu->owner = 1;
    sl_gpu_open(GPU);
}

/* While the counters are read, one process may free bytes that another then takes, and both would count. So the reading is repeated until
 * nothing changed meanwhile. */
static void check_sum(void) {
    uint64_t seen[PROCESSES], sum = 0;
    bool same = true;
    for (int i = 0; i < PROCESSES; i++)
        sum += seen[i] = shared->held[i];
    for (int i = 0; i < PROCESSES; i++)
        same = same && seen[i] == shared->held[i];
    shared->checked += same;
    shared->over += same && sum > LIMIT;
}

static void trade(int number, uint64_t rounds) {
    attach();
    unsigned seed = (unsigned)getpid();
    uint64_t pieces[16] = {0};
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t *piece = &pieces[rand_r(&seed) % 16];
        if (*piece) {
            shared->held[number] -= *piece;
            sl_ledger_refund(GPU, SL_USE_LINEAR, *piece);
            *piece = 0;
            continue;
        }
        uint64_t bytes = 1 + (unsigned)rand_r(&seed) % (LIMIT / 8);
        uint64_t used = sl_ledger_reserve(GPU, bytes);
        if (!used) {
            shared->refused++;
            continue;
        }
        shared->admitted++;
        shared->held[number] += bytes;
        check_sum();
        if (rand_r(&seed) % 8 == 0) {
            shared->held[number] -= bytes;
            sl_ledger_cancel(GPU, bytes);
        } else {
            sl_ledger_commit(GPU, SL_USE_LINEAR, bytes, used);
            *piece = bytes;
        }
    }
}

static uint64_t held_by_all(void) {
    uint64_t sum = 0;
    for (int i = 0; i < PROCESSES; i++)
        sum += shared->held[i];
    return sum;
}

static void should_never_pass_the_quota_together(void) {
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if ((pids[i] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            trade(i, 20000);
            raise(SIGSTOP);
            _exit(0);
        }
    for (int i = 0, status; i < PROCESSES; i++)
        CHECK(waitpid(pids[i], &status, WUNTRACED) == pids[i] && WIFSTOPPED(status));
    CHECK(shared->over == 0, "the quota was passed %llu times", (unsigned long long)shared->over);
    CHECK(shared->admitted > 1000 && shared->refused > 100 && shared->checked > 1000, "the test did not press");
    CHECK(sl_accounts_used(GPU) == held_by_all(), "the ledger differs from what is held");
    CHECK(sl_tenant.region.gpus[GPU].peak_bytes <= LIMIT && sl_tenant.region.gpus[GPU].peak_bytes > LIMIT / 2);
    for (int i = 0; i < PROCESSES; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
        shared->held[i] = 0;
    }
    sl_slots_reap(&sl_tenant.region, &sl_tenant.self);
    CHECK(sl_accounts_used(GPU) == 0);
}

/* After a kill at any instruction the ledger has exactly what the survivors have. */
static void should_forget_the_killed_at_once(void) {
    unsigned seed = 7;
    for (int round = 0; round < 120; round++) {
        pid_t pids[PROCESSES];
        for (int i = 0; i < PROCESSES; i++)
            if ((pids[i] = fork()) == 0)
                trade(i, UINT64_MAX);
        usleep(200 + (unsigned)rand_r(&seed) % 6000);
        for (int i = 0, status; i < PROCESSES; i++) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], &status, 0);
            shared->held[i] = 0;
        }
        CHECK(sl_ledger_reserve(GPU, LIMIT), "round %d: the dead still hold %llu", round,
              (unsigned long long)sl_accounts_used(GPU));
        sl_ledger_cancel(GPU, LIMIT);
        CHECK(sl_accounts_used(GPU) == 0);
    }
    for (int i = 1; i < SL_REGION_SLOT_COUNT; i++)
        CHECK(!sl_tenant.region.slots[i].owner, "slot %d is still taken", i);
}

static void should_wait_for_reservations_that_may_be_undone(void) {
    pid_t pid = fork();
    if (pid == 0) {
        attach();
        CHECK(sl_ledger_reserve(GPU, LIMIT));
        shared->held[0] = 1;
        usleep(2000);
        sl_ledger_cancel(GPU, LIMIT);
        _exit(0);
    }
    while (!shared->held[0])
        ;
    CHECK(sl_ledger_reserve(GPU, LIMIT), "refused although the other one was still in flight and gave up");
    sl_ledger_cancel(GPU, LIMIT);
    waitpid(pid, NULL, 0);
    shared->held[0] = 0;
}

static char errors_path[256];

static void should_follow_a_changed_limit(void) {
    char path[256];
    snprintf(path, sizeof path, "%s/ledger.region", test_folder);
    FILE *file = fopen(path, "r+");
    uint64_t limit = LIMIT * 2;
    fseek(file, SL_REGION_LIMITS_OFFSET + (long)offsetof(sl_region_limits_t, memory_bytes), SEEK_SET);
    fwrite(&limit, sizeof limit, 1, file);
    fclose(file);
    CHECK(sl_accounts_limit(GPU) == limit && sl_ledger_reserve(GPU, limit) && !sl_ledger_reserve(GPU, 1));
    sl_ledger_refuse(GPU, 1);
    CHECK(sl_tenant.region.gpus[GPU].refused_calls == 1);
    const sl_region_error_t *error = sl_tenant.region.errors;
    while (error->state && !strstr(error->text, "2000000 of 2000000"))
        error++;
    CHECK(error->count == 1, "the refusal is not in the log");
    sl_ledger_cancel(GPU, limit);
}

/* The kernel kills the process at any system call but write and exit, and the test fails if it writes. */
static void admit_without_the_kernel(void) {
    attach();
    CHECK(dup2(open(errors_path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO) == STDERR_FILENO);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    for (int i = 0; i < 1000; i++) {
        uint64_t used = sl_ledger_reserve(GPU, 1000);
        sl_ledger_commit(GPU, SL_USE_LINEAR, 1000, used);
        sl_ledger_count(GPU, 1);
        sl_ledger_refund(GPU, SL_USE_LINEAR, 1000);
    }
    syscall(SYS_exit, 0);
}

static void should_admit_without_a_system_call(void) {
    snprintf(errors_path, sizeof errors_path, "%s/stderr", test_folder);
    int status = in_child(admit_without_the_kernel);
    CHECK(status == 0, "status %d", status);
    struct stat file;
    CHECK(stat(errors_path, &file) == 0 && file.st_size == 0, "something was logged");
}

static atomic_bool wrapping;

static void *ask_for_nearly_all(void *nothing) {
    while (wrapping)
        CHECK(!sl_ledger_try(GPU, 0 - (uint64_t)(LIMIT / 2)) && !sl_ledger_try(GPU, UINT64_MAX));
    return nothing;
}

/* A request whose size wraps the sum must not hide what others have while it is in flight. */
static void should_not_be_moved_by_sizes_near_2_to_the_64(void) {
    pthread_t thread;
    uint64_t held = 0, most = 0, before = sl_accounts_used(GPU);
    wrapping = true;
    pthread_create(&thread, NULL, ask_for_nearly_all, NULL);
    for (int i = 0; i < 200000; i++) {
        uint64_t used = sl_ledger_try_at_once(GPU, LIMIT / 16, 0);
        if (!used) {
            for (; held; held -= LIMIT / 16)
                sl_ledger_refund(GPU, SL_USE_LINEAR, LIMIT / 16);
            continue;
        }
        sl_ledger_commit(GPU, SL_USE_LINEAR, LIMIT / 16, used);
        held += LIMIT / 16;
        most = held > most ? held : most;
    }
    for (; held; held -= LIMIT / 16)
        sl_ledger_refund(GPU, SL_USE_LINEAR, LIMIT / 16);
    wrapping = false;
    pthread_join(thread, NULL);
    CHECK(most <= LIMIT && most > LIMIT / 2, "%llu of %u", (unsigned long long)most, LIMIT);
    CHECK(sl_accounts_used(GPU) == before);
}

/* Values in a free slot count for nothing. */
static void should_count_the_slots_of_the_living_only(void) {
    uint64_t before = sl_accounts_used(GPU);
    unsigned slot = sl_tenant.slot + 3;
    sl_region_slot_t *other = &sl_tenant.region.slots[slot];
    sl_tenant.region.gpus[GPU].slots = slot + 1;
    other->pid_namespace = sl_tenant.self.pid_namespace + 1; /* no process of this namespace can tell whether it lives */
    other->owner = 99;
    sl_region_account(&sl_tenant.region, slot, GPU)->charged_bytes = LIMIT / 2;
    CHECK(sl_accounts_used(GPU) == before + LIMIT / 2);
    other->owner = 1ull << 63 | 99; /* it is being emptied */
    CHECK(sl_accounts_used(GPU) == before);
    other->owner = 0;
    CHECK(sl_accounts_used(GPU) == before);
    sl_region_account(&sl_tenant.region, slot, GPU)->charged_bytes = 0;
}

/* Both come here at the same moment, as far as a machine lets them. */
static void meet(_Atomic unsigned *arrived, unsigned round) {
    atomic_fetch_add(arrived, 1);
    for (unsigned spins = 1; atomic_load(arrived) < 2 * round; spins++)
        if (spins % 10000 == 0) /* the other one has no processor */
            sched_yield();
}

/* Two processes each ask for more than half at the same moment. At most one of them gets it. Only rounds in which the requests overlapped
 * count; on a busy machine that takes many rounds. */
static void should_admit_one_of_two_that_ask_at_the_same_moment(void) {
    enum { OVERLAPS = 1000, ROUNDS = 300000 };
    struct {
        _Atomic unsigned arrived;
        _Atomic bool got, done;
        _Atomic uint64_t begin, end;
    } *both = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t bytes = LIMIT / 2 + 1, until = sl_os_nanos() + 20000000000u;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        attach();
    }
    unsigned together = 0, overlaps = 0, meetings = 0;
    for (int round = 0; !both->done; round++) {
        meet(&both->arrived, ++meetings);
        for (volatile int pause = pid ? 30 : round % 60; pause > 0; pause--) /* sometimes the parent is first, sometimes the child */
            ;
        uint64_t begin = sl_os_nanos();
        bool got = sl_ledger_try_at_once(GPU, bytes, 0) != 0;
        uint64_t end = sl_os_nanos();
        if (pid == 0) {
            both->got = got;
            both->begin = begin;
            both->end = end;
        }
        meet(&both->arrived, ++meetings);
        together += got && both->got;
        overlaps += begin < both->end && both->begin < end;
        if (pid)
            both->done = overlaps == OVERLAPS || round == ROUNDS || end > until;
        meet(&both->arrived, ++meetings);
        if (got)
            sl_ledger_cancel(GPU, bytes);
    }
    if (pid == 0)
        _exit(0);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(together == 0, "both got more than half, %u times", together);
    printf("asked at the same time: %u times\n", overlaps);
    munmap(both, 4096);
    sl_slots_reap(&sl_tenant.region, &sl_tenant.self);
}

static void take_and_stay(void) {
    attach();
    sl_ledger_commit(GPU, SL_USE_LINEAR, LIMIT / 2, sl_ledger_reserve(GPU, LIMIT / 2));
    raise(SIGSTOP);
}

static void should_note_the_peak_of_all_processes_together(void) {
    uint64_t before = sl_accounts_used(GPU), own = LIMIT / 4;
    sl_tenant.region.gpus[GPU].peak_bytes = 0;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        take_and_stay();
    }
    int status;
    CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    sl_ledger_commit(GPU, SL_USE_LINEAR, own, sl_ledger_reserve(GPU, own));
    CHECK(sl_tenant.region.gpus[GPU].peak_bytes == before + LIMIT / 2 + own, "%llu",
          (unsigned long long)sl_tenant.region.gpus[GPU].peak_bytes);
    sl_ledger_refund(GPU, SL_USE_LINEAR, own);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    sl_slots_reap(&sl_tenant.region, &sl_tenant.self);
}

static void take_and_die(void) {
    attach();
    sl_ledger_commit(GPU, SL_USE_LINEAR, LIMIT / 2, sl_ledger_reserve(GPU, LIMIT / 2));
    raise(SIGKILL);
}

/* A process that only asks for the used bytes sees soon that another process died. */
static void should_tell_soon_that_the_dead_hold_nothing(void) {
    uint64_t before = sl_accounts_used(GPU);
    CHECK(in_child(take_and_die) == 128 + SIGKILL);
    for (int i = 0; i < 500 && sl_accounts_used(GPU) != before; i++)
        usleep(2000);
    CHECK(sl_accounts_used(GPU) == before);
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_TENANT", "ledger", 1);
    setenv("SLUICE_MEMORY", "1000000b", 1);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    attach();
    RUN(should_never_pass_the_quota_together);
    RUN(should_forget_the_killed_at_once);
    RUN(should_wait_for_reservations_that_may_be_undone);
    RUN(should_admit_without_a_system_call);
    RUN(should_not_be_moved_by_sizes_near_2_to_the_64);
    RUN(should_count_the_slots_of_the_living_only);
    RUN(should_admit_one_of_two_that_ask_at_the_same_moment);
    RUN(should_note_the_peak_of_all_processes_together);
    RUN(should_tell_soon_that_the_dead_hold_nothing);
    RUN(should_follow_a_changed_limit);
    return 0;
}
