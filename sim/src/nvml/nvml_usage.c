/* The simulated NVML: memory, processes and utilisation, from the state file; and calls without simulation, such as power. */
#include "nvml/nvml.h"

#include <string.h>

#define MEMORY_V2 (sizeof(nvmlMemory_v2_t) | 2u << 24)
#define MEMORY_V2_SINCE 11060
#define DETAIL_LIST_V1 (sizeof(nvmlProcessDetailList_t) | 1u << 24)
#define MODE_COMPUTE 0u
#define MODE_MPS 2u
#define NO_INSTANCE 0xffffffffu

SIM_NVML nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
    uint64_t total = sim_unit_memory(sim_settings(), index), used = 0;
    int part, end;
    for (sim_nvml_parts(index, &part, &end); part < end; part++) used += sim_state_taken(part);
    *memory = (nvmlMemory_t){total, used < total ? total - used : 0, used};
    return NVML_SUCCESS;
}

SIM_NVML nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    nvmlMemory_t plain;
    int problem = nvmlDeviceGetMemoryInfo(device, &plain);
    if (problem) return problem;
    if (sim_settings()->driver < MEMORY_V2_SINCE) return NVML_ERROR_FUNCTION_NOT_FOUND;
    if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != MEMORY_V2) return NVML_ERROR_FUNCTION_NOT_FOUND;
    *memory = (nvmlMemory_v2_t){MEMORY_V2, plain.total, 0, plain.free, plain.used};
    return NVML_SUCCESS;
}

typedef struct {
    char *entries;
    size_t entry_bytes;
    unsigned room, found;
} list_t;

static void list_unit(list_t *list, int unit) {
    int instance = sim_unit_instance(sim_settings(), unit);
    for (unsigned slot = 0; slot < SIM_STATE_SLOTS; slot++) {
        pid_t pid;
        uint64_t bytes;
        if (!sim_state_process(unit, slot, &pid, &bytes)) continue;
        nvmlProcessDetail_v1_t info = {(unsigned)pid, bytes, instance < 0 ? NO_INSTANCE : (unsigned)instance + 1, instance < 0 ? NO_INSTANCE : 0, 0};
        if (list->entries && list->found < list->room) memcpy(list->entries + list->found * list->entry_bytes, &info, list->entry_bytes);
        list->found++;
    }
}

/* The forms differ in the size of an entry; a shorter one is the beginning of a longer one. */
static int list_processes(nvmlDevice_t device, unsigned *count, void *entries, size_t entry_bytes) {
    int index, part, end, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!count || (*count && !entries)) return NVML_ERROR_INVALID_ARGUMENT;
    list_t list = {entries, entry_bytes, *count, 0};
    for (sim_nvml_parts(index, &part, &end); part < end; part++) list_unit(&list, part);
    problem = list.found > *count ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
    *count = list.found;
    return problem;
}

/* Drivers 535.43 to 535.86 wrote the longer entry through the third form, whose callers expect the shorter one; 535.98 had no
 * third form; from 535.104 on it is as it was. https://github.com/XuehaiPan/nvitop/pull/89 */
static bool is_535_before(int minor) { return sim_settings()->nvml_major == 535 && sim_settings()->nvml_minor < minor; }

SIM_NVML nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v1_t *infos) {
    return list_processes(device, count, infos, sizeof *infos);
}

SIM_NVML nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v2_t *infos) {
    return list_processes(device, count, infos, sizeof *infos);
}

SIM_NVML nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v2_t *infos) {
    if (is_535_before(98)) return list_processes(device, count, infos, sizeof(nvmlProcessDetail_v1_t));
    if (is_535_before(104)) return NVML_ERROR_FUNCTION_NOT_FOUND;
    return list_processes(device, count, infos, sizeof *infos);
}

static int none(nvmlDevice_t device, unsigned *count) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}

SIM_NVML nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned *count, void *infos) { return (void)infos, none(device, count); }
SIM_NVML nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned *count, void *infos) { return (void)infos, none(device, count); }
SIM_NVML nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned *count, void *infos) { return (void)infos, none(device, count); }

SIM_NVML nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned *count, void *infos) { return (void)infos, none(device, count); }
SIM_NVML nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned *count, void *infos) { return (void)infos, none(device, count); }
SIM_NVML nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count, void *infos) { return (void)infos, none(device, count); }

SIM_NVML nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *list) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (is_535_before(104)) return NVML_ERROR_FUNCTION_NOT_FOUND;
    if (!list || list->mode > MODE_MPS) return NVML_ERROR_INVALID_ARGUMENT;
    if (list->version != DETAIL_LIST_V1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (list->mode != MODE_COMPUTE) return none(device, &list->numProcArrayEntries);
    return list_processes(device, &list->numProcArrayEntries, list->procArray, sizeof *list->procArray);
}

SIM_NVML nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!utilization) return NVML_ERROR_INVALID_ARGUMENT;
    int part, end;
    sim_nvml_parts(index, &part, &end);
    if (part != index || sim_unit_instance(sim_settings(), index) >= 0) return NVML_ERROR_NOT_SUPPORTED; /* as real ones with MIG */
    *utilization = (nvmlUtilization_t){sim_state_busy_percent(index), 0};
    return NVML_SUCCESS;
}

static int absent(nvmlDevice_t device) {
    int index, problem = sim_nvml_device(device, &index);
    return problem ? problem : NVML_ERROR_NOT_SUPPORTED;
}

SIM_NVML nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts) { return (void)milliwatts, absent(device); }
SIM_NVML nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned *milliwatts) { return (void)milliwatts, absent(device); }
SIM_NVML nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned *percent) { return (void)percent, absent(device); }
SIM_NVML nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory) { return (void)memory, absent(device); }
SIM_NVML nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type, unsigned *mhz) { return (void)type, (void)mhz, absent(device); }

SIM_NVML nvmlDeviceGetProcessUtilization(nvmlDevice_t device, void *samples, unsigned *count, unsigned long long since) {
    return (void)samples, (void)count, (void)since, absent(device);
}
