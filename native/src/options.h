/* options: the environment variables of the library as one record. */
#ifndef SL_OPTIONS_H
#define SL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "report.h"

#define SL_OPTIONS_GPUS 16

typedef struct {
    bool wanted;         /* false: nothing asks for a limit, the library only passes calls on */
    bool fail_on_error;  /* what to do when limits cannot be enforced */
    const char *region;  /* path of a region that exists; NULL: make one */
    const char *tenant;  /* name; NULL: from the process the tenant began with */
    uint64_t memory_bytes[SL_OPTIONS_GPUS]; /* 0 = no limit */
} sl_options_t;

/* False for values that make no sense; wanted and fail_on_error are set in any case. */
bool sl_options_read(sl_options_t *options, sl_reason_t *reason);

/* The variables that say which limits a tenant has, one after the other; NULL after the last. */
const char *sl_options_limit_variable(unsigned position, char buffer[40]);

#endif
