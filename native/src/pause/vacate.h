/* vacate: the driver's own state of this process leaves the GPU: contexts, code, pools, arrays, graphs (cuCheckpointProcess…).
 *
 * A restore that fails cannot be tried again (driver 580, cuda-checkpoint issue 44). So the memory is reserved in the ledger and looked
 * for on the GPU before the driver is asked. */
#ifndef SL_VACATE_H
#define SL_VACATE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/report.h"

typedef enum { SL_VACATE_DONE, SL_VACATE_NO_ROOM, SL_VACATE_FAILED } sl_vacate_result_t;

/* The process is held and quiet. False: nothing changed, and the reason says why. */
bool sl_vacate_store(sl_reason_t *reason);
/* more_bytes: what the mover will take next, so that there is room for that too. */
sl_vacate_result_t sl_vacate_restore(uint64_t more_bytes, sl_reason_t *reason);

#endif
