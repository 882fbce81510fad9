/* graph_charge: what the driver takes on a device when a graph that allocates is launched.
 *
 * Graphs of a device share memory. A launch first takes what is idle, or what an earlier graph in the same stream used. Only then does
 * the driver take more (measured on an H200 with driver 580, bench/gpu/driver.c graphs). If the last graph is launched again, it still
 * has its memory. In another stream it has only the memory that it did not take over from a graph before it (driver.c sequence). A
 * launch cannot be undone, so the library reserves the most that it can take. */
#include "memory/stream/graph_charge.h"

#include <stdatomic.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "memory/pending.h"
#include "memory/pool.h"
#include "real.h"
#include "tenant/gpu.h"

#define DEVICES SL_GRAPH_NEED_DEVICES
#define SEVERAL UINT64_MAX
#define ROUNDS 4

/* The memory of graphs on a device; under the lock of its pool. The child of a fork keeps it unused: the driver refuses its calls. */
typedef struct {
    CUgraphExec last;   /* the graph that was launched last; NULL: not known */
    uint64_t last_key;  /* the stream of that launch */
    uint64_t last_own;  /* what the driver took for it; it took over the rest from other graphs */
    unsigned trims;     /* trims of the pool at that time */
    uint64_t stream;    /* the stream of all launches since the memory was idle; 0: no launch; or SEVERAL */
    CUcontext context;  /* the context of these launches; NULL: several */
    bool keeps;         /* some graph did not free what it allocated */
    uint64_t asked_key; /* the stream whose context was last asked for, and that context; 0: none */
    CUcontext asked_context;
} memory_t;

static memory_t memories[DEVICES];
static atomic_uint launches;

typedef struct {
    unsigned gpu;
    uint64_t bytes;
} shortage_t;

static void note_idle(memory_t *memory) {
    memory->stream = 0;
    memory->context = NULL;
}

static void find_key(sl_graph_charge_t *charge) {
    unsigned long long id = 0;
    charge->has_id = charge->calls->get_id && charge->calls->get_id(charge->stream, &id) == CUDA_SUCCESS && id + 1 < SEVERAL;
    if (charge->has_id)
        charge->key = id + 1;
    else
        charge->key = (uintptr_t)charge->stream > 2 ? (uintptr_t)charge->stream : SEVERAL;
}

static CUcontext context_of(memory_t *memory, const sl_graph_charge_t *charge) {
    CUcontext context = NULL;
    if (charge->has_id && memory->asked_key == charge->key)
        return memory->asked_context;
    bool told = charge->calls->get_context && charge->calls->get_context(charge->stream, &context) == CUDA_SUCCESS;
    memory->asked_key = told && charge->has_id ? charge->key : 0;
    memory->asked_context = context;
    return context;
}

/* By how much the launch can make the driver's memory for graphs grow at most. */
static uint64_t growth(memory_t *memory, const sl_pool_t *pool, const sl_graph_charge_t *charge, uint64_t need) {
    if (!pool->charged) {
        *memory = (memory_t){0};
        return need;
    }
    bool has_its_memory = charge->exec && memory->last == charge->exec && memory->trims == pool->trims;
    if (has_its_memory && memory->last_key == charge->key && charge->key != SEVERAL)
        return 0;
    if (memory->keeps)
        return need;
    uint64_t own = has_its_memory ? memory->last_own : 0;
    bool shared = !memory->stream || (memory->stream == charge->key && charge->key != SEVERAL);
    uint64_t there = shared && pool->charged > own ? pool->charged : own;
    return need > there ? need - there : 0;
}

/* If the driver keeps another thread in a launch for a second, this thread goes on without the lock. The other thread has reserved what
 * it takes, and charges it when it settles. */
static bool reserve(sl_graph_charge_t *charge, CUdevice device, shortage_t *shortage) {
    sl_pool_t *pool = charge->pool[device];
    uint64_t bytes = charge->need->bytes[device];
    charge->locked[device] = sl_pool_charge_lock_soon(pool);
    if (charge->locked[device])
        bytes = growth(&memories[device], pool, charge, bytes);
    charge->promised[device] = bytes;
    if (!bytes)
        return true;
    *shortage = (shortage_t){(unsigned)pool->gpu, bytes};
    charge->sum[device] = sl_ledger_try_at_once(shortage->gpu, bytes, 0);
    if (!charge->sum[device])
        charge->promised[device] = 0;
    return charge->sum[device];
}

static void settle(sl_graph_charge_t *charge, CUdevice device) {
    sl_pool_t *pool = charge->pool[device];
    if (!charge->locked[device])
        charge->locked[device] = sl_pool_charge_lock_at_once(pool);
    if (charge->locked[device])
        charge->grown[device] = sl_pool_charge_settle(pool, charge->promised[device], charge->sum[device]);
    else if (charge->promised[device])
        sl_ledger_cancel((unsigned)pool->gpu, charge->promised[device]);
}

static void unlock(sl_graph_charge_t *charge, CUdevice device) {
    if (charge->locked[device])
        sl_pool_charge_unlock(charge->pool[device]);
    charge->locked[device] = false;
    charge->promised[device] = 0;
}

/* In the order of the devices, so that two threads never wait for each other. */
static bool reserve_all(sl_graph_charge_t *charge, shortage_t *shortage) {
    for (CUdevice device = 0; device < DEVICES; device++) {
        if (!charge->pool[device] || reserve(charge, device, shortage))
            continue;
        for (CUdevice each = 0; each <= device; each++)
            if (charge->pool[each]) {
                settle(charge, each);
                unlock(charge, each);
            }
        return false;
    }
    return true;
}

static bool made_room(uint64_t sum, const shortage_t *shortage) {
    if (sum)
        sl_ledger_cancel(shortage->gpu, shortage->bytes);
    return sum;
}

/* When the ledger has found room, the need is computed again under the lock: after a trim the launch may take more. */
static bool reserve_patiently(sl_graph_charge_t *charge, shortage_t *shortage) {
    sl_pending_t pending = {.gpu = shortage->gpu, .stream = charge->stream, .query = charge->calls->query};
    bool done = false;
    for (int round = 0; !done && round < ROUNDS && made_room(sl_ledger_try(shortage->gpu, shortage->bytes), shortage); round++)
        done = reserve_all(charge, shortage);
    while (!done && sl_pending_wait(&pending))
        done = reserve_all(charge, shortage);
    bool may_wait = !sl_pending_is_capturing();
    for (int round = 0; !done && may_wait && round < ROUNDS && made_room(sl_ledger_reserve(shortage->gpu, shortage->bytes), shortage); round++)
        done = reserve_all(charge, shortage);
    sl_pending_end(&pending, done);
    return done;
}

CUresult sl_graph_charge_begin(sl_graph_charge_t *charge) {
    shortage_t shortage = {0, 0};
    for (CUdevice device = 0; device < DEVICES; device++) {
        int gpu = charge->need->bytes[device] ? sl_gpu_find(device) : SL_GPU_UNCOUNTED;
        charge->pool[device] = gpu >= 0 ? sl_pool_of_graphs(device, gpu) : NULL;
        charge->locked[device] = false;
        charge->promised[device] = charge->grown[device] = 0;
    }
    find_key(charge);
    if (reserve_all(charge, &shortage) || reserve_patiently(charge, &shortage))
        return CUDA_SUCCESS;
    sl_ledger_refuse(shortage.gpu, shortage.bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* It is not known what a failed launch took. */
static void note_launch(memory_t *memory, const sl_graph_charge_t *charge, CUdevice device, bool failed) {
    CUcontext context = context_of(memory, charge);
    uint64_t key = failed ? SEVERAL : charge->key;
    bool again = charge->exec && memory->last == charge->exec && memory->trims == charge->pool[device]->trims;
    memory->last_own = failed ? 0 : (again ? memory->last_own : 0) + charge->grown[device];
    memory->last_key = key;
    memory->context = !memory->stream || memory->context == context ? context : NULL;
    memory->stream = !memory->stream || memory->stream == key ? key : SEVERAL;
    memory->last = failed ? NULL : charge->exec;
    memory->trims = charge->pool[device]->trims;
    memory->keeps |= charge->need->keeps[device];
}

void sl_graph_charge_end(sl_graph_charge_t *charge, CUresult status) {
    atomic_fetch_add_explicit(&launches, 1, memory_order_release);
    for (CUdevice device = 0; device < DEVICES; device++) {
        if (!charge->pool[device])
            continue;
        settle(charge, device);
        if (charge->locked[device])
            note_launch(&memories[device], charge, device, status != CUDA_SUCCESS);
        unlock(charge, device);
    }
}

static sl_pool_t *lock_known(CUdevice device) {
    int gpu = sl_gpu_find(device);
    sl_pool_t *pool = gpu >= 0 ? sl_pool_of_graphs(device, gpu) : NULL;
    return pool && sl_pool_charge_lock_soon(pool) ? pool : NULL;
}

void sl_graph_charge_forget_exec(CUdevice device, CUgraphExec exec) {
    sl_pool_t *pool = lock_known(device);
    if (!pool)
        return;
    if (memories[device].last == exec)
        memories[device].last = NULL;
    sl_pool_charge_unlock(pool);
}

/* Holds the lock, so that no look takes graph memory that the driver has freed for a fall of the overhead. */
CUresult sl_graph_charge_trim(CUdevice device) {
    sl_pool_t *pool = device >= 0 && device < DEVICES ? lock_known(device) : NULL;
    CUresult status = real.cuDeviceGraphMemTrim(device);
    if (!pool)
        return status;
    pool->trims++;
    sl_pool_charge_follow(pool);
    sl_pool_charge_unlock(pool);
    return status;
}

unsigned sl_graph_charge_launches(void) {
    return atomic_load_explicit(&launches, memory_order_acquire);
}

void sl_graph_charge_idle(CUcontext context, unsigned count) {
    for (CUdevice device = 0; device < DEVICES && count; device++) {
        sl_pool_t *pool = memories[device].stream ? lock_known(device) : NULL;
        if (!pool)
            continue;
        if (memories[device].context == context && sl_graph_charge_launches() == count)
            note_idle(&memories[device]);
        sl_pool_charge_unlock(pool);
    }
}
