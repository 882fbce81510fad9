/* wait: an allocation over the quota waits for room. */
#ifndef SL_WAIT_H
#define SL_WAIT_H

#include <stdint.h>

/* Repeats sl_ledger_try until there is room, or until the tenant's patience ends: then returns 0. */
uint64_t sl_wait_for_room(unsigned gpu, uint64_t bytes);
/* The tenant's patience in nanoseconds. */
uint64_t sl_wait_patience(void);

#endif
