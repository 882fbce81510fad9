/* stops: for how long the process's work was off the GPU, between any two moments. The meter subtracts it. */
#ifndef SL_SLICES_STOPS_H
#define SL_SLICES_STOPS_H

#include <stdint.h>

/* The work is off the GPU from this time on, and until that one, on the host's monotonic clock. */
void sl_stops_begin(uint64_t nanos);
void sl_stops_end(uint64_t nanos);
/* Costs one load as long as the work was never off the GPU. */
uint64_t sl_stops_between(uint64_t from, uint64_t to);

#endif
