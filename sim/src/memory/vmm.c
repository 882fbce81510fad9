/* Virtual memory management: addresses and memory apart. The memory of all handles is one sparse anonymous file. Each handle has its own
 * range of it, which is never reused, mapped wherever the program asks. So contents survive unmapping and show at every place that maps
 * them. Memory counts until the last handle and the last mapping are gone. */
#define _GNU_SOURCE
#include "memory/vmm.h"

#include <fcntl.h>
#include <search.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TYPE_PINNED = 1, LOCATION_DEVICE = 1, LOCATION_HOST = 2, LOCATION_HOST_NUMA = 3, ACCESS_READ = 1, ACCESS_READ_WRITE = 3 };

/* In the tree of its reservation, by address. */
typedef struct {
    CUdeviceptr base;
    size_t bytes;
    uint64_t id;
    sim_handle_t *handle;
    unsigned char access[SIM_GPUS_MAX]; /* of each device */
} mapping_t;

#define ADDRESS_END (1ull << 47)

static int memory = -1;
static off_t memory_end;

static bool is_on_host(const CUmemLocation *location) {
    return location->type == LOCATION_HOST || location->type == LOCATION_HOST_NUMA;
}

/* What it takes of a GPU's memory. */
static uint64_t device_bytes(const CUmemLocation *location, size_t bytes) { return is_on_host(location) ? 0 : bytes; }
static CUdevice device_of(const CUmemLocation *location) { return is_on_host(location) ? 0 : location->id; }

static bool is_whole(uint64_t value) { return value % SIM_BLOCK == 0; }

/* Two that overlap are equal. */
static int compare(const void *one, const void *other) {
    const mapping_t *a = one, *b = other;
    return a->base + a->bytes <= b->base ? -1 : a->base >= b->base + b->bytes;
}

/* Any mapping that has a part in these bytes. */
static mapping_t *mapping_in(sim_range_t *range, CUdeviceptr address, size_t bytes) {
    void *found = tfind(&(mapping_t){.base = address, .bytes = bytes}, &range->detail, compare);
    return found ? *(mapping_t **)found : NULL;
}

static mapping_t *mapping_at(sim_range_t *range, CUdeviceptr address) { return mapping_in(range, address, 1); }

bool sim_vmm_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation) {
    mapping_t *mapping = mapping_at(range, address);
    if (!mapping) return false;
    *allocation = (sim_allocation_t){mapping->base, mapping->bytes, range};
    return true;
}

static bool is_usable(const mapping_t *mapping) { return memchr(mapping->access, ACCESS_READ_WRITE, sizeof mapping->access); }

bool sim_vmm_look(sim_range_t *range, CUdeviceptr address, sim_mapped_t *mapped) {
    mapping_t *mapping = mapping_at(range, address);
    if (!mapping) return false;
    const sim_handle_t *handle = mapping->handle;
    *mapped = (sim_mapped_t){mapping->base, mapping->bytes, device_of(&handle->properties.location), handle->properties.requestedHandleTypes,
                             is_usable(mapping), mapping->access, mapping->id, handle->id};
    return true;
}

bool sim_vmm_span_is_usable(sim_range_t *range, CUdeviceptr address, size_t bytes) {
    for (CUdeviceptr end = address + bytes; address < end;) {
        mapping_t *mapping = mapping_at(range, address);
        if (!mapping || !is_usable(mapping)) return false;
        address = mapping->base + mapping->bytes;
    }
    return true;
}

CUresult sim_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                           CUmemAllocationGranularity_flags option) {
    SIM_REQUIRE(granularity && properties && properties->type == TYPE_PINNED && option >= 0 && option <= 1, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(properties->location.type == LOCATION_DEVICE || is_on_host(&properties->location), CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE(sim_device_is_known(device_of(&properties->location)), CUDA_ERROR_INVALID_DEVICE);
    *granularity = SIM_BLOCK;
    return CUDA_SUCCESS;
}

/* As driver 580.159 does: at the wanted address if neither the GPU nor the host uses it; otherwise anywhere. */
CUresult sim_cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wish, unsigned long long flags) {
    SIM_REQUIRE(address && bytes && is_whole(bytes) && flags == 0 && (alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(is_whole(wish) && (!alignment || wish % alignment == 0), CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(bytes <= ADDRESS_END && wish <= ADDRESS_END - bytes, CUDA_ERROR_OUT_OF_MEMORY);
    sim_range_t *range = wish ? sim_space_take_at(wish, bytes) : NULL;
    if (!range) range = sim_space_take(bytes, alignment, false);
    if (!range) range = sim_space_take_island(bytes, alignment);
    SIM_REQUIRE(range, CUDA_ERROR_OUT_OF_MEMORY);
    range->kind = SIM_RESERVED;
    range->asked = bytes;
    range->detail = NULL;
    *address = range->base;
    return CUDA_SUCCESS;
}

static sim_range_t *reservation(CUdeviceptr address, size_t bytes) {
    sim_range_t *range = sim_space_find(address);
    bool fits = range && range->kind == SIM_RESERVED && bytes && bytes <= range->bytes - (address - range->base);
    return fits ? range : NULL;
}

CUresult sim_cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    sim_range_t *range = reservation(address, bytes);
    SIM_REQUIRE(range && range->base == address && range->bytes == bytes && !range->detail, CUDA_ERROR_INVALID_VALUE);
    sim_space_give(range);
    return CUDA_SUCCESS;
}

int sim_vmm_file(const sim_handle_t *handle) { return handle->file ? handle->file : memory; }

/* Where its contents will be. */
static CUresult place(sim_handle_t *handle) {
    off_t label = handle->properties.requestedHandleTypes ? SIM_VMM_LABEL_BYTES : 0;
    if (memory < 0) memory = memfd_create("sluice-sim", MFD_CLOEXEC);
    SIM_REQUIRE(memory >= 0 && ftruncate(memory, memory_end + label + (off_t)handle->bytes) == 0, CUDA_ERROR_OPERATING_SYSTEM);
    handle->offset = memory_end + label;
    memory_end = handle->offset + (off_t)handle->bytes;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemCreate(CUmemGenericAllocationHandle *result, size_t bytes, const CUmemAllocationProp *properties,
                         unsigned long long flags) {
    SIM_REQUIRE(result && properties && bytes && is_whole(bytes) && flags == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(properties->type == TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    const CUmemLocation *location = &properties->location;
    SIM_REQUIRE(location->type == LOCATION_DEVICE || is_on_host(location), CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE((properties->requestedHandleTypes & ~SIM_HANDLE_FILE_DESCRIPTOR) == 0, CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE(sim_device_is_known(device_of(location)), CUDA_ERROR_INVALID_DEVICE);
    int gpu = sim_device_gpu(device_of(location));
    uint64_t taken = device_bytes(location, bytes);
    SIM_REQUIRE(sim_state_take(gpu, taken), CUDA_ERROR_OUT_OF_MEMORY);
    sim_handle_t *handle = malloc(sizeof *handle);
    if (!handle) return sim_state_give(gpu, taken), CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (sim_handle_t){.references = 1, .bytes = bytes, .id = sim_space_next_id(), .properties = *properties};
    CUresult placed = place(handle);
    if (placed) return sim_state_give(gpu, taken), free(handle), placed;
    *result = (CUmemGenericAllocationHandle)handle;
    return CUDA_SUCCESS;
}

static void drop(sim_handle_t *handle) {
    if (--handle->references) return;
    const CUmemLocation *location = &handle->properties.location;
    bool unused = !handle->shared || sim_vmm_leave(handle);
    if (!handle->shared) sim_state_give(sim_device_gpu(device_of(location)), device_bytes(location, handle->bytes));
    if (unused) fallocate(sim_vmm_file(handle), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, handle->offset, (off_t)handle->bytes);
    if (handle->file) close(handle->file);
    free(handle);
}

void sim_vmm_hold(CUmemGenericAllocationHandle handle) { ((sim_handle_t *)handle)->references++; }
void sim_vmm_let_go(CUmemGenericAllocationHandle handle) { drop((sim_handle_t *)handle); }

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle) {
    SIM_REQUIRE(handle, CUDA_ERROR_INVALID_VALUE);
    drop((sim_handle_t *)handle);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle given, unsigned long long flags) {
    sim_handle_t *handle = (sim_handle_t *)given;
    sim_range_t *range = reservation(address, bytes);
    SIM_REQUIRE(handle && range && flags == 0 && is_whole(address) && is_whole(bytes), CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(offset == 0, CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE(bytes == handle->bytes, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!mapping_in(range, address, bytes), CUDA_ERROR_INVALID_VALUE);
    mapping_t *mapping = malloc(sizeof *mapping);
    SIM_REQUIRE(mapping, CUDA_ERROR_OUT_OF_MEMORY);
    *mapping = (mapping_t){address, bytes, sim_space_next_id(), handle, {0}};
    if (!tsearch(mapping, &range->detail, compare)) return free(mapping), CUDA_ERROR_OUT_OF_MEMORY;
    if (mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, sim_vmm_file(handle), handle->offset) == MAP_FAILED)
        return tdelete(mapping, &range->detail, compare), free(mapping), CUDA_ERROR_OUT_OF_MEMORY;
    madvise((void *)address, bytes, MADV_DONTFORK);
    handle->references++;
    return CUDA_SUCCESS;
}

static void unmap(sim_range_t *range, mapping_t *mapping) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    mmap((void *)mapping->base, mapping->bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    madvise((void *)mapping->base, mapping->bytes, MADV_DONTFORK);
    tdelete(mapping, &range->detail, compare);
    drop(mapping->handle);
    free(mapping);
}

/* Ends on mapping borders or not at all; stretches without a mapping are no error. */
CUresult sim_cuMemUnmap(CUdeviceptr address, size_t bytes) {
    sim_range_t *range = reservation(address, bytes);
    SIM_REQUIRE(range && is_whole(address) && is_whole(bytes), CUDA_ERROR_INVALID_VALUE);
    mapping_t *first = mapping_at(range, address), *last = mapping_at(range, address + bytes - 1);
    SIM_REQUIRE(!first || first->base == address, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!last || last->base + last->bytes == address + bytes, CUDA_ERROR_INVALID_VALUE);
    for (mapping_t *each; (each = mapping_in(range, address, bytes));) unmap(range, each);
    return CUDA_SUCCESS;
}

static CUresult check_access(const CUmemAccessDesc *access, int owner) {
    SIM_REQUIRE(access->flags == 0 || access->flags == ACCESS_READ || access->flags == ACCESS_READ_WRITE, CUDA_ERROR_INVALID_VALUE);
    if (is_on_host(&access->location)) return CUDA_SUCCESS;
    int device = access->location.id;
    SIM_REQUIRE(access->location.type == LOCATION_DEVICE && sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    return device == owner || sim_device_is_peer(device, owner) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
    sim_range_t *range = reservation(address, bytes);
    SIM_REQUIRE(range && access && count, CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr end = address + bytes;
    mapping_t *mapping;
    for (CUdeviceptr at = address; at < end; at = mapping->base + mapping->bytes) {
        SIM_REQUIRE((mapping = mapping_at(range, at)), CUDA_ERROR_INVALID_VALUE);
        for (size_t i = 0; i < count; i++) SIM_TRY(check_access(&access[i], device_of(&mapping->handle->properties.location)));
    }
    for (CUdeviceptr at = address; at < end; at = mapping->base + mapping->bytes) {
        mapping = mapping_at(range, at);
        for (size_t i = 0; i < count; i++)
            if (mapping->base >= address && access[i].location.type == LOCATION_DEVICE)
                mapping->access[access[i].location.id] = (unsigned char)access[i].flags;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address) {
    sim_range_t *range = sim_space_find(address);
    mapping_t *mapping = range && range->kind == SIM_RESERVED ? mapping_at(range, address) : NULL;
    SIM_REQUIRE(flags && location && mapping, CUDA_ERROR_INVALID_VALUE);
    *flags = location->type == LOCATION_DEVICE && sim_device_is_known(location->id) ? mapping->access[location->id] : 0;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    sim_range_t *range = sim_space_find((CUdeviceptr)address);
    mapping_t *mapping = range && range->kind == SIM_RESERVED ? mapping_at(range, (CUdeviceptr)address) : NULL;
    SIM_REQUIRE(handle && mapping, CUDA_ERROR_INVALID_VALUE);
    mapping->handle->references++;
    *handle = (CUmemGenericAllocationHandle)mapping->handle;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties, CUmemGenericAllocationHandle handle) {
    SIM_REQUIRE(properties && handle, CUDA_ERROR_INVALID_VALUE);
    *properties = ((sim_handle_t *)handle)->properties;
    return CUDA_SUCCESS;
}
