/* reservoir: host memory for device memory of this process that left the GPU: a file that the agent handed over, where there is an agent that has
 * one, else memory of the process.
 *
 * It is a row of blocks; the last may be short. A block is touched and registered with the driver as a whole, by helper threads, so that
 * copies run at the full speed of the bus. Copies of blocks that are only touched go through staging memory (staging.h). No copy may cross two registrations (CUDA_ERROR_INVALID_VALUE on an H200, driver 580): copies end at the border
 * of a block. One thread at a time calls these functions. */
#ifndef SL_RESERVOIR_H
#define SL_RESERVOIR_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "os/report.h"

/* Small enough that the first copy begins soon, large enough that 32 GiB are 512 registrations. An H200 copies it in 1.2 ms. */
#define SL_RESERVOIR_BLOCK (64ull << 20)

/* Takes host memory until there are so many bytes: they count for the tenant's limit, and are not touched yet. False, and nothing
 * changed: the limit or the host does not allow it. Nothing is in the reservoir. Here and below context is any of the program, or NULL. */
bool sl_reservoir_reserve(uint64_t bytes, CUcontext context, sl_reason_t *reason);
/* Helper threads begin to touch and to register the first so many bytes, block by block. Without a context they only touch them. */
void sl_reservoir_begin(uint64_t bytes, CUcontext context);
/* Where the bytes from an offset to the end of its block lie, as soon as they are ready; NULL: the host had no memory for them. */
void *sl_reservoir_at(uint64_t offset);
/* Whether copies to there run at full speed; once sl_reservoir_at has answered. */
bool sl_reservoir_is_registered(uint64_t offset);
/* Of the first so many bytes those that are not registered now. */
uint64_t sl_reservoir_unregistered(uint64_t bytes);
/* All helper threads have ended. False: some block could not be touched. */
bool sl_reservoir_end(void);
/* Lets go of all but so many bytes. */
void sl_reservoir_keep(uint64_t bytes, CUcontext context);
/* A copy may still be under way, and nothing tells when it ends: the memory is neither used nor let go any more. It still counts. */
void sl_reservoir_abandon(void);
void sl_reservoir_unregister(CUcontext context);
uint64_t sl_reservoir_bytes(void);

#endif
