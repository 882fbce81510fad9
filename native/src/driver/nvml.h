/* nvml: the few things that Sluice itself asks NVML, past its own hooks. */
#ifndef SL_NVML_H
#define SL_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml_abi.h"

/* NVML's handle of a GPU; NULL when there is no NVML or it does not know the GPU. Loads NVML, which takes milliseconds
 * on a real machine. */
nvmlDevice_t sl_nvml_device(const uint8_t uuid[16]);
/* What this process has on the GPU. False: NVML cannot say. Not listed: it has nothing, or goes by a number that it
 * cannot know. */
bool sl_nvml_process_bytes(nvmlDevice_t device, uint64_t *bytes, bool *listed);
/* After a fork. */
void sl_nvml_forget(void);

#endif
