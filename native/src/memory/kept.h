/* kept: freed memory that the room memory/mapped still has: the GPU may use it, or it is spare for the next request. That room defines
 * the functions. */
#ifndef SL_KEPT_H
#define SL_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

/* A reclaimer (ledger/reclaim.h). */
bool sl_kept_reclaim(unsigned gpu);
/* The program has waited for all work of a context; NULL: for some work. wait is the number of the wait (memory/deferred.h). */
void sl_kept_waited(uint64_t wait, CUcontext context);
/* A thread of the library calls it from time to time. Gives back spare memory that was not used since the last call. all: gives all back,
 * and keeps none for a while. Without such calls none is kept at all. True: some is left, so the thread calls again soon. */
bool sl_kept_look(bool all);

#endif
