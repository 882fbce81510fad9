/* launch: kernels pass the gate, by every form of launch. Graphs do so in graph.c, copies and sets in the generated gated.c.
 *
 * For the generated entries.c alone: a launch has eleven parameters, and to hand them on once more costs as much as the gate does. */
#ifndef SL_LAUNCH_H
#define SL_LAUNCH_H

#include "driver/driver.h"
#include "compute/gate.h"
#include "hooks.h"
#include "real.h"

#define LAUNCH_HOOK(function, default_stream, parameters, stream, f, x, y, z, threads, ...)    \
    inline __attribute__((always_inline)) CUresult hook_##function parameters {                \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                                             \
            return CUDA_ERROR_NOT_FOUND;                                                       \
        if (!sl_gate_is_on())                                                                  \
            return real.function(__VA_ARGS__);                                                 \
        sl_gate_pass_t pass;                                                                   \
        uint64_t key = sl_gate_kernel(f, x, y, z, threads);                                    \
        bool asks = SL_UNLIKELY(!sl_gate_spend(stream, default_stream, key));                  \
        if (asks && !sl_gate_enter_kernel(&pass, stream, default_stream, key))                 \
            return CUDA_ERROR_NOT_PERMITTED;                                                   \
        CUresult status = real.function(__VA_ARGS__);                                          \
        if (asks)                                                                              \
            sl_gate_leave(&pass, status);                                                      \
        else                                                                                   \
            sl_gate_spent(status);                                                             \
        return status;                                                                         \
    }

#define SHAPE                                                                                                      \
    CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,     \
        unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams
#define SHAPE_NAMES \
    f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams
#define SHAPE_HOOK(function, default_stream, parameters, ...)                                                  \
    LAUNCH_HOOK(function, default_stream, parameters, hStream, f, gridDimX, gridDimY, gridDimZ,                \
                blockDimX * blockDimY * blockDimZ, __VA_ARGS__)
SHAPE_HOOK(cuLaunchKernel, SL_GATE_LEGACY, (SHAPE, void **extra), SHAPE_NAMES, extra)
SHAPE_HOOK(cuLaunchKernel_ptsz, SL_GATE_PER_THREAD, (SHAPE, void **extra), SHAPE_NAMES, extra)
SHAPE_HOOK(cuLaunchCooperativeKernel, SL_GATE_LEGACY, (SHAPE), SHAPE_NAMES)
SHAPE_HOOK(cuLaunchCooperativeKernel_ptsz, SL_GATE_PER_THREAD, (SHAPE), SHAPE_NAMES)

/* Without a config the driver refuses by itself. */
#define CONFIG_HOOK(function, default_stream)                                                                         \
    inline __attribute__((always_inline)) CUresult hook_##function(const CUlaunchConfig *config, CUfunction f,        \
                                                                   void **kernelParams, void **extra) {               \
        if (SL_UNLIKELY(!SL_DRIVER_HAS(function)))                                                                    \
            return CUDA_ERROR_NOT_FOUND;                                                                              \
        if (!sl_gate_is_on() || !config)                                                                              \
            return real.function(config, f, kernelParams, extra);                                                     \
        sl_gate_pass_t pass;                                                                                          \
        uint64_t key = sl_gate_kernel(f, config->gridDimX, config->gridDimY, config->gridDimZ,                        \
                                      config->blockDimX * config->blockDimY * config->blockDimZ);                     \
        bool asks = SL_UNLIKELY(!sl_gate_spend(config->hStream, default_stream, key));                                \
        if (asks && !sl_gate_enter_kernel(&pass, config->hStream, default_stream, key))                               \
            return CUDA_ERROR_NOT_PERMITTED;                                                                          \
        CUresult status = real.function(config, f, kernelParams, extra);                                              \
        if (asks)                                                                                                     \
            sl_gate_leave(&pass, status);                                                                             \
        else                                                                                                          \
            sl_gate_spent(status);                                                                                    \
        return status;                                                                                                \
    }
CONFIG_HOOK(cuLaunchKernelEx, SL_GATE_LEGACY)
CONFIG_HOOK(cuLaunchKernelEx_ptsz, SL_GATE_PER_THREAD)

/* The forms before CUDA 4, whose block shape was set on the function before. */
LAUNCH_HOOK(cuLaunch, SL_GATE_LEGACY, (CUfunction f), NULL, f, 1, 1, 1, 0, f)
LAUNCH_HOOK(cuLaunchGrid, SL_GATE_LEGACY, (CUfunction f, int grid_width, int grid_height), NULL, f, (unsigned)grid_width,
            (unsigned)grid_height, 1, 0, f, grid_width, grid_height)
LAUNCH_HOOK(cuLaunchGridAsync, SL_GATE_LEGACY, (CUfunction f, int grid_width, int grid_height, CUstream hStream), hStream,
            f, (unsigned)grid_width, (unsigned)grid_height, 1, 0, f, grid_width, grid_height, hStream)

#endif
