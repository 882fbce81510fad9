/* telling: see telling.h. */
#include "pause/telling.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "os/os.h"
#include "os/report.h"
#include "tenant/tenant.h"

sl_region_pause_t *sl_telling_record(void) {
    if (atomic_load_explicit(&sl_tenant.state, memory_order_acquire) != SL_TENANT_ATTACHED)
        return NULL;
    return &sl_tenant.region.pauses[sl_tenant.slot];
}

void sl_telling_step(uint32_t step, uint64_t total_bytes) {
    sl_region_pause_t *record = sl_telling_record();
    if (!record)
        return;
    atomic_store(&record->total_bytes, total_bytes);
    atomic_store(&record->moved_bytes, 0);
    atomic_store(&record->step_nanos, sl_os_wall_nanos());
    atomic_store(&record->step, step);
}

void sl_telling_moved(uint64_t bytes) {
    sl_region_pause_t *record = sl_telling_record();
    if (record)
        atomic_fetch_add(&record->moved_bytes, bytes);
}

/* A text that is too long ends with its last whole word and "…". */
static void cut(char *text, size_t size) {
    static const char more[] = " …";
    if (strlen(text) < size)
        return;
    char *end = text + size - sizeof more;
    while (end > text && *end != ' ')
        end--;
    strcpy(end, more);
}

void sl_telling_reason(const char *format, ...) {
    sl_region_pause_t *record = sl_telling_record();
    if (!record)
        return;
    char text[sizeof ((sl_reason_t *)NULL)->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cut(text, sizeof record->reason);
    snprintf(record->reason, sizeof record->reason, "%.*s", (int)sizeof record->reason - 1, text);
}
