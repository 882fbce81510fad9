/* profile_sums: which calls Alnair's profiler counted under which name, and their sums. */
#ifndef SL_PROFILE_SUMS_H
#define SL_PROFILE_SUMS_H

#include "trace/profile_text.h"

typedef struct {
    uint8_t name;    /* SL_PROFILE_NOTHING: it is not counted */
    uint8_t as_well; /* a second name that counts it, or SL_PROFILE_NOTHING */
    uint8_t shown;   /* its name in the timeline, or SL_PROFILE_NOTHING */
    int8_t kind;     /* cudaMemcpyKind; -1 for calls of the driver */
} sl_profile_rule_t;

/* Must be called before the functions below; calling it again is harmless. */
void sl_profile_sums_prepare(void);
const sl_profile_rule_t *sl_profile_sums_rule(unsigned entry);

void sl_profile_sums_add(const sl_profile_rule_t *rule, uint64_t nanos);

void sl_profile_sums_of_process(sl_profile_sum_t sums[SL_PROFILE_NAMES]);
/* The sums of all processes of the tenant, ended ones included; without a tenant, those of this process. */
void sl_profile_sums_of_tenant(sl_profile_sum_t sums[SL_PROFILE_NAMES]);

/* On all GPUs together; 0 where nothing is accounted. */
uint64_t sl_profile_sums_process_bytes(void);
uint64_t sl_profile_sums_tenant_bytes(void);

#endif
