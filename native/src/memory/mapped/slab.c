/* slab: a block of 2 MiB that small allocations share.
 *
 * longest and first are bounds: a free widens them at once, and a later search narrows them. So a free does not search. */
#include "memory/mapped/slab.h"

#include <stdlib.h>

static unsigned units_of(uint32_t bytes) {
    return (bytes + SL_SLAB_UNIT - 1) / SL_SLAB_UNIT;
}

sl_slab_t *sl_slab_make(void) {
    sl_slab_t *slab = calloc(1, sizeof *slab);
    if (slab)
        slab->longest = SL_SLAB_UNITS;
    return slab;
}

/* The first unit from there on that is used, or free. */
static unsigned next_unit(const sl_slab_t *slab, unsigned from, bool used) {
    while (from < SL_SLAB_UNITS) {
        uint64_t word = used ? slab->used[from / 64] : ~slab->used[from / 64];
        uint64_t bits = word >> from % 64;
        if (bits)
            return from + (unsigned)__builtin_ctzll(bits);
        from = (from / 64 + 1) * 64;
    }
    return SL_SLAB_UNITS;
}

static void mark(sl_slab_t *slab, unsigned start, unsigned units, bool used) {
    for (unsigned unit = start, end = start + units, step; unit < end; unit += step) {
        step = 64 - unit % 64 < end - unit ? 64 - unit % 64 : end - unit;
        uint64_t bits = (step == 64 ? UINT64_MAX : (1ull << step) - 1) << unit % 64;
        if (used)
            slab->used[unit / 64] |= bits;
        else
            slab->used[unit / 64] &= ~bits;
    }
}

int sl_slab_take(sl_slab_t *slab, uint32_t bytes, uint64_t identity) {
    unsigned units = units_of(bytes), longest = 0;
    unsigned start = slab->first = next_unit(slab, slab->first, false);
    while (start < SL_SLAB_UNITS) {
        unsigned end = next_unit(slab, start, true);
        if (end - start >= units)
            break;
        longest = end - start > longest ? end - start : longest;
        start = next_unit(slab, end, false);
    }
    if (start == SL_SLAB_UNITS) {
        slab->longest = longest;
        return -1;
    }
    mark(slab, start, units, true);
    slab->bytes[start] = bytes;
    slab->states[start] = SL_PIECE_LIVE;
    slab->identities[start] = identity;
    slab->live++;
    return (int)start;
}

static unsigned run_before(const sl_slab_t *slab, unsigned start) {
    unsigned from = start;
    while (from && !(slab->used[(from - 1) / 64] >> (from - 1) % 64 & 1))
        from -= from % 64 == 0 && !slab->used[from / 64 - 1] ? 64 : 1;
    return from;
}

void sl_slab_drop(sl_slab_t *slab, unsigned start) {
    unsigned units = units_of(slab->bytes[start]);
    if (slab->states[start] == SL_PIECE_FREED)
        slab->freed--;
    else
        slab->live--;
    mark(slab, start, units, false);
    slab->bytes[start] = 0;
    slab->states[start] = SL_PIECE_NONE;
    unsigned run = next_unit(slab, start, true) - run_before(slab, start);
    slab->longest = run > slab->longest ? run : slab->longest;
    slab->first = start < slab->first ? start : slab->first;
}

int sl_slab_find(const sl_slab_t *slab, unsigned unit) {
    if (!(slab->used[unit / 64] >> unit % 64 & 1))
        return -1;
    while (!slab->bytes[unit])
        unit--;
    return (int)unit;
}
