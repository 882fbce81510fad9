/* region: the memory-mapped file of one tenant. */
#ifndef SL_REGION_H
#define SL_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "region_layout.h"
#include "os/report.h"
#include "tenant/switches/shares.h"

#define SL_REGION_PATH_BYTES 640
#define SL_REGION_SOCKET_BYTES 108 /* of an address of a Unix socket */

typedef struct {
    char *base;
    uint64_t inode;
    int fd;                            /* of a region from an agent, to ask which processes live; our own file is opened when needed; -1: none */
    char path[SL_REGION_PATH_BYTES];   /* for people only, when it is from an agent */
    char agent[SL_REGION_SOCKET_BYTES]; /* socket of the agent that made the region; "": a file of our own */
    const sl_region_header_t *header;
    const sl_region_limits_t *limits;
    sl_region_gpu_t *gpus;
    sl_region_error_t *errors;
    sl_region_slot_t *slots;
    sl_region_account_t *accounts;
    sl_region_share_t *shares;
    sl_region_call_t *calls;
    sl_region_traffic_t *traffic;
    sl_region_submission_t *submissions;
    sl_region_work_t *works;
    sl_region_pause_t *pauses;
} sl_region_t;

typedef struct {
    const char *tenant;
    uint64_t root_identity;       /* as /proc numbers processes */
    const uint64_t *memory_bytes; /* one for each GPU index */
    const sl_shares_t *shares;    /* NULL: no cap and no turns */
    bool fail_on_error;
    bool mapped;
    uint64_t reservoir_bytes, prepared_bytes;
    bool wait_on_oom;
    uint32_t oom_wait_millis;
} sl_region_draft_t;

bool sl_region_open(sl_region_t *region, const char *path, sl_reason_t *reason);
/* A region from the agent, by two descriptors: page 0, which is read-only, and all other pages. */
bool sl_region_open_handed(sl_region_t *region, int limits, int ledger, const char *tenant, sl_reason_t *reason);
void sl_region_close(sl_region_t *region);
/* A descriptor of the region's file until it is returned; -1: there is none. */
int sl_region_borrow(const sl_region_t *region);
void sl_region_return(const sl_region_t *region, int fd);
/* False: the file was removed or replaced since it was opened, so other processes of the tenant use another region. */
bool sl_region_is_current(const sl_region_t *region);
/* Opens the region of the tenant in the runtime directory; makes it first when there is none or its tenant has ended. */
bool sl_region_open_or_create(sl_region_t *region, const sl_region_draft_t *draft, sl_reason_t *reason);
/* The time of all calls of a function, extrapolated from the timed calls. */
uint64_t sl_region_call_nanos(const sl_region_call_t *call);
sl_region_account_t *sl_region_account(const sl_region_t *region, unsigned slot, unsigned gpu);

#endif
