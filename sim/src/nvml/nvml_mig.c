/* The simulated NVML: GPUs that are split into MIG instances, each a GPU instance with one compute instance. */
#include "nvml/nvml.h"

void sim_nvml_parts(int unit, int *first, int *end) {
    const sim_settings_t *settings = sim_settings();
    bool split = sim_unit_instance(settings, unit) < 0 && settings->instances[unit];
    *first = split ? sim_unit_of_instance(settings, unit, 0) : unit;
    *end = split ? *first + (int)settings->instances[unit] : unit + 1;
}

static int tell(unsigned *result, unsigned value) {
    if (!result) return NVML_ERROR_INVALID_ARGUMENT;
    *result = value;
    return NVML_SUCCESS;
}

/* The number of the instance that a handle means. */
static int instance_of(nvmlDevice_t device, int *unit, int *instance) {
    int problem = sim_nvml_device(device, unit);
    if (problem) return problem;
    *instance = sim_unit_instance(sim_settings(), *unit);
    return NVML_SUCCESS;
}

static int whole_gpu(nvmlDevice_t device, int *gpu) {
    int instance, problem = instance_of(device, gpu, &instance);
    return problem ? problem : instance < 0 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_NVML nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *current, unsigned *pending) {
    int gpu, problem = whole_gpu(device, &gpu);
    if (problem) return problem;
    problem = tell(current, sim_settings()->instances[gpu] > 0);
    return problem ? problem : tell(pending, sim_settings()->instances[gpu] > 0);
}

SIM_NVML nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *is) {
    int unit, instance, problem = instance_of(device, &unit, &instance);
    return problem ? problem : tell(is, instance >= 0);
}

SIM_NVML nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *count) {
    int gpu, problem = whole_gpu(device, &gpu);
    return problem ? problem : tell(count, SIM_MIG_MOST);
}

SIM_NVML nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index, nvmlDevice_t *result) {
    int gpu, problem = whole_gpu(device, &gpu);
    if (problem) return problem;
    if (!result || index >= SIM_MIG_MOST) return NVML_ERROR_INVALID_ARGUMENT;
    if (!sim_settings()->instances[gpu]) return NVML_ERROR_NOT_SUPPORTED;
    if (index >= sim_settings()->instances[gpu]) return NVML_ERROR_NOT_FOUND;
    return sim_nvml_hand_out(sim_unit_of_instance(sim_settings(), gpu, (int)index), result);
}

SIM_NVML nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t *result) {
    int unit, instance, problem = instance_of(device, &unit, &instance);
    if (problem) return problem;
    if (instance < 0) return NVML_ERROR_INVALID_ARGUMENT;
    return sim_nvml_hand_out(sim_unit_gpu(sim_settings(), unit), result);
}

SIM_NVML nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned *id) {
    int unit, instance, problem = instance_of(device, &unit, &instance);
    if (problem) return problem;
    return instance < 0 ? NVML_ERROR_NOT_SUPPORTED : tell(id, (unsigned)instance + 1);
}

SIM_NVML nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned *id) {
    int unit, instance, problem = instance_of(device, &unit, &instance);
    if (problem) return problem;
    return instance < 0 ? NVML_ERROR_NOT_SUPPORTED : tell(id, 0);
}

typedef struct {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
    unsigned long long memory_mib;
} attributes_t;

SIM_NVML nvmlDeviceGetAttributes_v2(nvmlDevice_t device, attributes_t *attributes) {
    int unit, instance, problem = instance_of(device, &unit, &instance);
    if (problem) return problem;
    if (!attributes) return NVML_ERROR_INVALID_ARGUMENT;
    if (instance < 0) return NVML_ERROR_NOT_SUPPORTED;
    unsigned slices = SIM_MIG_MOST / sim_settings()->instances[sim_unit_gpu(sim_settings(), unit)];
    *attributes = (attributes_t){.multiprocessors = (unsigned)sim_unit_sms(sim_settings(), unit), .gpu_slices = slices, .compute_slices = slices,
                                 .memory_mib = sim_unit_memory(sim_settings(), unit) >> 20};
    return NVML_SUCCESS;
}
