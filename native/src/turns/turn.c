/* turn: whose turn it is on a GPU, and how it is handed over.
 *
 * The word on the board names the holder. The process that changes it has chosen the next holder. That is the holder itself, when its
 * turn is over and its work is done. Or it is a waiting process, when the holder has had nothing on the GPU for a while; a dead holder
 * looks the same. seen.c reads the board, choose.c decides, and this file carries it out. */
#define _GNU_SOURCE
#include "turns/turn.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "turns/choose.h"
#include "turns/seen.h"

#define MICRO 1000u
#define MILLI 1000000u
#define GRACE_NANOS (200 * MICRO)     /* an idle holder may come back: to hand over costs the GPU time too */
#define ACCEPT_NANOS (2 * MILLI)      /* how long a tenant that got the turn may take to wake up */
#define LOOK_NANOS (2 * MILLI)        /* how often a waiting process looks without being woken */
#define NAP_NANOS (100 * MICRO)       /* the same for the next tenant, while the holder waits for the GPU */
#define SPIN_NANOS (400 * MICRO)      /* the next tenant stays awake when the turn ends this soon */
#define SPIN_PROCESSORS 4             /* with fewer the holder may need the processor */
#define SUSPECT_NANOS (20 * MILLI)    /* after this a silent holder's life is checked */
#define OUTSIDE_NANOS (100 * MILLI)   /* chosen: work outside the turns delays the holder's work by an unknown time, but for no longer than this */

static void wake_all(const sl_board_t *board) {
    atomic_fetch_add(&board->turn->wake, 1);
    syscall(SYS_futex, &board->turn->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The next round of a priority begins with the entry. */
static void begin_round(const sl_board_t *board, int priority, unsigned entry, bool goes_on) {
    unsigned at = SL_TURN_ROUND_BITS(priority);
    uint32_t last = board->turn->last_entries & ~(0xffu << at) & ~SL_TURN_GOES_ON_BIT(priority);
    board->turn->last_entries = last | entry << at | (goes_on ? SL_TURN_GOES_ON_BIT(priority) : 0);
}

static void book_past_turn(const sl_board_t *board, const sl_seen_t *seen) {
    sl_board_tenant_t *entry = &board->tenants[seen->holder];
    atomic_fetch_add(&entry->held_nanos, seen->known && seen->began < seen->now ? seen->now - seen->began - seen->interrupted : 0);
    atomic_fetch_add(&entry->turns, 1);
}

/* Gives the turn from its holder to the next waiting tenant; true when the word changed. */
static bool pass_on(const sl_board_t *board, const sl_seen_t *seen, bool seized) {
    sl_board_turn_t *turn = board->turn;
    sl_seen_round_t rounds[3];
    sl_choice_t choice;
    sl_seen_rounds(board, rounds);
    sl_choose(&choice, seen, seized, rounds);
    unsigned next = choice.next, holder = seen->holder < seen->count ? seen->holder : SL_SEEN_NOBODY;
    uint64_t word = seen->word, given = ((word >> 8) + 1) << 8 | (next + 1);
    if (!atomic_compare_exchange_strong(&turn->word, &word, given))
        return false;
    if (choice.goes_on)
        begin_round(board, seen->tenants[holder].priority, holder, true);
    for (unsigned i = 0; i < seen->count; i++)
        if (choice.balances[i] != seen->tenants[i].balance_nanos)
            board->tenants[i].balance_nanos = choice.balances[i];
    if (holder != SL_SEEN_NOBODY)
        book_past_turn(board, seen);
    begin_round(board, seen->tenants[next].priority, next + 1, false);
    turn->began_nanos = seen->now;
    turn->began_above_nanos = seen->above;
    turn->ends_nanos = seen->now + choice.length_nanos + (next == holder ? 0 : SL_TURN_SWITCH_NANOS);
    atomic_store_explicit(&turn->ready, given, memory_order_release);
    if (next != holder && holder != SL_SEEN_NOBODY)
        atomic_fetch_add(seized ? &turn->seized : &turn->hand_overs, 1);
    if (next != holder)
        wake_all(board);
    return true;
}

bool sl_turn_is_wanted(const sl_board_t *board, uint64_t now) {
    return sl_seen_wanted(board, now);
}

/* The process that gave the turn died before it wrote the length, or wrote it by another clock. The turn has its full length from now
 * on. */
static uint64_t say_ends(const sl_board_t *board, const sl_seen_t *seen) {
    uint64_t ends = seen->now + sl_seen_tenant(board, board->tenant).length_nanos;
    if (seen->holder == board->tenant) {
        board->turn->began_nanos = seen->now;
        board->turn->began_above_nanos = seen->above;
        board->turn->ends_nanos = ends;
        atomic_store_explicit(&board->turn->ready, seen->word, memory_order_release);
    }
    return ends;
}

uint64_t sl_turn_ends(const sl_board_t *board, uint64_t now) {
    sl_seen_t seen;
    sl_seen_turn(&seen, board, now);
    if (seen.cut)
        return now;
    return seen.known ? seen.ends : say_ends(board, &seen);
}

uint64_t sl_turn_began(const sl_board_t *board, uint64_t now) {
    sl_seen_t seen;
    sl_seen_turn(&seen, board, now);
    return seen.known && seen.began < now ? seen.began : now;
}

void sl_turn_give(const sl_board_t *board, bool wants_more, uint64_t now) {
    sl_seen_t seen;
    if (!sl_turn_is_mine(board))
        return;
    sl_seen_read(&seen, board, now);
    if (seen.holder != board->tenant || seen.holder >= seen.count || seen.busy > now)
        return;
    uint64_t *own = &seen.tenants[board->tenant].since_nanos;
    bool wants = wants_more || *own;
    *own = 0;
    bool others = sl_choose_any(&seen);
    *own = wants ? now : 0;
    if (others)
        pass_on(board, &seen, false);
}

void sl_turn_leave(const sl_board_t *board, uint64_t now) {
    uint64_t word;
    sl_turn_say_busy(board, now - 1);
    sl_turn_say_blocked(board, 0);
    sl_turn_give(board, false, now);
    word = board->turn->word;
    if ((word & 0xff) == board->tenant + 1 && atomic_compare_exchange_strong(&board->turn->word, &word, ((word >> 8) + 1) << 8))
        wake_all(board);
}

static bool has_other(const sl_board_t *board, bool above) {
    int mine = sl_seen_tenant(board, board->tenant).priority;
    unsigned count = sl_seen_tenants(board);
    for (unsigned i = 0; i < count; i++) {
        int its = sl_seen_tenant(board, i).priority;
        if (i != board->tenant && (above ? its > mine : its < mine) && !(above && sl_seen_is_outside(board, i)) && sl_seen_tenant_alive(board, i))
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

/* Whether this tenant's priority is higher than the holder's. */
static bool is_above(const sl_board_t *board, const sl_seen_t *seen) {
    return seen->holder < seen->count && board->tenant < seen->count &&
           seen->tenants[board->tenant].priority > seen->tenants[seen->holder].priority;
}

/* The holder has had the turn for a while and done nothing with it. */
static bool never_began(const sl_seen_t *seen) {
    return seen->busy < seen->began;
}

/* When the holder counts as idle if none of its threads waits for the GPU: some time after its work, or if it has not begun, after its
 * turn began. A higher priority does not wait for it to come back. */
static uint64_t idle_from(const sl_board_t *board, const sl_seen_t *seen) {
    if (seen->holder == SL_SEEN_NOBODY)
        return 0;
    uint64_t late = seen->outside_busy > seen->now ? OUTSIDE_NANOS : 0;
    return late + (never_began(seen) ? seen->began + ACCEPT_NANOS : seen->busy + (is_above(board, seen) ? 0 : GRACE_NANOS));
}

/* The GPU cuts the holder's work for a tenant of higher priority, so that tenant need not wait for the end of a kernel. */
static bool is_cut_by_slices(const sl_board_t *board, const sl_seen_t *seen) {
    return is_above(board, seen) && !seen->tenants[seen->holder].exclusive && sl_seen_is_short(board, seen->holder);
}

static bool is_blocked(const sl_seen_t *seen) {
    return seen->blocked > seen->now;
}

/* Work that takes longer than was known keeps the turn, but not from a higher priority. */
static bool is_idle(const sl_board_t *board, const sl_seen_t *seen) {
    return idle_from(board, seen) <= seen->now && (!is_blocked(seen) || is_above(board, seen));
}

/* A tenant that got the turn and does not take it may be dead or stopped: its wait must not cost a turn again. */
static bool seize(const sl_board_t *board, sl_seen_t *seen) {
    if (seen->holder < seen->count)
        seen->tenants[seen->holder].since_nanos = 0;
    bool silent = seen->holder != SL_SEEN_NOBODY && seen->known && never_began(seen);
    if (!sl_choose_any(seen) || !pass_on(board, seen, true))
        return false;
    if (silent) {
        sl_seen_bury(board, seen->holder);
        sl_seen_hush(board, seen->holder);
    }
    return sl_turn_is_mine(board);
}

/* Since when a waiting process has seen the same word. */
typedef struct {
    uint64_t word, since;
} sight_t;

/* Looks once; true when the turn is ours now. While a turn is being given, the word is written before the rest. In between, the turn
 * counts as given when it was first seen. Otherwise the next process that looks would take it from a holder that does not know of it
 * yet. */
static bool look(const sl_board_t *board, sl_seen_t *seen, sight_t *sight, uint64_t now) {
    sl_board_turn_t *turn = board->turn;
    sl_seen_read(seen, board, now);
    if (seen->word != sight->word)
        *sight = (sight_t){seen->word, now};
    if (!seen->known)
        seen->began = sight->since;
    if (seen->holder == board->tenant)
        return true;
    if (now - turn->wanted_nanos > MILLI)
        turn->wanted_nanos = now;
    if (is_idle(board, seen) || is_cut_by_slices(board, seen))
        return seize(board, seen);
    if (is_above(board, seen))
        turn->cut = seen->word;
    return false;
}

static void sleep_until_woken(const sl_board_t *board, uint32_t seen, uint64_t nanos) {
    struct timespec span = {(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)};
    syscall(SYS_futex, &board->turn->wake, FUTEX_WAIT, seen, &span, NULL, 0);
}

/* When the turn will be over, as far as it is known. */
static uint64_t over_from(const sl_seen_t *seen) {
    uint64_t ends = seen->known && !seen->cut ? seen->ends : seen->now;
    return seen->busy > ends ? seen->busy : ends;
}

/* When to look again if no process wakes us. While a thread of the holder waits for the GPU, its work ends at about the predicted time. The
 * next tenant should see that soon. */
static uint64_t next_look(const sl_seen_t *seen, uint64_t idle, bool next) {
    uint64_t now = seen->now, until = idle > now ? idle : now + LOOK_NANOS;
    if (next && is_blocked(seen))
        until = seen->busy > now + 2 * NAP_NANOS ? seen->busy - NAP_NANOS : now + NAP_NANOS;
    return until < now + LOOK_NANOS ? until : now + LOOK_NANOS;
}

/* Waking up takes longer than the last moments of a turn, so the next tenant stays awake then. */
static void rest(const sl_board_t *board, const sl_seen_t *seen, uint32_t wake) {
    uint64_t now = seen->now, over = over_from(seen), idle = idle_from(board, seen);
    bool next = sl_choose_is_first(seen, board->tenant), spins = next && sl_os_processors() >= SPIN_PROCESSORS;
    if (spins && over < now + SPIN_NANOS) {
        for (unsigned i = 0; i < 2000 && board->turn->wake == wake && sl_os_nanos() < idle; i++)
            __builtin_ia32_pause();
        if (board->turn->wake != wake || sl_os_nanos() < now + SPIN_NANOS)
            return;
    }
    uint64_t until = next_look(seen, idle, next);
    if (spins && over > now + SPIN_NANOS && over - SPIN_NANOS / 2 < until)
        until = over - SPIN_NANOS / 2;
    sleep_until_woken(board, wake, until - now);
}

/* A stopped holder cannot say that its work is done. Exclusive work keeps the turn for as long as it is known to take. */
static bool seize_from_stopped(const sl_board_t *board, sl_seen_t *seen) {
    bool exclusive = seen->holder < seen->count && seen->tenants[seen->holder].exclusive && seen->busy > seen->now;
    return seen->holder != SL_SEEN_NOBODY && !exclusive && sl_seen_stopped(board, seen->holder) && seize(board, seen);
}

sl_turn_wait_t sl_turn_wait(const sl_board_t *board, uint64_t since_nanos, uint64_t patience_nanos) {
    sl_board_process_t *self = &board->processes[board->process];
    uint64_t start = sl_os_nanos(), now = start, checked = start;
    if (atomic_fetch_add(&self->waiting, 1) == 0)
        self->waiting_nanos = since_nanos;
    sl_turn_wait_t end = SL_TURN_NOT_YET;
    sight_t sight = {0, start};
    for (;; now = sl_os_nanos()) {
        uint32_t wake = board->turn->wake;
        sl_seen_t seen;
        if (!self->waiting_nanos)
            self->waiting_nanos = since_nanos;
        if (!sl_seen_repair(board))
            end = SL_TURN_LOST;
        else if (look(board, &seen, &sight, now))
            end = SL_TURN_MINE;
        if (end != SL_TURN_NOT_YET || now - start > patience_nanos)
            break;
        if (now - checked > SUSPECT_NANOS) {
            sl_seen_bury(board, SL_SEEN_NOBODY);
            checked = now;
            if (seize_from_stopped(board, &seen)) {
                end = SL_TURN_MINE;
                break;
            }
        }
        rest(board, &seen, wake);
    }
    if (end != SL_TURN_LOST)
        atomic_fetch_sub(&self->waiting, 1);
    return end;
}
