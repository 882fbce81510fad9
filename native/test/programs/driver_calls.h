/* The few driver calls that the test programs make, found with dlsym as most programs do. */
#ifndef DRIVER_CALLS_H
#define DRIVER_CALLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *driver;
static int (*cuInit)(unsigned);
static int (*cuMemAlloc_v2)(uint64_t *, size_t);
static int (*cuMemAllocManaged)(uint64_t *, size_t, unsigned);
static int (*cuMemAllocPitch_v2)(uint64_t *, size_t *, size_t, size_t, unsigned);
static int (*cuMemFree_v2)(uint64_t);
static int (*cuMemGetInfo_v2)(size_t *, size_t *);
static int (*cuDeviceTotalMem_v2)(size_t *, int);
static int (*cuDevicePrimaryCtxRetain)(void **, int);
static int (*cuDevicePrimaryCtxRelease_v2)(int);
static int (*cuDevicePrimaryCtxReset_v2)(int);
static int (*cuCtxCreate_v2)(void **, unsigned, int);
static int (*cuCtxDestroy_v2)(void *);
static int (*cuCtxSetCurrent)(void *);

static inline void *driver_function(const char *name) {
    void *function = dlsym(driver, name);
    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return function;
}

static inline void driver_load(void) {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    *(void **)&cuInit = driver_function("cuInit");
    *(void **)&cuMemAlloc_v2 = driver_function("cuMemAlloc_v2");
    *(void **)&cuMemAllocManaged = driver_function("cuMemAllocManaged");
    *(void **)&cuMemAllocPitch_v2 = driver_function("cuMemAllocPitch_v2");
    *(void **)&cuMemFree_v2 = driver_function("cuMemFree_v2");
    *(void **)&cuMemGetInfo_v2 = driver_function("cuMemGetInfo_v2");
    *(void **)&cuDeviceTotalMem_v2 = driver_function("cuDeviceTotalMem_v2");
    *(void **)&cuDevicePrimaryCtxRetain = driver_function("cuDevicePrimaryCtxRetain");
    *(void **)&cuDevicePrimaryCtxRelease_v2 = driver_function("cuDevicePrimaryCtxRelease_v2");
    *(void **)&cuDevicePrimaryCtxReset_v2 = driver_function("cuDevicePrimaryCtxReset_v2");
    *(void **)&cuCtxCreate_v2 = driver_function("cuCtxCreate_v2");
    *(void **)&cuCtxDestroy_v2 = driver_function("cuCtxDestroy_v2");
    *(void **)&cuCtxSetCurrent = driver_function("cuCtxSetCurrent");
}

/* Loads the driver and makes the primary context of a device current; exits with status 4 when the driver refuses. */
static inline void driver_begin(int device) {
    void *context;
    int status = cuInit(0);
    if (status == 0)
        status = cuDevicePrimaryCtxRetain(&context, device);
    if (status == 0)
        status = cuCtxSetCurrent(context);
    if (status != 0) {
        printf("init %d\n", status);
        exit(4);
    }
}

static inline void driver_open(void) {
    driver_load();
    driver_begin(0);
}

#endif
