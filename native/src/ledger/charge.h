/* charge: one request for memory on its way through the ledger: begin before the driver is asked, then commit or cancel.
 *
 * Every way to take memory uses it. The ledger rounds a request as the driver does. It first asks the reclaimers to give back memory,
 * and refuses a request that still does not fit. */
#ifndef SL_CHARGE_H
#define SL_CHARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/entry.h"
#include "ledger/ledger.h"
#include "tenant/gpu.h"
#include "tenant/tenant.h"

typedef struct {
    int gpu; /* the entry of the region; negative: the call is not accounted */
    sl_ledger_use_t use;
    uint64_t bytes; /* reserved */
    uint64_t used;  /* by all processes, with this reservation */
} sl_charge_t;

#define SL_CHARGE_NONE ((sl_charge_t){.gpu = SL_GPU_UNCOUNTED})

/* Whether this process accounts memory. If not, *status is what the hook returns, or CUDA_SUCCESS: ask the driver. */
static inline bool sl_charge_accounts(int *status) {
    sl_tenant_state_t state = sl_tenant_attach();
    *status = state == SL_TENANT_REFUSE ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
    return state == SL_TENANT_ATTACHED;
}

/* Opens a charge on a GPU, or on one of gpu.h's negative numbers, and counts the call. The status is as above; nothing
 * is reserved yet. */
int sl_charge_open(sl_charge_t *charge, int gpu, sl_ledger_use_t use);
/* Size in whole granules of the charge's GPU, or the most that can be asked for where that would overflow. */
uint64_t sl_charge_round(const sl_charge_t *charge, uint64_t size);
/* Reserves so many bytes. False: they exceed the quota. A charge that is not accounted always succeeds. */
bool sl_charge_try(sl_charge_t *charge, uint64_t bytes);
/* The same in one attempt that reclaims nothing. */
bool sl_charge_try_at_once(sl_charge_t *charge, uint64_t bytes);
/* The same, but waits for room if the tenant chose that. The caller holds no lock. */
bool sl_charge_reserve(sl_charge_t *charge, uint64_t bytes);
/* Counts a refusal of so many bytes, and logs it. Returns CUDA's out-of-memory error. */
int sl_charge_refuse(const sl_charge_t *charge, uint64_t bytes);
/* All of the above: opens, rounds, reserves, or refuses. */
int sl_charge_begin(sl_charge_t *charge, int gpu, sl_ledger_use_t use, uint64_t size);

/* Changes what is reserved. False: the quota does not allow more, and nothing changed. */
bool sl_charge_resize(sl_charge_t *charge, uint64_t bytes);
/* The memory was spare, so its bytes are reserved already. used: as sl_ledger_reserve returns it. */
void sl_charge_adopt(sl_charge_t *charge, uint64_t bytes, uint64_t used);
/* The driver gave the memory. */
void sl_charge_commit(sl_charge_t *charge);
/* The driver did not, or the memory is charged elsewhere. */
void sl_charge_cancel(sl_charge_t *charge);

#endif
