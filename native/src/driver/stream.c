/* stream: which stream a call means, and whether it captures. */
#include "driver/stream.h"

#include "driver/entry.h"
#include "os/thread.h"
#include "real.h"

enum { NOT_CAPTURING = 0 };

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
