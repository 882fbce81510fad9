/* slab: a block of 2 MiB that small allocations share, in units of 512 bytes. It has no addresses and calls no driver. */
#ifndef SL_SLAB_H
#define SL_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#define SL_SLAB_UNIT 512u
#define SL_SLAB_UNITS 4096u

typedef enum { SL_PIECE_NONE, SL_PIECE_LIVE, SL_PIECE_FREED } sl_piece_state_t;

typedef struct sl_slab {
    unsigned live;    /* pieces of the program */
    unsigned freed;   /* pieces that the program freed, and that end later */
    unsigned later;   /* freed pieces with a note (later.h) */
    unsigned longest; /* no free run is longer, in units */
    unsigned first;   /* no unit below it is free */
    uint64_t used[SL_SLAB_UNITS / 64];
    uint32_t bytes[SL_SLAB_UNITS];      /* asked for, at the first unit of each piece */
    uint8_t states[SL_SLAB_UNITS];      /* the same: sl_piece_state_t */
    uint64_t identities[SL_SLAB_UNITS]; /* the same: never used twice */
} sl_slab_t;

/* NULL: no memory. */
sl_slab_t *sl_slab_make(void);
/* The first unit of a new live piece; negative: no free run is so long, and longest was narrowed. */
int sl_slab_take(sl_slab_t *slab, uint32_t bytes, uint64_t identity);
/* The piece is gone, freed or live. */
void sl_slab_drop(sl_slab_t *slab, unsigned start);
/* The first unit of the piece that a unit is in; negative: it is in none. */
int sl_slab_find(const sl_slab_t *slab, unsigned unit);

#endif
