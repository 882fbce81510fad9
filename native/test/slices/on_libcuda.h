/* What libcuda does with the kernel driver: a client, a device, and groups of three channels. The test itself is the kernel driver: it defines
 * ioctl, which the library fake_rm calls by its own table of addresses. */
#ifndef ON_LIBCUDA_H
#define ON_LIBCUDA_H

#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>

#include "driver/driver.h"
#include "slices/channels.h"
#include "slices/hook.h"
#include "tenant/switches/options.h"

enum { CLIENT = 0xc1d00001, DEVICE = 0x5c000001, SUBDEVICE = 0x5c000002, GROUP = 0x5c000010 };

static bool counting; /* calls from now on are the library's */

static int (*call)(int, unsigned long, void *);
static int fd = -1;

static inline void allocate(uint32_t parent, uint32_t object, uint32_t class, bool longer, bool wrapped) {
    sl_rm_alloc_long_t words = {.client = class == 0x41 ? 0 : CLIENT, .parent = parent, .object = object, .class = class};
    sl_rm_alloc_t shorter = {.client = class == 0x41 ? 0 : CLIENT, .parent = parent, .object = object, .class = class};
    void *parameters = longer ? (void *)&words : (void *)&shorter;
    uint32_t bytes = longer ? sizeof words : sizeof shorter;
    sl_rm_xfer_t xfer = {SL_RM_ALLOC, bytes, (uintptr_t)parameters};
    if (wrapped)
        CHECK(call(fd, _IOC(3, 'F', SL_RM_XFER, sizeof xfer), &xfer) == 0);
    else
        CHECK(call(fd, _IOC(3, 'F', SL_RM_ALLOC, bytes), parameters) == 0);
}

static inline void release(uint32_t object) {
    sl_rm_free_t words = {CLIENT, DEVICE, object, 0};
    CHECK(call(fd, _IOC(3, 'F', SL_RM_FREE, sizeof words), &words) == 0);
}

static inline uint32_t group_of(unsigned number) {
    return GROUP + number * 16;
}

static inline void make_group(unsigned number) {
    allocate(DEVICE, group_of(number), SL_RM_GROUP, number % 2, number % 3 == 2);
    for (uint32_t i = 1; i <= 3; i++)
        allocate(group_of(number), group_of(number) + i, 0xc86f, true, false);
    uint64_t micros = 2048;
    sl_rm_control_t control = {CLIENT, group_of(number), SL_RM_SET_SLICE, 0, (uintptr_t)&micros, sizeof micros, 0};
    errno = 0;
    CHECK(call(fd, SL_RM_CONTROL_REQUEST, &control) == 0 && errno == 77, "errno is %d", errno);
}

static inline void begin_driver(unsigned groups) {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    allocate(0, CLIENT, 0x41, true, false);
    allocate(CLIENT, DEVICE, SL_RM_DEVICE, true, false);
    allocate(DEVICE, SUBDEVICE, SL_RM_SUBDEVICE, false, false);
    for (unsigned i = 0; i < groups; i++)
        make_group(i);
    counting = true;
}

static inline void load(const char *path) {
    struct link_map *map = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(map, "%s", dlerror());
    *(void **)&call = dlsym(map, "fake_rm_call");
    sl_driver_cuda.map = map;
    sl_hook_begin();
}

static inline void begin(unsigned groups) {
    sl_options_slices = SL_OPTIONS_SLICES_ON;
    load(FAKE_RM);
    CHECK(sl_hook_is_set());
    begin_driver(groups);
}

#endif
