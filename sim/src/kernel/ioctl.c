/* The simulated kernel driver. It replaces the C library's ioctl in this library's table of addresses. So a library that replaces the entry
 * again sees the calls, as with a real libcuda. The program and other libraries call the C library.
 *
 * SLUICE_SIM_RM=CALL[@nth|@nth+]=ACTION,… changes the answers. CALL is one of set, get, preempt, disable, enable, group; ACTION is a status
 * (0x1b), errno, value:N (get), sleep:50ms, or lie (says OK and does nothing). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpu/settings.h"
#include "kernel/device.h"
#include "work/work.h"

enum { FREE = 0x29, CONTROL = 0x2a, ALLOC = 0x2b };
enum { GROUP = 0xa06c, CHANNEL = 0xc86f };
enum { OK = 0, INVALID_CLIENT = 0x23, NOT_SUPPORTED = 0x56, NOT_FOUND = 0x57 };
enum { OBJECTS = 1024 };

typedef struct {
    uint32_t handle, parent, class;
    int group;
} object_t;

static object_t objects[OBJECTS];
static _Atomic uint64_t slices[SIM_RM_GROUPS]; /* 0: there is no such group */
static _Atomic bool disabled[SIM_RM_GROUPS];
static _Atomic int device = -1;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void) {
    while (atomic_flag_test_and_set(&busy)) usleep(10);
}

static void unlock(void) { atomic_flag_clear(&busy); }

void sim_device_set(int fd) {
    lock();
    device = fd;
    memset(objects, 0, sizeof objects);
    for (int i = 0; i < SIM_RM_GROUPS; i++) {
        slices[i] = 0;
        disabled[i] = false;
    }
    unlock();
}

uint64_t sim_device_slice(int group) { return atomic_load(&slices[group]); }
bool sim_device_disabled(int group) { return atomic_load(&disabled[group]); }

typedef struct {
    bool happens, answers, fails, lies;
    uint32_t status;
    uint64_t value;
} fault_t;

static unsigned calls[8];

/* The setting of SLUICE_SIM_RM for this call. */
static fault_t fault_of(const char *name, unsigned kind) {
    fault_t fault = {0};
    const char *text = getenv("SLUICE_SIM_RM");
    char copy[400], *rest = copy;
    unsigned call = __atomic_add_fetch(&calls[kind], 1, __ATOMIC_RELAXED);
    if (!text || strlen(text) >= sizeof copy) return fault;
    strcpy(copy, text);
    for (char *item; (item = strsep(&rest, ","));) {
        char *action = strchr(item, '='), *nth = strchr(item, '@'), *end = NULL;
        if (!action) continue;
        *action++ = 0;
        if (nth) *nth++ = 0;
        unsigned long from = nth ? strtoul(nth, &end, 10) : 0;
        if (strcmp(item, name) != 0 || (nth && call != from && !(*end == '+' && call > from))) continue;
        uint64_t sleep_ns;
        fault.happens = true;
        if (strcmp(action, "errno") == 0) fault.fails = true;
        else if (strcmp(action, "lie") == 0) fault.lies = true;
        else if (strncmp(action, "value:", 6) == 0) fault.value = strtoull(action + 6, NULL, 0);
        else if (strncmp(action, "sleep:", 6) == 0 && sim_settings_duration(action + 6, &sleep_ns)) usleep((useconds_t)(sleep_ns / 1000));
        else fault.answers = true, fault.status = (uint32_t)strtoul(action, NULL, 0);
    }
    return fault;
}

static object_t *find(uint32_t handle) {
    for (int i = 0; handle && i < OBJECTS; i++)
        if (objects[i].handle == handle) return &objects[i];
    return NULL;
}

static void release(uint32_t handle) {
    for (int i = 0; i < OBJECTS; i++) {
        if (!objects[i].handle || (objects[i].handle != handle && objects[i].parent != handle)) continue;
        if (objects[i].class == GROUP) {
            slices[objects[i].group] = 0;
            disabled[objects[i].group] = false;
        }
        uint32_t gone = objects[i].handle;
        objects[i].handle = 0;
        if (gone != handle) release(gone);
    }
}

static uint32_t allocate(const uint32_t *words) {
    object_t object = {.handle = words[2], .parent = words[1], .class = words[3]}, *parent = find(words[1]);
    object.group = parent ? parent->group : 0;
    for (int i = 0; object.class == GROUP && i < SIM_RM_GROUPS; i++)
        if (!slices[i]) {
            slices[object.group = i] = 1000;
            break;
        }
    for (int i = 0; i < OBJECTS; i++)
        if (!objects[i].handle) {
            objects[i] = object;
            return OK;
        }
    return NOT_SUPPORTED;
}

static uint32_t switch_channels(const uint8_t *parameters, bool off, bool lies) {
    uint32_t count, channel;
    memcpy(&count, parameters + 4, 4);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        memcpy(&channel, parameters + 280 + 4 * i, 4);
        object_t *object = find(channel);
        if (!object || object->class != CHANNEL) return NOT_FOUND;
        if (lies || disabled[object->group] == off) continue;
        disabled[object->group] = off;
        if (off) sim_work_cut(object->group);
    }
    return OK;
}

/* The engine may be late; what the GPU has done by now is booked first. libcuda's lock comes before the kernel driver's. */
static void begin_switch(void) {
    sim_lock();
    sim_work_catch_up();
}

static const char *name_of(uint32_t command, const uint8_t *parameters, unsigned *kind) {
    switch (command) {
    case 0xa06c0103: return *kind = 0, "set";
    case 0xa06c0104: return *kind = 1, "get";
    case 0xa06c0105: return *kind = 2, "preempt";
    case 0x2080110b: return *kind = *parameters ? 3 : 4, *parameters ? "disable" : "enable";
    default: return NULL;
    }
}

/* A status, or -1: the call itself fails. */
static int64_t control(uint32_t *words) {
    uint64_t address, micros;
    unsigned kind = 0;
    memcpy(&address, words + 4, 8);
    uint8_t *parameters = (uint8_t *)(uintptr_t)address;
    const char *name = parameters ? name_of(words[2], parameters, &kind) : NULL;
    if (!name) return NOT_SUPPORTED;
    fault_t fault = fault_of(name, kind);
    if (fault.fails) return -1;
    if (fault.answers) return fault.status;
    if (kind >= 3) begin_switch();
    lock();
    object_t *object = find(words[1]);
    uint32_t status = object ? OK : NOT_FOUND;
    if (object && kind >= 3) status = switch_channels(parameters, kind == 3, fault.lies);
    else if (object && object->class != GROUP) status = NOT_SUPPORTED;
    else if (object && kind == 0 && !fault.lies) memcpy(&micros, parameters, 8), slices[object->group] = micros;
    else if (object && kind == 1) memcpy(parameters, fault.happens && fault.value ? &fault.value : (uint64_t[]){slices[object->group]}, 8);
    unlock();
    if (kind >= 3) sim_unlock();
    return status;
}

static int serve(unsigned long request, uint32_t *words) {
    int64_t status = OK;
    switch (_IOC_NR(request)) {
    case ALLOC:
        if (words[3] == GROUP && fault_of("group", 5).happens) status = NOT_SUPPORTED;
        lock();
        if (!status) status = allocate(words);
        unlock();
        words[_IOC_SIZE(request) >= 48 ? 10 : 7] = (uint32_t)status;
        return 0;
    case FREE:
        lock();
        release(words[2]);
        unlock();
        words[3] = OK;
        return 0;
    case CONTROL:
        status = control(words);
        if (status < 0) return errno = EPERM, -1;
        words[7] = (uint32_t)status;
        return 0;
    }
    return errno = ENOTTY, -1;
}

static int kernel_ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (fd < 0 || fd != atomic_load(&device) || _IOC_TYPE(request) != 'F') return (int)syscall(SYS_ioctl, fd, request, argument);
    return serve(request, argument);
}

/* The loader may have made the table read-only. */
__attribute__((constructor)) static void take_place(void) {
#ifdef __x86_64__
    void **entry;
    __asm__("leaq ioctl@GOTPCREL(%%rip), %0" : "=r"(entry));
    uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)entry & ~(bytes - 1);
    if (mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) == 0) *entry = (void *)kernel_ioctl;
#endif
}
