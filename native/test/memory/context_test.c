/* Contexts are charged with what the first one took, and memory that the driver takes by itself is booked as overhead. The driver and NVML
 * are fakes that keep one number: what the process has on the GPU. */
#include "check.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tenant/gpu.h"
#include "hooks.h"
#include "ledger/ledger.h"
#include "driver/nvml.h"
#include "memory/stream/graph.h"
#include "memory/overhead.h"
#include "memory/pool.h"
#include "real.h"
#include "real_nvml.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define CONTEXT (500 * MIB)
#define LIMIT (2000 * MIB)
#define GPU 0u

static struct {
    uint64_t process_bytes, others_bytes;
    unsigned primary_uses, contexts, greens, created;
    size_t stack;
    int listed; /* 0: NVML does not know the process */
    unsigned nvml_calls, nvml_inits;
    uint64_t code_bytes; /* what the next module takes */
    uint64_t loaded_bytes;
    uint64_t pool_bytes, graph_bytes;
    bool pool_is_free; /* the next wait for a stream gives its memory back */
    bool look_meanwhile;
    uint64_t overhead_meanwhile;
    CUresult answer;    /* the error of the calls that make a context, if any */
    unsigned outer_pid; /* as NVML lists the process; 0 = as it knows itself */
} fake;

static CUcontext as_context(unsigned number) {
    return (CUcontext)(uintptr_t)(0x7000000 + number * 0x1000);
}

static CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    (void)attribute;
    *value = 1024;
    return device == 0 ? 0 : 101;
}
static CUresult get_uuid(CUuuid *uuid, CUdevice device) {
    memset(uuid, 7, sizeof *uuid);
    return device == 0 ? 0 : 101;
}
static CUresult get_count(int *count) {
    *count = 1;
    return 0;
}
static CUresult total_mem(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = 100000 * MIB;
    return 0;
}
static CUresult get_device(CUdevice *device) {
    *device = 0;
    return fake.primary_uses || fake.contexts ? 0 : 201;
}
static CUresult get_info(size_t *free_bytes, size_t *total_bytes) {
    *total_bytes = 100000 * MIB;
    *free_bytes = *total_bytes - fake.process_bytes - fake.others_bytes;
    return 0;
}
static CUresult get_state(CUdevice device, unsigned *flags, int *active) {
    (void)device;
    *flags = 0;
    *active = fake.primary_uses + fake.greens > 0;
    return 0;
}
static CUresult retain(CUcontext *context, CUdevice device) {
    if (device != 0 || fake.answer)
        return fake.answer ? fake.answer : 101;
    if (fake.primary_uses++ + fake.greens == 0)
        fake.process_bytes += CONTEXT;
    fake.created++;
    *context = as_context(0);
    return 0;
}
static CUresult release(CUdevice device) {
    (void)device;
    if (!fake.primary_uses)
        return 201;
    if (--fake.primary_uses + fake.greens == 0)
        fake.process_bytes -= CONTEXT;
    return 0;
}
static CUresult reset(CUdevice device) {
    (void)device;
    fake.process_bytes -= fake.primary_uses ? CONTEXT : 0;
    fake.primary_uses = 0;
    return 0;
}
static void (*meanwhile)(void); /* what another thread does while the driver makes a context */

static CUresult create(CUcontext *context, unsigned flags, CUdevice device) {
    (void)flags;
    if (device != 0 || fake.answer)
        return fake.answer ? fake.answer : 101;
    fake.process_bytes += CONTEXT;
    fake.created++;
    *context = as_context(++fake.contexts);
    void (*other_thread)(void) = meanwhile;
    meanwhile = NULL;
    if (other_thread)
        other_thread();
    return 0;
}
static CUresult destroy(CUcontext context) {
    (void)context;
    fake.process_bytes -= CONTEXT;
    fake.contexts--;
    if (fake.look_meanwhile) { /* another thread, before the end is booked */
        sl_overhead_came_back(GPU);
        fake.overhead_meanwhile = sl_ledger_own(GPU).overhead;
    }
    return 0;
}
static CUresult create_green(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice device, unsigned flags) {
    (void)desc, (void)device, (void)flags;
    if (fake.primary_uses + fake.greens++ == 0)
        fake.process_bytes += CONTEXT;
    fake.process_bytes += 10 * MIB;
    *green = (CUgreenCtx)0x123000;
    return 0;
}
static CUresult destroy_green(CUgreenCtx green) {
    (void)green;
    fake.process_bytes -= 10 * MIB;
    if (fake.primary_uses + --fake.greens == 0)
        fake.process_bytes -= CONTEXT;
    return 0;
}
static CUresult load(CUmodule *module, const void *image) {
    (void)image;
    fake.process_bytes += fake.code_bytes;
    fake.loaded_bytes = fake.code_bytes;
    *module = (CUmodule)0x456000;
    return 0;
}
static CUresult unload(CUmodule module) {
    (void)module;
    fake.process_bytes -= fake.loaded_bytes;
    fake.loaded_bytes = 0;
    if (fake.pool_is_free) {
        fake.process_bytes -= fake.pool_bytes;
        fake.pool_bytes = 0;
    }
    return 0;
}
static CUresult pool_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    (void)pool, (void)attribute;
    *(uint64_t *)value = fake.pool_bytes;
    return 0;
}
static CUresult set_limit(CUlimit limit, size_t value) {
    if (limit != 0)
        return 215;
    fake.process_bytes += (value - fake.stack) * 100000;
    fake.stack = value;
    return 0;
}
static CUresult get_limit(size_t *value, CUlimit limit) {
    *value = fake.stack;
    return limit == 0 ? 0 : 215;
}

static nvmlReturn_t nvml_init(void) {
    int fd = open("/dev/null", O_RDONLY);
    fake.nvml_inits++;
    return fd < 0 ? 9 : close(fd);
}
static nvmlReturn_t nvml_by_uuid(const char *uuid, nvmlDevice_t *device) {
    *device = (nvmlDevice_t)0x99;
    return strncmp(uuid, "GPU-07070707-", 13) == 0 ? 0 : 6;
}
static nvmlReturn_t nvml_processes(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *processes) {
    (void)device;
    fake.nvml_calls++;
    unsigned room = *count;
    *count = 100 + (fake.listed && fake.process_bytes);
    if (room < *count)
        return 7;
    for (unsigned i = 0; i < *count; i++)
        processes[i] = (nvmlProcessInfo_t){.pid = 1, .usedGpuMemory = 12345};
    if (*count > 100)
        processes[100] = (nvmlProcessInfo_t){.pid = fake.outer_pid ? fake.outer_pid : (unsigned)getpid(),
                                              .usedGpuMemory = fake.process_bytes};
    return 0;
}
static nvmlReturn_t nvml_memory(nvmlDevice_t device, nvmlMemory_t *memory) {
    (void)device;
    memory->used = fake.process_bytes + fake.others_bytes;
    return 0;
}

static sl_region_account_t *account(void) {
    return sl_region_account(&sl_tenant.region, sl_tenant.slot, GPU);
}

static void check_books(uint64_t context, uint64_t overhead, int line) {
    const sl_region_account_t *books = account();
    CHECK(books->context_bytes == context && books->overhead_bytes == overhead, "line %d: contexts %llu MiB, overhead %llu MiB",
          line, (unsigned long long)(books->context_bytes / MIB), (unsigned long long)(books->overhead_bytes / MIB));
    CHECK(books->charged_bytes == books->linear_bytes + books->managed_bytes + books->pool_bytes + context + overhead &&
              !books->in_flight_bytes,
          "line %d: the parts do not make the whole", line);
}
#define BOOKS(context, overhead) check_books(context, overhead, __LINE__)

/* A fresh process of a fresh tenant. */
static void begin(const char *memory) {
    real = (sl_real_t){.cuDeviceGetAttribute = get_attribute, .cuDeviceGetUuid_v2 = get_uuid, .cuDeviceGetUuid = get_uuid,
                       .cuDeviceGetCount = get_count, .cuDeviceTotalMem_v2 = total_mem, .cuCtxGetDevice = get_device,
                       .cuMemGetInfo_v2 = get_info, .cuDevicePrimaryCtxGetState = get_state,
                       .cuDevicePrimaryCtxRetain = retain, .cuDevicePrimaryCtxRelease_v2 = release,
                       .cuDevicePrimaryCtxReset_v2 = reset, .cuCtxCreate_v2 = create, .cuCtxDestroy_v2 = destroy,
                       .cuGreenCtxCreate = create_green, .cuGreenCtxDestroy = destroy_green,
                       .cuModuleLoadData = load, .cuModuleUnload = unload, .cuCtxSetLimit = set_limit,
                       .cuCtxGetLimit = get_limit, .cuMemPoolGetAttribute = pool_attribute};
    real_nvml = (sl_real_nvml_t){.nvmlInit_v2 = nvml_init, .nvmlDeviceGetHandleByUUID = nvml_by_uuid,
                                 .nvmlDeviceGetComputeRunningProcesses_v3 = nvml_processes,
                                 .nvmlDeviceGetMemoryInfo = nvml_memory};
    fake.listed = 1;
    fake.stack = 1024;
    char name[32];
    snprintf(name, sizeof name, "context-%d", (int)getpid());
    setenv("SLUICE_TENANT", name, 1);
    if (memory)
        setenv("SLUICE_MEMORY", memory, 1);
    else
        unsetenv("SLUICE_MEMORY");
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
}

static CUcontext context, other;

static void learns(void) {
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 5) == 101 && hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    CHECK(sl_tenant.region.gpus[GPU].context_bytes == CONTEXT);
    BOOKS(CONTEXT, 0);
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && hook_cuDevicePrimaryCtxRelease_v2(0) == 0);
    BOOKS(CONTEXT, 0);
    CHECK(hook_cuCtxCreate_v2(&other, 0, 0) == 0);
    BOOKS(2 * CONTEXT, 0);
    CHECK(hook_cuCtxDestroy_v2(other) == 0 && hook_cuDevicePrimaryCtxRelease_v2(0) == 0);
    BOOKS(0, 0);
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    CHECK(hook_cuDevicePrimaryCtxReset_v2(0) == 0);
    BOOKS(0, 0);
}
static void should_charge_a_context_while_anybody_uses_it(void) {
    CHECK(in_child(learns) == 0);
}

static void learns_by_outer_pid(void) {
    fake.outer_pid = 4000001;
    begin("2000m");
    sl_nvml_set_outer_pid(fake.outer_pid);
    sl_nvml_forget();
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    BOOKS(CONTEXT, 0);
}
static void should_know_itself_by_the_number_that_the_agent_told(void) {
    CHECK(in_child(learns_by_outer_pid) == 0);
}

static void undoes(void) {
    begin("400m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 2 && fake.created == 1 && fake.process_bytes == 0 && !fake.primary_uses);
    BOOKS(0, 0);
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 2 && hook_cuCtxCreate_v2(&context, 0, 0) == 2 && fake.created == 1);
    CHECK(sl_tenant.region.gpus[GPU].refused_calls == 3);
    BOOKS(0, 0);
}
static void should_ask_the_driver_only_the_first_time_when_there_is_no_room(void) {
    CHECK(in_child(undoes) == 0);
}

/* The first is measured, the others reserve what one takes. */
static void fails(void) {
    begin("2000m");
    for (int known = 0; known < 2; known++) {
        fake.answer = 2;
        for (int i = 0; i < 5; i++)
            CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 2 && hook_cuCtxCreate_v2(&other, 0, 0) == 2);
        BOOKS(0, 0);
        CHECK(sl_tenant.region.gpus[GPU].context_bytes == (known ? CONTEXT : 0) && !sl_tenant.region.gpus[GPU].refused_calls);
        fake.answer = 0;
        CHECK(hook_cuCtxCreate_v2(&other, 0, 0) == 0 && sl_tenant.region.gpus[GPU].context_bytes == CONTEXT);
        BOOKS(CONTEXT, 0);
        CHECK(sl_ledger_reserve(GPU, LIMIT - CONTEXT) == LIMIT, "the quota shrank");
        sl_ledger_cancel(GPU, LIMIT - CONTEXT);
        CHECK(hook_cuCtxDestroy_v2(other) == 0);
        BOOKS(0, 0);
    }
}
static void should_charge_nothing_for_a_context_that_the_driver_refused(void) {
    CHECK(in_child(fails) == 0);
}

static void loads(void) {
    CUmodule module;
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    fake.code_bytes = 64 * MIB;
    CHECK(hook_cuModuleLoadData(&module, "") == 0);
    BOOKS(CONTEXT, 64 * MIB);
    CHECK(hook_cuModuleUnload(module) == 0);
    BOOKS(CONTEXT, 0);
    fake.code_bytes = 1600 * MIB;
    CHECK(hook_cuModuleLoadData(&module, "") == 2 && fake.process_bytes == CONTEXT && !module);
    BOOKS(CONTEXT, 0);
    CHECK(hook_cuCtxSetLimit(0, 1024 + 1048) == 0);
    BOOKS(CONTEXT, 104800000);
    CHECK(hook_cuCtxSetLimit(0, 1 << 20) == 2 && fake.stack == 1024 + 1048 && hook_cuCtxSetLimit(1, 1) == 215);
    BOOKS(CONTEXT, 104800000);
    CHECK(hook_cuCtxSetLimit(0, 1024) == 0 && hook_cuDevicePrimaryCtxReset_v2(0) == 0);
    BOOKS(0, 0);
    CHECK(sl_tenant.region.gpus[GPU].refused_calls == 2);
}
static void should_book_code_and_stacks_and_undo_what_passes_the_quota(void) {
    CHECK(in_child(loads) == 0);
}

static void lowers(void) {
    CUmodule module;
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    fake.process_bytes += 300 * MIB; /* lazily loaded */
    CHECK(!sl_overhead_came_back(GPU));
    BOOKS(CONTEXT, 300 * MIB);
    uint64_t used = sl_ledger_reserve(GPU, 1200 * MIB);
    CHECK(used == 2000 * MIB && !sl_ledger_reserve(GPU, 1));
    fake.process_bytes += 1200 * MIB;
    sl_ledger_commit(GPU, SL_USE_LINEAR, 1200 * MIB, used);
    BOOKS(CONTEXT, 300 * MIB);
    fake.process_bytes -= 100 * MIB; /* the driver freed some; the library must see that before it refuses anything */
    CHECK((used = sl_ledger_reserve(GPU, 100 * MIB)) == 2000 * MIB);
    sl_ledger_cancel(GPU, 100 * MIB);
    BOOKS(CONTEXT, 200 * MIB);
    fake.process_bytes += 100 * MIB + 50 * MIB; /* lazy code passed the quota: a load that takes nothing must not fail */
    sl_overhead_came_back(GPU);
    CHECK(hook_cuModuleLoadData(&module, "") == 0);
    BOOKS(CONTEXT, 350 * MIB);
}
static void should_see_what_comes_back_before_it_refuses(void) {
    CHECK(in_child(lowers) == 0);
}

static void manages(void) {
    CUmodule module;
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    sl_ledger_commit(GPU, SL_USE_MANAGED, 400 * MIB, sl_ledger_reserve(GPU, 400 * MIB));
    sl_overhead_came_back(GPU);
    BOOKS(CONTEXT, 0);
    fake.process_bytes += 400 * MIB; /* touched: it is no overhead */
    sl_overhead_came_back(GPU);
    BOOKS(CONTEXT, 0);
    fake.code_bytes = 20 * MIB;
    CHECK(hook_cuModuleLoadData(&module, "") == 0);
    BOOKS(CONTEXT, 20 * MIB);
    fake.process_bytes -= 400 * MIB; /* evicted */
    sl_overhead_came_back(GPU);
    BOOKS(CONTEXT, 20 * MIB);
    CHECK(hook_cuModuleUnload(module) == 0);
    BOOKS(CONTEXT, 0);
}
static void should_not_take_managed_memory_for_overhead(void) {
    CHECK(in_child(manages) == 0);
}

static void passes(void) {
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    sl_ledger_commit(GPU, SL_USE_MANAGED, 400 * MIB, sl_ledger_reserve(GPU, 400 * MIB));
    fake.process_bytes += 402 * MIB; /* and a block that another thread gives back at once */
    sl_overhead_came_back(GPU);
    BOOKS(CONTEXT, 2 * MIB);
    fake.process_bytes -= 2 * MIB;
    sl_overhead_came_back(GPU);
    BOOKS(CONTEXT, 0);
    fake.process_bytes += 20 * MIB; /* this stays, */
    for (int i = 0; i < 6; i++, usleep(120000))
        sl_overhead_came_back(GPU);
    fake.process_bytes -= 400 * MIB; /* also when managed memory is evicted */
    sl_overhead_came_back(GPU);
    BOOKS(CONTEXT, 20 * MIB);
}
static void should_not_keep_a_rise_that_passes(void) {
    CHECK(in_child(passes) == 0);
}

static void ends(void) {
    CUmodule module;
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && hook_cuCtxCreate_v2(&other, 0, 0) == 0);
    fake.code_bytes = 300 * MIB;
    CHECK(hook_cuModuleLoadData(&module, "") == 0);
    BOOKS(2 * CONTEXT, 300 * MIB);
    fake.look_meanwhile = true;
    CHECK(hook_cuCtxDestroy_v2(other) == 0 && fake.overhead_meanwhile == 300 * MIB, "%llu MiB while the context ended",
          (unsigned long long)(fake.overhead_meanwhile / MIB));
    BOOKS(CONTEXT, 300 * MIB);
}
static void should_keep_the_overhead_while_a_context_ends(void) {
    CHECK(in_child(ends) == 0);
}

static CUresult graph_attribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    (void)device, (void)attribute;
    *(uint64_t *)value = fake.graph_bytes;
    return 0;
}
/* NVML's figure falls while the driver works, the graphs' own one at the end. */
static CUresult trim_graphs(CUdevice device) {
    (void)device;
    fake.process_bytes -= fake.graph_bytes;
    sl_overhead_came_back(GPU); /* another thread */
    fake.overhead_meanwhile = sl_ledger_own(GPU).overhead;
    fake.graph_bytes = 0;
    return 0;
}
static void launch_graph(uint64_t bytes) {
    sl_pool_t *pool = sl_pool_of_graphs(0, GPU);
    sl_pool_charge_lock(pool);
    uint64_t sum = sl_ledger_try_at_once(GPU, bytes, 0);
    fake.graph_bytes = bytes;
    fake.process_bytes += bytes;
    CHECK(sum && sl_pool_charge_settle(pool, bytes, sum) == bytes);
    sl_pool_charge_unlock(pool);
}
static void trims(void) {
    CUmodule module;
    begin("2000m");
    real.cuDeviceGetGraphMemAttribute = graph_attribute;
    real.cuDeviceGraphMemTrim = trim_graphs;
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    fake.code_bytes = 300 * MIB;
    CHECK(hook_cuModuleLoadData(&module, "") == 0);
    sl_graph_note_allocation();
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        launch_graph(600 * MIB);
        CHECK(by_hand ? hook_cuDeviceGraphMemTrim(0) == 0 : sl_pool_trim(GPU));
        CHECK(fake.overhead_meanwhile == 300 * MIB && account()->graph_bytes == 0, "%llu MiB while graphs were trimmed",
              (unsigned long long)(fake.overhead_meanwhile / MIB));
        BOOKS(CONTEXT, 300 * MIB);
    }
}
static void should_keep_the_overhead_while_graphs_are_trimmed(void) {
    CHECK(in_child(trims) == 0);
}

/* With managed memory no look corrects a wrong figure. */
static void pools(void) {
    CUmodule module;
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    sl_ledger_commit(GPU, SL_USE_MANAGED, 400 * MIB, sl_ledger_reserve(GPU, 400 * MIB));
    fake.process_bytes += 400 * MIB;
    sl_pool_t *pool = sl_pool_open((CUmemoryPool)0x5000, GPU);
    sl_pool_charge_lock(pool);
    uint64_t sum = sl_ledger_try_at_once(GPU, 32 * MIB, 0);
    CHECK(sum && sl_pool_charge_need(pool, 20 * MIB) == 32 * MIB);
    fake.pool_bytes = 64 * MIB; /* more than the library predicts */
    fake.process_bytes += 64 * MIB;
    usleep(150000);
    CHECK(sl_pool_charge_settle(pool, 32 * MIB, sum) == 64 * MIB && account()->pool_bytes == 64 * MIB);
    sl_pool_charge_unlock(pool);
    sl_overhead_now_and_then(GPU);
    BOOKS(CONTEXT, 0);
    fake.code_bytes = 20 * MIB;
    CHECK(hook_cuModuleLoadData(&module, "") == 0);
    BOOKS(CONTEXT, 20 * MIB);
    fake.pool_is_free = true;
    CHECK(hook_cuModuleUnload(module) == 0 && account()->pool_bytes == 0);
    BOOKS(CONTEXT, 0);
}
static void should_not_take_pools_for_overhead(void) {
    CHECK(in_child(pools) == 0);
}

static CUresult take(uint64_t bytes, CUdeviceptr *address) {
    static CUdeviceptr next = 0x700000000000;
    fake.process_bytes += bytes;
    *address = next += 64 * MIB;
    return 0;
}
static CUresult allocate(CUdeviceptr *address, size_t bytes) {
    return take(bytes, address);
}
static CUresult create_array(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *shape) {
    return take(shape->Width * shape->Height * 4, (CUdeviceptr *)array);
}
static CUresult create_memory(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, unsigned long long flags) {
    (void)prop, (void)flags;
    return take(bytes, handle);
}
static CUresult get_pool(CUmemoryPool *pool, CUdevice device) {
    (void)device;
    *pool = (CUmemoryPool)0x5000;
    return 0;
}
static CUresult allocate_async(CUdeviceptr *address, size_t bytes, CUstream stream) {
    (void)bytes, (void)stream;
    fake.pool_bytes += 32 * MIB;
    return take(32 * MIB, address);
}
static CUresult get_context(CUcontext *current) {
    *current = as_context(0);
    return 0;
}

static void takes_plain_memory(void) {
    CHECK(hook_cuMemAlloc_v2(&(CUdeviceptr){0}, 4 * MIB) == 0);
}
static void takes_an_array(void) {
    CHECK(hook_cuArrayCreate_v2(&(CUarray){NULL}, &(CUDA_ARRAY_DESCRIPTOR){1024, 1024, 0x20, 1}) == 0);
}
static void takes_physical_memory(void) {
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}};
    CHECK(hook_cuMemCreate(&(CUmemGenericAllocationHandle){0}, 4 * MIB, &prop, 0) == 0);
}
static void takes_from_a_pool(void) {
    CHECK(hook_cuMemAllocAsync(&(CUdeviceptr){0}, 32 * MIB, NULL) == 0);
}
static void asks_what_is_free(void) {
    size_t unused, total;
    CHECK(hook_cuMemGetInfo_v2(&unused, &total) == 0 && total == LIMIT);
    CHECK(unused == LIMIT - fake.process_bytes, "%zu MiB", unused / (size_t)MIB);
}

/* A program may use only one way to take memory. Each way must book what the driver took meanwhile, every time. */
static void looks(void) {
    static void (*const ways[])(void) = {takes_plain_memory, takes_an_array, takes_physical_memory, takes_from_a_pool, asks_what_is_free};
    begin("2000m");
    real.cuMemAlloc_v2 = allocate;
    real.cuArrayCreate_v2 = create_array;
    real.cuMemCreate = create_memory;
    real.cuDeviceGetMemPool = get_pool;
    real.cuMemAllocAsync = allocate_async;
    real.cuCtxGetCurrent = get_context;
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    for (unsigned i = 0; i < 10; i++) {
        usleep(120000);
        fake.process_bytes += 10 * MIB; /* lazily loaded */
        ways[i % 5]();
        CHECK(account()->overhead_bytes == (i + 1) * 10 * MIB, "way %u: %llu MiB", i, (unsigned long long)(account()->overhead_bytes / MIB));
    }
    CHECK(account()->charged_bytes == fake.process_bytes);
}
static void should_look_every_now_and_then_whatever_the_program_calls(void) {
    CHECK(in_child(looks) == 0);
}

static void hides(void) {
    CUmodule module;
    begin("2000m");
    fake.listed = 0;
    fake.others_bytes = 7000 * MIB;
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    BOOKS(0, 0);
    fake.code_bytes = 1900 * MIB;
    fake.others_bytes = 9000 * MIB; /* memory of other processes does not count */
    CHECK(hook_cuModuleLoadData(&module, "") == 0);
    BOOKS(0, 0);
}
static void should_refuse_nothing_on_a_guess_where_the_process_is_hidden(void) {
    CHECK(in_child(hides) == 0);
}

static void greens(void) {
    CUgreenCtx green;
    begin("2000m");
    CHECK(hook_cuGreenCtxCreate(&green, NULL, 0, 0) == 0 && fake.primary_uses == 0 && fake.greens == 1);
    BOOKS(CONTEXT, 10 * MIB);
    CHECK(hook_cuGreenCtxDestroy(green) == 0 && fake.process_bytes == 0);
    BOOKS(0, 0);
}
static void should_charge_the_primary_context_under_a_green_one(void) {
    CHECK(in_child(greens) == 0);
}

static void spares(void) {
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && fake.nvml_calls > 0);
    if (fork() == 0) { /* a later process of the tenant */
        fake.nvml_calls = fake.primary_uses = 0;
        fake.process_bytes = 0;
        CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && fake.nvml_calls == 0);
        BOOKS(CONTEXT, 0);
        _exit(0);
    }
    int status;
    wait(&status);
    CHECK(status == 0);
}
static void should_not_ask_nvml_for_a_context_whose_size_is_known(void) {
    CHECK(in_child(spares) == 0);
}

/* A share without a quota: nothing is refused, but the agent's audit compares the figures. */
static void shares(void) {
    char folder[64], gpu[96];
    snprintf(folder, sizeof folder, "%s/gpus", test_folder);
    snprintf(gpu, sizeof gpu, "%s/0000:0a:00.0", folder);
    CHECK(mkdir(folder, 0700) == 0 && mkdir(gpu, 0700) == 0);
    sl_gpu_folder = folder;
    setenv("SLUICE_WEIGHT", "2", 1);
    begin(NULL);
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && sl_tenant.region.gpus[GPU].context_bytes == CONTEXT);
    BOOKS(CONTEXT, 0);
    fake.process_bytes += 300 * MIB; /* lazily loaded */
    usleep(150000);
    sl_overhead_now_and_then(GPU);
    BOOKS(CONTEXT, 300 * MIB);
    if (fork() == 0) { /* even a short process that comes later must not load NVML for it */
        fake.nvml_inits = fake.nvml_calls = fake.primary_uses = 0;
        fake.process_bytes = 0;
        CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
        BOOKS(CONTEXT, 0);
        CHECK(hook_cuModuleLoadData(&(CUmodule){NULL}, "") == 0 && hook_cuDevicePrimaryCtxReset_v2(0) == 0);
        BOOKS(0, 0);
        CHECK(!fake.nvml_inits && !fake.nvml_calls, "NVML was started");
        _exit(0);
    }
    int status;
    wait(&status);
    CHECK(status == 0);
}
static void should_book_contexts_without_a_quota(void) {
    CHECK(in_child(shares) == 0);
}

static void forks(void) {
    pid_t pid = fork();
    if (pid == 0) {
        CUmodule module;
        fake.process_bytes = fake.contexts = fake.primary_uses = 0;
        CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
        BOOKS(CONTEXT, 0);
        fake.code_bytes = 64 * MIB;
        CHECK(hook_cuModuleLoadData(&module, "") == 0);
        BOOKS(CONTEXT, 64 * MIB);
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "%d", status);
}
static void makes_a_context_meanwhile(void) {
    begin("2000m");
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0 && hook_cuDevicePrimaryCtxRelease_v2(0) == 0);
    sl_tenant.region.gpus[GPU].context_bytes = 0; /* to be learnt anew */
    meanwhile = forks;
    CHECK(hook_cuCtxCreate_v2(&other, 0, 0) == 0);
    BOOKS(CONTEXT, 0);
}
static void should_count_a_context_of_a_child_that_began_while_another_was_made(void) {
    CHECK(in_child(makes_a_context_meanwhile) == 0);
}

static int use_up_descriptors(void) {
    struct rlimit few = {40, 40};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int last = -1;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;)
        last = fd;
    return last;
}
static void starves_and_fails(void) {
    setenv("SLUICE_ON_ERROR", "fail", 1);
    begin("2000m");
    use_up_descriptors();
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 800 && hook_cuCtxCreate_v2(&other, 0, 0) == 800 && !fake.created);
    BOOKS(0, 0);
}
static void starves_and_runs(void) {
    setenv("SLUICE_ON_ERROR", "run", 1);
    begin("2000m");
    int last = use_up_descriptors();
    CHECK(hook_cuDevicePrimaryCtxRetain(&context, 0) == 0);
    BOOKS(0, 0);
    CHECK(!sl_overhead_came_back(GPU));
    for (int fd = last - 12; fd <= last; fd++)
        close(fd);
    usleep(150000);
    sl_overhead_now_and_then(GPU);
    BOOKS(0, CONTEXT);
    CHECK(hook_cuCtxCreate_v2(&other, 0, 0) == 0);
    BOOKS(CONTEXT, CONTEXT);
}
static void should_count_a_context_made_without_descriptors_or_refuse_it(void) {
    CHECK(in_child(starves_and_fails) == 0);
    CHECK(in_child(starves_and_runs) == 0);
}

int main(void) {
    use_test_folder();
    RUN(should_charge_a_context_while_anybody_uses_it);
    RUN(should_know_itself_by_the_number_that_the_agent_told);
    RUN(should_ask_the_driver_only_the_first_time_when_there_is_no_room);
    RUN(should_charge_nothing_for_a_context_that_the_driver_refused);
    RUN(should_book_code_and_stacks_and_undo_what_passes_the_quota);
    RUN(should_see_what_comes_back_before_it_refuses);
    RUN(should_not_take_managed_memory_for_overhead);
    RUN(should_not_keep_a_rise_that_passes);
    RUN(should_keep_the_overhead_while_a_context_ends);
    RUN(should_keep_the_overhead_while_graphs_are_trimmed);
    RUN(should_not_take_pools_for_overhead);
    RUN(should_look_every_now_and_then_whatever_the_program_calls);
    RUN(should_refuse_nothing_on_a_guess_where_the_process_is_hidden);
    RUN(should_charge_the_primary_context_under_a_green_one);
    RUN(should_not_ask_nvml_for_a_context_whose_size_is_known);
    RUN(should_book_contexts_without_a_quota);
    RUN(should_count_a_context_of_a_child_that_began_while_another_was_made);
    RUN(should_count_a_context_made_without_descriptors_or_refuse_it);
    return 0;
}
