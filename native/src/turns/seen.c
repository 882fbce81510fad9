/* seen: what a board says at one moment. */
#define _GNU_SOURCE
#include "turns/seen.h"

#include <string.h>

#include "os/life.h"
#include "os/os.h"
#include "turns/turn.h"

#define MICRO 1000u
#define MILLI 1000000u
#define COARSE_NANOS (20 * MILLI)            /* a coarse clock is never so far behind */
#define WANTED_NANOS (10 * MILLI)            /* how long a wish counts */
#define BUSY_NANOS (60ull * SL_SEEN_LONGEST_NANOS)     /* no work is believed to take longer */

#define READ(field) atomic_load_explicit(&(field), memory_order_acquire)

/* The time, or 0 when it is too far ahead: from before a reboot, by another clock, or nonsense. */
static uint64_t time_of(uint64_t nanos, uint64_t now, uint64_t ahead) {
    return nanos <= now || nanos - now <= ahead ? nanos : 0;
}

static uint64_t between(uint64_t value, uint64_t least, uint64_t most) {
    return value < least ? least : value > most ? most : value;
}

unsigned sl_seen_tenants(const sl_board_t *board) {
    return (unsigned)between(READ(board->turn->tenants), 0, SL_BOARD_TENANT_COUNT);
}

unsigned sl_seen_processes(const sl_board_t *board) {
    return (unsigned)between(READ(board->turn->processes), 0, SL_BOARD_PROCESS_COUNT);
}

sl_seen_tenant_t sl_seen_tenant(const sl_board_t *board, unsigned tenant) {
    const sl_board_tenant_t *entry = &board->tenants[tenant];
    uint64_t plan = READ(entry->plan_nanos), micros = READ(entry->turn_micros), weight = READ(entry->weight);
    int32_t priority = READ(entry->priority);
    int64_t balance = READ(entry->balance_nanos);
    micros = between(micros ? micros : SL_TURN_DEFAULT_MICROS, 0, SL_SEEN_LONGEST_NANOS / MICRO);
    uint64_t asked = micros * MICRO * between(weight, 1, SL_SEEN_LONGEST_NANOS);
    int64_t length = (int64_t)between(plan ? plan : asked, SL_SEEN_SHORTEST_NANOS, SL_SEEN_LONGEST_NANOS);
    int64_t least = -SL_SEEN_MOST_TURNS * length, most = 2 * (int64_t)SL_SEEN_LONGEST_NANOS;
    return (sl_seen_tenant_t){
        .balance_nanos = balance < least ? least : balance > most ? most : balance,
        .length_nanos = (uint32_t)length,
        .priority = (int8_t)(priority < 0 ? -1 : priority > 0),
        .exclusive = READ(entry->exclusive) != 0,
    };
}

void sl_seen_rounds(const sl_board_t *board, sl_seen_round_t rounds[3]) {
    uint32_t last = READ(board->turn->last_entries);
    for (int priority = -1; priority <= 1; priority++)
        rounds[priority + 1] = (sl_seen_round_t){(uint8_t)(last >> SL_TURN_ROUND_BITS(priority)), (last & SL_TURN_GOES_ON_BIT(priority)) != 0};
}

static void raise_to(_Atomic uint32_t *word, unsigned count) {
    uint32_t seen = READ(*word);
    while (seen < count && !atomic_compare_exchange_weak(word, &seen, count)) {
    }
}

bool sl_seen_repair(const sl_board_t *board) {
    sl_board_process_t *self = &board->processes[board->process];
    _Atomic uint64_t *tenant = &board->tenants[board->tenant].owner;
    uint64_t owner = READ(self->owner), key = READ(*tenant);
    raise_to(&board->turn->tenants, board->tenant + 1);
    raise_to(&board->turn->processes, board->process + 1);
    if (!owner && atomic_compare_exchange_strong(&self->owner, &owner, board->identity))
        owner = board->identity;
    if (!key && atomic_compare_exchange_strong(tenant, &key, board->key))
        key = board->key;
    if (owner == board->identity && READ(self->tenant) != board->tenant)
        self->tenant = board->tenant;
    return owner == board->identity && key == board->key;
}

bool sl_seen_wanted(const sl_board_t *board, uint64_t now) {
    uint64_t wanted = atomic_load_explicit(&board->turn->wanted_nanos, memory_order_relaxed);
    return wanted + WANTED_NANOS > now && wanted <= now + COARSE_NANOS;
}

void sl_seen_turn(sl_seen_t *seen, const sl_board_t *board, uint64_t now) {
    const sl_board_turn_t *turn = board->turn;
    uint64_t word = READ(turn->word), ready = READ(turn->ready), began = READ(turn->began_nanos), ends = READ(turn->ends_nanos);
    uint64_t above = READ(turn->above_nanos), since_began = above - READ(turn->began_above_nanos);
    unsigned holder = (unsigned)(word & 0xff) - 1;
    seen->now = now;
    seen->word = word;
    seen->holder = holder < SL_BOARD_TENANT_COUNT ? holder : SL_SEEN_NOBODY;
    seen->cut = READ(turn->cut) == word;
    seen->began = time_of(began, now, COARSE_NANOS);
    seen->ends = time_of(ends, now, 3ull * SL_SEEN_LONGEST_NANOS);
    seen->known = ready == word && seen->began && seen->ends;
    seen->above = above;
    seen->interrupted = seen->known && seen->began < now && since_began <= now - seen->began ? since_began : 0;
    seen->ends = between(seen->ends + seen->interrupted, 0, now + 3ull * SL_SEEN_LONGEST_NANOS);
    seen->busy = seen->blocked = seen->outside_busy = 0;
    seen->count = 0;
}

/* Work that ran outside the turns since then has delayed the process's own work of this turn. */
static uint64_t interrupted_since(uint64_t above_then, uint64_t above_now) {
    return above_now - above_then <= SL_SEEN_LONGEST_NANOS ? above_now - above_then : 0;
}

static void see_process(sl_seen_t *seen, const sl_board_process_t *process) {
    uint64_t owner = READ(process->owner), since = READ(process->waiting_nanos);
    unsigned tenant = READ(process->tenant);
    if (!owner || tenant >= SL_BOARD_TENANT_COUNT)
        return;
    uint64_t busy = time_of(READ(process->busy_nanos), seen->now, BUSY_NANOS);
    if (READ(process->outside) && busy > seen->outside_busy)
        seen->outside_busy = busy;
    if (busy && busy >= seen->began)
        busy += interrupted_since(READ(process->busy_above_nanos), seen->above);
    if (tenant < seen->count && busy > seen->tenants[tenant].busy_nanos)
        seen->tenants[tenant].busy_nanos = busy;
    if (tenant == seen->holder) {
        uint64_t blocked = time_of(READ(process->blocked_nanos), seen->now, SL_SEEN_BLOCKED_NANOS + COARSE_NANOS);
        seen->busy = busy > seen->busy ? busy : seen->busy;
        seen->blocked = blocked > seen->blocked ? blocked : seen->blocked;
    }
    if (!READ(process->waiting) || !since || tenant >= seen->count)
        return;
    uint64_t *first = &seen->tenants[tenant].since_nanos;
    since = between(since, 1, seen->now);
    *first = *first && *first < since ? *first : since;
}

void sl_seen_read(sl_seen_t *seen, const sl_board_t *board, uint64_t now) {
    sl_seen_turn(seen, board, now);
    seen->count = sl_seen_tenants(board);
    for (unsigned i = 0; i < seen->count; i++)
        seen->tenants[i] = sl_seen_tenant(board, i);
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++)
        see_process(seen, &board->processes[i]);
}

bool sl_seen_alive(const sl_board_t *board, unsigned number) {
    const sl_board_process_t *process = &board->processes[number];
    uint64_t owner = READ(process->owner), sign = READ(process->sign);
    if (!owner || number == board->process)
        return owner != 0;
    sl_life_t life = sign == owner ? sl_life_in(&board->file, sl_board_place(number)) : SL_LIFE_UNKNOWN;
    if (life != SL_LIFE_UNKNOWN)
        return life == SL_LIFE_ALIVE;
    return READ(process->pid_namespace) != board->pid_namespace || sl_os_alive(owner, READ(process->image));
}

bool sl_seen_rival(const sl_board_t *board, uint64_t now, uint64_t nanos) {
    int mine = sl_seen_tenant(board, board->tenant).priority;
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++) {
        const sl_board_process_t *process = &board->processes[i];
        unsigned tenant = READ(process->tenant);
        uint64_t busy = time_of(READ(process->busy_nanos), now, BUSY_NANOS);
        bool works = READ(process->owner) && (READ(process->waiting) || busy + nanos > now);
        if (works && tenant != board->tenant && tenant < SL_BOARD_TENANT_COUNT && sl_seen_tenant(board, tenant).priority >= mine && sl_seen_alive(board, i))
            return true;
    }
    return false;
}

static bool has_worked(const sl_board_process_t *process) {
    return READ(process->waiting) || READ(process->busy_nanos);
}

static bool has_worked_lately(const sl_board_process_t *process, uint64_t now) {
    uint64_t busy = time_of(READ(process->busy_nanos), now, BUSY_NANOS);
    return READ(process->waiting) || (busy && busy + SL_SEEN_HIGH_NANOS > now);
}

static bool is_of(const sl_board_t *board, unsigned process, unsigned tenant) {
    return READ(board->processes[process].tenant) == tenant && sl_seen_alive(board, process);
}

/* A process that cannot set its slice may know nothing of work outside the turns. */
static bool counts_as_high(const sl_board_t *board, unsigned tenant, uint64_t now) {
    unsigned processes = sl_seen_processes(board);
    bool works = false;
    for (unsigned i = 0; i < processes; i++) {
        if (!is_of(board, i, tenant))
            continue;
        if (!READ(board->processes[i].slice_micros))
            return false;
        works |= has_worked_lately(&board->processes[i], now);
    }
    return works;
}

static bool has_process(const sl_board_t *board, unsigned tenant) {
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++)
        if (is_of(board, i, tenant))
            return true;
    return false;
}

static bool is_any_exclusive(const sl_board_t *board) {
    unsigned tenants = sl_seen_tenants(board);
    for (unsigned i = 0; i < tenants; i++)
        if (sl_seen_tenant(board, i).exclusive && has_process(board, i))
            return true;
    return false;
}

bool sl_seen_any_high(const sl_board_t *board) {
    unsigned tenants = sl_seen_tenants(board);
    for (unsigned i = 0; i < tenants; i++)
        if (sl_seen_tenant(board, i).priority > 0 && has_process(board, i))
            return true;
    return false;
}

sl_seen_rank_t sl_seen_rank(const sl_board_t *board, uint64_t now) {
    unsigned tenants = sl_seen_tenants(board), highs = 0, only = SL_SEEN_NOBODY;
    for (unsigned i = 0; i < tenants && highs < 2; i++)
        if (sl_seen_tenant(board, i).priority > 0 && counts_as_high(board, i, now)) {
            only = i;
            highs++;
        }
    if (!highs || is_any_exclusive(board))
        return SL_SEEN_IN_TURNS;
    if (sl_seen_tenant(board, board->tenant).priority <= 0)
        return SL_SEEN_BELOW;
    return highs == 1 && only == board->tenant ? SL_SEEN_ABOVE : SL_SEEN_IN_TURNS;
}

static bool is_slice_short(const sl_board_process_t *process) {
    uint32_t slice = READ(process->slice_micros);
    return slice && slice <= SL_SEEN_SHORT_MICROS;
}

bool sl_seen_others_are_short(const sl_board_t *board) {
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++) {
        const sl_board_process_t *process = &board->processes[i];
        bool other = READ(process->owner) && READ(process->tenant) != board->tenant;
        if (other && has_worked(process) && !is_slice_short(process) && sl_seen_alive(board, i))
            return false;
    }
    return true;
}

bool sl_seen_is_short(const sl_board_t *board, unsigned tenant) {
    unsigned processes = sl_seen_processes(board), count = 0;
    for (unsigned i = 0; i < processes; i++) {
        if (!is_of(board, i, tenant))
            continue;
        if (!is_slice_short(&board->processes[i]))
            return false;
        count++;
    }
    return count > 0;
}

static bool is_beside(const sl_board_t *board, unsigned number) {
    const sl_board_process_t *process = &board->processes[number];
    unsigned tenant = READ(process->tenant);
    bool other = READ(process->owner) && tenant != board->tenant && tenant < SL_BOARD_TENANT_COUNT;
    return other && has_worked(process) && sl_seen_tenant(board, tenant).priority <= 0 && sl_seen_alive(board, number);
}

bool sl_seen_any_silent(const sl_board_t *board) {
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++)
        if (READ(board->processes[i].busy_nanos) == SL_TURN_SILENT && is_beside(board, i))
            return true;
    return false;
}

bool sl_seen_any_beside(const sl_board_t *board) {
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++)
        if (is_beside(board, i))
            return true;
    return false;
}

unsigned sl_seen_siblings(const sl_board_t *board) {
    unsigned processes = sl_seen_processes(board), count = 0;
    for (unsigned i = 0; i < processes; i++)
        count += is_of(board, i, board->tenant);
    return count;
}

bool sl_seen_is_outside(const sl_board_t *board, unsigned tenant) {
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++)
        if (READ(board->processes[i].owner) && READ(board->processes[i].tenant) == tenant && READ(board->processes[i].outside))
            return true;
    return false;
}

bool sl_seen_tenant_alive(const sl_board_t *board, unsigned tenant) {
    sl_board_tenant_t *entry = &board->tenants[tenant];
    uint64_t owner = READ(entry->owner);
    if (!owner)
        return false;
    if (has_process(board, tenant) || sl_os_alive(READ(entry->root_identity), 0))
        return true;
    atomic_compare_exchange_strong(&entry->owner, &owner, 0);
    return false;
}

void sl_seen_bury(const sl_board_t *board, unsigned tenant) {
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++) {
        sl_board_process_t *process = &board->processes[i];
        uint64_t owner = READ(process->owner);
        bool asks = owner && (READ(process->waiting) || READ(process->busy_nanos));
        if (asks && (tenant == SL_SEEN_NOBODY || READ(process->tenant) == tenant) && !sl_seen_alive(board, i))
            atomic_compare_exchange_strong(&process->owner, &owner, 0);
    }
}

void sl_seen_hush(const sl_board_t *board, unsigned tenant) {
    unsigned processes = sl_seen_processes(board);
    for (unsigned i = 0; i < processes; i++)
        if (READ(board->processes[i].tenant) == tenant)
            board->processes[i].waiting_nanos = 0;
}

static bool is_stopped(const sl_board_t *board, const sl_board_process_t *process) {
    uint64_t owner = READ(process->owner);
    pid_t pid = sl_os_pid(owner);
    sl_os_process_t found;
    return READ(process->pid_namespace) == board->pid_namespace && sl_os_process(pid, &found) && sl_os_identity(pid, &found) == owner &&
           (found.state == 'T' || found.state == 't');
}

bool sl_seen_stopped(const sl_board_t *board, unsigned tenant) {
    unsigned processes = sl_seen_processes(board), working = 0;
    uint64_t now = sl_os_nanos();
    for (unsigned i = 0; i < processes; i++) {
        const sl_board_process_t *process = &board->processes[i];
        if (!READ(process->owner) || READ(process->tenant) != tenant || (READ(process->busy_nanos) <= now && READ(process->blocked_nanos) <= now))
            continue;
        if (!is_stopped(board, process))
            return false;
        working++;
    }
    return working > 0;
}
