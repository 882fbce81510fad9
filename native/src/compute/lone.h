/* lone: a cap that holds only while others use the GPU. It is HAMi's default policy. */
#ifndef SL_LONE_H
#define SL_LONE_H

#include "compute/lane.h"

/* Lifts the cap of a GPU, or puts it back. The GPU's lock is held. */
void sl_lone_look(sl_lane_gpu_t *gpu, uint64_t now);

#endif
