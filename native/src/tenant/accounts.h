/* accounts: the charges of the tenant's processes, as the region shows them. The ledger writes them. */
#ifndef SL_ACCOUNTS_H
#define SL_ACCOUNTS_H

#include "os/compiler.h"
#include "tenant/tenant.h"

typedef struct {
    uint64_t charged;
    uint64_t in_flight;
} sl_accounts_sum_t;

static inline sl_region_account_t *sl_accounts_own(unsigned gpu) {
    return sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu);
}

/* Of all live processes. */
SL_HOT static inline sl_accounts_sum_t sl_accounts_sum(unsigned gpu) {
    const sl_region_t *region = &sl_tenant.region;
    sl_accounts_sum_t result = {0, 0};
    uint64_t slots = region->gpus[gpu].slots;
    for (unsigned number = 0; number < slots && number < SL_REGION_SLOT_COUNT; number++) {
        uint64_t owner = region->slots[number].owner;
        if (!owner || owner >> 63)
            continue;
        const sl_region_account_t *account = sl_region_account(region, number, gpu);
        result.charged += account->charged_bytes;
        result.in_flight += atomic_load_explicit(&account->in_flight_bytes, memory_order_relaxed);
    }
    return result;
}

/* The sum of all live processes. From time to time it checks whether they live. */
uint64_t sl_accounts_used(unsigned gpu);
/* A request waits for bytes that other processes have in flight. Some may be spare memory: wakes the threads that give it back, which wait
 * for commands. */
void sl_accounts_ask_for_room(void);
/* 0 = no limit. */
uint64_t sl_accounts_limit(unsigned gpu);
/* The same by the GPU's number, also for a GPU that the tenant has not used. */
uint64_t sl_accounts_limit_of_index(int index);

#endif
