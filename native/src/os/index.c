/* index: a hash table from 64-bit keys to small records: open addressing with linear probing, doubling, no tombstones. */
#define _GNU_SOURCE
#include "os/index.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "os/compiler.h"

#define FIRST_CAPACITY 64
#define MIX 0x9e3779b97f4a7c15ull

static char *at(const sl_index_t *index, uint64_t place) {
    return index->table + place * index->record_bytes;
}

static uint64_t key_at(const sl_index_t *index, uint64_t place) {
    return *(const uint64_t *)at(index, place);
}

static uint64_t home(const sl_index_t *index, uint64_t key) {
    return ((key ^ key >> 32) * MIX >> 20) & (index->capacity - 1);
}

/* Where the key is, or the free place where it belongs. */
static char *probe(const sl_index_t *index, uint64_t key) {
    uint64_t place = home(index, key);
    while (key_at(index, place) && key_at(index, place) != key)
        place = (place + 1) & (index->capacity - 1);
    return at(index, place);
}

SL_HOT void *sl_index_find(const sl_index_t *index, uint64_t key) {
    char *record = index->count && key ? probe(index, key) : NULL;
    return record && *(uint64_t *)record ? record : NULL;
}

static bool make_room(sl_index_t *index) {
    if ((index->count + 1) * 2 <= index->capacity)
        return true;
    int saved = errno;
    sl_index_t larger = *index;
    larger.capacity = index->capacity ? index->capacity * 2 : FIRST_CAPACITY;
    larger.table = mmap(NULL, larger.capacity * larger.record_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (larger.table == MAP_FAILED)
        return false;
    for (uint64_t place = 0; place < index->capacity; place++)
        if (key_at(index, place))
            memcpy(probe(&larger, key_at(index, place)), at(index, place), index->record_bytes);
    if (index->table)
        munmap(index->table, index->capacity * index->record_bytes);
    *index = larger;
    return true;
}

SL_HOT void *sl_index_put(sl_index_t *index, uint64_t key) {
    if (!key || !make_room(index))
        return NULL;
    char *record = probe(index, key);
    if (!*(uint64_t *)record) {
        *(uint64_t *)record = key;
        index->count++;
    }
    return record;
}

/* Records behind the gap move up when the gap lies on their way from home, so a probe never stops early. */
SL_HOT void sl_index_remove(sl_index_t *index, void *record) {
    uint64_t mask = index->capacity - 1, gap = (uint64_t)((char *)record - index->table) / index->record_bytes;
    for (uint64_t place = (gap + 1) & mask; key_at(index, place); place = (place + 1) & mask) {
        uint64_t from_home = (place - home(index, key_at(index, place))) & mask;
        if (from_home >= ((place - gap) & mask)) {
            memcpy(at(index, gap), at(index, place), index->record_bytes);
            gap = place;
        }
    }
    memset(at(index, gap), 0, index->record_bytes);
    index->count--;
}

void *sl_index_at(const sl_index_t *index, uint64_t place) {
    return key_at(index, place) ? at(index, place) : NULL;
}
