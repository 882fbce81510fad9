/* sample: the GPU time of single launches of a kernel, with bounds. Traces show it; the gate only needs a prediction (cost.h). */
#ifndef SL_SAMPLE_H
#define SL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "costs/cost.h"

/* In nanoseconds: the likely time and its bounds. */
typedef struct {
    double least, likely, most;
} sl_sample_t;

typedef enum {
    SL_SAMPLE_NONE,
    SL_SAMPLE_ALONE, /* the GPU had nothing else to do when the launch began */
    SL_SAMPLE_BOUND, /* it may have waited for other work: only most is known */
} sl_sample_kind_t;

/* With the gate's lock held. */
void sl_sample_note(const sl_cost_t *cost, sl_sample_kind_t kind, sl_sample_t sample);
/* The kernel's GPU time as far as it is known. */
sl_sample_kind_t sl_sample_read(const sl_cost_t *cost, sl_sample_t *sample);
void sl_sample_forget(void);

#endif
