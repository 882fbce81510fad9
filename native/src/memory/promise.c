/* promise: what modules, libraries and limits took or were promised, so that it is given back when they end. */
#include "memory/promise.h"

#include <stdbool.h>

#include "os/index.h"
#include "os/latch.h"

typedef struct {
    uint64_t key;
    CUcontext context;
    uint64_t bytes; /* on each of the GPUs */
    uint32_t gpus;  /* a bit for each entry of the region */
    bool later;     /* the driver may not have taken them yet */
} promise_t;

static sl_index_t promises = {.record_bytes = sizeof(promise_t)};
static sl_latch_t latch;

void sl_promise_keep(uint64_t key, CUcontext context, const sl_overhead_call_t *call) {
    if (!call->given_bytes || !key)
        return;
    sl_latch_lock(&latch);
    promise_t *promise = sl_index_put(&promises, key);
    for (unsigned i = 0; promise && i < call->count; i++)
        promise->gpus |= 1u << call->parts[i].before.gpu;
    if (promise) {
        promise->context = context;
        promise->later = call->later;
        promise->bytes += call->given_bytes;
    }
    sl_latch_unlock(&latch);
}

static void release(const promise_t *promise) {
    for (unsigned gpu = 0; gpu < SL_OVERHEAD_GPUS; gpu++)
        if (promise->gpus >> gpu & 1)
            sl_overhead_release(gpu, promise->bytes, promise->later);
}

void sl_promise_end(uint64_t key, uint64_t bytes, sl_overhead_call_t *call) {
    promise_t ended = {0};
    sl_latch_lock(&latch);
    promise_t *promise = sl_index_find(&promises, key);
    if (promise) {
        ended = *promise;
        ended.bytes = bytes < ended.bytes ? bytes : ended.bytes;
        promise->bytes -= ended.bytes;
        if (!promise->bytes)
            sl_index_remove(&promises, promise);
    }
    sl_latch_unlock(&latch);
    for (unsigned i = 0; ended.bytes && i < call->count; i++) {
        uint32_t gpu = 1u << call->parts[i].before.gpu;
        if (ended.gpus & gpu)
            *(ended.later ? &call->parts[i].released : &call->parts[i].ended) = ended.bytes;
        ended.gpus &= ~gpu;
    }
    if (ended.bytes)
        release(&ended);
}

static bool take_one(CUcontext context, promise_t *taken) {
    bool found = false;
    sl_latch_lock(&latch);
    for (uint64_t place = 0; promises.count && !found && place < promises.capacity; place++) {
        promise_t *promise = sl_index_at(&promises, place);
        if (!promise || promise->context != context)
            continue;
        *taken = *promise;
        sl_index_remove(&promises, promise);
        found = true;
    }
    sl_latch_unlock(&latch);
    return found;
}

void sl_promise_end_context(CUcontext context) {
    for (promise_t ended; context && take_one(context, &ended);)
        release(&ended);
}

void sl_promise_forget(void) {
    latch.state = 0;
    promises = (sl_index_t){.record_bytes = sizeof(promise_t)};
}
