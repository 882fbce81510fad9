/* registration: a tenant whose region and boards come from the agent, by file descriptor. */
#ifndef SL_REGISTRATION_H
#define SL_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "tenant/region.h"

/* How long a process waits for its region, and for a board, at most. Tests set another time. */
extern uint64_t sl_registration_answer_nanos;

/* Asks the agent at a socket for the region of this process. */
bool sl_registration_open(sl_region_t *region, const char *socket, const char *label, sl_reason_t *reason);
/* The number of this process in the agent's pid namespace; 0: the same as here, or the agent has not said. */
uint64_t sl_registration_identity(const sl_region_t *region, uint64_t pid_namespace);
/* A new agent cannot change the limits page that an earlier agent handed out. If slot.limits_page names a new page, asks the agent for
 * it; otherwise the present page stays. */
void sl_registration_follow(void);
typedef enum {
    SL_REGISTRATION_OWN,  /* no agent, or it has no memory for this process: use memory of the process */
    SL_REGISTRATION_FULL, /* the agent has less: bytes says how much */
    SL_REGISTRATION_GRANTED,
} sl_registration_grant_t;

typedef struct {
    int fd; /* the caller closes it; -1: none */
    uint64_t bytes;
} sl_registration_memory_t;

/* Asks the agent of this tenant for host memory: so many bytes in all for this process. The agent sends one file that no other process
 * gets and whose size cannot be changed. present: number of the file that the process uses now; 0: none. */
sl_registration_grant_t sl_registration_reservoir(uint64_t bytes, uint64_t present, sl_registration_memory_t *memory);

/* Asks for the board of a GPU; -1: the agent has none for this process. */
int sl_registration_board(const char *socket, const uint8_t uuid[16], sl_reason_t *reason);

#endif
