/* sparse: memory that is mapped into arrays without memory (cuMemMapArrayAsync). Each such mapping holds its handle.
 *
 * The program can unmap parts of a mapping, or map over them. A mapping is gone when all of its volume is gone. The driver works in the
 * order of the stream, but this file counts at once: a handle that nothing else holds is refunded a little early. */
#include "memory/plain/sparse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/entry.h"
#include "hooks.h"
#include "os/fork.h"
#include "os/index.h"
#include "memory/plain/handle.h"
#include "memory/plain/physical.h"
#include "real.h"
#include "os/mutex.h"

enum { MAP = 1, UNMAP = 2, SPARSE_LEVEL = 0 };

/* A box in one level and layer, or a stretch of the tail of small levels. */
typedef struct {
    uint64_t array;
    uint32_t type, level, layer;
    uint64_t from[3], extent[3];
} place_t;

typedef struct {
    uint64_t number;
    place_t place;
    uint64_t left; /* of its volume */
    uint64_t handle;
    uint32_t pin;
} mapping_t;

static sl_mutex_t lock = SL_MUTEX_INITIALIZER; /* never held around a call of the driver */
static sl_index_t mappings = {.record_bytes = sizeof(mapping_t)};
static uint64_t last_number;

static place_t place_of(const CUarrayMapInfo *info) {
    struct { uint32_t level, layer, from[3], extent[3]; } level;
    struct { uint32_t layer; uint64_t from, extent; } tail;
    memcpy(&level, info->subresource, sizeof level);
    memcpy(&tail, info->subresource, sizeof tail);
    place_t place = {.array = (uint64_t)info->resource, .type = (uint32_t)info->subresourceType,
                     .layer = tail.layer, .from = {tail.from}, .extent = {tail.extent, 1, 1}};
    if (info->subresourceType != SPARSE_LEVEL)
        return place;
    place.level = level.level;
    place.layer = level.layer;
    for (int i = 0; i < 3; i++) {
        place.from[i] = level.from[i];
        place.extent[i] = level.extent[i] ? level.extent[i] : 1;
    }
    return place;
}

static uint64_t common(const place_t *a, const place_t *b) {
    if (a->array != b->array || a->type != b->type || a->level != b->level || a->layer != b->layer)
        return 0;
    uint64_t volume = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t from = a->from[i] > b->from[i] ? a->from[i] : b->from[i];
        uint64_t a_end = a->from[i] + a->extent[i], b_end = b->from[i] + b->extent[i], end = a_end < b_end ? a_end : b_end;
        volume *= end > from ? end - from : 0;
    }
    return volume;
}

static void drop(mapping_t *mapping) {
    sl_physical_unpin(mapping->handle, mapping->pin);
    sl_index_remove(&mappings, mapping);
}

/* Takes the place away from all mappings there. A removal moves others to entries already seen, so mappings with nothing left are
 * removed afterwards. */
static void clear(const place_t *place) {
    bool any = false;
    for (uint64_t at = 0; at < mappings.capacity; at++) {
        mapping_t *mapping = sl_index_at(&mappings, at);
        uint64_t gone = mapping ? common(&mapping->place, place) : 0;
        if (gone) {
            mapping->left -= gone < mapping->left ? gone : mapping->left;
            any |= !mapping->left;
        }
    }
    while (any) {
        any = false;
        for (uint64_t at = 0; at < mappings.capacity; at++) {
            mapping_t *mapping = sl_index_at(&mappings, at);
            if (mapping && !mapping->left) {
                drop(mapping);
                any = true;
            }
        }
    }
}

static void map(const place_t *place, uint64_t handle) {
    uint32_t pin = sl_physical_pin(handle);
    mapping_t *mapping = pin ? sl_index_put(&mappings, ++last_number) : NULL;
    if (mapping)
        *mapping = (mapping_t){last_number, *place, common(place, place), handle, pin};
    else if (pin)
        sl_physical_unpin(handle, pin);
}

static void settle(const CUarrayMapInfo *list, unsigned count) {
    sl_mutex_lock(&lock);
    for (const CUarrayMapInfo *info = list; info < list + count; info++) {
        place_t place = place_of(info);
        if (info->memOperationType == MAP || info->memOperationType == UNMAP)
            clear(&place);
        if (info->memOperationType == MAP)
            map(&place, info->memHandle);
    }
    sl_mutex_unlock(&lock);
}

void sl_sparse_array_gone(uint64_t array) {
    sl_mutex_lock(&lock);
    for (bool any = mappings.count; any;) {
        any = false;
        for (uint64_t at = 0; at < mappings.capacity; at++) {
            mapping_t *mapping = sl_index_at(&mappings, at);
            if (mapping && mapping->place.array == array) {
                drop(mapping);
                any = true;
            }
        }
    }
    sl_mutex_unlock(&lock);
}

static void forget(void) {
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    mappings = (sl_index_t){.record_bytes = sizeof(mapping_t)};
}
SL_FORK_FORGETS(forget);

/* The list with the driver's numbers of handles; the caller frees *made. NULL: no memory. */
static CUarrayMapInfo *driver_list(CUarrayMapInfo *list, unsigned count, CUarrayMapInfo **made) {
    *made = NULL;
    if (!sl_handle_exchanged || !list)
        return list;
    CUarrayMapInfo *copy = *made = malloc((count + 1) * sizeof *copy);
    for (unsigned i = 0; copy && i < count; i++) {
        copy[i] = list[i];
        copy[i].memHandle = sl_handle_real(list[i].memHandle);
    }
    return copy;
}

/* While a stream captures, nothing is mapped yet. */
#define MAP_HOOK(function, is_capturing)                                                                   \
    CUresult hook_##function(CUarrayMapInfo *mapInfoList, unsigned int count, CUstream hStream) {          \
        if (!SL_DRIVER_HAS(function))                                                                      \
            return CUDA_ERROR_NOT_FOUND;                                                                   \
        CUstreamCaptureStatus capturing = 0;                                                               \
        if (real.is_capturing && real.is_capturing(hStream, &capturing) != CUDA_SUCCESS)                   \
            capturing = 0;                                                                                 \
        CUarrayMapInfo *made, *list = driver_list(mapInfoList, count, &made);                              \
        if (mapInfoList && !list)                                                                          \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                               \
        CUresult status = real.function(list, count, hStream);                                             \
        free(made);                                                                                        \
        if (status == CUDA_SUCCESS && !capturing && mapInfoList)                                           \
            settle(mapInfoList, count);                                                                    \
        return status;                                                                                     \
    }
MAP_HOOK(cuMemMapArrayAsync, cuStreamIsCapturing)
MAP_HOOK(cuMemMapArrayAsync_ptsz, cuStreamIsCapturing_ptsz)
