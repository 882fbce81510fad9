/* module: code on the GPU, and the limits that make the driver set memory aside.
 *
 * What these calls take is known only when they took it. When the tenant is over its quota then, the call is undone and
 * the program sees that there was no memory. Loading may be lazy: what comes later, with the first launch, is booked as
 * soon as the program allocates something. */
#include "driver/driver.h"
#include "tenant/gpu.h"
#include "hooks.h"
#include "memory/overhead.h"
#include "real.h"
#include "tenant/tenant.h"
#include "trace/trace.h"

/* A module belongs to the current context. */
static int gpu_of_module(void) {
    return sl_tenant_attach() == SL_TENANT_ATTACHED ? sl_gpu_current() : SL_GPU_UNCOUNTED;
}

/* A library goes to every context. */
static int gpus_of_library(void) {
    return sl_tenant_attach() == SL_TENANT_ATTACHED ? SL_OVERHEAD_ALL : SL_GPU_UNCOUNTED;
}

#define LOAD_HOOK(function, result, unload, gpu, parameters, ...)                            \
    CUresult hook_##function parameters {                                                    \
        if (!SL_DRIVER_HAS(function))                                                        \
            return CUDA_ERROR_NOT_FOUND;                                                     \
        sl_overhead_call_t call;                                                             \
        sl_overhead_begin(&call, gpu);                                                       \
        CUresult status = real.function(__VA_ARGS__);                                        \
        if (sl_overhead_end(&call) || status != CUDA_SUCCESS || !real.unload)                \
            return status;                                                                   \
        real.unload(*result);                                                                \
        *result = NULL;                                                                      \
        sl_overhead_refuse(&call);                                                           \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                     \
    }
#define MODULE_HOOK(function, parameters, ...) \
    LOAD_HOOK(function, module, cuModuleUnload, gpu_of_module(), parameters, __VA_ARGS__)
MODULE_HOOK(cuModuleLoad, (CUmodule *module, const char *fname), module, fname)
MODULE_HOOK(cuModuleLoadData, (CUmodule *module, const void *image), module, image)
MODULE_HOOK(cuModuleLoadDataEx,
            (CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues),
            module, image, numOptions, options, optionValues)
MODULE_HOOK(cuModuleLoadFatBinary, (CUmodule *module, const void *fatCubin), module, fatCubin)

#define LIBRARY_HOOK(function, type, source)                                                                        \
    LOAD_HOOK(function, library, cuLibraryUnload, gpus_of_library(),                                                \
              (CUlibrary *library, type source, CUjit_option *jitOptions, void **jitOptionsValues,                  \
               unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,             \
               unsigned int numLibraryOptions),                                                                     \
              library, source, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,    \
              numLibraryOptions)
LIBRARY_HOOK(cuLibraryLoadData, const void *, code)
LIBRARY_HOOK(cuLibraryLoadFromFile, const char *, fileName)

#define UNLOAD_HOOK(function, type, handle, gpu)                                             \
    CUresult hook_##function(type handle) {                                                  \
        if (!SL_DRIVER_HAS(function))                                                        \
            return CUDA_ERROR_NOT_FOUND;                                                     \
        sl_overhead_call_t call;                                                             \
        sl_overhead_begin(&call, gpu);                                                       \
        CUresult status = real.function(handle);                                             \
        sl_trace_unloaded();                                                                 \
        sl_overhead_end(&call);                                                              \
        return status;                                                                       \
    }
UNLOAD_HOOK(cuModuleUnload, CUmodule, hmod, gpu_of_module())
UNLOAD_HOOK(cuLibraryUnload, CUlibrary, library, gpus_of_library())

/* Seen on an H200 with driver 580: a larger stack takes memory for all threads that can be resident, 4 GB for 16 KiB, at
 * once, and gives it back at once; the malloc heap and the printf buffer take theirs when a kernel first needs them. */
CUresult hook_cuCtxSetLimit(CUlimit limit, size_t value) {
    if (!SL_DRIVER_HAS(cuCtxSetLimit))
        return CUDA_ERROR_NOT_FOUND;
    sl_overhead_call_t call;
    sl_overhead_begin(&call, gpu_of_module());
    size_t before;
    bool known = call.count && real.cuCtxGetLimit && real.cuCtxGetLimit(&before, limit) == CUDA_SUCCESS;
    CUresult status = real.cuCtxSetLimit(limit, value);
    if (sl_overhead_end(&call) || status != CUDA_SUCCESS || !known)
        return status;
    real.cuCtxSetLimit(limit, before);
    sl_overhead_refuse(&call);
    return CUDA_ERROR_OUT_OF_MEMORY;
}
