/* seen: what a board says at one moment.
 *
 * Every tenant can write every word of the board at any time. So each word of others is read here and nowhere else: once, and put within
 * bounds before anybody uses it as an index, a length or a time. All decisions are made on what was seen. */
#ifndef SL_SEEN_H
#define SL_SEEN_H

#include "turns/board.h"

#define SL_SEEN_NOBODY 0xffu
#define SL_SEEN_SHORTEST_NANOS 100000u     /* no turn is shorter */
#define SL_SEEN_LONGEST_NANOS 1000000000u  /* or longer */
#define SL_SEEN_MOST_TURNS 100             /* a tenant never owes more of its turns than this */
#define SL_SEEN_BLOCKED_NANOS 20000000u    /* a wait for the GPU counts as work for this long at most */
#define SL_SEEN_HIGH_NANOS 10000000000ull  /* chosen: a tenant of high priority without work for this long needs no short slices of others */
#define SL_SEEN_SHORT_MICROS 200u          /* work with a slice of at most this is cut for a tenant of high priority */

typedef struct {
    uint64_t since_nanos;   /* 0 = it does not wait */
    uint64_t busy_nanos;    /* until when its work keeps the GPU busy, or when it ended */
    int64_t balance_nanos;  /* from SL_SEEN_MOST_TURNS turns that it owes to one that was cut off */
    uint32_t length_nanos;
    int8_t priority;        /* -1, 0 or 1 */
    bool exclusive;
} sl_seen_tenant_t;

typedef struct {
    uint64_t now, word;
    unsigned holder;         /* its entry, or SL_SEEN_NOBODY */
    bool known;              /* began and ends are those of this turn */
    bool cut;                /* a higher priority has asked for its end */
    uint64_t began, ends;    /* ends is later by the time in which the turn was interrupted */
    uint64_t above;          /* GPU time that work outside the turns has had, ever */
    uint64_t interrupted;    /* for how long work outside the turns had the GPU since the turn began */
    uint64_t outside_busy;   /* until when work outside the turns keeps the GPU busy */
    uint64_t busy, blocked;  /* until when the holder's work keeps the GPU busy, and a thread of it counts as waiting for that */
    unsigned count;          /* of tenants below */
    sl_seen_tenant_t tenants[SL_BOARD_TENANT_COUNT];
} sl_seen_t;

/* Everything. */
void sl_seen_read(sl_seen_t *seen, const sl_board_t *board, uint64_t now);
/* Only whose turn it is; no tenants and no processes. */
void sl_seen_turn(sl_seen_t *seen, const sl_board_t *board, uint64_t now);
/* One tenant without its processes. */
sl_seen_tenant_t sl_seen_tenant(const sl_board_t *board, unsigned tenant);
/* Where the round of a priority is. */
typedef struct {
    uint8_t first; /* the entry that is next */
    bool goes_on;  /* with a turn that was cut */
} sl_seen_round_t;
/* Of all priorities, low first. */
void sl_seen_rounds(const sl_board_t *board, sl_seen_round_t rounds[3]);
/* Whether another tenant with at least this priority waits for the GPU, or has worked on it in the last `nanos`. */
bool sl_seen_rival(const sl_board_t *board, uint64_t now, uint64_t nanos);
/* Whether a tenant has said lately that it wants the turn. */
bool sl_seen_wanted(const sl_board_t *board, uint64_t now);

/* Priorities by time slices. A tenant of high priority counts if all its processes control their slices and one of them has worked in the
 * last SL_SEEN_HIGH_NANOS. The work of all tenants below it has short slices. If it is the only one, it may work outside the turns. Several take
 * turns, and take them from the tenants below without waiting for the end of a kernel. */
typedef enum { SL_SEEN_IN_TURNS, SL_SEEN_BELOW, SL_SEEN_ABOVE } sl_seen_rank_t;
sl_seen_rank_t sl_seen_rank(const sl_board_t *board, uint64_t now);
/* Whether any live tenant has high priority. */
bool sl_seen_any_high(const sl_board_t *board);
/* Whether the slices of all live processes of other tenants that ever worked are short. */
bool sl_seen_others_are_short(const sl_board_t *board);
/* The same for one tenant that has a live process. */
bool sl_seen_is_short(const sl_board_t *board, unsigned tenant);
/* Whether a live process of another tenant works without telling when, because it takes no turns. */
bool sl_seen_any_silent(const sl_board_t *board);
/* Whether a live process of another tenant that has not high priority ever worked. */
bool sl_seen_any_beside(const sl_board_t *board);
/* How many live processes the tenant of this process has. */
unsigned sl_seen_siblings(const sl_board_t *board);
/* Whether a process of the tenant works outside the turns. */
bool sl_seen_is_outside(const sl_board_t *board, unsigned tenant);

/* Restores the fields by which other processes see this one, if they were changed. False: its entries belong to another process now. */
bool sl_seen_repair(const sl_board_t *board);
/* How many entries of tenants and of processes were ever taken. */
unsigned sl_seen_tenants(const sl_board_t *board);
unsigned sl_seen_processes(const sl_board_t *board);
/* Whether a process on the board lives, as far as this one can judge. */
bool sl_seen_alive(const sl_board_t *board, unsigned process);
/* Whether the tenant's first process or any of its processes lives. A dead tenant's entry is freed. */
bool sl_seen_tenant_alive(const sl_board_t *board, unsigned tenant);
/* Frees the entries of dead processes of a tenant, or of all with SL_SEEN_NOBODY, that say that they wait or work. */
void sl_seen_bury(const sl_board_t *board, unsigned tenant);
/* Takes back what the processes of a tenant said about waiting. One that lives says it again at its next look. */
void sl_seen_hush(const sl_board_t *board, unsigned tenant);
/* Whether all processes of the tenant that say that they work are stopped (SIGSTOP), as far as this one can judge. */
bool sl_seen_stopped(const sl_board_t *board, unsigned tenant);

#endif
