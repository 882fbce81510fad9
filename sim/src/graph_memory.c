/* The memory of allocation nodes. It comes from a pool of its own for each GPU, taken when a graph with an allocation is
 * launched and kept until cuDeviceGraphMemTrim finds it free. */
#include "graph.h"

typedef struct memory {
    struct memory *next;
    CUmemoryPool pool;
    CUdeviceptr address;
    size_t bytes;
    unsigned owners;
    bool allocated;
    bool executable; /* only one executable graph at a time may have it */
} memory_t;

static memory_t *all;

static memory_t *find(CUdeviceptr address) {
    memory_t *memory = all;
    while (memory && memory->address != address) memory = memory->next;
    return memory;
}

bool sim_graph_memory_is_known(CUdeviceptr address) { return find(address); }

CUresult sim_graph_memory_make(int device, size_t bytes, CUdeviceptr *address) {
    memory_t *memory = calloc(1, sizeof *memory);
    SIM_REQUIRE(memory, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult made = sim_pool_of_graphs(device, &memory->pool);
    if (!made) made = sim_pool_place(memory->pool, bytes, NULL, &memory->address);
    if (made) return free(memory), made;
    memory->bytes = bytes;
    memory->next = all;
    all = memory;
    *address = memory->address;
    return CUDA_SUCCESS;
}

void sim_graph_memory_share(const sim_work_t *work) {
    if (work->kind == SIM_WORK_ALLOC) find(work->memory.address)->owners++;
}

void sim_graph_memory_drop(const sim_work_t *work) {
    memory_t *memory = work->kind == SIM_WORK_ALLOC ? find(work->memory.address) : NULL;
    if (!memory || --memory->owners) return;
    sim_graph_memory_free(memory->address);
    sim_pool_give(memory->pool, memory->address);
    for (memory_t **each = &all; *each; each = &(*each)->next)
        if (*each == memory) {
            *each = memory->next;
            break;
        }
    free(memory);
}

bool sim_graph_memory_bind(const sim_work_t *work, bool executable) {
    memory_t *memory = work->kind == SIM_WORK_ALLOC ? find(work->memory.address) : NULL;
    if (memory && executable && memory->executable) return false;
    if (memory) memory->executable = executable;
    return true;
}

CUresult sim_graph_memory_allocate(CUdeviceptr address) {
    memory_t *memory = find(address);
    SIM_REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    if (memory->allocated) return CUDA_SUCCESS;
    SIM_REQUIRE(sim_pool_fill(memory->pool, address), CUDA_ERROR_OUT_OF_MEMORY);
    sim_pool_hold(memory->pool, address, 1);
    memory->allocated = true;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
    SIM_REQUIRE(node && parameters && node->work.kind == SIM_WORK_ALLOC, CUDA_ERROR_INVALID_VALUE);
    const memory_t *memory = find(node->work.memory.address);
    SIM_REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    *parameters = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = {.allocType = 1, .location = {1, memory->pool->device}}, .bytesize = memory->bytes,
                                               .dptr = memory->address};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
    SIM_REQUIRE(node && address && node->work.kind == SIM_WORK_FREE, CUDA_ERROR_INVALID_VALUE);
    *address = node->work.memory.address;
    return CUDA_SUCCESS;
}

CUresult sim_graph_memory_free(CUdeviceptr address) {
    memory_t *memory = find(address);
    SIM_REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    if (memory->allocated) sim_pool_hold(memory->pool, address, -1);
    memory->allocated = false;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGraphMemTrim(CUdevice device) {
    CUmemoryPool pool;
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    SIM_TRY(sim_pool_of_graphs(device, &pool));
    sim_pool_trim(pool, 0);
    return CUDA_SUCCESS;
}
