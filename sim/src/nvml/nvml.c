/* The simulated NVML: initialisation, the system, and which devices there are. */
#define _GNU_SOURCE
#include "nvml/nvml.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ARCHITECTURE_HOPPER 9u
#define BRAND_UNKNOWN 0u

struct nvml_device { int index; };

static struct nvml_device devices[SIM_GPUS_MAX];
static _Atomic int users;
static _Atomic uint64_t begun_ns; /* time of the first query */

static int reach(int unit) {
    if (sim_unit_gpu(sim_settings(), unit) != sim_settings()->lost) return NVML_SUCCESS;
    return sim_state_now() - atomic_load(&begun_ns) < sim_settings()->lost_after_ns ? NVML_SUCCESS : NVML_ERROR_GPU_IS_LOST;
}

SIM_NVML nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    if (sim_settings()->problem[0]) return NVML_ERROR_INVALID_ARGUMENT;
    if (!sim_state_open()) return NVML_ERROR_DRIVER_NOT_LOADED;
    for (int i = 0; i < SIM_GPUS_MAX; i++) devices[i].index = i;
    uint64_t never = 0;
    atomic_compare_exchange_strong(&begun_ns, &never, sim_state_now());
    atomic_fetch_add(&users, 1);
    return NVML_SUCCESS;
}

SIM_NVML nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
SIM_NVML nvmlInit(void) { return nvmlInitWithFlags(0); }

SIM_NVML nvmlShutdown(void) {
    int before = atomic_load(&users);
    do if (before == 0) return NVML_ERROR_UNINITIALIZED;
    while (!atomic_compare_exchange_weak(&users, &before, before - 1));
    return NVML_SUCCESS;
}

int sim_nvml_hand_out(int unit, nvmlDevice_t *device) {
    if (!atomic_load(&users)) return NVML_ERROR_UNINITIALIZED;
    if (!device) return NVML_ERROR_INVALID_ARGUMENT;
    *device = &devices[unit];
    return reach(unit);
}

int sim_nvml_device(nvmlDevice_t device, int *index) {
    if (!atomic_load(&users)) return NVML_ERROR_UNINITIALIZED;
    for (unsigned i = 0; i < sim_units(sim_settings()); i++)
        if (device == &devices[i]) return *index = (int)i, reach((int)i);
    return NVML_ERROR_INVALID_ARGUMENT;
}

int sim_nvml_text(char *target, unsigned room, const char *text) {
    if (!target) return NVML_ERROR_INVALID_ARGUMENT;
    if (strlen(text) >= room) return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(target, text);
    return NVML_SUCCESS;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int result) {
    static const char *const texts[] = {
        "Success", "Uninitialized", "Invalid Argument", "Not Supported", "Insufficient Permissions", "Already Initialized", "Not Found",
        "Insufficient Size", "Insufficient External Power", "Driver Not Loaded", "Timeout", "Interrupt Request Issue",
        "NVML Shared Library Not Found", "Function Not Found", "Corrupted infoROM", "GPU is lost", "GPU requires reset",
        "GPU access blocked by the operating system", "Driver/library version mismatch", "In use by another client", "Insufficient Memory",
    };
    return result >= 0 && result < (int)(sizeof texts / sizeof *texts) ? texts[result] : "Unknown Error";
}

static int ready(const void *result) {
    if (!atomic_load(&users)) return NVML_ERROR_UNINITIALIZED;
    return result ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_NVML nvmlSystemGetDriverVersion(char *version, unsigned room) {
    int problem = ready(version);
    return problem ? problem : sim_nvml_text(version, room, sim_settings()->nvml);
}

SIM_NVML nvmlSystemGetNVMLVersion(char *version, unsigned room) {
    char text[48];
    snprintf(text, sizeof text, "%d.%s", sim_settings()->driver / 1000, sim_settings()->nvml);
    return sim_nvml_text(version, room, text);
}

SIM_NVML nvmlSystemGetCudaDriverVersion_v2(int *version) {
    if (!version) return NVML_ERROR_INVALID_ARGUMENT;
    *version = sim_settings()->driver;
    return NVML_SUCCESS;
}

SIM_NVML nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

SIM_NVML nvmlSystemGetProcessName(unsigned pid, char *name, unsigned room) {
    char path[32], text[4096];
    int problem = ready(name);
    if (problem) return problem;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (!file) return NVML_ERROR_NOT_FOUND;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    return sim_nvml_text(name, room, text);
}

SIM_NVML nvmlDeviceGetCount_v2(unsigned *count) {
    int problem = ready(count);
    if (!problem) *count = sim_settings()->gpus;
    return problem;
}

SIM_NVML nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }

SIM_NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
    int problem = ready(device);
    if (problem) return problem;
    if (index >= sim_settings()->gpus) return NVML_ERROR_INVALID_ARGUMENT;
    *device = &devices[index];
    return reach((int)index);
}

SIM_NVML nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device) { return nvmlDeviceGetHandleByIndex_v2(index, device); }

SIM_NVML nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned room) {
    char text[SIM_UUID_TEXT];
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    sim_unit_uuid_text(sim_settings(), index, text);
    return sim_nvml_text(uuid, room, text);
}

SIM_NVML nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    char text[SIM_UUID_TEXT];
    int problem = ready(uuid && device ? uuid : NULL);
    if (problem) return problem;
    for (unsigned i = 0; i < sim_units(sim_settings()); i++) {
        sim_unit_uuid_text(sim_settings(), (int)i, text);
        if (strcasecmp(text, uuid) == 0) return *device = &devices[i], reach((int)i);
    }
    return NVML_ERROR_NOT_FOUND;
}

SIM_NVML nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!pci) return NVML_ERROR_INVALID_ARGUMENT;
    int bus = SIM_DEVICE_BUS(sim_unit_gpu(sim_settings(), index));
    *pci = (nvmlPciInfo_t){.bus = (unsigned)bus, .pciDeviceId = 0x233510de};
    sprintf(pci->busIdLegacy, "0000:%02X:00.0", bus);
    sprintf(pci->busId, "00000000:%02X:00.0", bus);
    return NVML_SUCCESS;
}

SIM_NVML nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci) { return nvmlDeviceGetPciInfo_v3(device, pci); }

SIM_NVML nvmlDeviceGetHandleByPciBusId_v2(const char *text, nvmlDevice_t *device) {
    unsigned domain, bus, slot, function = 0;
    int problem = ready(text && device ? text : NULL);
    if (problem) return problem;
    bool read = sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3 && domain == 0 && slot == 0 && function == 0;
    for (unsigned i = 0; read && i < sim_settings()->gpus; i++)
        if ((int)bus == SIM_DEVICE_BUS((int)i)) return *device = &devices[i], reach((int)i);
    return NVML_ERROR_NOT_FOUND;
}

SIM_NVML nvmlDeviceGetHandleByPciBusId(const char *text, nvmlDevice_t *device) { return nvmlDeviceGetHandleByPciBusId_v2(text, device); }

static int answer(nvmlDevice_t device, unsigned *result, unsigned value) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!result) return NVML_ERROR_INVALID_ARGUMENT;
    *result = value;
    return NVML_SUCCESS;
}

/* Of an instance: its number in its GPU, and its GPU's minor number. */
SIM_NVML nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index) {
    int unit, problem = sim_nvml_device(device, &unit);
    if (problem) return problem;
    int instance = sim_unit_instance(sim_settings(), unit);
    return answer(device, index, (unsigned)(instance < 0 ? unit : instance));
}

SIM_NVML nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *minor) {
    int unit, problem = sim_nvml_device(device, &unit);
    return problem ? problem : answer(device, minor, (unsigned)sim_unit_gpu(sim_settings(), unit));
}

SIM_NVML nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *architecture) { return answer(device, architecture, ARCHITECTURE_HOPPER); }
SIM_NVML nvmlDeviceGetBrand(nvmlDevice_t device, unsigned *brand) { return answer(device, brand, BRAND_UNKNOWN); }

SIM_NVML nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned room) {
    char text[64];
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    sim_unit_name(sim_settings(), index, text);
    return sim_nvml_text(name, room, text);
}

SIM_NVML nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!major || !minor) return NVML_ERROR_INVALID_ARGUMENT;
    *major = 9;
    *minor = 0;
    return NVML_SUCCESS;
}
