/* movable: device memory that can leave the GPU and come back at its address.
 *
 * While a process is held (pause/), no thread of the program is in the driver and no work is on the GPU. Then the thread that moves
 * the memory asks each source for its pieces, copies them to the host, and has the source give them back to the driver. On the way
 * back the source takes memory again behind the same addresses, and the pieces are copied in. Nothing changes a source meanwhile. */
#ifndef SL_MOVABLE_H
#define SL_MOVABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_abi.h"

/* A piece is given back and taken as a whole. */
typedef struct {
    uint64_t address;  /* where it is mapped, and so where it is copied from and to */
    uint64_t bytes;
    CUcontext context; /* for the copy; NULL: any context of the GPU */
    unsigned gpu;      /* the entry of the region */
} sl_movable_t;

typedef struct {
    const char *name;
    /* The number of its pieces, on all GPUs. Also prepares pieces that can only be copied after some preparation. */
    size_t (*count)(void);
    /* The same pieces in the same order from count() until the memory is back. */
    sl_movable_t (*piece)(size_t number);
    /* The contents are saved: gives the memory back to the driver and refunds its charge. The addresses stay reserved. */
    CUresult (*give)(size_t number);
    /* Takes memory for a piece that was given, maps it at its address with the same access, and charges it.
     * CUDA_ERROR_OUT_OF_MEMORY: the quota or the GPU has no room; nothing changed. */
    CUresult (*take)(size_t number);
    /* The memory is back, or did not leave: undoes what count() prepared. NULL: nothing is prepared. */
    void (*settle)(void);
} sl_movable_source_t;

/* NULL ends the table; memory/movables.c fills it. */
extern const sl_movable_source_t *const sl_movables[];

#endif
