/* sibling: GPU time that processes of one tenant used at the same time. The GPU changes between them all the time, so what each of them
 * measures holds the work of the others too. */
#ifndef SL_SIBLING_H
#define SL_SIBLING_H

#include "compute/lane.h"
#include "compute/meter.h"

/* What of a reading's GPU time no sibling was charged for; notes that this process is. */
uint64_t sl_sibling_charge(const sl_lane_gpu_t *gpu, const sl_meter_reading_t *reading);

#endif
