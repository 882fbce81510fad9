/* owner: the mapped memory of one context. All with the lock held, where nothing else is said. */
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
    unsigned busy;  /* chunks whose memory comes just now */
    sl_chunk_t *chunks;
    sl_chunk_t *bins[SL_OWNER_BINS]; /* slabs, by the longest run that they may have */
} sl_owner_t;

/* Guards arenas, owners, slabs, the memory that goes later and the peers. A thread that holds it calls no driver but cuEventQuery and
 * cuEventDestroy, which do not wait. */
extern sl_mutex_t sl_owner_lock;
extern sl_owner_t *sl_owners;

/* The owner of a context, made where there is none; NULL: no memory. */
sl_owner_t *sl_owner_of(CUcontext context, CUdevice device, unsigned gpu);
/* NULL: there is none. */
sl_owner_t *sl_owner_find(CUcontext context);
void sl_owner_add(sl_owner_t *owner, sl_chunk_t *chunk);
/* Takes the chunk from its owner and gives its addresses back, unless they are stuck. */
void sl_owner_drop(sl_chunk_t *chunk, bool stuck);
/* Puts a slab into the list that its longest run says, or into none. */
void sl_owner_file_slab(sl_chunk_t *chunk);
/* A piece of a slab; 0: no slab has room. */
uint64_t sl_owner_take_piece(sl_owner_t *owner, uint32_t bytes);
uint64_t sl_owner_take_piece_of(sl_chunk_t *chunk, uint32_t bytes);
uint64_t sl_owner_next_identity(void);
/* Forgets an owner that is gone and has nothing. */
void sl_owner_end_if_empty(sl_owner_t *owner);

#endif
