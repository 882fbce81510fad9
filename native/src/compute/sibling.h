/* sibling: GPU time that processes of one tenant used at the same time. The GPU switches between them all the time, so
 * each of them measures the work of the others, too. */
#ifndef SL_SIBLING_H
#define SL_SIBLING_H

#include "compute/lane.h"
#include "compute/meter/meter.h"

/* The GPU time of a reading that no sibling was charged for. Notes that this process is charged for it. */
uint64_t sl_sibling_charge(const sl_lane_gpu_t *gpu, const sl_meter_reading_t *reading);

#endif
