/* module: code on the GPU.
 *
 * The library reads from an image what it takes, and reserves that before it asks the driver. For a module these are its variables,
 * which the driver takes at once, and with eager loading the code. For a library these are its variables, which the driver takes with
 * the first launch. Launches also load lazy code. It is booked when the program next allocates something.
 *
 * For PTX the library adds up the declared variables, which is cheap beside the compiler's work. The sum is an upper bound. If it does
 * not fit, the library links the text and reads the cubin. Linking always would compile every text twice (11 ms for a small one on an
 * H200).
 *
 * An image that cannot be read, most often because it is compressed, is loaded first. If the tenant is then over its quota, the call is
 * undone. A module smaller than a block is treated in the same way if no whole block fits: the driver may have room for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/driver.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/code/code_size.h"
#include "memory/overhead.h"
#include "memory/promise.h"
#include "real.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"
#include "trace/trace.h"

#define BLOCK_BYTES (2ull << 20)
#define LARGEST_FILE (1ll << 30)

enum { EAGER_LOADING = 1, INPUT_PTX = 1, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

/* A module belongs to the current context. */
static int gpu_of_module(void) {
    return sl_tenant_attach() == SL_TENANT_ATTACHED ? sl_gpu_current() : SL_GPU_UNCOUNTED;
}

/* A library goes to every context. */
static int gpus_of_library(void) {
    return sl_tenant_attach() == SL_TENANT_ATTACHED ? SL_OVERHEAD_ALL : SL_GPU_UNCOUNTED;
}

static bool loads_eagerly(void) {
    CUmoduleLoadingMode mode;
    return !real.cuModuleGetLoadingMode || (real.cuModuleGetLoadingMode(&mode) == CUDA_SUCCESS && mode == EAGER_LOADING);
}

static unsigned capability(void) {
    CUdevice device = 0;
    int major = 0, minor = 0;
    if (real.cuCtxGetDevice)
        real.cuCtxGetDevice(&device);
    if (real.cuDeviceGetAttribute) {
        real.cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, device);
        real.cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, device);
    }
    return (unsigned)(major * 10 + minor);
}

/* Needs a current context, and takes no memory on the GPU. False: the text cannot be linked, so the upper bound counts. */
static bool link_text(sl_code_size_t *size) {
    CUlinkState state;
    void *cubin;
    size_t bytes;
    if (!real.cuLinkCreate_v2 || !real.cuLinkAddData_v2 || !real.cuLinkComplete || !real.cuLinkDestroy ||
        real.cuLinkCreate_v2(0, NULL, NULL, &state) != CUDA_SUCCESS)
        return false;
    bool linked = real.cuLinkAddData_v2(state, INPUT_PTX, (void *)size->ptx, size->ptx_length + 1, "sluice", 0, NULL, NULL) ==
                      CUDA_SUCCESS && real.cuLinkComplete(state, &cubin, &bytes) == CUDA_SUCCESS;
    sl_code_size_t found = linked ? sl_code_size(cubin, bytes, 0) : (sl_code_size_t){.known = false};
    real.cuLinkDestroy(state);
    if (found.known)
        *size = found;
    return found.known;
}

/* Variables that the driver takes later share blocks with others. What it takes at once fills whole blocks. */
static uint64_t needed_bytes(const sl_code_size_t *size, bool eager, bool later) {
    uint64_t bytes = eager ? size->all_bytes : size->data_bytes;
    return later ? bytes : (bytes + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
}

/* False: the image does not fit. */
static bool begin(sl_overhead_call_t *call, int gpu, bool is_library, const void *image, size_t length) {
    if (!sl_overhead_is_limited(gpu))
        return sl_overhead_begin(call, gpu, 0, false);
    sl_code_size_t size = sl_code_size(image, length, capability());
    bool eager = loads_eagerly(), later = is_library && !eager;
    uint64_t bytes = size.known ? needed_bytes(&size, eager, later) : 0;
    bool small = bytes <= BLOCK_BYTES, fits = sl_overhead_begin(call, gpu, bytes, !small && !size.ptx);
    if (!fits && !small && size.ptx) {
        if (link_text(&size))
            bytes = needed_bytes(&size, eager, later);
        small = bytes <= BLOCK_BYTES;
        fits = sl_overhead_begin(call, gpu, bytes, !small);
    }
    if (!fits && small)
        fits = sl_overhead_begin(call, gpu, 0, false);
    if (!fits)
        sl_ledger_refuse(call->grown_gpu, bytes);
    call->later = later;
    return fits;
}

/* A copy of the file, because reading a mapped file that another process truncates raises SIGBUS. */
static char *read_file(const char *path, size_t *length) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    off_t end = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
    char *image = MAP_FAILED;
    if (end > 0 && end < LARGEST_FILE && lseek(file, 0, SEEK_SET) == 0)
        image = mmap(NULL, (size_t)end + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ssize_t got = 1;
    for (*length = 0; image != MAP_FAILED && got > 0 && *length < (size_t)end; *length += got > 0 ? (size_t)got : 0)
        got = read(file, image + *length, (size_t)end - *length);
    if (file >= 0)
        close(file);
    *length = image != MAP_FAILED ? (size_t)end : 0;
    return image == MAP_FAILED ? NULL : image;
}

static bool begin_file(sl_overhead_call_t *call, int gpu, bool is_library, const char *path) {
    size_t length = 0;
    int saved = errno;
    char *image = path && sl_overhead_is_limited(gpu) ? read_file(path, &length) : NULL;
    bool fits = begin(call, gpu, is_library, image, length);
    if (image)
        munmap(image, length + 1);
    errno = saved;
    return fits;
}

static CUcontext current_context(void) {
    CUcontext context = NULL;
    return real.cuCtxGetCurrent && real.cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : NULL;
}

#define LOAD_HOOK(function, result, unload, fits, owner, parameters, ...)                    \
    CUresult hook_##function parameters {                                                    \
        if (!SL_DRIVER_HAS(function))                                                        \
            return CUDA_ERROR_NOT_FOUND;                                                     \
        sl_overhead_call_t call;                                                             \
        if (!(fits))                                                                         \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                 \
        CUresult status = real.function(__VA_ARGS__);                                        \
        bool done = status == CUDA_SUCCESS, kept = sl_overhead_end(&call, done);             \
        if (done && (kept || !real.unload))                                                  \
            sl_promise_keep((uintptr_t)*result, owner, &call);                               \
        if (kept || !done || !real.unload)                                                   \
            return status;                                                                   \
        real.unload(*result);                                                                \
        *result = NULL;                                                                      \
        sl_overhead_refuse(&call);                                                           \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                     \
    }
#define MODULE_HOOK(function, fits, parameters, ...) \
    LOAD_HOOK(function, module, cuModuleUnload, fits, current_context(), parameters, __VA_ARGS__)
MODULE_HOOK(cuModuleLoad, begin_file(&call, gpu_of_module(), false, fname), (CUmodule *module, const char *fname), module, fname)
MODULE_HOOK(cuModuleLoadData, begin(&call, gpu_of_module(), false, image, SIZE_MAX),
            (CUmodule *module, const void *image), module, image)
MODULE_HOOK(cuModuleLoadDataEx, begin(&call, gpu_of_module(), false, image, SIZE_MAX),
            (CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues),
            module, image, numOptions, options, optionValues)
MODULE_HOOK(cuModuleLoadFatBinary, begin(&call, gpu_of_module(), false, fatCubin, SIZE_MAX),
            (CUmodule *module, const void *fatCubin), module, fatCubin)

#define LIBRARY_HOOK(function, fits, type, source)                                                                  \
    LOAD_HOOK(function, library, cuLibraryUnload, fits, NULL,                                                       \
              (CUlibrary *library, type source, CUjit_option *jitOptions, void **jitOptionsValues,                  \
               unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,             \
               unsigned int numLibraryOptions),                                                                     \
              library, source, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,    \
              numLibraryOptions)
LIBRARY_HOOK(cuLibraryLoadData, begin(&call, gpus_of_library(), true, code, SIZE_MAX), const void *, code)
LIBRARY_HOOK(cuLibraryLoadFromFile, begin_file(&call, gpus_of_library(), true, fileName), const char *, fileName)

#define UNLOAD_HOOK(function, type, handle, gpu)                                             \
    CUresult hook_##function(type handle) {                                                  \
        if (!SL_DRIVER_HAS(function))                                                        \
            return CUDA_ERROR_NOT_FOUND;                                                     \
        sl_overhead_call_t call;                                                             \
        sl_overhead_begin(&call, gpu, 0, false);                                             \
        sl_promise_t promise = sl_promise_leave((uintptr_t)handle, UINT64_MAX, &call);       \
        CUresult status = real.function(handle);                                             \
        sl_trace_unloaded();                                                                 \
        sl_promise_end(&promise, status == CUDA_SUCCESS);                                    \
        sl_overhead_end(&call, status == CUDA_SUCCESS);                                      \
        return status;                                                                       \
    }
UNLOAD_HOOK(cuModuleUnload, CUmodule, hmod, gpu_of_module())
UNLOAD_HOOK(cuLibraryUnload, CUlibrary, library, gpus_of_library())
