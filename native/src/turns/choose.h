/* choose: which tenant has the next turn, for how long, and what the last one owes or is owed. It only decides, and writes no board. */
#ifndef SL_CHOOSE_H
#define SL_CHOOSE_H

#include "turns/seen.h"

typedef struct {
    unsigned next;         /* the entry that has the turn now */
    uint64_t length_nanos;
    bool goes_on;          /* the last holder's turn was cut: it continues first when its priority is served again */
    int64_t balances[SL_BOARD_TENANT_COUNT]; /* the new balances of all tenants */
} sl_choice_t;

/* Whether any tenant waits. */
bool sl_choose_any(const sl_seen_t *seen);
/* At least one tenant waits. Seized: the turn is taken from an idle holder. */
void sl_choose(sl_choice_t *choice, const sl_seen_t *seen, bool seized, const sl_seen_round_t rounds[3]);
/* Whether the tenant is among those with the highest priority, and waits longest of them. */
bool sl_choose_is_first(const sl_seen_t *seen, unsigned tenant);

#endif
