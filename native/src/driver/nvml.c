/* nvml: the few things that Sluice itself asks NVML, past its own hooks.
 *
 * It is loaded when it is first needed and never given back: the program may use it too, and it counts its users. Threads
 * that come at the same time all load it; that does no harm, and none waits for another. */
#include "driver/nvml.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/driver.h"
#include "os/os.h"
#include "real_nvml.h"
#include "tenant/tenant.h"

#define NOT_AVAILABLE UINT64_MAX
#define ROOM 64u /* processes that fit without asking for memory */
#define PIDS 8

static atomic_int state; /* 0 = not asked, 1 = ready, -1 = absent */
static uint32_t own_pids[PIDS];
static atomic_int own_pid_count;

void sl_nvml_forget(void) {
    state = 0;
    own_pid_count = 0;
}

static bool ready(void) {
    int known = atomic_load_explicit(&state, memory_order_acquire);
    if (known == 0) {
        int saved = errno;
        bool there = SL_DRIVER_NVML_HAS(nvmlInit_v2) && real_nvml.nvmlDeviceGetHandleByUUID;
        known = there && real_nvml.nvmlInit_v2() == NVML_SUCCESS ? 1 : -1;
        atomic_store_explicit(&state, known, memory_order_release);
        errno = saved;
    }
    return known > 0;
}

nvmlDevice_t sl_nvml_device(const uint8_t uuid[16]) {
    static const char *const kinds[] = {"GPU-", "MIG-"};
    if (!ready())
        return NULL;
    for (int kind = 0; kind < 2; kind++) {
        char text[48];
        int at = sprintf(text, "%s", kinds[kind]);
        for (int i = 0; i < 16; i++)
            at += sprintf(text + at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
        nvmlDevice_t device;
        if (real_nvml.nvmlDeviceGetHandleByUUID(text, &device) == NVML_SUCCESS)
            return device;
    }
    return NULL;
}

/* In a pid namespace NVML may know this process by its number outside: the kernel tells those that we can see, the agent the one
 * that it sees. */
static int pids(void) {
    int count = atomic_load_explicit(&own_pid_count, memory_order_acquire);
    if (count)
        return count;
    char text[4096];
    own_pids[count++] = (uint32_t)getpid();
    const char *line = sl_os_read("/proc/self/status", text, sizeof text) > 0 ? strstr(text, "\nNSpid:") : NULL;
    for (char *at = line ? (char *)line + 7 : NULL; at && count < PIDS && (*at == '\t' || *at == ' ');)
        own_pids[count++] = (uint32_t)strtoul(at, &at, 10);
    if (sl_tenant.self.seen_identity && count < PIDS)
        own_pids[count++] = (uint32_t)sl_os_pid(sl_tenant.self.seen_identity);
    atomic_store_explicit(&own_pid_count, count, memory_order_release);
    return count;
}

static bool is_own(uint32_t pid) {
    for (int i = pids() - 1; i >= 0; i--)
        if (own_pids[i] == pid)
            return true;
    return false;
}

/* The newer two forms of the list are the same; the oldest has shorter entries. */
static nvmlReturn_t list(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *processes) {
    if (real_nvml.nvmlDeviceGetComputeRunningProcesses_v3)
        return real_nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, count, processes);
    if (real_nvml.nvmlDeviceGetComputeRunningProcesses_v2)
        return real_nvml.nvmlDeviceGetComputeRunningProcesses_v2(device, count, (nvmlProcessInfo_v2_t *)processes);
    if (!real_nvml.nvmlDeviceGetComputeRunningProcesses)
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    nvmlProcessInfo_v1_t *old = (nvmlProcessInfo_v1_t *)processes;
    nvmlReturn_t status = real_nvml.nvmlDeviceGetComputeRunningProcesses(device, count, old);
    for (unsigned i = *count; status == NVML_SUCCESS && i-- > 0;) {
        nvmlProcessInfo_v1_t process = old[i];
        processes[i] = (nvmlProcessInfo_t){.pid = process.pid, .usedGpuMemory = process.usedGpuMemory};
    }
    return status;
}

static bool add_up(const nvmlProcessInfo_t *processes, unsigned count, uint64_t *bytes, bool *listed) {
    *bytes = 0;
    *listed = false;
    for (unsigned i = 0; i < count; i++) {
        if (!is_own(processes[i].pid))
            continue;
        if (processes[i].usedGpuMemory == NOT_AVAILABLE)
            return false;
        *bytes += processes[i].usedGpuMemory;
        *listed = true;
    }
    return true;
}

bool sl_nvml_process_bytes(nvmlDevice_t device, uint64_t *bytes, bool *listed) {
    nvmlProcessInfo_t near[ROOM];
    unsigned count = ROOM;
    if (!device)
        return false;
    int saved = errno;
    nvmlReturn_t status = list(device, &count, near);
    bool known = status == NVML_SUCCESS && add_up(near, count, bytes, listed);
    if (status == NVML_ERROR_INSUFFICIENT_SIZE) {
        count += ROOM; /* some may start in between */
        size_t room = count * sizeof *near;
        nvmlProcessInfo_t *far = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        known = far != MAP_FAILED && list(device, &count, far) == NVML_SUCCESS && add_up(far, count, bytes, listed);
        if (far != MAP_FAILED)
            munmap(far, room);
    }
    errno = saved;
    return known;
}
