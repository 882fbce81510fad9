/* Creators and importers of exported memory are killed at any moment: what they held is free again when they are gone, and
 * never more than that. */
#include "peer_process.h"

CUresult cuMemExportToShareableHandle(void *result, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *given, CUmemAllocationHandleType type);

enum { ROUNDS = 30, PAIRS = 3, HANDLES = 4 };
#define BYTES (64 * MIB)

static void create(void) {
    CUmemGenericAllocationHandle handles[HANDLES] = {0};
    use_gpu();
    for (unsigned i = 0;; i++) {
        CUmemGenericAllocationHandle *handle = &handles[i % HANDLES];
        int file;
        if (*handle) OK(cuMemRelease(*handle));
        OK(cuMemCreate(handle, BYTES, &(CUmemAllocationProp){.type = 1, .requestedHandleTypes = 1, .location = {1, 0}}, 0));
        OK(cuMemExportToShareableHandle(&file, *handle, 1, 0));
        pass_file(file);
        close(file);
    }
}

static void import(void) {
    CUmemGenericAllocationHandle handles[HANDLES] = {0};
    use_gpu();
    for (unsigned i = 0;; i++) {
        CUmemGenericAllocationHandle *handle = &handles[i % HANDLES];
        int file = take_file();
        if (*handle) OK(cuMemRelease(*handle));
        *handle = 0;
        CUresult imported = cuMemImportFromShareableHandle(handle, (void *)(intptr_t)file, 1);
        CHECK(imported == 0 || imported == 1); /* 1: its row went to others before it came here */
        close(file);
    }
}

static pid_t start(int socket, int other, void (*body)(void)) {
    pid_t child = fork();
    if (child) return child;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(other);
    peer_socket = socket;
    CHECK(freopen("/dev/null", "w", stderr)); /* the end of a socket whose other side was killed is no news */
    body();
    exit(0);
}

static void start_pair(pid_t pair[2]) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    pair[0] = start(ends[0], ends[1], create);
    pair[1] = start(ends[1], ends[0], import);
    close(ends[0]);
    close(ends[1]);
}

/* In a process of its own, because children of one that has used the driver cannot use it. */
static void check_free(size_t expected) {
    pid_t child = fork();
    if (child == 0) {
        use_gpu();
        EQUAL(free_bytes(), expected);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(status, 0);
}

int main(void) {
    size_t all = (16384 - 64) * MIB;
    srand(1);
    check_free(all);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pairs[PAIRS][2];
        for (int i = 0; i < PAIRS; i++) start_pair(pairs[i]);
        usleep((useconds_t)(rand() % 30000));
        int first = rand() % 2;
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < PAIRS; i++) kill(pairs[i][side ^ first], SIGKILL);
            usleep((useconds_t)(rand() % 3000));
        }
        for (int i = 0; i < 2 * PAIRS; i++) CHECK(waitpid(pairs[i / 2][i % 2], NULL, 0) > 0);
        check_free(all);
    }
    return 0;
}
