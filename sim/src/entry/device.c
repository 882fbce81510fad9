/* The devices that CUDA shows: whole GPUs or one MIG instance, with the figures of an H200 where the settings do not say
 * otherwise. */
#define _GNU_SOURCE
#include "entry/sim.h"

#include <stdio.h>

enum { ATTRIBUTE_MULTIPROCESSORS = 16, ATTRIBUTE_PCI_BUS = 33, ATTRIBUTE_PCI_DEVICE = 34, ATTRIBUTE_POOL_HANDLES = 119 };

/* The answers of an H200 under driver 580.159.04 for attributes 1 to 147. */
static const int attributes[] = {
    0,
    1024, 1024, 1024, 64, 2147483647, 65535, 65535, 49152, 65536, 32, 2147483647, 65536, 1980000, 512, 1, 132, 0, 0,
    1, 0, 131072, 131072, 65536, 16384, 16384, 16384, 32768, 32768, 2048, 512, 1, 1, 0, 6, 0, 3201000, 6016,
    62914560, 2048, 3, 1, 32768, 2048, 1, 32768, 32768, 8192, 8192, 32768, 0, 32, 32768, 32768, 2046, 32768, 131072,
    65536, 16384, 16384, 16384, 32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046, 268435456, 131072, 65000,
    2097120, 32768, 32768, 9, 0, 32768, 1, 1, 1, 233472, 65536, 1, 0, 0, 0, 2, 0, 1, 1, 1, 0, 0, 0, 1, 1, 232448, 0,
    1, 0, 0, 1, 1, 0, 0, 32, 1, 39321600, 134217728, 1, 1024, 1, 1, 1, 1, 1, 1, 100, 9, 1, 1, 1, 1, 1, 1, 4, 1, 1, 1,
    0, -1, 0, 0, 0, 0, 0, 0, 0, 590680286, 415174878, 1, 1, 0, 1, 1, 0, 0,
};

/* Of things that an H200 has and the simulation has not: multi-device launches, fabric handles, RDMA, sparse arrays,
 * external semaphores, dma-buf, tensor maps, unified functions, pools and VMM on the host. */
static const unsigned char absent[] = {96, 110, 112, 114, 116, 117, 124, 127, 128, 129, 141, 142, 144, 145};

bool sim_device_is_known(CUdevice device) { return device >= 0 && (unsigned)device < sim_settings()->visible; }

int sim_device_gpu(CUdevice device) { return sim_settings()->visible_gpu[device]; }

static int whole_gpu(CUdevice device) { return sim_unit_gpu(sim_settings(), sim_device_gpu(device)); }

uint64_t sim_device_memory(CUdevice device) { return sim_unit_memory(sim_settings(), sim_device_gpu(device)); }

/* From a while after the first question on: one that was lost before is no device. */
bool sim_device_is_lost(CUdevice device) {
    static uint64_t first_ns;
    if (sim_settings()->lost < 0) return false;
    if (!first_ns) first_ns = sim_state_now();
    return whole_gpu(device) == sim_settings()->lost && sim_state_now() - first_ns >= sim_settings()->lost_after_ns;
}

CUdevice sim_device_of_gpu(int gpu) {
    for (int device = 0; sim_device_is_known(device); device++)
        if (sim_device_gpu(device) == gpu) return device;
    return -1;
}

CUresult sim_cuDeviceGetCount(int *count) {
    SIM_REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    *count = (int)sim_settings()->visible;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGet(CUdevice *device, int ordinal) {
    SIM_REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(ordinal), CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetName(char *name, int length, CUdevice device) {
    SIM_REQUIRE(name && length > 0, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    char text[64];
    sim_unit_name(sim_settings(), sim_device_gpu(device), text);
    snprintf(name, (size_t)length, "%s", text);
    return CUDA_SUCCESS;
}

/* The first form tells an instance's GPU, the second the instance. */
static CUresult tell_uuid(CUuuid *uuid, CUdevice device, bool of_instance) {
    SIM_REQUIRE(uuid, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    sim_unit_uuid(sim_settings(), of_instance ? sim_device_gpu(device) : whole_gpu(device), (unsigned char *)uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return tell_uuid(uuid, device, false); }
CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) { return tell_uuid(uuid, device, true); }

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    SIM_REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    *bytes = sim_device_memory(device);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceTotalMem(unsigned int *bytes, CUdevice device) {
    size_t wide;
    SIM_REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_cuDeviceTotalMem_v2(&wide, device));
    *bytes = wide > UINT32_MAX ? UINT32_MAX : (unsigned)wide;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    SIM_REQUIRE(value && attribute > 0 && attribute < (int)(sizeof attributes / sizeof *attributes), CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    *value = attributes[attribute];
    if (memchr(absent, attribute, sizeof absent)) *value = 0;
    if (attribute == ATTRIBUTE_MULTIPROCESSORS) *value = sim_unit_sms(sim_settings(), sim_device_gpu(device));
    if (attribute == ATTRIBUTE_PCI_BUS) *value = SIM_DEVICE_BUS(whole_gpu(device));
    if (attribute == ATTRIBUTE_PCI_DEVICE) *value = 0;
    if (attribute == ATTRIBUTE_POOL_HANDLES) *value = 1; /* file descriptors */
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    SIM_REQUIRE(major && minor, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    *major = 9;
    *minor = 0;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
    SIM_REQUIRE(text && length >= 13, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    snprintf(text, (size_t)length, "0000:%02X:00.0", SIM_DEVICE_BUS(whole_gpu(device)));
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
    unsigned domain = 0, bus, slot, function = 0;
    SIM_REQUIRE(device && text, CUDA_ERROR_INVALID_VALUE);
    bool read = sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3
             || (domain = 0, sscanf(text, "%x:%x.%x", &bus, &slot, &function) >= 2);
    for (int i = 0; read && sim_device_is_known(i); i++)
        if (domain == 0 && (int)bus == SIM_DEVICE_BUS(whole_gpu(i)) && slot == 0 && function == 0) return *device = i, CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device) {
    SIM_REQUIRE(supported && type == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    *supported = 0;
    return CUDA_SUCCESS;
}
