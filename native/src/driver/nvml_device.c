/* nvml_device: which GPU a handle of NVML is. Handles are cached: NVML returns the same handles as long as it is loaded. */
#include "driver/nvml_device.h"

#include <ctype.h>
#include <stdatomic.h>
#include <string.h>

#include "driver/driver.h"
#include "real_nvml.h"

#define HANDLES 64

typedef struct {
    _Atomic(nvmlDevice_t) handle;
    atomic_bool ready;
    sl_nvml_device_t device;
} known_t;

static known_t known[HANDLES]; /* the child of a fork keeps them: NVML stays loaded, and an unfinished entry is only asked for again */

int sl_nvml_device_index(nvmlDevice_t handle) {
    unsigned is_mig = 0, index;
    if (!handle || !real_nvml.nvmlDeviceGetIndex)
        return -1;
    if (real_nvml.nvmlDeviceIsMigDeviceHandle && real_nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle &&
        real_nvml.nvmlDeviceIsMigDeviceHandle(handle, &is_mig) == NVML_SUCCESS && is_mig &&
        real_nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle, &handle) != NVML_SUCCESS)
        return -1;
    return real_nvml.nvmlDeviceGetIndex(handle, &index) == NVML_SUCCESS ? (int)index : -1;
}

static int hex(char digit) {
    return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/* "GPU-cf35c656-8872-dba6-15bc-92b3d41a1c49", or MIG- and the same. */
static void read_uuid(const char *text, uint8_t uuid[16]) {
    unsigned digits = 0;
    for (text += 4; *text; text++) {
        if (*text == '-')
            continue;
        if (!isxdigit((unsigned char)*text) || digits == 32)
            break;
        uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | hex(*text));
        digits++;
    }
    if (*text || digits != 32)
        memset(uuid, 0, 16);
}

static bool ask(nvmlDevice_t handle, sl_nvml_device_t *device) {
    char text[96] = "";
    *device = (sl_nvml_device_t){.index = -1};
    if (!handle || !real_nvml.nvmlDeviceGetUUID ||
        real_nvml.nvmlDeviceGetUUID(handle, text, sizeof text) != NVML_SUCCESS)
        return false;
    if (strlen(text) > 4)
        read_uuid(text, device->uuid);
    device->index = sl_nvml_device_index(handle);
    return true;
}

bool sl_nvml_device_find(nvmlDevice_t handle, sl_nvml_device_t *device) {
    for (unsigned i = 0; handle && i < HANDLES; i++) {
        nvmlDevice_t seen = known[i].handle;
        if (seen == handle && known[i].ready) {
            *device = known[i].device;
            return true;
        }
        if (seen == handle)
            break; /* another thread is writing it down */
        if (seen)
            continue;
        if (!ask(handle, device))
            return false;
        if (atomic_compare_exchange_strong(&known[i].handle, &seen, handle)) {
            known[i].device = *device;
            known[i].ready = true;
        }
        return true;
    }
    return ask(handle, device);
}
