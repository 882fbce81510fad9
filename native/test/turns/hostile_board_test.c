/* A neighbour writes random values to every word of the board while honest tenants take turns on it. They never leave their arrays, never
 * compute nonsense, and no call takes longer than it may. Runs under AddressSanitizer and UndefinedBehaviorSanitizer, for a few seconds;
 * SLUICE_TEST_SEED repeats a run, SLUICE_TEST_SECONDS lengthens it. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "os/os.h"
#include "turns/turn.h"

#define MILLI 1000000ull
#define HONEST 3u
#define PATIENCE_NANOS (2 * MILLI)
#define MOST_NANOS (2000 * MILLI) /* a busy machine may stop a process for a while */

static struct {
    sl_board_turn_t turn;
    sl_board_tenant_t tenants[SL_BOARD_TENANT_COUNT];
    sl_board_process_t processes[SL_BOARD_PROCESS_COUNT];
} memory;

static atomic_bool ended;
static _Atomic uint64_t calls, taken, longest;
static uint64_t seed;

static uint64_t next(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Values at which something may break are more likely than others. */
static uint64_t evil(uint64_t *state) {
    uint64_t random = next(state), now = sl_os_nanos();
    switch (next(state) % 8) {
        case 0: return 0;
        case 1: return random % 300;
        case 2: return now + random % (40 * MILLI) - 20 * MILLI;
        case 3: return now + random % (1ull << 40);
        case 4: return UINT64_MAX - random % 300;
        case 5: return 1ull << random % 64;
        case 6: return (random % 300) << 32 | (random >> 40) % 300;
        default: return random;
    }
}

static void *write_nonsense(void *unused) {
    (void)unused;
    uint64_t state = seed;
    size_t head = (sizeof(sl_board_turn_t) + 8 * sizeof(sl_board_tenant_t)) / 8, all = sizeof memory / 8;
    while (!ended) {
        for (unsigned i = 0; i < 64; i++) {
            size_t word = next(&state) % (i % 2 ? all : head);
            atomic_store_explicit(&((_Atomic uint64_t *)&memory)[word], evil(&state), memory_order_relaxed);
        }
        for (unsigned i = 0; i < 8; i++) { /* so that at least some live processes wait */
            sl_board_process_t *process = &memory.processes[next(&state) % 16];
            process->owner = 1 + next(&state) % 3;
            process->tenant = (uint32_t)(next(&state) % 8);
            process->waiting = 1;
            process->waiting_nanos = sl_os_nanos() - next(&state) % MILLI;
        }
        for (volatile unsigned i = 0; i < next(&state) % 20000; i++) {
        }
    }
    return NULL;
}

static void *take_turns(void *number) {
    unsigned entry = (unsigned)(uintptr_t)number;
    sl_board_t board = {.turn = &memory.turn, .tenants = memory.tenants, .processes = memory.processes, 
                        .tenant = entry, .process = entry, .key = 1000 + entry, .identity = 1 + entry, .file = {.fd = -1}};
    while (!ended) {
        uint64_t start = sl_os_nanos();
        bool mine = sl_turn_wait(&board, start, PATIENCE_NANOS) == SL_TURN_MINE;
        uint64_t now = sl_os_nanos(), ends = sl_turn_ends(&board, now);
        CHECK(ends <= now + 3000 * MILLI, "a turn of %llu ms", (unsigned long long)(ends - now) / MILLI);
        sl_turn_is_wanted(&board, now);
        sl_turn_has_superior(&board);
        sl_turn_has_inferior(&board);
        sl_turn_say_busy(&board, now - 1);
        taken += mine;
        if (mine)
            sl_turn_give(&board, true, now);
        uint64_t took = sl_os_nanos() - start, most = longest;
        while (took > most && !atomic_compare_exchange_weak(&longest, &most, took)) {
        }
        atomic_fetch_add(&calls, 1);
    }
    return NULL;
}

int main(void) {
    const char *given = getenv("SLUICE_TEST_SEED"), *seconds = getenv("SLUICE_TEST_SECONDS");
    seed = given ? strtoull(given, NULL, 10) : sl_os_wall_nanos();
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    pthread_t threads[HONEST + 1];
    for (unsigned i = 0; i < HONEST; i++)
        CHECK(pthread_create(&threads[i], NULL, take_turns, (void *)(uintptr_t)i) == 0);
    CHECK(pthread_create(&threads[HONEST], NULL, write_nonsense, NULL) == 0);
    sl_os_sleep_nanos((seconds ? strtoull(seconds, NULL, 10) : 3) * 1000 * MILLI);
    ended = true;
    for (unsigned i = 0; i <= HONEST; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < SL_BOARD_PROCESS_COUNT; i++) /* they have ended, and were buried */
        memory.processes[i].owner = 0;
    memory.tenants[0].owner = 0;
    ended = false;
    pthread_t last;
    uint64_t start = sl_os_nanos(), before = taken;
    CHECK(pthread_create(&last, NULL, take_turns, (void *)0) == 0);
    while (taken == before && sl_os_nanos() - start < 10000 * MILLI)
        sl_os_sleep_nanos(MILLI);
    CHECK(taken > before, "nobody has a turn after the nonsense has ended");
    ended = true;
    pthread_join(last, NULL);
    printf("%llu rounds, the longest %.1f ms\n", (unsigned long long)calls, (double)longest / MILLI);
    CHECK(calls > 100);
    CHECK(longest < MOST_NANOS);
    return 0;
}
