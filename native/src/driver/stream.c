/* stream: which stream a call means, and whether it captures. */
#include "driver/stream.h"

#include "driver/entry.h"
#include "os/fork.h"
#include "os/os.h"
#include "os/thread.h"
#include "real.h"

#define PATIENCE 10000u      /* looks: a question takes microseconds, unless the driver holds it up */
#define LOOK_NANOS 10000u

enum { NOT_CAPTURING = 0 };

static _Atomic int asking;

uint64_t sl_stream_own_key(void) {
    return (uintptr_t)&sl_thread | 1;
}

sl_stream_t sl_stream_of(CUstream handle, bool per_thread) {
    uintptr_t number = (uintptr_t)handle;
    bool own = number == 2 || (number == 0 && per_thread);
    uint64_t key = own ? sl_stream_own_key() : number == 0 ? 1 : number;
    return (sl_stream_t){handle, per_thread, own, key};
}

SL_HOT_DATA _Atomic int sl_stream_open_captures;

bool sl_stream_captures(const sl_stream_t *stream) {
    if (atomic_load_explicit(&sl_stream_open_captures, memory_order_acquire) <= 0)
        return false;
    CUstreamCaptureStatus status = NOT_CAPTURING;
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *) = stream->per_thread ? real.cuStreamIsCapturing_ptsz : real.cuStreamIsCapturing;
    return ask && (ask(stream->handle, &status) != CUDA_SUCCESS || status != NOT_CAPTURING);
}

/* Pairs with sl_stream_begin_capture, which accesses the two words in the opposite order: either this thread sees the capture, or that one sees
 * the question. */
bool sl_stream_begin_asking(void) {
    atomic_fetch_add(&asking, 1);
    if (atomic_load(&sl_stream_open_captures) <= 0)
        return true;
    atomic_fetch_sub(&asking, 1);
    return false;
}

void sl_stream_end_asking(void) {
    atomic_fetch_sub(&asking, 1);
}

void sl_stream_begin_capture(void) {
    atomic_fetch_add(&sl_stream_open_captures, 1);
    for (unsigned i = 0; i < PATIENCE && atomic_load(&asking) > 0; i++)
        sl_os_sleep_nanos(LOOK_NANOS);
}

/* The thread that asked is not in the child. */
static void forget(void) {
    atomic_store(&asking, 0);
}
SL_FORK_FORGETS(forget);
