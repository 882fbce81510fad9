/* nvml: the few things that Sluice itself asks NVML, past its own hooks. */
#ifndef SL_NVML_H
#define SL_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nvml_abi.h"

/* NVML's handle of a GPU; NULL: there is no NVML, or it does not know the GPU. Loads NVML, which takes milliseconds on a real machine. */
nvmlDevice_t sl_nvml_device(const uint8_t uuid[16]);
/* The same for a GPU on the PCI bus, as CUDA writes its place: "0000:0F:00.0". */
nvmlDevice_t sl_nvml_device_on_bus(const char *bus);
/* Loads NVML too. */
bool sl_nvml_is_there(void);
/* Whether a later query may have another answer: NVML was not opened yet, or the process had no file descriptor left for it. */
bool sl_nvml_is_open_question(void);
/* NVML is not open yet, and too few file descriptors are left to open it. */
bool sl_nvml_lacks_descriptors(void);
/* The number by which the agent sees this process, perhaps from another pid namespace; 0: not known. */
void sl_nvml_set_outer_pid(uint32_t pid);
/* The bytes of this process on the GPU. False: NVML cannot say. Not listed: the process has none, or NVML lists it by a number that the
 * process cannot know. */
bool sl_nvml_process_bytes(nvmlDevice_t device, uint64_t *bytes, bool *listed);

/* NVML does not say how long an entry of a process list is. The buffer has this many bytes for each entry, and sl_nvml_entry_bytes derives
 * the length from the bytes that NVML wrote. */
#define SL_NVML_ENTRY_ROOM 40u
void sl_nvml_prepare(void *entries, unsigned room);
/* The length of an entry, after NVML wrote so many into a prepared buffer; the usual length if it wrote none. */
size_t sl_nvml_entry_bytes(const void *entries, unsigned count, size_t usual);
/* After a fork. */
void sl_nvml_forget(void);

#endif
