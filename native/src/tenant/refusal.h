/* refusal: the line that tells a person of an allocation over the quota. */
#ifndef SL_REFUSAL_H
#define SL_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

/* An entry in the error log, and a line on stderr if the user wants it: at most one in ten seconds from this process. */
void sl_refusal_report(unsigned gpu, uint64_t asked, uint64_t used, uint64_t limit);

#endif
