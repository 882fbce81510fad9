/* blocks: small allocations share blocks of 2 MiB. A block is charged from its first occupant to its last.
 *
 * Measured on an H200 with driver 580: the driver packs requests up to a block in steps of 512 bytes into blocks of the
 * same context; larger requests get whole blocks. */
#ifndef SL_BLOCKS_H
#define SL_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/allocations.h"

#define SL_BLOCK_BYTES (2u << 20)

typedef enum {
    SL_BLOCK_NEW,    /* the occupant is the first: its block must be charged */
    SL_BLOCK_SHARED, /* the block existed and is charged already */
    SL_BLOCK_NONE,   /* no such block, and the caller wanted no new one, or there is no memory for the table */
} sl_block_t;

/* With the place of the occupant locked (places.h). The driver no longer has a block of another context or GPU at the same address:
 * *replaced is the GPU on which the caller refunds it. Otherwise it is negative. */
sl_block_t sl_blocks_enter(const sl_allocation_t *occupant, bool may_make, int *replaced);
/* The same. True: it was the last in its block, whose charge is to be refunded. */
bool sl_blocks_leave(const sl_allocation_t *occupant);
/* Whether blocks of this GPU may have so many bytes left. */
bool sl_blocks_have_room(unsigned gpu, uint64_t bytes);

#endif
