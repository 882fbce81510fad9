/* The types of NVML, as much of them as its ABI needs; written from facts, without NVIDIA's header. */
#ifndef SIM_NVML_H
#define SIM_NVML_H

#include <stddef.h>

#include "gpu/state.h"

#define SIM_NVML __attribute__((visibility("default"))) int

enum {
    NVML_SUCCESS = 0, NVML_ERROR_UNINITIALIZED = 1, NVML_ERROR_INVALID_ARGUMENT = 2, NVML_ERROR_NOT_SUPPORTED = 3, NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7, NVML_ERROR_DRIVER_NOT_LOADED = 9, NVML_ERROR_FUNCTION_NOT_FOUND = 13, NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25
};

typedef struct nvml_device *nvmlDevice_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } nvmlMemory_v2_t;
typedef struct { unsigned gpu, memory; } nvmlUtilization_t;
typedef struct { unsigned long long bar1Total, bar1Free, bar1Used; } nvmlBAR1Memory_t;
typedef struct { unsigned pid; unsigned long long usedGpuMemory; } nvmlProcessInfo_v1_t;
typedef struct { unsigned pid; unsigned long long usedGpuMemory; unsigned gpuInstanceId, computeInstanceId; } nvmlProcessInfo_v2_t;
typedef struct {
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId;
    unsigned long long usedGpuCcProtectedMemory;
} nvmlProcessDetail_v1_t;
typedef struct { unsigned version, mode, numProcArrayEntries; nvmlProcessDetail_v1_t *procArray; } nvmlProcessDetailList_t;
typedef struct {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

_Static_assert(sizeof(nvmlMemory_v2_t) == 40 && sizeof(nvmlProcessInfo_v2_t) == 24 && sizeof(nvmlPciInfo_t) == 68, "NVML's ABI");

/* NVML_SUCCESS when NVML is initialised and the handle names a device that is not lost; *index is then its unit. */
int sim_nvml_device(nvmlDevice_t device, int *index);
int sim_nvml_hand_out(int unit, nvmlDevice_t *device);
/* The units that a device consists of: itself, or the instances of a GPU that is split. */
void sim_nvml_parts(int unit, int *first, int *end);
int sim_nvml_text(char *target, unsigned room, const char *text);

#endif
