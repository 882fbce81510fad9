/* nvml_view: NVML, and so nvidia-smi, shows a tenant its quota as the GPU's memory, and only its own processes.
 *
 * The hooks call the real function first, and return its errors. They never call CUDA, because a program may use NVML alone. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "tenant/gpu.h"
#include "hooks_nvml.h"
#include "ledger/ledger.h"
#include "driver/nvml.h"
#include "driver/nvml_device.h"
#include "real_nvml.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define ATTEMPTS 4
#define SPARE 8 /* processes that may start between two queries */
#define NO_INSTANCE 0xffffffffu

/* The newest form of an entry; older forms are its beginning. */
typedef nvmlProcessDetail_v1_t process_t;
_Static_assert(offsetof(nvmlProcessInfo_v1_t, usedGpuMemory) == offsetof(process_t, usedGpuMemory) &&
                   offsetof(nvmlProcessInfo_t, computeInstanceId) == offsetof(process_t, computeInstanceId) &&
                   sizeof(nvmlProcessInfo_v1_t) == 16 && sizeof(nvmlProcessInfo_t) == 24 && sizeof(process_t) == 32 &&
                   sizeof(nvmlMemory_v2_t) == 40 && sizeof(nvmlProcessUtilizationSample_t) == 32 &&
                   sizeof(nvmlProcessUtilizationInfo_v1_t) == 40,
               "NVML's ABI");

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The GPU's entry, or SL_GPU_UNCOUNTED when no process of the tenant has used it yet. False: the tenant sees the real GPU. */
static bool own_world(nvmlDevice_t handle, sl_nvml_device_t *device, int *gpu) {
    if (sl_tenant_attach() != SL_TENANT_ATTACHED || !sl_nvml_device_find(handle, device))
        return false;
    *gpu = sl_gpu_known(device->uuid);
    return true;
}

/* Free memory is never more than the GPU has. Used memory is what the tenant holds, but never more than a lowered limit. */
static bool tell_memory(nvmlDevice_t handle, unsigned long long *total, unsigned long long *free, unsigned long long *used) {
    sl_nvml_device_t device;
    int gpu;
    if (!own_world(handle, &device, &gpu))
        return false;
    uint64_t limit = gpu >= 0 ? sl_accounts_limit((unsigned)gpu) : sl_accounts_limit_of_index(device.index);
    if (!limit)
        return false;
    *total = least(limit, *total);
    *used = least(gpu >= 0 ? sl_accounts_used((unsigned)gpu) : 0, *total);
    *free = least(*total - *used, *free);
    return true;
}

nvmlReturn_t hook_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    if (!SL_DRIVER_NVML_HAS(nvmlDeviceGetMemoryInfo))
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    nvmlReturn_t status = real_nvml.nvmlDeviceGetMemoryInfo(device, memory);
    if (status == NVML_SUCCESS)
        tell_memory(device, &memory->total, &memory->free, &memory->used);
    return status;
}

/* Memory that the quota allows and the GPU lacks counts as reserved, so that the parts add up to the total. */
nvmlReturn_t hook_nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    if (!SL_DRIVER_NVML_HAS(nvmlDeviceGetMemoryInfo_v2))
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    nvmlReturn_t status = real_nvml.nvmlDeviceGetMemoryInfo_v2(device, memory);
    if (status == NVML_SUCCESS && tell_memory(device, &memory->total, &memory->free, &memory->used))
        memory->reserved = memory->total - memory->used - memory->free;
    return status;
}

/* The tenant's live processes that are visible in this pid namespace, with their memory on a GPU. */
static unsigned collect(int gpu, process_t processes[SL_REGION_SLOT_COUNT]) {
    int saved = errno;
    unsigned count = 0;
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        pid_t pid = sl_slots_pid(&sl_tenant.region, number, &sl_tenant.self);
        if (!pid)
            continue;
        uint64_t bytes = gpu >= 0 ? sl_region_account(&sl_tenant.region, number, (unsigned)gpu)->charged_bytes : 0;
        processes[count++] = (process_t){(unsigned)pid, bytes, NO_INSTANCE, NO_INSTANCE, 0};
    }
    errno = saved;
    return count;
}

static const process_t *find(const process_t *processes, unsigned count, unsigned pid) {
    for (unsigned i = 0; i < count; i++)
        if (processes[i].pid == pid)
            return &processes[i];
    return NULL;
}

typedef nvmlReturn_t (*list_t)(nvmlDevice_t device, unsigned int *count, void *infos);
typedef enum { COMPUTE, GRAPHICS, MPS } kind_t; /* numbered as the modes of nvmlDeviceGetRunningProcessDetailList */

typedef struct {
    nvmlDevice_t device;
    unsigned kind;
    size_t bytes; /* of an entry, as it is declared */
    list_t list;  /* NULL: the detail list, with this version */
    unsigned version;
} question_t;

/* The driver's own list. */
typedef struct {
    char *entries; /* NULL: no memory */
    unsigned count;
    size_t bytes; /* of an entry, as the driver writes it */
} answer_t;

static nvmlReturn_t ask(const question_t *question, unsigned *count, void *infos) {
    if (question->list)
        return question->list(question->device, count, infos);
    nvmlProcessDetailList_t details = {question->version, question->kind, *count, infos};
    nvmlReturn_t status = real_nvml.nvmlDeviceGetRunningProcessDetailList(question->device, &details);
    *count = details.numProcArrayEntries;
    return status;
}

/* A process counts as computing on a GPU if it has a charge there. */
static unsigned keep_computing(process_t *processes, unsigned count) {
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++)
        if (processes[i].usedGpuMemory)
            processes[kept++] = processes[i];
    return kept;
}

static nvmlReturn_t ask_all(const question_t *question, unsigned needed, answer_t *answer) {
    nvmlReturn_t status = NVML_ERROR_INSUFFICIENT_SIZE;
    *answer = (answer_t){NULL, 0, question->bytes};
    for (int attempt = 0; attempt < ATTEMPTS && status == NVML_ERROR_INSUFFICIENT_SIZE; attempt++) {
        unsigned room = needed + SPARE;
        free(answer->entries);
        if (!(answer->entries = calloc(room, SL_NVML_ENTRY_ROOM)))
            return NVML_ERROR_MEMORY;
        sl_nvml_prepare(answer->entries, room);
        needed = room;
        status = ask(question, &needed, answer->entries);
        answer->count = needed < room ? needed : room;
    }
    if (status == NVML_SUCCESS)
        answer->bytes = sl_nvml_entry_bytes(answer->entries, answer->count, question->bytes);
    return status;
}

/* Only the driver knows which processes draw, or compute through MPS. So this is its list without processes of other tenants. */
static unsigned keep_listed(const answer_t *answer, process_t *processes, unsigned count) {
    unsigned kept = 0;
    for (unsigned i = 0; i < answer->count; i++) {
        unsigned pid;
        memcpy(&pid, answer->entries + i * answer->bytes, sizeof pid);
        const process_t *own = find(processes + kept, count - kept, pid);
        if (!own)
            continue;
        process_t swapped = *own;
        processes[own - processes] = processes[kept];
        processes[kept++] = swapped;
    }
    return kept;
}

static nvmlReturn_t list(const question_t *question, unsigned *count, void *infos) {
    sl_nvml_device_t device;
    int gpu;
    if (!count || !own_world(question->device, &device, &gpu))
        return ask(question, count, infos);
    unsigned room = infos ? *count : 0, needed = infos ? 0 : *count;
    nvmlReturn_t status = ask(question, &needed, NULL);
    if (status != NVML_SUCCESS && status != NVML_ERROR_INSUFFICIENT_SIZE)
        return status;
    answer_t answer;
    status = ask_all(question, needed, &answer);
    process_t processes[SL_REGION_SLOT_COUNT];
    unsigned found = status == NVML_SUCCESS ? collect(gpu, processes) : 0;
    found = question->kind == COMPUTE ? keep_computing(processes, found) : keep_listed(&answer, processes, found);
    free(answer.entries);
    if (status != NVML_SUCCESS)
        return status;
    *count = found;
    if (found > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < found; i++)
        memcpy((char *)infos + i * answer.bytes, &processes[i], answer.bytes);
    return NVML_SUCCESS;
}

#define LIST(function, entry_t, which)                                                                      \
    nvmlReturn_t hook_##function(nvmlDevice_t device, unsigned int *infoCount, entry_t *infos) {            \
        if (!SL_DRIVER_NVML_HAS(function))                                                                  \
            return NVML_ERROR_FUNCTION_NOT_FOUND;                                                           \
        question_t question = {device, which, sizeof *infos, (list_t)real_nvml.function, 0};                \
        return list(&question, infoCount, infos);                                                           \
    }

LIST(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, COMPUTE)
LIST(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, COMPUTE)
LIST(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, COMPUTE)
LIST(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, GRAPHICS)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, GRAPHICS)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, GRAPHICS)
LIST(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, MPS)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, MPS)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, MPS)

nvmlReturn_t hook_nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *plist) {
    if (!SL_DRIVER_NVML_HAS(nvmlDeviceGetRunningProcessDetailList))
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    if (!plist)
        return real_nvml.nvmlDeviceGetRunningProcessDetailList(device, plist);
    question_t question = {device, plist->mode, sizeof *plist->procArray, NULL, plist->version};
    return list(&question, &plist->numProcArrayEntries, plist->procArray);
}

/* Moves the tenant's own samples to the front and clears the others; returns their number. */
static unsigned keep_own(char *samples, unsigned count, size_t bytes, size_t pid_offset) {
    process_t processes[SL_REGION_SLOT_COUNT];
    unsigned own = collect(SL_GPU_UNCOUNTED, processes), kept = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned pid;
        memcpy(&pid, samples + i * bytes + pid_offset, sizeof pid);
        if (find(processes, own, pid))
            memmove(samples + kept++ * bytes, samples + i * bytes, bytes);
    }
    memset(samples + kept * bytes, 0, (count - kept) * bytes);
    return kept;
}

/* If all samples belong to other tenants, the answer is that there are none. */
static nvmlReturn_t tell_samples(void *samples, unsigned *count, size_t bytes, size_t pid_offset) {
    if (sl_tenant_attach() != SL_TENANT_ATTACHED || !samples || !*count)
        return NVML_SUCCESS;
    *count = keep_own(samples, *count, bytes, pid_offset);
    return *count ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t hook_nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
                                                  unsigned int *processSamplesCount,
                                                  unsigned long long lastSeenTimeStamp) {
    if (!SL_DRIVER_NVML_HAS(nvmlDeviceGetProcessUtilization))
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    nvmlReturn_t status =
        real_nvml.nvmlDeviceGetProcessUtilization(device, utilization, processSamplesCount, lastSeenTimeStamp);
    return status != NVML_SUCCESS ? status : tell_samples(utilization, processSamplesCount, sizeof *utilization,
                                                          offsetof(nvmlProcessUtilizationSample_t, pid));
}

nvmlReturn_t hook_nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
                                                        nvmlProcessesUtilizationInfo_t *procesesUtilInfo) {
    if (!SL_DRIVER_NVML_HAS(nvmlDeviceGetProcessesUtilizationInfo))
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    nvmlReturn_t status = real_nvml.nvmlDeviceGetProcessesUtilizationInfo(device, procesesUtilInfo);
    return status != NVML_SUCCESS ? status
                                  : tell_samples(procesesUtilInfo->procUtilArray, &procesesUtilInfo->processSamplesCount,
                                                 sizeof *procesesUtilInfo->procUtilArray,
                                                 offsetof(nvmlProcessUtilizationInfo_v1_t, pid));
}
