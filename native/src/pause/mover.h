/* mover: takes the movable memory of this process (memory/movable.h) to the host, and back to its addresses.
 *
 * The caller has made sure that no thread of the program is in the driver and that no work is on a GPU. Whatever fails, and wherever
 * the process is killed, the contents are complete on one side: memory is given back to the driver only when all of it is saved, and
 * host memory is let go only when all of it is back. */
#ifndef SL_MOVER_H
#define SL_MOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "os/report.h"

typedef enum {
    SL_MOVER_DONE,
    SL_MOVER_REFUSED, /* it cannot be done: nothing has moved, and the reason says what is needed */
    SL_MOVER_NO_ROOM, /* on the way back: the quota or the GPU has no room. Nothing has moved; try again later */
    SL_MOVER_BROKEN,  /* the driver failed half way: the contents are safe on the host, and the process must stay held */
} sl_mover_result_t;

/* The bytes that would move now. The process is held. */
uint64_t sl_mover_bytes(void);
/* vacates: the host memory will be unregistered at once, so it is not registered for this. */
sl_mover_result_t sl_mover_out(bool vacates, sl_reason_t *reason);
sl_mover_result_t sl_mover_back(sl_reason_t *reason);
/* Makes so many bytes of host memory ready ahead of a release, or lets go of what is neither in use nor wanted. It may take seconds.
 * False: there is not so much. */
bool sl_mover_prepare(uint64_t bytes);
/* Unregisters the host memory from the driver: before the driver stores its own state. The contents stay. */
void sl_mover_unregister(void);

#endif
