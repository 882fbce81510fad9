/* cost: the GPU time of a kernel, a graph or a copy, as measured before.
 *
 * A table without deletion and without a lock: a thread claims a key by compare-and-swap, and the key stays. os/index.h would need a
 * lock at each launch. Kernels of one name and one grid may take another time at each launch, so an entry follows new measurements
 * quickly. It only predicts: the library charges the GPU time that was really used afterwards. */
#include "costs/cost.h"

#include "os/fork.h"

#define PROBES 32u
#define MOST_SAMPLES (SL_COST_SAMPLES + 3 * SL_COST_STEP)
#define LEAST_NANOS 1000u /* nothing keeps a GPU busy for less */

sl_cost_t sl_cost_entries[SL_COST_ENTRIES];
static sl_cost_t shared;

sl_cost_t *sl_cost_find_slowly(uint64_t key) {
    uint64_t at = key >> 40;
    key |= 1;
    for (unsigned i = 0; i < PROBES; i++) {
        sl_cost_t *entry = &sl_cost_entries[(at + i) % SL_COST_ENTRIES];
        uint64_t found = atomic_load_explicit(&entry->key, memory_order_relaxed);
        if (found == key)
            return entry;
        if (found == 0 && (atomic_compare_exchange_strong(&entry->key, &found, key) || found == key))
            return entry;
    }
    return &shared;
}

/* Of the first measurements the shortest counts, because a disturbance makes a measurement longer. */
void sl_cost_learn(sl_cost_t *cost, uint64_t nanos) {
    uint64_t old = cost->nanos, samples = cost->samples, next = nanos;
    bool usual = nanos > old - old / 4 && nanos < old + old / 4;
    if (samples && samples < SL_COST_SAMPLES)
        next = nanos < old ? nanos : old;
    else if (samples)
        next = (uint64_t)((int64_t)old + ((int64_t)nanos - (int64_t)old) / (usual ? 8 : 2));
    cost->nanos = next > LEAST_NANOS ? next : LEAST_NANOS;
    bool same = nanos > old - old / 16 && nanos < old + old / 16;
    if (samples < SL_COST_SAMPLES || (same && samples < MOST_SAMPLES))
        cost->samples = (uint32_t)samples + 1;
    else if (!same)
        cost->samples = SL_COST_SAMPLES;
}

void sl_cost_forget(void) {
    for (unsigned i = 0; i < SL_COST_ENTRIES; i++)
        sl_cost_entries[i].key = sl_cost_entries[i].nanos = sl_cost_entries[i].queued_nanos = sl_cost_entries[i].samples = sl_cost_entries[i].pending = 0;
}
SL_FORK_FORGETS(sl_cost_forget);
