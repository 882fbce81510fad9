/* CUDA's numbers of GPUs are not NVML's: a lost GPU is none of CUDA's, the fastest comes first, and programs reorder them. */
#include "check.h"

CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device);
int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);

static void set(const char *name, const char *value) { if (value) CHECK(setenv(name, value, 1) == 0); }

/* The buses of the devices, in CUDA's order, as seen by a process with these settings. */
static void should_show(const char *buses, const char *fastest, const char *order, const char *visible, const char *lost) {
    pid_t child = fork();
    if (child == 0) {
        char seen[64] = {0}, bus[16];
        int count;
        set("SLUICE_SIM_FASTEST", fastest);
        set("CUDA_DEVICE_ORDER", order);
        set("CUDA_VISIBLE_DEVICES", visible);
        set("SLUICE_SIM_LOST", lost);
        OK(cuInit(0));
        OK(cuDeviceGetCount(&count));
        for (int i = 0; i < count; i++) {
            OK(cuDeviceGetPCIBusId(bus, sizeof bus, i));
            seen[i] = bus[6];
        }
        if (strcmp(seen, buses) != 0) fprintf(stderr, "saw %s, not %s\n", seen, buses), _exit(1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(status, 0);
}

/* GPU 0 goes while it is used; the other one, and what NVML says of it, stay. */
static void should_lose_a_gpu_in_use(void) {
    CUcontext lost, healthy;
    CUdeviceptr address;
    void *device;
    unsigned count;
    set("SLUICE_SIM_LOST", "0@1s");
    OK(nvmlInit_v2());
    CUstream stream;
    lost = use_gpu();
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&address, MIB));
    usleep(1200000);
    EQUAL(cuStreamSynchronize(stream), 999);
    EQUAL(cuMemAlloc_v2(&address, MIB), 999);
    EQUAL(cuCtxSynchronize(), 999);
    OK(cuDevicePrimaryCtxRetain(&healthy, 1));
    OK(cuCtxSetCurrent(healthy));
    OK(cuMemAlloc_v2(&address, MIB));
    OK(cuMemsetD8_v2(address, 1, 16));
    OK(cuMemFree_v2(address));
    EQUAL(cuCtxCreate_v2(&lost, 0, 0), 999);
    OK(nvmlDeviceGetCount_v2(&count));
    EQUAL(count, 3);
    EQUAL(nvmlDeviceGetHandleByIndex_v2(0, &device), 15);
    OK(nvmlDeviceGetHandleByIndex_v2(1, &device));
    OK(nvmlDeviceGetHandleByPciBusId_v2("0000:07:00.0", &device));
}

int main(void) {
    set("SLUICE_SIM_GPUS", "3");
    should_show("678", NULL, NULL, NULL, NULL);
    should_show("867", "2", NULL, NULL, NULL);
    should_show("678", "2", "PCI_BUS_ID", NULL, NULL);
    should_show("86", "2", NULL, "0,1", NULL);
    should_show("78", NULL, NULL, NULL, "0");
    should_show("87", NULL, NULL, "1,0", "0");
    should_show("8", NULL, NULL, "GPU-736c7569-6365-2d73-696d-2d6770750002,GPU-736c7569-6365-2d73-696d-2d6770750000", "0");
    should_lose_a_gpu_in_use();
    return 0;
}
