/* Processes in pid namespaces of their own, each with pid 1, share a GPU: their memory counts while they live, under their outer pids. */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>

typedef struct { unsigned pid; unsigned long long bytes; unsigned instances[2]; } process_t;
typedef void *device_t;
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *device);
int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned *count, process_t *processes);

#define CONTAINERS 3
typedef struct { pid_t launcher, pid; int told, asked; } container_t;

static device_t device;

static void expect_turn(int file) {
    char letter;
    CHECK(read(file, &letter, 1) == 1);
}

/* The first process of a namespace, with /proc of its own. It takes memory, tells so, and sees at last what the others take. */
static void run_inside(int told, int asked, size_t bytes) {
    CUdeviceptr address;
    CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("proc", "/proc", "proc", 0, NULL) == 0);
    EQUAL(getpid(), 1);
    use_gpu();
    OK(cuMemAlloc_v2(&address, bytes));
    CHECK(write(told, "x", 1) == 1);
    expect_turn(asked);
    size_t seen_free = free_bytes();
    CHECK(write(told, &seen_free, sizeof seen_free) == sizeof seen_free);
    pause();
}

static pid_t only_child_of(pid_t parent) {
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "r");
    CHECK(file && fscanf(file, "%d", &child) == 1);
    fclose(file);
    return child;
}

static container_t start(size_t bytes) {
    int told[2], asked[2];
    CHECK(pipe(told) == 0 && pipe(asked) == 0);
    container_t made = {.launcher = fork(), .told = told[0], .asked = asked[1]};
    if (made.launcher == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        CHECK(unshare(CLONE_NEWPID | CLONE_NEWNS) == 0);
        pid_t inside = fork();
        if (inside == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            run_inside(told[1], asked[0], bytes);
        }
        waitpid(inside, NULL, 0);
        exit(0);
    }
    expect_turn(made.told);
    made.pid = only_child_of(made.launcher);
    return made;
}

static unsigned long long bytes_of(pid_t pid) {
    process_t processes[16];
    unsigned count = 16;
    OK(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes));
    for (unsigned i = 0; i < count; i++)
        if (processes[i].pid == (unsigned)pid) return processes[i].bytes;
    return 0;
}

static void kill_container(const container_t *one) {
    kill(one->pid, SIGKILL);
    CHECK(waitpid(one->launcher, NULL, 0) == one->launcher);
}

int main(void) {
    if (geteuid() != 0) {
        printf("skipped: only root makes pid namespaces here\n");
        return 0;
    }
    container_t containers[CONTAINERS];
    for (int i = 0; i < CONTAINERS; i++) containers[i] = start((size_t)(i + 1) * 100 * MIB);
    use_gpu();
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
    for (int i = 0; i < CONTAINERS; i++) CHECK(bytes_of(containers[i].pid) >= (size_t)(i + 1) * 100 * MIB);
    size_t all_free = free_bytes();

    kill_container(&containers[1]);

    EQUAL(bytes_of(containers[1].pid), 0);
    size_t without_one = free_bytes(), seen;
    CHECK(without_one >= all_free + 200 * MIB);
    CHECK(write(containers[0].asked, "x", 1) == 1 && read(containers[0].told, &seen, sizeof seen) == sizeof seen);
    EQUAL(seen, without_one);
    CHECK(bytes_of(containers[0].pid) >= 100 * MIB && bytes_of(containers[2].pid) >= 300 * MIB);

    kill_container(&containers[2]);
    kill_container(&containers[0]);
    CHECK(free_bytes() >= all_free + 600 * MIB);
    return 0;
}
