/* owner: the mapped memory of one context. The caller holds the lock, unless a comment says otherwise. */
#ifndef SL_OWNER_H
#define SL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/mapped/arena.h"
#include "memory/mapped/slab.h"
#include "os/mutex.h"

#define SL_OWNER_BINS (SL_SLAB_UNITS / 64 + 1)

typedef struct sl_owner {
    struct sl_owner *next;
    CUcontext context; /* NULL: gone, while its memory stays */
    CUdevice device;
    unsigned gpu;
    bool ending;    /* the driver is about to end the context; a new one may have its address already */
    bool gone;      /* it did: nothing is added any more */
    unsigned busy;  /* chunks whose memory is being mapped */
    sl_chunk_t *chunks;
    sl_chunk_t *bins[SL_OWNER_BINS]; /* slabs, by the longest run that they may have */
} sl_owner_t;

/* Guards arenas, owners, slabs, notes of freed memory and peers. A thread that holds it calls nothing of the driver but cuEventQuery and
 * cuEventDestroy, which do not wait. */
extern sl_mutex_t sl_owner_lock;
extern sl_owner_t *sl_owners;

/* Returns the owner of a context, and makes it if there is none; NULL: no memory. */
sl_owner_t *sl_owner_of(CUcontext context, CUdevice device, unsigned gpu);
/* NULL: there is none. */
sl_owner_t *sl_owner_find(CUcontext context);
void sl_owner_add(sl_owner_t *owner, sl_chunk_t *chunk);
/* Takes the chunk from its owner and gives its addresses back, unless they are stuck. */
void sl_owner_drop(sl_chunk_t *chunk, bool stuck);
/* Puts a slab into the list for its longest free run, or into none. */
void sl_owner_file_slab(sl_chunk_t *chunk);
/* A piece of a slab; 0: no slab has room. */
uint64_t sl_owner_take_piece(sl_owner_t *owner, uint32_t bytes);
uint64_t sl_owner_take_piece_of(sl_chunk_t *chunk, uint32_t bytes);
uint64_t sl_owner_next_identity(void);
/* Frees an owner that is gone and has no chunks. */
void sl_owner_end_if_empty(sl_owner_t *owner);

#endif
