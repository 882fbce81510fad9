/* Generated from spec/nvml.api: the entry points.
 *
 * The table holds the address of this library's own wrapper, also when another library exports the same name. */
#include "driver/entry.h"
#include "hooks_nvml.h"
#include "real_nvml.h"

sl_real_nvml_t real_nvml;

static const char names[][SL_ENTRY_NAME_BYTES] = {
    "nvmlDeviceGetMemoryInfo",
    "nvmlShutdown",
};

static nvmlReturn_t entry_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    return hook_nvmlDeviceGetMemoryInfo(device, memory);
}
SL_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) __attribute__((alias("entry_nvmlDeviceGetMemoryInfo")));

static const sl_entry_wrapper_t wrappers[] = {
    {0, (void *)entry_nvmlDeviceGetMemoryInfo},
};

const sl_entry_table_t sl_entry_nvml = {
    .real = (void **)&real_nvml,
    .names = names,
    .count = sizeof names / sizeof *names,
    .wrappers = wrappers,
    .wrapper_count = sizeof wrappers / sizeof *wrappers,
};

_Static_assert(sizeof real_nvml / sizeof(void *) == sizeof names / sizeof *names, "one pointer for each entry point");
