/* launch: the path of a kernel launch, from the program's call to the driver and back.
 *
 * Only the generated entries.c includes this file, and the compiler inlines everything below into each wrapper. A launch has eleven
 * parameters: passing them on once more costs as much as the gate does. The wrapper does, in this order:
 *   sl_hold_enter     marks the thread as in the driver, until sl_hold_leave
 *   sl_launch_begin   says whether the call is ordinary: neither timed nor recorded
 *   the hook          gate off: forwards. Otherwise spends credit (sl_launch_has_credit) or takes the slow path in gate.c; then forwards
 *   sl_watch_count    counts an ordinary call; sl_launch_tell counts and records any other
 * The fast path has no lock, no system call and no timing event. Graphs pass the gate in graph_launch.c, copies and sets in the
 * generated gated.c. */
#ifndef SL_LAUNCH_H
#define SL_LAUNCH_H

#include "compute/gate.h"
#include "driver/driver.h"
#include "entry/watch.h"
#include "hooks.h"
#include "real.h"

/* 0: the call is ordinary, and the wrapper only counts it. Otherwise the call is timed or recorded: the time at which it began. */
SL_INLINE uint64_t sl_launch_begin(unsigned entry) {
    if (!SL_UNLIKELY(!sl_watch_untimed(entry)))
        return 0;
    sl_watch_wait_while_held();
    sl_thread.credit.key = 0; /* the hook sets it if the launch passes the gate */
    return sl_clock_ticks() | 1;
}

/* True: the cost of the kernel is known, the thread had credit for it on this stream, and has spent it. */
SL_INLINE bool sl_launch_has_credit(CUstream stream, int default_stream, uint64_t key) {
    sl_thread.credit.key = key;
    int64_t known = sl_cost_known(sl_cost_find(key));
    return !SL_UNLIKELY(!known) && sl_credit_spend(stream, default_stream, known);
}

/* After a launch that had credit. */
SL_INLINE void sl_launch_settle(CUresult status) {
    if (SL_UNLIKELY(status != CUDA_SUCCESS))
        sl_credit_count_calls(-1);
}

/* After a launch that is timed or recorded. */
SL_INLINE void sl_launch_tell(uint64_t begin, unsigned entry, int status, uint64_t stream, uint64_t function, SL_TRACE_SHAPE) {
    uint64_t end = sl_clock_counter();
    if (SL_UNLIKELY(status != CUDA_SUCCESS) || SL_UNLIKELY(sl_thread.watch.gated_ticks) ||
        SL_UNLIKELY(!sl_trace_kernel(entry, begin, end, stream, SL_TRACE_SHAPE_NAMES)))
        return sl_watch_tell_kernel_slowly(entry, begin, status, stream, function, SL_TRACE_SHAPE_NAMES);
    sl_watch_count_told(entry, end - begin);
}

/* The hook of one form of launch: gate, forward, settle. The driver itself refuses a call with incomplete parameters. */
#define LAUNCH_HOOK(function, default_stream, parameters, complete, stream, f, x, y, z, threads, ...) \
    inline __attribute__((always_inline)) CUresult hook_##function parameters {                \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                                             \
            return CUDA_ERROR_NOT_FOUND;                                                       \
        if (!sl_gate_is_on() || !(complete))                                                   \
            return real.function(__VA_ARGS__);                                                 \
        sl_gate_pass_t pass;                                                                   \
        uint64_t key = sl_cost_kernel_key(f, x, y, z, threads);                                \
        bool asks = SL_UNLIKELY(!sl_launch_has_credit(stream, default_stream, key));           \
        if (asks && !sl_gate_enter_kernel(&pass, stream, default_stream, key))                 \
            return CUDA_ERROR_NOT_PERMITTED;                                                   \
        CUresult status = real.function(__VA_ARGS__);                                          \
        if (asks)                                                                              \
            sl_gate_leave(&pass, status);                                                      \
        else                                                                                   \
            sl_launch_settle(status);                                                          \
        return status;                                                                         \
    }

#define SHAPE                                                                                                      \
    CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,     \
        unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams
#define SHAPE_NAMES \
    f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams
#define SHAPE_HOOK(function, default_stream, parameters, ...)                                                  \
    LAUNCH_HOOK(function, default_stream, parameters, true, hStream, f, gridDimX, gridDimY, gridDimZ,          \
                blockDimX * blockDimY * blockDimZ, __VA_ARGS__)
SHAPE_HOOK(cuLaunchKernel, SL_GATE_LEGACY, (SHAPE, void **extra), SHAPE_NAMES, extra)
SHAPE_HOOK(cuLaunchKernel_ptsz, SL_GATE_PER_THREAD, (SHAPE, void **extra), SHAPE_NAMES, extra)
SHAPE_HOOK(cuLaunchCooperativeKernel, SL_GATE_LEGACY, (SHAPE), SHAPE_NAMES)
SHAPE_HOOK(cuLaunchCooperativeKernel_ptsz, SL_GATE_PER_THREAD, (SHAPE), SHAPE_NAMES)

#define CONFIG_HOOK(function, default_stream)                                                                            \
    LAUNCH_HOOK(function, default_stream, (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra), \
                config, config->hStream, f, config->gridDimX, config->gridDimY, config->gridDimZ,                        \
                config->blockDimX * config->blockDimY * config->blockDimZ, config, f, kernelParams, extra)
CONFIG_HOOK(cuLaunchKernelEx, SL_GATE_LEGACY)
CONFIG_HOOK(cuLaunchKernelEx_ptsz, SL_GATE_PER_THREAD)

/* The forms before CUDA 4. The program sets the shape of the block by a call of its own (cuFuncSetBlockShape). */
LAUNCH_HOOK(cuLaunch, SL_GATE_LEGACY, (CUfunction f), true, NULL, f, 1, 1, 1, 0, f)
LAUNCH_HOOK(cuLaunchGrid, SL_GATE_LEGACY, (CUfunction f, int grid_width, int grid_height), true, NULL, f, (unsigned)grid_width,
            (unsigned)grid_height, 1, 0, f, grid_width, grid_height)
LAUNCH_HOOK(cuLaunchGridAsync, SL_GATE_LEGACY, (CUfunction f, int grid_width, int grid_height, CUstream hStream), true, hStream,
            f, (unsigned)grid_width, (unsigned)grid_height, 1, 0, f, grid_width, grid_height, hStream)

#endif
