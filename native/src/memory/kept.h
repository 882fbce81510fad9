/* kept: freed memory that the room memory/mapped still has, because the GPU may use it, or spare for the next request. That room defines
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
/* A thread of the library looks now and then: spare memory goes that was not used since the last look, or all, and then none is kept for
 * a while. Without such looks none is kept at all. True: some is left, look again soon. */
bool sl_kept_look(bool all);

#endif
