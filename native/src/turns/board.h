/* board: the memory-mapped file of one GPU, on which its tenants take turns. */
#ifndef SL_BOARD_H
#define SL_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "board_layout.h"
#include "tenant/report.h"

typedef struct {
    char *base;
    sl_board_turn_t *turn;
    sl_board_tenant_t *tenants;
    sl_board_process_t *processes;
    unsigned tenant;  /* the entry of this process's tenant */
    unsigned process; /* the entry of this process */
} sl_board_t;

/* Opens the board of a GPU, made first when there is none, and takes part in it. */
bool sl_board_join(sl_board_t *board, const uint8_t uuid[16], sl_reason_t *reason);
/* Writes the tenant's limits into its entry. */
void sl_board_describe(const sl_board_t *board);
/* Whether a process on the board is alive, as far as this process can judge. */
bool sl_board_alive(const sl_board_process_t *process);
/* Whether the tenant's first process or any of its processes lives. A dead tenant's entry is freed. */
bool sl_board_tenant_alive(const sl_board_t *board, unsigned tenant);

#endif
