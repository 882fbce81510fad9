/* holding: what one of the driver's pools holds, and its charge. */
#ifndef SL_HOLDING_H
#define SL_HOLDING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

typedef struct {
    int gpu;                  /* the entry of the region; negative: not accounted */
    CUdevice device;          /* of graphs only */
    CUmemoryPool handle;      /* NULL: the memory of graphs on the device */
    _Atomic uint64_t charged;
    _Atomic uint64_t room;    /* at most what is left: frees are not seen until the pool is asked again */
    _Atomic uint64_t taken;   /* units of room that calls under way took; the upper bits count the calls that ended */
    _Atomic uint64_t pending; /* what calls under way that may let it grow will take: perhaps of the room */
    atomic_uint growers;      /* how many of those began */
    _Atomic uint64_t step;    /* the pool grows by multiples of this */
    _Atomic uint64_t surplus; /* grown unasked and not yet given back */
    _Atomic uint64_t tickets;
    atomic_uint trims;        /* how often memory may have left the pool */
    atomic_bool asleep;       /* only the program itself may use it; the handle may be gone */
    atomic_int askers;        /* threads that ask of their own accord */
    pthread_mutex_t lock;     /* for the rest, and to change charged */
    uint64_t answered;        /* the ticket of the answer that charged is */
    _Atomic uint64_t promised; /* reserved in the ledger for calls under way and not yet taken by the pool */
    uint64_t wanted;          /* what the calls under way reserved */
} __attribute__((aligned(64))) sl_holding_t;

/* What a call may take of a pool's room, and let it grow by, reserved in the ledger; sl_holding_settle must follow. */
typedef struct {
    uint64_t room;   /* taken of what the pool has left */
    uint64_t growth;
    uint64_t bytes;  /* for which it may grow */
    uint64_t used;   /* what the ledger said of the growth */
} sl_holding_claim_t;

void sl_holding_open(sl_holding_t *holding, CUmemoryPool handle, CUdevice device, int gpu);

/* Before a call that takes bytes from a pool. False: it would have to grow and the quota does not allow it. */
bool sl_holding_admit(sl_holding_t *holding, uint64_t bytes, sl_holding_claim_t *claim);
/* Reserves growth by so many bytes, whatever the pool has left. */
bool sl_holding_claim(sl_holding_t *holding, uint64_t bytes, sl_holding_claim_t *claim);
/* After it: the charge becomes what the pool has. Not 0: it grew by so much more than was claimed, and that passes the
 * quota. */
uint64_t sl_holding_settle(sl_holding_t *holding, const sl_holding_claim_t *claim);

/* The charge becomes what the pool has. True: it fell. */
bool sl_holding_follow(sl_holding_t *holding);
/* The charge becomes this, without asking. */
void sl_holding_set(sl_holding_t *holding, uint64_t bytes);

uint64_t sl_holding_used(const sl_holding_t *holding);
/* What the pool has left by its own figures; some of it may be in pieces, or not free before a stream has come there. */
uint64_t sl_holding_room(sl_holding_t *holding);
/* What a pool that so much is used of would hold at most. */
uint64_t sl_holding_needed(const sl_holding_t *holding, uint64_t used);
/* Gives back what the pool does not use. True: the charge fell. */
bool sl_holding_trim(sl_holding_t *holding);
/* The pool grew unasked and must lose so much again; surplus says what is still in use. */
void sl_holding_shrink(sl_holding_t *holding, uint64_t bytes);

#endif
