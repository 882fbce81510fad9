/* A driver of a few functions, enough to see which caller reaches which of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT float fake_bias;
EXPORT const char *fake_last;

EXPORT int cuInit(unsigned flags) {
    fake_last = "cuInit";
    return (int)flags;
}
EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    fake_last = "cuMemAlloc_v2";
    *address = bytes;
    return 0;
}
EXPORT int cuMemFree_v2(uint64_t address) {
    fake_last = "cuMemFree_v2";
    return address == 13 ? 1 : 0;
}
EXPORT int cuMemFreeAsync_ptsz(uint64_t address, void *stream) {
    (void)address, (void)stream;
    fake_last = "cuMemFreeAsync_ptsz";
    return 0;
}
EXPORT int cuLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared,
                          void *stream, void **parameters, void **extra) {
    (void)f, (void)x, (void)y, (void)z, (void)a, (void)b, (void)c, (void)parameters, (void)extra;
    fake_last = "cuLaunchKernel";
    return (int)shared + (int)(intptr_t)stream;
}
/* Not hooked, with an argument on the stack. */
EXPORT int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph, void **dependencies, void **edges,
                                     size_t *count) {
    (void)stream, (void)id, (void)graph, (void)dependencies, (void)edges;
    return *status + (int)*count;
}
EXPORT int cuTexRefSetMipmapLevelBias(void *texture, float bias) {
    (void)texture;
    fake_bias = bias;
    return 0;
}
/* Newer than spec/cuda.api. */
EXPORT int cuBrandNewThing(void) {
    return 4711;
}

EXPORT int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *found);
EXPORT int cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}
EXPORT int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *found) {
    static const struct {
        const char *name;
        uint64_t flags;
        void *function;
    } functions[] = {{"cuMemAlloc", 0, cuMemAlloc_v2},         {"cuMemFreeAsync", 2, cuMemFreeAsync_ptsz},
                     {"cuLaunchKernel", 0, cuLaunchKernel},    {"cuGetProcAddress", 0, cuGetProcAddress_v2},
                     {"cuBrandNewThing", 0, cuBrandNewThing},  {"cuStreamGetCaptureInfo", 0, cuStreamGetCaptureInfo_v3}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(symbol, functions[i].name) == 0 && flags == functions[i].flags && version >= 3020) {
            *pfn = functions[i].function;
            if (found)
                *found = 0;
            return 0;
        }
    if (found)
        *found = 1;
    return 500;
}

/* The driver looks up its own functions: it must get them, not Sluice's wrappers. */
EXPORT void *fake_own_lookup(const char *name) {
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *volatile found = dlsym(self, name);
    return found;
}
