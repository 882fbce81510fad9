/* mapped: plain memory that Sluice maps itself, so that it can leave the GPU and come back at its address.
 *
 * The room replaces the driver's cuMemAlloc and cuMemFree alone: linear.c charges and refunds. A request above 2 MiB has a chunk of its
 * own. Smaller requests share slabs of 2 MiB of their context, as the driver packs them. `left` is the former charge of a freed chunk:
 * bytes that the ledger counts as in flight. The room refunds them when the memory is gone. If the memory was spare and is taken again,
 * the room returns them with it. */
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
    SL_MAPPED_NO_SLAB = -3, /* no slab has room, and the caller wanted no new slab */
};

SL_OWN extern _Atomic int sl_mapped_mode;
bool sl_mapped_decide(void);

/* Whether this process maps its memory, as the region says at the first query. */
static inline bool sl_mapped_is_on(void) {
    return SL_UNLIKELY(SL_LOAD(sl_mapped_mode) != SL_MAPPED_OFF) && sl_mapped_decide();
}

/* Whether an address belongs to this room. */
static inline bool sl_mapped_has(uint64_t address) {
    return SL_UNLIKELY(SL_LOAD(sl_mapped_mode) == SL_MAPPED_ON) && sl_arena_has(address);
}

/* The context is current, and the bytes are not 0. Without may_make a small request gets room in an existing slab, or fails. */
CUresult sl_mapped_take(CUcontext context, unsigned gpu, uint64_t bytes, bool may_make, CUdeviceptr *address);

/* Memory that is mapped and charged already. */
typedef struct {
    CUdeviceptr address;
    uint64_t bytes; /* of the ledger, in flight, that come with it; 0: it shares a slab that is charged already */
    uint64_t used;  /* what all processes hold */
} sl_mapped_paid_t;

/* The same without the driver: room in an existing slab, or spare memory. False: there is none, or the quota is passed. */
bool sl_mapped_take_paid(CUcontext context, unsigned gpu, uint64_t bytes, sl_mapped_paid_t *paid);

/* Reserves more addresses for a GPU. The caller holds the lock of mapped memory; it is released while the driver works. */
void sl_mapped_add_addresses_unlocking(CUdevice device, uint64_t bytes);

/* When the memory may go. */
typedef enum {
    SL_MAPPED_UNUSED,      /* at once: the program never had it */
    SL_MAPPED_SYNCHRONIZED, /* when the work of its context has ended, for which the call waits */
    SL_MAPPED_IN_STREAM,   /* when the stream reaches the free */
    SL_MAPPED_IN_STREAM_OF_THREAD, /* the same for a call whose default stream is the thread's */
} sl_mapped_when_t;

/* Success: the room refunds `left`, now or later. Otherwise nothing changed. */
CUresult sl_mapped_give(CUdeviceptr address, sl_mapped_when_t when, CUstream stream, uint64_t left);

/* Before the driver ends a context, and after it has answered. gone: gives all memory of the context back. The caller refunds the charges
 * by name. */
void sl_mapped_leave(CUcontext context);
void sl_mapped_left(CUcontext context, bool gone);
/* The green context is gone, and its memory stays, because that belongs to the GPU's primary context. */
void sl_mapped_lose_context(CUcontext context);

/* The answers that the program gets about an address. */
typedef struct {
    uint64_t base, bytes, identity;
    CUcontext context;
    bool exportable; /* the library can make a handle of it for other processes */
} sl_mapped_view_t;

/* False: no allocation is there. */
bool sl_mapped_look(uint64_t address, sl_mapped_view_t *view);

#endif
