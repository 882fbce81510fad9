/* helpers: short-lived threads of the library that do many pieces of work beside the thread that waits for them.
 *
 * They block all signals, and end when no piece is left. Pieces are there from the beginning, or are given one by one. Where the process can have no more threads, the waiting thread does the work. */
#ifndef SL_HELPERS_H
#define SL_HELPERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SL_HELPERS_MOST 16

typedef struct {
    void (*work)(void *of, size_t number);
    void *of;
    _Atomic size_t next;      /* the first piece that no thread has begun */
    _Atomic uint32_t given;   /* pieces that may be begun; the highest bit: no more will be given */
    _Atomic uint32_t done;    /* pieces */
    _Atomic uint32_t threads; /* that have not ended */
} sl_helpers_t;

/* Pieces are begun in the order of their numbers. */
void sl_helpers_begin(sl_helpers_t *helpers, size_t count, void (*work)(void *of, size_t number), void *of);
/* None is given yet. At most so many threads. */
void sl_helpers_open(sl_helpers_t *helpers, size_t threads, void (*work)(void *of, size_t number), void *of);
/* Now all pieces below this number may be begun. */
void sl_helpers_give(sl_helpers_t *helpers, uint32_t count);
/* Returns when more pieces are done than these, or all. */
void sl_helpers_wait(sl_helpers_t *helpers, uint32_t done);
/* Returns when all that were given are done and the threads have ended. */
void sl_helpers_end(sl_helpers_t *helpers);

#endif
