/* registration: a tenant whose region and boards come from the agent, by file descriptor. */
#ifndef SL_REGISTRATION_H
#define SL_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "tenant/region.h"

/* How long a process waits for its region, and for a board, at the most. Tests set another. */
extern uint64_t sl_registration_answer_nanos;

/* Asks the agent at a socket for the region of this process. */
bool sl_registration_open(sl_region_t *region, const char *socket, const char *label, sl_reason_t *reason);
/* Which process this is to the agent, where that numbers processes otherwise; 0: it does not, or has not said. */
uint64_t sl_registration_identity(const sl_region_t *region, uint64_t pid_namespace);
/* An agent that took over from another has limits that it can change and the other's it cannot. Where it says that it has some for
 * us, takes them; else the ones that we have stay. */
void sl_registration_follow(void);
typedef enum {
    SL_REGISTRATION_OWN,  /* no agent, or it has no memory for us: use memory of the process */
    SL_REGISTRATION_FULL, /* it has not so much: bytes says how much it has */
    SL_REGISTRATION_GRANTED,
} sl_registration_grant_t;

typedef struct {
    int fd; /* the caller closes it; -1: none */
    uint64_t bytes;
} sl_registration_memory_t;

/* Asks the agent of this tenant for host memory: so many bytes in all for this process, in one file that only this process gets, whose size nobody
 * can change. held: number of the file that the process uses now; 0: none. */
sl_registration_grant_t sl_registration_reservoir(uint64_t bytes, uint64_t held, sl_registration_memory_t *memory);

/* Asks for the board of a GPU; -1 when there is none for us. */
int sl_registration_board(const char *socket, const uint8_t uuid[16], sl_reason_t *reason);

#endif
