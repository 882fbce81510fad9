/* unanswered: what a job does if it gets no region from the machine's agent. */
#ifndef SL_UNANSWERED_H
#define SL_UNANSWERED_H

#include <stdbool.h>

/* Whether the file exists: then the machine has an agent, or had one since it was started. */
bool sl_unanswered_is_said(const char *socket);
/* Whether its CUDA calls must fail. */
bool sl_unanswered_must_fail(const char *socket);

#endif
