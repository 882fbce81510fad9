/* report: what went wrong, for people: one line on stderr and an entry in the region's error log. */
#ifndef SL_REPORT_H
#define SL_REPORT_H

#include <stdbool.h>

#include "region_layout.h"

typedef enum { SL_ERROR, SL_WARN, SL_INFO, SL_DEBUG } sl_report_level_t;

/* Why something cannot be done: what, which value, what to do. */
typedef struct {
    char text[256];
} sl_reason_t;

/* Writes the reason and gives false, so that a function can end with it. */
bool sl_report_fail(sl_reason_t *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Errors and warnings appear once for each format (for each text where the format is only "%s..."), the rest each time;
 * everything but SL_DEBUG goes to the error log. */
void sl_report(sl_report_level_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

void sl_report_threshold(sl_report_level_t level);
/* NULL: there is no region, only stderr. */
void sl_report_log_to(sl_region_error_t *errors);

#endif
