/* driver: finds and loads the real libcuda and libnvidia-ml and fills their tables `real` and `real_nvml`.
 *
 * There is no lock, because a thread may call this while it holds the loader's lock (a constructor that calls CUDA). Instead, every
 * early thread does the whole work, and all of them store the same values. */
#define _GNU_SOURCE
#include "driver/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_entries.h"
#include "os/os.h"

#define PLACES 2048 /* a power of two, twice as many as there can be wrappers at least */
_Static_assert(SL_ENTRY_COUNT * 2 <= PLACES, "half of the places stay empty");

/* A wrapper by the address of the real function. os/index.h needs a lock, and its table grows; this one may be filled in a constructor. */
struct sl_driver_place {
    void *real;
    void *wrapper;
};

static struct sl_driver_place cuda_places[PLACES], nvml_places[PLACES];
sl_driver_library_t sl_driver_cuda = {"libcuda.so", "SLUICE_DRIVER", "cuInit", &sl_entry_cuda, cuda_places, NULL};
sl_driver_library_t sl_driver_nvml = {"libnvidia-ml.so", NULL, "nvmlInit_v2", &sl_entry_nvml, nvml_places, NULL};

static sl_elf_libc_t libc;
static atomic_int libc_found;

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

static struct link_map *open_file(const sl_driver_library_t *library, const char *path, int mode) {
    struct link_map *map = libc.dlopen(path, RTLD_LAZY | mode);
    void *probe = map ? lookup(map, library->probe) : NULL;
    return probe && !sl_elf_is_own(probe) ? map : NULL;
}

/* Sluice may be installed as libcuda.so.1. Then the driver's file is found by the kernel module's version in its name. */
static struct link_map *open_versioned(const sl_driver_library_t *library) {
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
            snprintf(path, sizeof path, "%s/%s.%s", folders[i], library->stem, word);
            map = open_file(library, path, 0);
        }
        return map;
    }
    return NULL;
}

static struct link_map *find(const sl_driver_library_t *library, bool may_open) {
    char name[32];
    snprintf(name, sizeof name, "%s.1", library->stem);
    struct link_map *map = open_file(library, name, RTLD_NOLOAD);
    if (map || !may_open)
        return map;
    const char *path = library->variable ? secure_getenv(library->variable) : NULL;
    if (path && *path)
        map = open_file(library, path, 0);
    if (!map)
        map = open_file(library, name, 0);
    if (!map)
        map = open_versioned(library);
    if (libc.dlerror)
        libc.dlerror(); /* removes the error of our attempts, which the program must not see */
    return map;
}

/* The place of the function, or the empty place where it belongs. */
static struct sl_driver_place *place_of(struct sl_driver_place *places, const void *real) {
    uint64_t at = ((uintptr_t)real >> 4) * 0x9e3779b97f4a7c15ull >> 53;
    void *there;
    while ((there = __atomic_load_n(&places[at].real, __ATOMIC_ACQUIRE)) && there != real)
        at = (at + 1) % PLACES;
    return &places[at];
}

/* Threads that do this at the same time insert the same functions in the same order. So each function gets the same place. */
static void place_wrappers(const sl_driver_library_t *library) {
    const sl_entry_table_t *entries = library->entries;
    for (unsigned i = 0; i < entries->wrapper_count; i++) {
        void *real = entries->real[entries->wrappers[i].index];
        struct sl_driver_place *place = real ? place_of(library->places, real) : NULL;
        if (!place || place->real)
            continue;
        __atomic_store_n(&place->wrapper, entries->wrappers[i].wrapper, __ATOMIC_RELAXED);
        __atomic_store_n(&place->real, real, __ATOMIC_RELEASE);
    }
}

bool sl_driver_load(sl_driver_library_t *library, bool may_open) {
    if (atomic_load_explicit(&library->map, memory_order_acquire))
        return true;
    if (!sl_driver_libc())
        return false;
    int saved = errno;
    struct link_map *map = find(library, may_open);
    errno = saved;
    if (!map)
        return false;
    const sl_entry_table_t *entries = library->entries;
    for (unsigned i = 0; i < entries->count; i++)
        __atomic_store_n(&entries->real[i], lookup(map, entries->names[i]), __ATOMIC_RELAXED);
    place_wrappers(library);
    if (library == &sl_driver_cuda)
        sl_driver_found();
    atomic_store_explicit(&library->map, map, memory_order_release);
    return true;
}

void *sl_driver_substitute(sl_driver_library_t *library, void *function) {
    if (!sl_driver_load(library, false))
        return function;
    const struct sl_driver_place *place = place_of(library->places, function);
    return place->real ? place->wrapper : function;
}

void *sl_driver_lookup(const char *name) {
    return sl_driver_load(&sl_driver_cuda, true) ? lookup(atomic_load(&sl_driver_cuda.map), name) : NULL;
}

static int absent(void) {
    return CUDA_ERROR_NOT_FOUND;
}

void *sl_entry_resolve(unsigned index) {
    void *function = sl_driver_load(&sl_driver_cuda, true) ? sl_entry_cuda.real[index] : NULL;
    return function ? function : (void *)absent;
}
