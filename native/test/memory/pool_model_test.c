/* Every order of steps in which a few threads and processes can take memory from pools, with the real code of one pool.
 *
 * Threads are coroutines (explorer.h) that stop before each call into the ledger and the driver. Both are a few lines here. The
 * fake driver may do whatever a real one was seen to do: grow by less than the request in whole steps, grow although it has room, leave
 * freed memory pending, shrink at a synchronization. After each step the test checks the state. */
#include "explorer.h"

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "tenant/accounts.h"
#include "memory/overhead.h"
#include "memory/pending.h"
#include "memory/pool_take.h"
#include "os/os.h"
#include "real.h"

#define MIB (1ull << 20)
#define STEP (32 * MIB)
#define THREADS EXPLORER_THREADS
#define PROCESSES 2
#define WAITS 1

typedef struct {
    uint64_t reserved, used, pending; /* pending: freed, but its stream has not come there */
    uint64_t scattered;               /* the unused part of this is fragmented and cannot be given back */
} driver_t;

typedef struct {
    int process;
    bool refused;
    bool fitted;            /* whenever the call was looked at, its need fitted beside all that others had or asked for */
    bool in_call;
    const sl_mutex_t *lock; /* it waits for this one */
    bool waits_for_others;  /* until the others have other requests under way than these */
    uint64_t others;
    uint64_t need;
} thread_t;

typedef struct {
    driver_t driver[PROCESSES];
    uint64_t charged[PROCESSES], in_flight[PROCESSES], mine[THREADS];
    uint64_t limit, highest_limit, slack;
    sl_pool_t pool[PROCESSES];
    thread_t thread[THREADS];
} world_t;

/* What a case sets up. */
typedef struct {
    const char *name;
    uint64_t limit;
    driver_t driver[PROCESSES];
    struct {
        void (*body)(void);
        int process;
        uint64_t bytes;
    } thread[THREADS];
    bool is_without_lock, has_room_for_one;
} case_t;

static const case_t *now;
static world_t world;
static uint64_t refusals;

sl_real_t real;

static thread_t *me(void) {
    return &world.thread[explorer_running];
}

static void stop(void) {
    explorer_stop();
    me()->lock = NULL;
    me()->waits_for_others = false;
}

/* Before a step that only threads of the same process can see: where there is no other, its order does not matter. */
static void stop_for_siblings(void) {
    for (int i = 0; i < THREADS; i++)
        if (i != explorer_running && now->thread[i].body && now->thread[i].process == me()->process) {
            stop();
            return;
        }
}

/* One of 0 to count - 1, each of them in turn. */
static int choose(int count) {
    explorer_thread_t *self = &explorer_thread[explorer_running];
    self->choices = count;
    self->chosen = 0;
    if (count > 1)
        stop();
    else
        stop_for_siblings();
    return self->chosen;
}

void sl_mutex_lock_slowly(sl_mutex_t *lock) {
    while (lock->state) {
        me()->lock = lock;
        stop();
    }
    lock->state = 1;
}

void sl_mutex_wake(sl_mutex_t *lock) {
    (void)lock;
}

/* The ledger: a process adds to its own account, then sums all. */
static uint64_t sum(void) {
    uint64_t all = 0;
    for (int i = 0; i < PROCESSES; i++)
        all += world.charged[i];
    return all;
}

static void add(uint64_t bytes) {
    stop();
    world.charged[me()->process] += bytes;
    world.in_flight[me()->process] += bytes;
    world.mine[explorer_running] += bytes;
}

static void take_back(uint64_t bytes) {
    stop();
    world.charged[me()->process] -= bytes;
    world.in_flight[me()->process] -= bytes;
    world.mine[explorer_running] -= bytes;
}

uint64_t sl_ledger_try_at_once(unsigned gpu, uint64_t bytes, uint64_t beyond) {
    uint64_t limit = world.limit + beyond;
    (void)gpu;
    if (bytes > limit)
        return 0;
    add(bytes);
    stop();
    uint64_t all = sum();
    if (all <= limit)
        return all;
    take_back(bytes);
    return 0;
}

bool sl_pool_trim(unsigned gpu) {
    (void)gpu;
    sl_pool_t *pool = &world.pool[me()->process];
    sl_pool_charge_lock(pool);
    bool fell = sl_pool_charge_trim(pool);
    sl_pool_charge_unlock(pool);
    return fell;
}

static uint64_t under_way_elsewhere(int thread) {
    uint64_t all = 0;
    for (int i = 0; i < THREADS; i++)
        all += i == thread ? 0 : world.mine[i];
    return all;
}

uint64_t sl_ledger_try(unsigned gpu, uint64_t bytes) {
    for (int attempt = 0;; attempt += !now->has_room_for_one) {
        uint64_t limit = world.limit;
        if (bytes > limit)
            return 0;
        add(bytes);
        stop();
        uint64_t all = sum();
        if (all > limit && sl_pool_trim(gpu))
            all = sum();
        if (all <= limit)
            return all;
        uint64_t others = under_way_elsewhere(explorer_running);
        take_back(bytes);
        if (all - limit > others || attempt == WAITS)
            return 0;
        me()->waits_for_others = true;
        me()->others = others;
        stop();
    }
}

uint64_t sl_ledger_reserve(unsigned gpu, uint64_t bytes) {
    return sl_ledger_try(gpu, bytes);
}

void sl_ledger_commit(unsigned gpu, sl_ledger_use_t use, uint64_t bytes, uint64_t used) {
    (void)gpu, (void)use, (void)used;
    stop();
    world.in_flight[me()->process] -= bytes;
    world.mine[explorer_running] -= bytes;
}

void sl_ledger_charge(unsigned gpu, sl_ledger_use_t use, uint64_t bytes) {
    (void)gpu, (void)use;
    stop();
    world.charged[me()->process] += bytes;
}

void sl_ledger_cancel(unsigned gpu, uint64_t bytes) {
    (void)gpu;
    take_back(bytes);
}

void sl_ledger_refund(unsigned gpu, sl_ledger_use_t use, uint64_t bytes) {
    (void)gpu, (void)use;
    stop();
    world.charged[me()->process] -= bytes;
}

uint64_t sl_accounts_used(unsigned gpu) {
    (void)gpu;
    stop();
    return sum();
}

uint64_t sl_accounts_limit(unsigned gpu) {
    (void)gpu;
    return world.limit;
}

void sl_ledger_refuse(unsigned gpu, uint64_t bytes) {
    (void)gpu, (void)bytes;
    me()->refused = true;
}

void sl_overhead_now_and_then(unsigned gpu) {
    (void)gpu;
}

/* Waits are bounded; here they are counted. */
bool sl_pending_wait(sl_pending_t *pending) {
    if (pending->span_nanos++ >= WAITS)
        return false;
    stop();
    sl_pool_trim(pending->gpu);
    return true;
}

void sl_pending_end(const sl_pending_t *pending, bool met) {
    (void)pending, (void)met;
}

bool sl_pending_is_capturing(void) {
    return false;
}

uint64_t sl_os_nanos(void) {
    return 0;
}

void sl_os_sleep_nanos(uint64_t nanos) {
    (void)nanos;
    stop();
}

/* The driver. */
static uint64_t whole(uint64_t bytes) {
    return (bytes + STEP - 1) / STEP * STEP;
}

static driver_t *driver(void) {
    return &world.driver[me()->process];
}

static uint64_t less(uint64_t from, uint64_t bytes) {
    return from > bytes ? from - bytes : 0;
}

static uint64_t releasable(const driver_t *pool) {
    uint64_t busy = whole(pool->used + pool->pending);
    return less(pool->reserved, busy > pool->scattered ? busy : pool->scattered);
}

static CUresult fake_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    (void)pool;
    stop_for_siblings();
    *(uint64_t *)value = attribute == 5 ? driver()->reserved : driver()->used;
    return CUDA_SUCCESS;
}

static CUresult fake_trim(CUmemoryPool pool, size_t keep) {
    (void)pool, (void)keep;
    stop_for_siblings();
    driver()->reserved -= releasable(driver());
    return CUDA_SUCCESS;
}

/* The pool grows at least by the missing bytes, at most by the request in whole steps. */
static CUresult fake_allocate(const sl_pool_request_t *request) {
    uint64_t left = less(driver()->reserved, driver()->used + driver()->pending);
    uint64_t least = whole(less(request->bytes, left)), most = whole(request->bytes);
    int answer = choose((int)((most - least) / STEP) + 1);
    left = less(driver()->reserved, driver()->used + driver()->pending);
    uint64_t grown = whole(less(request->bytes, left)) + (uint64_t)answer * STEP;
    driver()->reserved += grown < most ? grown : most;
    driver()->used += request->bytes;
    *request->address = request->bytes;
    return CUDA_SUCCESS;
}

static CUresult fake_free(CUdeviceptr bytes, CUstream stream) {
    (void)stream;
    int is_late = choose(2);
    driver()->used -= bytes;
    driver()->pending += is_late ? bytes : 0;
    return CUDA_SUCCESS;
}

/* What the threads do. */
static void take(uint64_t bytes) {
    CUdeviceptr address = 0;
    sl_pool_request_t request = {.allocate = fake_allocate, .free = fake_free, .address = &address, .bytes = bytes};
    me()->need = whole(bytes);
    me()->fitted = true;
    me()->refused = false;
    me()->in_call = true;
    CUresult status = sl_pool_take(&world.pool[me()->process], world.pool[me()->process].handle, &request);
    me()->in_call = false;
    if (status != CUDA_SUCCESS && me()->fitted)
        explorer_broken = "a request was refused that fitted all the time";
}

static void allocate(void) {
    take(now->thread[explorer_running].bytes);
}

static void allocate_and_free(void) {
    take(now->thread[explorer_running].bytes);
    if (!me()->refused)
        fake_free(now->thread[explorer_running].bytes, NULL);
}

/* The stream reaches the frees, the driver may give memory back, and the library refreshes its charge. */
static void synchronize(void) {
    stop();
    driver()->pending = 0;
    if (choose(2))
        driver()->reserved -= releasable(driver());
    sl_pool_t *pool = &world.pool[me()->process];
    if (sl_pool_charge_lock_at_once(pool)) {
        sl_pool_charge_refresh(pool);
        sl_pool_charge_unlock(pool);
    }
}

static void reclaim(void) {
    sl_pool_trim(0);
}

static void change_limit(void) {
    uint64_t before = world.limit;
    stop();
    world.limit = before - STEP;
    stop();
    world.limit = before + STEP;
    world.highest_limit = world.limit;
}

/* What must hold after each step. */
static uint64_t reserved(void) {
    uint64_t all = 0;
    for (int i = 0; i < PROCESSES; i++)
        all += world.driver[i].reserved;
    return all;
}

static void check_step(void) {
    for (int i = 0; i < PROCESSES; i++) {
        if (world.charged[i] < world.driver[i].reserved)
            explorer_broken = "the ledger has less than the driver";
        if (world.charged[i] < world.in_flight[i])
            explorer_broken = "more is under way than charged";
        if (!world.pool[i].lock.state && !now->is_without_lock && world.pool[i].charged < world.driver[i].reserved)
            explorer_broken = "the charge of a pool that is not locked is less than it has";
    }
    if (reserved() > world.highest_limit + world.slack)
        explorer_broken = "the driver has more than quota and slack";
    for (int i = 0; i < THREADS; i++) {
        thread_t *thread = &world.thread[i];
        uint64_t own = releasable(&world.driver[thread->process]);
        if (thread->in_call && sum() - world.mine[i] + thread->need > world.limit + own)
            thread->fitted = false;
    }
}

/* Of two requests that compete for the same room, one must succeed. */
static void check_some_got(void) {
    bool all_refused = true;
    for (int i = 0; i < THREADS; i++)
        all_refused &= world.thread[i].refused || now->thread[i].body != allocate;
    bool is_pending = world.driver[0].pending || world.driver[1].pending;
    if (all_refused && !is_pending && now->has_room_for_one)
        explorer_broken = "all were refused, although there was room for one";
}

/* When all have ended: a last look, then ledger and driver must agree, and be within the quota. */
static void check_end(void) {
    for (int i = 0; i < THREADS; i++)
        refusals += world.thread[i].refused;
    check_some_got();
    for (int i = 0; i < PROCESSES; i++) {
        driver_t *pool = &world.driver[i];
        if (world.in_flight[i])
            explorer_broken = "something is under way in the end";
        if (world.pool[i].charged != world.charged[i])
            explorer_broken = "the pool's charge is not what the ledger has";
        if (!world.pool[i].overgrown && reserved() > world.highest_limit && !world.pool[1 - i].overgrown)
            explorer_broken = "the quota is passed in the end, and no pool knows that it must give back";
        pool->pending = 0;
    }
}

static bool can_run(int i) {
    const thread_t *thread = &world.thread[i];
    return (!thread->lock || !thread->lock->state) && (!thread->waits_for_others || under_way_elsewhere(i) != thread->others);
}

static void before_stop(void) {
    for (int i = 0; i < PROCESSES && now->is_without_lock; i++)
        world.pool[i].lock.state = 0;
}

static bool explore(const case_t *what) {
    explorer_plan_t plan = {&world, sizeof world, {NULL}, can_run, before_stop, check_step, check_end};
    now = what;
    refusals = 0;
    memset(&world, 0, sizeof world);
    world.limit = world.highest_limit = now->limit;
    world.slack = STEP;
    for (int i = 0; i < PROCESSES; i++) {
        world.driver[i] = now->driver[i];
        world.charged[i] = now->driver[i].reserved;
        sl_pool_charge_open(&world.pool[i], (CUmemoryPool)&world.driver[i], 0, 0);
        world.pool[i].charged = now->driver[i].reserved;
    }
    for (int i = 0; i < THREADS; i++) {
        world.thread[i].process = now->thread[i].process;
        plan.body[i] = now->thread[i].body;
    }
    bool held = explorer_explore(&plan);
    printf("  %s: %llu states, %llu steps, %llu ends, %llu refused%s%s\n", what->name, (unsigned long long)explorer_states,
           (unsigned long long)explorer_steps, (unsigned long long)explorer_ends, (unsigned long long)refusals, held ? "" : ": ",
           held ? "" : explorer_broken);
    return held;
}

static void should_hold_in_every_order(void) {
    static const case_t cases[] = {
        {"two processes, room for one", 2 * STEP, {{0}}, {{allocate, 0, 48 * MIB}, {allocate, 1, 48 * MIB}}, false, true},
        {"two processes and a synchronisation", 3 * STEP, {{2 * STEP, 40 * MIB, 0, 0}},
         {{allocate, 0, 20 * MIB}, {allocate, 1, 40 * MIB}, {synchronize, 0, 0}}, false, false},
        {"two threads of one process", 2 * STEP, {{0}},
         {{allocate, 0, 20 * MIB}, {allocate, 0, 40 * MIB}, {synchronize, 0, 0}}, false, false},
        {"a trial at the quota", 2 * STEP, {{2 * STEP, 33 * MIB, 0, 2 * STEP}},
         {{allocate, 0, 20 * MIB}, {synchronize, 0, 0}, {reclaim, 0, 0}}, false, false},
        {"two trials of two processes", 4 * STEP, {{2 * STEP, 33 * MIB, 0, 2 * STEP}, {2 * STEP, 33 * MIB, 0, 2 * STEP}},
         {{allocate, 0, 20 * MIB}, {allocate, 1, 20 * MIB}, {NULL, 0, 0}}, false, false},
        {"two trials of one process", 2 * STEP, {{2 * STEP, 20 * MIB, 0, 2 * STEP}},
         {{allocate, 0, 20 * MIB}, {allocate, 0, 20 * MIB}, {synchronize, 0, 0}}, false, false},
        {"memory that is pending", 2 * STEP, {{2 * STEP, 0, 2 * STEP, 0}},
         {{allocate, 0, 40 * MIB}, {synchronize, 0, 0}, {reclaim, 0, 0}}, false, false},
        {"what one frees another takes", 2 * STEP, {{0}},
         {{allocate_and_free, 0, 20 * MIB}, {allocate, 0, 40 * MIB}, {reclaim, 0, 0}}, false, false},
        {"a limit that falls and rises", 3 * STEP, {{STEP, 20 * MIB, 0, 0}},
         {{allocate, 0, 20 * MIB}, {allocate, 1, 33 * MIB}, {change_limit, 0, 0}}, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(explore(&cases[i]), "%s: %s", cases[i].name, explorer_broken);
}

/* Without the lock the model must find a violation. */
static void should_find_what_goes_wrong_without_the_lock(void) {
    static const case_t bare = {"two threads without the lock", 4 * STEP, {{0}},
        {{allocate, 0, 20 * MIB}, {allocate, 0, 40 * MIB}, {synchronize, 0, 0}}, true, false};
    CHECK(!explore(&bare));
}

int main(void) {
    real.cuMemPoolGetAttribute = fake_attribute;
    real.cuMemPoolTrimTo = fake_trim;
    RUN(should_hold_in_every_order);
    RUN(should_find_what_goes_wrong_without_the_lock);
    return 0;
}
