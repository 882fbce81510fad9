/* Checkpoint and restore of the own process, with the codes of driver 580.159.04. A case that spoils its process has one of its
 * own. */
#include "peer_process.h"

#include <pthread.h>

CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int *thread);
CUresult cuCheckpointProcessGetState(int pid, CUprocessState *state);
CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs *wanted);
CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *wanted);
CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs *wanted);
CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs *wanted);
CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags);
CUresult cuMemExportToShareableHandle(void *result, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *given, CUmemAllocationHandleType type);
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
typedef struct { unsigned pid; unsigned long long bytes; unsigned instances[2]; } process_t;
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process_t *processes);

enum { RUNNING, LOCKED, CHECKPOINTED };

static int state(void) {
    CUprocessState state;
    OK(cuCheckpointProcessGetState(getpid(), &state));
    return (int)state;
}

static int lock(unsigned timeout_ms) { return (int)cuCheckpointProcessLock(getpid(), &(CUcheckpointLockArgs){.timeoutMs = timeout_ms}); }
static int checkpoint(void) { return (int)cuCheckpointProcessCheckpoint(getpid(), NULL); }
static int restore(void) { return (int)cuCheckpointProcessRestore(getpid(), NULL); }
static int unlock(void) { return (int)cuCheckpointProcessUnlock(getpid(), NULL); }

static unsigned long long listed_bytes(void) {
    process_t processes[8];
    unsigned count = 8;
    void *device;
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
    OK(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes));
    while (count && processes[count - 1].pid != (unsigned)getpid()) count--;
    return count ? processes[count - 1].bytes : 0;
}

static void should_go_through_its_states(void) {
    EQUAL(state(), RUNNING);
    EQUAL(unlock(), 401);
    EQUAL(checkpoint(), 401);
    EQUAL(restore(), 401);
    EQUAL(cuCheckpointProcessLock(getpid(), &(CUcheckpointLockArgs){.reserved0 = 1}), 1);
    EQUAL(lock(1000), 0);
    EQUAL(state(), LOCKED);
    EQUAL(lock(0), 401);
    EQUAL(restore(), 401);
    EQUAL(cuCheckpointProcessCheckpoint(getpid(), &(CUcheckpointCheckpointArgs){{1}}), 1);
    OK(checkpoint());
    EQUAL(state(), CHECKPOINTED);
    EQUAL(lock(0), 401);
    EQUAL(checkpoint(), 401);
    EQUAL(unlock(), 401);
    OK(cuCheckpointProcessRestore(getpid(), &(CUcheckpointRestoreArgs){0}));
    EQUAL(state(), LOCKED);
    EQUAL(restore(), 401);
    EQUAL(cuCheckpointProcessUnlock(getpid(), &(CUcheckpointUnlockArgs){{1}}), 1);
    OK(unlock());
    EQUAL(state(), RUNNING);
}

static void should_know_its_restore_thread(void) {
    int thread;
    char path[64];
    OK(cuCheckpointProcessGetRestoreThreadId(getpid(), &thread));
    CHECK(thread != getpid());
    snprintf(path, sizeof path, "/proc/self/task/%d", thread);
    OK(access(path, F_OK));
    EQUAL(cuCheckpointProcessLock(4194303, NULL), 304);
}

static void should_take_all_memory_off_the_gpu(void) {
    static const CUmemAllocationProp plain = {.type = 1, .location = {1, 0}};
    CUdeviceptr allocated, mapped, pooled;
    CUmemGenericAllocationHandle handle;
    unsigned value = 0;
    OK(cuMemAlloc_v2(&allocated, 64 * MIB));
    OK(cuMemAllocAsync(&pooled, 64 * MIB, NULL));
    OK(cuMemAddressReserve(&mapped, 64 * MIB, 0, 0, 0));
    OK(cuMemCreate(&handle, 64 * MIB, &plain, 0));
    OK(cuMemMap(mapped, 64 * MIB, 0, handle, 0));
    OK(cuMemSetAccess(mapped, 64 * MIB, &(CUmemAccessDesc){{1, 0}, 3}, 1));
    OK(cuMemsetD32_v2(allocated, 1, 16));
    OK(cuMemsetD32_v2(pooled, 2, 16));
    OK(cuMemsetD32_v2(mapped, 3, 16));
    unsigned long long listed = listed_bytes();
    size_t before = free_bytes();
    CHECK(listed >= 256 * MIB);
    for (int i = 0; i < 2; i++) {
        OK(lock(0));
        OK(checkpoint());
        EQUAL(listed_bytes(), 0);
        OK(restore());
        EQUAL(listed_bytes(), listed);
        OK(unlock());
        EQUAL(free_bytes(), before);
    }
    OK(cuMemcpyDtoH_v2(&value, allocated, 4));
    EQUAL(value, 1);
    OK(cuMemcpyDtoH_v2(&value, pooled, 4));
    EQUAL(value, 2);
    OK(cuMemcpyDtoH_v2(&value, mapped, 4));
    EQUAL(value, 3);
    OK(cuMemUnmap(mapped, 64 * MIB));
    OK(cuMemRelease(handle));
    OK(cuMemFree_v2(allocated));
    OK(cuMemFree_v2(pooled));
}

static void should_wait_for_work_and_give_up_in_time(void) {
    CUstream stream;
    unsigned *word;
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemHostAlloc((void **)&word, 4096, 0));
    *word = 0;
    OK(cuStreamWaitValue32_v2(stream, (CUdeviceptr)word, 1, 0));
    double begin = seconds();
    EQUAL(lock(100), 600);
    CHECK(seconds() - begin > 0.09);
    EQUAL(state(), RUNNING);
    *word = 1;
    OK(cuStreamSynchronize(stream));
    spin(stream, 50000000);
    begin = seconds();
    OK(lock(0));
    CHECK(seconds() - begin > 0.04);
    OK(unlock());
    OK(cuStreamQuery(stream));
    OK(cuStreamDestroy_v2(stream));
    OK(cuMemFreeHost(word));
}

static CUstream busy;
static int came_back;

static void *wait_for_work(void *unused) {
    OK(cuStreamSynchronize(busy));
    __atomic_store_n(&came_back, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void *allocate(void *context) {
    CUdeviceptr address;
    CUcontext current;
    int version;
    while (!__atomic_load_n(&came_back, __ATOMIC_SEQ_CST)) usleep(1000);
    OK(cuDriverGetVersion(&version));
    OK(cuCtxGetCurrent(&current));
    __atomic_store_n(&came_back, 2, __ATOMIC_SEQ_CST);
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc_v2(&address, 100));
    __atomic_store_n(&came_back, 3, __ATOMIC_SEQ_CST);
    OK(cuMemFree_v2(address));
    return NULL;
}

static void should_let_calls_end_and_hold_new_ones(CUcontext context) {
    pthread_t waiter, caller;
    OK(cuStreamCreate(&busy, 1));
    spin(busy, 100000000);
    CHECK(pthread_create(&waiter, NULL, wait_for_work, NULL) == 0);
    CHECK(pthread_create(&caller, NULL, allocate, context) == 0);
    usleep(20000);
    OK(lock(0));
    while (__atomic_load_n(&came_back, __ATOMIC_SEQ_CST) < 2) usleep(1000);
    OK(checkpoint());
    usleep(50000);
    EQUAL(__atomic_load_n(&came_back, __ATOMIC_SEQ_CST), 2);
    OK(restore());
    usleep(50000);
    EQUAL(__atomic_load_n(&came_back, __ATOMIC_SEQ_CST), 2);
    OK(unlock());
    CHECK(pthread_join(waiter, NULL) == 0 && pthread_join(caller, NULL) == 0);
    EQUAL(came_back, 3);
    OK(cuStreamDestroy_v2(busy));
}

static void other(void) {
    CUdeviceptr address;
    hear_turn();
    use_gpu();
    OK(cuMemAlloc_v2(&address, free_bytes() / (2 * MIB) * (2 * MIB)));
    say_turn();
    hear_turn();
}

/* The other process fills the GPU while this one is away. */
static void should_be_lost_when_the_memory_is_taken(void) {
    CUdeviceptr address;
    start_peer(other);
    use_gpu();
    OK(cuMemAlloc_v2(&address, 256 * MIB));
    OK(lock(0));
    OK(checkpoint());
    say_turn();
    hear_turn();
    EQUAL(restore(), 2);
    EQUAL(state(), CHECKPOINTED);
    EQUAL(restore(), 304);
    EQUAL(unlock(), 401);
    say_turn();
    end_peer();
    EQUAL(restore(), 304);
    EQUAL(unlock(), 401);
    EQUAL(lock(0), 401);
    EQUAL(listed_bytes(), 0);
}

static void should_refuse_managed_memory(void) {
    CUdeviceptr managed, address;
    use_gpu();
    OK(cuMemAllocManaged(&managed, 2 * MIB, 1));
    OK(lock(0));
    EQUAL(checkpoint(), 801);
    EQUAL(state(), LOCKED);
    OK(unlock());
    OK(cuMemAlloc_v2(&address, 100));
    OK(cuMemFree_v2(managed));
    OK(lock(0));
    EQUAL(checkpoint(), 999);
    OK(unlock());
}

static void should_forget_managed_memory_that_was_freed(void) {
    CUdeviceptr managed;
    use_gpu();
    OK(cuMemAllocManaged(&managed, 2 * MIB, 1));
    OK(cuMemFree_v2(managed));
    OK(lock(0));
    OK(checkpoint());
    OK(restore());
    OK(unlock());
}

/* The exporter may leave and come back, the importer cannot come back. */
static void is_lost_with(int code) {
    OK(lock(0));
    OK(checkpoint());
    EQUAL(restore(), code);
    EQUAL(restore(), 304);
    EQUAL(unlock(), 401);
    EQUAL(state(), CHECKPOINTED);
    say_turn();
}

static void opener(void) {
    CUipcMemHandle handle;
    CUdeviceptr address;
    hear(&handle, sizeof handle);
    use_gpu();
    OK(cuIpcOpenMemHandle_v2(&address, handle, 1));
    is_lost_with(1);
}

static void should_be_lost_with_opened_ipc_memory(void) {
    CUipcMemHandle handle;
    CUdeviceptr address;
    start_peer(opener);
    use_gpu();
    OK(cuMemAlloc_v2(&address, 4 * MIB));
    OK(cuIpcGetMemHandle(&handle, address));
    say(&handle, sizeof handle);
    hear_turn();
    OK(lock(0));
    OK(checkpoint());
    OK(restore());
    OK(unlock());
    end_peer();
}

static void importer(void) {
    CUmemGenericAllocationHandle handle;
    int file = take_file();
    use_gpu();
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file, 1));
    is_lost_with(801);
}

static void should_be_lost_with_an_imported_handle(void) {
    static const CUmemAllocationProp shareable = {.type = 1, .requestedHandleTypes = 1, .location = {1, 0}};
    CUmemGenericAllocationHandle handle;
    int file;
    start_peer(importer);
    use_gpu();
    OK(cuMemCreate(&handle, 4 * MIB, &shareable, 0));
    OK(cuMemExportToShareableHandle(&file, handle, 1, 0));
    pass_file(file);
    hear_turn();
    OK(lock(0));
    OK(checkpoint());
    OK(restore());
    OK(unlock());
    end_peer();
}

static void should_take_an_h200s_time(void) {
    CUdeviceptr address;
    setenv("SLUICE_SIM_CHECKPOINT", "20", 1);
    use_gpu();
    OK(cuMemAlloc_v2(&address, 2048 * MIB));
    OK(lock(0));
    double begin = seconds(), away;
    OK(checkpoint());
    away = seconds() - begin;
    begin = seconds();
    OK(restore());
    CHECK(away > 0.29 && seconds() - begin > 0.13);
    OK(unlock());
}

static void in_its_own_process(void (*body)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        body();
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(status, 0);
}

int main(void) {
    in_its_own_process(should_be_lost_when_the_memory_is_taken);
    in_its_own_process(should_refuse_managed_memory);
    in_its_own_process(should_forget_managed_memory_that_was_freed);
    in_its_own_process(should_be_lost_with_opened_ipc_memory);
    in_its_own_process(should_be_lost_with_an_imported_handle);
    in_its_own_process(should_take_an_h200s_time);
    CUcontext context = use_gpu();
    should_go_through_its_states();
    should_know_its_restore_thread();
    should_take_all_memory_off_the_gpu();
    should_wait_for_work_and_give_up_in_time();
    should_let_calls_end_and_hold_new_ones(context);
    return 0;
}
