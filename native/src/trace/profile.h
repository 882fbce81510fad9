/* profile: what the program's calls took, in the files of Alnair's profiler (PFLOG) and of its interposer (the workspace). */
#ifndef SL_PROFILE_H
#define SL_PROFILE_H

#include "trace/profile_text.h"
#include "entry/watch.h"

#define SL_PROFILE_PATH_BYTES 3840

typedef struct {
    sl_profile_format_t format;
    char folder[SL_PROFILE_PATH_BYTES];    /* of metrics.log and timeline.log; "": not wanted */
    char workspace[SL_PROFILE_PATH_BYTES]; /* of the interposer's metrics.log; "": not wanted */
} sl_profile_settings_t;

/* The driver was found; any number of times, from any thread. */
void sl_profile_start(void);
void sl_profile_call(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status, const sl_watch_detail_t *detail);
/* The child after a fork. */
void sl_profile_forget(void);
/* Writes what there is, whether the period is over or not. */
void sl_profile_write(void);

#endif
