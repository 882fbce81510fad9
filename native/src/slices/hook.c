/* hook: see hook.h. The hook passes every call on, unchanged, to the function that libcuda would have called. */
#define _GNU_SOURCE
#include "slices/hook.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/elf_slot.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "slices/channels.h"
#include "tenant/switches/options.h"

typedef int (*ioctl_t)(int, unsigned long, ...);

static ioctl_t original;
static sl_mutex_t lock;
static _Atomic bool is_set;

/* What the call is really about; NULL: nothing that is observed. */
static const void *unwrap(const void *argument, uint32_t *escape, uint32_t *bytes) {
    sl_rm_xfer_t xfer;
    if (*escape != SL_RM_XFER || *bytes < sizeof xfer)
        return *escape == SL_RM_ALLOC || *escape == SL_RM_FREE || *escape == SL_RM_CONTROL ? argument : NULL;
    memcpy(&xfer, argument, sizeof xfer);
    *escape = xfer.escape;
    *bytes = xfer.bytes;
    return (const void *)(uintptr_t)xfer.parameters;
}

static int pass(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (_IOC_TYPE(request) != SL_RM_TYPE || !argument)
        return original(fd, request, argument);
    uint32_t escape = _IOC_NR(request), bytes = _IOC_SIZE(request);
    const void *parameters = unwrap(argument, &escape, &bytes);
    if (parameters)
        sl_channels_freeing(escape, parameters, bytes);
    int result = original(fd, request, argument);
    if (parameters && result >= 0) {
        int saved = errno;
        sl_channels_called(fd, escape, parameters, bytes);
        errno = saved;
    }
    return result;
}

/* Before its first call, libcuda's entry may lead to code in libcuda itself, which asks the loader to fill it. */
static void *target_of(void **slot, const struct link_map *map, bool late) {
    void *there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    const sl_elf_libc_t *libc = sl_driver_libc();
    bool filled = there && (!late || strcmp(sl_elf_object(there).name, map->l_name) != 0);
    return filled ? there : libc ? libc->dlsym(RTLD_DEFAULT, "ioctl") : NULL;
}

static void set(const struct link_map *map) {
    bool late = false;
    void **slot = map ? sl_elf_slot(map, "ioctl", &late) : NULL;
    void *target = slot ? target_of(slot, map, late) : NULL;
    if (!target || target == (void *)pass)
        return;
    original = (ioctl_t)target;
    atomic_store(&is_set, sl_elf_slot_store(slot, (void *)pass));
}

void sl_hook_begin(void) {
    if (SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_OFF || atomic_load(&is_set))
        return;
    int saved = errno;
    sl_mutex_lock(&lock);
    if (!atomic_load(&is_set))
        set(atomic_load(&sl_driver_cuda.map));
    sl_mutex_unlock(&lock);
    errno = saved;
}

int sl_hook_call(int fd, unsigned long request, void *parameters) {
    return original(fd, request, parameters);
}

bool sl_hook_is_set(void) {
    return atomic_load(&is_set);
}

/* The child's libcuda is the parent's, with the hook in it. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
}
SL_FORK_FORGETS(forget);
