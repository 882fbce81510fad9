/* The memory of allocation nodes. Addresses come from a pool of their own for each GPU, when the nodes are made; an allocation gets those of
 * an earlier one that was freed before it on every path. Memory is separate from addresses: graphs of a GPU share it in chunks, as on an H200
 * (driver 580). The addresses of a graph lie in runs. An allocation that ends beyond its run extends it by the allocation's size, in
 * whole chunks. A launch takes what the same graph had, then what is idle or was used before in the same stream, then more. Launched in
 * another stream while it runs, the graph gets other memory for what it took over from other graphs. It stays until cuDeviceGraphMemTrim finds
 * it idle. */
#include "work/graph.h"

typedef struct owner {
    struct owner *next;
    CUgraphExec executable; /* NULL: destroyed */
    uint64_t id;
    int device;
    unsigned chunks;        /* that it had in its last launch and that no other took since */
    unsigned kept;          /* of these, for allocations that it did not free */
    unsigned borrowed;      /* of these, from other graphs; it has them in the stream of its launches only */
    unsigned alive;         /* such allocations */
    unsigned running;       /* launches that the engine has not finished */
    CUstream stream;        /* of these launches; NULL: of several */
    uint64_t behind;        /* the owner whose launches still use it, or 0 */
} owner_t;

typedef struct memory {
    struct memory *next;
    CUmemoryPool pool;
    CUdeviceptr address;
    size_t bytes;
    unsigned owners;
    bool allocated;
    CUgraphExec executable; /* only one at a time may have it */
    uint64_t kept_by; /* the owner that left it allocated, or 0 */
} memory_t;

typedef struct {
    uint64_t reserved_bytes, high_bytes;
} figures_t;

static memory_t *all;
static owner_t *owners;
static figures_t figures[SIM_GPUS_MAX];

static memory_t *find(CUdeviceptr address) {
    memory_t *memory = all;
    while (memory && memory->address != address) memory = memory->next;
    return memory;
}

bool sim_graph_memory_is_known(CUdeviceptr address) { return find(address); }

/* The last node that names the address is a free that comes before all of the new node. */
static bool is_free_behind(CUgraph graph, CUdeviceptr address, const CUgraphNode *after, size_t count) {
    CUgraphNode last = NULL;
    for (CUgraphNode node = graph->first; node; node = node->next)
        if ((node->work.kind == SIM_WORK_ALLOC || node->work.kind == SIM_WORK_FREE) && node->work.memory.address == address) last = node;
    if (!last || last->work.kind != SIM_WORK_FREE) return false;
    for (size_t i = 0; i < count; i++)
        if (sim_graph_reaches(last, after[i])) return true;
    return false;
}

static memory_t *find_reusable(const sim_graph_place_t *place, size_t bytes) {
    for (CUgraphNode node = place->graph->first; node; node = node->next) {
        memory_t *memory = node->work.kind == SIM_WORK_ALLOC ? find(node->work.memory.address) : NULL;
        if (memory && memory->pool->device == place->device && memory->bytes >= bytes &&
            is_free_behind(place->graph, memory->address, place->after, place->count)) return memory;
    }
    return NULL;
}

CUresult sim_graph_memory_make(const sim_graph_place_t *place, size_t bytes, CUdeviceptr *address) {
    memory_t *memory = find_reusable(place, bytes);
    if (memory) return *address = memory->address, CUDA_SUCCESS;
    memory = calloc(1, sizeof *memory);
    SIM_REQUIRE(memory, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult made = sim_pool_of_graphs(place->device, &memory->pool);
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
    if (!memory || --memory->owners || memory->allocated) return;
    sim_pool_give(memory->pool, memory->address);
    for (memory_t **each = &all; *each; each = &(*each)->next)
        if (*each == memory) {
            *each = memory->next;
            break;
        }
    free(memory);
}

bool sim_graph_memory_bind(const sim_work_t *work, CUgraphExec executable) {
    memory_t *memory = work->kind == SIM_WORK_ALLOC ? find(work->memory.address) : NULL;
    if (memory && executable && memory->executable && memory->executable != executable) return false;
    if (memory) memory->executable = executable;
    return true;
}

/* What a launch needs, in chunks. */
typedef struct {
    unsigned count, kept, alive; /* in all; of that for allocations that stay, and how many these are */
    int device;
} plan_t;

static unsigned chunks_of(size_t bytes) { return (unsigned)((bytes + SIM_POOL_CHUNK - 1) / SIM_POOL_CHUNK); }

/* How often the address is allocated from this step on, less how often it is freed. */
static int balance(CUgraphExec executable, CUdeviceptr address, size_t from) {
    int allocated = 0;
    for (size_t i = from; i < executable->count; i++)
        if (executable->steps[i].memory.address == address)
            allocated += executable->steps[i].kind == SIM_WORK_ALLOC ? 1 : executable->steps[i].kind == SIM_WORK_FREE ? -1 : 0;
    return allocated;
}

/* A run of addresses of a graph that has memory behind it. */
typedef struct {
    CUdeviceptr from;
    unsigned chunks;
} run_t;

/* An allocation that begins in a run and ends beyond it extends the run by its own size. */
static unsigned grow_runs(run_t *runs, size_t *count, const sim_work_t *step) {
    unsigned chunks = chunks_of(step->memory.bytes);
    for (size_t i = 0; i < *count; i++) {
        uint64_t offset = step->memory.address - runs[i].from, bytes = runs[i].chunks * SIM_POOL_CHUNK;
        if (step->memory.address < runs[i].from || offset > bytes) continue;
        if (offset + step->memory.bytes <= bytes) return 0;
        runs[i].chunks += chunks;
        return chunks;
    }
    runs[(*count)++] = (run_t){step->memory.address, chunks};
    return chunks;
}

static plan_t make_plan(CUgraphExec executable) {
    plan_t plan = {.device = -1};
    run_t *runs = calloc(executable->count + 1, sizeof *runs);
    size_t count = 0;
    for (size_t i = 0; runs && i < executable->count; i++) {
        const sim_work_t *step = &executable->steps[i];
        if (step->kind != SIM_WORK_ALLOC) continue;
        plan.device = find(step->memory.address)->pool->device;
        plan.count += grow_runs(runs, &count, step);
        if (balance(executable, step->memory.address, i) <= 0) continue;
        plan.alive++;
        plan.kept += chunks_of(step->memory.bytes);
    }
    free(runs);
    plan.kept = plan.kept < plan.count ? plan.kept : plan.count;
    return plan;
}

static owner_t *owner_of(CUgraphExec executable, int device) {
    for (owner_t *owner = owners; owner; owner = owner->next)
        if (owner->executable == executable) return owner;
    owner_t *owner = calloc(1, sizeof *owner);
    if (!owner) return NULL;
    *owner = (owner_t){.next = owners, .executable = executable, .id = sim_space_next_id(), .device = device};
    return owners = owner;
}

static void forget_empty(void) {
    for (owner_t **each = &owners; *each;) {
        owner_t *owner = *each;
        if (owner->executable || owner->chunks || owner->running) {
            each = &owner->next;
            continue;
        }
        *each = owner->next;
        free(owner);
    }
}

static unsigned take_from_others(owner_t *owner, CUstream stream, unsigned wanted) {
    unsigned taken = 0;
    for (owner_t *other = owners; other && taken < wanted; other = other->next) {
        if (other == owner || other->device != owner->device || (other->running && other->stream != stream)) continue;
        unsigned share = other->chunks - other->kept;
        if (share > wanted - taken) share = wanted - taken;
        other->chunks -= share;
        other->borrowed = other->borrowed < other->chunks ? other->borrowed : other->chunks;
        owner->borrowed += share;
        taken += share;
    }
    return taken;
}

/* Borrowed memory stays in its stream, for the next graph there. */
static bool leave_borrowed(owner_t *owner) {
    owner_t *left = calloc(1, sizeof *left);
    if (!left) return false;
    *left = (owner_t){.next = owners, .id = sim_space_next_id(), .device = owner->device, .chunks = owner->borrowed,
                      .running = 1, .stream = owner->stream, .behind = owner->id};
    owners = left;
    owner->chunks -= owner->borrowed;
    owner->borrowed = 0;
    return true;
}

CUresult sim_graph_memory_begin(CUgraphExec executable, CUstream stream) {
    plan_t plan = make_plan(executable);
    if (!plan.count) return CUDA_SUCCESS;
    sim_work_catch_up();
    owner_t *owner = owner_of(executable, plan.device);
    SIM_REQUIRE(owner, CUDA_ERROR_OUT_OF_MEMORY);
    if (owner->running && owner->stream != stream && owner->borrowed) SIM_REQUIRE(leave_borrowed(owner), CUDA_ERROR_OUT_OF_MEMORY);
    if (owner->chunks < plan.count) owner->chunks += take_from_others(owner, stream, plan.count - owner->chunks);
    uint64_t missing = plan.count > owner->chunks ? (plan.count - owner->chunks) * SIM_POOL_CHUNK : 0;
    SIM_REQUIRE(!missing || sim_state_take(sim_device_gpu(plan.device), missing), CUDA_ERROR_OUT_OF_MEMORY);
    owner->chunks += (unsigned)(missing / SIM_POOL_CHUNK);
    owner->kept = plan.kept;
    owner->alive = plan.alive;
    figures_t *figure = &figures[plan.device];
    figure->reserved_bytes += missing;
    if (figure->reserved_bytes > figure->high_bytes) figure->high_bytes = figure->reserved_bytes;
    return CUDA_SUCCESS;
}

/* The engine comes to the end of the launch by way of a free. */
CUresult sim_graph_memory_end(CUgraphExec executable, CUstream stream) {
    CUmemoryPool pool;
    owner_t *owner = owners;
    while (owner && owner->executable != executable) owner = owner->next;
    if (!owner) return CUDA_SUCCESS;
    for (size_t i = 0; i < executable->count; i++) {
        memory_t *memory = executable->steps[i].kind == SIM_WORK_ALLOC ? find(executable->steps[i].memory.address) : NULL;
        if (memory) memory->kept_by = memory->allocated ? owner->id : 0;
    }
    owner->stream = owner->running && owner->stream != stream ? NULL : stream;
    SIM_TRY(sim_pool_of_graphs(owner->device, &pool));
    SIM_TRY(sim_work_queue(stream, &(sim_work_t){.kind = SIM_WORK_FREE, .memory = {.address = pool->range->base, .generation = owner->id}}));
    owner->running++;
    return CUDA_SUCCESS;
}

void sim_graph_memory_finish(uint64_t id) {
    bool idle = false;
    for (owner_t *owner = owners; owner; owner = owner->next)
        if (owner->id == id && owner->running && !--owner->running) {
            owner->borrowed = 0;
            idle = true;
        }
    for (owner_t *owner = owners; owner && idle; owner = owner->next)
        if (owner->behind == id) owner->behind = owner->running = 0;
    forget_empty();
}

void sim_graph_memory_leave(CUgraphExec executable) {
    for (owner_t *owner = owners; owner; owner = owner->next)
        if (owner->executable == executable) owner->executable = NULL;
    forget_empty();
}

CUresult sim_graph_memory_allocate(CUdeviceptr address) {
    memory_t *memory = find(address);
    SIM_REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    memory->allocated = true;
    return CUDA_SUCCESS;
}

CUresult sim_graph_memory_free(CUdeviceptr address) {
    memory_t *memory = find(address);
    SIM_REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    for (owner_t *owner = owners; owner; owner = owner->next)
        if (memory->kept_by == owner->id && owner->alive && !--owner->alive) owner->kept = 0;
    memory->allocated = false;
    memory->kept_by = 0;
    if (memory->owners == 0) {
        memory->owners = 1;
        sim_graph_memory_drop(&(sim_work_t){.kind = SIM_WORK_ALLOC, .memory = {.address = address}});
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
    SIM_REQUIRE(node && parameters && node->work.kind == SIM_WORK_ALLOC, CUDA_ERROR_INVALID_VALUE);
    const memory_t *memory = find(node->work.memory.address);
    SIM_REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    *parameters = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = {.allocType = 1, .location = {1, memory->pool->device}}, .bytesize = node->work.memory.bytes,
                                               .dptr = memory->address};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
    SIM_REQUIRE(node && address && node->work.kind == SIM_WORK_FREE, CUDA_ERROR_INVALID_VALUE);
    *address = node->work.memory.address;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGraphMemTrim(CUdevice device) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    sim_work_catch_up();
    for (owner_t *owner = owners; owner; owner = owner->next) {
        if (owner->device != device || owner->running) continue;
        uint64_t bytes = (owner->chunks - owner->kept) * SIM_POOL_CHUNK;
        owner->chunks = owner->kept;
        figures[device].reserved_bytes -= bytes;
        if (bytes) sim_state_give(sim_device_gpu(device), bytes);
    }
    forget_empty();
    return CUDA_SUCCESS;
}

enum { GRAPH_USED = 0, GRAPH_USED_HIGH = 1, GRAPH_RESERVED = 2, GRAPH_RESERVED_HIGH = 3 };

/* Idle memory of graphs counts as used until it is trimmed. */
CUresult sim_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    SIM_REQUIRE(value && attribute >= GRAPH_USED && attribute <= GRAPH_RESERVED_HIGH, CUDA_ERROR_INVALID_VALUE);
    bool is_high = attribute == GRAPH_USED_HIGH || attribute == GRAPH_RESERVED_HIGH;
    *(uint64_t *)value = is_high ? figures[device].high_bytes : figures[device].reserved_bytes;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    SIM_REQUIRE(sim_device_is_known(device), CUDA_ERROR_INVALID_DEVICE);
    SIM_REQUIRE(attribute == GRAPH_USED_HIGH || attribute == GRAPH_RESERVED_HIGH, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(value && *(uint64_t *)value == 0, CUDA_ERROR_INVALID_VALUE);
    figures[device].high_bytes = figures[device].reserved_bytes;
    return CUDA_SUCCESS;
}
