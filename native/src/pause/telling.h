/* telling: what the region says about a pause of this process, for tools to show. Only the attendant thread and the movers that it
 * waits for call these functions. Without a region they do nothing. */
#ifndef SL_TELLING_H
#define SL_TELLING_H

#include <stdint.h>

#include "region_layout.h"

/* This process's record; NULL: it is no part of a tenant. */
sl_region_pause_t *sl_telling_record(void);
/* A step begins that moves so many bytes; step: SL_REGION_STEP_… */
void sl_telling_step(uint32_t step, uint64_t total_bytes);
/* Adds bytes that a mover has moved. */
void sl_telling_moved(uint64_t bytes);
/* What the process waits for; "": nothing. */
void sl_telling_reason(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
