/* pocket: credit that a thread has taken for what it does next on the same stream: it spends that without asking anybody, and gives
 * the rest back when it has to look closely again. */
#ifndef SL_POCKET_H
#define SL_POCKET_H

#include "driver/entry.h"
#include "compute/lane.h"
#include "os/mine.h"

SL_OWN extern _Atomic unsigned sl_pocket_version; /* of all that a pocket depends on */

/* A batch has ended, a stream or a context is gone, or a capture begins: what threads have taken in advance holds no more. */
void sl_pocket_empty_all(void);
/* Gives back what this thread has. */
void sl_pocket_empty(void);
/* The same. It looks closely at a call on the stream now; true: so was the last one. */
bool sl_pocket_begin(CUstream stream, int default_stream);
/* What the pocket depends on, to be noted before it is looked at, and where calls are counted. */
void sl_pocket_note(const sl_lane_gpu_t *gpu);
/* Takes what the call needs, or if the thread keeps to one stream and the pocket is to be had, a part of what is left. False: that
 * is not there. */
bool sl_pocket_take(sl_lane_t *lane, bool keeps, int64_t nanos);
/* The child after a fork. */
void sl_pocket_forget(void);

/* The default streams are others in each context. */
SL_INLINE bool sl_pocket_is_for(CUstream stream, int default_stream) {
    return !SL_UNLIKELY(!sl_mine.pocket.lane) && !SL_UNLIKELY(stream != sl_mine.pocket.stream) && !SL_UNLIKELY(default_stream != sl_mine.pocket.default_stream) &&
           !SL_UNLIKELY(SL_LOAD(sl_pocket_version) != sl_mine.pocket.version) &&
           !SL_UNLIKELY(SL_LOAD(*sl_mine.pocket.turn) != sl_mine.pocket.turn_seen) &&
           (!SL_UNLIKELY((uintptr_t)stream <= 2) || sl_lane_current() == sl_mine.pocket.lane);
}

/* A call was submitted to the GPU that was noted last; less than none takes that back. */
SL_INLINE void sl_pocket_count(int64_t calls) {
    _Atomic uint64_t *submitted = sl_mine.pocket.submitted;
    if (SL_UNLIKELY(sl_mine.pocket.together))
        atomic_fetch_add_explicit(submitted, (uint64_t)calls, memory_order_relaxed);
    else
        atomic_store_explicit(submitted, SL_LOAD(*submitted) + (uint64_t)calls, memory_order_relaxed);
}

/* Only the holder changes these, so they need no atomic subtraction; a batch that ends in between is wrong by one call. */
SL_INLINE bool sl_pocket_spend(CUstream stream, int default_stream, int64_t nanos) {
    if (SL_UNLIKELY(!sl_pocket_is_for(stream, default_stream)))
        return false;
    sl_lane_t *lane = sl_mine.pocket.lane;
    int64_t left = SL_LOAD(lane->pocket_nanos);
    unsigned calls = SL_LOAD(lane->pocket_calls);
    if (SL_UNLIKELY(nanos > left))
        return false;
    atomic_store_explicit(&lane->pocket_nanos, left - nanos, memory_order_relaxed);
    atomic_store_explicit(&lane->pocket_calls, calls + 1, memory_order_relaxed);
    sl_pocket_count(1);
    return true;
}

#endif
