/* limit: the limits of a context that make the driver set memory aside.
 *
 * Seen on an H200 with driver 580: a stack takes its size for all threads that can be resident, at once, 3960 MiB more for
 * 16 KiB, and gives it back at once. The malloc heap and the printf buffer take nothing when they are set; the driver takes
 * them with a later call that cannot be refused. So they are charged when they are set to more than their defaults. */
#include "driver/driver.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/overhead.h"
#include "memory/promise.h"
#include "real.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

enum { STACK_SIZE = 0, PRINTF_FIFO_SIZE = 1, MALLOC_HEAP_SIZE = 2 };
enum { MULTIPROCESSORS = 16, THREADS_PER_MULTIPROCESSOR = 39 };

#define MIB (1ull << 20)
#define STACK_END (512u << 10) /* the driver refuses larger ones by itself: status 1 */
#define LARGEST (1ull << 40)

/* What the driver takes later for limits beyond its defaults, 8 MiB of heap and 8448 KiB of printf buffer: bytes = value *
 * times + plus. Measured on an H200 with driver 580, a heap of 256 MiB and a buffer of 64 MiB. */
static const struct {
    CUlimit limit;
    uint64_t beyond, times, plus;
} later[] = {
    {MALLOC_HEAP_SIZE, 8 * MIB, 1, 2 * MIB},      /* with the first launch of a kernel that calls malloc */
    {PRINTF_FIFO_SIZE, 8448 * 1024, 2, 12 * MIB}, /* when a module is loaded that calls printf */
};

static uint64_t resident_threads(void) {
    CUdevice device;
    int processors = 0, threads = 0;
    if (!real.cuCtxGetDevice || !real.cuDeviceGetAttribute || real.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        real.cuDeviceGetAttribute(&processors, MULTIPROCESSORS, device) != CUDA_SUCCESS ||
        real.cuDeviceGetAttribute(&threads, THREADS_PER_MULTIPROCESSOR, device) != CUDA_SUCCESS)
        return 0;
    return processors > 0 && threads > 0 ? (uint64_t)processors * (uint64_t)threads : 0;
}

/* What a limit of this size takes. An H200 took 4 MiB for 16 bytes more of stack, which are 4.1 by this rule. */
static uint64_t bytes_of(CUlimit limit, uint64_t value) {
    if (limit == STACK_SIZE)
        return value * resident_threads();
    for (unsigned i = 0; i < sizeof later / sizeof *later; i++)
        if (limit == later[i].limit)
            return value > later[i].beyond && value < LARGEST ? value * later[i].times + later[i].plus : 0;
    return 0;
}

/* Handles are addresses below 2^48, so this is none of them. */
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
    CUresult status = real.cuCtxSetLimit(limit, value);
    bool done = status == CUDA_SUCCESS;
    if (done && then < now)
        sl_promise_end(key_of(context, limit), now - then, &call);
    bool kept = sl_overhead_end(&call, done);
    if (done)
        sl_promise_keep(key_of(context, limit), context, &call);
    if (kept || !done || !known || computed)
        return status;
    real.cuCtxSetLimit(limit, before);
    sl_overhead_refuse(&call);
    return CUDA_ERROR_OUT_OF_MEMORY;
}
