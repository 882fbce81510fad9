/* Generated from spec/region.abi: the layout of the region. docs/region.md explains every field. */
#ifndef SL_REGION_LAYOUT_H
#define SL_REGION_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SL_REGION_LAYOUT 3
#define SL_REGION_MAGIC 0x594e4954ull
#define SL_REGION_BYTES 16384
#define SL_REGION_PAGE_BYTES 4096

#define SL_REGION_HEADER_OFFSET 0
#define SL_REGION_HEADER_COUNT 1
#define SL_REGION_FORMAT_OFFSET 2048
#define SL_REGION_FORMAT_COUNT 1
#define SL_REGION_SLOT_OFFSET 4096
#define SL_REGION_SLOT_COUNT 8
#define SL_REGION_LATER_OFFSET 8192
#define SL_REGION_LATER_COUNT 2

typedef struct {
    uint64_t magic;
    _Atomic uint32_t layout;
    int32_t zone_minutes;
    _Atomic uint64_t limit_bytes[4];
    char tenant[32];
    uint8_t unused_bytes[48];
} sl_region_header_t;
_Static_assert(offsetof(sl_region_header_t, magic) == 0, "offset of header.magic");
_Static_assert(offsetof(sl_region_header_t, layout) == 8, "offset of header.layout");
_Static_assert(offsetof(sl_region_header_t, zone_minutes) == 12, "offset of header.zone_minutes");
_Static_assert(offsetof(sl_region_header_t, limit_bytes) == 16, "offset of header.limit_bytes");
_Static_assert(offsetof(sl_region_header_t, tenant) == 48, "offset of header.tenant");
_Static_assert(sizeof(sl_region_header_t) == 128, "size of header");
/* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
static inline void sl_region_clear_header(sl_region_header_t *record) {
    record->magic = 0;
    record->layout = 0;
    record->zone_minutes = 0;
    for (int i = 0; i < 4; i++)
        record->limit_bytes[i] = 0;
    memset(record->tenant, 0, sizeof record->tenant);
    memset(record->unused_bytes, 0, sizeof record->unused_bytes);
}

typedef struct {
    uint32_t revision;
    uint32_t places;
    uint64_t features_offered;
    uint64_t features_required;
    char version[40];
    char feature_names[64];
    uint64_t place_offset[64];
    uint32_t place_bytes[64];
    uint32_t place_count[64];
    uint8_t unused_bytes[896];
} sl_region_format_t;
_Static_assert(offsetof(sl_region_format_t, revision) == 0, "offset of format.revision");
_Static_assert(offsetof(sl_region_format_t, places) == 4, "offset of format.places");
_Static_assert(offsetof(sl_region_format_t, features_offered) == 8, "offset of format.features_offered");
_Static_assert(offsetof(sl_region_format_t, features_required) == 16, "offset of format.features_required");
_Static_assert(offsetof(sl_region_format_t, version) == 24, "offset of format.version");
_Static_assert(offsetof(sl_region_format_t, feature_names) == 64, "offset of format.feature_names");
_Static_assert(offsetof(sl_region_format_t, place_offset) == 128, "offset of format.place_offset");
_Static_assert(offsetof(sl_region_format_t, place_bytes) == 640, "offset of format.place_bytes");
_Static_assert(offsetof(sl_region_format_t, place_count) == 896, "offset of format.place_count");
_Static_assert(sizeof(sl_region_format_t) == 2048, "size of format");
/* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
static inline void sl_region_clear_format(sl_region_format_t *record) {
    record->revision = 0;
    record->places = 0;
    record->features_offered = 0;
    record->features_required = 0;
    memset(record->version, 0, sizeof record->version);
    memset(record->feature_names, 0, sizeof record->feature_names);
    for (int i = 0; i < 64; i++)
        record->place_offset[i] = 0;
    for (int i = 0; i < 64; i++)
        record->place_bytes[i] = 0;
    for (int i = 0; i < 64; i++)
        record->place_count[i] = 0;
    memset(record->unused_bytes, 0, sizeof record->unused_bytes);
}

typedef struct {
    _Atomic uint64_t owner;
    uint8_t uuid[16];
    _Atomic uint64_t charged_bytes;
    _Atomic uint64_t answer;
    uint8_t unused_bytes[24];
} sl_region_slot_t;
_Static_assert(offsetof(sl_region_slot_t, owner) == 0, "offset of slot.owner");
_Static_assert(offsetof(sl_region_slot_t, uuid) == 8, "offset of slot.uuid");
_Static_assert(offsetof(sl_region_slot_t, charged_bytes) == 24, "offset of slot.charged_bytes");
_Static_assert(offsetof(sl_region_slot_t, answer) == 32, "offset of slot.answer");
_Static_assert(sizeof(sl_region_slot_t) == 64, "size of slot");
/* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
static inline void sl_region_clear_slot(sl_region_slot_t *record) {
    record->owner = 0;
    memset(record->uuid, 0, sizeof record->uuid);
    record->charged_bytes = 0;
    record->answer = 0;
    memset(record->unused_bytes, 0, sizeof record->unused_bytes);
}

typedef struct {
    char name[8];
    uint8_t unused_bytes[56];
} sl_region_later_t;
_Static_assert(offsetof(sl_region_later_t, name) == 0, "offset of later.name");
_Static_assert(sizeof(sl_region_later_t) == 64, "size of later");
/* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
static inline void sl_region_clear_later(sl_region_later_t *record) {
    memset(record->name, 0, sizeof record->name);
    memset(record->unused_bytes, 0, sizeof record->unused_bytes);
}

/* Bits of the features that are known here. */
#define SL_REGION_FEATURES 0x3ull

/* The format record of a new file, but for the version of its creator. */
#define SL_REGION_FORMAT \
    { \
        .revision = 2, .places = 4, \
        .features_offered = 0x3ull, \
        .features_required = 0x2ull, \
        .feature_names = "places turns", \
        .place_offset = {0, 2048, 4096, 8192}, \
        .place_bytes = {128, 2048, 64, 64}, \
        .place_count = {1, 1, 8, 2}, \
    }

/* Names of the records, in the order of their places. */
#define SL_REGION_PLACE_NAMES {"header", "format", "slot", "later"}

/* Places that every revision of the layout has. */
#define SL_REGION_FIRST_PLACES 3

#endif
