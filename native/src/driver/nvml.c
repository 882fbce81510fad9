/* nvml: the few things that Sluice itself asks NVML, past its own hooks.
 *
 * The library loads NVML when it first needs it, and never shuts it down: the program may use NVML too, and NVML counts its users.
 * Several threads may load it at the same time. That does no harm, and no thread waits for another. */
#define _GNU_SOURCE
#include "driver/nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/nvml_device.h"
#include "os/fork.h"
#include "os/os.h"
#include "real_nvml.h"

#define NOT_AVAILABLE UINT64_MAX
#define MOST (1u << 20)
#define ROOM 64u /* processes that fit without allocating memory */
#define DEVICES 64u
#define DESCRIPTORS 8 /* at least as many as NVML needs to start */
#define UNTOUCHED 0xa5
#define PIDS 8

static atomic_int state; /* 0 = not asked, 1 = ready, -1 = absent */
static uint32_t own_pids[PIDS];
static atomic_int own_pid_count;
static _Atomic uint32_t outer_pid; /* 0: not known */

void sl_nvml_forget(void) {
    state = 0;
    own_pid_count = 0;
}
SL_FORK_FORGETS(sl_nvml_forget);

static bool has_descriptors(void) {
    int descriptors[DESCRIPTORS], count = 0;
    while (count < DESCRIPTORS && (descriptors[count] = open("/", O_PATH | O_CLOEXEC)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        close(descriptors[i]);
    return count == DESCRIPTORS;
}

/* A program that has used up its file descriptors may close some later: then NVML is not absent. */
static bool ready(void) {
    int known = atomic_load_explicit(&state, memory_order_acquire);
    if (known == 0) {
        int saved = errno;
        bool there = SL_DRIVER_NVML_HAS(nvmlInit_v2) && real_nvml.nvmlDeviceGetHandleByUUID &&
                     real_nvml.nvmlInit_v2() == NVML_SUCCESS;
        known = there ? 1 : has_descriptors() ? -1 : 0;
        atomic_store_explicit(&state, known, memory_order_release);
        errno = saved;
    }
    return known > 0;
}

bool sl_nvml_is_open_question(void) {
    return state == 0;
}

bool sl_nvml_lacks_descriptors(void) {
    int saved = errno;
    bool lacks = state == 0 && !has_descriptors();
    errno = saved;
    return lacks;
}

bool sl_nvml_is_there(void) {
    return ready();
}

static bool is(nvmlDevice_t device, const uint8_t uuid[16]) {
    sl_nvml_device_t found;
    return sl_nvml_device_find(device, &found) && memcmp(found.uuid, uuid, sizeof found.uuid) == 0;
}

static nvmlDevice_t part_of(nvmlDevice_t device, const uint8_t uuid[16]) {
    unsigned parts = 0;
    nvmlDevice_t part;
    if (!real_nvml.nvmlDeviceGetMaxMigDeviceCount || !real_nvml.nvmlDeviceGetMigDeviceHandleByIndex ||
        real_nvml.nvmlDeviceGetMaxMigDeviceCount(device, &parts) != NVML_SUCCESS)
        return NULL;
    for (unsigned i = 0; i < parts && i < DEVICES; i++)
        if (real_nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, i, &part) == NVML_SUCCESS && is(part, uuid))
            return part;
    return NULL;
}

/* NVML documents that a query by UUID fails if any GPU is lost. A query by number fails for the lost GPU alone. */
static nvmlDevice_t search(const uint8_t uuid[16]) {
    unsigned count = 0;
    nvmlDevice_t device, part;
    if (!real_nvml.nvmlDeviceGetCount_v2 || !real_nvml.nvmlDeviceGetHandleByIndex_v2 ||
        real_nvml.nvmlDeviceGetCount_v2(&count) != NVML_SUCCESS)
        return NULL;
    for (unsigned i = 0; i < count && i < DEVICES; i++) {
        if (real_nvml.nvmlDeviceGetHandleByIndex_v2(i, &device) != NVML_SUCCESS)
            continue;
        if (is(device, uuid))
            return device;
        if ((part = part_of(device, uuid)))
            return part;
    }
    return NULL;
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
    return search(uuid);
}

nvmlDevice_t sl_nvml_device_on_bus(const char *bus) {
    nvmlDevice_t device;
    return ready() && real_nvml.nvmlDeviceGetHandleByPciBusId_v2 &&
           real_nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, &device) == NVML_SUCCESS ? device : NULL;
}

void sl_nvml_set_outer_pid(uint32_t pid) {
    outer_pid = pid;
}

/* In a pid namespace, NVML may list this process by its number outside. The kernel shows its numbers in the namespaces that it can see.
 * The agent knows its number in the agent's namespace. */
static int pids(void) {
    int count = atomic_load_explicit(&own_pid_count, memory_order_acquire);
    if (count)
        return count;
    char text[4096];
    own_pids[count++] = (uint32_t)getpid();
    bool read = sl_os_read("/proc/self/status", text, sizeof text) > 0;
    const char *line = read ? strstr(text, "\nNSpid:") : NULL;
    for (char *at = line ? (char *)line + 7 : NULL; at && count < PIDS && (*at == '\t' || *at == ' ');)
        own_pids[count++] = (uint32_t)strtoul(at, &at, 10);
    if (outer_pid && count < PIDS)
        own_pids[count++] = outer_pid;
    if (read)
        atomic_store_explicit(&own_pid_count, count, memory_order_release);
    return count;
}

static bool is_own(uint32_t pid) {
    for (int i = pids() - 1; i >= 0; i--)
        if (own_pids[i] == pid)
            return true;
    return false;
}

void sl_nvml_prepare(void *entries, unsigned room) {
    memset(entries, UNTOUCHED, (size_t)room * SL_NVML_ENTRY_ROOM);
}

static bool is_untouched(const unsigned char *at) {
    for (unsigned i = 0; i < 8; i++)
        if (at[i] != UNTOUCHED)
            return false;
    return true;
}

/* Entries of the newest list have 24 bytes, but 32 in drivers 535.43 to 535.86 (https://github.com/XuehaiPan/nvitop/pull/89), and 16 in
 * one driver, by a report. The length that NVML wrote shows which. */
size_t sl_nvml_entry_bytes(const void *entries, unsigned count, size_t usual) {
    static const uint8_t lengths[] = {16, 24, 32};
    for (unsigned i = 0; count && i < sizeof lengths; i++)
        if (is_untouched((const unsigned char *)entries + (size_t)count * lengths[i]))
            return lengths[i];
    return usual;
}

static nvmlReturn_t list(nvmlDevice_t device, unsigned *count, void *entries) {
    sl_nvml_prepare(entries, *count);
    if (real_nvml.nvmlDeviceGetComputeRunningProcesses_v3)
        return real_nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, count, entries);
    if (real_nvml.nvmlDeviceGetComputeRunningProcesses_v2)
        return real_nvml.nvmlDeviceGetComputeRunningProcesses_v2(device, count, entries);
    if (real_nvml.nvmlDeviceGetComputeRunningProcesses)
        return real_nvml.nvmlDeviceGetComputeRunningProcesses(device, count, entries);
    return NVML_ERROR_FUNCTION_NOT_FOUND;
}

/* All forms of an entry begin alike. */
static bool add_up(const char *entries, unsigned count, uint64_t *bytes, bool *listed) {
    size_t stride = sl_nvml_entry_bytes(entries, count, sizeof(nvmlProcessInfo_t));
    *bytes = 0;
    *listed = false;
    for (unsigned i = 0; i < count; i++) {
        nvmlProcessInfo_v1_t process;
        memcpy(&process, entries + i * stride, sizeof process);
        if (!is_own(process.pid))
            continue;
        if (process.usedGpuMemory == NOT_AVAILABLE)
            return false;
        *bytes += process.usedGpuMemory;
        *listed = true;
    }
    return true;
}

bool sl_nvml_process_bytes(nvmlDevice_t device, uint64_t *bytes, bool *listed) {
    _Alignas(8) char near[ROOM * SL_NVML_ENTRY_ROOM];
    unsigned count = ROOM;
    if (!device)
        return false;
    int saved = errno;
    nvmlReturn_t status = list(device, &count, near);
    bool known = status == NVML_SUCCESS && count <= ROOM && add_up(near, count, bytes, listed);
    if (status == NVML_ERROR_INSUFFICIENT_SIZE && count <= MOST) {
        unsigned room = count += ROOM; /* some may start in between */
        size_t size = (size_t)room * SL_NVML_ENTRY_ROOM;
        char *far = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        known = far != MAP_FAILED && list(device, &count, far) == NVML_SUCCESS && count <= room &&
                add_up(far, count, bytes, listed);
        if (far != MAP_FAILED)
            munmap(far, size);
    }
    errno = saved;
    return known;
}
