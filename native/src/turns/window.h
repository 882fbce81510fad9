/* window: when a program under culocker's switches (cuda_override.so) takes the GPU's lock, drains its stream and releases the lock.
 *
 * This file only decides, and remembers its decisions. The caller carries them out, one thread at a time (compute/locker.c). Work on a
 * capturing stream is no operation: the GPU runs nothing, and draining the stream would break the capture. */
#ifndef SL_WINDOW_H
#define SL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "tenant/switches/options.h"

typedef struct {
    sl_options_windows_t settings;
    bool owns_lock;
    uint64_t submitted;      /* operations since the counter was reset */
    uint64_t deadline_nanos; /* of the window, if windows are spans of time */
    uint64_t skipped;        /* syncs since one last released the lock */
} sl_window_t;

typedef enum {
    SL_WINDOW_SUBMITS, /* launches, and asynchronous copies and sets */
    SL_WINDOW_WAITS,   /* synchronous copies and sets */
} sl_window_operation_t;

/* What to do, in this order. */
enum {
    SL_WINDOW_DRAIN = 1,   /* synchronize the operation's stream */
    SL_WINDOW_RELEASE = 2,
    SL_WINDOW_ACQUIRE = 4,
};

void sl_window_begin(sl_window_t *window, const sl_options_windows_t *settings);
/* Before an operation. Acquire comes first. If it says to drain, the caller drains and asks sl_window_drained what is next. */
unsigned sl_window_before(sl_window_t *window, sl_window_operation_t operation, uint64_t now_nanos);
/* After the drain that sl_window_before asked for. Then the operation goes. */
unsigned sl_window_drained(sl_window_t *window, uint64_t now_nanos);
/* After the driver has accepted the operation. */
unsigned sl_window_after(sl_window_t *window, sl_window_operation_t operation);
/* After the program itself waited for a stream, an event or the whole context. */
unsigned sl_window_synced(sl_window_t *window);
/* Another process took the lock, because this one had no work on the GPU. */
void sl_window_lost(sl_window_t *window);

#endif
