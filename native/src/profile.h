/* profile: sums of the program's calls in the files of Alnair's profiler. */
#ifndef SL_PROFILE_H
#define SL_PROFILE_H

#include "watch.h"

/* The driver was found; any number of times, from any thread. */
void sl_profile_start(void);
void sl_profile_call(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status, const sl_watch_detail_t *detail);
/* The child after a fork. */
void sl_profile_forget(void);

#endif
