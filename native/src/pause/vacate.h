/* vacate: the driver's own state of this process leaves the GPU: contexts, code, pools, arrays, graphs (cuCheckpointProcess…).
 *
 * A restore that fails cannot be tried again (driver 580, cuda-checkpoint issue 44). So the memory is reserved in the ledger before the
 * driver is asked, and before that a tool must have looked for room on the GPU (limits.room_nanos): while the state is stored, NVML does not
 * answer in this process (seen on driver 580). No command, trigger or older tool gets past that look. */
#ifndef SL_VACATE_H
#define SL_VACATE_H

#include <stdbool.h>
#include <stdint.h>

#include "os/report.h"

/* Except for DONE the reason says why. REFUSED, NO_ROOM: nothing changed. FAILED: the process cannot go on, and calls of the driver wait
 * for ever. */
typedef enum { SL_VACATE_DONE, SL_VACATE_REFUSED, SL_VACATE_NO_ROOM, SL_VACATE_FAILED } sl_vacate_result_t;

/* The process is held and quiet. */
sl_vacate_result_t sl_vacate_store(sl_reason_t *reason);
sl_vacate_result_t sl_vacate_restore(sl_reason_t *reason);

#endif
