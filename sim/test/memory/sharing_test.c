/* Several processes on one GPU: memory is shared, a dead process's memory returns, and time is shared. */
#include "check.h"

#include <signal.h>

static int asked[2], told[2];

static void tell(int *pipe_ends) { CHECK(write(pipe_ends[1], "x", 1) == 1); }
static void hear(int *pipe_ends) {
    char letter;
    CHECK(read(pipe_ends[0], &letter, 1) == 1);
}

static pid_t start(void (*body)(void)) {
    CHECK(pipe(asked) == 0 && pipe(told) == 0);
    pid_t child = fork();
    if (child) return close(told[1]), close(asked[0]), child;
    body();
    _exit(0);
}

static int status_of(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void hold_memory(void) {
    CUdeviceptr address;
    use_gpu();
    OK(cuMemAlloc_v2(&address, 1024 * MIB));
    tell(told);
    hear(asked);
}

static void spin_half_a_second(void) {
    use_gpu();
    tell(told);
    hear(asked);
    spin(NULL, 500000000u);
    OK(cuCtxSynchronize());
}

static void use_a_gpu_of_the_parent(void) {
    size_t bytes, total;
    EQUAL(cuMemGetInfo_v2(&bytes, &total), 3);
    EQUAL(cuInit(0), 3);
}

int main(void) {
    /* Children are made first: a process that has used the driver cannot use it in a child. */
    pid_t holder = start(hold_memory);
    int ask_holder[2] = {asked[0], asked[1]}, told_holder[2] = {told[0], told[1]};
    pid_t victim = start(hold_memory);
    int told_victim[2] = {told[0], told[1]};
    pid_t spinner = start(spin_half_a_second);
    int ask_spinner[2] = {asked[0], asked[1]}, told_spinner[2] = {told[0], told[1]};
    hear(told_holder);
    hear(told_victim);
    hear(told_spinner);

    use_gpu();
    size_t with_both = free_bytes();
    CUdeviceptr address;
    EQUAL(cuMemAlloc_v2(&address, with_both + 2 * MIB), 2);
    EQUAL(free_bytes(), with_both);

    /* Killed and not yet waited for: a zombie's memory is back already. */
    kill(victim, SIGKILL);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)victim, &info, WEXITED | WNOWAIT) == 0);
    CHECK(free_bytes() >= with_both + 1024 * MIB);
    OK(cuMemAlloc_v2(&address, with_both + 2 * MIB));
    OK(cuMemFree_v2(address));
    EQUAL(status_of(victim), 128 + SIGKILL);
    tell(ask_holder);
    EQUAL(status_of(holder), 0);
    CHECK(free_bytes() >= with_both + 2048 * MIB);

    /* Two processes with half a second of work each need a second. On a real GPU sluice_spin also counts the time in which
     * another process has its turn. */
    double begin = seconds();
    tell(ask_spinner);
    spin(NULL, 500000000u);
    EQUAL(status_of(spinner), 0);
    OK(cuCtxSynchronize());
    double both = seconds() - begin;
    CHECK((both > 0.95 || on_real_driver("spinning by busy time")) && both < 3);

    EQUAL(status_of(start(use_a_gpu_of_the_parent)), 0);
    return 0;
}
