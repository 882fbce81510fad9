/* A GPU split in two instances beside one that is not: CUDA shows one instance and nothing else, NVML shows all. */
#include "peer_process.h"

typedef void *device_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned pid; unsigned long long bytes; unsigned gpu_instance, compute_instance; } process_t;

CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *device);
int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *device);
int nvmlDeviceGetUUID(device_t device, char *uuid, unsigned room);
int nvmlDeviceGetIndex(device_t device, unsigned *index);
int nvmlDeviceGetName(device_t device, char *name, unsigned room);
int nvmlDeviceGetMemoryInfo(device_t device, memory_t *memory);
int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned *count, process_t *processes);
int nvmlDeviceGetUtilizationRates(device_t device, unsigned rates[2]);
int nvmlDeviceGetMigMode(device_t device, unsigned *current, unsigned *pending);
int nvmlDeviceGetMaxMigDeviceCount(device_t device, unsigned *count);
int nvmlDeviceGetMigDeviceHandleByIndex(device_t device, unsigned index, device_t *instance);
int nvmlDeviceIsMigDeviceHandle(device_t device, unsigned *is);
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device_t instance, device_t *device);
int nvmlDeviceGetGpuInstanceId(device_t device, unsigned *id);

#define SECOND "MIG-736c7569-6365-2d73-696d-2d6770750200"

static void use_the_second_instance(void) {
    CUdeviceptr address;
    hear_turn();
    setenv("CUDA_VISIBLE_DEVICES", "1," SECOND ",0", 1);
    use_gpu();
    CUuuid uuid;
    OK(cuDeviceGetUuid_v2(&uuid, 0));
    EQUAL(uuid.bytes[14], 2);
    OK(cuMemAlloc_v2(&address, 100 * MIB));
    say_turn();
    hear_turn();
}

static void should_show_one_instance_to_cuda(void) {
    int count, sms;
    char name[64];
    CUuuid gpu, instance;
    size_t bytes;
    CUdeviceptr address;
    OK(cuDeviceGetCount(&count));
    EQUAL(count, 1);
    OK(cuDeviceGetName(name, sizeof name, 0));
    CHECK(strcmp(name, "Sluice Simulated GPU MIG 3g.8gb") == 0);
    OK(cuDeviceGetUuid(&gpu, 0));
    OK(cuDeviceGetUuid_v2(&instance, 0));
    EQUAL(gpu.bytes[14], 0);
    EQUAL(instance.bytes[14], 1);
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    EQUAL(bytes, 8192 * MIB);
    OK(cuDeviceGetAttribute(&sms, 16, 0));
    EQUAL(sms, 66);
    EQUAL(free_bytes(), (8192 - 64) * MIB);
    EQUAL(cuMemAlloc_v2(&address, 8192 * MIB), 2);
}

static void should_show_instances_in_nvml(void) {
    device_t gpus[2], instances[2], found;
    unsigned value, more, rates[2];
    char uuid[64], name[64];
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetCount_v2(&value));
    EQUAL(value, 2);
    for (unsigned i = 0; i < 2; i++) {
        OK(nvmlDeviceGetHandleByIndex_v2(i, &gpus[i]));
        OK(nvmlDeviceGetMigMode(gpus[i], &value, &more));
        EQUAL(value, i == 0);
        OK(nvmlDeviceIsMigDeviceHandle(gpus[i], &value));
        EQUAL(value, 0);
    }
    OK(nvmlDeviceGetMaxMigDeviceCount(gpus[0], &value));
    EQUAL(value, 7);
    for (unsigned i = 0; i < 2; i++) OK(nvmlDeviceGetMigDeviceHandleByIndex(gpus[0], i, &instances[i]));
    EQUAL(nvmlDeviceGetMigDeviceHandleByIndex(gpus[0], 2, &found), 6);
    EQUAL(nvmlDeviceGetMigDeviceHandleByIndex(gpus[1], 0, &found), 3);
    OK(nvmlDeviceIsMigDeviceHandle(instances[1], &value));
    EQUAL(value, 1);
    OK(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instances[1], &found));
    CHECK(found == gpus[0]);
    OK(nvmlDeviceGetUUID(instances[1], uuid, sizeof uuid));
    CHECK(strcmp(uuid, SECOND) == 0);
    OK(nvmlDeviceGetHandleByUUID(uuid, &found));
    CHECK(found == instances[1]);
    OK(nvmlDeviceGetIndex(instances[1], &value));
    EQUAL(value, 1);
    OK(nvmlDeviceGetGpuInstanceId(instances[1], &value));
    EQUAL(value, 2);
    OK(nvmlDeviceGetName(instances[0], name, sizeof name));
    CHECK(strcmp(name, "Sluice Simulated GPU MIG 3g.8gb") == 0);
    EQUAL(nvmlDeviceGetUtilizationRates(gpus[0], rates), 3);
    OK(nvmlDeviceGetUtilizationRates(gpus[1], rates));
}

static void should_count_memory_for_each_instance(void) {
    device_t gpu, instance;
    memory_t memory;
    process_t processes[4];
    unsigned count = 4;
    OK(nvmlDeviceGetHandleByIndex_v2(0, &gpu));
    OK(nvmlDeviceGetMigDeviceHandleByIndex(gpu, 1, &instance));
    OK(nvmlDeviceGetMemoryInfo(instance, &memory));
    EQUAL(memory.total, 8192 * MIB);
    EQUAL(memory.used, 164 * MIB);
    OK(nvmlDeviceGetMemoryInfo(gpu, &memory));
    EQUAL(memory.total, 16384 * MIB);
    EQUAL(memory.used, (164 + 64) * MIB);
    OK(nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, processes));
    EQUAL(count, 2);
    EQUAL(processes[0].pid, getpid());
    EQUAL(processes[0].gpu_instance, 1);
    EQUAL(processes[1].gpu_instance, 2);
    EQUAL(processes[1].bytes, 164 * MIB);
    OK(nvmlDeviceGetComputeRunningProcesses_v3(instance, &count, processes));
    EQUAL(count, 1);
    EQUAL(processes[0].pid, peer);
}

int main(void) {
    setenv("SLUICE_SIM_GPUS", "2", 1);
    setenv("SLUICE_SIM_MIG", "0:2", 1);
    start_peer(use_the_second_instance);
    use_gpu();
    say_turn();
    should_show_one_instance_to_cuda();
    hear_turn();
    should_show_instances_in_nvml();
    should_count_memory_for_each_instance();
    say_turn();
    end_peer();
    return 0;
}
