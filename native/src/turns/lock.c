/* lock: the windows of culocker, with the edges that its users have measured.
 *
 * The operation that ends a window of N runs in the next one and is not counted there, so the first window has N
 * operations and all others N + 1. In time mode the first operation drains at once, and the window counts from the last
 * drain that was forced. A sync that is skipped sets nothing back. */
#include "turns/lock.h"

void sl_lock_begin(sl_lock_window_t *window, const sl_lock_settings_t *settings) {
    *window = (sl_lock_window_t){.settings = *settings};
}

static void let_go(sl_lock_window_t *window) {
    window->held = false;
    window->submitted = 0;
}

static unsigned take(sl_lock_window_t *window) {
    unsigned action = window->held ? 0 : SL_LOCK_ACQUIRE;
    window->held = true;
    return action;
}

/* One of a row of syncs: the last lets the lock go. */
static unsigned sync(sl_lock_window_t *window) {
    if (window->skipped < window->settings.skips) {
        window->skipped++;
        return 0;
    }
    unsigned action = window->held ? SL_LOCK_RELEASE : 0;
    window->skipped = 0;
    let_go(window);
    return action;
}

static bool is_over(sl_lock_window_t *window, uint64_t now_nanos) {
    switch (window->settings.mode) {
    case SL_LOCK_COUNT:
        return ++window->submitted > window->settings.operations;
    case SL_LOCK_TIME:
        return now_nanos > window->deadline_nanos;
    case SL_LOCK_ALWAYS:
        break;
    }
    return false;
}

unsigned sl_lock_before(sl_lock_window_t *window, sl_lock_operation_t operation, uint64_t now_nanos) {
    unsigned action = take(window);
    return operation == SL_LOCK_SUBMITS && is_over(window, now_nanos) ? action | SL_LOCK_DRAIN : action;
}

unsigned sl_lock_drained(sl_lock_window_t *window, uint64_t now_nanos) {
    unsigned action = sync(window);
    window->deadline_nanos = now_nanos + window->settings.window_nanos;
    return action | take(window);
}

/* Some copies and sets that are meant to wait return early, so the stream is drained before others get the GPU. */
unsigned sl_lock_after(sl_lock_window_t *window, sl_lock_operation_t operation) {
    if (operation == SL_LOCK_WAITS) {
        unsigned action = sync(window);
        return action ? action | SL_LOCK_DRAIN : 0;
    }
    if (window->settings.mode != SL_LOCK_ALWAYS || !window->held)
        return 0;
    let_go(window);
    return SL_LOCK_DRAIN | SL_LOCK_RELEASE;
}

unsigned sl_lock_synced(sl_lock_window_t *window) {
    return sync(window);
}

void sl_lock_lost(sl_lock_window_t *window) {
    let_go(window);
}
