/* Memory of one process in the addresses of another (cuIpc…). The exporter's allocation moves into a file when it is first
 * exported, and a handle says where that file is. The importer takes no device memory; what it mapped stays readable when
 * the exporter frees it, which on a GPU is undefined. */
#include "work/work.h"

#include <unistd.h>

#define MAGIC 0x6d656d2d6d6973ull
enum { LAZY_PEER_ACCESS = 1 };

typedef struct {
    uint64_t magic, owner, inode, offset, bytes, id;
    int file, gpu;
} ticket_t;

typedef struct {
    ticket_t ticket;
    unsigned opened;
} sim_import_t;

_Static_assert(sizeof(ticket_t) <= sizeof(CUipcMemHandle), "a handle holds a ticket");

bool sim_ipc_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation) {
    const ticket_t *ticket = &((sim_import_t *)range->detail)->ticket;
    *allocation = (sim_allocation_t){range->base + ticket->offset, ticket->bytes, range};
    return address - allocation->base < ticket->bytes;
}

/* Only what cuMemAlloc and its kin made. */
static bool is_exportable(CUdeviceptr address, sim_allocation_t *found) {
    return sim_memory_find(address, found) && (found->range->kind == SIM_PLAIN || found->range->kind == SIM_SMALL);
}

/* The block of a small allocation is exported as a whole. */
CUresult sim_cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
    CUcontext context;
    sim_allocation_t found;
    SIM_REQUIRE(handle, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(is_exportable(address, &found), CUDA_ERROR_INVALID_VALUE);
    if (!found.range->file) SIM_TRY(sim_context_drain(found.range->context));
    SIM_REQUIRE(is_exportable(address, &found), CUDA_ERROR_INVALID_VALUE);
    sim_range_t *range = found.range;
    SIM_REQUIRE(sim_share_range(range), CUDA_ERROR_MAP_FAILED);
    ticket_t ticket = {MAGIC, sim_state_self(), sim_share_inode(range->file), found.base - range->base, found.bytes, range->id, range->file,
                       sim_device_gpu(range->device)};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &ticket, sizeof ticket);
    return CUDA_SUCCESS;
}

static sim_range_t *opened_before(CUcontext context, const ticket_t *ticket) {
    sim_range_t *range = context->ranges;
    while (range && (range->kind != SIM_IMPORTED || memcmp(range->detail, ticket, sizeof *ticket) != 0)) range = range->next;
    return range;
}

static CUresult map_import(CUcontext context, const ticket_t *ticket, int file, sim_range_t **result) {
    int device = sim_device_of_gpu(ticket->gpu);
    SIM_REQUIRE(device >= 0, CUDA_ERROR_INVALID_DEVICE);
    sim_import_t *import = malloc(sizeof *import);
    SIM_REQUIRE(import, CUDA_ERROR_OUT_OF_MEMORY);
    *import = (sim_import_t){*ticket, 1};
    CUresult taken = sim_memory_take_import(context, device, ticket->offset + ticket->bytes, result);
    if (taken) return free(import), taken;
    (*result)->detail = import;
    if (sim_space_show(*result, file)) return CUDA_SUCCESS;
    sim_memory_give_import(*result);
    return CUDA_ERROR_MAP_FAILED;
}

CUresult sim_cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags) {
    CUcontext context;
    ticket_t ticket;
    memcpy(&ticket, &handle, sizeof ticket);
    SIM_REQUIRE(address && flags == LAZY_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(ticket.magic == MAGIC, CUDA_ERROR_INVALID_HANDLE);
    SIM_REQUIRE(ticket.owner != sim_state_self(), CUDA_ERROR_INVALID_CONTEXT);
    sim_range_t *range = opened_before(context, &ticket);
    if (range) {
        ((sim_import_t *)range->detail)->opened++;
    } else {
        int file = sim_share_open(ticket.owner, ticket.file, ticket.inode);
        SIM_REQUIRE(file, CUDA_ERROR_INVALID_HANDLE);
        CUresult mapped = map_import(context, &ticket, file, &range);
        if (mapped) return close(file), mapped;
    }
    *address = range->base + ticket.offset;
    return CUDA_SUCCESS;
}

CUresult sim_cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags) {
    return sim_cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult sim_cuIpcCloseMemHandle(CUdeviceptr address) {
    CUcontext context;
    sim_allocation_t found;
    SIM_TRY(sim_context_current(&context));
    SIM_REQUIRE(sim_memory_find(address, &found) && found.range->kind == SIM_IMPORTED && found.base == address, CUDA_ERROR_INVALID_VALUE);
    sim_import_t *import = found.range->detail;
    if (--import->opened) return CUDA_SUCCESS;
    SIM_TRY(sim_context_drain(found.range->context));
    sim_memory_give_import(found.range);
    return CUDA_SUCCESS;
}
