/* profile_sums: which calls Alnair's profiler counted under which name, and their sums.
 *
 * All versions and per-thread variants of a function count as one. The name of a runtime function stands for the driver's calls that it
 * makes: all copies of one kind, also those that have a name of their own. */
#include "trace/profile_sums.h"

#include <stdatomic.h>
#include <string.h>

#include "cuda_entries.h"
#include "driver/entry.h"
#include "os/fork.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define STRIPES SL_REGION_TRAFFIC_COUNT
#define STRIPE_CALLS (SL_REGION_CALL_COUNT / STRIPES)
#define NONE SL_PROFILE_NOTHING
#define READY 1

enum { FROM_HOST_TO_GPU = 1, FROM_GPU_TO_HOST, ON_GPU, AS_ADDRESSES_SAY };

static const struct {
    const char *function;
    sl_profile_rule_t rule;
} functions[] = {
    {"cuInit", {SL_PROFILE_INIT, NONE, SL_PROFILE_INIT, -1}},
    {"cuMemAlloc", {SL_PROFILE_ALLOC, NONE, SL_PROFILE_ALLOC, -1}},
    {"cuMemFree", {SL_PROFILE_FREE, NONE, SL_PROFILE_FREE, -1}},
    {"cuLaunch", {SL_PROFILE_LAUNCH, NONE, NONE, -1}},
    {"cuLaunchGrid", {SL_PROFILE_LAUNCH, NONE, NONE, -1}},
    {"cuLaunchGridAsync", {SL_PROFILE_LAUNCH, NONE, NONE, -1}},
    {"cuLaunchKernel", {SL_PROFILE_LAUNCH, NONE, NONE, -1}},
    {"cuLaunchKernelEx", {SL_PROFILE_LAUNCH, NONE, NONE, -1}},
    {"cuLaunchCooperativeKernel", {SL_PROFILE_LAUNCH, NONE, NONE, -1}},
    {"cuLaunchCooperativeKernelMultiDevice", {SL_PROFILE_LAUNCH, NONE, NONE, -1}},
    {"cuGetProcAddress", {SL_PROFILE_LOOK_UP, NONE, NONE, -1}},
    {"cuMemcpyHtoD", {SL_PROFILE_TO_GPU, SL_PROFILE_COPY, SL_PROFILE_TO_GPU, -1}},
    {"cuMemcpyDtoH", {SL_PROFILE_FROM_GPU, SL_PROFILE_COPY, SL_PROFILE_FROM_GPU, -1}},
    {"cuMemcpyDtoD", {SL_PROFILE_COPY, NONE, SL_PROFILE_COPY, ON_GPU}},
    {"cuMemcpy", {SL_PROFILE_COPY, NONE, SL_PROFILE_COPY, AS_ADDRESSES_SAY}},
    {"cuMemcpyHtoDAsync", {SL_PROFILE_TO_GPU_ASYNC, SL_PROFILE_COPY_ASYNC, SL_PROFILE_COPY_ASYNC, FROM_HOST_TO_GPU}},
    {"cuMemcpyDtoHAsync", {SL_PROFILE_COPY_ASYNC, NONE, SL_PROFILE_COPY_ASYNC, FROM_GPU_TO_HOST}},
    {"cuMemcpyDtoDAsync", {SL_PROFILE_COPY_ASYNC, NONE, SL_PROFILE_COPY_ASYNC, ON_GPU}},
    {"cuMemcpyAsync", {SL_PROFILE_COPY_ASYNC, NONE, SL_PROFILE_COPY_ASYNC, AS_ADDRESSES_SAY}},
};

static const sl_profile_rule_t no_rule = {NONE, NONE, NONE, -1};
static const sl_profile_rule_t *rules[SL_ENTRY_COUNT];
static struct {
    _Atomic uint64_t calls;
    _Atomic uint64_t nanos;
} own[SL_PROFILE_NAMES];

/* The symbol without its version and variant. */
static const sl_profile_rule_t *rule_of(const char *symbol) {
    size_t length = strcspn(symbol, "_");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].function) == length && strncmp(functions[i].function, symbol, length) == 0)
            return &functions[i].rule;
    return &no_rule;
}

void sl_profile_sums_prepare(void) {
    for (unsigned entry = 0; entry < SL_ENTRY_COUNT; entry++)
        rules[entry] = rule_of(sl_entry_cuda.names[entry]);
}

const sl_profile_rule_t *sl_profile_sums_rule(unsigned entry) {
    return entry < SL_ENTRY_COUNT && rules[entry] ? rules[entry] : &no_rule;
}

static void add_to(unsigned name, uint64_t nanos) {
    if (name == NONE)
        return;
    atomic_fetch_add_explicit(&own[name].calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&own[name].nanos, nanos, memory_order_relaxed);
}

void sl_profile_sums_add(const sl_profile_rule_t *rule, uint64_t nanos) {
    add_to(rule->name, nanos);
    add_to(rule->as_well, nanos);
}

static void forget(void) {
    memset(own, 0, sizeof own);
}
SL_FORK_FORGETS(forget);

void sl_profile_sums_of_process(sl_profile_sum_t sums[SL_PROFILE_NAMES]) {
    for (unsigned i = 0; i < SL_PROFILE_NAMES; i++)
        sums[i] = (sl_profile_sum_t){own[i].calls, own[i].nanos};
}

static bool is_attached(void) {
    return atomic_load_explicit(&sl_tenant.state, memory_order_acquire) == SL_TENANT_ATTACHED;
}

static void add_entry(sl_profile_sum_t sums[SL_PROFILE_NAMES], unsigned entry) {
    const sl_profile_rule_t *rule = sl_profile_sums_rule(entry);
    for (unsigned stripe = 0; rule->name != NONE && stripe < STRIPES; stripe++) {
        const sl_region_call_t *call = &sl_tenant.region.calls[stripe * STRIPE_CALLS + entry];
        uint64_t calls = atomic_load_explicit(&call->calls, memory_order_relaxed);
        uint64_t nanos = sl_region_call_nanos(call);
        sums[rule->name].calls += calls;
        sums[rule->name].nanos += nanos;
        if (rule->as_well != NONE) {
            sums[rule->as_well].calls += calls;
            sums[rule->as_well].nanos += nanos;
        }
    }
}

void sl_profile_sums_of_tenant(sl_profile_sum_t sums[SL_PROFILE_NAMES]) {
    if (!is_attached() || sl_tenant.region.header->entries_digest != SL_ENTRY_DIGEST) {
        sl_profile_sums_of_process(sums);
        return;
    }
    memset(sums, 0, SL_PROFILE_NAMES * sizeof *sums);
    for (unsigned entry = 0; entry < SL_ENTRY_COUNT; entry++)
        add_entry(sums, entry);
}

uint64_t sl_profile_sums_process_bytes(void) {
    uint64_t bytes = 0;
    for (unsigned gpu = 0; is_attached() && gpu < SL_REGION_GPU_COUNT; gpu++)
        bytes += sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu)->charged_bytes;
    return bytes;
}

uint64_t sl_profile_sums_tenant_bytes(void) {
    uint64_t bytes = 0;
    for (unsigned gpu = 0; is_attached() && gpu < SL_REGION_GPU_COUNT; gpu++)
        if (sl_tenant.region.gpus[gpu].owner == READY)
            bytes += sl_accounts_used(gpu);
    return bytes;
}
