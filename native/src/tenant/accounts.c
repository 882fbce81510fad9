/* accounts: the charges of the tenant's processes, as the region shows them. */
#define _GNU_SOURCE
#include "tenant/accounts.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/os.h"

#define REAP_NANOS 10000000u

SL_HOT uint64_t sl_accounts_limit_of_index(int index) {
    if (index < 0 || index >= 16)
        return 0;
    return atomic_load_explicit(&sl_tenant.region.limits->memory_bytes[index], memory_order_relaxed);
}

SL_HOT uint64_t sl_accounts_limit(unsigned gpu) {
    return sl_accounts_limit_of_index(sl_tenant.region.gpus[gpu].index);
}

/* Other processes may be dead. Checking costs a system call for each, so not every query checks them. */
uint64_t sl_accounts_used(unsigned gpu) {
    static _Atomic uint64_t next_reap;
    uint64_t used = sl_accounts_sum(gpu).charged;
    if (used == sl_accounts_own(gpu)->charged_bytes)
        return used;
    uint64_t now = sl_os_coarse_nanos(), due = next_reap;
    if (now < due || !atomic_compare_exchange_strong(&next_reap, &due, now + REAP_NANOS))
        return used;
    return sl_slots_reap(&sl_tenant.region, &sl_tenant.self) ? sl_accounts_sum(gpu).charged : used;
}

/* Wakes the threads without changing the word. A thread that wakes and finds the same command checks for other reasons. */
void sl_accounts_ask_for_room(void) {
    syscall(SYS_futex, &sl_tenant.region.limits->command, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
