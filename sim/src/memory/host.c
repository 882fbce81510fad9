/* Pinned host memory: allocated by the driver or registered by the program. Its device address is its host address. */
#define _GNU_SOURCE
#include "entry/sim.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HOST_PORTABLE = 1, HOST_MAPPED = 2, HOST_FLAGS = 7, REGISTER_FLAGS = 15 };

typedef struct pinned {
    struct pinned *next;
    CUdeviceptr base;
    size_t bytes;
    unsigned flags;
    bool registered;
} pinned_t;

static pinned_t *all;

static pinned_t **find(CUdeviceptr address) {
    for (pinned_t **each = &all; *each; each = &(*each)->next)
        if (address - (*each)->base < (*each)->bytes) return each;
    return NULL;
}

static bool is_touched(CUdeviceptr start, size_t bytes) {
    for (const pinned_t *each = all; each; each = each->next)
        if (start < each->base + each->bytes && each->base < start + bytes) return true;
    return false;
}

bool sim_host_find(CUdeviceptr address, CUdeviceptr *base, size_t *bytes, unsigned *flags) {
    pinned_t **found = find(address);
    if (!found) return false;
    if (base) *base = (*found)->base;
    if (bytes) *bytes = (*found)->bytes;
    if (flags) *flags = (*found)->flags;
    return true;
}

static CUresult add(void *start, size_t bytes, unsigned flags, bool registered) {
    pinned_t *pinned = malloc(sizeof *pinned);
    SIM_REQUIRE(pinned, CUDA_ERROR_OUT_OF_MEMORY);
    *pinned = (pinned_t){all, (CUdeviceptr)start, bytes, flags, registered};
    all = pinned;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostAlloc(void **result, size_t bytes, unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(result && bytes && flags <= HOST_FLAGS, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SIM_REQUIRE(start != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    SIM_TRY(add(start, bytes, flags | HOST_MAPPED, false));
    *result = start;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocHost_v2(void **result, size_t bytes) { return sim_cuMemHostAlloc(result, bytes, HOST_MAPPED); }
CUresult sim_cuMemAllocHost(void **result, unsigned int bytes) { return sim_cuMemHostAlloc(result, bytes, HOST_MAPPED); }

CUresult sim_cuMemFreeHost(void *start) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_context_drain(context));
    pinned_t **found = find((CUdeviceptr)start), *pinned;
    SIM_REQUIRE(found && (*found)->base == (CUdeviceptr)start && !(*found)->registered, CUDA_ERROR_INVALID_VALUE);
    pinned = *found;
    *found = pinned->next;
    munmap(start, pinned->bytes);
    free(pinned);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostRegister_v2(void *start, size_t bytes, unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(start && bytes && flags <= REGISTER_FLAGS, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    pinned_t **known = find((CUdeviceptr)start);
    SIM_REQUIRE(!known || (*known)->registered, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!is_touched((CUdeviceptr)start, bytes), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    return add(start, bytes, flags | HOST_MAPPED, true);
}

CUresult sim_cuMemHostRegister(void *start, size_t bytes, unsigned int flags) { return sim_cuMemHostRegister_v2(start, bytes, flags); }

CUresult sim_cuMemHostUnregister(void *start) {
    CUcontext context;
    SIM_TRY(sim_context_current(&context));
    pinned_t **found = find((CUdeviceptr)start), *pinned;
    SIM_REQUIRE(found, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    SIM_REQUIRE((*found)->registered && (*found)->base == (CUdeviceptr)start, CUDA_ERROR_INVALID_VALUE);
    pinned = *found;
    *found = pinned->next;
    free(pinned);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *start, unsigned int flags) {
    CUcontext context;
    SIM_REQUIRE(address && flags == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(find((CUdeviceptr)start), CUDA_ERROR_INVALID_VALUE);
    *address = (CUdeviceptr)start;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetFlags(unsigned int *flags, void *start) {
    CUcontext context;
    SIM_REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    return sim_host_find((CUdeviceptr)start, NULL, NULL, flags) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
