/* A libnvidia-ml of a few functions, enough to see which caller reaches which of them. */
#define _GNU_SOURCE
#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int nvmlInit_v2(void) {
    return 0;
}
EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
    (void)device, (void)uuid, (void)length;
    return 2;
}
EXPORT int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory) {
    (void)device;
    memory[0] = 4711;
    return 0;
}
/* Newer than spec/nvml.api. */
EXPORT int nvmlBrandNewThing(void) {
    return 4712;
}

/* A library of the driver looks up functions of both: it must get them, not Sluice's wrappers. */
EXPORT void *fake_nvml_lookup(const char *library, const char *name) {
    void *volatile found = dlsym(dlopen(library, RTLD_LAZY | RTLD_NOLOAD), name);
    return found;
}
