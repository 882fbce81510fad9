/* Plain and managed device memory, as on an H200. Requests of up to 2 MiB share blocks of 2 MiB in steps of 512 bytes. The first occupant
 * takes a block, the last one gives it back. Larger requests are rounded up to 2 MiB. Managed memory takes device memory only when the
 * device first touches it. */
#include "entry/sim.h"

#define UNIT 512u
#define UNITS (SIM_BLOCK / UNIT)
#define SMALL_MOST SIM_BLOCK
#define BIN_WIDTH 64u

struct sim_small {
    sim_range_t *range;
    sim_small_t *next, *previous;
    bool of_arrays; /* which share no block with plain memory */
    unsigned used_units, longest_run;
    uint64_t used[UNITS / 64];
    uint32_t bytes[UNITS]; /* asked for, at the first unit of each allocation */
};

static void link_range(CUcontext context, sim_range_t *range) {
    range->context = context;
    range->previous = NULL;
    range->next = context->ranges;
    if (range->next) range->next->previous = range;
    context->ranges = range;
}

static void unlink_range(sim_range_t *range) {
    if (range->previous) range->previous->next = range->next;
    else range->context->ranges = range->next;
    if (range->next) range->next->previous = range->previous;
}

static CUresult take_range(CUcontext context, size_t bytes, bool low, bool charged, sim_range_t **result) {
    uint64_t taken = charged ? SIM_ROUND(bytes, SIM_BLOCK) : 0;
    SIM_REQUIRE(bytes <= 1ull << 44 && sim_state_take(sim_device_gpu(context->device), taken), CUDA_ERROR_OUT_OF_MEMORY);
    sim_range_t *range = sim_space_take(bytes, 0, low);
    if (!range) return sim_state_give(sim_device_gpu(context->device), taken), CUDA_ERROR_OUT_OF_MEMORY;
    range->asked = bytes;
    range->device = context->device;
    range->taken_bytes = taken;
    link_range(context, range);
    *result = range;
    return CUDA_SUCCESS;
}

static void give_range(sim_range_t *range) {
    sim_state_give(sim_device_gpu(range->device), range->taken_bytes);
    unlink_range(range);
    sim_space_give(range);
}

static unsigned run_at(const sim_small_t *block, unsigned from, unsigned *start) {
    while (from < UNITS && block->used[from / 64] >> from % 64 & 1) {
        uint64_t free_bits = ~block->used[from / 64] >> from % 64;
        from = free_bits ? from + (unsigned)__builtin_ctzll(free_bits) : (from / 64 + 1) * 64;
    }
    *start = from;
    while (from < UNITS && !(block->used[from / 64] >> from % 64 & 1)) {
        uint64_t used_bits = block->used[from / 64] >> from % 64;
        from = used_bits ? from + (unsigned)__builtin_ctzll(used_bits) : (from / 64 + 1) * 64;
    }
    return from - *start;
}

static void mark(sim_small_t *block, unsigned start, unsigned units, bool used) {
    for (unsigned unit = start, end = start + units, step; unit < end; unit += step) {
        step = 64 - unit % 64 < end - unit ? 64 - unit % 64 : end - unit;
        uint64_t bits = (step == 64 ? UINT64_MAX : (1ull << step) - 1) << unit % 64;
        if (used) block->used[unit / 64] |= bits;
        else block->used[unit / 64] &= ~bits;
    }
    block->used_units += used ? units : -units;
}

static void link_small(sim_small_t *block) {
    block->longest_run = 0;
    for (unsigned from = 0, start, run; (run = run_at(block, from, &start)) > 0; from = start + run)
        if (run > block->longest_run) block->longest_run = run;
    sim_small_t **bin = &block->range->context->small[block->longest_run / BIN_WIDTH];
    block->previous = NULL;
    block->next = *bin;
    if (*bin) (*bin)->previous = block;
    *bin = block;
}

static void unlink_small(sim_small_t *block) {
    if (block->previous) block->previous->next = block->next;
    else block->range->context->small[block->longest_run / BIN_WIDTH] = block->next;
    if (block->next) block->next->previous = block->previous;
}

static CUresult new_small(CUcontext context, bool low, bool of_arrays, sim_small_t **result) {
    sim_small_t *block = calloc(1, sizeof *block);
    SIM_REQUIRE(block, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult taken = take_range(context, SIM_BLOCK, low, true, &block->range);
    if (taken) return free(block), taken;
    block->range->kind = SIM_SMALL;
    block->range->detail = block;
    block->of_arrays = of_arrays;
    link_small(block);
    *result = block;
    return CUDA_SUCCESS;
}

static CUresult take_small(CUcontext context, size_t bytes, bool low, bool of_array, CUdeviceptr *address) {
    unsigned units = (unsigned)((bytes + UNIT - 1) / UNIT), start, run, from = 0;
    sim_small_t *block = NULL;
    for (unsigned bin = units / BIN_WIDTH; bin <= UNITS / BIN_WIDTH && !block; bin++)
        for (block = context->small[bin]; block; block = block->next)
            if (block->longest_run >= units && block->range->low == low && block->of_arrays == of_array) break;
    if (!block) SIM_TRY(new_small(context, low, of_array, &block));
    while ((run = run_at(block, from, &start)) < units) from = start + run;
    unlink_small(block);
    mark(block, start, units, true);
    block->bytes[start] = (uint32_t)bytes;
    link_small(block);
    *address = block->range->base + (CUdeviceptr)start * UNIT;
    return CUDA_SUCCESS;
}

static CUresult give_small(sim_small_t *block, CUdeviceptr address) {
    unsigned start = (unsigned)((address - block->range->base) / UNIT);
    SIM_REQUIRE(address % UNIT == 0 && block->bytes[start], CUDA_ERROR_INVALID_VALUE);
    unlink_small(block);
    mark(block, start, (block->bytes[start] + UNIT - 1) / UNIT, false);
    block->bytes[start] = 0;
    if (block->used_units) return link_small(block), CUDA_SUCCESS;
    give_range(block->range);
    free(block);
    return CUDA_SUCCESS;
}

static CUresult take(CUcontext context, size_t bytes, bool low, bool of_array, CUdeviceptr *address) {
    SIM_REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    if (bytes <= SMALL_MOST) return take_small(context, bytes, low, of_array, address);
    sim_range_t *range;
    SIM_TRY(take_range(context, bytes, low, true, &range));
    *address = range->base;
    return CUDA_SUCCESS;
}

CUresult sim_memory_take(CUcontext context, size_t bytes, bool low, CUdeviceptr *address) {
    return take(context, bytes, low, false, address);
}

CUresult sim_memory_take_array(CUcontext context, size_t bytes, CUdeviceptr *address) {
    return take(context, bytes, false, true, address);
}

CUresult sim_memory_give(CUdeviceptr address) {
    sim_range_t *range = sim_space_find(address);
    SIM_REQUIRE(range, CUDA_ERROR_INVALID_VALUE);
    if (range->kind == SIM_SMALL) return give_small(range->detail, address);
    if (range->kind == SIM_POOL) return sim_pool_free_now(address);
    SIM_REQUIRE((range->kind == SIM_PLAIN || range->kind == SIM_MANAGED) && range->base == address, CUDA_ERROR_INVALID_VALUE);
    give_range(range);
    return CUDA_SUCCESS;
}

/* As on an H200: a free in stream order of memory that is not from a pool waits. The memory goes when the program next waits for the stream
 * or for its context. A wait that began before the free does not count. */
typedef struct later_t {
    struct later_t *next;
    CUdeviceptr address;
    CUstream stream;
    CUcontext context;
    uint64_t id;
} later_t;

static later_t *later_list;

CUresult sim_memory_give_later(CUstream stream, CUdeviceptr address) {
    for (const later_t *each = later_list; each; each = each->next) SIM_REQUIRE(each->address != address, CUDA_ERROR_INVALID_VALUE);
    later_t *later = malloc(sizeof *later);
    SIM_REQUIRE(later, CUDA_ERROR_OUT_OF_MEMORY);
    *later = (later_t){later_list, address, stream, sim_space_find(address)->context, sim_space_next_id()};
    later_list = later;
    return CUDA_SUCCESS;
}

void sim_memory_give_waited(CUstream stream, CUcontext context, uint64_t before) {
    for (later_t **place = &later_list; *place;) {
        later_t *later = *place;
        if ((later->stream != stream && later->context != context) || later->id >= before) {
            place = &later->next;
            continue;
        }
        *place = later->next;
        sim_memory_give(later->address);
        free(later);
    }
}

static void forget_later(CUcontext context) {
    for (later_t **place = &later_list; *place;) {
        later_t *later = *place;
        if (later->context != context) {
            place = &later->next;
            continue;
        }
        *place = later->next;
        free(later);
    }
}

void sim_memory_drop(CUcontext context) {
    forget_later(context);
    while (context->ranges) {
        if (context->ranges->kind == SIM_SMALL || context->ranges->kind == SIM_IMPORTED) free(context->ranges->detail);
        give_range(context->ranges);
    }
    memset(context->small, 0, sizeof context->small);
}

bool sim_memory_has(sim_kind_t kind) {
    for (CUcontext context = sim_context_first(); context; context = context->next)
        for (const sim_range_t *range = context->ranges; range; range = range->next)
            if (range->kind == kind) return true;
    return false;
}

static bool find_small(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation) {
    const sim_small_t *block = range->detail;
    unsigned start = (unsigned)((address - range->base) / UNIT);
    if (!(block->used[start / 64] >> start % 64 & 1)) return false;
    while (!block->bytes[start]) start--;
    *allocation = (sim_allocation_t){range->base + (CUdeviceptr)start * UNIT, block->bytes[start], range};
    return true;
}

bool sim_memory_find(CUdeviceptr address, sim_allocation_t *allocation) {
    sim_range_t *range = sim_space_find(address);
    if (!range) return false;
    if (range->kind == SIM_SMALL) return find_small(range, address, allocation);
    if (range->kind == SIM_POOL) return sim_pool_find(range, address, allocation);
    if (range->kind == SIM_RESERVED) return sim_vmm_find(range, address, allocation);
    if (range->kind == SIM_IMPORTED) return sim_ipc_find(range, address, allocation);
    *allocation = (sim_allocation_t){range->base, range->asked, range};
    return true;
}

/* Managed memory moves to the device with its first use there, if there is room; else it stays on the host. */
void sim_memory_touch(CUdeviceptr address) {
    sim_range_t *range = sim_space_find(address);
    if (!range || range->kind != SIM_MANAGED || range->taken_bytes) return;
    if (sim_state_take(sim_device_gpu(range->device), range->bytes)) range->taken_bytes = range->bytes;
}

CUresult sim_memory_take_managed(CUcontext context, size_t bytes, CUdeviceptr *address) {
    sim_range_t *range;
    SIM_TRY(take_range(context, bytes, false, false, &range));
    range->kind = SIM_MANAGED;
    *address = range->base;
    return CUDA_SUCCESS;
}

/* Addresses for memory of another process, which that process has paid for. */
CUresult sim_memory_take_import(CUcontext context, int device, size_t bytes, sim_range_t **range) {
    SIM_TRY(take_range(context, bytes, false, false, range));
    (*range)->kind = SIM_IMPORTED;
    (*range)->device = device;
    return CUDA_SUCCESS;
}

void sim_memory_give_import(sim_range_t *range) {
    free(range->detail);
    give_range(range);
}
