/* Memory mapped into arrays without memory of their own: only which array holds which handle, not the contents. It happens at the call,
 * not in the order of the stream; unmapping must name exactly what was mapped. */
#include "memory/array.h"

enum { RESOURCE_ARRAY = 0, RESOURCE_MIPMAP = 1, MAP = 1, UNMAP = 2 };

typedef struct mapping {
    struct mapping *next;
    CUcontext context;
    void *array;
    int type;
    unsigned long long place[4];
    CUmemGenericAllocationHandle handle;
} mapping_t;

static mapping_t *mappings;

static void drop(mapping_t **at) {
    mapping_t *mapping = *at;
    *at = mapping->next;
    sim_vmm_let_go(mapping->handle);
    free(mapping);
}

static void unmap(const CUarrayMapInfo *info) {
    for (mapping_t **at = &mappings; *at;)
        if ((*at)->array == info->resource && (*at)->type == info->subresourceType
            && memcmp((*at)->place, info->subresource, sizeof (*at)->place) == 0) drop(at);
        else at = &(*at)->next;
}

static bool map(CUcontext context, const CUarrayMapInfo *info) {
    mapping_t *mapping = calloc(1, sizeof *mapping);
    if (!mapping) return false;
    *mapping = (mapping_t){mappings, context, info->resource, info->subresourceType, {0}, info->memHandle};
    memcpy(mapping->place, info->subresource, sizeof mapping->place);
    sim_vmm_hold(info->memHandle);
    mappings = mapping;
    return true;
}

void sim_sparse_drop_array(void *array) {
    for (mapping_t **at = &mappings; *at;)
        if ((*at)->array == array) drop(at);
        else at = &(*at)->next;
}

void sim_sparse_drop(CUcontext context) {
    for (mapping_t **at = &mappings; *at;)
        if ((*at)->context == context) drop(at);
        else at = &(*at)->next;
}

static bool is_valid(const CUarrayMapInfo *info) {
    if (!info->resource || info->memHandleType || info->flags) return false;
    const CUDA_ARRAY3D_DESCRIPTOR *description = info->resourceType == RESOURCE_MIPMAP
        ? sim_mipmap_description(info->resource) : &((CUarray)info->resource)->description;
    if (info->resourceType != RESOURCE_ARRAY && info->resourceType != RESOURCE_MIPMAP) return false;
    return !sim_array_has_memory(description) && (info->memOperationType == UNMAP || (info->memOperationType == MAP && info->memHandle));
}

CUresult sim_cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
    CUcontext context;
    (void)stream;
    SIM_REQUIRE(list && count, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    for (unsigned i = 0; i < count; i++) SIM_REQUIRE(is_valid(&list[i]), CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; i++) {
        unmap(&list[i]);
        SIM_REQUIRE(list[i].memOperationType == UNMAP || map(context, &list[i]), CUDA_ERROR_OUT_OF_MEMORY);
    }
    return CUDA_SUCCESS;
}
