/* orphan: memory that outlives its pool: a destroyed pool goes when the last allocation from it is freed.
 *
 * Its handle must not be asked any more, but pointers still tell which pool they are from. */
#include "memory/orphan.h"


#include "driver/entry.h"
#include "ledger/ledger.h"
#include "real.h"
#include "os/latch.h"

#define ORPHANS 64

enum { POINTER_RANGE_SIZE = 12, POINTER_POOL = 17 };

typedef struct {
    CUmemoryPool pool;
    unsigned gpu;
    uint64_t charged, used;
} family_t;

atomic_int sl_orphan_count;
static family_t families[ORPHANS];
static sl_latch_t lock = SL_LATCH_INITIALIZER;

static void refund(family_t *family) {
    sl_ledger_refund(family->gpu, SL_USE_POOL, family->charged);
    *family = (family_t){0};
    sl_orphan_count--;
}

/* Where there is no place left the memory is no longer charged: rather too little than for ever too much. */
void sl_orphan_add(CUmemoryPool pool, unsigned gpu, uint64_t charged, uint64_t used) {
    sl_latch_lock(&lock);
    family_t *family = families;
    while (family < families + ORPHANS && family->pool)
        family++;
    bool placed = family < families + ORPHANS;
    if (placed) {
        *family = (family_t){pool, gpu, charged, used};
        sl_orphan_count++;
    }
    sl_latch_unlock(&lock);
    if (!placed)
        sl_ledger_refund(gpu, SL_USE_POOL, charged);
}

sl_orphan_t sl_orphan_find_slowly(CUdeviceptr address) {
    sl_orphan_t orphan = {NULL, 0};
    size_t bytes = 0;
    if (real.cuPointerGetAttribute && real.cuPointerGetAttribute(&orphan.pool, POINTER_POOL, address) == CUDA_SUCCESS &&
        orphan.pool && real.cuPointerGetAttribute(&bytes, POINTER_RANGE_SIZE, address) == CUDA_SUCCESS)
        orphan.bytes = bytes;
    return orphan;
}

/* A new pool may have the handle of an old one: then the old one is thought to have lost what the new one freed, and is
 * refunded early. */
void sl_orphan_freed(const sl_orphan_t *orphan) {
    sl_latch_lock(&lock);
    for (family_t *family = families; orphan->pool && family < families + ORPHANS; family++)
        if (family->pool == orphan->pool) {
            family->used -= family->used < orphan->bytes ? family->used : orphan->bytes;
            if (!family->used)
                refund(family);
            break;
        }
    sl_latch_unlock(&lock);
}

void sl_orphan_end(unsigned gpu) {
    sl_latch_lock(&lock);
    for (family_t *family = families; family < families + ORPHANS; family++)
        if (family->pool && family->gpu == gpu)
            refund(family);
    sl_latch_unlock(&lock);
}

void sl_orphan_forget(void) {
    lock = (sl_latch_t)SL_LATCH_INITIALIZER;
    for (int i = 0; i < ORPHANS; i++)
        families[i] = (family_t){0};
    sl_orphan_count = 0;
}
