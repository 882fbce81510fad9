/* One that is refused, again and again, is in nobody's way: what fits is given, and what is free does not change. */
#include "check.h"

#include <signal.h>
#include <sys/prctl.h>

static void ask_for_too_much(int told) {
    CUdeviceptr address;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    use_gpu();
    size_t too_much = free_bytes() + 2 * MIB;
    CHECK(write(told, "x", 1) == 1);
    for (;;) EQUAL(cuMemAlloc_v2(&address, too_much), 2);
}

int main(void) {
    int told[2];
    char letter;
    CHECK(pipe(told) == 0);
    pid_t refused = fork();
    if (refused == 0) ask_for_too_much(told[1]);
    CHECK(read(told[0], &letter, 1) == 1);
    use_gpu();
    size_t free_before = free_bytes();
    for (double end = seconds() + 1; seconds() < end;) {
        CUdeviceptr address;
        OK(cuMemAlloc_v2(&address, 2 * MIB));
        OK(cuMemFree_v2(address));
        EQUAL(free_bytes(), free_before);
    }
    kill(refused, SIGKILL);
    CHECK(waitpid(refused, NULL, 0) == refused);
    return 0;
}
