/* arena: the addresses of mapped memory, and which chunk lies where.
 *
 * An arena is a range of addresses that is reserved once for a GPU and never given back. It is cut into chunks of whole blocks; free
 * neighbours are merged. A map from block to chunk finds the chunk of any address in constant time. The caller holds the lock of
 * mapped memory, except for sl_arena_has. */
#ifndef SL_ARENA_H
#define SL_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

#define SL_ARENA_BLOCK (2ull << 20)

typedef enum {
    SL_CHUNK_FREE,
    SL_CHUNK_BUSY,  /* its memory is being mapped or unmapped: one thread owns it */
    SL_CHUNK_LIVE,  /* one allocation, or a slab */
    SL_CHUNK_FREED, /* one allocation that the program freed; its memory is unmapped later */
    SL_CHUNK_SPARE, /* empty; its memory is kept for the next request of that size (spare.h) */
    SL_CHUNK_OPENED, /* memory of another process; it has no owner */
} sl_chunk_state_t;

typedef struct sl_chunk {
    uint64_t base, bytes;
    struct sl_chunk *next, *previous; /* in the list of free chunks of its size, or of its owner's chunks */
    struct sl_arena *arena;
    struct sl_owner *owner;
    struct sl_slab *slab; /* NULL: one allocation */
    struct sl_import *import; /* of memory of another process */
    uint64_t asked;       /* what the program asked for */
    uint64_t identity;    /* never used twice */
    uint64_t exported;    /* other processes may open it by this number, so it cannot leave the GPU; 0: not exported */
    uint64_t left;        /* bytes of the ledger that are refunded when the memory is gone */
    sl_chunk_state_t state;
    int bin;              /* of a slab: which list of its owner it is in; negative: none */
    bool looked_at;       /* of a spare chunk: it was spare at the last look already */
    struct sl_chunk *bin_next, *bin_previous; /* in that list, or in the list of spare chunks */
} sl_chunk_t;

/* All arenas lie between these two. */
extern _Atomic uint64_t sl_arena_lowest, sl_arena_end;
bool sl_arena_has_slowly(uint64_t address);

/* Whether an address lies in an arena. Without a lock. */
static inline bool sl_arena_has(uint64_t address) {
    return address < atomic_load_explicit(&sl_arena_end, memory_order_acquire) &&
           address >= atomic_load_explicit(&sl_arena_lowest, memory_order_relaxed) && sl_arena_has_slowly(address);
}

/* The driver reserved these addresses for a GPU. False: there is no memory for the map, or too many arenas. */
bool sl_arena_add(CUdevice device, uint64_t base, uint64_t bytes);
/* A chunk of whole blocks, busy and without an owner; NULL: no arena of the GPU has so many free blocks in a row. */
sl_chunk_t *sl_arena_take(CUdevice device, uint64_t bytes);
void sl_arena_give(sl_chunk_t *chunk);
/* The chunk at an address; NULL: none. */
sl_chunk_t *sl_arena_find(uint64_t address);

#endif
