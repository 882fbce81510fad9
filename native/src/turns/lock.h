/* lock: when a program of culocker (cuda_override.so) takes the GPU's lock, drains its stream and lets the lock go.
 *
 * Decides only, and remembers what it decided: the caller carries it out, one thread at a time. Work on a stream that
 * captures is no operation: nothing runs, and to drain the stream would break the capture. */
#ifndef SL_LOCK_H
#define SL_LOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    SL_LOCK_COUNT,  /* a window is so many operations */
    SL_LOCK_TIME,   /* a window is so long */
    SL_LOCK_ALWAYS, /* every operation has a window of its own */
} sl_lock_mode_t;

typedef struct {
    sl_lock_mode_t mode;
    uint64_t operations;   /* of a window; 0: each begins one */
    uint64_t window_nanos;
    uint64_t skips;        /* so many syncs in a row do not let the lock go */
} sl_lock_settings_t;

typedef struct {
    sl_lock_settings_t settings;
    bool held;
    uint64_t submitted;      /* operations since the counter was set back */
    uint64_t deadline_nanos; /* of the window, in time mode */
    uint64_t skipped;        /* syncs since the lock was last let go by one */
} sl_lock_window_t;

typedef enum {
    SL_LOCK_SUBMITS, /* launches, and copies and sets that do not wait */
    SL_LOCK_WAITS,   /* copies and sets that are meant to wait */
} sl_lock_operation_t;

/* What to do, in this order. */
enum {
    SL_LOCK_DRAIN = 1,   /* synchronize the operation's stream */
    SL_LOCK_RELEASE = 2,
    SL_LOCK_ACQUIRE = 4,
};

void sl_lock_begin(sl_lock_window_t *window, const sl_lock_settings_t *settings);
/* Before an operation. Acquire comes first here; when it says to drain, sl_lock_drained says how it goes on. */
unsigned sl_lock_before(sl_lock_window_t *window, sl_lock_operation_t operation, uint64_t now_nanos);
/* After the drain that sl_lock_before asked for. Then the operation goes. */
unsigned sl_lock_drained(sl_lock_window_t *window, uint64_t now_nanos);
/* After an operation, when the driver has it. */
unsigned sl_lock_after(sl_lock_window_t *window, sl_lock_operation_t operation);
/* After the program itself waited for a stream, an event or the whole context. */
unsigned sl_lock_synced(sl_lock_window_t *window);
/* The lock went to another, because nothing of this process was on the GPU. */
void sl_lock_lost(sl_lock_window_t *window);

#endif
