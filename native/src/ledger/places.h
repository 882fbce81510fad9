/* places: neighbourhoods of addresses, each with one lock for the allocations there and the blocks that they share: an allocation
 * and its block change together. */
#ifndef SL_PLACES_H
#define SL_PLACES_H

#include <stdint.h>

#include "os/mutex.h"

#define SL_PLACES 16
#define SL_PLACE_BYTES (2u << 20) /* addresses this near share a place */

typedef struct {
    sl_mutex_t lock;
} __attribute__((aligned(64))) sl_place_t;

SL_OWN extern sl_place_t sl_places[SL_PLACES];

static inline unsigned sl_place_of(uint64_t address) {
    return (unsigned)(address / SL_PLACE_BYTES * 0x9e3779b97f4a7c15ull >> 60);
}

/* A thread that holds it calls nothing but the tables. */
static inline void sl_place_lock(uint64_t address) {
    sl_mutex_lock_briefly(&sl_places[sl_place_of(address)].lock);
}

static inline void sl_place_unlock(uint64_t address) {
    sl_mutex_unlock(&sl_places[sl_place_of(address)].lock);
}

#endif
