/* ledger: the account of memory. This file refuses a request over the quota; tenant/refusal.c tells the user.
 *
 * The region has no total. A process first adds to its own account and then sums all accounts. Both are sequentially consistent, so if
 * two processes race, at least one sees both charges. They never both pass. */
#include "ledger/ledger.h"

#include <errno.h>
#include <stddef.h>

#include "ledger/reclaim.h"
#include "ledger/wait.h"
#include "os/fork.h"
#include "os/os.h"
#include "tenant/switches/compat.h"
#include "tenant/refusal.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define BACK_OFF_NANOS 50000u   /* chosen: the first; each attempt doubles it */
#define BACK_OFFS 12            /* chosen: 0.2 s in all, longer than a process is stopped for a moment */
#define LARGE_BYTES (64u << 20) /* chosen: smaller allocations would flood the debug log */

static _Atomic uint64_t spare_bytes[SL_REGION_GPU_COUNT]; /* of this process: the part of in_flight_bytes that is surely on the GPU */

static void raise_to(_Atomic uint64_t *word, uint64_t value) {
    uint64_t seen = *word;
    while (seen < value && !atomic_compare_exchange_weak(word, &seen, value))
        ;
}

/* At any moment in_flight covers the uncommitted part of charged. So another process may wait without need, but never refuses so. */
static void add(sl_region_account_t *account, uint64_t bytes) {
    account->in_flight_bytes += bytes;
    account->charged_bytes += bytes;
}

static void take_back(sl_region_account_t *account, uint64_t bytes) {
    account->charged_bytes -= bytes;
    account->in_flight_bytes -= bytes;
}

/* Before the ledger refuses: removes dead processes from the sum, and asks each reclaimer to give memory back. */
SL_HOT static sl_accounts_sum_t sum_for(unsigned gpu, uint64_t limit) {
    sl_accounts_sum_t now = sl_accounts_sum(gpu);
    if (now.charged > limit && sl_slots_reap(&sl_tenant.region, &sl_tenant.self))
        now = sl_accounts_sum(gpu);
    for (const sl_reclaimer_t *reclaim = sl_reclaimers; now.charged > limit && *reclaim; reclaim++)
        if ((*reclaim)(gpu))
            now = sl_accounts_sum(gpu);
    return now;
}

bool sl_ledger_fits(unsigned gpu) {
    uint64_t limit = sl_accounts_limit(gpu);
    return !limit || sum_for(gpu, limit).charged <= limit;
}

static uint64_t limit_or_most(unsigned gpu) {
    uint64_t limit = sl_accounts_limit(gpu);
    return limit ? limit : UINT64_MAX;
}

SL_HOT uint64_t sl_ledger_try_at_once(unsigned gpu, uint64_t bytes, uint64_t beyond) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    uint64_t limit = limit_or_most(gpu);
    limit = limit > UINT64_MAX - beyond ? UINT64_MAX : limit + beyond;
    if (bytes > limit)
        return 0;
    add(account, bytes);
    uint64_t charged = sl_accounts_sum(gpu).charged;
    if (charged <= limit)
        return charged;
    take_back(account, bytes);
    return 0;
}

SL_HOT uint64_t sl_ledger_try(unsigned gpu, uint64_t bytes) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    uint64_t span = BACK_OFF_NANOS;
    for (int attempt = 0;; attempt++, span *= 2) {
        uint64_t limit = limit_or_most(gpu);
        if (bytes > limit)
            return 0;
        add(account, bytes);
        sl_accounts_sum_t now = sum_for(gpu, limit);
        if (now.charged <= limit)
            return now.charged;
        take_back(account, bytes);
        uint64_t in_flight_elsewhere = now.in_flight > bytes ? now.in_flight - bytes : 0;
        bool others_may_give_up = now.charged - limit <= in_flight_elsewhere;
        if (!in_flight_elsewhere || !others_may_give_up || attempt == BACK_OFFS)
            return 0;
        int saved = errno;
        sl_accounts_ask_for_room();
        sl_os_sleep_nanos(span / 2 + sl_os_wall_nanos() % span);
        errno = saved;
    }
}

SL_HOT uint64_t sl_ledger_reserve(unsigned gpu, uint64_t bytes) {
    uint64_t used = sl_ledger_try(gpu, bytes);
    return SL_UNLIKELY(!used) && sl_tenant.region.limits->on_oom ? sl_wait_for_room(gpu, bytes) : used;
}

_Static_assert(offsetof(sl_region_account_t, overhead_bytes) ==
                   offsetof(sl_region_account_t, linear_bytes) + SL_USE_OVERHEAD * sizeof(uint64_t),
               "the uses are in the order of the account's fields");

static _Atomic uint64_t *bytes_of(sl_region_account_t *account, sl_ledger_use_t use) {
    return &account->linear_bytes + use;
}

/* Only with SLUICE_LOG=debug. */
static __attribute__((cold, noinline)) void tell(sl_compat_event_t event, unsigned gpu, uint64_t bytes) {
    uint64_t used = sl_accounts_sum(gpu).charged, limit = sl_accounts_limit(gpu);
    if (bytes >= LARGE_BYTES)
        sl_report_tell("GPU %d: %llu bytes %s, %llu of %llu are used", sl_tenant.region.gpus[gpu].index,
                       (unsigned long long)bytes, event == SL_COMPAT_TAKEN ? "taken" : "given back",
                       (unsigned long long)used, (unsigned long long)limit);
    sl_compat_wrapper_note(event, bytes, used, limit);
}

SL_HOT void sl_ledger_commit(unsigned gpu, sl_ledger_use_t use, uint64_t bytes, uint64_t used) {
    raise_to(&sl_tenant.region.gpus[gpu].peak_bytes, used);
    sl_region_account_t *account = sl_accounts_own(gpu);
    atomic_fetch_add_explicit(bytes_of(account, use), bytes, memory_order_relaxed);
    account->in_flight_bytes -= bytes;
    if (sl_report_shows(SL_DEBUG))
        tell(SL_COMPAT_TAKEN, gpu, bytes);
}

void sl_ledger_charge(unsigned gpu, sl_ledger_use_t use, uint64_t bytes) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    atomic_fetch_add_explicit(bytes_of(account, use), bytes, memory_order_relaxed);
    account->charged_bytes += bytes;
    raise_to(&sl_tenant.region.gpus[gpu].peak_bytes, sl_accounts_sum(gpu).charged);
}

void sl_ledger_cancel(unsigned gpu, uint64_t bytes) {
    take_back(sl_accounts_own(gpu), bytes);
}

SL_HOT void sl_ledger_refund(unsigned gpu, sl_ledger_use_t use, uint64_t bytes) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    atomic_fetch_sub_explicit(bytes_of(account, use), bytes, memory_order_relaxed);
    account->charged_bytes -= bytes;
    if (sl_report_shows(SL_DEBUG))
        tell(SL_COMPAT_FREED, gpu, bytes);
}

/* Adds to in_flight first, so that for a moment the bytes are in both figures, and never in neither: see sl_ledger_own. */
SL_HOT void sl_ledger_leave(unsigned gpu, sl_ledger_use_t use, uint64_t bytes) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    account->in_flight_bytes += bytes;
    atomic_fetch_sub_explicit(bytes_of(account, use), bytes, memory_order_release);
}

SL_HOT void sl_ledger_refund_left(unsigned gpu, uint64_t bytes) {
    take_back(sl_accounts_own(gpu), bytes);
    if (sl_report_shows(SL_DEBUG))
        tell(SL_COMPAT_FREED, gpu, bytes);
}

void sl_ledger_defer_left(unsigned gpu, uint64_t bytes) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    account->overhead_bytes += bytes;
    account->in_flight_bytes -= bytes;
}

void sl_ledger_keep_left(unsigned gpu, sl_ledger_use_t use, uint64_t bytes) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    atomic_fetch_add_explicit(bytes_of(account, use), bytes, memory_order_release);
    account->in_flight_bytes -= bytes;
}

void sl_ledger_spare_left(unsigned gpu, uint64_t bytes) {
    spare_bytes[gpu] += bytes;
    if (sl_report_shows(SL_DEBUG))
        tell(SL_COMPAT_FREED, gpu, bytes);
}

void sl_ledger_use_spare(unsigned gpu, uint64_t bytes) {
    spare_bytes[gpu] -= bytes;
}

uint64_t sl_ledger_spare(unsigned gpu) {
    return spare_bytes[gpu];
}

uint64_t sl_ledger_used_within_quota(unsigned gpu) {
    uint64_t used = sl_accounts_sum(gpu).charged;
    return used <= limit_or_most(gpu) ? used : 0;
}

/* The account's bytes by use keep their values, because they are the same when the memory is back. */
uint64_t sl_ledger_put_aside(unsigned gpu) {
    return atomic_exchange(&sl_accounts_own(gpu)->charged_bytes, 0);
}

bool sl_ledger_take_up(unsigned gpu, uint64_t bytes) {
    return sl_ledger_try(gpu, bytes) != 0;
}

void sl_ledger_back(unsigned gpu, uint64_t bytes) {
    sl_accounts_own(gpu)->in_flight_bytes -= bytes;
}

SL_HOT void sl_ledger_count(unsigned gpu, int allocations) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    atomic_fetch_add_explicit(&account->allocations, (uint64_t)(int64_t)allocations, memory_order_relaxed);
    if (allocations > 0)
        atomic_fetch_add_explicit(&account->allocations_total, (uint64_t)allocations, memory_order_relaxed);
}

void sl_ledger_refuse(unsigned gpu, uint64_t bytes) {
    sl_region_gpu_t *entry = &sl_tenant.region.gpus[gpu];
    entry->refused_calls++;
    entry->refused_bytes = bytes;
    uint64_t used = sl_accounts_sum(gpu).charged, limit = sl_accounts_limit(gpu);
    sl_refusal_report(gpu, bytes, used, limit);
    sl_compat_wrapper_note(SL_COMPAT_REFUSED, bytes, used, limit);
}

/* Reads in_flight_bytes first. Bytes that another thread commits in between then count twice, but are never missed. */
sl_ledger_own_t sl_ledger_own(unsigned gpu) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    uint64_t in_flight = account->in_flight_bytes, spare = spare_bytes[gpu];
    sl_ledger_own_t own = {.possible = in_flight > spare ? in_flight - spare : 0};
    own.possible += account->managed_bytes;
    own.context = account->context_bytes;
    own.certain = account->linear_bytes + account->pool_bytes + account->physical_bytes + account->array_bytes +
                  account->graph_bytes + own.context + spare;
    own.overhead = account->overhead_bytes;
    return own;
}

bool sl_ledger_set_overhead(unsigned gpu, uint64_t before, uint64_t bytes) {
    sl_region_account_t *account = sl_accounts_own(gpu);
    if (!atomic_compare_exchange_strong(&account->overhead_bytes, &before, bytes))
        return false;
    account->charged_bytes += bytes - before;
    if (bytes > before)
        raise_to(&sl_tenant.region.gpus[gpu].peak_bytes, sl_accounts_sum(gpu).charged);
    return true;
}

static void forget(void) {
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        spare_bytes[gpu] = 0;
}
SL_FORK_FORGETS(forget);
