/* wait: an allocation over the quota waits for room, if the tenant chose that instead of an error.
 *
 * A free wakes no waiter, so that a free costs nothing. The waiting thread polls the ledger, less and less often.
 * Each look reads the limits again, so that a change of them counts at once. */
#include "ledger/wait.h"

#include <errno.h>

#include "hold/hold.h"
#include "ledger/ledger.h"
#include "os/os.h"
#include "real.h"
#include "tenant/switches/options.h"
#include "tenant/registration.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"
#include "trace/trace.h"

#define MILLI 1000000u
#define SHORTEST_NANOS (1 * MILLI)  /* chosen: first sleep between two looks */
#define LONGEST_NANOS (50 * MILLI)  /* chosen: 20 looks a second cost next to nothing */
#define LEGACY_STREAM ((CUstream)1)
#define PER_THREAD_STREAM ((CUstream)2)
#define CAPTURE_IMPLICIT 906 /* another stream of the context captures */

static bool stream_captures(CUstream stream) {
    CUstreamCaptureStatus capture = 0;
    CUresult status = real.cuStreamIsCapturing ? real.cuStreamIsCapturing(stream, &capture) : CUDA_ERROR_NOT_FOUND;
    return status == CAPTURE_IMPLICIT || (status == CUDA_SUCCESS && capture != 0);
}

/* Sees captures in the default streams alone. A capture in a non-blocking stream is known only to the hooks of calls in that stream. */
static bool captures(void) {
    return stream_captures(LEGACY_STREAM) || stream_captures(PER_THREAD_STREAM);
}

static bool may_fit(unsigned gpu, uint64_t bytes) {
    uint64_t limit = sl_accounts_limit(gpu);
    return !limit || bytes <= limit;
}

/* An hour at most, whatever the region says. */
uint64_t sl_wait_patience(void) {
    uint32_t millis = sl_tenant.region.limits->oom_wait_millis;
    return (uint64_t)(millis < SL_OPTIONS_LONGEST_WAIT_MILLIS ? millis : SL_OPTIONS_LONGEST_WAIT_MILLIS) * MILLI;
}

static uint64_t look_until_room(unsigned gpu, uint64_t bytes) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    uint64_t start = sl_os_coarse_nanos(), span = SHORTEST_NANOS, used = 0;
    while (!used && limits->on_oom && may_fit(gpu, bytes)) {
        uint64_t patience = sl_wait_patience(), waited = sl_os_coarse_nanos() - start;
        if (waited >= patience)
            break;
        uint64_t left = patience - waited;
        uint32_t inside = sl_hold_step_out();
        sl_os_sleep_nanos(span < left ? span : left);
        sl_hold_step_in(inside);
        span = span * 2 < LONGEST_NANOS ? span * 2 : LONGEST_NANOS;
        sl_registration_follow();
        used = sl_ledger_try(gpu, bytes);
    }
    SL_TELL(SL_DEBUG, "waited %llu ms for %llu bytes on GPU %d, %s",
            (unsigned long long)((sl_os_coarse_nanos() - start) / MILLI), (unsigned long long)bytes,
            sl_tenant.region.gpus[gpu].index, used ? "and got them" : "in vain");
    return used;
}

uint64_t sl_wait_for_room(unsigned gpu, uint64_t bytes) {
    if (!may_fit(gpu, bytes) || captures())
        return 0;
    int saved = errno;
    uint64_t begin = sl_trace_start();
    SL_TELL(SL_INFO, "an allocation of %llu bytes on GPU %d waits for room", (unsigned long long)bytes,
            sl_tenant.region.gpus[gpu].index);
    uint64_t start = sl_os_nanos(), used = look_until_room(gpu, bytes);
    sl_trace_wait(SL_TRACE_REASON_MEMORY, begin, gpu);
    sl_region_share_t *share = &sl_tenant.region.shares[gpu];
    atomic_fetch_add_explicit(&share->memory_waits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&share->memory_waited_nanos, sl_os_nanos() - start, memory_order_relaxed);
    errno = saved;
    return used;
}
