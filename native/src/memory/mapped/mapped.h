/* mapped: plain memory that Sluice maps itself, so that it can leave the GPU and come back at its address.
 *
 * The room takes the place of the driver's cuMemAlloc and cuMemFree, and of nothing else: linear.c charges and refunds. A request above
 * 2 MiB has a chunk of its own, smaller ones share slabs of 2 MiB of their context, as the driver packs them. What a freed chunk was
 * charged with comes in as `left`: bytes that the ledger counts as in flight. The room refunds them when the memory is gone, or returns
 * them with the memory, when that was spare and is taken again. */
#ifndef SL_MAPPED_H
#define SL_MAPPED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "memory/mapped/arena.h"
#include "os/compiler.h"

typedef enum { SL_MAPPED_UNDECIDED, SL_MAPPED_OFF, SL_MAPPED_ON } sl_mapped_mode_t;

/* Answers of sl_mapped_take beside the driver's. */
enum {
    SL_MAPPED_PASS = -2,    /* this GPU cannot map memory: ask the driver */
    SL_MAPPED_NO_SLAB = -3, /* no slab has room, and none was to be made */
};

SL_OWN extern _Atomic int sl_mapped_mode;
bool sl_mapped_decide(void);

/* Whether this process maps its memory: what the region says at the first question. */
static inline bool sl_mapped_is_on(void) {
    return SL_UNLIKELY(SL_LOAD(sl_mapped_mode) != SL_MAPPED_OFF) && sl_mapped_decide();
}

/* Whether an address is in the hands of this room. */
static inline bool sl_mapped_has(uint64_t address) {
    return SL_UNLIKELY(SL_LOAD(sl_mapped_mode) == SL_MAPPED_ON) && sl_arena_has(address);
}

/* The context is current, and the bytes are not 0. Without may_make a small request gets room in a slab that is there, or none. */
CUresult sl_mapped_take(CUcontext context, unsigned gpu, uint64_t bytes, bool may_make, CUdeviceptr *address);

/* Memory that is mapped and charged already. */
typedef struct {
    CUdeviceptr address;
    uint64_t bytes; /* of the ledger, in flight, that come with it; 0: it shares a slab that others pay for */
    uint64_t used;  /* what all processes hold */
} sl_mapped_paid_t;

/* The same without the driver: room in a slab that is there, or spare memory. False: there is none, or the quota is passed. */
bool sl_mapped_take_paid(CUcontext context, unsigned gpu, uint64_t bytes, sl_mapped_paid_t *paid);

/* Reserves more addresses for a GPU. The caller holds the lock of mapped memory; it is released while the driver works. */
void sl_mapped_add_addresses_unlocking(CUdevice device, uint64_t bytes);

/* When the memory may go. */
typedef enum {
    SL_MAPPED_UNUSED,      /* at once: the program never had it */
    SL_MAPPED_SYNCHRONIZED, /* when the work of its context has ended, for which the call waits */
    SL_MAPPED_IN_STREAM,   /* when the stream has come there */
    SL_MAPPED_IN_STREAM_OF_THREAD, /* the same for a call whose default stream is the thread's */
} sl_mapped_when_t;

/* Success: the room refunds `left`, now or later. Else nothing changed. */
CUresult sl_mapped_give(CUdeviceptr address, sl_mapped_when_t when, CUstream stream, uint64_t left);

/* Before the driver is asked to end a context, and after it has answered. Gone: all of its memory is given back. What is charged for it
 * by name is refunded by the caller. */
void sl_mapped_leave(CUcontext context);
void sl_mapped_left(CUcontext context, bool gone);
/* The context is gone, and its memory stays: that of a green context belongs to the GPU's primary context. */
void sl_mapped_lose_context(CUcontext context);

/* What the program should see of an address. */
typedef struct {
    uint64_t base, bytes, identity;
    CUcontext context;
    bool exportable; /* a handle of it can be had for other processes */
} sl_mapped_view_t;

/* False: no allocation is there. */
bool sl_mapped_look(uint64_t address, sl_mapped_view_t *view);

#endif
