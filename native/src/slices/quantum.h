/* quantum: when the work of a process with a strict cap is on the GPU, and when it is off. Knows no clock and makes no call.
 *
 * The cap adds credit as time passes, and work on the GPU uses it. Without credit the work has to leave the GPU. It may return with
 * enough credit for a part of a period. A stop and a return take an H200 0.4 to 0.6 and 0.3 ms, so periods are not shorter. */
#ifndef SL_SLICES_QUANTUM_H
#define SL_SLICES_QUANTUM_H

#include <stdbool.h>
#include <stdint.h>

#define SL_QUANTUM_PERIOD_NANOS 40000000u   /* chosen: both calls take 2 % of it, and a second has 25 of them */
#define SL_QUANTUM_SHORTEST_NANOS 2000000u  /* no time on or off is shorter; twice what both calls take */
#define SL_QUANTUM_KEPT_NANOS 10000000u     /* most unused credit: one point of the first second */
#define SL_QUANTUM_LATE_NANOS 5000000u      /* more credit than that for a return that comes late */
#define SL_QUANTUM_LONGEST_NANOS 2000000000u /* the work is never off for longer, whatever the numbers say */
#define SL_QUANTUM_WHOLE 1000000u           /* a share of 1 */

typedef struct {
    uint64_t counted_nanos; /* credit is counted up to here; 0: not begun */
    double credit_nanos;
    bool off;
    uint64_t off_since_nanos;
} sl_quantum_t;

/* How much of the time since the last count work was on the GPU that runs since then, by another thread's clock; 0: none runs. At the first count
 * none counts: the cap may have begun inside the work. */
uint64_t sl_quantum_used(const sl_quantum_t *quantum, uint64_t since_nanos, uint64_t now);
/* The work was on the GPU for so much of the time since the last call. True: it has to be off now. */
bool sl_quantum_count(sl_quantum_t *quantum, uint32_t share, uint64_t used_nanos, uint64_t now);
/* When that may change, if the work runs on as long as it is on the GPU. */
uint64_t sl_quantum_next(const sl_quantum_t *quantum, uint32_t share);

#endif
