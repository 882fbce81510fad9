/* ticket: the handle that cuIpcGetMemHandle returns for mapped memory, for which the driver has no handle. It names the socket of the
 * process that made it, and is also the request to it. Both processes have the same library, so nothing is converted. */
#ifndef SL_TICKET_H
#define SL_TICKET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuda_abi.h"

#define SL_TICKET_MAGIC 0x315f746b63b7e6d3ull

typedef struct {
    uint64_t magic;
    uint64_t tenant;  /* when its region was made, in nanoseconds */
    uint64_t door;    /* names the process and its socket */
    uint64_t secret;  /* of that process: the name of a socket is known to all users */
    uint64_t number;  /* of the chunk; sl_export_t has the rest */
    uint64_t address;
    uint64_t bytes;
    uint32_t offset;
    uint32_t pid;     /* for messages */
} sl_ticket_t;

_Static_assert(sizeof(sl_ticket_t) == sizeof(CUipcMemHandle), "a handle is a ticket");

typedef struct {
    uint64_t magic;
    int64_t status; /* the driver's; the descriptor comes with CUDA_SUCCESS alone */
    uint64_t bytes; /* of the chunk */
} sl_ticket_answer_t;

static inline bool sl_ticket_read(const CUipcMemHandle *handle, sl_ticket_t *ticket) {
    memcpy(ticket, handle, sizeof *ticket);
    return ticket->magic == SL_TICKET_MAGIC;
}

#endif
