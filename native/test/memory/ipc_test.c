/* Mapped memory that processes share by cuIpc, on the simulated driver, with the compiler's checks of addresses. Each test has an exporter
 * and an importer, which are made before either uses the driver and speak in turns. */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "driver/driver.h"
#include "hooks.h"
#include "memory/ipc/door.h"
#include "memory/ipc/opened.h"
#include "memory/ipc/visit.h"
#include "memory/mapped/export.h"
#include "memory/mapped/import.h"
#include "memory/mapped/mapped.h"
#include "memory/movable.h"
#include "real.h"
#include "tenant/accounts.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define MUST(call)                                              \
    do {                                                        \
        CUresult answer_ = (call);                              \
        CHECK(answer_ == CUDA_SUCCESS, "%s: %d", #call, answer_); \
    } while (0)

enum { INVALID_CONTEXT = 201, CANNOT_MAP = 205, INVALID_HANDLE = 400 };

static int line;
static pid_t other;
static CUcontext contexts[2];

static void say(const void *value, size_t bytes) {
    CHECK(write(line, value, bytes) == (ssize_t)bytes);
}

static void hear(void *value, size_t bytes) {
    CHECK(read(line, value, bytes) == (ssize_t)bytes, "the other process has ended");
}

static void say_turn(void) {
    say("x", 1);
}

static void hear_turn(void) {
    char letter;
    hear(&letter, 1);
}

static void begin(const char *tenant, const char *faults) {
    setenv("SLUICE_TENANT", tenant, 1);
    if (faults)
        setenv("SLUICE_SIM_FAULTS", faults, 1);
    MUST(hook_cuInit(0));
    for (int device = 1; device >= 0; device--) {
        MUST(hook_cuDevicePrimaryCtxRetain(&contexts[device], device));
        MUST(real.cuCtxSetCurrent(contexts[device]));
    }
}

/* Runs both to their ends. The exporter may be killed. */
static void run_pair(void (*exporter)(void), void (*importer)(void), bool exporter_dies) {
    static int number;
    char path[80];
    int ends[2], status;
    pid_t pids[2];
    snprintf(path, sizeof path, "%s/state-%d", test_folder, ++number);
    setenv("SLUICE_SIM_STATE", path, 1);
    snprintf(path, sizeof path, "%s/%d", test_folder, number);
    CHECK(mkdir(path, 0700) == 0);
    setenv("SLUICE_RUNTIME_DIR", path, 1);
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i])
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        line = ends[i];
        close(ends[1 - i]);
        other = i ? pids[0] : 0;
        (i ? importer : exporter)();
        _exit(0);
    }
    close(ends[0]);
    close(ends[1]);
    CHECK(waitpid(pids[1], &status, 0) == pids[1] && status == 0, "importer: %x", status);
    kill(pids[0], SIGCONT);
    CHECK(waitpid(pids[0], &status, 0) == pids[0] && (status == 0 || exporter_dies), "exporter: %x", status);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t taken(void) {
    size_t free_bytes, total;
    MUST(real.cuMemGetInfo_v2(&free_bytes, &total));
    return total - free_bytes;
}

static uint64_t charged(void) {
    const sl_region_account_t *account = sl_accounts_own((unsigned)sl_gpu_find(0));
    return account->linear_bytes + account->in_flight_bytes;
}

static unsigned descriptors(void) {
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static CUdeviceptr take(size_t bytes, unsigned mark) {
    CUdeviceptr address;
    MUST(hook_cuMemAlloc_v2(&address, bytes));
    CHECK(sl_mapped_has(address));
    MUST(real.cuMemsetD8_v2(address, (unsigned char)mark, bytes < 4096 ? bytes : 4096));
    MUST(real.cuMemsetD8_v2(address + bytes - 1, (unsigned char)mark, 1));
    return address;
}

static CUipcMemHandle handle_of(CUdeviceptr address) {
    CUipcMemHandle handle;
    MUST(hook_cuIpcGetMemHandle(&handle, address));
    return handle;
}

static unsigned byte_at(CUdeviceptr address) {
    unsigned char value;
    MUST(real.cuMemcpyDtoH_v2(&value, address, 1));
    return value;
}

static CUresult open_handle(CUdeviceptr *address, CUipcMemHandle handle) {
    return hook_cuIpcOpenMemHandle_v2(address, handle, 1);
}

static CUipcMemHandle hear_handle(void) {
    CUipcMemHandle handle;
    hear(&handle, sizeof handle);
    return handle;
}

/* Errors are the driver's: those of sim/test/memory/ipc_test.c. */
static const size_t sizes[] = {1000, 512, 2 * MIB, 2 * MIB + 1, 100 * MIB};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void show_memory(void) {
    CUdeviceptr addresses[SIZES], opened;
    begin("shared", NULL);
    uint64_t before = taken();
    for (int i = 0; i < SIZES; i++)
        addresses[i] = take(sizes[i], 10 + i);
    uint64_t own = charged(), used = taken();
    CHECK(!sl_export_any());
    for (int i = 0; i < SIZES; i++) {
        CUipcMemHandle handle = handle_of(addresses[i]), inner = handle_of(addresses[i] + sizes[i] - 1);
        CHECK(memcmp(&handle, &inner, sizeof handle) == 0);
        CHECK(open_handle(&opened, handle) == INVALID_CONTEXT);
        CHECK(hook_cuIpcOpenMemHandle_v2(&opened, handle, 0) == CUDA_ERROR_INVALID_VALUE);
        say(&handle, sizeof handle);
    }
    CUipcMemHandle handle;
    CHECK(sl_export_any() && hook_cuIpcGetMemHandle(NULL, addresses[0]) == CUDA_ERROR_INVALID_VALUE);
    CHECK(hook_cuIpcCloseMemHandle(addresses[0]) == CUDA_ERROR_INVALID_VALUE);
    hear_turn();
    CHECK(charged() == own && taken() == used);
    for (int i = 0; i < SIZES; i++) {
        CHECK(byte_at(addresses[i]) == 20u + (unsigned)i);
        MUST(hook_cuMemFree_v2(addresses[i]));
        CHECK(hook_cuIpcGetMemHandle(&handle, addresses[i]) == CUDA_ERROR_INVALID_VALUE);
    }
    CHECK(taken() == before && charged() == 0 && !sl_export_any());
}

static void see_memory(void) {
    CUipcMemHandle handles[SIZES];
    CUdeviceptr opened[SIZES], again;
    begin("shared", NULL);
    for (int i = 0; i < SIZES; i++)
        handles[i] = hear_handle();
    uint64_t before = taken();
    unsigned files = descriptors();
    for (int i = 0; i < SIZES; i++) {
        size_t bytes;
        unsigned ipc = 7;
        CUcontext context;
        MUST(open_handle(&opened[i], handles[i]));
        MUST(hook_cuIpcOpenMemHandle(&again, handles[i], 1));
        CHECK(again == opened[i] && byte_at(again) == 10u + (unsigned)i && byte_at(again + sizes[i] - 1) == 10u + (unsigned)i);
        MUST(hook_cuMemGetAddressRange_v2(&again, &bytes, opened[i] + sizes[i] / 2));
        CHECK(again == opened[i] && bytes == sizes[i]);
        MUST(hook_cuPointerGetAttribute(&ipc, 10, again));
        MUST(hook_cuPointerGetAttribute(&context, 1, again));
        CHECK(ipc == 0 && context == contexts[0]);
        MUST(real.cuMemsetD8_v2(again, (unsigned char)(20 + i), 1));
        CHECK(hook_cuMemFree_v2(opened[i]) == CUDA_ERROR_INVALID_VALUE);
        CHECK(hook_cuIpcGetMemHandle(&handles[i], opened[i]) == CUDA_ERROR_INVALID_VALUE);
        CHECK(hook_cuIpcCloseMemHandle(opened[i] + 256) == CUDA_ERROR_INVALID_VALUE);
    }
    CHECK(opened[1] - opened[0] < 2 * MIB || opened[0] - opened[1] < 2 * MIB); /* one slab, one mapping */
    CHECK(charged() == 0 && taken() == before && sl_opened_any());
    for (int i = 0; i < SIZES; i++) {
        MUST(hook_cuIpcCloseMemHandle(opened[i]));
        CHECK(byte_at(opened[i]) == 20u + (unsigned)i);
        MUST(hook_cuIpcCloseMemHandle(opened[i]));
        CHECK(hook_cuIpcCloseMemHandle(opened[i]) == CUDA_ERROR_INVALID_VALUE);
        CHECK(hook_cuMemGetAddressRange_v2(&again, NULL, opened[i]) != CUDA_SUCCESS);
    }
    CHECK(!sl_opened_any() && descriptors() == files);
    say_turn();
}

static void should_show_memory_of_another_process(void) {
    run_pair(show_memory, see_memory, false);
}

/* What cannot be opened: an error of the driver, soon, and no harm. */
static void export_and_fail(void) {
    begin("shared", NULL);
    CUdeviceptr freed = take(4 * MIB, 1), alive = take(4 * MIB, 2);
    CUipcMemHandle handle = handle_of(freed);
    say(&handle, sizeof handle);
    MUST(hook_cuMemFree_v2(freed));
    CUdeviceptr same = take(4 * MIB, 3);
    CHECK(same == freed); /* another chunk at the same address */
    handle_of(same);
    handle = handle_of(alive);
    say(&handle, sizeof handle);
    hear_turn();
    raise(SIGSTOP);
    hear_turn();
    raise(SIGKILL);
}

static void wait_until_stopped(pid_t pid) {
    char path[40], text[200] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    while (!strstr(text, ") T")) {
        usleep(1000);
        FILE *file = fopen(path, "r");
        CHECK(file && fgets(text, sizeof text, file));
        fclose(file);
    }
}

static void fail_to_open(void) {
    CUdeviceptr address;
    sl_visit_most_nanos = 300000000;
    begin("shared", NULL);
    CUipcMemHandle gone = hear_handle(), alive = hear_handle(), wrong;
    unsigned files = descriptors();
    CHECK(open_handle(&address, gone) == INVALID_HANDLE);
    for (size_t at = 8; at < sizeof wrong; at++) {
        wrong = alive;
        ((unsigned char *)&wrong)[at] ^= 0x40;
        CUresult status = open_handle(&address, wrong);
        if (at >= offsetof(sl_ticket_t, bytes)) { /* only in bounds, and for messages */
            CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_VALUE, "%zu: %d", at, status);
            if (status == CUDA_SUCCESS)
                MUST(hook_cuIpcCloseMemHandle(address));
            continue;
        }
        CHECK(status == INVALID_HANDLE, "%zu: %d", at, status);
    }
    memset(&wrong, 0, sizeof wrong);
    CHECK(open_handle(&address, wrong) == INVALID_HANDLE); /* the driver's answer */
    MUST(real.cuCtxSetCurrent(NULL));
    CHECK(open_handle(&address, alive) == INVALID_CONTEXT);
    MUST(real.cuCtxSetCurrent(contexts[0]));
    say_turn();
    wait_until_stopped(other);
    uint64_t began = now();
    CHECK(open_handle(&address, alive) == CANNOT_MAP && now() - began < 5000000000u);
    kill(other, SIGCONT);
    MUST(open_handle(&address, alive));
    say_turn();
    char letter;
    CHECK(read(line, &letter, 1) == 0);
    CHECK(byte_at(address) == 2); /* the memory stays as long as it is open */
    CUdeviceptr second;
    MUST(open_handle(&second, alive));
    MUST(hook_cuIpcCloseMemHandle(address));
    MUST(hook_cuIpcCloseMemHandle(address));
    began = now();
    CHECK(open_handle(&address, alive) == INVALID_HANDLE && now() - began < 200000000u);
    CHECK(descriptors() == files && !sl_opened_any());
}

static void should_fail_clearly(void) {
    run_pair(export_and_fail, fail_to_open, true);
}

static void export_to_strangers(void) {
    begin("shared", NULL);
    CUipcMemHandle handle = handle_of(take(4 * MIB, 1));
    say(&handle, sizeof handle);
    hear_turn();
}

static void open_as_another_tenant(void) {
    CUdeviceptr address;
    CUipcMemHandle handle = hear_handle();
    begin("strange", NULL);
    CHECK(open_handle(&address, handle) == INVALID_HANDLE);
    setenv("SLUICE_MAPPED", "0", 1);
    say_turn();
}

static void should_refuse_another_tenant(void) {
    run_pair(export_to_strangers, open_as_another_tenant, false);
}

/* Exported memory stays on the GPU, other memory leaves; opened memory stays where it is. */
extern const sl_movable_source_t sl_mapped_movable;

static void export_and_move(void) {
    begin("shared", NULL);
    CUdeviceptr stays = take(4 * MIB, 1), leaves = take(6 * MIB, 2), small = take(100, 3);
    CHECK(sl_mapped_movable.count() == 3);
    CUipcMemHandle handle = handle_of(stays);
    say(&handle, sizeof handle);
    CHECK(sl_mapped_movable.count() == 2);
    handle = handle_of(small);
    CHECK(sl_mapped_movable.count() == 1 && sl_mapped_movable.piece(0).address == leaves);
    MUST(sl_mapped_movable.give(0));
    hear_turn();
    MUST(sl_mapped_movable.take(0));
    CHECK(byte_at(stays) == 9);
    MUST(hook_cuMemFree_v2(stays));
    MUST(hook_cuMemFree_v2(small));
    MUST(hook_cuMemFree_v2(leaves));
    CHECK(sl_mapped_movable.count() == 0 && charged() == 0);
}

static void import_while_moved(void) {
    CUdeviceptr address;
    begin("shared", NULL);
    MUST(open_handle(&address, hear_handle()));
    CHECK(sl_mapped_movable.count() == 0 && byte_at(address) == 1);
    MUST(real.cuMemsetD8_v2(address, 9, 1));
    say_turn();
    char letter;
    CHECK(read(line, &letter, 1) == 0);
    CHECK(byte_at(address) == 9);
    MUST(hook_cuDevicePrimaryCtxReset_v2(0)); /* ends what its context opened */
    CHECK(!sl_opened_any());
}

static void should_stay_on_the_gpu_while_others_may_use_it(void) {
    run_pair(export_and_move, import_while_moved, false);
}

/* Thousands of handles, many threads: each thread opens and closes what it likes while the exporter frees and takes. */
enum { MANY = 3000, CHUNKS = 200, THREADS = 8, ROUNDS = 150 };
static CUipcMemHandle many[MANY + CHUNKS];

static void export_many(void) {
    static CUdeviceptr addresses[MANY + CHUNKS];
    begin("shared", NULL);
    uint64_t before = taken();
    unsigned files = 0;
    for (int i = 0; i < MANY + CHUNKS; i++) {
        addresses[i] = take(i < MANY ? 512 : 2 * MIB + 1, i % 100);
        many[i] = handle_of(addresses[i]);
        say(&many[i], sizeof many[i]);
        files = files ? files : descriptors();
    }
    for (int i = 0; i < 300; i++) {
        CUdeviceptr address = take(2 * MIB + 1, 1);
        handle_of(address);
        MUST(hook_cuMemFree_v2(address));
    }
    hear_turn();
    for (int i = 0; i < MANY + CHUNKS; i++)
        MUST(hook_cuMemFree_v2(addresses[i]));
    CHECK(taken() == before && charged() == 0 && descriptors() == files, "%u, %u", descriptors(), files);
}

static void *open_some(void *seed_of) {
    unsigned seed = (unsigned)(uintptr_t)seed_of;
    MUST(real.cuCtxSetCurrent(contexts[0]));
    for (int round = 0; round < ROUNDS; round++) {
        int picks[6];
        CUdeviceptr addresses[6];
        for (int i = 0; i < 6; i++) {
            seed = seed * 1664525u + 1013904223u;
            picks[i] = (int)((seed >> 8) % (MANY + CHUNKS));
            MUST(open_handle(&addresses[i], many[picks[i]]));
            CHECK(byte_at(addresses[i]) == (unsigned)picks[i] % 100);
        }
        for (int i = 0; i < 6; i++)
            MUST(hook_cuIpcCloseMemHandle(addresses[i]));
    }
    return NULL;
}

static void import_many(void) {
    static CUdeviceptr opened[MANY + CHUNKS];
    begin("shared", NULL);
    for (int i = 0; i < MANY + CHUNKS; i++)
        many[i] = hear_handle();
    unsigned files = descriptors();
    for (int i = 0; i < MANY + CHUNKS; i++)
        MUST(open_handle(&opened[i], many[i]));
    for (int i = 0; i < MANY + CHUNKS; i++) {
        CHECK(byte_at(opened[i]) == (unsigned)i % 100);
        MUST(hook_cuIpcCloseMemHandle(opened[i]));
    }
    CHECK(!sl_opened_any());
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, open_some, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(!sl_opened_any() && charged() == 0 && descriptors() == files, "%u, %u", descriptors(), files);
    say_turn();
}

static void should_handle_thousands_of_handles_and_many_threads(void) {
    run_pair(export_many, import_many, false);
}

/* Garbage, silence and too much at the socket. */
static int knock(const CUipcMemHandle *handle) {
    sl_ticket_t ticket;
    CHECK(sl_ticket_read(handle, &ticket));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    unsigned length = sl_door_name(ticket.door, address.sun_path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool is_closed_within(int fd, int millis) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char text[100];
    return poll(&ready, 1, millis) == 1 && recv(fd, text, sizeof text, 0) <= 0;
}

static void export_to_hostile(void) {
    begin("shared", NULL);
    CUipcMemHandle handle = handle_of(take(4 * MIB, 5));
    say(&handle, sizeof handle);
    unsigned files = descriptors();
    hear_turn();
    for (int i = 0; i < 300 && descriptors() != files; i++)
        usleep(10000);
    CHECK(descriptors() == files);
}

static void attack(void) {
    char garbage[5000];
    CUdeviceptr address;
    begin("shared", NULL);
    CUipcMemHandle handle = hear_handle();
    memset(garbage, 0x5a, sizeof garbage);
    for (size_t bytes = 0; bytes <= sizeof garbage; bytes += bytes < 130 ? 1 : 487) {
        int fd = knock(&handle);
        CHECK(fd >= 0 && send(fd, garbage, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
        CHECK(is_closed_within(fd, 4000), "%zu bytes", bytes);
        close(fd);
    }
    int silent[200];
    for (int i = 0; i < 200; i++)
        silent[i] = knock(&handle);
    uint64_t began = now();
    MUST(open_handle(&address, handle));
    CHECK(byte_at(address) == 5 && now() - began < 2000000000u);
    for (int i = 0; i < 200; i++)
        CHECK(silent[i] < 0 || is_closed_within(silent[i], 4000));
    if (geteuid() == 0 && fork() == 0) {
        CHECK(setuid(12345) == 0);
        int fd = knock(&handle);
        send(fd, &handle, sizeof handle, MSG_NOSIGNAL);
        CHECK(fd < 0 || is_closed_within(fd, 1000));
        _exit(0);
    }
    int status;
    CHECK(geteuid() != 0 || (wait(&status) > 0 && status == 0));
    MUST(hook_cuIpcCloseMemHandle(address));
    say_turn();
}

static void should_survive_a_hostile_peer(void) {
    run_pair(export_to_hostile, attack, false);
}

/* A child has the socket and does not answer; a program closes descriptors that it does not know. */
static void export_and_fork(void) {
    begin("shared", NULL);
    CUdeviceptr memory = take(4 * MIB, 5);
    CUipcMemHandle handle = handle_of(memory);
    say(&handle, sizeof handle);
    hear_turn();
    for (int fd = 3; fd < 1100; fd++)
        if (fd != line) {
            struct stat status;
            if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode))
                close(fd);
        }
    handle = handle_of(memory); /* at another door */
    say(&handle, sizeof handle);
    hear_turn();
    pid_t child = fork();
    if (child == 0) {
        close(line);
        sleep(5);
        _exit(0);
    }
    raise(SIGKILL);
}

static void open_of_a_forked(void) {
    CUdeviceptr address, second;
    begin("shared", NULL);
    CUipcMemHandle old = hear_handle();
    MUST(open_handle(&address, old));
    say_turn();
    CUipcMemHandle handle = hear_handle();
    CHECK(memcmp(&old, &handle, sizeof old) != 0);
    MUST(open_handle(&second, handle));
    CHECK(byte_at(second) == 5);
    MUST(hook_cuIpcCloseMemHandle(second));
    MUST(hook_cuIpcCloseMemHandle(address));
    CHECK(open_handle(&address, old) == INVALID_HANDLE);
    say_turn();
    char letter;
    CHECK(read(line, &letter, 1) == 0);
    uint64_t began = now();
    CHECK(open_handle(&address, handle) == INVALID_HANDLE && now() - began < 1000000000u);
}

static void should_survive_forks_and_closed_descriptors(void) {
    run_pair(export_and_fork, open_of_a_forked, true);
}

/* Each call that an open and a close make fails once. */
static void export_for_faults(void) {
    begin("shared", NULL);
    CUipcMemHandle handle = handle_of(take(4 * MIB, 5));
    say(&handle, sizeof handle);
    hear_turn();
}

static void import_with_faults(void) {
    begin("shared", "cuMemImportFromShareableHandle@1=999,cuMemGetAllocationPropertiesFromHandle@1=999,cuMemMap@1=999,cuMemSetAccess@1=999,"
                    "cuMemRelease@1=999,cuMemAddressReserve@1=2");
    CUipcMemHandle handle = hear_handle();
    CUdeviceptr address, first = 0;
    unsigned failed = 0, files = 0;
    while (open_handle(&address, handle) != CUDA_SUCCESS) {
        CHECK(!sl_opened_any() && ++failed < 10);
        files = files ? files : descriptors();
    }
    CHECK(failed >= 4, "%u", failed);
    first = address;
    CHECK(byte_at(address) == 5);
    MUST(hook_cuIpcCloseMemHandle(address));
    MUST(open_handle(&address, handle));
    CHECK(address == first); /* no addresses are lost */
    MUST(hook_cuIpcCloseMemHandle(address));
    say_turn();
}

static void should_leave_nothing_when_the_driver_fails(void) {
    run_pair(export_for_faults, import_with_faults, false);
}

/* A GPU that cannot pass memory on. */
static void refuse_to_export(void) {
    begin("shared", "cuMemCreate@1=801");
    CUdeviceptr address = take(4 * MIB, 1);
    CUipcMemHandle handle;
    unsigned ipc = 7;
    CHECK(hook_cuIpcGetMemHandle(&handle, address) == 801);
    MUST(hook_cuPointerGetAttribute(&ipc, 10, address));
    CHECK(ipc == 0);
    MUST(hook_cuMemFree_v2(address));
}

static void do_nothing(void) {
}

static void should_refuse_where_the_gpu_cannot_share(void) {
    run_pair(refuse_to_export, do_nothing, false);
}

int main(void) {
    const char *path = getenv("SLUICE_DRIVER");
    if (!path || access(path, R_OK) != 0)
        return puts("skipped: the simulated driver is not built"), SKIPPED;
    use_test_folder();
    setenv("SLUICE_MAPPED", "1", 1);
    setenv("SLUICE_MEMORY", "0=3g,1=3g", 1);
    setenv("SLUICE_SIM_GPUS", "2", 1);
    setenv("SLUICE_SIM_MEMORY", "4g", 1);
    setenv("SLUICE_SIM_CONTEXT", "0", 1);
    RUN(should_show_memory_of_another_process);
    RUN(should_fail_clearly);
    RUN(should_refuse_another_tenant);
    RUN(should_stay_on_the_gpu_while_others_may_use_it);
    RUN(should_handle_thousands_of_handles_and_many_threads);
    RUN(should_survive_a_hostile_peer);
    RUN(should_survive_forks_and_closed_descriptors);
    RUN(should_leave_nothing_when_the_driver_fails);
    RUN(should_refuse_where_the_gpu_cannot_share);
    return 0;
}
