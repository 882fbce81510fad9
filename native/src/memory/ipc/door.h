/* door: the socket at which other processes of the tenant ask for memory of this one.
 *
 * It is opened with the first handle of mapped memory. A thread of the library answers: it blocks all signals, never waits for a peer,
 * and closes a connection without a request. The socket has no file, so nothing is left when the process dies. */
#ifndef SL_DOOR_H
#define SL_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/ipc/ticket.h"
#include "os/report.h"

#define SL_DOOR_NAME_BYTES 32

/* Fills in door, secret and process. False: the process cannot have a socket or a thread. */
bool sl_door_open(sl_ticket_t *ticket, sl_reason_t *reason);
/* Whether this process made the ticket. */
bool sl_door_is_own(const sl_ticket_t *ticket);
/* The name of a door's socket in the abstract namespace, without a final NUL; returns its length. */
unsigned sl_door_name(uint64_t door, char name[SL_DOOR_NAME_BYTES]);
/* The tenant of this process. */
uint64_t sl_door_tenant(void);

#endif
