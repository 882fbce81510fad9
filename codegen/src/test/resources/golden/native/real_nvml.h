/* Generated from spec/nvml.api: the driver's real functions. NULL: not looked up yet, or the driver lacks it. */
#ifndef SL_REAL_NVML_H
#define SL_REAL_NVML_H

#include "nvml_abi.h"

typedef struct {
    nvmlReturn_t (*nvmlDeviceGetMemoryInfo)(nvmlDevice_t device, nvmlMemory_t *memory);
    nvmlReturn_t (*nvmlShutdown)(void);
} sl_real_nvml_t;

extern sl_real_nvml_t real_nvml __attribute__((visibility("hidden")));

#endif
