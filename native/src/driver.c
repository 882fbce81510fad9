/* driver: finds and loads the real libcuda and fills `real`.
 *
 * No lock: a thread may come here out of the loader's own lock (a constructor that calls CUDA), so every thread that
 * comes early does the whole work and stores the same values. */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "os.h"
#include "real.h"

sl_real_t real;
_Static_assert(sizeof real == SL_REAL_COUNT * sizeof(void *), "one pointer for each entry point");

static sl_elf_libc_t libc;
static atomic_int libc_found;
static struct link_map *_Atomic driver;

const sl_elf_libc_t *sl_driver_libc(void) {
    if (SL_UNLIKELY(!atomic_load_explicit(&libc_found, memory_order_acquire))) {
        sl_elf_libc_t found;
        if (!sl_elf_libc(&found))
            return NULL;
        libc = found;
        atomic_store_explicit(&libc_found, 1, memory_order_release);
    }
    return &libc;
}

static void *lookup(const struct link_map *map, const char *name) {
    return sl_elf_lookup(map->l_addr, map->l_ld, name);
}

static struct link_map *open_driver(const char *path, int mode) {
    struct link_map *map = libc.dlopen(path, RTLD_LAZY | mode);
    void *init = map ? lookup(map, "cuInit") : NULL;
    return init && !sl_elf_is_own(init) ? map : NULL;
}

/* Installed as libcuda.so.1 ourselves: the driver's file has the kernel module's version in its name. */
static struct link_map *open_versioned(void) {
    static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib64",
                                          "/lib/x86_64-linux-gnu", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib"};
    char text[512], path[320];
    if (sl_os_read("/proc/driver/nvidia/version", text, sizeof text) <= 0)
        return NULL;
    for (char *rest, *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (strspn(word, "0123456789.") != strlen(word) || !strchr(word, '.'))
            continue;
        struct link_map *map = NULL;
        for (size_t i = 0; i < sizeof folders / sizeof *folders && !map; i++) {
            snprintf(path, sizeof path, "%s/libcuda.so.%s", folders[i], word);
            map = open_driver(path, 0);
        }
        return map;
    }
    return NULL;
}

static struct link_map *find_driver(bool may_open) {
    struct link_map *map = open_driver("libcuda.so.1", RTLD_NOLOAD);
    if (map || !may_open)
        return map;
    const char *path = secure_getenv("SLUICE_DRIVER");
    if (path && *path)
        map = open_driver(path, 0);
    if (!map)
        map = open_driver("libcuda.so.1", 0);
    if (!map)
        map = open_versioned();
    if (libc.dlerror)
        libc.dlerror(); /* what failed on the way is not the program's error */
    return map;
}

bool sl_driver_load(bool may_open) {
    if (atomic_load_explicit(&driver, memory_order_acquire))
        return true;
    if (!sl_driver_libc())
        return false;
    int saved = errno;
    struct link_map *map = find_driver(may_open);
    errno = saved;
    if (!map)
        return false;
    void **slots = (void **)&real;
    for (unsigned i = 0; i < SL_REAL_COUNT; i++)
        __atomic_store_n(&slots[i], lookup(map, sl_entry_names[i]), __ATOMIC_RELAXED);
    atomic_store_explicit(&driver, map, memory_order_release);
    return true;
}

void *sl_driver_substitute(void *function) {
    if (!sl_driver_load(false))
        return function;
    void *const *slots = (void *const *)&real;
    for (unsigned i = 0; i < sl_entry_hook_count; i++)
        if (slots[sl_entry_hooks[i].index] == function)
            return sl_entry_hooks[i].wrapper;
    return function;
}

void *sl_driver_lookup(const char *name) {
    return sl_driver_load(true) ? lookup(atomic_load(&driver), name) : NULL;
}

static int absent(void) {
    return CUDA_ERROR_NOT_FOUND;
}

void *sl_entry_resolve(unsigned index) {
    void *function = sl_driver_load(true) ? ((void *const *)&real)[index] : NULL;
    return function ? function : (void *)absent;
}
