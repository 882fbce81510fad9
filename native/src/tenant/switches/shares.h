/* shares: a tenant's share of GPU time, and how it is written. */
#ifndef SL_SHARES_H
#define SL_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_SHARES_GPUS 16
#define SL_SHARES_WHOLE 1000u /* 100 % in thousandths */

/* As in the limits of spec/region.abi; all 0: no cap and no turns. */
typedef struct {
    uint32_t compute_permille[SL_SHARES_GPUS];
    bool turns;
    uint32_t weight;
    int32_t priority;
    bool exclusive;
    uint32_t turn_micros;
    bool strict;          /* caps hold inside a kernel too */
    bool cap_when_shared; /* caps hold only while others use the GPU */
} sl_shares_t;

/* Each reads a whole text and refuses what spec/shares.txt calls an error. */
bool sl_shares_read_percent(const char *text, size_t length, uint32_t *permille);
/* As older tools write it: the sign may be left out. */
bool sl_shares_read_older_percent(const char *text, size_t length, uint32_t *permille);
/* One cap for every GPU, or one for some; 100 % becomes 0, which is no cap. */
bool sl_shares_read_compute(const char *text, uint32_t permille[SL_SHARES_GPUS]);
bool sl_shares_read_weight(const char *text, uint32_t *weight);
bool sl_shares_read_priority(const char *text, int32_t *priority);
bool sl_shares_read_exclusive(const char *text, bool *exclusive);
bool sl_shares_read_turn(const char *text, uint32_t *micros);

/* Whether the tenant has a cap or takes turns. */
bool sl_shares_any(const sl_shares_t *shares);
bool sl_shares_any_cap(const sl_shares_t *shares);
void sl_shares_cap_every_gpu(sl_shares_t *shares, uint32_t permille);

#endif
