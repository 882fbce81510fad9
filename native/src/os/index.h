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

/* The record of a key or NULL; it stays where it is until the next put or remove. */
void *sl_index_find(const sl_index_t *index, uint64_t key);
/* The record of the key, a new one being zero but for its key; NULL: no memory. */
void *sl_index_put(sl_index_t *index, uint64_t key);
void sl_index_remove(sl_index_t *index, void *record);
/* The record at a place from 0 to capacity - 1; NULL: none there. After a remove others may stand at places already seen. */
void *sl_index_at(const sl_index_t *index, uint64_t place);

#endif
