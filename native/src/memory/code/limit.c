/* limit: the limits of a context that make the driver set memory aside.
 *
 * Seen on an H200 with driver 580. The driver takes the stacks of all threads that can be resident at once: 3960 MiB more for 16 KiB.
 * It also frees them at once. It takes the malloc heap only with the first launch of a kernel that calls malloc. Such a launch cannot
 * be refused, so the heap is charged when the program sets it above its default. The printf buffer is not on the GPU. */
#include "driver/driver.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/overhead.h"
#include "memory/promise.h"
#include "real.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

enum { STACK_SIZE = 0, MALLOC_HEAP_SIZE = 2 };
enum { MULTIPROCESSORS = 16, THREADS_PER_MULTIPROCESSOR = 39 };

#define MIB (1ull << 20)
#define STACK_END (512u << 10) /* the driver refuses larger ones by itself: status 1 */
#define LARGEST (1ull << 40)

#define HEAP_DEFAULT (8 * MIB)
#define HEAP_MORE (2 * MIB) /* that the driver takes besides the heap: 66 MiB for 64, 1002 for 1000 */

static uint64_t resident_threads(void) {
    CUdevice device;
    int processors = 0, threads = 0;
    if (!real.cuCtxGetDevice || !real.cuDeviceGetAttribute || real.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        real.cuDeviceGetAttribute(&processors, MULTIPROCESSORS, device) != CUDA_SUCCESS ||
        real.cuDeviceGetAttribute(&threads, THREADS_PER_MULTIPROCESSOR, device) != CUDA_SUCCESS)
        return 0;
    return processors > 0 && threads > 0 ? (uint64_t)processors * (uint64_t)threads : 0;
}

/* What a limit of this size takes. An H200 took 4 MiB for 16 more bytes of stack; this rule gives 4.1. */
static uint64_t bytes_of(CUlimit limit, uint64_t value) {
    if (limit == STACK_SIZE)
        return value * resident_threads();
    if (limit != MALLOC_HEAP_SIZE || value <= HEAP_DEFAULT)
        return 0;
    return (value < LARGEST ? value : LARGEST) + HEAP_MORE;
}

/* Handles are addresses below 2^48, so no handle has this value. */
static uint64_t key_of(CUcontext context, CUlimit limit) {
    return (uintptr_t)context | (uint64_t)(limit + 1) << 56;
}

CUresult hook_cuCtxSetLimit(CUlimit limit, size_t value) {
    if (!SL_DRIVER_HAS(cuCtxSetLimit))
        return CUDA_ERROR_NOT_FOUND;
    int gpu = sl_tenant_attach() == SL_TENANT_ATTACHED ? sl_gpu_current() : SL_GPU_UNCOUNTED;
    CUcontext context = NULL;
    size_t before = 0;
    bool known = sl_overhead_is_limited(gpu) && real.cuCtxGetLimit && real.cuCtxGetLimit(&before, limit) == CUDA_SUCCESS;
    if (known && real.cuCtxGetCurrent)
        real.cuCtxGetCurrent(&context);
    bool computed = known && (limit != STACK_SIZE || (value < STACK_END && before < STACK_END));
    uint64_t now = computed ? bytes_of(limit, before) : 0, then = computed ? bytes_of(limit, value) : 0;
    sl_overhead_call_t call;
    if (!sl_overhead_begin(&call, gpu, then > now ? then - now : 0, true)) {
        sl_ledger_refuse(call.grown_gpu, then - now);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    call.later = limit != STACK_SIZE;
    call.is_known = computed;
    sl_promise_t ends = then < now ? sl_promise_leave(key_of(context, limit), now - then, &call) : (sl_promise_t){0};
    CUresult status = real.cuCtxSetLimit(limit, value);
    bool done = status == CUDA_SUCCESS;
    sl_promise_end(&ends, done);
    bool kept = sl_overhead_end(&call, done);
    if (done)
        sl_promise_keep(key_of(context, limit), context, &call);
    if (kept || !done || !known || computed)
        return status;
    real.cuCtxSetLimit(limit, before);
    sl_overhead_refuse(&call);
    return CUDA_ERROR_OUT_OF_MEMORY;
}
