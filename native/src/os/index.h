/* index: a hash table from 64-bit keys to small records. The caller holds a lock of its own. */
#ifndef SL_INDEX_H
#define SL_INDEX_H

#include <stdint.h>

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

#endif
