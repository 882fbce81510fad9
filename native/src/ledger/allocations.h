/* allocations: what this process has allocated: address → what was charged for it. */
#ifndef SL_ALLOCATIONS_H
#define SL_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

typedef enum {
    SL_FREE_ENTRY,
    SL_WHOLE,
    SL_MANAGED,
    SL_SMALL,
    SL_ARRAY,
    SL_SMALL_ARRAY,
    SL_CONTEXT,
} sl_allocation_kind_t;

typedef struct {
    uint64_t address;  /* of an array or a context: its handle, an address of the host and so of nothing else */
    uint64_t bytes;    /* charged; of a small one: requested */
    CUcontext context;
    uint32_t epoch;    /* how many contexts were destroyed before it was added */
    uint8_t gpu;
    uint8_t kind;
    uint16_t block;    /* of a small array: which of array's blocks it shares */
} sl_allocation_t;

/* Whether the address may be in the table, without a lock. */
bool sl_allocations_may_have(uint64_t address);

/* With the place of the address locked (places.h). */

/* False: there is no memory for the table. If the table still has an entry at the address, the program freed that memory in a way that
 * Sluice does not see. The new entry replaces it; *stale gets the old one, and the caller settles it. Otherwise stale->kind is
 * SL_FREE_ENTRY. */
bool sl_allocations_add(const sl_allocation_t *allocation, sl_allocation_t *stale);
/* Takes the entry out, before the driver frees the memory: afterwards another thread may get the address. */
bool sl_allocations_take(uint64_t address, sl_allocation_t *allocation);
/* Puts the entry back, because the driver did not free the memory. */
void sl_allocations_restore(const sl_allocation_t *allocation);

/* With no place locked. */

/* A context is about to be destroyed: returns the number to pass to sl_allocations_drain when it is gone. */
uint32_t sl_allocations_begin_teardown(void);
/* Takes out all allocations of a context that is gone, and settles each, with no lock held. A new context may have the same address; the
 * number tells their allocations apart. */
void sl_allocations_drain(CUcontext context, uint32_t teardown, void (*settle)(const sl_allocation_t *allocation));

/* A context of this process on the GPU that has an allocation; NULL: none is known. */
CUcontext sl_allocations_context(unsigned gpu);

/* After a fork. */
void sl_allocations_forget(void);

#endif
