/* quantum: see quantum.h. */
#include "slices/quantum.h"

static double part_of(uint32_t share) {
    return (double)(share < SL_QUANTUM_WHOLE ? share : SL_QUANTUM_WHOLE) / SL_QUANTUM_WHOLE;
}

/* The credit with which the work returns. While it uses that, more is added, so it is on for its part of the period. */
static double enough(double part) {
    double period = SL_QUANTUM_PERIOD_NANOS, least = part < 1 - part ? part : 1 - part;
    if (least * period < SL_QUANTUM_SHORTEST_NANOS)
        period = SL_QUANTUM_SHORTEST_NANOS / (least > 0 ? least : 1e-6);
    return part * (1 - part) * period;
}

/* A thread that lost the processor after it read the clock is told of work that began later. */
static uint64_t passed(uint64_t since, uint64_t now) {
    return now > since ? now - since : 0;
}

uint64_t sl_quantum_used(const sl_quantum_t *quantum, uint64_t since_nanos, uint64_t now) {
    uint64_t from = quantum->counted_nanos;
    return from && since_nanos ? passed(since_nanos > from ? since_nanos : from, now) : 0;
}

bool sl_quantum_count(sl_quantum_t *quantum, uint32_t share, uint64_t used_nanos, uint64_t now) {
    double part = part_of(share);
    now = now > quantum->counted_nanos ? now : quantum->counted_nanos;
    if (!quantum->counted_nanos)
        *quantum = (sl_quantum_t){.counted_nanos = now, .credit_nanos = SL_QUANTUM_KEPT_NANOS};
    double more = part * (double)(now - quantum->counted_nanos) - (double)used_nanos, credit = quantum->credit_nanos;
    double most = quantum->off ? enough(part) + SL_QUANTUM_LATE_NANOS : SL_QUANTUM_KEPT_NANOS;
    quantum->counted_nanos = now;
    quantum->credit_nanos = credit + more < most || more < 0 ? credit + more : credit > most ? credit : most;
    bool was = quantum->off;
    if (share >= SL_QUANTUM_WHOLE)
        quantum->off = false;
    else if (was)
        quantum->off = quantum->credit_nanos < enough(part) && now - quantum->off_since_nanos < SL_QUANTUM_LONGEST_NANOS;
    else
        quantum->off = quantum->credit_nanos <= 0;
    if (!was && quantum->off)
        quantum->off_since_nanos = now;
    if (was && !quantum->off && quantum->credit_nanos < 0)
        quantum->credit_nanos = enough(part); /* a debt of so long would be wrong */
    return quantum->off;
}

uint64_t sl_quantum_next(const sl_quantum_t *quantum, uint32_t share) {
    double part = part_of(share), credit = quantum->credit_nanos;
    double wait = quantum->off ? (enough(part) - credit) / (part > 0 ? part : 1e-6) : credit / (part < 1 ? 1 - part : 1e-6);
    double most = SL_QUANTUM_LONGEST_NANOS;
    return quantum->counted_nanos + (uint64_t)(wait < 0 ? 0 : wait < most ? wait : most);
}
