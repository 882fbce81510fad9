/* The simulated NVML: temperature, memory errors and Xids, where SLUICE_SIM_TEMPERATURE, SLUICE_SIM_ECC and SLUICE_SIM_XID name some. */
#include "nvml/nvml.h"

#define UNCORRECTED 1u
#define EVENT_XID 8ull
#define SLOWDOWN_CELSIUS 90u
#define NVML_ERROR_TIMEOUT 10

typedef struct { nvmlDevice_t device; unsigned long long type, data; unsigned gpuInstanceId, computeInstanceId; } event_t;
typedef struct { nvmlDevice_t device; } event_set_t;

static event_set_t sets[SIM_GPUS_MAX];
static _Atomic unsigned sets_made;

static int tell(nvmlDevice_t device, uint64_t value, unsigned *result) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!result) return NVML_ERROR_INVALID_ARGUMENT;
    if (!value) return NVML_ERROR_NOT_SUPPORTED;
    *result = (unsigned)value;
    return NVML_SUCCESS;
}

SIM_NVML nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor, unsigned *degrees) {
    return (void)sensor, tell(device, sim_settings()->temperature, degrees);
}

SIM_NVML nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, unsigned type, unsigned *degrees) {
    return (void)type, tell(device, sim_settings()->temperature ? SLOWDOWN_CELSIUS : 0, degrees);
}

SIM_NVML nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, unsigned type, unsigned counter, unsigned long long *errors) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!errors || type > UNCORRECTED || counter > 1) return NVML_ERROR_INVALID_ARGUMENT;
    *errors = type == UNCORRECTED ? sim_settings()->ecc : 0;
    return NVML_SUCCESS;
}

/* One Xid for each set, of the GPU that was registered last. */
SIM_NVML nvmlEventSetCreate(event_set_t **set) {
    unsigned made = atomic_fetch_add(&sets_made, 1);
    if (!set || made >= SIM_GPUS_MAX) return NVML_ERROR_INVALID_ARGUMENT;
    *set = &sets[made];
    return NVML_SUCCESS;
}

SIM_NVML nvmlEventSetFree(event_set_t *set) {
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    set->device = NULL;
    return NVML_SUCCESS;
}

SIM_NVML nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, event_set_t *set) {
    int index, problem = sim_nvml_device(device, &index);
    if (problem) return problem;
    if (!set || types != EVENT_XID) return NVML_ERROR_INVALID_ARGUMENT;
    set->device = device;
    return NVML_SUCCESS;
}

SIM_NVML nvmlEventSetWait_v2(event_set_t *set, event_t *event, unsigned millis) {
    (void)millis;
    if (!set || !event) return NVML_ERROR_INVALID_ARGUMENT;
    if (!set->device || !sim_settings()->xid) return NVML_ERROR_TIMEOUT;
    *event = (event_t){set->device, EVENT_XID, sim_settings()->xid, 0xffffffffu, 0xffffffffu};
    set->device = NULL;
    return NVML_SUCCESS;
}
