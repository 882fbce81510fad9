/* strict: a cap that holds inside a kernel too. The process's work is taken off the GPU when the tenant's part is used up.
 *
 * The gate holds a cap between kernels: a kernel that has begun runs to its end, and is repaid afterwards. Where the tenant's limit is strict,
 * two threads of the library watch the work that runs. One asks the driver whether it still runs. The other counts what it uses, and stops it
 * and lets it go on (slices/control.h). That one never calls the driver, so a call of the program that waits for the work, with a lock of
 * the driver, cannot keep it from letting the work go on.
 *
 * Where the process takes turns, the others have the turn while its work is off, and the work returns with a turn. */
#ifndef SL_STRICT_H
#define SL_STRICT_H

#include "compute/lane.h"

/* The limits of the GPU were read. */
void sl_strict_begin(sl_lane_gpu_t *gpu);
/* Whether a cap holds inside kernels now. */
bool sl_strict_holds(const sl_lane_gpu_t *gpu);

#endif
