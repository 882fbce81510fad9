/* format: the record in which a region or a board describes itself.
 *
 * The format record is the same in both files, so board.c passes its own as a region's. */
#include "tenant/format.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 32

sl_region_format_t sl_format_of_new_file(const sl_format_t *format) {
    sl_region_format_t made = format->own;
    snprintf(made.version, sizeof made.version, "%s", SL_VERSION);
    return made;
}

/* The file has the names of its features, so that messages can name features of later versions. */
static void name_feature(const sl_region_format_t *found, int bit, char name[NAME_BYTES]) {
    char names[sizeof found->feature_names];
    memcpy(names, found->feature_names, sizeof names);
    names[sizeof names - 1] = 0;
    char *rest = names, *word = strsep(&rest, " ");
    for (int at = 0; at < bit && word; at++)
        word = strsep(&rest, " ");
    snprintf(name, NAME_BYTES, "%.*s", NAME_BYTES - 1, word ? word : "");
}

bool sl_format_check(const sl_format_t *format, const sl_region_format_t *found, const char *path, sl_reason_t *reason) {
    const sl_region_format_t *own = &format->own;
    char version[sizeof found->version];
    memcpy(version, found->version, sizeof version);
    version[sizeof version - 1] = 0;
    uint64_t unknown = found->features_required & ~own->features_offered;
    if (unknown) {
        char name[NAME_BYTES];
        int bit = __builtin_ctzll(unknown);
        name_feature(found, bit, name);
        return sl_report_fail(reason, "%s %.80s needs the feature '%s' (bit %d), which this library of Sluice %s does not know; use that of Sluice %s",
                              format->word, path, name, bit, SL_VERSION, version);
    }
    uint32_t places = found->places < own->places ? found->places : own->places;
    if (places < format->first_places)
        return sl_report_fail(reason, "%s %.120s is damaged: it has no table of places", format->word, path);
    for (uint32_t i = 0; i < places; i++)
        if (found->place_offset[i] != own->place_offset[i] || found->place_bytes[i] != own->place_bytes[i] || found->place_count[i] != own->place_count[i])
            return sl_report_fail(reason, "%s %.80s of Sluice %s has its %s records at other places than this library of Sluice %s; use the library "
                                  "that belongs to it", format->word, path, version, format->records[i], SL_VERSION);
    return true;
}
