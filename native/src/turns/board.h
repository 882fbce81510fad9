/* board: the memory-mapped file of one GPU, on which its tenants take turns. */
#ifndef SL_BOARD_H
#define SL_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "board_layout.h"
#include "os/life.h"
#include "os/report.h"

typedef struct {
    char *base;
    sl_board_turn_t *turn;
    sl_board_tenant_t *tenants;
    sl_board_process_t *processes;
    unsigned tenant;  /* the entry of this process's tenant */
    unsigned process; /* the entry of this process */
    uint64_t key;           /* owner of the tenant's entry */
    uint64_t identity, pid_namespace; /* of this process */
    sl_life_file_t file;    /* for judging the life of others; fd is -1: by /proc alone */
} sl_board_t;

/* The byte of an entry whose lock is its owner's sign of life. */
static inline uint64_t sl_board_place(unsigned process) {
    return SL_BOARD_PROCESS_OFFSET + (uint64_t)process * sizeof(sl_board_process_t);
}

/* Opens the board of a GPU, made first when there is none, and takes part in it. */
bool sl_board_join(sl_board_t *board, const uint8_t uuid[16], sl_reason_t *reason);
/* Writes the tenant's limits into its entry. */
void sl_board_describe(const sl_board_t *board);
/* Joins again after other processes took this process's entries. The old mapping stays, because threads may still read it. */
bool sl_board_rejoin(sl_board_t *board, const uint8_t uuid[16], sl_reason_t *reason);
/* The child after a fork has the parent's mapping and descriptor, and joins anew. */
void sl_board_forget(sl_board_t *board);

#endif
