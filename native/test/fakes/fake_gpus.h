/* Two GPUs without a driver: enough of `real` for hooks to find out which GPU a device is. */
#ifndef FAKE_GPUS_H
#define FAKE_GPUS_H

#include "check.h"

#include "ledger/ledger.h"
#include "real.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)

static CUdevice current_device; /* of the current context; negative: there is none */
static CUcontext current_context = (CUcontext)0x1000;

static inline CUresult fake_uuid(CUuuid *uuid, CUdevice device) {
    memset(uuid->bytes, 0, sizeof uuid->bytes);
    uuid->bytes[0] = (char)(device + 1);
    return device < 2 ? 0 : 101;
}

static inline CUresult fake_current_device(CUdevice *device) {
    *device = current_device;
    return current_device < 0 ? 201 : 0;
}

static inline CUresult fake_current_context(CUcontext *context) {
    *context = current_context;
    return 0;
}

static inline CUresult fake_total(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = 1024 * MIB;
    return 0;
}

/* A tenant of its own with so much memory on each GPU. */
static inline void use_fake_gpus(const char *tenant, const char *memory) {
    use_test_folder();
    setenv("SLUICE_TENANT", tenant, 1);
    setenv("SLUICE_MEMORY", memory, 1);
    setenv("LD_LIBRARY_PATH", "/nonexistent", 1);
    real.cuDeviceGetUuid_v2 = fake_uuid;
    real.cuCtxGetDevice = fake_current_device;
    real.cuCtxGetCurrent = fake_current_context;
    real.cuDeviceTotalMem_v2 = fake_total;
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
}

static inline const sl_region_account_t *account(unsigned gpu) {
    return sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu);
}

#endif
