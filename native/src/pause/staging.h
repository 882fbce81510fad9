/* staging: copies between device memory and host memory that is not registered, through a ring of registered memory.
 *
 * Measured on an H200 (bench/gpu/register.c): a copy stands almost still while memory is registered, 0.3 to 0.8 GB/s. So registration at 50 GB/s and
 * then copies at 55 reach 24 to 27 together. Helper threads copy between the ring and the host memory instead, while the GPU copies between the
 * ring and its memory.
 *
 * Pieces pass in the order in which they are begun. A slot of the ring serves the next piece only when both copies of its last one have ended. One thread at a
 * time calls these functions. */
#ifndef SL_STAGING_H
#define SL_STAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "pause/track.h"

#define SL_STAGING_PIECE (8ull << 20) /* with 12 threads 51 GB/s back on an H200; of 4 MiB 41, of 2 MiB 45 (register.c) */

/* Where staging is used; else memory is registered. Tests say others. */
typedef struct {
    uint64_t least_bytes;      /* that are not registered: for fewer the ring costs more than it saves */
    unsigned least_processors; /* that the process may use: fewer copy more slowly than memory is registered */
} sl_staging_rule_t;
extern sl_staging_rule_t sl_staging_rule;

/* Helper threads begin to make the ring, for a move in which so many bytes are not registered. It counts for no limit of the tenant: it is small, and lasts as
 * long as the move. taken: the bytes of the host that the move takes besides. False: the rule, the host or the number of threads does not allow it. */
bool sl_staging_open(uint64_t bytes, uint64_t taken);
bool sl_staging_is_open(void);
/* Before the first copy. False: there is no ring, and it is closed. */
bool sl_staging_ready(CUcontext context);
/* The helper threads begin. All copies until the end go in one direction. */
void sl_staging_begin(bool out);
/* Begins to copy at most a piece. Afterwards an earlier piece may be copied for the GPU, or from it. */
CUresult sl_staging_copy(sl_track_t *track, uint64_t address, void *host, uint64_t bytes);
/* After a failure (status) what was not begun is left. The helper threads have ended; on the way back the caller still drains the tracks. */
CUresult sl_staging_end(CUresult status);
/* quiet: no copy of the driver can be under way. Else the ring stays where it is, and nothing uses it again. */
void sl_staging_close(CUcontext context, bool quiet);

#endif
