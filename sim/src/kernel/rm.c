/* libcuda's side of the kernel driver: the objects that it allocates with a context, and the time slice that it asks for. */
#define _GNU_SOURCE
#include "kernel/rm.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kernel/device.h"

#define SLICE_MICROS 2048u
enum { CLIENT = 0xc1000001, DEVICE = 0x5c000001, SUBDEVICE = 0x5c000002, FIRST_GROUP = 0x5c000100, CHANNELS = 2 };

static int fd = -1;

static bool allocate(uint32_t parent, uint32_t handle, uint32_t class) {
    uint32_t words[12] = {CLIENT, parent, handle, class};
    return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'F', 0x2b, sizeof words), words) == 0 && words[10] == 0;
}

static bool control(uint32_t object, uint32_t command, void *parameters, uint32_t bytes) {
    uint32_t words[8] = {CLIENT, object, command};
    uint64_t address = (uintptr_t)parameters;
    memcpy(words + 4, &address, sizeof address);
    words[6] = bytes;
    return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'F', 0x2a, sizeof words), words) == 0 && words[7] == 0;
}

bool sim_rm_open(void) {
    if (fd >= 0) return true;
    int opened = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (opened < 0) return false;
    sim_device_set(fd = opened);
    return allocate(0, CLIENT, 0x41) && allocate(CLIENT, DEVICE, 0x80) && allocate(DEVICE, SUBDEVICE, 0x2080);
}

void sim_rm_close(void) {
    if (fd < 0) return;
    sim_device_set(-1);
    close(fd);
    fd = -1;
}

static uint32_t handle_of(int group) { return FIRST_GROUP + (uint32_t)group * 16; }

int sim_rm_make_group(void) {
    static const uint64_t micros = SLICE_MICROS;
    int group = 0;
    while (group < SIM_RM_GROUPS && sim_device_slice(group)) group++;
    if (fd < 0 || group == SIM_RM_GROUPS || !allocate(DEVICE, handle_of(group), 0xa06c)) return -1;
    for (uint32_t i = 1; i <= CHANNELS; i++) allocate(handle_of(group), handle_of(group) + i, 0xc86f);
    return control(handle_of(group), 0xa06c0103, (uint64_t[]){micros}, sizeof micros) ? group : -1;
}

void sim_rm_free_group(int group) {
    uint32_t words[4] = {CLIENT, DEVICE, handle_of(group)};
    if (group >= 0 && fd >= 0) ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'F', 0x29, sizeof words), words);
}

bool sim_rm_is_disabled(int group) { return group >= 0 && sim_device_disabled(group); }
uint64_t sim_rm_slice_micros(int group) { return group >= 0 ? sim_device_slice(group) : SLICE_MICROS; }
