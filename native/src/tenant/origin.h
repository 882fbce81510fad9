/* origin: the process that a tenant began with, and the environment of one that has lost its own. */
#ifndef SL_ORIGIN_H
#define SL_ORIGIN_H

#include <stdint.h>

uint64_t sl_origin_find(uint64_t own_identity);

/* Where this process has lost its environment, finds that of the nearest ancestor with limits. */
void sl_origin_recover(void);
/* A variable of the environment that was found; NULL: it has none, or nothing was lost. */
const char *sl_origin_variable(const char *name);

#endif
