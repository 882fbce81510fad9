/* tenant: this process as a part of its tenant: attaches once, and again after a fork; on failure, passes or refuses calls.
 *
 * Loads no library while it holds the lock: a thread that waits for our lock may hold the loader's lock. */
#define _GNU_SOURCE
#include "tenant/tenant.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "driver/nvml.h"
#include "os/fork.h"
#include "os/os.h"
#include "tenant/switches/options.h"
#include "tenant/switches/ancestor.h"
#include "tenant/registration.h"
#include "tenant/unanswered.h"
#include "os/mutex.h"

#define ATTEMPTS 8
#define FIRST_NAMESPACE 0xeffffffcu /* inode of the pid namespace that the kernel begins with, the same on all */

sl_tenant_t sl_tenant;

static sl_mutex_t lock = SL_MUTEX_INITIALIZER;
static bool fail_on_error;

/* The child has no GPU memory and no slot. It keeps the mapping and takes a slot of its own on its first call. */
static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    sl_tenant.self.sign = NULL; /* the parent's, which was not copied */
    if (sl_tenant.state == SL_TENANT_UNKNOWN)
        sl_tenant.region.base = NULL;
    if (sl_tenant.state == SL_TENANT_ATTACHED)
        sl_tenant.state = SL_TENANT_UNKNOWN;
}
SL_FORK_FORGETS(forget);

/* Two namespaces may have a process with the same number that began in the same clock tick. */
static void name_after(char name[64], uint64_t first) {
    uint64_t namespace = sl_tenant.self.pid_namespace;
    int length = snprintf(name, 64, "auto-%u-%llu", (unsigned)sl_os_pid(first), (unsigned long long)(first >> 22));
    if (namespace && namespace != FIRST_NAMESPACE)
        snprintf(name + length, 64 - (size_t)length, "-%llu", (unsigned long long)namespace);
}

static bool open_region(const sl_options_t *options, sl_reason_t *reason) {
    if (options->region)
        return sl_region_open(&sl_tenant.region, options->region, reason);
    if (options->agent) {
        if (sl_registration_open(&sl_tenant.region, options->agent, options->label, reason))
            return true;
        bool must_fail = sl_unanswered_must_fail(options->agent);
        fail_on_error |= must_fail;
        if (must_fail || (!options->source && !options->shares_source))
            return false;
        sl_report(SL_WARN, "%s; the limits of %s hold instead", reason->text, options->source ? options->source : options->shares_source);
    }
    uint64_t own = sl_tenant.self.identity, first = options->each_process ? own : sl_ancestor_find(own);
    char name[64];
    name_after(name, first);
    sl_region_draft_t draft = {
        .tenant = options->tenant[0] ? options->tenant : name,
        .root_identity = first,
        .memory_bytes = options->memory_bytes,
        .shares = &options->shares,
        .fail_on_error = options->fail_on_error,
        .mapped = options->mapped,
        .reservoir_bytes = options->reservoir_bytes,
        .prepared_bytes = options->prepared_bytes,
        .wait_on_oom = options->wait_on_oom,
        .oom_wait_millis = options->oom_wait_millis,
    };
    return sl_region_open_or_create(&sl_tenant.region, &draft, reason);
}

static sl_tenant_state_t on_error(const sl_reason_t *reason) {
    return sl_tenant_must_refuse(reason) ? SL_TENANT_REFUSE : SL_TENANT_PASS;
}

/* Until this process has a slot, another process may remove an abandoned region, so this checks the region again afterwards. A region from
 * the parent or from the agent stays in use, removed or not. */
static bool claim_slot(const sl_options_t *options, int *slot, sl_reason_t *reason) {
    bool inherited = sl_tenant.region.base != NULL;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!sl_tenant.region.base && !open_region(options, reason))
            return false;
        sl_tenant.self.seen_identity = sl_registration_identity(&sl_tenant.region, sl_tenant.self.pid_namespace);
        sl_nvml_set_outer_pid(sl_tenant.self.seen_identity ? (uint32_t)sl_os_pid(sl_tenant.self.seen_identity) : 0);
        *slot = sl_slots_claim(&sl_tenant.region, &sl_tenant.self, reason);
        if (inherited || options->region || sl_tenant.region.agent[0] || sl_region_is_current(&sl_tenant.region))
            return true;
        sl_slots_leave(&sl_tenant.self);
        sl_region_close(&sl_tenant.region);
    }
    return sl_report_fail(reason, "other processes keep removing the tenant's region");
}

static sl_tenant_state_t take_part(const sl_options_t *options, sl_reason_t *reason) {
    int slot;
    if (!sl_slots_self(&sl_tenant.self, reason) || !claim_slot(options, &slot, reason))
        return on_error(reason);
    fail_on_error = sl_tenant.region.header->on_error != 0;
    sl_report_log_to(sl_tenant.region.errors);
    if (slot == SL_SLOTS_TAKEN_BY_A_COPY) {
        SL_TELL(SL_DEBUG, "%s", reason->text);
        return SL_TENANT_PASS;
    }
    sl_tenant.slot = (unsigned)slot;
    if (slot < 0)
        return on_error(reason);
    if (atomic_load(&sl_options_slices) == SL_OPTIONS_SLICES_OFF)
        atomic_store(&sl_tenant.region.slots[slot].slices, SL_REGION_SLICES_OFF); /* time slices are off, so no other code sets this field */
    SL_TELL(SL_DEBUG, "pid %d takes part in tenant %.63s with slot %d of %s", (int)getpid(), sl_tenant.region.header->tenant,
            slot, sl_tenant.region.path);
    return SL_TENANT_ATTACHED;
}

bool sl_tenant_must_refuse(const sl_reason_t *reason) {
    if (fail_on_error)
        sl_report(SL_ERROR, "%s; CUDA calls fail, because on-error is fail", reason->text);
    else
        sl_report(SL_WARN, "%s; the program runs without limits", reason->text);
    return fail_on_error;
}

void sl_tenant_trace_to(const char *directory) {
    char here[sizeof sl_tenant.trace_directory] = "";
    bool relative = directory[0] != '/';
    bool ok = !relative || getcwd(here, sizeof here);
    int length = snprintf(sl_tenant.trace_directory, sizeof sl_tenant.trace_directory, "%s%s%s", here, relative ? "/" : "", directory);
    if (!ok || length >= (int)sizeof sl_tenant.trace_directory) {
        sl_tenant.trace_directory[0] = 0;
        sl_report(SL_WARN, "SLUICE_TRACE=%.80s: the path is too long; nothing is recorded", directory);
    }
}

sl_tenant_state_t sl_tenant_attach_slowly(void) {
    int saved = errno;
    sl_fork_begin();
    sl_mutex_lock(&lock);
    if (sl_tenant.state == SL_TENANT_UNKNOWN) {
        sl_options_t options;
        sl_reason_t reason;
        bool ok = sl_options_read(&options, &reason);
        fail_on_error = options.fail_on_error;
        sl_tenant.windows = options.windows;
        if (options.trace)
            sl_tenant_trace_to(options.trace);
        if (!options.wanted)
            sl_tenant.state = SL_TENANT_PASS;
        else
            sl_tenant.state = ok ? take_part(&options, &reason) : on_error(&reason);
        if (sl_tenant.state == SL_TENANT_ATTACHED)
            sl_tenant_attached();
    }
    sl_mutex_unlock(&lock);
    errno = saved;
    return sl_tenant.state;
}
