/* pending: before a request is refused, waits for memory that is freed but that its stream has not reached yet.
 *
 * The driver does not say which memory is pending and which is only fragmented, so a wait is a guess. It goes on while memory comes
 * back, or while the stream of the request is busy. It lasts a second at most. After a wait without success the next one may last half
 * as long, so that a program that is refused often does not wait each time. */
#include "memory/pending.h"

#include <errno.h>
#include <stdatomic.h>

#include "driver/stream.h"
#include "driver/entry.h"
#include "ledger/ledger.h"
#include "tenant/accounts.h"
#include "memory/deferred.h"
#include "memory/pool.h"
#include "os/os.h"
#include "real.h"

#define LONGEST_NANOS 1000000000u /* chosen: a program that is out of memory waits a second at most */
#define PATIENCE_NANOS 20000000u  /* chosen: without memory that comes back, while the stream is idle */
#define FIRST_SPAN_NANOS 20000u   /* chosen: first sleep between two looks; it doubles up to the last */
#define LAST_SPAN_NANOS 1000000u
#define GPUS 16
#define HALVINGS 6                /* chosen: the shortest waits are 1/64, 16 ms in all */

static atomic_uint vain[2][GPUS]; /* waits without success since the last success: of requests that are not reserved, and of reserved ones */

bool sl_pending_is_capturing(void) {
    return atomic_load_explicit(&sl_stream_open_captures, memory_order_acquire) > 0;
}

static atomic_uint *vain_of(const sl_pending_t *pending) {
    return &vain[pending->is_reserved][pending->gpu % GPUS];
}

static unsigned halvings(const sl_pending_t *pending) {
    unsigned count = atomic_load_explicit(vain_of(pending), memory_order_relaxed);
    return count < HALVINGS ? count : HALVINGS;
}

static bool is_busy(const sl_pending_t *pending) {
    return pending->query && pending->query(pending->stream) == CUDA_ERROR_NOT_READY;
}

static bool is_over(const sl_pending_t *pending, uint64_t now) {
    unsigned less = halvings(pending);
    if (now - pending->start_nanos >= (uint64_t)LONGEST_NANOS >> less)
        return true;
    return now - pending->progress_nanos >= (uint64_t)PATIENCE_NANOS >> less && !is_busy(pending);
}

/* The driver notices that a free has completed only when the program waits for its stream (seen on an H200). Waiting for an idle stream
 * takes no time. */
static void notice_frees(const sl_pending_t *pending) {
    if (!pending->query || pending->query(pending->stream) != CUDA_SUCCESS)
        return;
    bool per_thread = pending->query == real.cuStreamQuery_ptsz;
    CUresult (*wait)(CUstream) = per_thread ? real.cuStreamSynchronize_ptsz : real.cuStreamSynchronize;
    uint64_t deferred = sl_deferred_begin();
    if (wait && wait(pending->stream) == CUDA_SUCCESS)
        sl_deferred_end(deferred, NULL, pending->stream ? pending->stream : per_thread ? SL_DEFERRED_PER_THREAD : SL_DEFERRED_LEGACY);
}

/* Bytes above the quota that a trial of the same request left behind are no gain when they come back. */
static void begin(sl_pending_t *pending, const sl_pool_figures_t *figures, uint64_t now) {
    uint64_t limit = sl_accounts_limit(pending->gpu), used = sl_accounts_used(pending->gpu);
    uint64_t beyond = !pending->is_reserved && limit && used > limit ? used - limit : 0;
    pending->start_nanos = pending->progress_nanos = now;
    pending->span_nanos = FIRST_SPAN_NANOS;
    pending->lowest_bytes = figures->charged > beyond ? figures->charged - beyond : 0;
}

bool sl_pending_wait(sl_pending_t *pending) {
    uint64_t now = sl_os_nanos();
    sl_pool_figures_t figures = sl_pool_figures(pending->gpu);
    if (!pending->start_nanos)
        begin(pending, &figures, now);
    if (figures.charged < pending->lowest_bytes) {
        pending->lowest_bytes = figures.charged;
        pending->progress_nanos = now;
    }
    if (sl_pending_is_capturing() || !figures.has_unused || is_over(pending, now))
        return false;
    int saved = errno;
    sl_os_sleep_nanos(pending->span_nanos);
    errno = saved;
    if (pending->span_nanos < LAST_SPAN_NANOS)
        pending->span_nanos *= 2;
    notice_frees(pending);
    sl_pool_trim(pending->gpu);
    return true;
}

void sl_pending_end(const sl_pending_t *pending, bool met) {
    if (pending->span_nanos > FIRST_SPAN_NANOS)
        atomic_store_explicit(vain_of(pending), met ? 0 : halvings(pending) + 1, memory_order_relaxed);
}

bool sl_pending_reclaim(unsigned gpu) {
    sl_pending_t pending = {.gpu = gpu, .query = real.cuStreamQuery, .is_reserved = true};
    uint64_t before = sl_accounts_used(gpu), used = before, limit = sl_accounts_limit(gpu);
    while (used > limit && sl_pending_wait(&pending)) {
        used = sl_accounts_used(gpu);
        limit = sl_accounts_limit(gpu);
    }
    sl_pending_end(&pending, used <= limit);
    return used < before;
}
