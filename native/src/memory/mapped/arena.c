/* arena: the addresses of mapped memory, and which chunk lies where. */
#include "memory/mapped/arena.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "os/fork.h"

#define ARENAS 128
#define BINS 40

typedef struct sl_arena {
    CUdevice device;
    uint64_t base, bytes;
    sl_chunk_t **map; /* for each block its chunk; of a free chunk only the first and the last block */
    sl_chunk_t *bins[BINS]; /* free chunks, by the logarithm of their size */
} arena_t;

static arena_t *arenas[ARENAS];
static _Atomic unsigned count;
_Atomic uint64_t sl_arena_lowest, sl_arena_end;

static unsigned bin_of(uint64_t bytes) {
    unsigned bin = 63u - (unsigned)__builtin_clzll(bytes / SL_ARENA_BLOCK);
    return bin < BINS ? bin : BINS - 1;
}

static sl_chunk_t **slot_of(const arena_t *arena, uint64_t address) {
    return &arena->map[(address - arena->base) / SL_ARENA_BLOCK];
}

static arena_t *arena_of(uint64_t address) {
    unsigned known = atomic_load_explicit(&count, memory_order_acquire);
    for (unsigned i = 0; i < known; i++)
        if (address - arenas[i]->base < arenas[i]->bytes)
            return arenas[i];
    return NULL;
}

bool sl_arena_has_slowly(uint64_t address) {
    return arena_of(address);
}

static void link_free(sl_chunk_t *chunk) {
    arena_t *arena = chunk->arena;
    sl_chunk_t **bin = &arena->bins[bin_of(chunk->bytes)];
    chunk->state = SL_CHUNK_FREE;
    chunk->previous = NULL;
    chunk->next = *bin;
    if (*bin)
        (*bin)->previous = chunk;
    *bin = chunk;
    *slot_of(arena, chunk->base) = *slot_of(arena, chunk->base + chunk->bytes - SL_ARENA_BLOCK) = chunk;
}

static void unlink_free(sl_chunk_t *chunk) {
    if (chunk->previous)
        chunk->previous->next = chunk->next;
    else
        chunk->arena->bins[bin_of(chunk->bytes)] = chunk->next;
    if (chunk->next)
        chunk->next->previous = chunk->previous;
}

bool sl_arena_add(CUdevice device, uint64_t base, uint64_t bytes) {
    unsigned number = count;
    uint64_t map_bytes = bytes / SL_ARENA_BLOCK * sizeof(sl_chunk_t *);
    arena_t *arena = number < ARENAS ? calloc(1, sizeof *arena) : NULL;
    sl_chunk_t *all = arena ? calloc(1, sizeof *all) : NULL;
    void *map = all ? mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
    if (map == MAP_FAILED) {
        free(all);
        free(arena);
        return false;
    }
    *arena = (arena_t){.device = device, .base = base, .bytes = bytes, .map = map};
    *all = (sl_chunk_t){.base = base, .bytes = bytes, .arena = arena};
    link_free(all);
    arenas[number] = arena;
    if (!sl_arena_lowest || base < sl_arena_lowest)
        sl_arena_lowest = base;
    if (base + bytes > sl_arena_end)
        sl_arena_end = base + bytes;
    atomic_store_explicit(&count, number + 1, memory_order_release);
    return true;
}

static sl_chunk_t *fit(const arena_t *arena, uint64_t bytes) {
    for (unsigned bin = bin_of(bytes); bin < BINS; bin++)
        for (sl_chunk_t *chunk = arena->bins[bin]; chunk; chunk = chunk->next)
            if (chunk->bytes >= bytes)
                return chunk;
    return NULL;
}

/* Returns the front part; the rest stays free. */
static sl_chunk_t *cut(sl_chunk_t *chunk, uint64_t bytes) {
    sl_chunk_t *rest = chunk->bytes > bytes ? calloc(1, sizeof *rest) : NULL;
    if (chunk->bytes > bytes && !rest)
        return NULL;
    unlink_free(chunk);
    if (rest) {
        *rest = (sl_chunk_t){.base = chunk->base + bytes, .bytes = chunk->bytes - bytes, .arena = chunk->arena};
        chunk->bytes = bytes;
        link_free(rest);
    }
    return chunk;
}

sl_chunk_t *sl_arena_take(CUdevice device, uint64_t bytes) {
    for (unsigned i = 0; i < count; i++) {
        sl_chunk_t *chunk = arenas[i]->device == device ? fit(arenas[i], bytes) : NULL;
        if (!chunk)
            continue;
        if (!(chunk = cut(chunk, bytes)))
            return NULL;
        for (uint64_t offset = 0; offset < bytes; offset += SL_ARENA_BLOCK)
            *slot_of(arenas[i], chunk->base + offset) = chunk;
        *chunk = (sl_chunk_t){.base = chunk->base, .bytes = bytes, .arena = arenas[i], .state = SL_CHUNK_BUSY};
        return chunk;
    }
    return NULL;
}

static sl_chunk_t *free_at(const arena_t *arena, uint64_t address) {
    sl_chunk_t *chunk = address - arena->base < arena->bytes ? *slot_of(arena, address) : NULL;
    return chunk && chunk->state == SL_CHUNK_FREE ? chunk : NULL;
}

void sl_arena_give(sl_chunk_t *chunk) {
    arena_t *arena = chunk->arena;
    for (uint64_t offset = 0; offset < chunk->bytes; offset += SL_ARENA_BLOCK)
        *slot_of(arena, chunk->base + offset) = NULL;
    sl_chunk_t *before = free_at(arena, chunk->base - SL_ARENA_BLOCK), *after = free_at(arena, chunk->base + chunk->bytes);
    sl_chunk_t whole = {.base = chunk->base, .bytes = chunk->bytes, .arena = arena};
    if (before) {
        unlink_free(before);
        *slot_of(arena, before->base) = *slot_of(arena, chunk->base - SL_ARENA_BLOCK) = NULL;
        whole.base = before->base;
        whole.bytes += before->bytes;
        free(before);
    }
    if (after) {
        unlink_free(after);
        *slot_of(arena, after->base) = *slot_of(arena, after->base + after->bytes - SL_ARENA_BLOCK) = NULL;
        whole.bytes += after->bytes;
        free(after);
    }
    *chunk = whole;
    link_free(chunk);
}

sl_chunk_t *sl_arena_find(uint64_t address) {
    const arena_t *arena = arena_of(address);
    sl_chunk_t *chunk = arena ? *slot_of(arena, address) : NULL;
    return chunk && chunk->state != SL_CHUNK_FREE ? chunk : NULL;
}

/* Another thread of the parent may have been changing a map, so unmapping it is not safe. */
static void forget(void) {
    count = 0;
    sl_arena_lowest = sl_arena_end = 0;
}
SL_FORK_FORGETS(forget);
