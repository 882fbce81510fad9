/* Handles that travel as file descriptors: the creator pays while it holds the memory, then the importer that is left. */
#include "peer_process.h"

#include <sys/resource.h>

CUresult cuMemExportToShareableHandle(void *result, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *given, CUmemAllocationHandleType type);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties, CUmemGenericAllocationHandle handle);

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
typedef struct { unsigned pid; unsigned long long bytes; unsigned instances[2]; } process_t;
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process_t *processes);

#define BYTES (64 * MIB)
static const CUmemAllocationProp shareable = {.type = 1, .requestedHandleTypes = 1, .location = {1, 0}};

static CUdeviceptr map(CUmemGenericAllocationHandle handle) {
    CUdeviceptr address;
    OK(cuMemAddressReserve(&address, BYTES, 0, 0, 0));
    OK(cuMemMap(address, BYTES, 0, handle, 0));
    OK(cuMemSetAccess(address, BYTES, &(CUmemAccessDesc){{1, 0}, 3}, 1));
    return address;
}

static void unmap(CUdeviceptr address) {
    OK(cuMemUnmap(address, BYTES));
    OK(cuMemAddressFree(address, BYTES));
}

static unsigned word(CUdeviceptr address) {
    unsigned value;
    OK(cuMemcpyDtoH_v2(&value, address, 4));
    return value;
}

static unsigned long long bytes_of_this_process(void) {
    process_t processes[8];
    unsigned count = 8;
    void *device;
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
    OK(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes));
    while (count && processes[count - 1].pid != (unsigned)getpid()) count--;
    return count ? processes[count - 1].bytes : 0;
}

static void importer(void) {
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties;
    int file = take_file();
    use_gpu();
    size_t before = free_bytes();
    EQUAL(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)peer_socket, 1), 1);
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file, 1));
    close(file);
    OK(cuMemGetAllocationPropertiesFromHandle(&properties, handle));
    EQUAL(properties.requestedHandleTypes, 1);
    CUdeviceptr address = map(handle);
    unsigned long long types;
    OK(cuPointerGetAttribute(&types, 14, address));
    EQUAL(types, 1);
    EQUAL(word(address + 4096), 7);
    OK(cuMemsetD32_v2(address, 8, 1));
    EQUAL(free_bytes(), before);
    say_turn();
    hear_turn(); /* the creator let go of it */
    EQUAL(free_bytes(), before);
    EQUAL(word(address), 8);
    OK(cuMemRelease(handle));
    EQUAL(free_bytes(), before);
    unmap(address);
    EQUAL(free_bytes(), before + BYTES);
    say_turn();
    file = take_file(); /* the second one, whose creator dies */
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file, 1));
    before = free_bytes();
    unsigned long long own = bytes_of_this_process();
    say_turn();
    hear_turn();
    EQUAL(free_bytes(), before + 64 * MIB); /* its context is gone, */
    EQUAL(bytes_of_this_process(), own + BYTES); /* the importer has the memory now, */
    OK(cuMemRelease(handle));
    EQUAL(free_bytes(), before + 64 * MIB + BYTES); /* and the memory goes with the last importer */
}

/* Memory that can be exported takes a descriptor when it is, and not before. */
static void should_take_no_descriptor_before_the_export(void) {
    enum { HANDLES = 1000, DESCRIPTORS = 64 };
    static CUmemGenericAllocationHandle handles[HANDLES];
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){DESCRIPTORS, before.rlim_max});
    for (int i = 0; i < HANDLES; i++) OK(cuMemCreate(&handles[i], 2 * MIB, &shareable, 0));
    for (int i = 0; i < HANDLES; i++) {
        int file;
        OK(cuMemExportToShareableHandle(&file, handles[i], 1, 0));
        close(file);
    }
    for (int i = 0; i < HANDLES; i++) OK(cuMemRelease(handles[i]));
    setrlimit(RLIMIT_NOFILE, &before);
}

static void creator(void) {
    CUmemGenericAllocationHandle handle, same;
    int file;
    use_gpu();
    size_t before = free_bytes();
    should_take_no_descriptor_before_the_export();
    EQUAL(free_bytes(), before);
    OK(cuMemCreate(&handle, BYTES, &(CUmemAllocationProp){.type = 1, .location = {1, 0}}, 0));
    EQUAL(cuMemExportToShareableHandle(&file, handle, 1, 0), 1);
    OK(cuMemRelease(handle));
    OK(cuMemCreate(&handle, BYTES, &shareable, 0));
    CUdeviceptr address = map(handle);
    OK(cuMemsetD32_v2(address, 7, 2048));
    EQUAL(before - free_bytes(), BYTES);
    OK(cuMemExportToShareableHandle(&file, handle, 1, 0));
    OK(cuMemImportFromShareableHandle(&same, (void *)(intptr_t)file, 1));
    EQUAL(before - free_bytes(), BYTES);
    OK(cuMemRelease(same));
    pass_file(file);
    close(file);
    hear_turn();
    EQUAL(word(address), 8);
    OK(cuMemRelease(handle));
    unmap(address);
    say_turn();
    hear_turn();
    OK(cuMemCreate(&handle, BYTES, &shareable, 0));
    OK(cuMemExportToShareableHandle(&file, handle, 1, 0));
    pass_file(file);
    hear_turn();
}

/* The creator is a child as well, so that it can be killed while the importer goes on. */
int main(void) {
    int importers_end;
    pid_t importer_pid;
    start_peer(importer);
    importers_end = peer_socket, importer_pid = peer;
    pid_t victim = fork();
    if (victim == 0) {
        creator();
        raise(SIGKILL);
    }
    CHECK(waitpid(victim, NULL, 0) == victim);
    peer_socket = importers_end, peer = importer_pid;
    say_turn();
    end_peer();
    return 0;
}
