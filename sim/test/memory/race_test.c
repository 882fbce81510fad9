/* Processes that race for memory and die at any moment: the GPU is never given out twice, and everything comes back. */
#include "check.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define CHILDREN 6
#define PIECE (3072 * MIB)
#define FIT 5 /* pieces, beside the contexts, in the 16 GiB that the simulation has when nothing else is said */

static _Atomic int *held, *most;

static void race(unsigned seed) {
    CUdeviceptr address;
    use_gpu();
    for (;;) {
        if (cuMemAlloc_v2(&address, PIECE) == 0) {
            int now = atomic_fetch_add(held, 1) + 1, before = atomic_load(most);
            while (now > before && !atomic_compare_exchange_weak(most, &before, now)) continue;
            usleep((useconds_t)(rand_r(&seed) % 300));
            atomic_fetch_sub(held, 1);
            OK(cuMemFree_v2(address));
        }
    }
}

static pid_t start(unsigned seed) {
    pid_t child = fork();
    if (child == 0) race(seed);
    CHECK(child > 0);
    return child;
}

static void stop(pid_t child) {
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
}

int main(void) {
    held = mmap(NULL, 2 * sizeof *held, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(held != MAP_FAILED);
    most = held + 1;
    pid_t children[CHILDREN];
    for (unsigned i = 0; i < CHILDREN; i++) children[i] = start(i);
    usleep(300000);
    CHECK(atomic_load(most) >= 2 && atomic_load(most) <= FIT);
    unsigned seed = 1;
    for (unsigned round = 0; round < 60; round++) {
        usleep((useconds_t)(rand_r(&seed) % 3000));
        stop(children[round % CHILDREN]);
        children[round % CHILDREN] = start(round);
    }
    for (unsigned i = 0; i < CHILDREN; i++) stop(children[i]);
    use_gpu();
    size_t bytes, total;
    OK(cuMemGetInfo_v2(&bytes, &total));
    EQUAL(total - bytes, 64 * MIB);
    CUdeviceptr address;
    OK(cuMemAlloc_v2(&address, bytes));
    EQUAL(free_bytes(), 0);
    return 0;
}
