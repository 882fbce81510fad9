/* What NVML tells a tenant: its quota, its own processes, and the driver's own errors. CUDA is not there at all. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "driver/driver.h"
#include "hooks_nvml.h"
#include "ledger/ledger.h"
#include "real_nvml.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)
#define STRANGER 1u
#define DEVICE(number) ((nvmlDevice_t)(uintptr_t)(0x1000 + (number)))

/* The GPUs as they are: 16 GiB, of which half a GiB is reserved. */
static unsigned long long physical_free = 10 * GIB;
static nvmlReturn_t fault;
static unsigned asked_uuids, drawing[3], drawing_count;

static bool is_device(nvmlDevice_t device) {
    return device == DEVICE(0) || device == DEVICE(1);
}

static nvmlReturn_t fake_uuid(nvmlDevice_t device, char *uuid, unsigned length) {
    asked_uuids++;
    if (!is_device(device))
        return 2;
    snprintf(uuid, length, "GPU-0a0b0c0d-0102-0304-0506-0708090a0b%02x", device == DEVICE(1));
    return 0;
}

static nvmlReturn_t fake_index(nvmlDevice_t device, unsigned *index) {
    *index = device == DEVICE(1);
    return 0;
}

static nvmlReturn_t fake_memory(nvmlDevice_t device, nvmlMemory_t *memory) {
    if (fault || !is_device(device) || !memory)
        return fault ? fault : 2;
    *memory = (nvmlMemory_t){16 * GIB, physical_free, 16 * GIB - physical_free};
    return 0;
}

static nvmlReturn_t fake_memory_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    if (!is_device(device) || memory->version != (sizeof *memory | 2 << 24))
        return 13;
    *memory = (nvmlMemory_v2_t){memory->version, 16 * GIB, GIB / 2, physical_free, 15 * GIB + GIB / 2 - physical_free};
    return 0;
}

static nvmlReturn_t fake_list(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos) {
    if (fault || !is_device(device) || !count || (*count && !infos))
        return fault ? fault : 2;
    unsigned room = *count;
    *count = drawing_count;
    if (drawing_count > room)
        return 7;
    for (unsigned i = 0; i < drawing_count; i++)
        infos[i] = (nvmlProcessInfo_t){drawing[i], 77, 0, 0};
    return 0;
}

static nvmlReturn_t fake_old_list(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v1_t *infos) {
    unsigned room = *count;
    *count = drawing_count;
    if (!is_device(device) || drawing_count > room)
        return is_device(device) ? 7 : 2;
    for (unsigned i = 0; i < drawing_count; i++)
        infos[i] = (nvmlProcessInfo_v1_t){drawing[i], 77};
    return 0;
}

/* As drivers 535.43 to 535.86 write the newest list. */
static nvmlReturn_t fake_wide_list(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos) {
    unsigned room = *count;
    *count = drawing_count;
    if (!is_device(device) || drawing_count > room)
        return is_device(device) ? 7 : 2;
    for (unsigned i = 0; i < drawing_count; i++)
        ((nvmlProcessDetail_v1_t *)infos)[i] = (nvmlProcessDetail_v1_t){drawing[i], 77, 0, 0, 0};
    return 0;
}

static nvmlReturn_t fake_details(nvmlDevice_t device, nvmlProcessDetailList_t *list) {
    if (!list || list->version != 1 || list->mode > 2)
        return 2;
    unsigned room = list->numProcArrayEntries;
    list->numProcArrayEntries = 1;
    if (!room)
        return 7;
    list->procArray[0] = (nvmlProcessDetail_v1_t){STRANGER, 77, 0, 0, 0};
    return is_device(device) ? 0 : 2;
}

static nvmlReturn_t fake_samples(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples, unsigned *count,
                                 unsigned long long since) {
    (void)device, (void)since;
    if (*count < 72 || !samples)
        return *count = 72, 7;
    for (unsigned i = 0; i < drawing_count; i++)
        samples[i] = (nvmlProcessUtilizationSample_t){drawing[i], 5, 6, 7, 8, 9};
    *count = drawing_count;
    return 0;
}

static nvmlReturn_t fake_info(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t *info) {
    if (!is_device(device) || info->processSamplesCount < drawing_count)
        return 7;
    for (unsigned i = 0; i < drawing_count; i++)
        info->procUtilArray[i] = (nvmlProcessUtilizationInfo_v1_t){.pid = drawing[i], .smUtil = 50};
    info->processSamplesCount = drawing_count;
    return 0;
}

static void use_fakes(void) {
    real_nvml.nvmlDeviceGetUUID = fake_uuid;
    real_nvml.nvmlDeviceGetIndex = fake_index;
    real_nvml.nvmlDeviceGetMemoryInfo = fake_memory;
    real_nvml.nvmlDeviceGetMemoryInfo_v2 = fake_memory_v2;
    real_nvml.nvmlDeviceGetComputeRunningProcesses = fake_old_list;
    real_nvml.nvmlDeviceGetComputeRunningProcesses_v3 = fake_list;
    real_nvml.nvmlDeviceGetGraphicsRunningProcesses_v3 = fake_list;
    real_nvml.nvmlDeviceGetRunningProcessDetailList = fake_details;
    real_nvml.nvmlDeviceGetProcessUtilization = fake_samples;
    real_nvml.nvmlDeviceGetProcessesUtilizationInfo = fake_info;
}

/* The tenant uses GPU 0, which CUDA would have found. */
static void charge(uint64_t bytes) {
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    sl_region_gpu_t *gpu = &sl_tenant.region.gpus[0];
    static const uint8_t uuid[16] = {10, 11, 12, 13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0};
    memcpy(gpu->uuid, uuid, sizeof uuid);
    gpu->owner = 1;
    sl_gpu_open(0);
    uint64_t used = sl_ledger_reserve(0, bytes);
    CHECK(used);
    sl_ledger_commit(0, SL_USE_LINEAR, bytes, used);
}

static pid_t start_sibling(uint64_t bytes) {
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        charge(bytes);
        close(ready[1]);
        pause();
        _exit(0);
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 0);
    close(ready[0]);
    return pid;
}

static void stop(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void set_limit(uint64_t bytes) {
    int fd = open(sl_tenant.region.path, O_RDWR);
    off_t at = SL_REGION_LIMITS_OFFSET + offsetof(sl_region_limits_t, memory_bytes);
    CHECK(fd >= 0 && pwrite(fd, &bytes, sizeof bytes, at) == sizeof bytes && close(fd) == 0);
}

static void check_memory(uint64_t total, uint64_t reserved, uint64_t free, uint64_t used) {
    nvmlMemory_v2_t two = {.version = sizeof two | 2 << 24};
    nvmlMemory_t one;
    CHECK(hook_nvmlDeviceGetMemoryInfo_v2(DEVICE(0), &two) == 0 && hook_nvmlDeviceGetMemoryInfo(DEVICE(0), &one) == 0);
    CHECK(two.total == total && two.reserved == reserved && two.free == free && two.used == used,
          "%llu = %llu + %llu + %llu", two.total, two.reserved, two.free, two.used);
    CHECK(two.total == two.reserved + two.free + two.used);
    CHECK(one.total == total && one.free == free && one.used == used, "%llu = %llu + %llu", one.total, one.free, one.used);
}

static void should_show_what_is_without_limits(void) {
    unsetenv("SLUICE_MEMORY");
    nvmlMemory_t memory;
    nvmlProcessInfo_t infos[4];
    unsigned count = 4;
    drawing[0] = STRANGER, drawing_count = 1;
    CHECK(hook_nvmlDeviceGetMemoryInfo(DEVICE(0), &memory) == 0 && memory.total == 16 * GIB && memory.used == 6 * GIB);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, infos) == 0 && count == 1);
    CHECK(infos[0].pid == STRANGER && infos[0].usedGpuMemory == 77 && asked_uuids == 0);
}

static void should_show_the_quota_before_cuda_is_used(void) {
    check_memory(4 * GIB, 0, 4 * GIB, 0);
    unsigned before = asked_uuids;
    check_memory(4 * GIB, 0, 4 * GIB, 0);
    CHECK(asked_uuids == before, "the handle was not kept");
}

static void should_leave_a_gpu_without_limit_alone(void) {
    nvmlMemory_v2_t memory = {.version = sizeof memory | 2 << 24};
    CHECK(hook_nvmlDeviceGetMemoryInfo_v2(DEVICE(1), &memory) == 0);
    CHECK(memory.total == 16 * GIB && memory.reserved == GIB / 2 && memory.free == physical_free);
}

static void should_show_the_tenants_own_use(void) {
    charge(100 * MIB);
    check_memory(4 * GIB, 0, 4 * GIB - 100 * MIB, 100 * MIB);
    pid_t sibling = start_sibling(50 * MIB);
    check_memory(4 * GIB, 0, 4 * GIB - 150 * MIB, 150 * MIB);
    stop(sibling);
    usleep(30000); /* the dead are looked for every 10 ms */
    check_memory(4 * GIB, 0, 4 * GIB - 100 * MIB, 100 * MIB);
}

static void should_never_show_more_free_than_there_is(void) {
    physical_free = GIB;
    check_memory(4 * GIB, 3 * GIB - 100 * MIB, GIB, 100 * MIB);
    physical_free = 10 * GIB;
    set_limit(20 * GIB);
    check_memory(16 * GIB, 6 * GIB - 100 * MIB, 10 * GIB, 100 * MIB);
}

static void should_be_full_when_the_limit_falls_below_the_use(void) {
    set_limit(60 * MIB);
    check_memory(60 * MIB, 0, 0, 60 * MIB);
    set_limit(4 * GIB);
}

static void should_give_the_drivers_own_errors(void) {
    nvmlMemory_t memory;
    nvmlMemory_v2_t unversioned = {0};
    nvmlProcessInfo_t info;
    unsigned count = 1;
    CHECK(hook_nvmlDeviceGetMemoryInfo(DEVICE(5), &memory) == 2 && hook_nvmlDeviceGetMemoryInfo(DEVICE(0), NULL) == 2);
    CHECK(hook_nvmlDeviceGetMemoryInfo_v2(DEVICE(0), &unversioned) == 13);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(5), &count, &info) == 2);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), NULL, &info) == 2);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, NULL) == 2 && count == 1);
    CHECK(hook_nvmlDeviceGetRunningProcessDetailList(DEVICE(0), NULL) == 2);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v2(DEVICE(0), &count, NULL) == 13, "a function that NVML lacks");
    fault = 1;
    CHECK(hook_nvmlDeviceGetMemoryInfo(DEVICE(0), &memory) == 1);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, &info) == 1);
    fault = 0;
}

static void should_list_the_tenants_processes_only(void) {
    pid_t sibling = start_sibling(50 * MIB);
    nvmlProcessInfo_t infos[4];
    nvmlProcessInfo_v1_t old[2];
    unsigned count = 0;
    drawing[0] = STRANGER, drawing_count = 1;
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, NULL) == 7 && count == 2);
    count = 1;
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, infos) == 7 && count == 2);
    count = 4;
    errno = 55;
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, infos) == 0 && count == 2 && errno == 55);
    CHECK(infos[0].pid == (unsigned)getpid() && infos[0].usedGpuMemory == 100 * MIB && infos[0].gpuInstanceId == ~0u);
    CHECK(infos[1].pid == (unsigned)sibling && infos[1].usedGpuMemory == 50 * MIB && infos[1].computeInstanceId == ~0u);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses(DEVICE(0), &count, old) == 0 && count == 2);
    CHECK(old[1].pid == (unsigned)sibling && old[1].usedGpuMemory == 50 * MIB);
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(1), &count, infos) == 0 && count == 0, "not on that GPU");
    stop(sibling);
    count = 4;
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, infos) == 0 && count == 1, "a dead one is listed");
}

static void should_list_graphics_processes_without_strangers(void) {
    nvmlProcessInfo_t infos[4];
    unsigned count = 4;
    drawing[0] = STRANGER, drawing[1] = (unsigned)getpid(), drawing[2] = STRANGER, drawing_count = 3;
    CHECK(hook_nvmlDeviceGetGraphicsRunningProcesses_v3(DEVICE(0), &count, infos) == 0 && count == 1);
    CHECK(infos[0].pid == (unsigned)getpid() && infos[0].usedGpuMemory == 100 * MIB);
    drawing[1] = STRANGER, count = 4;
    CHECK(hook_nvmlDeviceGetGraphicsRunningProcesses_v3(DEVICE(0), &count, infos) == 0 && count == 0);
}

static void should_write_entries_as_long_as_the_drivers(void) {
    nvmlProcessDetail_v1_t wide[4];
    nvmlProcessInfo_t infos[4];
    pid_t sibling = start_sibling(50 * MIB);
    real_nvml.nvmlDeviceGetComputeRunningProcesses_v3 = fake_wide_list;
    real_nvml.nvmlDeviceGetGraphicsRunningProcesses_v3 = fake_wide_list;
    drawing[0] = STRANGER, drawing[1] = (unsigned)sibling, drawing[2] = (unsigned)getpid(), drawing_count = 3;
    for (int drawn = 0; drawn < 2; drawn++) {
        unsigned count = 4;
        nvmlReturn_t status = drawn ? hook_nvmlDeviceGetGraphicsRunningProcesses_v3(DEVICE(0), &count, (void *)wide)
                                    : hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, (void *)wide);
        CHECK(status == 0 && count == 2, "status %d, %u processes", status, count);
        for (unsigned i = 0; i < 2; i++)
            CHECK(wide[i].usedGpuMemory == (wide[i].pid == (unsigned)sibling ? 50 : 100) * MIB &&
                      wide[i].computeInstanceId == ~0u && !wide[i].usedGpuCcProtectedMemory, "entry %u", i);
        CHECK(wide[0].pid != wide[1].pid && (wide[0].pid == (unsigned)getpid() || wide[1].pid == (unsigned)getpid()));
    }
    use_fakes();
    unsigned count = 4;
    CHECK(hook_nvmlDeviceGetComputeRunningProcesses_v3(DEVICE(0), &count, infos) == 0 && count == 2);
    CHECK(infos[1].pid == (unsigned)sibling && infos[1].usedGpuMemory == 50 * MIB);
    stop(sibling);
}

static void should_list_details(void) {
    nvmlProcessDetail_v1_t details[2];
    nvmlProcessDetailList_t list = {1, 0, 0, NULL};
    CHECK(hook_nvmlDeviceGetRunningProcessDetailList(DEVICE(0), &list) == 7 && list.numProcArrayEntries == 1);
    list = (nvmlProcessDetailList_t){1, 0, 2, details};
    CHECK(hook_nvmlDeviceGetRunningProcessDetailList(DEVICE(0), &list) == 0 && list.numProcArrayEntries == 1);
    CHECK(details[0].pid == (unsigned)getpid() && details[0].usedGpuMemory == 100 * MIB);
    list = (nvmlProcessDetailList_t){1, 1, 2, details};
    CHECK(hook_nvmlDeviceGetRunningProcessDetailList(DEVICE(0), &list) == 0 && list.numProcArrayEntries == 0);
    list = (nvmlProcessDetailList_t){9, 0, 2, details};
    CHECK(hook_nvmlDeviceGetRunningProcessDetailList(DEVICE(0), &list) == 2 && list.numProcArrayEntries == 2);
}

static void should_keep_own_samples_only(void) {
    nvmlProcessUtilizationSample_t samples[72];
    unsigned count = 4;
    CHECK(hook_nvmlDeviceGetProcessUtilization(DEVICE(0), NULL, &count, 0) == 7 && count == 72);
    drawing[0] = STRANGER, drawing[1] = (unsigned)getpid(), drawing[2] = STRANGER, drawing_count = 3;
    CHECK(hook_nvmlDeviceGetProcessUtilization(DEVICE(0), samples, &count, 0) == 0 && count == 1);
    CHECK(samples[0].pid == (unsigned)getpid() && samples[0].decUtil == 9 && !samples[1].pid && !samples[2].pid);
    drawing[1] = STRANGER, count = 72;
    CHECK(hook_nvmlDeviceGetProcessUtilization(DEVICE(0), samples, &count, 0) == 6 && count == 0);
}

static void should_keep_own_samples_only_in_the_newer_call(void) {
    nvmlProcessUtilizationInfo_v1_t samples[3];
    nvmlProcessesUtilizationInfo_t info = {.processSamplesCount = 3, .procUtilArray = samples};
    drawing[0] = STRANGER, drawing[1] = (unsigned)getpid(), drawing[2] = STRANGER, drawing_count = 3;
    CHECK(hook_nvmlDeviceGetProcessesUtilizationInfo(DEVICE(0), &info) == 0 && info.processSamplesCount == 1);
    CHECK(samples[0].pid == (unsigned)getpid() && samples[0].smUtil == 50 && !samples[1].pid && !samples[2].pid);
    drawing[1] = STRANGER, info.processSamplesCount = 3;
    CHECK(hook_nvmlDeviceGetProcessesUtilizationInfo(DEVICE(0), &info) == 6 && info.processSamplesCount == 0);
}

int main(void) {
    use_test_folder();
    use_fakes();
    setenv("SLUICE_MEMORY", "0=4g", 1);
    printf("should_show_what_is_without_limits\n");
    CHECK(in_child(should_show_what_is_without_limits) == 0);
    RUN(should_show_the_quota_before_cuda_is_used);
    RUN(should_leave_a_gpu_without_limit_alone);
    RUN(should_show_the_tenants_own_use);
    RUN(should_never_show_more_free_than_there_is);
    RUN(should_be_full_when_the_limit_falls_below_the_use);
    RUN(should_give_the_drivers_own_errors);
    RUN(should_list_the_tenants_processes_only);
    RUN(should_list_graphics_processes_without_strangers);
    RUN(should_write_entries_as_long_as_the_drivers);
    RUN(should_list_details);
    RUN(should_keep_own_samples_only);
    RUN(should_keep_own_samples_only_in_the_newer_call);
    CHECK(!sl_driver_cuda.map, "NVML alone loaded CUDA");
    return 0;
}
