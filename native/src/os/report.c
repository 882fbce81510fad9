/* report: messages for people: one line on stderr and an entry in the region's error log.
 *
 * stderr is written with one write and without stdio, because a guest must not wait for the host's locks. */
#include "os/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"

#define FILLING (1ull << 63)
#define SEEN_COUNT 64

#define LINE_BYTES 320
#define PREFIX "sluice: "

atomic_int sl_report_level = SL_WARN;
static sl_region_error_t *_Atomic log_entries;

void sl_report_log_to(sl_region_error_t *errors) {
    log_entries = errors;
}

bool sl_report_fail(sl_reason_t *reason, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return false;
}

static uint64_t key_of(const char *format) {
    uint64_t key = 14695981039346656037ull;
    for (; *format; format++)
        key = (key ^ (unsigned char)*format) * 1099511628211ull;
    return key ? key : 1;
}

static bool is_first(uint64_t key) {
    static _Atomic uint64_t seen[SEEN_COUNT];
    for (int i = 0; i < SEEN_COUNT; i++) {
        uint64_t expected = 0;
        if (atomic_compare_exchange_strong(&seen[i], &expected, key))
            return true;
        if (expected == key)
            return false;
    }
    return false;
}

static void log_in(sl_region_error_t *errors, uint64_t key, const char *text) {
    uint64_t now = sl_os_wall_nanos();
    for (int i = 0; i < SL_REGION_ERROR_COUNT; i++) {
        sl_region_error_t *entry = &errors[i];
        uint64_t expected = 0;
        bool mine = atomic_compare_exchange_strong(&entry->state, &expected, FILLING);
        if (mine) {
            entry->key = key;
            entry->first_nanos = now;
            entry->pid = (uint64_t)getpid();
            snprintf(entry->text, sizeof entry->text, "%.*s", (int)sizeof entry->text - 1, text);
            entry->state = 1;
        }
        if (mine || (expected == 1 && entry->key == key)) {
            entry->count++;
            entry->last_nanos = now;
            return;
        }
    }
}

/* Leaves room for the end of the line. */
static size_t write_line(char line[LINE_BYTES], const char *format, va_list arguments) {
    strcpy(line, PREFIX);
    size_t prefix = sizeof PREFIX - 1, room = LINE_BYTES - prefix - 1;
    int length = vsnprintf(line + prefix, room, format, arguments);
    size_t text = length < 0 ? 0 : (size_t)length;
    return prefix + (text < room ? text : room - 1);
}

static void print(char line[LINE_BYTES], size_t end) {
    line[end] = '\n';
    sl_os_print(STDERR_FILENO, line, end + 1);
}

void sl_report_tell(const char *format, ...) {
    int saved = errno;
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    print(line, write_line(line, format, arguments));
    va_end(arguments);
    errno = saved;
}

void sl_report(sl_report_level_t level, const char *format, ...) {
    if (level == SL_DEBUG && !sl_report_shows(level))
        return;
    int saved = errno;
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    size_t end = write_line(line, format, arguments);
    va_end(arguments);
    const char *text = line + sizeof PREFIX - 1;
    uint64_t key = key_of(strncmp(format, "%s", 2) == 0 ? text : format);
    if (log_entries && level != SL_DEBUG)
        log_in(log_entries, key, text);
    if (sl_report_shows(level) && (level > SL_WARN || is_first(key)))
        print(line, end);
    errno = saved;
}
