/* Launches, and the effects of the known kernels. sluice_spin takes its time, sluice_stamp also notes when. sluice_fill and sluice_add change
 * data. sluice_heap and sluice_print need the malloc heap and the printf buffer. Any other kernel is empty and takes the least time a
 * launch takes. */
#define _GNU_SOURCE
#include "code/module.h"

#define LEAST_NS 2000u
#define DEVICE_BYTES_PER_S 3e12

static const unsigned char sizes[][4] = {
    [SIM_KERNEL_UNKNOWN] = {0}, [SIM_KERNEL_SPIN] = {8}, [SIM_KERNEL_STAMP] = {8, 8, 8}, [SIM_KERNEL_FILL] = {8, 4, 8}, [SIM_KERNEL_ADD] = {8, 8, 8, 8},
    [SIM_KERNEL_HEAP] = {0}, [SIM_KERNEL_PRINT] = {0},
};

/* Parameters lie at multiples of their own size. */
static size_t offset_of(sim_kernel_kind_t kind, unsigned index) {
    size_t offset = 0;
    for (unsigned i = 0; i < index; i++) offset = SIM_ROUND(offset, sizes[kind][i]) + sizes[kind][i];
    return SIM_ROUND(offset, sizes[kind][index]);
}

static uint64_t parameter(const sim_work_t *work, unsigned index) {
    sim_kernel_kind_t kind = work->kernel.function->kind;
    uint64_t value = 0;
    memcpy(&value, work->kernel.parameters + offset_of(kind, index), sizes[kind][index]);
    return value;
}

static CUresult gather_extra(void **extra, unsigned char *parameters) {
    enum { END = 0, BUFFER_POINTER = 1, BUFFER_SIZE = 2 };
    const void *buffer = NULL;
    size_t size = 0;
    for (void **each = extra; (uintptr_t)*each != END; each += 2) {
        if ((uintptr_t)*each == BUFFER_POINTER) buffer = each[1];
        else if ((uintptr_t)*each == BUFFER_SIZE) size = *(size_t *)each[1];
        else return CUDA_ERROR_INVALID_VALUE;
    }
    if (buffer) memcpy(parameters, buffer, size < SIM_PARAMETER_BYTES ? size : SIM_PARAMETER_BYTES);
    return CUDA_SUCCESS;
}

CUresult sim_kernel_work(sim_work_t *work, CUfunction function, const unsigned grid[3], const unsigned block[3],
                         unsigned shared, void **values, void **extra) {
    SIM_REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    SIM_REQUIRE(grid[0] && grid[1] && grid[2] && threads && threads <= 1024 && grid[1] <= 65535 && grid[2] <= 65535, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(shared <= (unsigned)function->dynamic_shared_bytes, CUDA_ERROR_INVALID_VALUE);
    *work = (sim_work_t){.kind = SIM_WORK_KERNEL, .kernel = {.function = function, .shared_bytes = shared}};
    memcpy(work->kernel.grid, grid, sizeof work->kernel.grid);
    memcpy(work->kernel.block, block, sizeof work->kernel.block);
    if (extra) return gather_extra(extra, work->kernel.parameters);
    for (unsigned i = 0; i < 4 && sizes[function->kind][i]; i++) {
        SIM_REQUIRE(values && values[i], CUDA_ERROR_INVALID_VALUE);
        memcpy(work->kernel.parameters + offset_of(function->kind, i), values[i], sizes[function->kind][i]);
    }
    return CUDA_SUCCESS;
}

uint64_t sim_kernel_duration(const sim_work_t *work) {
    switch (work->kernel.function->kind) {
    case SIM_KERNEL_SPIN:
    case SIM_KERNEL_STAMP: return parameter(work, 0) > LEAST_NS ? parameter(work, 0) : LEAST_NS;
    case SIM_KERNEL_FILL: return LEAST_NS + (uint64_t)((double)parameter(work, 2) * 4 / DEVICE_BYTES_PER_S * 1e9);
    case SIM_KERNEL_ADD: return LEAST_NS + (uint64_t)((double)parameter(work, 3) * 12 / DEVICE_BYTES_PER_S * 1e9);
    default: return LEAST_NS;
    }
}

static bool may_use(CUdeviceptr address, uint64_t bytes) {
    sim_lock();
    CUdeviceptr base;
    size_t size;
    bool usable = sim_memory_is_usable(address, bytes)
               || (sim_host_find(address, &base, &size, NULL) && bytes <= size - (address - base));
    usable &= !sim_has_ended();
    if (usable) sim_memory_touch(address);
    sim_unlock();
    return usable;
}

/* The ring's words: places taken, the address to tell it to, then begin and end of each kernel. */
static CUresult stamp(uint64_t *ring, uint64_t count, uint64_t begin_ns, uint64_t end_ns) {
    SIM_REQUIRE(may_use((CUdeviceptr)ring, 16 + count * 16), CUDA_ERROR_ILLEGAL_ADDRESS);
    uint64_t place = __atomic_fetch_add(&ring[0], 1, __ATOMIC_RELAXED), *told = (uint64_t *)ring[1];
    if (told) {
        SIM_REQUIRE(may_use((CUdeviceptr)told, 8), CUDA_ERROR_ILLEGAL_ADDRESS);
        __atomic_store_n(told, place + 1, __ATOMIC_RELAXED);
    }
    if (place >= count) return CUDA_SUCCESS;
    ring[2 + 2 * place] = begin_ns;
    ring[3 + 2 * place] = end_ns;
    return CUDA_SUCCESS;
}

CUresult sim_kernel_apply(const sim_work_t *work, uint64_t begin_ns, uint64_t end_ns) {
    if (work->kernel.function->kind == SIM_KERNEL_STAMP)
        return stamp((uint64_t *)parameter(work, 1), parameter(work, 2), begin_ns, end_ns);
    if (work->kernel.function->kind == SIM_KERNEL_FILL) {
        uint64_t count = parameter(work, 2);
        SIM_REQUIRE(!count || may_use(parameter(work, 0), count * 4), CUDA_ERROR_ILLEGAL_ADDRESS);
        uint32_t *to = (uint32_t *)parameter(work, 0), value = (uint32_t)parameter(work, 1);
        for (uint64_t i = 0; i < count; i++) to[i] = value;
    }
    if (work->kernel.function->kind == SIM_KERNEL_ADD) {
        uint64_t count = parameter(work, 3);
        for (unsigned i = 0; i < 3 && count; i++) SIM_REQUIRE(may_use(parameter(work, i), count * 4), CUDA_ERROR_ILLEGAL_ADDRESS);
        const float *a = (const float *)parameter(work, 0), *b = (const float *)parameter(work, 1);
        float *sum = (float *)parameter(work, 2);
        for (uint64_t i = 0; i < count; i++) sum[i] = a[i] + b[i];
    }
    return CUDA_SUCCESS;
}

uint64_t sim_work_duration(const sim_work_t *work) {
    switch (work->kind) {
    case SIM_WORK_KERNEL: return sim_kernel_duration(work);
    case SIM_WORK_COPY: return sim_copy_duration(&work->copy);
    case SIM_WORK_FILL: return sim_fill_duration(&work->fill);
    default: return 0;
    }
}

/* The cost of a launch on the host. */
static void pay(void) {
    if (!sim_settings()->launch_ns) return;
    sim_unlock();
    uint64_t end = sim_state_now() + sim_settings()->launch_ns;
    while (sim_state_now() < end) __builtin_ia32_pause();
    sim_lock();
}

static CUresult launch(CUfunction function, const unsigned grid[3], const unsigned block[3], unsigned shared,
                       CUstream handle, void **values, void **extra) {
    sim_work_t work;
    CUstream stream;
    SIM_TRY(sim_kernel_work(&work, function, grid, block, shared, values, extra));
    pay();
    SIM_TRY(sim_stream_resolve(handle, &stream));
    if (!stream->tips.capture) SIM_TRY(sim_limits_prepare(stream->context, &work));
    SIM_TRY(sim_work_submit(handle, &work));
    if (!sim_settings()->launch_blocks) return CUDA_SUCCESS;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    return stream->tips.capture ? CUDA_SUCCESS : sim_stream_wait(stream);
}

CUresult sim_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                            unsigned int block_z, unsigned int shared, CUstream stream, void **values, void **extra) {
    return launch(function, (unsigned[]){grid_x, grid_y, grid_z}, (unsigned[]){block_x, block_y, block_z}, shared, stream, values, extra);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **values, void **extra) {
    SIM_REQUIRE(config && (config->attrs || !config->numAttrs), CUDA_ERROR_INVALID_VALUE);
    return launch(function, (unsigned[]){config->gridDimX, config->gridDimY, config->gridDimZ},
                  (unsigned[]){config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, config->hStream, values, extra);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                       unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **values) {
    int blocks;
    SIM_REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    SIM_TRY(sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)(block_x * block_y * block_z), shared));
    SIM_REQUIRE((uint64_t)grid_x * grid_y * grid_z <= (uint64_t)blocks * (unsigned)sim_settings()->sms, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    return sim_cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, values, NULL);
}
