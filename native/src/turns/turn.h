/* turn: whose turn it is on a GPU, and how it is handed over. */
#ifndef SL_TURN_H
#define SL_TURN_H

#include "turns/board.h"

#define SL_TURN_DEFAULT_MICROS 10000u
#define SL_TURN_SWITCH_NANOS 150000u /* what the GPU needs to change from one process to another: 139 us on an H200 */
#define SL_TURN_ROUND_BITS(priority) ((unsigned)((priority) + 1) * 8u) /* of a priority from -1 to 1, in last_entries */
#define SL_TURN_GOES_ON_BIT(priority) (1u << (24 + (priority) + 1))

/* Another one for each turn. */
static inline uint64_t sl_turn_word(const sl_board_t *board) {
    return atomic_load_explicit(&board->turn->word, memory_order_acquire);
}

/* Whether the tenant of this process has the turn. */
static inline bool sl_turn_is_mine(const sl_board_t *board) {
    return (sl_turn_word(board) & 0xff) == board->tenant + 1;
}

#define SL_TURN_SILENT 1u /* a process that takes no turns never says when it works: it counts as one that worked long ago */
/* Tells waiting tenants until when this process keeps the GPU busy, as far as it knows. */
static inline void sl_turn_say_busy(const sl_board_t *board, uint64_t until_nanos) {
    board->processes[board->process].busy_above_nanos = atomic_load_explicit(&board->turn->above_nanos, memory_order_relaxed);
    board->processes[board->process].busy_nanos = until_nanos;
}

/* A thread of this process waits for the GPU: its work counts as busy beyond its known cost, until this time at most. 0: the wait ended. */
static inline void sl_turn_say_blocked(const sl_board_t *board, uint64_t until_nanos) {
    board->processes[board->process].blocked_nanos = until_nanos;
}

/* Whether others want the GPU now. */
bool sl_turn_is_wanted(const sl_board_t *board, uint64_t now);
/* Until when the turn of this process's tenant lasts if others want the GPU. */
uint64_t sl_turn_ends(const sl_board_t *board, uint64_t now);
/* When the current turn began; now if that is not known. */
uint64_t sl_turn_began(const sl_board_t *board, uint64_t now);
/* This process has no work on the GPU now: gives the turn to the next tenant that wants it, if there is one. That may be the same
 * tenant, if it wants more and the others have had too much. */
void sl_turn_give(const sl_board_t *board, bool wants_more, uint64_t now);
/* This process takes no more turns: nobody has the turn, or another tenant. */
void sl_turn_leave(const sl_board_t *board, uint64_t now);
/* Waits until it is this tenant's turn, at most for the given time. It waits since then. Lost: others have this process's entries. */
typedef enum { SL_TURN_NOT_YET, SL_TURN_MINE, SL_TURN_LOST } sl_turn_wait_t;
sl_turn_wait_t sl_turn_wait(const sl_board_t *board, uint64_t since_nanos, uint64_t patience_nanos);
/* Whether a tenant of higher, or of lower, priority takes turns on this GPU, working or not. One that is outside the turns takes none. */
bool sl_turn_has_superior(const sl_board_t *board);
bool sl_turn_has_inferior(const sl_board_t *board);

#endif
