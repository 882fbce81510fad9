/* What the simulated NVML tells of a GPU that is said to be ill. */
#include "check.h"

typedef struct { void *device; unsigned long long type, data; unsigned instances[2]; } event_t;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *degrees);
int nvmlDeviceGetTemperatureThreshold(void *device, unsigned type, unsigned *degrees);
int nvmlDeviceGetTotalEccErrors(void *device, unsigned type, unsigned counter, unsigned long long *errors);
int nvmlEventSetCreate(void **set);
int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
int nvmlEventSetWait_v2(void *set, event_t *event, unsigned millis);
int nvmlEventSetFree(void *set);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetName(void *device, char *name, unsigned room);

#define LOST 15

/* One of two, a second after the first call: the other one goes on. */
static void lose_one(void) {
    void *devices[2];
    char name[64];
    unsigned count;
    for (unsigned i = 0; i < 2; i++) {
        OK(nvmlDeviceGetHandleByIndex_v2(i, &devices[i]));
        OK(nvmlDeviceGetName(devices[i], name, sizeof name));
    }
    usleep(1100000);
    EQUAL(nvmlDeviceGetName(devices[1], name, sizeof name), LOST);
    EQUAL(nvmlDeviceGetHandleByIndex_v2(1, &devices[1]), LOST);
    OK(nvmlDeviceGetName(devices[0], name, sizeof name));
    OK(nvmlDeviceGetCount_v2(&count));
    EQUAL(count, 2);
}

int main(void) {
    void *device, *set;
    unsigned degrees;
    unsigned long long errors;
    event_t event;
    setenv("SLUICE_SIM_TEMPERATURE", "91", 1);
    setenv("SLUICE_SIM_ECC", "2", 1);
    setenv("SLUICE_SIM_XID", "79", 1);
    setenv("SLUICE_SIM_GPUS", "2", 1);
    setenv("SLUICE_SIM_LOST", "1@1s", 1);
    OK(nvmlInit_v2());
    lose_one();
    OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
    OK(nvmlDeviceGetTemperature(device, 0, &degrees));
    EQUAL(degrees, 91);
    OK(nvmlDeviceGetTemperatureThreshold(device, 1, &degrees));
    EQUAL(degrees, 90);
    OK(nvmlDeviceGetTotalEccErrors(device, 0, 0, &errors));
    EQUAL(errors, 0);
    OK(nvmlDeviceGetTotalEccErrors(device, 1, 0, &errors));
    EQUAL(errors, 2);
    OK(nvmlEventSetCreate(&set));
    EQUAL(nvmlEventSetWait_v2(set, &event, 0), 10);
    OK(nvmlDeviceRegisterEvents(device, 8, set));
    OK(nvmlEventSetWait_v2(set, &event, 0));
    EQUAL(event.data, 79);
    CHECK(event.device == device);
    EQUAL(nvmlEventSetWait_v2(set, &event, 0), 10);
    OK(nvmlEventSetFree(set));
    OK(nvmlShutdown());
    return 0;
}
