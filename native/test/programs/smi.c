/* smi: what NVML tells a program. Usage: smi [BYTES [SIBLINGS]]
 * With BYTES it first allocates them through CUDA, and lets SIBLINGS children do the same; without, CUDA is not touched.
 * Prints "memory GPU VERSION STATUS TOTAL RESERVED FREE USED", "processes GPU KIND VERSION STATUS COUNT" and
 * "process GPU KIND VERSION PID BYTES" lines; the version of a detail list is "details". Built twice: linked with libnvidia-ml.so.1, and asking dlsym. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM 64

typedef struct { unsigned long long total, free, used; } memory_v1_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned pid; unsigned long long bytes; } process_v1_t;
typedef struct { unsigned pid; unsigned long long bytes; unsigned instances[2]; } process_t;
typedef struct { process_t process; unsigned long long protected_bytes; } detail_t;
typedef struct { unsigned version, mode, count; detail_t *details; } detail_list_t;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetMemoryInfo(void *device, memory_v1_t *memory);
int nvmlDeviceGetMemoryInfo_v2(void *device, memory_v2_t *memory);
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *infos);
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, void *infos);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *infos);
int nvmlDeviceGetGraphicsRunningProcesses(void *device, unsigned *count, void *infos);
int nvmlDeviceGetGraphicsRunningProcesses_v2(void *device, unsigned *count, void *infos);
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count, void *infos);
int nvmlDeviceGetMPSComputeRunningProcesses(void *device, unsigned *count, void *infos);
int nvmlDeviceGetMPSComputeRunningProcesses_v2(void *device, unsigned *count, void *infos);
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned *count, void *infos);
int nvmlDeviceGetRunningProcessDetailList(void *device, detail_list_t *list);

#ifdef LINKED
#define NVML(name) name
#else
#define NVML(name) ((__typeof__(&name))find("libnvidia-ml.so.1", #name))
#endif
#define CUDA(name, ...) ((int (*)(__VA_ARGS__))find("libcuda.so.1", #name))

__attribute__((unused)) static void *find(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_LAZY), *found = handle ? dlsym(handle, name) : NULL;
    if (!found) {
        fprintf(stderr, "smi: %s\n", dlerror());
        exit(1);
    }
    return found;
}

static void allocate(size_t bytes) {
    void *context;
    uint64_t address;
    int status = CUDA(cuInit, unsigned)(0);
    if (!status)
        status = CUDA(cuDevicePrimaryCtxRetain, void **, int)(&context, 0);
    if (!status)
        status = CUDA(cuCtxSetCurrent, void *)(context);
    if (!status)
        status = CUDA(cuMemAlloc_v2, uint64_t *, size_t)(&address, bytes);
    printf("cuMemAlloc_v2 %d\n", status);
}

/* A child that holds its bytes until our end of the pipe closes, which our death does too. */
static void start_sibling(size_t bytes) {
    int ready[2], gone[2];
    char byte;
    if (pipe(ready) || pipe(gone))
        exit(1);
    fflush(stdout);
    if (fork() == 0) {
        close(gone[1]);
        allocate(bytes);
        fflush(stdout);
        close(ready[1]);
        if (read(gone[0], &byte, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(ready[1]);
    close(gone[0]);
    while (read(ready[0], &byte, 1) > 0)
        ;
}

static void print_processes(unsigned gpu, const char *kind, int version, void *device,
                            int (*list)(void *, unsigned *, void *)) {
    char infos[ROOM * sizeof(process_t)];
    size_t bytes = version == 1 ? sizeof(process_v1_t) : sizeof(process_t);
    unsigned needed = 0, count = ROOM;
    int asked = list(device, &needed, NULL), status = list(device, &count, infos);
    printf("processes %u %s v%d %d %u\n", gpu, kind, version, status, count);
    if (asked != (needed ? 7 : 0) || needed != count)
        printf("processes %u %s v%d: %u needed and status %d before\n", gpu, kind, version, needed, asked);
    for (unsigned i = 0; status == 0 && i < count; i++) {
        process_t process;
        memcpy(&process, infos + i * bytes, bytes);
        printf("process %u %s v%d %u %llu\n", gpu, kind, version, process.pid, process.bytes);
    }
}

static void print_details(unsigned gpu, void *device) {
    detail_t details[ROOM];
    detail_list_t list = {sizeof list | 1 << 24, 0, ROOM, details};
    int status = NVML(nvmlDeviceGetRunningProcessDetailList)(device, &list);
    printf("processes %u compute details %d %u\n", gpu, status, list.count);
    for (unsigned i = 0; status == 0 && i < list.count; i++)
        printf("process %u compute details %u %llu\n", gpu, details[i].process.pid, details[i].process.bytes);
}

#define PRINT_PROCESSES(gpu, kind, device, name)                     \
    print_processes(gpu, kind, 1, device, NVML(name));               \
    print_processes(gpu, kind, 2, device, NVML(name##_v2));          \
    print_processes(gpu, kind, 3, device, NVML(name##_v3))

static void print_gpu(unsigned gpu) {
    void *device;
    memory_v1_t one = {0};
    memory_v2_t two = {.version = sizeof two | 2 << 24};
    if (NVML(nvmlDeviceGetHandleByIndex_v2)(gpu, &device))
        return;
    int status = NVML(nvmlDeviceGetMemoryInfo)(device, &one);
    printf("memory %u v1 %d %llu 0 %llu %llu\n", gpu, status, one.total, one.free, one.used);
    status = NVML(nvmlDeviceGetMemoryInfo_v2)(device, &two);
    printf("memory %u v2 %d %llu %llu %llu %llu\n", gpu, status, two.total, two.reserved, two.free, two.used);
    PRINT_PROCESSES(gpu, "compute", device, nvmlDeviceGetComputeRunningProcesses);
    PRINT_PROCESSES(gpu, "graphics", device, nvmlDeviceGetGraphicsRunningProcesses);
    PRINT_PROCESSES(gpu, "mps", device, nvmlDeviceGetMPSComputeRunningProcesses);
    print_details(gpu, device);
}

int main(int argc, char **argv) {
    size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    for (int i = 0; argc > 2 && i < atoi(argv[2]); i++)
        start_sibling(bytes);
    if (bytes)
        allocate(bytes);
    unsigned count = 0;
    printf("self %d\n", (int)getpid());
    printf("nvmlInit_v2 %d\n", NVML(nvmlInit_v2)());
    NVML(nvmlDeviceGetCount_v2)(&count);
    for (unsigned gpu = 0; gpu < count; gpu++)
        print_gpu(gpu);
    printf("nvmlShutdown %d\n", NVML(nvmlShutdown)());
    return 0;
}
