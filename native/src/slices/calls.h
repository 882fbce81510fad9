/* calls: the four calls to the kernel driver (spec/rm.api), and how long they take. The caller has a lock. */
#ifndef SL_SLICES_CALLS_H
#define SL_SLICES_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "slices/channels.h"

#define SL_CALLS_FAILED UINT32_MAX      /* the kernel did not carry out the call at all */
#define SL_CALLS_SLOW_NANOS 100000000u  /* on an H200 the slowest took 0.6 ms */

/* Each returns the driver's status. */
uint32_t sl_calls_get_slice(const sl_channels_group_t *group, uint64_t *micros);
uint32_t sl_calls_set_slice(const sl_channels_group_t *group, uint64_t micros);
uint32_t sl_calls_preempt(const sl_channels_group_t *group);
/* Takes all channels of the group off the GPU, or puts them back. */
uint32_t sl_calls_disable(const sl_channels_group_t *group, bool off);

/* The longest call since the last begin. */
void sl_calls_begin_timing(void);
uint64_t sl_calls_longest_nanos(void);
/* Several calls were slow lately. */
bool sl_calls_are_slow(void);
/* From here on they count anew. */
void sl_calls_forget(void);

#endif
