/* kept: freed memory that the room memory/mapped still has, because the GPU may use it. That room defines the functions. */
#ifndef SL_KEPT_H
#define SL_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

/* A reclaimer (ledger/reclaim.h). */
bool sl_kept_reclaim(unsigned gpu);
/* The program has waited for all work of a context; NULL: for some work. wait is the number of the wait (memory/deferred.h). */
void sl_kept_waited(uint64_t wait, CUcontext context);

#endif
