/* The attributes of pointers. */
#include "entry/sim.h"

enum {
    CONTEXT = 1, MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, SYNC_MEMOPS = 6, BUFFER_ID = 7, IS_MANAGED = 8,
    DEVICE_ORDINAL = 9, IS_LEGACY_IPC_CAPABLE = 10, RANGE_START = 11, RANGE_SIZE = 12, MAPPED = 13, ALLOWED_HANDLE_TYPES = 14,
    IS_GPU_DIRECT_RDMA_CAPABLE = 15, ACCESS_FLAGS = 16, MEMPOOL_HANDLE = 17, MAPPING_SIZE = 18, MAPPING_BASE = 19, MEMORY_BLOCK_ID = 20
};

typedef struct {
    bool on_device, on_host, managed;
    CUdeviceptr base;
    size_t bytes;
    sim_range_t *range;
    sim_mapped_t mapped; /* where the range is a reservation */
} view_t;

static view_t look(CUdeviceptr address) {
    view_t view = {0};
    sim_allocation_t found;
    if (sim_memory_find(address, &found)) {
        view = (view_t){.on_device = true, .managed = found.range->kind == SIM_MANAGED, .base = found.base, .bytes = found.bytes, .range = found.range};
        if (found.range->kind == SIM_RESERVED) sim_vmm_look(found.range, address, &view.mapped);
        return view;
    }
    view.on_host = sim_host_find(address, &view.base, &view.bytes, NULL);
    return view;
}

enum { NO, YES, AS_ANY };

/* As driver 580.159 answers for mapped memory: the range is the reservation, the mapping that of one handle. */
static int answer_mapped(void *data, int attribute, CUdeviceptr address, const view_t *view) {
    const sim_mapped_t *mapped = &view->mapped;
    CUcontext context;
    switch (attribute) {
    case DEVICE_POINTER: return *(CUdeviceptr *)data = address, mapped->usable ? YES : NO;
    case BUFFER_ID: return *(uint64_t *)data = mapped->id, YES;
    case DEVICE_ORDINAL: return *(int *)data = mapped->device, YES;
    case RANGE_START: return *(CUdeviceptr *)data = view->range->base, YES;
    case RANGE_SIZE: return *(size_t *)data = view->range->bytes, YES;
    case ALLOWED_HANDLE_TYPES: return *(uint64_t *)data = (uint64_t)mapped->handle_types, YES;
    case ACCESS_FLAGS: return *(unsigned *)data = sim_context_current(&context) ? 0 : mapped->access[context->device], YES;
    case MAPPING_SIZE: return *(size_t *)data = mapped->bytes, YES;
    case MAPPING_BASE: return *(CUdeviceptr *)data = mapped->base, YES;
    case MEMORY_BLOCK_ID: return *(uint64_t *)data = mapped->memory_id, YES;
    default: return AS_ANY;
    }
}

/* False: the attribute does not apply to this pointer. */
static bool answer(void *data, int attribute, CUdeviceptr address, const view_t *view) {
    sim_range_t *range = view->range;
    int of_mapping = view->mapped.bytes ? answer_mapped(data, attribute, address, view) : AS_ANY;
    if (of_mapping != AS_ANY) return of_mapping;
    switch (attribute) {
    case CONTEXT: return *(CUcontext *)data = range ? range->context : NULL, true;
    case MEMORY_TYPE: return *(unsigned *)data = view->on_device ? 2 : 1, true;
    case DEVICE_POINTER: return *(CUdeviceptr *)data = address, true;
    case HOST_POINTER: return *(CUdeviceptr *)data = address, view->on_host || view->managed;
    case SYNC_MEMOPS: return *(unsigned *)data = 0, true;
    case BUFFER_ID: case MEMORY_BLOCK_ID: return *(uint64_t *)data = range ? range->id : 0, true;
    case IS_MANAGED: return *(unsigned *)data = view->managed, true;
    case DEVICE_ORDINAL: return *(int *)data = range ? range->device : 0, true;
    case IS_LEGACY_IPC_CAPABLE: return *(unsigned *)data = range && (range->kind == SIM_PLAIN || range->kind == SIM_SMALL), true;
    case IS_GPU_DIRECT_RDMA_CAPABLE: return *(unsigned *)data = 0, true;
    case RANGE_START: return *(CUdeviceptr *)data = view->base, true;
    case RANGE_SIZE: return *(size_t *)data = view->bytes, true;
    case MAPPED: return *(unsigned *)data = 1, true;
    case ALLOWED_HANDLE_TYPES: return *(uint64_t *)data = range && range->kind == SIM_POOL && range->file, true;
    case ACCESS_FLAGS: return *(unsigned *)data = 3, true;
    case MEMPOOL_HANDLE: return *(void **)data = range && range->kind == SIM_POOL ? range->detail : NULL, true;
    case MAPPING_SIZE: return *(size_t *)data = range ? range->bytes : view->bytes, true;
    case MAPPING_BASE: return *(CUdeviceptr *)data = range ? range->base : view->base, true;
    default: return false;
    }
}

CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
    CUcontext context;
    SIM_REQUIRE(data, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    view_t view = look(address);
    SIM_REQUIRE((view.on_device || view.on_host) && answer(data, attribute, address, &view), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* A pointer that the driver does not know has no type and, on driver 580, device ordinal -2. */
CUresult sim_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data, CUdeviceptr address) {
    CUcontext context;
    SIM_REQUIRE(attributes && data, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    view_t view = look(address);
    for (unsigned i = 0; i < count; i++) {
        if (view.on_device || view.on_host) {
            if (!answer(data[i], attributes[i], address, &view)) SIM_REQUIRE(attributes[i] == HOST_POINTER, CUDA_ERROR_INVALID_VALUE);
            continue;
        }
        uint64_t nothing = 0;
        answer(&nothing, attributes[i], 0, &view);
        bool wide = attributes[i] == CONTEXT || attributes[i] == DEVICE_POINTER || attributes[i] == HOST_POINTER || attributes[i] == BUFFER_ID
                 || attributes[i] == RANGE_START || attributes[i] == RANGE_SIZE || attributes[i] >= MEMPOOL_HANDLE;
        memset(data[i], 0, wide ? 8 : attributes[i] == IS_MANAGED ? 1 : 4);
        if (attributes[i] == DEVICE_ORDINAL) *(int *)data[i] = -2;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    SIM_REQUIRE(value && attribute == SYNC_MEMOPS && look(address).on_device, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}
