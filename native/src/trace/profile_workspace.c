/* profile_workspace: the four lines that Alnair's exporter reads in the workspace of a container.
 *
 * They describe the whole tenant, whichever of its processes writes them: to the exporter, a container is one process. */
#define _GNU_SOURCE
#include "trace/profile_workspace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/os.h"
#include "trace/profile_sums.h"
#include "tenant/tenant.h"

#define READY 1
#define WHOLE 1000u
#define NO_CAP_TOKENS 2147483647u /* the most that its bucket could hold */
#define KEPT_NANOS 15000000u      /* as in cap.c */

uint64_t sl_profile_workspace_left(uint64_t due_nanos, uint32_t permille, uint64_t now_nanos) {
    if (due_nanos >= now_nanos)
        return 0;
    uint64_t nanos = (uint64_t)((unsigned __int128)(now_nanos - due_nanos) * permille / WHOLE);
    return nanos < KEPT_NANOS ? nanos : KEPT_NANOS;
}

static bool is_attached(void) {
    return atomic_load_explicit(&sl_tenant.state, memory_order_acquire) == SL_TENANT_ATTACHED;
}

static uint64_t tokens(void) {
    const sl_region_t *region = &sl_tenant.region;
    uint64_t least = NO_CAP_TOKENS, now = sl_os_nanos();
    for (unsigned gpu = 0; is_attached() && gpu < SL_REGION_GPU_COUNT; gpu++) {
        int index = region->gpus[gpu].owner == READY ? region->gpus[gpu].index : -1;
        uint32_t permille = index >= 0 && index < SL_SHARES_GPUS ? region->limits->compute_permille[index] : 0;
        if (!permille || permille >= WHOLE)
            continue;
        uint64_t left = sl_profile_workspace_left(region->shares[gpu].due_nanos, permille, now);
        least = left < least ? left : least;
    }
    return least;
}

/* The live process that took part first, so that the number stays the same while that process lives. */
static pid_t first_pid(void) {
    for (unsigned slot = 0; is_attached() && slot < sl_tenant.slot; slot++) {
        pid_t pid = sl_slots_pid(&sl_tenant.region, slot, &sl_tenant.self);
        if (pid)
            return pid;
    }
    return getpid();
}

/* If the file of the node's server names one process, that is its number outside the container. */
static uint64_t pid_outside(const char *folder, pid_t pid) {
    char path[PATH_MAX], text[64], *end;
    if (snprintf(path, sizeof path, "%s/cgroup.procs", folder) >= (int)sizeof path ||
        sl_os_read(path, text, sizeof text) <= 0)
        return (uint64_t)pid;
    unsigned long number = strtoul(text, &end, 10);
    while (*end == '\n' || *end == ' ')
        end++;
    return number && !*end ? number : (uint64_t)pid;
}

void sl_profile_workspace_look(const char *folder, sl_profile_workspace_t *workspace) {
    sl_profile_sum_t sums[SL_PROFILE_NAMES];
    sl_profile_sums_of_tenant(sums);
    *workspace = (sl_profile_workspace_t){
        .pid = pid_outside(folder, first_pid()),
        .kernels = sums[SL_PROFILE_LAUNCH].calls,
        .used_bytes = sl_profile_sums_tenant_bytes(),
        .tokens = tokens(),
    };
}
