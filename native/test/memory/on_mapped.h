/* A tenant with mapped memory on two simulated GPUs of 1 GiB, for the tests of memory/mapped. Each test is a process of its own. */
#ifndef ON_MAPPED_H
#define ON_MAPPED_H

#include "check.h"

#include <stdatomic.h>
#include <sys/stat.h>

#include "driver/driver.h"
#include "hooks.h"
#include "memory/kept.h"
#include "memory/mapped/mapped.h"
#include "real.h"
#include "tenant/accounts.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define GPUS 2

static CUcontext contexts[GPUS];
static uint64_t taken_before[GPUS];
static pid_t world; /* whose GPUs and tenant a process uses; 0: its own */

#define MUST(call) CHECK((call) == CUDA_SUCCESS, "%s", #call)

static inline uint64_t taken(int device) {
    size_t free_bytes, total;
    CUcontext popped;
    MUST(real.cuCtxPushCurrent_v2(contexts[device]));
    MUST(real.cuMemGetInfo_v2(&free_bytes, &total));
    MUST(real.cuCtxPopCurrent_v2(&popped));
    return total - free_bytes;
}

static inline void begin(const char *memory, const char *faults) {
    setenv("SLUICE_TENANT", "mapped", 1);
    setenv("SLUICE_MAPPED", "1", 0);
    setenv("SLUICE_SIM_GPUS", "2", 1);
    setenv("SLUICE_SIM_MEMORY", "1g", 0);
    setenv("SLUICE_SIM_CONTEXT", "0", 1);
    if (memory)
        setenv("SLUICE_MEMORY", memory, 1);
    if (faults)
        setenv("SLUICE_SIM_FAULTS", faults, 1);
    char state[64], folder[64];
    int number = (int)(world ? world : getpid());
    snprintf(state, sizeof state, "%s/state-%d", test_folder, number);
    setenv("SLUICE_SIM_STATE", state, 1);
    snprintf(folder, sizeof folder, "%s/%d", test_folder, number);
    mkdir(folder, 0700);
    setenv("SLUICE_RUNTIME_DIR", folder, 1);
    MUST(hook_cuInit(0));
    for (int device = 0; device < GPUS; device++)
        MUST(hook_cuDevicePrimaryCtxRetain(&contexts[device], device));
    for (int device = GPUS; device--;) {
        MUST(real.cuCtxSetCurrent(contexts[device]));
        taken_before[device] = taken(device);
    }
}

static inline const sl_region_account_t *account(int device) {
    return sl_accounts_own((unsigned)sl_gpu_find(device));
}

static inline uint64_t charged(int device) {
    return account(device)->linear_bytes + account(device)->in_flight_bytes;
}

/* The ledger says what the driver says. The attendant may be giving spare memory back: look again. */
static inline void check_ledger(void) {
    for (int device = 0; device < GPUS; device++) {
        uint64_t booked = 0, there = 1;
        for (int look = 0; look < 20 && booked != there; look++) {
            usleep(look ? 2000 : 0);
            booked = charged(device);
            there = taken(device) - taken_before[device];
        }
        CHECK(booked == there, "GPU %d: charged %llu, taken %llu", device, (unsigned long long)booked, (unsigned long long)there);
    }
}

/* Spare memory goes. */
static inline void end_spare(void) {
    for (int device = 0; device < GPUS; device++)
        sl_kept_reclaim((unsigned)sl_gpu_find(device));
}

static inline void check_empty(void) {
    check_ledger();
    end_spare();
    check_ledger();
    for (int device = 0; device < GPUS; device++)
        CHECK(charged(device) == 0 && account(device)->allocations == 0, "GPU %d: %llu bytes, %lld allocations", device,
              (unsigned long long)charged(device), (long long)account(device)->allocations);
}

static inline CUdeviceptr take(size_t bytes) {
    CUdeviceptr address = 0;
    MUST(hook_cuMemAlloc_v2(&address, bytes));
    CHECK(sl_mapped_has(address) && address % 512 == 0);
    return address;
}

static inline void write_mark(CUdeviceptr address, size_t bytes, uint64_t mark) {
    size_t part = bytes < 4096 ? bytes : 4096;
    MUST(real.cuMemsetD8_v2(address, (unsigned char)mark, part));
    MUST(real.cuMemsetD8_v2(address + bytes / 2, (unsigned char)mark, 1));
    MUST(real.cuMemsetD8_v2(address + bytes - part, (unsigned char)mark, part));
}

static inline void check_mark(CUdeviceptr address, size_t bytes, uint64_t mark) {
    size_t places[] = {0, bytes / 2, bytes - 1};
    for (int i = 0; i < 3; i++) {
        unsigned char found;
        MUST(real.cuMemcpyDtoH_v2(&found, address + places[i], 1));
        CHECK(found == (unsigned char)mark, "%zu of %zu: %u, not %u", places[i], bytes, found, (unsigned char)mark);
    }
}

static atomic_int hold;

static inline void wait_for_go(void *data) {
    (void)data;
    while (hold)
        usleep(1000);
}

static inline CUstream busy_stream(void) {
    CUstream stream;
    MUST(real.cuStreamCreate(&stream, 1));
    hold = 1;
    MUST(real.cuLaunchHostFunc(stream, wait_for_go, NULL));
    return stream;
}

#define RUN_APART(test)                          \
    do {                                         \
        printf("%s\n", #test);                   \
        fflush(stdout);                          \
        int status = in_child(test);             \
        CHECK(status == 0, "status %d", status); \
    } while (0)

/* The status of the program, where there is no simulated driver. */
#define SKIP_WITHOUT_DRIVER()                                                       \
    do {                                                                            \
        const char *path = getenv("SLUICE_DRIVER");                                 \
        if (!path || access(path, R_OK) != 0)                                       \
            return puts("skipped: the simulated driver is not built"), SKIPPED;     \
        use_test_folder();                                                          \
    } while (0)

#endif
