/* pool: all pools of this process: memory pools, and on each device the memory of graphs. */
#ifndef SL_POOL_H
#define SL_POOL_H

#include "memory/pool_charge.h"

/* NULL: not known. */
sl_pool_t *sl_pool_find(CUmemoryPool handle);
/* A negative gpu: the memory is not on a GPU, or on one that is not accounted. NULL: there are too many. */
sl_pool_t *sl_pool_open(CUmemoryPool handle, int gpu);
sl_pool_t *sl_pool_of_graphs(CUdevice device, int gpu);

/* The pool that a device allocates from; NULL: the caller must ask the driver. It calls sl_pool_question first, then the driver, then
 * sl_pool_answer with the result. */
sl_pool_t *sl_pool_current(CUdevice device);
unsigned sl_pool_question(void);
void sl_pool_answer(CUdevice device, sl_pool_t *pool, unsigned question);
/* The program chose another pool, or a pool is gone: the driver must be asked again. */
void sl_pool_ask_again(void);

/* Asks the pools of a GPU for their figures, because the driver frees their memory unseen when the program waits. True: charges fell. */
bool sl_pool_refresh(unsigned gpu);
void sl_pool_refresh_all(void);
/* Lets pools of a GPU give back what they do not use. True: charges fell. */
bool sl_pool_trim(unsigned gpu);

/* The charge of a GPU's pools that other threads have locked now. These pools may have less, because the driver may be freeing. */
uint64_t sl_pool_held(unsigned gpu);

typedef struct {
    uint64_t charged; /* all pools of a GPU together */
    bool has_unused;  /* one of them has a step or more that is not in use, by its own figures */
} sl_pool_figures_t;
sl_pool_figures_t sl_pool_figures(unsigned gpu);

/* With its lock held: the driver has destroyed the pool. */
void sl_pool_close(sl_pool_t *pool);
/* The primary context of the GPU is gone, with the memory. Its pools may be gone too, so they are not asked until the program uses them
 * again. Pools that the program destroyed are forgotten. */
void sl_pool_end(unsigned gpu);

/* After a fork. */
void sl_pool_forget(void);

#endif
