/* Generated from spec/board.abi: the layout of the board. docs/board.md explains every field. */
#ifndef SL_BOARD_LAYOUT_H
#define SL_BOARD_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SL_BOARD_LAYOUT 1
#define SL_BOARD_MAGIC 0x42594e4954ull
#define SL_BOARD_BYTES 8192
#define SL_BOARD_PAGE_BYTES 4096

#define SL_BOARD_TURN_OFFSET 4096
#define SL_BOARD_TURN_COUNT 1

typedef struct {
    _Atomic uint64_t word;
    _Atomic int64_t balance;
    uint32_t reserved;
    uint8_t unused_bytes[44];
} sl_board_turn_t;
_Static_assert(offsetof(sl_board_turn_t, word) == 0, "offset of turn.word");
_Static_assert(offsetof(sl_board_turn_t, balance) == 8, "offset of turn.balance");
_Static_assert(offsetof(sl_board_turn_t, reserved) == 16, "offset of turn.reserved");
_Static_assert(sizeof(sl_board_turn_t) == 64, "size of turn");
/* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
static inline void sl_board_clear_turn(sl_board_turn_t *record) {
    record->word = 0;
    record->balance = 0;
    record->reserved = 0;
    memset(record->unused_bytes, 0, sizeof record->unused_bytes);
}

#endif
