/* Generated from spec/region.abi: the layout of the region. docs/region.md explains every field. */
#ifndef SL_REGION_LAYOUT_H
#define SL_REGION_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SL_REGION_LAYOUT 3
#define SL_REGION_MAGIC 0x594e4954ull
#define SL_REGION_BYTES 8192
#define SL_REGION_PAGE_BYTES 4096

#define SL_REGION_HEADER_OFFSET 0
#define SL_REGION_HEADER_COUNT 1
#define SL_REGION_SLOT_OFFSET 4096
#define SL_REGION_SLOT_COUNT 8

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

typedef struct {
    _Atomic uint64_t owner;
    uint8_t uuid[16];
    _Atomic uint64_t charged_bytes;
    uint8_t unused_bytes[32];
} sl_region_slot_t;
_Static_assert(offsetof(sl_region_slot_t, owner) == 0, "offset of slot.owner");
_Static_assert(offsetof(sl_region_slot_t, uuid) == 8, "offset of slot.uuid");
_Static_assert(offsetof(sl_region_slot_t, charged_bytes) == 24, "offset of slot.charged_bytes");
_Static_assert(sizeof(sl_region_slot_t) == 64, "size of slot");

#endif
