/* A tenant on the simulated driver, for tests that call the library's parts directly; and driver calls that fail on demand. */
#ifndef ON_SIM_H
#define ON_SIM_H

#include "check.h"

#include <dlfcn.h>

#include "driver/driver.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "real.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define FAULT 999

static unsigned driver_calls;  /* of those below */
static unsigned fail_at;       /* the first that fails; 0: none */
static unsigned fail_calls;    /* how many fail from there */

static inline CUresult fault(void) {
    unsigned call = __atomic_add_fetch(&driver_calls, 1, __ATOMIC_SEQ_CST);
    return fail_at && call >= fail_at && call - fail_at < fail_calls ? FAULT : 0;
}

#define FAULTY(function, parameters, arguments)               \
    static CUresult (*true_##function) parameters;            \
    static CUresult faulty_##function parameters {            \
        CUresult status = fault();                            \
        return status ? status : true_##function arguments;   \
    }
FAULTY(cuMemCreate, (CUmemGenericAllocationHandle *h, size_t n, const CUmemAllocationProp *p, unsigned long long f), (h, n, p, f))
FAULTY(cuMemRelease, (CUmemGenericAllocationHandle h), (h))
FAULTY(cuMemMap, (CUdeviceptr a, size_t n, size_t o, CUmemGenericAllocationHandle h, unsigned long long f), (a, n, o, h, f))
FAULTY(cuMemUnmap, (CUdeviceptr a, size_t n), (a, n))
FAULTY(cuMemSetAccess, (CUdeviceptr a, size_t n, const CUmemAccessDesc *d, size_t c), (a, n, d, c))
FAULTY(cuMemGetAccess, (unsigned long long *f, const CUmemLocation *l, CUdeviceptr a), (f, l, a))
FAULTY(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *h, void *a), (h, a))
FAULTY(cuMemGetAllocationPropertiesFromHandle, (CUmemAllocationProp *p, CUmemGenericAllocationHandle h), (p, h))
FAULTY(cuMemAddressReserve, (CUdeviceptr *a, size_t n, size_t l, CUdeviceptr w, unsigned long long f), (a, n, l, w, f))
FAULTY(cuMemAddressFree, (CUdeviceptr a, size_t n), (a, n))
FAULTY(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t n, CUstream s), (to, from, n, s))
FAULTY(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t n, CUstream s), (to, from, n, s))
FAULTY(cuMemHostRegister_v2, (void *p, size_t n, unsigned f), (p, n, f))
FAULTY(cuStreamCreate, (CUstream *s, unsigned f), (s, f))
FAULTY(cuStreamSynchronize, (CUstream s), (s))
FAULTY(cuEventCreate, (CUevent *e, unsigned f), (e, f))
FAULTY(cuEventRecord, (CUevent e, CUstream s), (e, s))
FAULTY(cuEventSynchronize, (CUevent e), (e))
FAULTY(cuCtxSynchronize, (void), ())
FAULTY(cuCtxPushCurrent_v2, (CUcontext c), (c))

#define MAKE_FAULTY(function) (true_##function = real.function, real.function = faulty_##function)

static inline void make_faulty(void) {
    MAKE_FAULTY(cuMemCreate);
    MAKE_FAULTY(cuMemRelease);
    MAKE_FAULTY(cuMemMap);
    MAKE_FAULTY(cuMemUnmap);
    MAKE_FAULTY(cuMemSetAccess);
    MAKE_FAULTY(cuMemGetAccess);
    MAKE_FAULTY(cuMemRetainAllocationHandle);
    MAKE_FAULTY(cuMemGetAllocationPropertiesFromHandle);
    MAKE_FAULTY(cuMemAddressReserve);
    MAKE_FAULTY(cuMemAddressFree);
    MAKE_FAULTY(cuMemcpyDtoHAsync_v2);
    MAKE_FAULTY(cuMemcpyHtoDAsync_v2);
    MAKE_FAULTY(cuMemHostRegister_v2);
    MAKE_FAULTY(cuStreamCreate);
    MAKE_FAULTY(cuStreamSynchronize);
    MAKE_FAULTY(cuEventCreate);
    MAKE_FAULTY(cuEventRecord);
    MAKE_FAULTY(cuEventSynchronize);
    MAKE_FAULTY(cuCtxSynchronize);
    MAKE_FAULTY(cuCtxPushCurrent_v2);
}

static inline void arm(unsigned at, unsigned calls) {
    driver_calls = 0;
    fail_at = at;
    fail_calls = calls;
}

/* How many calls were made since. */
static inline unsigned disarm(void) {
    fail_at = 0;
    return driver_calls;
}

/* Two GPUs of 1 GiB, a quota on each, and a primary context on both, the first one's current. */
static inline void use_sim(const char *tenant, const char *memory) {
    if (!dlopen("libcuda.so.1", RTLD_NOW)) {
        printf("skipped: the simulated driver is not built: %s\n", dlerror());
        exit(SKIPPED);
    }
    if (!test_folder_owner)
        use_test_folder();
    char state[200];
    snprintf(state, sizeof state, "%s/sim", test_folder);
    setenv("SLUICE_SIM_STATE", state, 1);
    setenv("SLUICE_SIM_GPUS", "2", 1);
    setenv("SLUICE_SIM_MEMORY", "1g", 1);
    setenv("SLUICE_TENANT", tenant, 1);
    setenv("SLUICE_MEMORY", memory, 1);
    CHECK(sl_driver_load(&sl_driver_cuda, true) && hook_cuInit(0) == 0);
    CUcontext context;
    for (CUdevice device = 1; device >= 0; device--)
        CHECK(hook_cuDevicePrimaryCtxRetain(&context, device) == 0 && real.cuCtxSetCurrent(context) == 0);
}

static inline sl_region_account_t *account(unsigned gpu) {
    return sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu);
}

#endif
