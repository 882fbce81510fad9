/* turn: whose turn it is on a GPU, and how it is handed over.
 *
 * The word on the board names the holder; whoever changes it has chosen the next one: the holder when its turn is over and
 * its work is done, or one who waits when the holder has had nothing on the GPU for a while, which is also how a dead
 * holder looks. Among those who wait the highest priority goes first, then round the table, each for the length of its turn
 * less what its last one was too long; one that a higher priority cut short goes on with what was left. If one of them asked for exclusive turns, who waits longest goes first. */
#define _GNU_SOURCE
#include "turns/turn.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "tenant/tenant.h"

#define MICRO 1000u
#define MILLI 1000000u
#define GRACE_NANOS (200 * MICRO)     /* an idle holder may come back: to hand over costs the GPU time too */
#define ACCEPT_NANOS (2 * MILLI)      /* how long one who got the turn may take to wake up */
#define WANTED_NANOS (10 * MILLI)     /* how long a wish counts */
#define COARSE_NANOS (20 * MILLI)     /* a coarse clock is never so far behind */
#define LOOK_NANOS (2 * MILLI)        /* how often one who waits looks without being woken */
#define NAP_NANOS (100 * MICRO)       /* the same for who is next, while the holder waits for the GPU */
#define SPIN_NANOS (400 * MICRO)      /* who is next stays awake when the turn will end this soon */
#define SPIN_PROCESSORS 4             /* with fewer the holder may need the processor */
#define LONGEST_NANOS (1000 * MILLI)  /* no turn is longer */
#define SUSPECT_NANOS (20 * MILLI)    /* after this a silent holder's life is checked */
#define NOBODY 0xffu

typedef struct {
    uint64_t since[SL_BOARD_TENANT_COUNT]; /* 0 = does not wait */
} waiters_t;

static void find_waiters(const sl_board_t *board, waiters_t *waiters) {
    memset(waiters, 0, sizeof *waiters);
    for (unsigned i = 0; i < SL_BOARD_PROCESS_COUNT; i++) {
        const sl_board_process_t *process = &board->processes[i];
        uint64_t since = process->waiting_nanos;
        unsigned tenant = process->tenant;
        if (!process->owner || !process->waiting || tenant >= SL_BOARD_TENANT_COUNT || !since)
            continue;
        if (!waiters->since[tenant] || since < waiters->since[tenant])
            waiters->since[tenant] = since;
    }
}

static uint64_t length_of(const sl_board_tenant_t *tenant) {
    uint64_t micros = tenant->turn_micros ? tenant->turn_micros : SL_TURN_DEFAULT_MICROS, weight = tenant->weight ? tenant->weight : 1;
    uint64_t length = tenant->plan_nanos ? tenant->plan_nanos : micros * MICRO * weight;
    return length < LONGEST_NANOS ? length : LONGEST_NANOS;
}

/* Those who wait with the highest priority; the rest count for nothing. */
static bool keep_first(const sl_board_t *board, waiters_t *waiters) {
    int highest = INT_MIN;
    bool exclusive = false;
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++)
        if (waiters->since[i] && board->tenants[i].priority > highest)
            highest = board->tenants[i].priority;
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++) {
        if (waiters->since[i] && board->tenants[i].priority < highest)
            waiters->since[i] = 0;
        exclusive |= waiters->since[i] && board->tenants[i].exclusive;
    }
    return exclusive;
}

static unsigned longest_waiting(const waiters_t *waiters) {
    unsigned first = NOBODY;
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++)
        if (waiters->since[i] && (first == NOBODY || waiters->since[i] < waiters->since[first]))
            first = i;
    return first;
}

static unsigned priority_byte(const sl_board_tenant_t *tenant) {
    return tenant->priority < 0 ? 0 : tenant->priority > 0 ? 16 : 8;
}

/* Round the table from who last had a turn. One whose last turns were too long is passed over, and has paid for a turn. */
static unsigned next_round(const sl_board_t *board, const waiters_t *waiters, int64_t balances[]) {
    unsigned any = longest_waiting(waiters), next = any;
    unsigned last = board->turn->last_entries >> priority_byte(&board->tenants[any]) & 0xff;
    for (unsigned i = 0; i < 256 * SL_BOARD_TENANT_COUNT; i++) {
        next = (last + i) % SL_BOARD_TENANT_COUNT;
        int64_t length = (int64_t)length_of(&board->tenants[next]);
        if (!waiters->since[next])
            continue;
        if (balances[next] + length > length / 8)
            return next;
        balances[next] += length;
    }
    return any;
}

/* Who is next, and for how long; balances are what they will be then. */
static unsigned choose(const sl_board_t *board, waiters_t *waiters, uint64_t *length, int64_t balances[]) {
    bool exclusive = keep_first(board, waiters);
    unsigned next = exclusive ? longest_waiting(waiters) : next_round(board, waiters, balances);
    *length = length_of(&board->tenants[next]);
    if (!exclusive && (int64_t)*length + balances[next] > 0)
        *length = (uint64_t)((int64_t)*length + balances[next]);
    balances[next] = 0;
    return next;
}

static void wake_all(const sl_board_t *board) {
    atomic_fetch_add(&board->turn->wake, 1);
    syscall(SYS_futex, &board->turn->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A turn that ends now. */
typedef struct {
    unsigned holder; /* NOBODY: nobody had it */
    bool seized, cut;
    uint64_t began, ends;
} past_t;

static past_t past_of(const sl_board_t *board, uint64_t word, bool seized, uint64_t now) {
    const sl_board_turn_t *turn = board->turn;
    unsigned holder = (unsigned)(word & 0xff) - 1;
    bool ready = turn->ready == word && turn->began_nanos <= now && now - turn->began_nanos < 1000 * LONGEST_NANOS;
    return (past_t){
        .holder = holder < SL_BOARD_TENANT_COUNT ? holder : NOBODY,
        .seized = seized,
        .cut = turn->cut == word,
        .began = ready ? turn->began_nanos : now,
        .ends = ready ? turn->ends_nanos : now,
    };
}

/* What the turn was too long is taken off the tenant's next, what it was too short is added. But nobody pays for time that
 * no other wanted, and who had nothing to do has no claim. */
static int64_t balance_after(const sl_board_t *board, const past_t *past, const waiters_t *waiters, uint64_t now) {
    int64_t length = (int64_t)length_of(&board->tenants[past->holder]);
    unsigned first = longest_waiting(waiters);
    uint64_t wanted = first == NOBODY ? now : waiters->since[first], over = wanted > past->ends ? wanted : past->ends;
    int64_t left = over > now && wanted > past->ends ? 0 : (int64_t)(over - now);
    if (left > 0 && (past->seized || (!past->cut && left > length / 4)))
        return 0;
    return left < -100 * length ? -100 * length : left;
}

/* The next round of the tenant's priority begins with the entry. */
static void begin_round(const sl_board_t *board, const sl_board_tenant_t *tenant, unsigned entry) {
    unsigned at = priority_byte(tenant);
    board->turn->last_entries = (board->turn->last_entries & ~(0xffu << at)) | entry << at;
}

/* One whose turn was cut goes on with what was left when its priority is served again: if the next went first, each would
 * have as much as the higher priority leaves at a time, whatever its weight. */
static bool goes_on(const sl_board_t *board, const past_t *past, unsigned next, int64_t balance) {
    return past->cut && balance > 0 && board->tenants[past->holder].priority < board->tenants[next].priority;
}

/* Gives the turn from who has it by this word to the next; true when the word changed. */
static bool pass_on(const sl_board_t *board, uint64_t word, waiters_t *waiters, bool seized, uint64_t now) {
    sl_board_turn_t *turn = board->turn;
    past_t past = past_of(board, word, seized, now);
    int64_t balances[SL_BOARD_TENANT_COUNT];
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++)
        balances[i] = board->tenants[i].balance_nanos;
    if (past.holder != NOBODY)
        balances[past.holder] = balance_after(board, &past, waiters, now);
    uint64_t length;
    unsigned next = choose(board, waiters, &length, balances);
    uint64_t given = ((word >> 8) + 1) << 8 | (next + 1);
    if (!atomic_compare_exchange_strong(&turn->word, &word, given))
        return false;
    if (past.holder != NOBODY && goes_on(board, &past, next, balances[past.holder])) {
        balances[past.holder] -= (int64_t)length_of(&board->tenants[past.holder]);
        begin_round(board, &board->tenants[past.holder], past.holder);
    }
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++)
        if (waiters->since[i] || i == past.holder)
            board->tenants[i].balance_nanos = balances[i];
    if (past.holder != NOBODY) {
        atomic_fetch_add(&board->tenants[past.holder].held_nanos, now - past.began);
        atomic_fetch_add(&board->tenants[past.holder].turns, 1);
    }
    begin_round(board, &board->tenants[next], next + 1);
    turn->began_nanos = now;
    turn->ends_nanos = now + length + (next == past.holder ? 0 : SL_TURN_SWITCH_NANOS);
    atomic_store_explicit(&turn->ready, given, memory_order_release);
    if (next != past.holder && past.holder != NOBODY)
        atomic_fetch_add(seized ? &turn->seized : &turn->hand_overs, 1);
    if (next != past.holder)
        wake_all(board);
    return true;
}

bool sl_turn_is_wanted(const sl_board_t *board, uint64_t now) {
    uint64_t wanted = atomic_load_explicit(&board->turn->wanted_nanos, memory_order_relaxed);
    return wanted + WANTED_NANOS > now && wanted <= now + COARSE_NANOS;
}

uint64_t sl_turn_ends(const sl_board_t *board, uint64_t now) {
    const sl_board_turn_t *turn = board->turn;
    uint64_t ends = turn->ends_nanos, word = turn->word;
    if (turn->cut == word)
        return now;
    if (atomic_load_explicit(&turn->ready, memory_order_acquire) != word)
        return now + length_of(&board->tenants[board->tenant]);
    return ends < now + 2 * LONGEST_NANOS ? ends : now;
}

/* Until when the tenant's processes keep the GPU busy: as far as it is known, and while threads wait for it. */
typedef struct {
    uint64_t known, blocked;
} busy_t;

static busy_t busy_until(const sl_board_t *board, unsigned tenant) {
    busy_t busy = {0, 0};
    for (unsigned i = 0; i < SL_BOARD_PROCESS_COUNT; i++) {
        const sl_board_process_t *process = &board->processes[i];
        if (!process->owner || process->tenant != tenant)
            continue;
        uint64_t known = process->busy_nanos, blocked = process->blocked_nanos;
        busy.known = known > busy.known ? known : busy.known;
        busy.blocked = blocked > busy.blocked ? blocked : busy.blocked;
    }
    return busy;
}

void sl_turn_give(const sl_board_t *board, bool wants_more, uint64_t now) {
    uint64_t word = board->turn->word;
    waiters_t waiters;
    if ((word & 0xff) != board->tenant + 1 || busy_until(board, board->tenant).known > now)
        return;
    find_waiters(board, &waiters);
    bool own = waiters.since[board->tenant] != 0;
    waiters.since[board->tenant] = 0;
    bool others = longest_waiting(&waiters) != NOBODY;
    waiters.since[board->tenant] = wants_more || own ? now : 0;
    if (others)
        pass_on(board, word, &waiters, false, now);
}

static bool has_other(const sl_board_t *board, bool above) {
    int mine = board->tenants[board->tenant].priority;
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++) {
        int its = board->tenants[i].priority;
        if (i != board->tenant && board->tenants[i].owner && (above ? its > mine : its < mine) && sl_board_tenant_alive(board, i))
            return true;
    }
    return false;
}

bool sl_turn_has_superior(const sl_board_t *board) {
    return has_other(board, true);
}

bool sl_turn_has_inferior(const sl_board_t *board) {
    return has_other(board, false);
}

/* A process that died with work on the GPU would look busy until that work had ended. */
static void bury_dead(const sl_board_t *board) {
    for (unsigned i = 0; i < SL_BOARD_PROCESS_COUNT; i++) {
        sl_board_process_t *process = &board->processes[i];
        uint64_t owner = process->owner;
        if (owner && (process->waiting || process->busy_nanos) && !sl_board_alive(process))
            atomic_compare_exchange_strong(&process->owner, &owner, 0);
    }
}

/* Whether this tenant's priority is higher. */
static bool is_above(const sl_board_t *board, unsigned holder) {
    return holder < SL_BOARD_TENANT_COUNT && board->tenants[board->tenant].priority > board->tenants[holder].priority;
}

/* When the holder counts as idle if none of its threads waits for the GPU: some time after its work, or if it has not begun, after its
 * turn began. A higher priority does not wait for it to come back. */
static uint64_t idle_from(const sl_board_t *board, uint64_t word, busy_t busy) {
    const sl_board_turn_t *turn = board->turn;
    unsigned holder = (unsigned)(word & 0xff) - 1;
    if (holder >= SL_BOARD_TENANT_COUNT)
        return 0;
    uint64_t began = turn->ready == word ? turn->began_nanos : 0;
    return busy.known >= began ? busy.known + (is_above(board, holder) ? 0 : GRACE_NANOS) : began + ACCEPT_NANOS;
}

static bool is_blocked(busy_t busy, uint64_t now) {
    return busy.blocked > now && busy.blocked < now + LONGEST_NANOS;
}

/* Work that takes longer than was known keeps the turn, but not from a higher priority. */
static bool is_idle(const sl_board_t *board, uint64_t word, uint64_t now) {
    unsigned holder = (unsigned)(word & 0xff) - 1;
    busy_t busy = busy_until(board, holder);
    return idle_from(board, word, busy) <= now && (!is_blocked(busy, now) || is_above(board, holder));
}

/* One look; true when the turn is ours now. */
static bool look(const sl_board_t *board, uint64_t now) {
    sl_board_turn_t *turn = board->turn;
    uint64_t word = turn->word;
    unsigned holder = (unsigned)(word & 0xff) - 1;
    if (holder == board->tenant)
        return true;
    if (now - turn->wanted_nanos > MILLI)
        turn->wanted_nanos = now;
    if (is_idle(board, word, now)) {
        waiters_t waiters;
        find_waiters(board, &waiters);
        if (holder < SL_BOARD_TENANT_COUNT)
            waiters.since[holder] = 0;
        return longest_waiting(&waiters) != NOBODY && pass_on(board, word, &waiters, true, now) && sl_turn_is_mine(board);
    }
    if (is_above(board, holder))
        turn->cut = word;
    return false;
}

static void sleep_until_woken(const sl_board_t *board, uint32_t seen, uint64_t nanos) {
    struct timespec span = {(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)};
    syscall(SYS_futex, &board->turn->wake, FUTEX_WAIT, seen, &span, NULL, 0);
}

/* When the turn will be over, as far as it is known. */
static uint64_t over_from(const sl_board_t *board, uint64_t word, busy_t busy, uint64_t now) {
    const sl_board_turn_t *turn = board->turn;
    uint64_t ends = turn->ready == word && turn->cut != word ? turn->ends_nanos : now;
    return busy.known > ends ? busy.known : ends;
}

static bool is_next(const sl_board_t *board) {
    waiters_t waiters;
    find_waiters(board, &waiters);
    keep_first(board, &waiters);
    return longest_waiting(&waiters) == board->tenant;
}

/* When to look again if nobody wakes us. While a thread of the holder waits for the GPU its work ends about when it is known to, and
 * who is next sees that soon. */
static uint64_t next_look(const sl_board_t *board, uint64_t word, busy_t busy, bool next, uint64_t now) {
    uint64_t idle = idle_from(board, word, busy), until = idle > now ? idle : now + LOOK_NANOS;
    if (next && is_blocked(busy, now))
        until = busy.known > now + 2 * NAP_NANOS ? busy.known - NAP_NANOS : now + NAP_NANOS;
    return until < now + LOOK_NANOS ? until : now + LOOK_NANOS;
}

/* To wake up takes longer than the rest of a turn that is all but over, so who is next stays awake then. */
static void rest(const sl_board_t *board, uint32_t seen, uint64_t now) {
    uint64_t word = board->turn->word;
    busy_t busy = busy_until(board, (unsigned)(word & 0xff) - 1);
    uint64_t over = over_from(board, word, busy, now);
    bool next = is_next(board), spins = next && sl_os_processors() >= SPIN_PROCESSORS;
    if (spins && over < now + SPIN_NANOS) {
        uint64_t idle = idle_from(board, word, busy);
        for (unsigned i = 0; i < 2000 && board->turn->wake == seen && sl_os_nanos() < idle; i++)
            __builtin_ia32_pause();
        if (board->turn->wake != seen || sl_os_nanos() < now + SPIN_NANOS)
            return;
    }
    uint64_t until = next_look(board, word, busy, next, now);
    if (spins && over > now + SPIN_NANOS && over - SPIN_NANOS / 2 < until)
        until = over - SPIN_NANOS / 2;
    sleep_until_woken(board, seen, until - now);
}

bool sl_turn_wait(const sl_board_t *board, uint64_t since_nanos, uint64_t patience_nanos) {
    sl_board_process_t *self = &board->processes[board->process];
    uint64_t start = sl_os_nanos(), now = start, checked = start;
    if (atomic_fetch_add(&self->waiting, 1) == 0)
        self->waiting_nanos = since_nanos;
    bool mine;
    for (;; now = sl_os_nanos()) {
        uint32_t seen = board->turn->wake;
        mine = look(board, now);
        if (mine || now - start > patience_nanos)
            break;
        if (now - checked > SUSPECT_NANOS) {
            bury_dead(board);
            checked = now;
        }
        rest(board, seen, now);
    }
    atomic_fetch_sub(&self->waiting, 1);
    return mine;
}
