/* trace: rings of recorded calls. */
#ifndef SL_TRACE_H
#define SL_TRACE_H

#include "watch.h"

/* The process has attached, or the limits have changed: the trace may have to begin or end. */
void sl_trace_decide(void);
void sl_trace_call(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status, const sl_watch_detail_t *detail);
/* The child after a fork. */
void sl_trace_forget(void);

#endif
