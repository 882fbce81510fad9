/* visit: asks the process that made a ticket for the memory. */
#ifndef SL_VISIT_H
#define SL_VISIT_H

#include "memory/ipc/ticket.h"
#include "os/report.h"

/* The longest time of a visit, whatever the other process does. Tests lower it. */
extern uint64_t sl_visit_most_nanos;

/* A descriptor of the chunk, which the caller closes, and the size of the chunk. A failure has a reason. */
CUresult sl_visit(const sl_ticket_t *ticket, int *fd, uint64_t *bytes, sl_reason_t *reason);

#endif
