/* The simulated NVML sees what the simulated driver does. */
#include "check.h"

typedef struct { unsigned pid; unsigned long long bytes; unsigned instances[2]; } process_t;
typedef struct { process_t process; unsigned long long protected; } detail_t;
typedef struct { unsigned version, mode, count; detail_t *details; } detail_list_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_t;
typedef void *device_t;

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int result);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *device);
int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, device_t *device);
int nvmlDeviceGetUUID(device_t device, char *uuid, unsigned room);
int nvmlDeviceGetMemoryInfo_v2(device_t device, memory_t *memory);
int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned *count, process_t *processes);
int nvmlDeviceGetMPSComputeRunningProcesses_v3(device_t device, unsigned *count, process_t *processes);
int nvmlDeviceGetRunningProcessDetailList(device_t device, detail_list_t *list);
int nvmlDeviceGetUtilizationRates(device_t device, unsigned rates[2]);
int nvmlDeviceGetPowerUsage(device_t device, unsigned *milliwatts);
int nvmlDeviceGetTemperature(device_t device, unsigned sensor, unsigned *degrees);

static device_t device;

static void should_find_devices(void) {
    unsigned count;
    device_t same;
    char uuid[96];
    CUuuid bytes;
    EQUAL(nvmlDeviceGetCount_v2(&count), 1);
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetCount_v2(&count));
    EQUAL(count, 1);
    OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
    EQUAL(nvmlDeviceGetHandleByIndex_v2(1, &same), 2);
    EQUAL(nvmlDeviceGetUUID(device, uuid, 10), 7);
    OK(nvmlDeviceGetUUID(device, uuid, sizeof uuid));
    OK(nvmlDeviceGetHandleByUUID(uuid, &same));
    CHECK(same == device);
    OK(nvmlDeviceGetHandleByPciBusId_v2("0000:06:00.0", &same));
    CHECK(same == device);
    EQUAL(nvmlDeviceGetHandleByUUID("GPU-0", &same), 6);
    OK(cuDeviceGetUuid_v2(&bytes, 0));
    char text[48] = "GPU-", *at = text + 4;
    for (int i = 0; i < 16; i++) at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", (unsigned char)bytes.bytes[i]);
    CHECK(strcmp(text, uuid) == 0);
}

static void should_see_memory_and_processes(void) {
    CUdeviceptr address;
    memory_t before = {.version = 40 | 2 << 24}, after = before;
    process_t processes[4];
    unsigned count = 0;
    OK(nvmlDeviceGetMemoryInfo_v2(device, &before));
    OK(cuMemAlloc_v2(&address, 100 * MIB));
    OK(nvmlDeviceGetMemoryInfo_v2(device, &after));
    EQUAL(after.used - before.used, 100 * MIB);
    EQUAL(after.free, free_bytes());
    EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), 7);
    EQUAL(count, 1);
    OK(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes));
    EQUAL(processes[0].pid, getpid());
    EQUAL(processes[0].bytes, after.used);
    EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), 2);
    detail_t detail;
    detail_list_t list = {sizeof list | 1 << 24, 0, 0, NULL};
    EQUAL(nvmlDeviceGetRunningProcessDetailList(device, &list), 7);
    EQUAL(list.count, 1);
    list.details = &detail;
    OK(nvmlDeviceGetRunningProcessDetailList(device, &list));
    EQUAL(detail.process.bytes, after.used);
    list.version = 1;
    EQUAL(nvmlDeviceGetRunningProcessDetailList(device, &list), 25);
    OK(nvmlDeviceGetMPSComputeRunningProcesses_v3(device, &count, processes));
    EQUAL(count, 0);
    after.version = 0;
    EQUAL(nvmlDeviceGetMemoryInfo_v2(device, &after), 13);
    OK(cuMemFree_v2(address));
}

static void should_see_a_busy_and_an_idle_gpu(void) {
    unsigned rates[2];
    spin(NULL, 600000000);
    usleep(500000);
    OK(nvmlDeviceGetUtilizationRates(device, rates));
    CHECK(rates[0] > 20); /* on a busy machine the engine gets its processor late */
    OK(cuCtxSynchronize());
    usleep(500000);
    OK(nvmlDeviceGetUtilizationRates(device, rates));
    EQUAL(rates[0], 0);
}

static void should_admit_what_is_not_simulated(void) {
    unsigned value;
    EQUAL(nvmlDeviceGetPowerUsage(device, &value), 3);
    EQUAL(nvmlDeviceGetTemperature(device, 0, &value), 3);
    CHECK(strcmp(nvmlErrorString(3), "Not Supported") == 0);
}

int main(void) {
    use_gpu();
    should_find_devices();
    should_see_memory_and_processes();
    should_see_a_busy_and_an_idle_gpu();
    should_admit_what_is_not_simulated();
    OK(nvmlShutdown());
    EQUAL(nvmlShutdown(), 1);
    return 0;
}
