/* ancestor: the process that a tenant began with, and the environment of a process that has lost its own. */
#ifndef SL_ANCESTOR_H
#define SL_ANCESTOR_H

#include <stdint.h>

uint64_t sl_ancestor_find(uint64_t own_identity);

/* If this process has lost its environment, finds that of the nearest ancestor with limits. */
void sl_ancestor_recover(void);
/* A variable of the environment that was found; NULL: it has none, or nothing was lost. */
const char *sl_ancestor_variable(const char *name);

#endif
