/* Generated from spec/nvml.api: the bodies of the hooked entry points. */
#ifndef SL_HOOKS_NVML_H
#define SL_HOOKS_NVML_H

#include "nvml_abi.h"

nvmlReturn_t hook_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);

#endif
