/* spare: freed mapped memory that stays mapped for the next request of its size. */
#ifndef SL_SPARE_H
#define SL_SPARE_H

#include "memory/mapped/owner.h"

#define SL_SPARE_ALL (-1)
#define SL_SPARE_MOST (32ull << 20) /* bytes on a GPU; chosen: little of an H200, enough for loops that allocate small memory */

/* With the lock held. */

/* The chunk is empty: keeps its memory. False: the caller must give it back. */
bool sl_spare_keep(sl_chunk_t *chunk);
/* A live chunk of so many bytes, which the ledger counts as in flight. *used: what all processes hold. NULL: there is none, or the
 * quota is passed. */
sl_chunk_t *sl_spare_take(const sl_owner_t *owner, uint64_t bytes, uint64_t *used);
/* The caller ends the chunk; chunk->left has its charge. */
void sl_spare_forget(sl_chunk_t *chunk);

/* Without the lock. */

/* In a current context of the GPU: asks the driver from time to time whether memory is scarce. If so, none is kept. */
void sl_spare_look_for_room(unsigned gpu);
/* Gives back all spare memory of a GPU, or of all GPUs. True: charges fell. */
bool sl_spare_end(int gpu);

#endif
