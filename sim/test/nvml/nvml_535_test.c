/* The NVML of early 535 drivers writes 32 bytes where its callers expect 24. */
#include "check.h"

#include <stddef.h>

int nvmlInit_v2(void);
int nvmlSystemGetDriverVersion(char *version, unsigned room);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, void *processes);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *processes);

enum { ENTRY = 24, LONG_ENTRY = 32, UNTOUCHED = 0x5a };

static size_t written(int (*list)(void *, unsigned *, void *), int expected) {
    unsigned char room[64];
    unsigned count = 1;
    void *device;
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
    memset(room, UNTOUCHED, sizeof room);
    EQUAL(list(device, &count, room), expected);
    size_t bytes = sizeof room;
    while (bytes && room[bytes - 1] == UNTOUCHED) bytes--;
    return bytes;
}

static void should_write(const char *version, size_t bytes, int result) {
    pid_t child = fork();
    if (child == 0) {
        char text[32];
        setenv("SLUICE_SIM_NVML", version, 1);
        use_gpu();
        EQUAL(written(nvmlDeviceGetComputeRunningProcesses_v3, result), bytes);
        EQUAL(written(nvmlDeviceGetComputeRunningProcesses_v2, 0), ENTRY);
        OK(nvmlSystemGetDriverVersion(text, sizeof text));
        CHECK(strcmp(text, version) == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(status, 0);
}

int main(void) {
    should_write("530.41.03", ENTRY, 0);
    should_write("535.43", LONG_ENTRY, 0);
    should_write("535.86.05", LONG_ENTRY, 0);
    should_write("535.98", 0, 13);
    should_write("535.104.05", ENTRY, 0);
    should_write("580.159.04", ENTRY, 0);
    return 0;
}
