/* pool: all pools of this process: memory pools, and on each device the memory of graphs.
 *
 * A program has a few pools, so a linear search is enough. A place keeps its lock for ever. A thread that asks a pool for its figures, or
 * destroys it, holds the lock, so that no thread asks a pool that is gone. */
#include "memory/pool.h"

#include <stdatomic.h>

#include "ledger/ledger.h"
#include "memory/closing.h"
#include "os/fork.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

#define POOLS (SL_CLOSING_MOST + 1024)
#define ALL_GPUS (-1)

static _Atomic uintptr_t keys[POOLS]; /* 0: free; else a handle, or an odd number for the memory of graphs */
static sl_pool_t pools[POOLS];
static atomic_int places; /* all keys lie below this place */
static sl_mutex_t table_lock = SL_MUTEX_INITIALIZER;

static _Atomic(sl_pool_t *) currents[SL_GPU_DEVICES];
static atomic_uint changes;

static uintptr_t key_of_graphs(CUdevice device) {
    return (uintptr_t)device << 1 | 1;
}

static sl_pool_t *find(uintptr_t key) {
    int end = atomic_load_explicit(&places, memory_order_acquire);
    for (int i = 0; i < end; i++)
        if (atomic_load_explicit(&keys[i], memory_order_acquire) == key)
            return &pools[i];
    return NULL;
}

sl_pool_t *sl_pool_find(CUmemoryPool handle) {
    return handle ? find((uintptr_t)handle) : NULL;
}

/* The table's lock comes before that of a pool. No thread holds the lock of a free place for long. */
static sl_pool_t *find_or_open(uintptr_t key, CUmemoryPool handle, CUdevice device, int gpu) {
    sl_mutex_lock(&table_lock);
    sl_pool_t *pool = find(key);
    int place = 0;
    while (!pool && place < POOLS && keys[place])
        place++;
    if (!pool && place < POOLS) {
        pool = &pools[place];
        sl_pool_charge_lock(pool);
        sl_pool_charge_open(pool, handle, device, gpu);
        sl_pool_charge_unlock(pool);
        keys[place] = key;
        if (place >= places)
            places = place + 1;
    }
    sl_mutex_unlock(&table_lock);
    if (!pool)
        sl_report(SL_WARN, "there are more than %d memory pools: further ones are not limited", POOLS);
    return pool;
}

sl_pool_t *sl_pool_open(CUmemoryPool handle, int gpu) {
    return find_or_open((uintptr_t)handle, handle, 0, gpu);
}

sl_pool_t *sl_pool_of_graphs(CUdevice device, int gpu) {
    sl_pool_t *pool = find(key_of_graphs(device));
    return pool ? pool : find_or_open(key_of_graphs(device), NULL, device, gpu);
}

sl_pool_t *sl_pool_current(CUdevice device) {
    return device >= 0 && device < SL_GPU_DEVICES ? atomic_load_explicit(&currents[device], memory_order_acquire) : NULL;
}

unsigned sl_pool_question(void) {
    return changes;
}

/* A thread that changes something first counts, then clears. A thread that answers first stores, then reads the count. So at least one
 * of the two removes an old answer. */
void sl_pool_answer(CUdevice device, sl_pool_t *pool, unsigned question) {
    if (device < 0 || device >= SL_GPU_DEVICES)
        return;
    currents[device] = pool;
    if (changes != question)
        currents[device] = NULL;
}

void sl_pool_ask_again(void) {
    changes++;
    for (int device = 0; device < SL_GPU_DEVICES; device++)
        currents[device] = NULL;
}

typedef bool (*visit_t)(sl_pool_t *pool, void *detail);
typedef bool (*lock_t)(sl_pool_t *pool);

static bool visit_all(int gpu, lock_t lock, visit_t what, void *detail) {
    bool any = false;
    for (int i = 0, end = atomic_load_explicit(&places, memory_order_acquire); i < end; i++) {
        sl_pool_t *pool = &pools[i];
        if (!keys[i] || !lock(pool))
            continue;
        if (pool->open && !pool->asleep && pool->gpu >= 0 && (gpu == ALL_GPUS || pool->gpu == gpu))
            any |= what(pool, detail);
        sl_pool_charge_unlock(pool);
    }
    return any;
}

static bool refresh(sl_pool_t *pool, void *unused) {
    (void)unused;
    bool fell = sl_pool_charge_refresh(pool);
    return SL_UNLIKELY(pool->closing) ? sl_closing_look(pool) || fell : fell;
}

/* The thread that allocates from a pool settles its charge. */
bool sl_pool_refresh(unsigned gpu) {
    return visit_all((int)gpu, sl_pool_charge_lock_at_once, refresh, NULL);
}

void sl_pool_refresh_all(void) {
    visit_all(ALL_GPUS, sl_pool_charge_lock_at_once, refresh, NULL);
}

static bool trim(sl_pool_t *pool, void *unused) {
    (void)unused;
    bool fell = sl_pool_charge_trim(pool);
    return SL_UNLIKELY(pool->closing) ? sl_closing_look(pool) || fell : fell;
}

bool sl_pool_trim(unsigned gpu) {
    return visit_all((int)gpu, sl_pool_charge_lock_soon, trim, NULL);
}

uint64_t sl_pool_held(unsigned gpu) {
    uint64_t bytes = 0;
    for (int i = 0, end = atomic_load_explicit(&places, memory_order_acquire); i < end; i++)
        if (keys[i] && pools[i].lock.state && pools[i].gpu == (int)gpu)
            bytes += atomic_load_explicit(&pools[i].charged, memory_order_relaxed);
    return bytes;
}

/* Idle graph memory counts as in use, so a device whose graphs have any may give some back. */
static bool add_figures(sl_pool_t *pool, void *sum) {
    sl_pool_figures_t *figures = sum;
    uint64_t used = pool->handle && pool->charged ? sl_pool_charge_used(pool) : 0;
    figures->charged += pool->charged;
    figures->has_unused |= pool->charged >= used + pool->step;
    return false;
}

sl_pool_figures_t sl_pool_figures(unsigned gpu) {
    sl_pool_figures_t figures = {0, false};
    visit_all((int)gpu, sl_pool_charge_lock_soon, add_figures, &figures);
    return figures;
}

void sl_pool_close(sl_pool_t *pool) {
    if (pool->gpu >= 0)
        sl_pool_charge_set(pool, 0);
    sl_closing_end(pool);
    pool->open = false;
    keys[pool - pools] = 0;
    sl_pool_ask_again();
}

static bool end(sl_pool_t *pool, void *unused) {
    (void)unused;
    pool->trims++;
    if (!pool->handle)
        return sl_pool_charge_follow(pool);
    if (pool->closing)
        return sl_pool_close(pool), true;
    pool->asleep = true;
    pool->overgrown = false;
    sl_pool_charge_set(pool, 0);
    return true;
}

void sl_pool_end(unsigned gpu) {
    sl_pool_ask_again();
    visit_all((int)gpu, sl_pool_charge_lock_soon, end, NULL);
}

void sl_pool_forget(void) {
    sl_pool_ask_again();
    table_lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    for (int i = 0; i < places; i++) {
        keys[i] = 0;
        pools[i].lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
        pools[i].open = false;
    }
    places = 0;
}
SL_FORK_FORGETS(sl_pool_forget);
