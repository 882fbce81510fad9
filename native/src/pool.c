/* pool: what the driver's pools hold: memory pools, and on each GPU the memory of graphs.
 *
 * A pool takes memory in large steps and gives it back when it likes, so what it says it has reserved is what counts.
 * Who may let it grow reserves the growth in the ledger first; afterwards the charge is set to what the pool says. No
 * lock is held while the driver is asked: of two answers the one counts whose ticket was drawn later. */
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "ledger.h"
#include "os.h"
#include "real.h"
#include "tenant.h"

#define POOLS 1024
#define FIRST_STEP (32ull << 20) /* seen on an H200 with driver 580 */
#define LEAST_STEP (2ull << 20)
#define LARGEST (1ull << 56)
#define UNIT 512u

enum { POOL_RESERVED = 5, POOL_USED = 7, GRAPH_USED = 0, GRAPH_RESERVED = 2, CAPTURE_RELAXED = 2 };

struct sl_pool {
    int gpu;
    CUdevice device;               /* of graphs only */
    CUmemoryPool handle;           /* NULL: the memory of graphs */
    _Atomic uint64_t charged;
    _Atomic uint64_t room;         /* at most what is left: frees are not seen until the pool is asked again */
    _Atomic uint64_t step;         /* the pool grows by multiples of this */
    _Atomic uint64_t surplus;      /* grown unasked and not yet given back */
    _Atomic uint64_t tickets;
    atomic_uint trims;
    atomic_bool asleep;            /* only the program itself may use it; the handle may be gone */
    atomic_int askers;             /* threads that ask of their own accord */
    pthread_mutex_t lock;          /* for the rest, and to change charged */
    uint64_t answered;             /* the ticket of the answer that charged is */
    uint64_t promised;             /* reserved in the ledger for calls under way and not yet taken by the pool */
    uint64_t wanted;               /* what the calls under way reserved */
} __attribute__((aligned(64)));

static _Atomic uintptr_t keys[POOLS]; /* 0: free; a handle; of graphs an odd number */
static sl_pool_t pools[POOLS] = {[0 ... POOLS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static atomic_int places; /* no key lies at or beyond */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

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

static sl_pool_t *open(uintptr_t key, CUmemoryPool handle, CUdevice device, int gpu) {
    pthread_mutex_lock(&table_lock);
    sl_pool_t *pool = find(key);
    int place = 0;
    while (!pool && place < POOLS && keys[place])
        place++;
    if (!pool && place < POOLS) {
        pool = &pools[place];
        pool->gpu = gpu;
        pool->device = device;
        pool->handle = handle;
        pool->step = FIRST_STEP;
        pool->charged = pool->room = pool->surplus = pool->wanted = pool->promised = 0;
        pool->asleep = false;
        keys[place] = key;
        if (place >= places)
            places = place + 1;
    }
    pthread_mutex_unlock(&table_lock);
    if (!pool)
        sl_report(SL_WARN, "there are more than %d memory pools: further ones are not limited", POOLS);
    return pool;
}

sl_pool_t *sl_pool_open(CUmemoryPool handle, int gpu) {
    return open((uintptr_t)handle, handle, 0, gpu);
}

sl_pool_t *sl_pool_of_graphs(CUdevice device, int gpu) {
    sl_pool_t *pool = find(key_of_graphs(device));
    return pool ? pool : open(key_of_graphs(device), NULL, device, gpu);
}

int sl_pool_gpu(const sl_pool_t *pool) {
    return pool->gpu;
}

static sl_ledger_use_t use_of(const sl_pool_t *pool) {
    return pool->handle ? SL_USE_POOL : SL_USE_GRAPH;
}

static bool ask(const sl_pool_t *pool, int pool_attribute, int graph_attribute, uint64_t *bytes) {
    if (pool->handle)
        return real.cuMemPoolGetAttribute &&
               real.cuMemPoolGetAttribute(pool->handle, pool_attribute, bytes) == CUDA_SUCCESS;
    return real.cuDeviceGetGraphMemAttribute &&
           real.cuDeviceGetGraphMemAttribute(pool->device, graph_attribute, bytes) == CUDA_SUCCESS;
}

static bool ask_reserved(const sl_pool_t *pool, uint64_t *bytes) {
    return ask(pool, POOL_RESERVED, GRAPH_RESERVED, bytes);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t whole_steps(const sl_pool_t *pool, uint64_t bytes) {
    uint64_t step = pool->step;
    return bytes > LARGEST ? LARGEST : (bytes + step - 1) / step * step;
}

/* Multiples of the true step only show steps that are too large. */
static void learn_step(sl_pool_t *pool, uint64_t reserved) {
    uint64_t step = reserved & -reserved;
    if (step >= LEAST_STEP && step < pool->step)
        pool->step = step;
}

/* Sets the charge to the newest answer. Returns by how much the pool grew beyond what was reserved for it. */
static uint64_t set_charge(sl_pool_t *pool, uint64_t ticket, uint64_t reserved, const sl_pool_claim_t *claim) {
    unsigned gpu = (unsigned)pool->gpu;
    uint64_t charged = pool->charged, unforeseen = 0;
    pool->wanted -= claim->growth;
    if (ticket > pool->answered) {
        pool->answered = ticket;
        pool->charged = reserved;
        uint64_t grown = reserved > charged ? reserved - charged : 0, foreseen = least(grown, pool->promised);
        pool->promised -= foreseen;
        unforeseen = grown - foreseen;
        if (foreseen)
            sl_ledger_commit(gpu, use_of(pool), foreseen, claim->used);
        if (unforeseen)
            sl_ledger_charge(gpu, use_of(pool), unforeseen);
        if (reserved < charged)
            sl_ledger_refund(gpu, use_of(pool), charged - reserved);
    }
    if (pool->promised > pool->wanted) {
        sl_ledger_cancel(gpu, pool->promised - pool->wanted);
        pool->promised = pool->wanted;
    }
    return unforeseen;
}

static uint64_t follow(sl_pool_t *pool, const sl_pool_claim_t *claim) {
    uint64_t ticket = ++pool->tickets, reserved;
    if (!ask_reserved(pool, &reserved)) {
        ticket = 0;
        reserved = 0;
    }
    learn_step(pool, reserved);
    pthread_mutex_lock(&pool->lock);
    uint64_t unforeseen = set_charge(pool, ticket, reserved, claim);
    pthread_mutex_unlock(&pool->lock);
    return unforeseen;
}

static uint64_t used_of(const sl_pool_t *pool) {
    uint64_t used;
    return ask(pool, POOL_USED, GRAPH_USED, &used) ? used : 0;
}

uint64_t sl_pool_room(sl_pool_t *pool) {
    uint64_t charged = pool->charged, used = charged ? used_of(pool) : 0;
    uint64_t room = charged > used ? charged - used : 0;
    atomic_store_explicit(&pool->room, room, memory_order_relaxed);
    return room;
}

typedef uint64_t (*reserve_t)(unsigned gpu, uint64_t bytes);

static bool claim_by(reserve_t reserve, sl_pool_t *pool, uint64_t bytes, sl_pool_claim_t *claim) {
    claim->growth = whole_steps(pool, bytes);
    claim->used = reserve((unsigned)pool->gpu, claim->growth);
    if (!claim->used) {
        claim->growth = 0;
        return false;
    }
    pthread_mutex_lock(&pool->lock);
    pool->promised += claim->growth;
    pool->wanted += claim->growth;
    pthread_mutex_unlock(&pool->lock);
    return true;
}

bool sl_pool_claim(sl_pool_t *pool, uint64_t bytes, sl_pool_claim_t *claim) {
    return claim_by(sl_ledger_reserve, pool, bytes, claim);
}

/* Of two that take the same room at once, one lets the pool grow unasked; sl_pool_settle sees that. */
static bool take_room(sl_pool_t *pool, uint64_t bytes) {
    uint64_t room = atomic_load_explicit(&pool->room, memory_order_relaxed);
    if (room < bytes)
        room = sl_pool_room(pool);
    if (room < bytes)
        return false;
    atomic_store_explicit(&pool->room, room - bytes, memory_order_relaxed);
    return true;
}

/* A request may begin in what is left at the pool's end: then the pool grows by less than its size. */
bool sl_pool_admit(sl_pool_t *pool, uint64_t bytes, sl_pool_claim_t *claim) {
    *claim = (sl_pool_claim_t){0, 0};
    bytes = bytes > LARGEST ? LARGEST : (bytes + UNIT - 1) / UNIT * UNIT;
    if (SL_UNLIKELY(pool->asleep))
        pool->asleep = false;
    return take_room(pool, bytes) || claim_by(sl_ledger_try, pool, bytes, claim) || take_room(pool, bytes) ||
           sl_pool_claim(pool, bytes - least(pool->room, bytes), claim);
}

uint64_t sl_pool_settle(sl_pool_t *pool, const sl_pool_claim_t *claim) {
    uint64_t reserved;
    if (!claim->growth && (!ask_reserved(pool, &reserved) || reserved == pool->charged))
        return 0;
    uint64_t unforeseen = follow(pool, claim);
    return unforeseen && !sl_ledger_fits((unsigned)pool->gpu) ? unforeseen : 0;
}

/* A capture in another thread may forbid calls that it deems unsafe; this thread takes no part in it. */
static void trim_to(sl_pool_t *pool, uint64_t bytes) {
    CUstreamCaptureMode mode = CAPTURE_RELAXED;
    bool relaxed = real.cuThreadExchangeStreamCaptureMode && real.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    if (!pool->handle && real.cuDeviceGraphMemTrim)
        real.cuDeviceGraphMemTrim(pool->device);
    if (pool->handle && real.cuMemPoolTrimTo)
        real.cuMemPoolTrimTo(pool->handle, bytes);
    if (relaxed)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    atomic_store_explicit(&pool->room, 0, memory_order_relaxed);
    pool->trims++;
}

bool sl_pool_follow(sl_pool_t *pool) {
    static const sl_pool_claim_t nothing;
    uint64_t before = pool->charged, reserved;
    if (!ask_reserved(pool, &reserved) || reserved == before)
        return false;
    atomic_store_explicit(&pool->room, 0, memory_order_relaxed);
    follow(pool, &nothing);
    return pool->charged < before;
}

void sl_pool_shrink(sl_pool_t *pool, uint64_t bytes) {
    uint64_t charged = pool->charged;
    trim_to(pool, charged > bytes ? charged - bytes : 0);
    sl_pool_follow(pool);
    uint64_t gone = charged > pool->charged ? charged - pool->charged : 0;
    pool->surplus = bytes > gone ? bytes - gone : 0;
}

/* To ask a pool that another thread destroys would be fatal. It sets asleep and then waits for the askers; an asker
 * counts itself and then looks at asleep. Of the two at least one sees the other. */
static bool begin_asking(sl_pool_t *pool) {
    pool->askers++;
    if (!pool->asleep)
        return true;
    pool->askers--;
    return false;
}

typedef bool (*visit_t)(sl_pool_t *pool);

static bool visit(sl_pool_t *pool, visit_t what) {
    if (pool->gpu < 0 || !begin_asking(pool))
        return false;
    bool fell = what(pool);
    pool->askers--;
    return fell;
}

static bool visit_all(int gpu, visit_t what) {
    bool fell = false;
    for (int i = 0, end = places; i < end; i++)
        if (keys[i] && (gpu < 0 || pools[i].gpu == gpu))
            fell |= visit(&pools[i], what);
    return fell;
}

static bool refresh_and_shrink(sl_pool_t *pool) {
    uint64_t before = pool->charged;
    if (SL_UNLIKELY(pool->surplus))
        sl_pool_shrink(pool, pool->surplus);
    sl_pool_follow(pool);
    return pool->charged < before;
}

static bool trim(sl_pool_t *pool) {
    if (!sl_pool_room(pool))
        return false;
    trim_to(pool, 0);
    return sl_pool_follow(pool);
}

bool sl_pool_refresh(unsigned gpu) {
    return visit_all((int)gpu, refresh_and_shrink);
}

void sl_pool_refresh_all(void) {
    visit_all(-1, refresh_and_shrink);
}

bool sl_pool_trim(unsigned gpu) {
    return visit_all((int)gpu, trim);
}

unsigned sl_pool_trims(const sl_pool_t *pool) {
    return pool->trims;
}

void sl_pool_note_trim(sl_pool_t *pool) {
    pool->trims++;
}

/* Sets the charge without asking; later answers to earlier questions do not count. */
static void charge_only(sl_pool_t *pool, uint64_t bytes) {
    static const sl_pool_claim_t nothing;
    pthread_mutex_lock(&pool->lock);
    set_charge(pool, ++pool->tickets, bytes, &nothing);
    pthread_mutex_unlock(&pool->lock);
    atomic_store_explicit(&pool->room, 0, memory_order_relaxed);
}

uint64_t sl_pool_begin_close(sl_pool_t *pool) {
    uint64_t used = used_of(pool);
    pool->asleep = true;
    while (pool->askers)
        sl_os_sleep_nanos(1000);
    return used;
}

void sl_pool_keep(sl_pool_t *pool) {
    pool->asleep = false;
}

uint64_t sl_pool_close(sl_pool_t *pool, uint64_t used) {
    uint64_t left = least(used ? whole_steps(pool, used) : 0, pool->charged);
    if (pool->gpu >= 0)
        charge_only(pool, left);
    pthread_mutex_lock(&table_lock);
    keys[pool - pools] = 0;
    while (places > 0 && !keys[places - 1])
        places--;
    pthread_mutex_unlock(&table_lock);
    return left;
}

static bool end(sl_pool_t *pool) {
    if (!pool->handle) {
        pool->trims++;
        return sl_pool_follow(pool);
    }
    pool->asleep = true;
    pool->surplus = 0;
    charge_only(pool, 0);
    return true;
}

void sl_pool_end(unsigned gpu) {
    visit_all((int)gpu, end);
}

void sl_pool_forget(void) {
    table_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < places; i++) {
        keys[i] = 0;
        pools[i].askers = 0;
        pools[i].lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    }
    places = 0;
}
