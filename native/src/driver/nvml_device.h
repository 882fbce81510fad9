/* nvml_device: which GPU a handle of NVML is. */
#ifndef SL_NVML_DEVICE_H
#define SL_NVML_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml_abi.h"

typedef struct {
    uint8_t uuid[16]; /* zeros: NVML gives none */
    int index;        /* as nvidia-smi numbers GPUs; -1: not known */
} sl_nvml_device_t;

/* False for a handle that NVML does not know. */
bool sl_nvml_device_find(nvmlDevice_t handle, sl_nvml_device_t *device);
/* The number of the GPU; of a MIG device, the number of its GPU; -1: NVML does not say. */
int sl_nvml_device_index(nvmlDevice_t handle);

#endif
