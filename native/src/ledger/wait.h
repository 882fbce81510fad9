/* wait: an allocation over the quota waits for room. */
#ifndef SL_WAIT_H
#define SL_WAIT_H

#include <stdint.h>

/* As sl_ledger_try, again and again, until there is room or the tenant's patience ends; then 0. */
uint64_t sl_wait_for_room(unsigned gpu, uint64_t bytes);
/* The tenant's patience in nanoseconds. */
uint64_t sl_wait_patience(void);

#endif
