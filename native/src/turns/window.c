/* window: the windows of culocker, with the edge cases that its users have measured.
 *
 * The operation that ends a window of N runs in the next window and is not counted there. So the first window has N operations and all
 * others N + 1. In time mode the first operation drains at once, and the window counts from the last drain that was forced. A skipped
 * sync resets nothing. */
#include "turns/window.h"

void sl_window_begin(sl_window_t *window, const sl_options_windows_t *settings) {
    *window = (sl_window_t){.settings = *settings};
}

static void release(sl_window_t *window) {
    window->owns_lock = false;
    window->submitted = 0;
}

static unsigned take(sl_window_t *window) {
    unsigned action = window->owns_lock ? 0 : SL_WINDOW_ACQUIRE;
    window->owns_lock = true;
    return action;
}

/* One of a row of syncs: the last lets the lock go. */
static unsigned sync(sl_window_t *window) {
    if (window->skipped < window->settings.skips) {
        window->skipped++;
        return 0;
    }
    unsigned action = window->owns_lock ? SL_WINDOW_RELEASE : 0;
    window->skipped = 0;
    release(window);
    return action;
}

static bool is_over(sl_window_t *window, uint64_t now_nanos) {
    switch (window->settings.mode) {
    case SL_WINDOWS_COUNT:
        return ++window->submitted > window->settings.operations;
    case SL_WINDOWS_TIME:
        return now_nanos > window->deadline_nanos;
    case SL_WINDOWS_ALWAYS:
        break;
    }
    return false;
}

unsigned sl_window_before(sl_window_t *window, sl_window_operation_t operation, uint64_t now_nanos) {
    unsigned action = take(window);
    return operation == SL_WINDOW_SUBMITS && is_over(window, now_nanos) ? action | SL_WINDOW_DRAIN : action;
}

unsigned sl_window_drained(sl_window_t *window, uint64_t now_nanos) {
    unsigned action = sync(window);
    window->deadline_nanos = now_nanos + window->settings.window_nanos;
    return action | take(window);
}

/* Some copies and sets that are meant to wait return early, so the stream is drained before others get the GPU. */
unsigned sl_window_after(sl_window_t *window, sl_window_operation_t operation) {
    if (operation == SL_WINDOW_WAITS) {
        unsigned action = sync(window);
        return action ? action | SL_WINDOW_DRAIN : 0;
    }
    if (window->settings.mode != SL_WINDOWS_ALWAYS || !window->owns_lock)
        return 0;
    release(window);
    return SL_WINDOW_DRAIN | SL_WINDOW_RELEASE;
}

unsigned sl_window_synced(sl_window_t *window) {
    return sync(window);
}

void sl_window_lost(sl_window_t *window) {
    release(window);
}
