/* profile: the time of the program's calls, in the files of Alnair's profiler (PFLOG) and of its interposer (the workspace). */
#ifndef SL_PROFILE_H
#define SL_PROFILE_H

#include "trace/profile_text.h"
#include "trace/detail.h"

/* The driver was found; any number of times, from any thread. */
void sl_profile_start(void);
void sl_profile_call(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status, const sl_detail_t *detail);
/* Writes the files now, whether the period is over or not. */
void sl_profile_write(void);

#endif
