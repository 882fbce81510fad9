/* index: a hash table from 64-bit keys to small records. The caller holds a lock of its own.
 *
 * Open addressing with linear probing, doubling, no tombstones. A caller that needs speed calls the functions with "sized" and passes
 * the size of its records as a constant. Then the compiler specializes them. */
#ifndef SL_INDEX_H
#define SL_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "os/compiler.h"

typedef struct {
    uint32_t record_bytes; /* of a record; it begins with its key, an uint64_t that is not 0 */
    uint64_t capacity;     /* a power of two; never more than half full */
    uint64_t count;
    char *table;
} sl_index_t;

/* The record of a key, or NULL. The pointer is valid until the next put or remove. */
void *sl_index_find(const sl_index_t *index, uint64_t key);
/* The record of the key; a new one is zero except for its key. NULL: no memory. */
void *sl_index_put(sl_index_t *index, uint64_t key);
void sl_index_remove(sl_index_t *index, void *record);
/* The record at a place from 0 to capacity - 1; NULL: none. A remove may move records to places that were visited before. */
void *sl_index_at(const sl_index_t *index, uint64_t place);
/* Doubles the table. False: no memory. */
bool sl_index_grow(sl_index_t *index);

static inline uint64_t sl_index_home(const sl_index_t *index, uint64_t key) {
    return ((key ^ key >> 32) * 0x9e3779b97f4a7c15ull >> 20) & (index->capacity - 1);
}

/* The place of the key, or the free place where it belongs. */
static inline uint64_t *sl_index_probe_sized(const sl_index_t *index, uint32_t bytes, uint64_t key) {
    for (uint64_t place = sl_index_home(index, key);; place = (place + 1) & (index->capacity - 1)) {
        uint64_t *record = (uint64_t *)(index->table + place * bytes);
        if (!*record || *record == key)
            return record;
    }
}

static inline void *sl_index_find_sized(const sl_index_t *index, uint32_t bytes, uint64_t key) {
    uint64_t *record = index->count && key ? sl_index_probe_sized(index, bytes, key) : NULL;
    return record && *record ? record : NULL;
}

static inline void *sl_index_put_sized(sl_index_t *index, uint32_t bytes, uint64_t key) {
    if (!key || (SL_UNLIKELY((index->count + 1) * 2 > index->capacity) && !sl_index_grow(index)))
        return NULL;
    uint64_t *record = sl_index_probe_sized(index, bytes, key);
    if (!*record) {
        *record = key;
        index->count++;
    }
    return record;
}

/* Records behind the gap move up when the gap lies on their way from home, so a probe never stops early. */
static inline void sl_index_remove_sized(sl_index_t *index, uint32_t bytes, void *record) {
    uint64_t mask = index->capacity - 1, gap = (uint64_t)((char *)record - index->table) / bytes;
    for (uint64_t place = (gap + 1) & mask, key; (key = *(uint64_t *)(index->table + place * bytes)); place = (place + 1) & mask) {
        uint64_t from_home = (place - sl_index_home(index, key)) & mask;
        if (from_home >= ((place - gap) & mask)) {
            memcpy(index->table + gap * bytes, index->table + place * bytes, bytes);
            gap = place;
        }
    }
    memset(index->table + gap * bytes, 0, bytes);
    index->count--;
}

#endif
