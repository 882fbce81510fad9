/* allocations: what this process has allocated: address → what was charged for it. */
#ifndef SL_ALLOCATIONS_H
#define SL_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

/* The driver packs small requests into blocks of this size; a block is taken and given back as a whole. Measured on an
 * H200 with driver 580: requests up to a block are packed in steps of 512 bytes, larger ones get whole blocks. */
#define SL_BLOCK_BYTES (2u << 20)

typedef enum {
    SL_FREE_ENTRY,
    SL_WHOLE,
    SL_MANAGED,
    SL_SMALL,
    SL_BLOCK,
    SL_ARRAY,
    SL_SMALL_ARRAY,
    SL_CONTEXT,
} sl_allocation_kind_t;

typedef struct {
    uint64_t address;  /* of an array or a context: its handle, an address of the host and so of nothing else */
    uint64_t bytes;    /* charged; of a small one: requested; of a block: how many small ones lie in it */
    CUcontext context;
    uint32_t epoch;    /* how many contexts were destroyed before it was made */
    uint8_t gpu;
    uint8_t kind;
    uint16_t block;    /* of a small array: which of array's blocks it shares */
} sl_allocation_t;

typedef enum { SL_ADDED, SL_ADDED_TO_BLOCK, SL_NOT_ADDED } sl_added_t;

/* Called for an entry that was taken out; last_in_block says of a small one that its block went with it. */
typedef void (*sl_allocations_taken_t)(const sl_allocation_t *allocation, bool last_in_block);

/* For a small one says whether its block was there already. With only_to_block set, a new block is not made. An entry
 * that is still there at the address was freed in a way that Sluice does not see: it is taken out. */
sl_added_t sl_allocations_add(sl_allocation_t allocation, bool only_to_block, sl_allocations_taken_t stale);
/* Takes the entry out; the block of a small one stays. */
bool sl_allocations_take(uint64_t address, sl_allocation_t *allocation);
/* Puts back what was taken, because the driver did not free it. */
void sl_allocations_restore(const sl_allocation_t *allocation);
/* The small allocation at this address is gone. True: it was the last in its block. */
bool sl_allocations_leave_block(const sl_allocation_t *allocation);
/* Whether blocks of this GPU may have so many bytes left. */
bool sl_allocations_have_room(unsigned gpu, uint64_t bytes);

/* A context is about to go: the number to give to sl_allocations_drain when it is gone. */
uint32_t sl_allocations_begin_teardown(void);
/* Takes out all allocations of a context that is gone. Later ones may have its address again, so the number tells. */
void sl_allocations_drain(CUcontext context, uint32_t teardown, sl_allocations_taken_t taken);

/* After a fork. */
void sl_allocations_forget(void);

#endif
