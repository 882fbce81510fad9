/* track: copies between device memory and the reservoir through one context, several at a time.
 *
 * Streams and events are made for one move and destroyed after it. Where they cannot be made, copies are made one by one. */
#ifndef SL_TRACK_H
#define SL_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_abi.h"

/* One copy engine for each direction reaches 55 GB/s on an H200; the second stream fills the gap between two copies. */
enum { SL_TRACK_STREAMS = 2, SL_TRACK_FLIGHT = 8 };

typedef struct {
    CUcontext context;
    unsigned gpu;
    CUdevice retained; /* the device whose primary context is retained during the move; -1: none */
    CUstream streams[SL_TRACK_STREAMS];
    CUevent events[SL_TRACK_FLIGHT]; /* number % SL_TRACK_FLIGHT */
    uint64_t bytes[SL_TRACK_FLIGHT];
    uint64_t begun, ended; /* numbers of copies */
    size_t item;           /* for the caller: the item to copy next */
    uint64_t done;         /* for the caller: how much of it was begun */
} sl_track_t;

/* context NULL: any context of the GPU. False: the process has none there. */
bool sl_track_open(sl_track_t *track, CUcontext context, unsigned gpu);
void sl_track_close(sl_track_t *track);
/* Begins a copy; waits for an earlier one if too many are in flight. Reports bytes that have arrived. */
CUresult sl_track_copy(sl_track_t *track, bool out, uint64_t address, void *host, uint64_t bytes);
/* Waits until so many copies (begun) have ended. */
CUresult sl_track_wait(sl_track_t *track, uint64_t number);
/* Waits until all copies have ended. *quiet becomes false if the driver does not tell whether some are still in flight. */
CUresult sl_track_drain(sl_track_t *track, bool *quiet);
/* Waits for all work of the context. False: the driver does not tell whether it has ended. */
bool sl_track_is_idle(const sl_track_t *track);
/* What the GPU has free; 0: it does not say. */
uint64_t sl_track_free_bytes(const sl_track_t *track);
/* Any context of the process, for calls that need one; NULL: none. Close the track afterwards. */
CUcontext sl_track_any(sl_track_t *track);

#endif
