/* format: the record in which a region or a board says which features it needs, and where its records lie. */
#ifndef SL_FORMAT_H
#define SL_FORMAT_H

#include <stdbool.h>

#include "region_layout.h"
#include "os/report.h"

typedef struct {
    const char *word;            /* for people */
    sl_region_format_t own;      /* as this library makes files */
    const char *const *records;  /* names, in the order of the places */
    uint32_t first_places;       /* that every revision of the layout has */
} sl_format_t;

/* The format record of a new file. */
sl_region_format_t sl_format_of_new_file(const sl_format_t *format);
/* Whether this library can use a file with this record. The library has all places compiled in, so it checks once. */
bool sl_format_check(const sl_format_t *format, const sl_region_format_t *found, const char *path, sl_reason_t *reason);

#endif
