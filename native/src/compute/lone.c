/* lone: a cap that holds only while others use the GPU.
 *
 * Others are the tenants on the GPU's board, that is those with a cap or with turns. A tenant that has stopped counts for a while, so
 * that bursts do not switch the cap off and on. GPU time that was used while the cap was lifted is not owed afterwards. */
#define _GNU_SOURCE
#include "compute/lone.h"

#include "turns/seen.h"

#define MILLI 1000000u
#define CHECK_NANOS (20 * MILLI)
#define COUNTS_NANOS (1000 * MILLI) /* chosen: how long a tenant counts after its last work */

void sl_lone_look(sl_lane_gpu_t *gpu, uint64_t now) {
    if (now - gpu->lone_nanos < CHECK_NANOS)
        return;
    gpu->lone_nanos = now;
    gpu->permille = sl_seen_rival(&gpu->board, now, COUNTS_NANOS) ? gpu->cap_permille : 1000;
}
