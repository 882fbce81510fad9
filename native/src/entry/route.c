/* route: which function a program gets when it asks for one by name.
 *
 * The library first asks the real dlsym or the real cuGetProcAddress. Only the address in the answer decides whether our wrapper
 * replaces it. So versions, per-thread variants, statuses and missing functions are the driver's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>

#include "driver/driver.h"
#include "driver/entry.h"
#include "hooks.h"
#include "real.h"

typedef struct {
    void *address;
    long answered; /* 0: the C library's own function answers; the assembly jumps to it */
} answer_t;

#define PASS ((answer_t){NULL, 0})
#define ANSWER(address) ((answer_t){(address), 1})

static void *unavailable(void) {
    return NULL;
}

void *sl_route_real_dlsym __attribute__((visibility("hidden"))) = (void *)unavailable;
void *sl_route_real_dlvsym __attribute__((visibility("hidden"))) = (void *)unavailable;

static bool is_upper(char letter) {
    return letter >= 'A' && letter <= 'Z';
}

/* Calls no function of the C library: a sanitizer may be looking up the very function that would be called; see elf.c. */
static bool begins_with(const char *name, const char *start) {
    while (*start && *name == *start)
        name++, start++;
    return !*start;
}

/* The driver's library whose functions have such names; NULL: none. */
static sl_driver_library_t *library_of(const char *name) {
    if (begins_with(name, "cu") && (is_upper(name[2]) || begins_with(name + 2, "dbg")))
        return &sl_driver_cuda;
    if (begins_with(name, "nvml") && is_upper(name[4]))
        return &sl_driver_nvml;
    return NULL;
}

static void *ask(const sl_elf_libc_t *libc, void *handle, const char *name, const char *version) {
    return version ? libc->dlvsym(handle, name, version) : libc->dlsym(handle, name);
}

/* A library that was loaded privately (RTLD_LOCAL) sees a driver that it is linked with; the rest of the program does not. */
static void *ask_for_library(const sl_elf_libc_t *libc, const char *library, const char *name, const char *version) {
    void *handle = *library ? libc->dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = handle ? ask(libc, handle, name, version) : NULL;
    if (handle && libc->dlclose)
        libc->dlclose(handle);
    return found && !sl_elf_is_own(found) ? found : NULL;
}

static answer_t route_global(const sl_elf_libc_t *libc, sl_driver_library_t *library, void *handle, const char *name,
                             const char *version, sl_elf_object_t caller) {
    void *found = ask(libc, RTLD_NEXT, name, version);
    if (handle == RTLD_NEXT) {
        bool behind_us = caller.position > sl_elf_own_object().position;
        if (behind_us && (!found || sl_elf_object(found).position <= caller.position))
            return PASS;
    } else if (!found) {
        found = ask_for_library(libc, caller.name, name, version);
    }
    return ANSWER(found ? sl_driver_substitute(library, found) : NULL);
}

/* Sluice is installed as libcuda.so.1: its exports are the driver's. The driver may have functions that Sluice does not export. */
static answer_t route_installed(const sl_elf_libc_t *libc, void *handle, const char *name, const char *version) {
    if (handle == RTLD_NEXT || sl_elf_lookup_own(name))
        return PASS;
    void *found = ask(libc, handle, name, version);
    return ANSWER(found ? found : sl_driver_lookup(name));
}

static bool installed_as_driver(void) {
    static atomic_int known; /* 0 not asked, 1 no, 2 yes */
    if (!known)
        known = sl_elf_has_name(sl_elf_own_object().name, sl_driver_cuda.stem) ? 2 : 1;
    return known == 2;
}

__attribute__((visibility("hidden"))) answer_t sl_route_symbol(void *handle, const char *name, const char *version,
                                                               const void *caller) {
    const sl_elf_libc_t *libc = sl_driver_libc();
    if (SL_UNLIKELY(!libc))
        return PASS;
    if (SL_UNLIKELY(sl_route_real_dlsym != (void *)libc->dlsym)) {
        sl_route_real_dlvsym = (void *)libc->dlvsym;
        sl_route_real_dlsym = (void *)libc->dlsym;
    }
    sl_driver_library_t *library = name ? library_of(name) : NULL;
    if (!library)
        return PASS;
    sl_elf_object_t object = sl_elf_object(caller);
    if (sl_elf_has_name(object.name, sl_driver_cuda.stem) || sl_elf_has_name(object.name, sl_driver_nvml.stem))
        return PASS;
    bool global = handle == RTLD_DEFAULT || handle == RTLD_NEXT;
    if (installed_as_driver() && library == &sl_driver_cuda)
        return route_installed(libc, handle, name, version);
    if (installed_as_driver() && global)
        return PASS;
    if (global)
        return route_global(libc, library, handle, name, version, object);
    void *found = ask(libc, handle, name, version);
    if (!found)
        return ANSWER(NULL);
    if (!sl_elf_is_own(found))
        return ANSWER(sl_driver_substitute(library, found));
    if (sl_elf_is_own_handle(handle))
        return ANSWER(found);
    return route_global(libc, library, RTLD_DEFAULT, name, version, object);
}

CUresult hook_cuGetProcAddress(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags) {
    if (!SL_DRIVER_HAS(cuGetProcAddress))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuGetProcAddress(symbol, pfn, driverVersion, flags);
    if (status == CUDA_SUCCESS && pfn && *pfn)
        *pfn = sl_driver_substitute(&sl_driver_cuda, *pfn);
    return status;
}

CUresult hook_cuGetProcAddress_v2(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *symbolFound) {
    if (!SL_DRIVER_HAS(cuGetProcAddress_v2))
        return CUDA_ERROR_NOT_FOUND;
    CUresult status = real.cuGetProcAddress_v2(symbol, pfn, driverVersion, flags, symbolFound);
    if (status == CUDA_SUCCESS && pfn && *pfn)
        *pfn = sl_driver_substitute(&sl_driver_cuda, *pfn);
    return status;
}
