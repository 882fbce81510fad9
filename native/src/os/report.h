/* report: messages for people: one line on stderr and an entry in the region's error log. */
#ifndef SL_REPORT_H
#define SL_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "region_layout.h"

typedef enum { SL_ERROR, SL_WARN, SL_INFO, SL_DEBUG } sl_report_level_t;

/* Why something cannot be done: what, which value, what to do. */
typedef struct {
    char text[256];
} sl_reason_t;

/* Writes the reason and gives false, so that a function can end with it. */
bool sl_report_fail(sl_reason_t *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something is wrong: an entry in the error log, and a line on stderr; errors and warnings appear there once for each
 * format (for each text where the format is only "%s..."), the rest each time. SL_DEBUG is for stderr alone. */
void sl_report(sl_report_level_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line on stderr and no entry in the error log: information that is no error. */
void sl_report_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

extern atomic_int sl_report_level;

static inline bool sl_report_shows(sl_report_level_t level) {
    return __builtin_expect((int)level <= atomic_load_explicit(&sl_report_level, memory_order_relaxed), 0);
}

/* Costs one load while the level is not wanted. */
#define SL_TELL(level, ...)            \
    do {                               \
        if (sl_report_shows(level))    \
            sl_report_tell(__VA_ARGS__); \
    } while (0)

/* NULL: there is no region, only stderr. */
void sl_report_log_to(sl_region_error_t *errors);

#endif
