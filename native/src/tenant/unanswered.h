/* unanswered: what a job does that gets no region from the machine's agent. */
#ifndef SL_UNANSWERED_H
#define SL_UNANSWERED_H

#include <stdbool.h>

/* Whether an agent has said it at all: then there is one, or was one since the machine was started. */
bool sl_unanswered_is_said(const char *socket);
/* Whether its CUDA calls must fail. */
bool sl_unanswered_must_fail(const char *socket);

#endif
