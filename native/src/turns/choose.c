/* choose: which tenant has the next turn, and how much of the planned length it gets.
 *
 * Among the waiting tenants the highest priority goes first, in round-robin order. A turn is shortened by the overrun of the tenant's
 * last turn. A tenant whose turn a higher priority cut short goes on with the rest of it. A host may pause for a moment: a tenant that
 * lost its turn as an idle holder gets the rest of it with its next turn, if it is back soon. If a tenant asked for exclusive turns, the
 * tenant that waits longest goes first. */
#include "turns/choose.h"

#include <limits.h>

#define NOBODY SL_SEEN_NOBODY
#define LATELY_NANOS 5000000u /* a holder whose work ended this long ago may have been about to submit more */
#define MOST_CLAIMED 4        /* a tenant is never owed more of its turns than this */
#define BACK_NANOS 20000000u  /* a tenant that wants the GPU again this soon after its work never stopped wanting it */

/* The waiting tenants of one priority. */
typedef struct {
    const sl_seen_t *seen;
    int priority;
} round_t;

static bool waits(round_t round, unsigned tenant) {
    const sl_seen_tenant_t *entry = &round.seen->tenants[tenant];
    return entry->since_nanos && entry->priority == round.priority;
}

static round_t first_round(const sl_seen_t *seen) {
    round_t round = {seen, INT_MIN};
    for (unsigned i = 0; i < seen->count; i++)
        if (seen->tenants[i].since_nanos && seen->tenants[i].priority > round.priority)
            round.priority = seen->tenants[i].priority;
    return round;
}

static unsigned longest_waiting(round_t round) {
    unsigned first = NOBODY;
    for (unsigned i = 0; i < round.seen->count; i++)
        if (waits(round, i) && (first == NOBODY || round.seen->tenants[i].since_nanos < round.seen->tenants[first].since_nanos))
            first = i;
    return first;
}

static bool is_exclusive(round_t round) {
    for (unsigned i = 0; i < round.seen->count; i++)
        if (waits(round, i) && round.seen->tenants[i].exclusive)
            return true;
    return false;
}

bool sl_choose_any(const sl_seen_t *seen) {
    return first_round(seen).priority != INT_MIN;
}

bool sl_choose_is_first(const sl_seen_t *seen, unsigned tenant) {
    return longest_waiting(first_round(seen)) == tenant;
}

/* Since when any tenant but the holder has wanted the turn. */
static uint64_t wanted_since(const sl_seen_t *seen) {
    uint64_t first = 0;
    for (unsigned i = 0; i < seen->count; i++) {
        uint64_t since = seen->tenants[i].since_nanos;
        first = since && (!first || since < first) ? since : first;
    }
    return first ? first : seen->now;
}

/* The holder worked until just now, and loses the turn to a higher priority: it gave the turn, or the other tenant seized it. */
static bool is_cut(const sl_seen_t *seen, bool seized, int priority) {
    bool above = seen->tenants[seen->holder].priority < priority;
    bool worked = seen->known && seen->busy >= seen->began && seen->busy + LATELY_NANOS > seen->now;
    return seized ? above && worked : seen->cut;
}

static int64_t within(int64_t balance, int64_t length) {
    int64_t least = -SL_SEEN_MOST_TURNS * length, most = MOST_CLAIMED * length;
    return balance < least ? least : balance > most ? most : balance;
}

/* An overrun shortens the tenant's next turn, and a turn that was cut short lengthens it. But a tenant does not pay for time that no other
 * tenant wanted. A tenant that gave away much of its turn gets nothing back. */
static int64_t balance_after(const sl_seen_t *seen, bool seized, bool cut) {
    int64_t length = seen->tenants[seen->holder].length_nanos;
    uint64_t ends = seen->known ? seen->ends : seen->now, wanted = wanted_since(seen), over = wanted > ends ? wanted : ends;
    int64_t left = over > seen->now && wanted > ends ? 0 : (int64_t)(over - seen->now);
    bool given_away = left > length / 4 && !cut && !seized;
    return given_away ? 0 : within(left, length);
}

/* A tenant that had nothing to do for a while has no claim. */
static int64_t balance_of(const sl_seen_tenant_t *tenant) {
    bool was_idle = tenant->since_nanos > tenant->busy_nanos + BACK_NANOS;
    return tenant->balance_nanos > 0 && was_idle ? 0 : within(tenant->balance_nanos, tenant->length_nanos);
}

/* A tenant that should continue its turn and is not back yet is passed over. Its next turn is longer by the rest. */
static void pass_over_absent(round_t round, sl_seen_round_t place, int64_t balances[]) {
    if (place.goes_on && place.first < round.seen->count && !waits(round, place.first))
        balances[place.first] += round.seen->tenants[place.first].length_nanos;
}

/* Round robin from the tenant that had the last turn. A tenant whose last turns were too long is passed over, which repays a turn. */
static unsigned next_round(round_t round, sl_seen_round_t place, int64_t balances[]) {
    unsigned count = round.seen->count, any = longest_waiting(round);
    pass_over_absent(round, place, balances);
    for (unsigned i = 0; i < (2 * SL_SEEN_MOST_TURNS + 2) * count; i++) {
        unsigned next = (place.first + i) % count;
        int64_t length = round.seen->tenants[next].length_nanos;
        if (!waits(round, next))
            continue;
        if (balances[next] + length > length / 8)
            return next;
        balances[next] += length;
    }
    return any;
}

void sl_choose(sl_choice_t *choice, const sl_seen_t *seen, bool seized, const sl_seen_round_t rounds[3]) {
    int64_t *balances = choice->balances;
    unsigned holder = seen->holder < seen->count ? seen->holder : NOBODY;
    for (unsigned i = 0; i < seen->count; i++)
        balances[i] = balance_of(&seen->tenants[i]);
    round_t round = first_round(seen);
    bool cut = holder != NOBODY && is_cut(seen, seized, round.priority);
    if (holder != NOBODY)
        balances[holder] = balance_after(seen, seized, cut);
    bool exclusive = is_exclusive(round);
    unsigned next = exclusive ? longest_waiting(round) : next_round(round, rounds[round.priority + 1], balances);
    int64_t length = seen->tenants[next].length_nanos;
    if (!exclusive && length + balances[next] > 0)
        length += balances[next];
    balances[next] = 0;
    choice->next = next;
    choice->length_nanos = (uint64_t)length;
    choice->goes_on = cut && balances[holder] > 0 && seen->tenants[holder].priority < round.priority;
    if (choice->goes_on)
        balances[holder] -= seen->tenants[holder].length_nanos;
}
