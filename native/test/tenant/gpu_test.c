/* The number of a GPU for its limits is that of nvidia-smi. The library finds it in every possible way, and never guesses where it matters.
 * CUDA's and NVML's devices are fakes, CUDA's in reverse order. */
#include "check.h"

#include <sys/stat.h>

#include "ledger/ledger.h"
#include "real.h"
#include "real_nvml.h"
#include "tenant/gpu.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define GPUS 4
#define HANDLE(number) ((nvmlDevice_t)(uintptr_t)(0x1000 + (number)))

static struct {
    int visible;        /* devices that CUDA shows; device 0 is the last GPU */
    bool knows_uuids;   /* NVML does */
    bool knows_buses;
    bool part;          /* CUDA's device is a MIG instance, whose UUID NVML may not find */
} fake;

static int gpu_of(CUdevice device) {
    return GPUS - 1 - device;
}
static CUresult get_uuid(CUuuid *uuid, CUdevice device) {
    memset(uuid, fake.part ? 0x70 : 0x10 + gpu_of(device), sizeof *uuid);
    return 0;
}
static CUresult get_count(int *count) {
    *count = fake.visible;
    return 0;
}
static CUresult get_bus(char *text, int length, CUdevice device) {
    snprintf(text, (size_t)length, "0000:%02X:00.0", 0x0A + gpu_of(device));
    return 0;
}
static CUresult total_mem(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = 100000 * MIB;
    return 0;
}
static nvmlReturn_t init(void) {
    return 0;
}
static nvmlReturn_t by_uuid(const char *uuid, nvmlDevice_t *device) {
    unsigned first;
    *device = NULL;
    if (!fake.knows_uuids || sscanf(uuid, "GPU-%2x", &first) != 1 || first < 0x10 || first >= 0x10 + GPUS)
        return 6;
    *device = HANDLE(first - 0x10);
    return 0;
}
static nvmlReturn_t by_bus(const char *bus, nvmlDevice_t *device) {
    unsigned domain, number;
    if (!fake.knows_buses || sscanf(bus, "%x:%x:", &domain, &number) != 2)
        return 6;
    *device = HANDLE(number - 0x0A);
    return 0;
}
static nvmlReturn_t index_of(nvmlDevice_t device, unsigned *index) {
    *index = (unsigned)((uintptr_t)device - 0x1000);
    return 0;
}

static void begin(const char *memory, const char *on_error) {
    real = (sl_real_t){.cuDeviceGetUuid_v2 = get_uuid, .cuDeviceGetCount = get_count, .cuDeviceTotalMem_v2 = total_mem,
                       .cuDeviceGetPCIBusId = get_bus};
    real_nvml = (sl_real_nvml_t){.nvmlInit_v2 = init, .nvmlDeviceGetHandleByUUID = by_uuid,
                                 .nvmlDeviceGetHandleByPciBusId_v2 = by_bus, .nvmlDeviceGetIndex = index_of};
    sl_gpu_folder = "/nonexistent";
    char name[32];
    snprintf(name, sizeof name, "gpu-%d", (int)getpid());
    setenv("SLUICE_TENANT", name, 1);
    setenv("SLUICE_MEMORY", memory, 1);
    setenv("SLUICE_ON_ERROR", on_error, 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
}

/* The limit says which GPU a device was taken for. */
static void expect(CUdevice device, uint64_t mebibytes, int line) {
    int found = sl_gpu_find(device);
    CHECK(found >= 0, "line %d: device %d is %d", line, device, found);
    uint64_t limit = sl_accounts_limit((unsigned)found);
    CHECK(limit == mebibytes * MIB, "line %d: device %d has %llu MiB", line, device, (unsigned long long)(limit / MIB));
}
#define EXPECT(device, mebibytes) expect(device, mebibytes, __LINE__)
#define EACH "0=100m,1=101m,2=102m,3=103m"

static void by_their_uuids(void) {
    fake.visible = GPUS, fake.knows_uuids = true;
    begin(EACH, "run");
    for (int device = 0; device < GPUS; device++)
        EXPECT(device, 103 - (unsigned)device);
}
static void should_know_gpus_by_their_uuids(void) {
    CHECK(in_child(by_their_uuids) == 0);
}

static void by_their_place(void) {
    fake.visible = GPUS, fake.knows_buses = true;
    begin(EACH, "run");
    EXPECT(0, 103);
    EXPECT(3, 100);
}
static void should_know_gpus_by_their_place_on_the_bus(void) {
    CHECK(in_child(by_their_place) == 0);
}

static void make(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/gpus/%s", test_folder, name);
    CHECK(mkdir(path, 0700) == 0);
}
static void use_folder(void) {
    static char path[128];
    snprintf(path, sizeof path, "%s/gpus", test_folder);
    sl_gpu_folder = path;
    mkdir(path, 0700);
}

static void by_folder(void) {
    fake.visible = GPUS;
    begin(EACH, "run");
    use_folder();
    for (int gpu = GPUS - 1; gpu >= 0; gpu--) {
        char name[32];
        snprintf(name, sizeof name, "0000:%02x:00.0", 0x0a + gpu);
        make(name);
    }
    EXPECT(0, 103);
    EXPECT(2, 101);
}
static void should_know_gpus_by_the_kernels_list_without_nvml(void) {
    CHECK(in_child(by_folder) == 0);
}

static void part_of_another(void) {
    fake.visible = 1, fake.part = true, fake.knows_uuids = true, fake.knows_buses = true;
    begin(EACH, "run");
    EXPECT(0, 103);
}
static void should_give_an_instance_the_limit_of_its_gpu(void) {
    CHECK(in_child(part_of_another) == 0);
}

static void one_of_many(void) {
    fake.visible = 1, fake.knows_uuids = true;
    begin(EACH, "run");
    EXPECT(0, 103);
}
static void should_not_take_the_only_visible_gpu_for_the_first(void) {
    CHECK(in_child(one_of_many) == 0);
}

static void unknown_and_failing(void) {
    fake.visible = 2;
    begin(EACH, "fail");
    CHECK(sl_gpu_find(0) == SL_GPU_REFUSED && sl_gpu_find(1) == SL_GPU_REFUSED);
}
static void unknown_and_running(void) {
    fake.visible = 2;
    begin(EACH, "run");
    CHECK(sl_gpu_find(0) == SL_GPU_UNCOUNTED && sl_gpu_find(1) == SL_GPU_UNCOUNTED);
}
static void unknown_and_alike(void) {
    fake.visible = 2;
    begin("100m", "fail");
    EXPECT(0, 100);
    EXPECT(1, 100);
}
static void shares_differ(void) {
    fake.visible = 2;
    setenv("SLUICE_COMPUTE", "1=50%", 1);
    begin("100m", "fail");
    CHECK(sl_gpu_find(0) == SL_GPU_REFUSED);
}
static void should_not_guess_where_limits_differ(void) {
    CHECK(in_child(unknown_and_failing) == 0);
    CHECK(in_child(unknown_and_running) == 0);
    CHECK(in_child(unknown_and_alike) == 0);
    CHECK(in_child(shares_differ) == 0);
}

int main(void) {
    use_test_folder();
    unsetenv("CUDA_VISIBLE_DEVICES");
    RUN(should_know_gpus_by_their_uuids);
    RUN(should_know_gpus_by_their_place_on_the_bus);
    RUN(should_know_gpus_by_the_kernels_list_without_nvml);
    RUN(should_give_an_instance_the_limit_of_its_gpu);
    RUN(should_not_take_the_only_visible_gpu_for_the_first);
    RUN(should_not_guess_where_limits_differ);
    return 0;
}
