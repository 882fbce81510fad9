/* contexts: see contexts.h. A primary context is retained many times and stands here once. */
#include "pause/contexts.h"

#include <stdint.h>

#include "driver/entry.h"
#include "os/fork.h"
#include "os/index.h"
#include "os/mutex.h"
#include "real.h"

enum { DEINITIALIZED = 4, INVALID_CONTEXT = 201, CONTEXT_IS_DESTROYED = 709 };

typedef struct {
    uint64_t context;
} entry_t;

static sl_mutex_t lock;
static sl_index_t contexts = {.record_bytes = sizeof(entry_t)};

void sl_contexts_add(CUcontext context) {
    sl_mutex_lock(&lock);
    entry_t *entry = sl_index_put(&contexts, (uintptr_t)context);
    if (entry)
        entry->context = (uintptr_t)context;
    sl_mutex_unlock(&lock);
}

void sl_contexts_remove(CUcontext context) {
    sl_mutex_lock(&lock);
    entry_t *entry = sl_index_find(&contexts, (uintptr_t)context);
    if (entry)
        sl_index_remove(&contexts, entry);
    sl_mutex_unlock(&lock);
}

/* It ended without a call that the library saw, and its work with it. */
static bool is_gone(CUresult status) {
    return status == DEINITIALIZED || status == INVALID_CONTEXT || status == CONTEXT_IS_DESTROYED;
}

/* The lock is held around calls of the driver: the process is held, so no thread of the program wants it. */
CUresult sl_contexts_drain(void) {
    CUresult first = CUDA_SUCCESS;
    sl_mutex_lock(&lock);
    for (uint64_t place = 0; place < contexts.capacity; place++) {
        entry_t *entry = sl_index_at(&contexts, place);
        CUcontext context = entry ? (CUcontext)(uintptr_t)entry->context : NULL;
        if (!context)
            continue;
        CUresult status = real.cuCtxPushCurrent_v2(context);
        if (status == CUDA_SUCCESS) {
            status = real.cuCtxSynchronize();
            real.cuCtxPopCurrent_v2(&context);
        } else if (is_gone(status)) {
            continue;
        }
        first = first ? first : status;
    }
    sl_mutex_unlock(&lock);
    return first;
}

static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    contexts = (sl_index_t){.record_bytes = sizeof(entry_t)};
}
SL_FORK_FORGETS(forget);
