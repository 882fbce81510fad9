/* peers: which GPUs may use the mapped memory of a context. The driver's peer access has no effect on mapped memory. */
#ifndef SL_PEERS_H
#define SL_PEERS_H

#include "memory/mapped/backing.h"
#include "memory/mapped/owner.h"

/* All with the lock held. */

/* Fills the list with the owner's GPU and its peers; returns how many. */
unsigned sl_peers_list(const sl_owner_t *owner, CUmemAccessDesc accesses[SL_BACKING_ACCESSES]);
/* Changes with each change of a list. */
uint64_t sl_peers_generation(void);
/* A context is gone. */
void sl_peers_end(CUcontext context);

#endif
