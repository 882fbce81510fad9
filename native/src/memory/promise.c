/* promise: remembers how much memory modules, libraries and limits took or were promised, so that their end refunds it. */
#include "memory/promise.h"

#include "os/fork.h"
#include "os/index.h"
#include "os/mutex.h"

static sl_index_t promises = {.record_bytes = sizeof(sl_promise_t)};
static sl_mutex_t lock;

static void put(sl_promise_t more) {
    sl_mutex_lock(&lock);
    sl_promise_t *promise = sl_index_put(&promises, more.key);
    if (promise) {
        promise->context = more.context;
        promise->later = more.later;
        promise->gpus |= more.gpus;
        promise->bytes += more.bytes;
    }
    sl_mutex_unlock(&lock);
}

void sl_promise_keep(uint64_t key, CUcontext context, const sl_overhead_call_t *call) {
    if (!call->given_bytes || !key)
        return;
    sl_promise_t promise = {.key = key, .context = context, .bytes = call->given_bytes, .later = call->later};
    for (unsigned i = 0; i < call->count; i++)
        promise.gpus |= 1u << call->parts[i].before.gpu;
    put(promise);
}

static void release(const sl_promise_t *promise, uint32_t gpus) {
    for (unsigned gpu = 0; gpu < SL_OVERHEAD_GPUS; gpu++)
        if (gpus >> gpu & 1)
            sl_overhead_release(gpu, promise->bytes, promise->later);
}

sl_promise_t sl_promise_leave(uint64_t key, uint64_t bytes, sl_overhead_call_t *call) {
    sl_promise_t ended = {0};
    sl_mutex_lock(&lock);
    sl_promise_t *promise = sl_index_find(&promises, key);
    if (promise) {
        ended = *promise;
        ended.bytes = bytes < ended.bytes ? bytes : ended.bytes;
        promise->bytes -= ended.bytes;
        if (!promise->bytes)
            sl_index_remove(&promises, promise);
    }
    sl_mutex_unlock(&lock);
    ended.elsewhere = ended.gpus;
    for (unsigned i = 0; ended.bytes && i < call->count; i++) {
        uint32_t gpu = 1u << call->parts[i].before.gpu;
        if (ended.gpus & gpu)
            sl_overhead_leave(call, i, ended.bytes, ended.later);
        ended.elsewhere &= ~gpu;
    }
    return ended;
}

void sl_promise_end(const sl_promise_t *promise, bool done) {
    if (!promise->bytes)
        return;
    if (done)
        release(promise, promise->elsewhere);
    else
        put(*promise);
}

static bool take_one(CUcontext context, sl_promise_t *taken) {
    bool found = false;
    sl_mutex_lock(&lock);
    for (uint64_t place = 0; promises.count && !found && place < promises.capacity; place++) {
        sl_promise_t *promise = sl_index_at(&promises, place);
        if (!promise || promise->context != context)
            continue;
        *taken = *promise;
        sl_index_remove(&promises, promise);
        found = true;
    }
    sl_mutex_unlock(&lock);
    return found;
}

void sl_promise_end_context(CUcontext context) {
    for (sl_promise_t ended; context && take_one(context, &ended);)
        release(&ended, ended.gpus);
}

static void forget(void) {
    lock.state = 0;
    promises = (sl_index_t){.record_bytes = sizeof(sl_promise_t)};
}
SL_FORK_FORGETS(forget);
