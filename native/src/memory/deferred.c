/* deferred: plain memory that was freed in the order of a stream.
 *
 * Seen on an H200 with driver 580: the memory stays on the GPU until cuStreamSynchronize or cuCtxSynchronize, however long the stream has
 * been idle. With an immediate refund, a process held 9.6 GB under a quota of 4 GiB. So the memory counts as in flight until then.
 *
 * A wait does not cover memory that another thread frees meanwhile. So waits are numbered when they begin, and freed memory has the number
 * of the next wait. The end of a wait refunds memory with its number or a lower one. */
#include "memory/deferred.h"

#include "driver/stream.h"
#include "ledger/ledger.h"
#include "memory/kept.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "real.h"

#define PLACES 256

typedef struct {
    CUcontext context;
    CUstream stream;
    unsigned gpu;
    uint64_t bytes; /* 0: free place */
    uint64_t wait;  /* the first wait that covers all of it */
} deferred_t;

atomic_int sl_deferred_count;
_Atomic uint64_t sl_deferred_waits = 1;
static sl_mutex_t lock;
static deferred_t places[PLACES];

/* Each thread has a default stream of its own. */
static CUstream name_of(CUstream stream) {
    return stream == SL_DEFERRED_PER_THREAD ? (CUstream)(uintptr_t)sl_stream_own_key() : stream;
}

static bool is_same(const deferred_t *place, unsigned gpu, CUcontext context, CUstream stream) {
    return place->bytes && place->gpu == gpu && place->context == context && place->stream == stream;
}

/* With the lock held. If no place is free, the bytes join an older entry of the same stream, which then waits longer. */
static deferred_t *place_for(unsigned gpu, CUcontext context, CUstream stream, uint64_t wait) {
    deferred_t *empty = NULL, *earlier = NULL;
    for (deferred_t *each = places; each < places + PLACES; each++) {
        bool same = is_same(each, gpu, context, stream);
        if (same && each->wait == wait)
            return each;
        earlier = same ? each : earlier;
        empty = !each->bytes && !empty ? each : empty;
    }
    return empty ? empty : earlier;
}

/* If there is no place, the bytes count as overhead until NVML's figure falls. */
void sl_deferred_add(unsigned gpu, CUcontext context, CUstream stream, uint64_t bytes) {
    stream = name_of(stream);
    sl_mutex_lock_briefly(&lock);
    uint64_t wait = sl_deferred_waits;
    deferred_t *place = place_for(gpu, context, stream, wait);
    if (place && !place->bytes) {
        *place = (deferred_t){context, stream, gpu, 0, wait};
        sl_deferred_count++;
    }
    if (place) {
        place->bytes += bytes;
        place->wait = wait;
    }
    sl_mutex_unlock(&lock);
    if (!place)
        sl_ledger_defer_left(gpu, bytes);
}

void sl_deferred_end_slowly(uint64_t wait, CUcontext context, CUstream stream) {
    if (!context && (!real.cuCtxGetCurrent || real.cuCtxGetCurrent(&context) != CUDA_SUCCESS))
        return;
    sl_kept_waited(wait, stream ? NULL : context);
    stream = name_of(stream);
    for (deferred_t *each = places; each < places + PLACES; each++) {
        sl_mutex_lock_briefly(&lock);
        deferred_t ended = *each;
        bool ends = ended.bytes && ended.wait <= wait && ended.context == context && (!stream || ended.stream == stream);
        if (ends) {
            each->bytes = 0;
            sl_deferred_count--;
        }
        sl_mutex_unlock(&lock);
        if (ends)
            sl_ledger_refund_left(ended.gpu, ended.bytes);
    }
}

static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    for (deferred_t *each = places; each < places + PLACES; each++)
        each->bytes = 0;
    sl_deferred_count = 0;
    sl_deferred_waits = 1;
}
SL_FORK_FORGETS(forget);
