/* index: a hash table from 64-bit keys to small records. */
#define _GNU_SOURCE
#include "os/index.h"

#include <errno.h>
#include <sys/mman.h>

#define FIRST_CAPACITY 64

SL_HOT void *sl_index_find(const sl_index_t *index, uint64_t key) {
    return sl_index_find_sized(index, index->record_bytes, key);
}

SL_HOT void *sl_index_put(sl_index_t *index, uint64_t key) {
    return sl_index_put_sized(index, index->record_bytes, key);
}

SL_HOT void sl_index_remove(sl_index_t *index, void *record) {
    sl_index_remove_sized(index, index->record_bytes, record);
}

void *sl_index_at(const sl_index_t *index, uint64_t place) {
    uint64_t *record = (uint64_t *)(index->table + place * index->record_bytes);
    return *record ? record : NULL;
}

bool sl_index_grow(sl_index_t *index) {
    int saved = errno;
    uint32_t bytes = index->record_bytes;
    sl_index_t larger = *index;
    larger.capacity = index->capacity ? index->capacity * 2 : FIRST_CAPACITY;
    larger.table = mmap(NULL, larger.capacity * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (larger.table == MAP_FAILED)
        return false;
    for (uint64_t place = 0; place < index->capacity; place++) {
        const uint64_t *record = sl_index_at(index, place);
        if (record)
            memcpy(sl_index_probe_sized(&larger, bytes, *record), record, bytes);
    }
    if (index->table)
        munmap(index->table, index->capacity * bytes);
    *index = larger;
    return true;
}
