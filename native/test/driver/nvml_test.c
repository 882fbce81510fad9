/* What Sluice itself asks NVML, in the forms in which drivers answer: entries of other lengths, a GPU that is lost, a MIG instance. Also a
 * process that has no file descriptor left when it first needs NVML. */
#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "driver/nvml.h"
#include "driver/nvml_device.h"
#include "real_nvml.h"

#define BYTES 123456789ull
#define LOST 15
#define HANDLE(number) ((nvmlDevice_t)(uintptr_t)(0x1000 + (number)))
#define PART HANDLE(7) /* a MIG instance of GPU 1 */

static const uint8_t healthy[16] = {0x11, 1}, instance[16] = {0x77, 7};
static struct {
    unsigned stride, strangers;
    bool lost; /* GPU 0 is */
    bool parted;
} fake;

static nvmlReturn_t init(void) {
    int fd = open("/dev/null", O_RDONLY);
    return fd < 0 ? 9 : close(fd);
}

/* NVML's documentation: this call fails if any GPU is lost, the other calls only for that GPU. */
static nvmlReturn_t by_uuid(const char *uuid, nvmlDevice_t *device) {
    if (fake.lost)
        return LOST;
    if (strcmp(uuid, "GPU-11010000-0000-0000-0000-000000000000") != 0)
        return 6;
    *device = HANDLE(1);
    return 0;
}
static nvmlReturn_t count(unsigned *devices) {
    *devices = 2;
    return 0;
}
static nvmlReturn_t by_index(unsigned index, nvmlDevice_t *device) {
    *device = HANDLE(index);
    return index == 0 && fake.lost ? LOST : 0;
}
static nvmlReturn_t uuid_of(nvmlDevice_t device, char *uuid, unsigned length) {
    if (device == HANDLE(0) && fake.lost)
        return LOST;
    snprintf(uuid, length, device == PART ? "MIG-77070000-0000-0000-0000-000000000000" : device == HANDLE(1) ?
             "GPU-11010000-0000-0000-0000-000000000000" : "GPU-00000000-0000-0000-0000-00000000000f");
    return 0;
}
static nvmlReturn_t index_of(nvmlDevice_t device, unsigned *index) {
    *index = device == HANDLE(1);
    return 0;
}
static nvmlReturn_t max_mig(nvmlDevice_t device, unsigned *parts) {
    *parts = 7;
    return fake.parted && device == HANDLE(1) ? 0 : 3;
}
static nvmlReturn_t mig_by_index(nvmlDevice_t device, unsigned index, nvmlDevice_t *part) {
    *part = PART;
    return device == HANDLE(1) && index == 2 ? 0 : 6;
}
static nvmlReturn_t is_mig(nvmlDevice_t device, unsigned *mig) {
    *mig = device == PART;
    return 0;
}
static nvmlReturn_t parent(nvmlDevice_t part, nvmlDevice_t *device) {
    *device = HANDLE(1);
    return part == PART ? 0 : 2;
}

/* The process itself is the last entry. */
static nvmlReturn_t processes(nvmlDevice_t device, unsigned *found, nvmlProcessInfo_t *infos) {
    (void)device;
    unsigned room = *found;
    *found = fake.strangers + 1;
    if (room < *found)
        return 7;
    for (unsigned i = 0; i < *found; i++) {
        unsigned pid = i < fake.strangers ? 1 : (unsigned)getpid();
        unsigned long long bytes = i < fake.strangers ? 77 : BYTES;
        char *entry = (char *)infos + i * fake.stride;
        memset(entry, i % 2 ? 0xff : 0, fake.stride);
        memcpy(entry, &pid, sizeof pid);
        memcpy(entry + 8, &bytes, sizeof bytes);
    }
    return 0;
}

static void use_fakes(void) {
    real_nvml = (sl_real_nvml_t){
        .nvmlInit_v2 = init, .nvmlDeviceGetHandleByUUID = by_uuid, .nvmlDeviceGetUUID = uuid_of, .nvmlDeviceGetIndex = index_of,
        .nvmlDeviceGetCount_v2 = count, .nvmlDeviceGetHandleByIndex_v2 = by_index,
        .nvmlDeviceGetMaxMigDeviceCount = max_mig, .nvmlDeviceGetMigDeviceHandleByIndex = mig_by_index,
        .nvmlDeviceIsMigDeviceHandle = is_mig, .nvmlDeviceGetDeviceHandleFromMigDeviceHandle = parent,
        .nvmlDeviceGetComputeRunningProcesses_v3 = processes};
}

/* 24 bytes in most drivers, 32 in 535.43 to 535.86, and 16 were reported too, all by the same name. */
static void should_read_entries_of_every_length(void) {
    static const unsigned strides[] = {16, 24, 32}, strangers[] = {0, 1, 2, 3, 30, 63, 64, 200};
    for (unsigned s = 0; s < 3; s++)
        for (unsigned n = 0; n < sizeof strangers / sizeof *strangers; n++) {
            uint64_t bytes = 0;
            bool listed = false;
            fake.stride = strides[s], fake.strangers = strangers[n];
            CHECK(sl_nvml_process_bytes(HANDLE(1), &bytes, &listed) && listed && bytes == BYTES,
                  "entries of %u bytes, %u strangers: listed %d, %llu bytes", fake.stride, fake.strangers, listed,
                  (unsigned long long)bytes);
        }
}

static void should_find_a_gpu_while_another_is_lost(void) {
    fake.lost = true;
    nvmlDevice_t device = sl_nvml_device(healthy);
    CHECK(device == HANDLE(1) && sl_nvml_device_index(device) == 1, "found %p", (void *)device);
    fake.lost = false;
}

static void should_find_an_instance_and_its_gpu(void) {
    fake.parted = true;
    nvmlDevice_t device = sl_nvml_device(instance);
    CHECK(device == PART && sl_nvml_device_index(device) == 1, "found %p", (void *)device);
}

static void take_descriptors(void) {
    struct rlimit few = {20, 20};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int last = -1;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;)
        last = fd;
    CHECK(!sl_nvml_device(healthy), "NVML cannot have been opened");
    for (int fd = last - 10; fd <= last; fd++)
        close(fd);
    CHECK(sl_nvml_device(healthy) == HANDLE(1), "nobody asked again");
}
static void should_ask_again_when_descriptors_are_free(void) {
    CHECK(in_child(take_descriptors) == 0);
}

int main(void) {
    use_test_folder();
    use_fakes();
    RUN(should_ask_again_when_descriptors_are_free);
    RUN(should_find_a_gpu_while_another_is_lost);
    RUN(should_find_an_instance_and_its_gpu);
    RUN(should_read_entries_of_every_length);
    return 0;
}
