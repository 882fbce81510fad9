/* pool: all pools of this process: memory pools, and on each device the memory of graphs.
 *
 * A program has a few pools, so they are searched one after the other. To ask a pool that another thread destroys would
 * be fatal: who destroys sets asleep and then waits for the askers; who asks counts itself and then looks at asleep. Of the
 * two at least one sees the other. */
#include "memory/pool.h"

#include "tenant/gpu.h"
#include "os/os.h"
#include "tenant/tenant.h"

#define POOLS 1024
#define ALL_GPUS (-1)

static _Atomic uintptr_t keys[POOLS]; /* 0: free; a handle; of graphs an odd number */
static sl_holding_t holdings[POOLS] = {[0 ... POOLS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static atomic_int places; /* no key lies at or beyond */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic(sl_holding_t *) currents[SL_GPU_DEVICES];
static atomic_uint changes;

static uintptr_t key_of_graphs(CUdevice device) {
    return (uintptr_t)device << 1 | 1;
}

static sl_holding_t *find(uintptr_t key) {
    int end = atomic_load_explicit(&places, memory_order_acquire);
    for (int i = 0; i < end; i++)
        if (atomic_load_explicit(&keys[i], memory_order_acquire) == key)
            return &holdings[i];
    return NULL;
}

sl_holding_t *sl_pool_find(CUmemoryPool handle) {
    return handle ? find((uintptr_t)handle) : NULL;
}

static sl_holding_t *find_or_open(uintptr_t key, CUmemoryPool handle, CUdevice device, int gpu) {
    pthread_mutex_lock(&table_lock);
    sl_holding_t *holding = find(key);
    int place = 0;
    while (!holding && place < POOLS && keys[place])
        place++;
    if (!holding && place < POOLS) {
        holding = &holdings[place];
        sl_holding_open(holding, handle, device, gpu);
        keys[place] = key;
        if (place >= places)
            places = place + 1;
    }
    pthread_mutex_unlock(&table_lock);
    if (!holding)
        sl_report(SL_WARN, "there are more than %d memory pools: further ones are not limited", POOLS);
    return holding;
}

sl_holding_t *sl_pool_open(CUmemoryPool handle, int gpu) {
    return find_or_open((uintptr_t)handle, handle, 0, gpu);
}

sl_holding_t *sl_pool_of_graphs(CUdevice device, int gpu) {
    sl_holding_t *holding = find(key_of_graphs(device));
    return holding ? holding : find_or_open(key_of_graphs(device), NULL, device, gpu);
}

sl_holding_t *sl_pool_current(CUdevice device) {
    return device >= 0 && device < SL_GPU_DEVICES ? atomic_load_explicit(&currents[device], memory_order_acquire) : NULL;
}

unsigned sl_pool_question(void) {
    return changes;
}

/* Who changes something counts first and clears then; who answers stores first and looks at the count then. Of the two at
 * least one takes an old answer away. */
void sl_pool_answer(CUdevice device, sl_holding_t *holding, unsigned question) {
    if (device < 0 || device >= SL_GPU_DEVICES)
        return;
    currents[device] = holding;
    if (changes != question)
        currents[device] = NULL;
}

void sl_pool_ask_again(void) {
    changes++;
    for (int device = 0; device < SL_GPU_DEVICES; device++)
        currents[device] = NULL;
}

typedef bool (*visit_t)(sl_holding_t *holding);

static bool visit(sl_holding_t *holding, visit_t what) {
    holding->askers++;
    bool fell = !holding->asleep && what(holding);
    holding->askers--;
    return fell;
}

static bool visit_all(int gpu, visit_t what) {
    bool fell = false;
    for (int i = 0, end = atomic_load_explicit(&places, memory_order_acquire); i < end; i++)
        if (keys[i] && holdings[i].gpu >= 0 && (gpu == ALL_GPUS || holdings[i].gpu == gpu))
            fell |= visit(&holdings[i], what);
    return fell;
}

static bool refresh(sl_holding_t *holding) {
    uint64_t before = holding->charged;
    if (SL_UNLIKELY(holding->surplus))
        sl_holding_shrink(holding, holding->surplus);
    sl_holding_follow(holding);
    return holding->charged < before;
}

bool sl_pool_refresh(unsigned gpu) {
    return visit_all((int)gpu, refresh);
}

void sl_pool_refresh_all(void) {
    visit_all(ALL_GPUS, refresh);
}

bool sl_pool_trim(unsigned gpu) {
    return visit_all((int)gpu, sl_holding_trim);
}

uint64_t sl_pool_begin_close(sl_holding_t *holding) {
    uint64_t used = holding->gpu >= 0 ? sl_holding_used(holding) : 0;
    sl_pool_ask_again();
    holding->asleep = true;
    while (holding->askers)
        sl_os_sleep_nanos(1000);
    return used;
}

void sl_pool_keep(sl_holding_t *holding) {
    holding->asleep = false;
}

uint64_t sl_pool_close(sl_holding_t *holding, uint64_t used) {
    uint64_t left = 0;
    if (holding->gpu >= 0) {
        left = sl_holding_needed(holding, used);
        sl_holding_set(holding, left);
    }
    sl_pool_ask_again();
    pthread_mutex_lock(&table_lock);
    keys[holding - holdings] = 0;
    while (places > 0 && !keys[places - 1])
        places--;
    pthread_mutex_unlock(&table_lock);
    return left;
}

static bool end(sl_holding_t *holding) {
    holding->trims++;
    if (!holding->handle)
        return sl_holding_follow(holding);
    holding->asleep = true;
    holding->surplus = 0;
    sl_holding_set(holding, 0);
    return true;
}

void sl_pool_end(unsigned gpu) {
    sl_pool_ask_again();
    visit_all((int)gpu, end);
}

void sl_pool_forget(void) {
    sl_pool_ask_again();
    table_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < places; i++) {
        keys[i] = 0;
        holdings[i].askers = 0;
        holdings[i].taken = holdings[i].pending = 0;
        holdings[i].lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    }
    places = 0;
}
