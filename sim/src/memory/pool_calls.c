/* The calls on memory pools and stream-ordered memory. */
#include "work/graph.h"

#include <unistd.h>

enum { REUSE_FIRST = 1, REUSE_LAST = 3, THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };
enum { TYPE_PINNED = 1, LOCATION_DEVICE = 1, HANDLE_FILE_DESCRIPTOR = 1, LABEL_BYTES = 4096 };

static CUmemoryPool defaults[SIM_GPUS_MAX], currents[SIM_GPUS_MAX], of_graphs[SIM_GPUS_MAX];

CUresult sim_pool_default(int device, CUmemoryPool *pool) {
    if (!defaults[device]) {
        SIM_TRY(sim_pool_make(device, &defaults[device]));
        defaults[device]->is_default = true;
    }
    *pool = defaults[device];
    return CUDA_SUCCESS;
}

CUresult sim_pool_of_graphs(int device, CUmemoryPool *pool) {
    if (!of_graphs[device]) {
        SIM_TRY(sim_pool_make(device, &of_graphs[device]));
        of_graphs[device]->of_graphs = true;
    }
    *pool = of_graphs[device];
    return CUDA_SUCCESS;
}

static CUresult current(int device, CUmemoryPool *pool) {
    *pool = currents[device];
    return *pool ? CUDA_SUCCESS : sim_pool_default(device, pool);
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    SIM_REQUIRE(pool, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    return sim_pool_default(device, pool);
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    SIM_REQUIRE(pool, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    return current(device, pool);
}

CUresult sim_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    SIM_REQUIRE(pool && pool->device == device && !pool->imported, CUDA_ERROR_INVALID_VALUE);
    currents[device] = pool;
    return CUDA_SUCCESS;
}

static bool is_device(const CUmemLocation *location, CUmemAllocationType type) {
    return location && type == TYPE_PINNED && location->type == LOCATION_DEVICE;
}

CUresult sim_cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    SIM_REQUIRE(is_device(location, type), CUDA_ERROR_NOT_SUPPORTED);
    return sim_cuDeviceGetDefaultMemPool(pool, location->id);
}

CUresult sim_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    SIM_REQUIRE(is_device(location, type), CUDA_ERROR_NOT_SUPPORTED);
    return sim_cuDeviceGetMemPool(pool, location->id);
}

CUresult sim_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
    SIM_REQUIRE(is_device(location, type), CUDA_ERROR_NOT_SUPPORTED);
    return sim_cuDeviceSetMemPool(location->id, pool);
}

static CUresult make(int device, int handle_types, CUmemoryPool *result) {
    if (!handle_types) return sim_pool_make(device, result);
    int file = sim_share_file(sim_pool_bytes(device) + LABEL_BYTES);
    SIM_REQUIRE(file, CUDA_ERROR_OPERATING_SYSTEM);
    CUresult made = sim_pool_make_shared(device, file, result);
    if (made) close(file);
    return made;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *result, const CUmemPoolProps *properties) {
    SIM_REQUIRE(result && properties, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(is_device(&properties->location, properties->allocType), CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE((properties->handleTypes & ~HANDLE_FILE_DESCRIPTOR) == 0, CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE(sim_device_is_known(properties->location.id), CUDA_ERROR_INVALID_DEVICE);
    SIM_TRY(make(properties->location.id, properties->handleTypes, result));
    (*result)->most_bytes = properties->maxSize;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool) {
    SIM_REQUIRE(pool && !pool->is_default, CUDA_ERROR_INVALID_VALUE);
    if (currents[pool->device] == pool) currents[pool->device] = NULL;
    pool->destroyed = true;
    sim_pool_release_if_dead(pool);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    SIM_REQUIRE(pool, CUDA_ERROR_INVALID_VALUE);
    sim_pool_trim(pool, keep);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    SIM_REQUIRE(pool && value, CUDA_ERROR_INVALID_VALUE);
    if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) return *(int *)value = pool->reuse[attribute - REUSE_FIRST], CUDA_SUCCESS;
    switch (attribute) {
    case THRESHOLD: *(uint64_t *)value = pool->threshold_bytes; return CUDA_SUCCESS;
    case RESERVED: *(uint64_t *)value = pool->reserved_bytes; return CUDA_SUCCESS;
    case RESERVED_HIGH: *(uint64_t *)value = pool->reserved_high_bytes; return CUDA_SUCCESS;
    case USED: *(uint64_t *)value = pool->used_bytes; return CUDA_SUCCESS;
    case USED_HIGH: *(uint64_t *)value = pool->used_high_bytes; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    SIM_REQUIRE(pool && value, CUDA_ERROR_INVALID_VALUE);
    if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) return pool->reuse[attribute - REUSE_FIRST] = *(int *)value, CUDA_SUCCESS;
    if (attribute == THRESHOLD) return pool->threshold_bytes = *(uint64_t *)value, CUDA_SUCCESS;
    SIM_REQUIRE((attribute == RESERVED_HIGH || attribute == USED_HIGH) && *(uint64_t *)value == 0, CUDA_ERROR_INVALID_VALUE);
    if (attribute == RESERVED_HIGH) pool->reserved_high_bytes = pool->reserved_bytes;
    else pool->used_high_bytes = pool->used_bytes;
    return CUDA_SUCCESS;
}

/* The pool's own device always has access; others may have it while they are peers. */
CUresult sim_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
    SIM_REQUIRE(pool && map, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        int device = map[i].location.id, flags = map[i].flags;
        SIM_REQUIRE(map[i].location.type == LOCATION_DEVICE && (flags == 0 || flags == 3), CUDA_ERROR_INVALID_VALUE);
        SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
        SIM_REQUIRE(device != pool->device || flags, CUDA_ERROR_INVALID_VALUE);
        SIM_REQUIRE(device == pool->device || sim_device_is_peer(device, pool->device), CUDA_ERROR_INVALID_DEVICE);
    }
    for (size_t i = 0; i < count; i++) pool->peer_access[map[i].location.id] = map[i].flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
    SIM_REQUIRE(pool && flags && location && location->type == LOCATION_DEVICE, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_device_is_known(location->id), CUDA_ERROR_INVALID_DEVICE);
    *flags = location->id == pool->device || pool->peer_access[location->id] ? 3 : 0;
    return CUDA_SUCCESS;
}

/* When the GPU is full, memory that streams are still to free may help: wait for it once. */
static CUresult take(CUmemoryPool pool, size_t bytes, CUstream stream, CUdeviceptr *address) {
    for (int attempt = 0;; attempt++) {
        SIM_TRY(sim_pool_place(pool, bytes, stream, address));
        if (sim_pool_fill(pool, *address)) return CUDA_SUCCESS;
        sim_pool_give(pool, *address);
        SIM_REQUIRE(attempt == 0, CUDA_ERROR_OUT_OF_MEMORY);
        SIM_TRY(sim_context_drain(stream->context));
    }
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream handle) {
    CUstream stream;
    SIM_REQUIRE(address && pool && !pool->destroyed && !pool->imported, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_stream_resolve(handle, &stream));
    if (bytes == 0) return *address = 0, CUDA_SUCCESS;
    if (stream->tips.capture) return sim_graph_alloc_node(stream, bytes, address);
    return take(pool, bytes, stream, address);
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream handle) {
    CUstream stream;
    CUmemoryPool pool;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    SIM_TRY(current(stream->context->device, &pool));
    return sim_cuMemAllocFromPoolAsync(address, bytes, pool, handle);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    CUstream stream;
    sim_allocation_t found;
    SIM_TRY(sim_stream_resolve(handle, &stream));
    if (address == 0) return CUDA_SUCCESS;
    if (stream->tips.capture) return sim_graph_free_node(stream, address);
    SIM_REQUIRE(sim_memory_find(address, &found) && found.base == address, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(found.range->kind != SIM_RESERVED, CUDA_ERROR_INVALID_VALUE);
    if (found.range->kind != SIM_POOL) return sim_memory_give_later(stream, address);
    if (((CUmemoryPool)found.range->detail)->of_graphs) return sim_graph_memory_free(address);
    sim_work_t work = {.kind = SIM_WORK_FREE, .memory = {.address = address}};
    SIM_TRY(sim_pool_give_in_order(found.range->detail, address, stream, &work.memory.generation));
    return sim_work_queue(stream, &work);
}

CUresult sim_pool_free_now(CUdeviceptr address) {
    CUmemoryPool pool = sim_space_find(address)->detail;
    if (pool->of_graphs) return sim_graph_memory_free(address);
    SIM_TRY(sim_pool_give(pool, address));
    sim_pool_release_if_dead(pool);
    return CUDA_SUCCESS;
}
