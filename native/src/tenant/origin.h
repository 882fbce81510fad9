/* origin: the process that a tenant began with. */
#ifndef SL_ORIGIN_H
#define SL_ORIGIN_H

#include <stdint.h>

uint64_t sl_origin_find(uint64_t own_identity);

#endif
