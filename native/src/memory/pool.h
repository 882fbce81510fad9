/* pool: all pools of this process: memory pools, and on each device the memory of graphs. */
#ifndef SL_POOL_H
#define SL_POOL_H

#include "memory/pool_charge.h"

/* NULL: not known. */
sl_pool_t *sl_pool_find(CUmemoryPool handle);
/* A negative gpu: the memory is not on a GPU, or on one that is not accounted. NULL: there are too many. */
sl_pool_t *sl_pool_open(CUmemoryPool handle, int gpu);
sl_pool_t *sl_pool_of_graphs(CUdevice device, int gpu);

/* The pool that a device allocates from, NULL when it must be asked; and what the device answered to a question that was
 * asked after sl_pool_question. */
sl_pool_t *sl_pool_current(CUdevice device);
unsigned sl_pool_question(void);
void sl_pool_answer(CUdevice device, sl_pool_t *pool, unsigned question);
/* The program chose other pools, or some went: devices must be asked again. */
void sl_pool_ask_again(void);

/* Pools give memory back at synchronisation without telling: asks those of a GPU. True: charges fell. */
bool sl_pool_refresh(unsigned gpu);
void sl_pool_refresh_all(void);
/* Lets pools of a GPU give back what they do not use. True: charges fell. */
bool sl_pool_trim(unsigned gpu);

/* What is charged for pools of a GPU that other threads hold at this moment: they may have less, because the driver is asked to free. */
uint64_t sl_pool_held(unsigned gpu);

typedef struct {
    uint64_t charged; /* all pools of a GPU together */
    bool has_unused;  /* one of them has a step or more that is not in use, by its own figures */
} sl_pool_figures_t;
sl_pool_figures_t sl_pool_figures(unsigned gpu);

/* With its lock held: the driver has destroyed the pool. */
void sl_pool_close(sl_pool_t *pool);
/* The primary context of the GPU is gone and with it the memory. Its pools may be gone too: they are not asked before
 * the program itself uses them again; those that it destroyed are forgotten. */
void sl_pool_end(unsigned gpu);

/* After a fork. */
void sl_pool_forget(void);

#endif
