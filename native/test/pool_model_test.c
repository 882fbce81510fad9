/* Every order of steps in which a few threads and processes can take memory from pools, with the real code of one pool.
 *
 * Threads are coroutines that stop before each call into the ledger and the driver. Both are a few lines here, and the
 * driver may do whatever a driver was seen to do: grow by less than the request in whole steps, grow although it has room, leave what
 * was freed pending, shrink at a synchronisation. From each state every coroutine that can run is tried, and every answer of the
 * driver. A state is what all of them share and all their stacks, so what was seen already is not explored again. After each
 * step the state is checked. */
#include "check.h"

#include <ucontext.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "memory/overhead.h"
#include "memory/pending.h"
#include "memory/pool_take.h"
#include "os/os.h"
#include "real.h"

#define MIB (1ull << 20)
#define STEP (32 * MIB)
#define THREADS 3
#define PROCESSES 2
#define STACK_BYTES 32768
#define DEEPEST 4096
#define SEEN_BITS 23
#define WAITS 1

typedef struct {
    uint64_t reserved, used, pending; /* pending: freed, but its stream has not come there */
    uint64_t scattered;               /* of so much the unused part is in pieces that cannot be given back */
} driver_t;

typedef struct {
    int process;
    bool done, refused;
    bool fitted;            /* whenever the call was looked at, its need fitted beside all that others had or asked for */
    bool in_call;
    int choices, chosen;    /* it waits for one of so many answers; the one it got */
    const sl_latch_t *lock; /* it waits for this one */
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
    bool is_without_lock;
} case_t;

static const case_t *now;
static world_t world;
static int running;
static ucontext_t explorer, coroutine[THREADS];
static char stacks[THREADS][STACK_BYTES] __attribute__((aligned(64)));
static const char *broken; /* what was found */

sl_real_t real;

static thread_t *me(void) {
    return &world.thread[running];
}

static void stop(void) {
    if (now->is_without_lock)
        for (int i = 0; i < PROCESSES; i++)
            world.pool[i].lock.state = 0;
    int self = running;
    swapcontext(&coroutine[self], &explorer);
}

/* Before a step that only threads of the same process can see: where there is no other, its order does not matter. */
static void stop_for_siblings(void) {
    for (int i = 0; i < THREADS; i++)
        if (i != running && now->thread[i].body && now->thread[i].process == me()->process) {
            stop();
            return;
        }
}

/* One of 0 to count - 1, each of them in turn. */
static int choose(int count) {
    me()->choices = count;
    me()->chosen = 0;
    if (count > 1)
        stop();
    else
        stop_for_siblings();
    return me()->chosen;
}

void sl_latch_lock_slowly(sl_latch_t *latch) {
    while (latch->state) {
        me()->lock = latch;
        stop();
    }
    latch->state = 1;
}

void sl_latch_wake(sl_latch_t *latch) {
    (void)latch;
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
    world.mine[running] += bytes;
}

static void take_back(uint64_t bytes) {
    stop();
    world.charged[me()->process] -= bytes;
    world.in_flight[me()->process] -= bytes;
    world.mine[running] -= bytes;
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

static uint64_t under_way_elsewhere(void) {
    uint64_t all = 0;
    for (int i = 0; i < THREADS; i++)
        all += i == running ? 0 : world.mine[i];
    return all;
}

uint64_t sl_ledger_try(unsigned gpu, uint64_t bytes) {
    for (int attempt = 0;; attempt++) {
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
        uint64_t others = under_way_elsewhere();
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
    world.mine[running] -= bytes;
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

uint64_t sl_ledger_used(unsigned gpu) {
    (void)gpu;
    stop();
    return sum();
}

uint64_t sl_ledger_limit(unsigned gpu) {
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

/* By as much as is missing at least, by the request in whole steps at most. */
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
        broken = "a request was refused that fitted all the time";
}

static void allocate(void) {
    take(now->thread[running].bytes);
}

static void allocate_and_free(void) {
    take(now->thread[running].bytes);
    if (!me()->refused)
        fake_free(now->thread[running].bytes, NULL);
}

/* The stream comes to what was freed, the driver may give back, and the library looks. */
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
            broken = "the ledger has less than the driver";
        if (world.charged[i] < world.in_flight[i])
            broken = "more is under way than charged";
        if (!world.pool[i].lock.state && !now->is_without_lock && world.pool[i].charged < world.driver[i].reserved)
            broken = "the charge of a pool that is not locked is less than it has";
    }
    if (reserved() > world.highest_limit + world.slack)
        broken = "the driver has more than quota and slack";
    for (int i = 0; i < THREADS; i++) {
        thread_t *thread = &world.thread[i];
        uint64_t own = releasable(&world.driver[thread->process]);
        if (thread->in_call && sum() - world.mine[i] + thread->need > world.limit + own)
            thread->fitted = false;
    }
}

/* When all have ended: a last look, then ledger and driver must agree, and be within the quota. */
static void check_end(void) {
    for (int i = 0; i < PROCESSES; i++) {
        driver_t *pool = &world.driver[i];
        if (world.in_flight[i])
            broken = "something is under way in the end";
        if (world.pool[i].charged != world.charged[i])
            broken = "the pool's charge is not what the ledger has";
        if (!world.pool[i].overgrown && reserved() > world.highest_limit && !world.pool[1 - i].overgrown)
            broken = "the quota is passed in the end, and no pool knows that it must give back";
        pool->pending = 0;
    }
}

static bool can_run(int i) {
    const thread_t *thread = &world.thread[i];
    int before = running;
    running = i;
    uint64_t others = under_way_elsewhere();
    running = before;
    return !thread->done && (!thread->lock || !thread->lock->state) && (!thread->waits_for_others || others != thread->others);
}

static void run(void) {
    if (now->thread[running].body)
        now->thread[running].body();
    me()->done = true;
    stop();
}

static void advance(int i, int answer) {
    running = i;
    me()->chosen = answer;
    me()->choices = 1;
    me()->lock = NULL;
    me()->waits_for_others = false;
    swapcontext(&explorer, &coroutine[i]);
    check_step();
}

/* A state, and what of it was tried. */
typedef struct {
    world_t world;
    ucontext_t coroutine[THREADS];
    char *stack[THREADS];
    size_t stack_bytes[THREADS];
    int thread, answer;
} state_t;

static state_t path[DEEPEST];
static uint64_t *seen;
static uint64_t states, steps, ends, refusals;

static char *top_of(int i) {
    return (char *)coroutine[i].uc_mcontext.gregs[REG_RSP];
}

static void save(state_t *state) {
    state->world = world;
    state->thread = state->answer = 0;
    for (int i = 0; i < THREADS; i++) {
        state->coroutine[i] = coroutine[i];
        state->stack_bytes[i] = (size_t)(stacks[i] + STACK_BYTES - top_of(i));
        state->stack[i] = realloc(state->stack[i], state->stack_bytes[i]);
        memcpy(state->stack[i], top_of(i), state->stack_bytes[i]);
    }
}

static void restore(const state_t *state) {
    world = state->world;
    for (int i = 0; i < THREADS; i++) {
        coroutine[i] = state->coroutine[i];
        memcpy(top_of(i), state->stack[i], state->stack_bytes[i]);
    }
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *from = bytes;
    for (; count >= 8; count -= 8, from += 8) {
        uint64_t word;
        memcpy(&word, from, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    for (; count; count--, from++)
        hash = (hash ^ *from) * 0x100000001b3ull;
    return hash;
}

static uint64_t digest(void) {
    static const int registers[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15, REG_RSP, REG_RIP};
    uint64_t hash = mix(1469598103934665603ull, &world, sizeof world);
    for (int i = 0; i < THREADS; i++) {
        if (world.thread[i].done)
            continue;
        for (size_t r = 0; r < sizeof registers / sizeof *registers; r++)
            hash = mix(hash, &coroutine[i].uc_mcontext.gregs[registers[r]], 8);
        hash = mix(hash, top_of(i), (size_t)(stacks[i] + STACK_BYTES - top_of(i)));
    }
    return hash ? hash : 1;
}

static bool is_new(void) {
    uint64_t hash = digest(), place = hash >> (64 - SEEN_BITS);
    for (; seen[place]; place = (place + 1) & ((1u << SEEN_BITS) - 1))
        if (seen[place] == hash)
            return false;
    seen[place] = hash;
    CHECK(++states < 3u << (SEEN_BITS - 2), "too many states");
    return true;
}

static void start(void) {
    memset(&world, 0, sizeof world);
    memset(stacks, 0, sizeof stacks);
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
        world.thread[i].done = !now->thread[i].body;
        getcontext(&coroutine[i]);
        coroutine[i].uc_stack.ss_sp = stacks[i];
        coroutine[i].uc_stack.ss_size = STACK_BYTES;
        coroutine[i].uc_link = NULL;
        makecontext(&coroutine[i], run, 0);
        running = i;
        if (!world.thread[i].done)
            world.thread[i].choices = 1;
    }
}

/* The next thread and answer that were not tried from this state. */
static bool next(state_t *state, int *thread, int *answer) {
    for (; state->thread < THREADS; state->thread++, state->answer = 0) {
        world = state->world;
        if (can_run(state->thread) && state->answer < world.thread[state->thread].choices) {
            *thread = state->thread;
            *answer = state->answer++;
            return true;
        }
    }
    return false;
}

static bool all_done(void) {
    for (int i = 0; i < THREADS; i++)
        if (!world.thread[i].done)
            return false;
    return true;
}

static bool some_can_run(void) {
    for (int i = 0; i < THREADS; i++)
        if (can_run(i))
            return true;
    return false;
}

/* True: nothing is broken in any order. */
static bool explore(const case_t *what) {
    int depth = 0, thread, answer;
    now = what;
    broken = NULL;
    states = steps = ends = refusals = 0;
    memset(seen, 0, sizeof *seen << SEEN_BITS);
    start();
    save(&path[0]);
    while (depth >= 0 && !broken) {
        if (!next(&path[depth], &thread, &answer)) {
            depth--;
            continue;
        }
        restore(&path[depth]);
        advance(thread, answer);
        steps++;
        if (!broken && all_done()) {
            ends++;
            for (int i = 0; i < THREADS; i++)
                refusals += world.thread[i].refused;
            check_end();
        } else if (!broken && !some_can_run()) {
            broken = "nobody can go on";
        }
        if (!broken && is_new()) {
            CHECK(depth + 1 < DEEPEST);
            save(&path[++depth]);
        }
    }
    printf("  %s: %llu states, %llu steps, %llu ends, %llu refused%s%s\n", what->name, (unsigned long long)states,
           (unsigned long long)steps, (unsigned long long)ends, (unsigned long long)refusals, broken ? ": " : "",
           broken ? broken : "");
    return !broken;
}

static void should_hold_in_every_order(void) {
    static const case_t cases[] = {
        {"two processes, room for one", 2 * STEP, {{0}}, {{allocate, 0, 48 * MIB}, {allocate, 1, 48 * MIB}}, false},
        {"two processes and a synchronisation", 3 * STEP, {{2 * STEP, 40 * MIB, 0, 0}},
         {{allocate, 0, 20 * MIB}, {allocate, 1, 40 * MIB}, {synchronize, 0, 0}}, false},
        {"two threads of one process", 2 * STEP, {{0}},
         {{allocate, 0, 20 * MIB}, {allocate, 0, 40 * MIB}, {synchronize, 0, 0}}, false},
        {"a trial at the quota", 2 * STEP, {{2 * STEP, 33 * MIB, 0, 2 * STEP}},
         {{allocate, 0, 20 * MIB}, {synchronize, 0, 0}, {reclaim, 0, 0}}, false},
        {"two trials of two processes", 4 * STEP, {{2 * STEP, 33 * MIB, 0, 2 * STEP}, {2 * STEP, 33 * MIB, 0, 2 * STEP}},
         {{allocate, 0, 20 * MIB}, {allocate, 1, 20 * MIB}, {NULL, 0, 0}}, false},
        {"two trials of one process", 2 * STEP, {{2 * STEP, 20 * MIB, 0, 2 * STEP}},
         {{allocate, 0, 20 * MIB}, {allocate, 0, 20 * MIB}, {synchronize, 0, 0}}, false},
        {"memory that is pending", 2 * STEP, {{2 * STEP, 0, 2 * STEP, 0}},
         {{allocate, 0, 40 * MIB}, {synchronize, 0, 0}, {reclaim, 0, 0}}, false},
        {"what one frees another takes", 2 * STEP, {{0}},
         {{allocate_and_free, 0, 20 * MIB}, {allocate, 0, 40 * MIB}, {reclaim, 0, 0}}, false},
        {"a limit that falls and rises", 3 * STEP, {{STEP, 20 * MIB, 0, 0}},
         {{allocate, 0, 20 * MIB}, {allocate, 1, 33 * MIB}, {change_limit, 0, 0}}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(explore(&cases[i]), "%s: %s", cases[i].name, broken);
}

/* The model must be able to find what the lock is there for. */
static void should_find_what_goes_wrong_without_the_lock(void) {
    static const case_t bare = {"two threads without the lock", 4 * STEP, {{0}},
        {{allocate, 0, 20 * MIB}, {allocate, 0, 40 * MIB}, {synchronize, 0, 0}}, true};
    CHECK(!explore(&bare));
}

int main(void) {
    seen = calloc((size_t)1 << SEEN_BITS, sizeof *seen);
    CHECK(seen);
    real.cuMemPoolGetAttribute = fake_attribute;
    real.cuMemPoolTrimTo = fake_trim;
    RUN(should_hold_in_every_order);
    RUN(should_find_what_goes_wrong_without_the_lock);
    return 0;
}
