/* gpu: which entry of the region a CUDA device is.
 *
 * The UUID is the key: CUDA's numbers depend on CUDA_VISIBLE_DEVICES of each process. Entries are filled strictly in
 * order, and no process goes past an entry that is being filled. So a GPU never gets two. A process asks the driver for everything
 * before it takes an entry: between taking and publishing there are only stores. */
#define _GNU_SOURCE
#include "tenant/gpu.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver/nvml.h"
#include "driver/nvml_device.h"
#include "os/fork.h"
#include "os/os.h"
#include "os/size.h"
#include "real.h"
#include "tenant/switches/options.h"
#include "tenant/tenant.h"

#define FILLING (1ull << 63)
#define READY 1
#define DEFAULT_GRANULARITY (2u << 20)
#define WAITS 1000
#define PATIENCE 100 /* waits of 0.1 ms; then a process that fills an entry counts as dead if it is not visible: a live one is done much sooner */

const char *sl_gpu_folder = "/proc/driver/nvidia/gpus";
static atomic_int entries[SL_GPU_DEVICES]; /* 0 = not asked yet; entry + 1; or negative */

void sl_gpu_forget(void) {
    for (int i = 0; i < SL_GPU_DEVICES; i++)
        entries[i] = 0;
}
SL_FORK_FORGETS(sl_gpu_forget);

SL_HOT static bool is_granularity(uint64_t bytes) {
    return bytes >= 4096 && bytes <= 1u << 30 && (bytes & (bytes - 1)) == 0;
}

SL_HOT uint32_t sl_gpu_granularity(unsigned entry) {
    uint32_t bytes = *(volatile uint32_t *)&sl_tenant.region.gpus[entry].granularity_bytes;
    return is_granularity(bytes) ? bytes : DEFAULT_GRANULARITY;
}

static uint32_t granularity(CUdevice device) {
    enum { PINNED = 1, DEVICE = 1, MINIMUM = 0 };
    CUmemAllocationProp prop = {.type = PINNED, .location = {DEVICE, device}};
    size_t bytes = 0;
    if (!real.cuMemGetAllocationGranularity || real.cuMemGetAllocationGranularity(&bytes, &prop, MINIMUM) != CUDA_SUCCESS)
        return DEFAULT_GRANULARITY;
    return is_granularity(bytes) ? (uint32_t)bytes : DEFAULT_GRANULARITY;
}

static bool limits_differ(void) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    for (int gpu = 1; gpu < 16; gpu++)
        if (limits->memory_bytes[gpu] != limits->memory_bytes[0] || limits->compute_permille[gpu] != limits->compute_permille[0])
            return true;
    return false;
}

/* nvidia-smi numbers GPUs in the order of their places on the bus. The names in this folder have the same order.
 * Returns how many GPUs there are; *index is the number of the one on this bus, or -1. */
static int read_folder(const char *bus, int *index) {
    int count = 0, before = 0;
    bool found = false;
    DIR *folder = opendir(sl_gpu_folder);
    *index = -1;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!strchr(entry->d_name, ':'))
            continue;
        count++;
        found |= strcasecmp(entry->d_name, bus) == 0;
        before += strcasecmp(entry->d_name, bus) < 0;
    }
    if (folder)
        closedir(folder);
    if (found)
        *index = before;
    return count;
}

/* If the kernel lists one GPU, that is GPU 0, and NVML need not be loaded. If CUDA shows one device, the machine may have many, or the
 * device is a MIG instance. */
static int index_of(CUdevice device, const uint8_t uuid[16]) {
    char bus[32] = "";
    int listed, visible = 0;
    bool placed = real.cuDeviceGetPCIBusId && real.cuDeviceGetPCIBusId(bus, sizeof bus, device) == CUDA_SUCCESS;
    bool alone = real.cuDeviceGetCount && real.cuDeviceGetCount(&visible) == CUDA_SUCCESS && visible == 1 &&
                 !getenv("CUDA_VISIBLE_DEVICES");
    int count = read_folder(bus, &listed);
    if (alone && count == 1)
        return 0;
    int index = sl_nvml_device_index(sl_nvml_device(uuid));
    if (index < 0 && placed)
        index = sl_nvml_device_index(sl_nvml_device_on_bus(bus));
    if (index < 0)
        index = listed;
    return index < 0 && alone && !count && !sl_nvml_is_there() ? 0 : index;
}

static bool describe(CUdevice device, sl_region_gpu_t *gpu, sl_reason_t *reason) {
    CUuuid uuid;
    CUresult status = CUDA_ERROR_NOT_FOUND;
    if (real.cuDeviceGetUuid_v2)
        status = real.cuDeviceGetUuid_v2(&uuid, device);
    else if (real.cuDeviceGetUuid)
        status = real.cuDeviceGetUuid(&uuid, device);
    if (status != CUDA_SUCCESS)
        return sl_report_fail(reason, "the driver gives no UUID for device %d (error %d)", device, status);
    memcpy(gpu->uuid, uuid.bytes, sizeof gpu->uuid);
    gpu->index = index_of(device, gpu->uuid);
    if (gpu->index < 0 && limits_differ())
        return sl_report_fail(reason, "neither NVML nor %s tells which GPU CUDA device %d is, and limits differ by GPU; give "
                              "all GPUs the same limits, or let the job load libnvidia-ml.so.1", sl_gpu_folder, device);
    if (gpu->index < 0) {
        SL_TELL(SL_DEBUG, "NVML does not say which GPU CUDA device %d is; all have the same limits", device);
        gpu->index = device;
    }
    if (gpu->index >= 16)
        return sl_report_fail(reason, "GPU %d cannot have a limit: only 0 to 15 can", gpu->index);
    gpu->granularity_bytes = granularity(device);
    size_t total = 0;
    if (real.cuDeviceTotalMem_v2)
        real.cuDeviceTotalMem_v2(&total, device);
    gpu->total_bytes = total;
    if (!real.cuDeviceGetName || real.cuDeviceGetName(gpu->name, sizeof gpu->name, device) != CUDA_SUCCESS)
        gpu->name[0] = 0;
    return true;
}

static bool is_limited_by_a_policy_or_an_older_tool(void) {
    bool own = sl_options_variable("SLUICE_REGION") || sl_options_variable("SLUICE_MEMORY") || sl_options_variable("SLUICE_COMPUTE");
    return !own || sl_tenant.region.agent[0];
}

/* The first process of the tenant on a GPU prints this once, and only for limits that were set for this job. */
static void check_limits(const sl_region_gpu_t *gpu) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    uint64_t limit = limits->memory_bytes[gpu->index];
    char own[SL_SIZE_TEXT_BYTES], there[SL_SIZE_TEXT_BYTES];
    int visible = 0, named = 15, ignored;
    if (is_limited_by_a_policy_or_an_older_tool())
        return;
    if (gpu->total_bytes && limit > gpu->total_bytes)
        sl_report(SL_WARN, "the memory quota of GPU %d, %s, limits nothing: the GPU has %s", gpu->index, sl_size_format(limit, own),
                  sl_size_format(gpu->total_bytes, there));
    while (named && !limits->memory_bytes[named] && !limits->compute_permille[named])
        named--;
    if (!limits_differ() || getenv("CUDA_VISIBLE_DEVICES") || !real.cuDeviceGetCount || real.cuDeviceGetCount(&visible) != CUDA_SUCCESS)
        return;
    int listed = read_folder("", &ignored);
    int count = listed > visible ? listed : visible;
    if (named >= count)
        sl_report(SL_WARN, "a limit is for GPU %d, and this machine has %d GPU%s; GPU %d has %s", named, count, count == 1 ? "" : "s",
                  gpu->index, limit ? "a memory quota of its own" : "no memory quota");
}

static void publish(sl_region_gpu_t *entry, const sl_region_gpu_t *gpu) {
    memcpy(entry->uuid, gpu->uuid, sizeof entry->uuid);
    entry->index = gpu->index;
    entry->granularity_bytes = gpu->granularity_bytes;
    entry->total_bytes = gpu->total_bytes;
    memcpy(entry->name, gpu->name, sizeof entry->name);
    uint64_t filling = FILLING | sl_tenant.self.identity;
    if (atomic_compare_exchange_strong(&entry->owner, &filling, READY))
        check_limits(gpu);
}

int sl_gpu_known(const uint8_t uuid[16]) {
    for (int number = 0; number < SL_REGION_GPU_COUNT; number++) {
        const sl_region_gpu_t *entry = &sl_tenant.region.gpus[number];
        if (entry->owner != READY)
            return SL_GPU_UNCOUNTED;
        if (memcmp(entry->uuid, uuid, sizeof entry->uuid) == 0)
            return (unsigned)entry->index < 16 ? number : SL_GPU_UNCOUNTED;
    }
    return SL_GPU_UNCOUNTED;
}

static int find_or_fill(const sl_region_gpu_t *gpu, sl_reason_t *reason) {
    int waits = 0;
    for (int number = 0; number < SL_REGION_GPU_COUNT;) {
        sl_region_gpu_t *entry = &sl_tenant.region.gpus[number];
        uint64_t owner = entry->owner;
        if (owner == READY) {
            if (memcmp(entry->uuid, gpu->uuid, sizeof gpu->uuid) == 0)
                return number;
            number++;
        } else if (!owner || (waits > PATIENCE && !sl_os_alive(owner & ~FILLING, 0))) {
            if (atomic_compare_exchange_strong(&entry->owner, &owner, FILLING | sl_tenant.self.identity))
                publish(entry, gpu);
        } else if (++waits > WAITS) {
            sl_report_fail(reason, "entry %d of the region's table of GPUs is never finished", number);
            return -1;
        } else {
            sl_os_sleep_nanos(100000);
        }
    }
    sl_report_fail(reason, "the region's table of GPUs is full: a tenant can use %d GPUs", SL_REGION_GPU_COUNT);
    return -1;
}

void sl_gpu_open(unsigned gpu) {
    _Atomic uint64_t *slots = &sl_tenant.region.gpus[gpu].slots;
    uint64_t seen = *slots;
    while (seen < sl_tenant.slot + 1 && !atomic_compare_exchange_weak(slots, &seen, sl_tenant.slot + 1))
        ;
}

static int look_up(CUdevice device) {
    static const sl_region_gpu_t nothing;
    sl_region_gpu_t gpu = nothing;
    sl_reason_t reason;
    int number = describe(device, &gpu, &reason) ? find_or_fill(&gpu, &reason) : -1;
    const sl_region_gpu_t *entry = &sl_tenant.region.gpus[number < 0 ? 0 : number];
    if (number >= 0 && ((unsigned)entry->index >= 16 || !is_granularity(entry->granularity_bytes))) {
        sl_report_fail(&reason, "entry %d of the region's table of GPUs is damaged", number);
        number = -1;
    }
    if (number < 0)
        return sl_tenant_must_refuse(&reason) ? SL_GPU_REFUSED : SL_GPU_UNCOUNTED;
    sl_gpu_open((unsigned)number);
    SL_TELL(SL_DEBUG, "CUDA device %d is GPU %d, %.96s, entry %d, limit %llu", device, entry->index, entry->name, number,
            (unsigned long long)sl_tenant.region.limits->memory_bytes[entry->index]);
    return number;
}

SL_HOT int sl_gpu_find(CUdevice device) {
    if (device < 0 || device >= SL_GPU_DEVICES)
        return SL_GPU_UNCOUNTED;
    int known = atomic_load_explicit(&entries[device], memory_order_acquire);
    if (SL_UNLIKELY(known == 0)) {
        int saved = errno;
        int found = look_up(device);
        known = found >= 0 ? found + 1 : found;
        if (found >= 0 || !sl_nvml_lacks_descriptors())
            atomic_store_explicit(&entries[device], known, memory_order_release);
        errno = saved;
    }
    return known > 0 ? known - 1 : known;
}

int sl_gpu_current(void) {
    CUdevice device;
    if (!real.cuCtxGetDevice || real.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return SL_GPU_UNCOUNTED;
    return sl_gpu_find(device);
}

SL_HOT bool sl_gpu_is_alone(void) {
    static atomic_int count;
    int known = atomic_load_explicit(&count, memory_order_relaxed);
    if (SL_UNLIKELY(!known) && real.cuDeviceGetCount && real.cuDeviceGetCount(&known) == CUDA_SUCCESS)
        atomic_store_explicit(&count, known, memory_order_relaxed);
    return known == 1;
}

SL_HOT int sl_gpu_of_context(CUcontext *context) {
    *context = NULL;
    if (real.cuCtxGetCurrent && (real.cuCtxGetCurrent(context) != CUDA_SUCCESS || !*context))
        return SL_GPU_UNCOUNTED;
    return *context && sl_gpu_is_alone() ? sl_gpu_find(0) : sl_gpu_current();
}
