/* sample: the GPU time of single launches of a kernel, with bounds.
 *
 * The gate's cost (cost.h) follows every measurement, because it must predict. This file separates measurements on an idle GPU from
 * those that may contain a wait for other work. A GPU begins kernels in the order in which it gets them. So later work does not delay a
 * launch that began on an idle GPU. Readers take no lock; if a triple changes during a read, the reader sorts it. */
#include "costs/sample.h"

#include "os/fork.h"

#include <stdatomic.h>
#include <string.h>

#define KEPT 8u             /* chosen: a median of eight is steady, and it follows a program that changes */
#define NARROW 0.05         /* chosen: bounds are close enough within this part of the time, */
#define NARROW_NANOS 2000.0 /* or within this */

typedef struct {
    _Atomic float least, likely, most;
} kept_t;

typedef struct {
    kept_t alone[KEPT];
    _Atomic uint32_t count; /* of all samples ever noted */
    _Atomic float shortest; /* the least lower bound of all samples: without turns, only longer samples show that other tenants ran */
    _Atomic float bound;    /* the least of the samples that may include a wait; 0 = none */
} samples_t;

/* The last one is for the cost that keys share when the table is full. */
static samples_t all[SL_COST_ENTRIES + 1];

static samples_t *samples_of(const sl_cost_t *cost) {
    bool is_entry = cost >= sl_cost_entries && cost < sl_cost_entries + SL_COST_ENTRIES;
    return &all[is_entry ? cost - sl_cost_entries : SL_COST_ENTRIES];
}

static bool is_narrow(sl_sample_t sample) {
    double width = sample.most - sample.least;
    return width <= NARROW_NANOS || width <= NARROW * sample.likely;
}

static double lesser(double one, double other) {
    return one < other ? one : other;
}

static double greater(double one, double other) {
    return one > other ? one : other;
}

void sl_sample_note(const sl_cost_t *cost, sl_sample_kind_t kind, sl_sample_t sample) {
    samples_t *samples = samples_of(cost);
    if (kind == SL_SAMPLE_BOUND) {
        float bound = samples->bound, most = (float)sample.most;
        samples->bound = bound > 0 && bound < most ? bound : most;
        return;
    }
    uint32_t count = samples->count;
    kept_t *kept = &samples->alone[count % KEPT];
    kept->least = (float)sample.least;
    kept->likely = (float)sample.likely;
    kept->most = (float)sample.most;
    if (!count || (float)sample.least < samples->shortest)
        samples->shortest = (float)sample.least;
    samples->count = count + 1;
}

static sl_sample_t at(const kept_t *kept) {
    double likely = (double)kept->likely;
    return (sl_sample_t){lesser((double)kept->least, likely), likely, greater((double)kept->most, likely)};
}

/* The mean of the middle half, so that single disturbed measurements do not move it. */
static double middle(double times[], unsigned count) {
    for (unsigned i = 1; i < count; i++)
        for (unsigned k = i; k > 0 && times[k - 1] > times[k]; k--) {
            double time = times[k];
            times[k] = times[k - 1];
            times[k - 1] = time;
        }
    double sum = 0;
    unsigned from = count / 4, to = count - from;
    for (unsigned i = from; i < to; i++)
        sum += times[i];
    return sum / (to - from);
}

/* From the measurements with close bounds, or else from the one whose bounds are closest. */
static sl_sample_t join(const samples_t *samples, unsigned count) {
    double times[KEPT];
    unsigned narrow = 0;
    sl_sample_t joined = {0}, closest = at(&samples->alone[0]);
    for (unsigned i = 0; i < count; i++) {
        sl_sample_t sample = at(&samples->alone[i]);
        if (sample.most - sample.least < closest.most - closest.least)
            closest = sample;
        if (!is_narrow(sample))
            continue;
        joined.least = narrow ? lesser(joined.least, sample.least) : sample.least;
        joined.most = narrow ? greater(joined.most, sample.most) : sample.most;
        times[narrow++] = sample.likely;
    }
    if (!narrow)
        return closest;
    joined.likely = middle(times, narrow);
    return joined;
}

sl_sample_kind_t sl_sample_read(const sl_cost_t *cost, sl_sample_t *sample) {
    const samples_t *samples = samples_of(cost);
    uint32_t count = samples->count;
    double bound = (double)samples->bound;
    if (!count) {
        *sample = (sl_sample_t){0, bound, bound};
        return bound > 0 ? SL_SAMPLE_BOUND : SL_SAMPLE_NONE;
    }
    *sample = join(samples, count < KEPT ? count : KEPT);
    sample->least = lesser(sample->least, (double)samples->shortest);
    if (!is_narrow(*sample) && bound > sample->likely)
        sample->most = lesser(sample->most, bound);
    return SL_SAMPLE_ALONE;
}

void sl_sample_forget(void) {
    for (unsigned i = 0; i <= SL_COST_ENTRIES; i++)
        if (all[i].count || all[i].bound > 0)
            memset(&all[i], 0, sizeof all[i]);
}
SL_FORK_FORGETS(sl_sample_forget);
