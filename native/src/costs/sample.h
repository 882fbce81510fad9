/* sample: what single launches of a kernel took on the GPU, with bounds: for who wants to know a time, not only to predict it. */
#ifndef SL_SAMPLE_H
#define SL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "costs/cost.h"

/* In nanoseconds: it took likely so long, at least this and at most that. */
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
/* What is known by now. */
sl_sample_kind_t sl_sample_read(const sl_cost_t *cost, sl_sample_t *sample);
void sl_sample_forget(void);

#endif
