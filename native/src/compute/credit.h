/* credit: GPU time that a thread takes from its lane in advance, and spends on one stream without an atomic subtraction.
 *
 * What is left of it lies in the lane. The thread that ends the batch returns it to the lane, even if the owner is gone. */
#ifndef SL_CREDIT_H
#define SL_CREDIT_H

#include "driver/entry.h"
#include "compute/lane.h"
#include "os/thread.h"

SL_OWN extern _Atomic unsigned sl_credit_version; /* changes when a thread must not spend its credit any more */

/* A batch has ended, a stream or a context is gone, or a capture begins: no thread may spend the credit that it has. */
void sl_credit_revoke_all(void);
/* Returns the credit of this thread to its lane. */
void sl_credit_return(void);
/* Returns the credit before the slow path of a call on this stream. True: the last such call was on the same stream. */
bool sl_credit_begin(CUstream stream, int default_stream);
/* Notes the version of the credit before the caller reads it, and where calls are counted. */
void sl_credit_note(const sl_lane_gpu_t *gpu);
/* Takes the cost of the call. If the thread keeps to one stream and no other thread has credit, it takes half of the lane's credit.
 * False: the lane has not enough. */
bool sl_credit_take(sl_lane_t *lane, bool keeps, int64_t nanos);

/* The version and the kind of default stream in one word, so that one comparison is enough. */
SL_INLINE uint64_t sl_credit_version_of(int default_stream) {
    return (uint64_t)default_stream << 32 | SL_LOAD(sl_credit_version);
}

/* Whether the credit of this thread is for the stream, and still valid. */
SL_INLINE bool sl_credit_is_valid(CUstream stream, int default_stream) {
    const sl_thread_credit_t *credit = &sl_thread.credit;
    return !SL_UNLIKELY(!credit->lane) && !SL_UNLIKELY(stream != credit->stream) &&
           !SL_UNLIKELY(sl_credit_version_of(default_stream) != credit->version) && !SL_UNLIKELY(SL_LOAD(*credit->turn) != credit->turn_seen);
}

/* The same for any stream. A default stream is another stream in each context. */
SL_INLINE bool sl_credit_is_for(CUstream stream, int default_stream) {
    if (SL_UNLIKELY((uintptr_t)stream <= 2))
        return sl_credit_is_valid(stream, default_stream) && sl_lane_current() == sl_thread.credit.lane;
    return sl_credit_is_valid(stream, default_stream);
}

/* Counts calls submitted to the GPU that was noted last; -1: the driver refused the call. */
SL_INLINE void sl_credit_count_calls(int64_t calls) {
    _Atomic uint64_t *submitted = sl_thread.credit.submitted;
    if (SL_UNLIKELY(sl_thread.credit.together))
        atomic_fetch_add_explicit(submitted, (uint64_t)calls, memory_order_relaxed);
    else
        atomic_store_explicit(submitted, SL_LOAD(*submitted) + (uint64_t)calls, memory_order_relaxed);
}

/* Only this thread writes the two words, so a load and a store are enough. If the batch ends in between, the sum is off by one call. */
SL_INLINE bool sl_credit_spend(CUstream stream, int default_stream, int64_t nanos) {
    if (SL_UNLIKELY(!sl_credit_is_for(stream, default_stream)))
        return false;
    sl_lane_t *lane = sl_thread.credit.lane;
    int64_t left = SL_LOAD(lane->thread_credit_nanos);
    unsigned calls = SL_LOAD(lane->thread_credit_calls);
    if (SL_UNLIKELY(nanos > left))
        return false;
    atomic_store_explicit(&lane->thread_credit_nanos, left - nanos, memory_order_relaxed);
    atomic_store_explicit(&lane->thread_credit_calls, calls + 1, memory_order_relaxed);
    sl_credit_count_calls(1);
    return true;
}

#endif
