/* Device addresses. One reservation of address space, backed by pages of this process only where something is written, cut
 * into blocks of 2 MiB; a map from block to range finds the allocation of any pointer. A second map has one entry for each chunk of 1 GiB
 * that lies inside one range. So a range of terabytes costs little. Free ranges find their neighbours through the map and are merged. A
 * second, small reservation lies below 4 GiB for the API's first generation. Ranges at addresses that the program chose, or larger than the
 * reservation, are islands: mappings of their own, kept in a list. */
#define _GNU_SOURCE
#include "entry/sim.h"

#include <sys/mman.h>
#include <unistd.h>

#define HIGH_BYTES (16ull << 40)
#define LOW_BYTES (1ull << 30)
#define LEAST_BYTES (256ull << 20)
#define CHUNK (1ull << 30)
#define BINS 48

typedef struct {
    CUdeviceptr base;
    size_t bytes;
    sim_range_t **map;    /* for each block its range; for a free range only the first and the last */
    sim_range_t **chunks; /* for each chunk the range in use that it lies in; its blocks are not in the map then */
    sim_range_t *bins[BINS];
} space_t;

static space_t spaces[2];
static sim_range_t *islands;

static unsigned bin_of(size_t blocks) { return 63u - (unsigned)__builtin_clzll(blocks); }

static sim_range_t **slot_of(space_t *space, CUdeviceptr address) { return &space->map[(address - space->base) / SIM_BLOCK]; }

static sim_range_t *range_at(space_t *space, CUdeviceptr address) {
    sim_range_t *range = space->chunks[(address - space->base) / CHUNK];
    return range ? range : *slot_of(space, address);
}

/* Blocks outside whole chunks, and always the first and the last block, where neighbours look. */
static void mark(space_t *space, const sim_range_t *range, sim_range_t *value) {
    CUdeviceptr end = range->base + range->bytes;
    for (CUdeviceptr at = range->base, step; at < end; at += step) {
        bool is_chunk = (at - space->base) % CHUNK == 0 && end - at >= CHUNK;
        step = is_chunk ? CHUNK : SIM_BLOCK;
        if (is_chunk) space->chunks[(at - space->base) / CHUNK] = value;
        else *slot_of(space, at) = value;
    }
    *slot_of(space, range->base) = *slot_of(space, end - SIM_BLOCK) = value;
}

static void link_free(space_t *space, sim_range_t *range) {
    sim_range_t **bin = &space->bins[bin_of(range->bytes / SIM_BLOCK)];
    range->kind = SIM_FREE;
    range->previous = NULL;
    range->next = *bin;
    if (*bin) (*bin)->previous = range;
    *bin = range;
    *slot_of(space, range->base) = *slot_of(space, range->base + range->bytes - SIM_BLOCK) = range;
}

static void unlink_free(space_t *space, sim_range_t *range) {
    if (range->previous) range->previous->next = range->next;
    else space->bins[bin_of(range->bytes / SIM_BLOCK)] = range->next;
    if (range->next) range->next->previous = range->previous;
}

static void keep_to_this_process(void *start, size_t bytes) {
    madvise(start, bytes, MADV_DONTFORK);
    madvise(start, bytes, MADV_DONTDUMP);
    madvise(start, bytes, MADV_NOHUGEPAGE);
}

static void *make_map(size_t entries) {
    void *map = mmap(NULL, entries * sizeof(sim_range_t *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static bool reserve(space_t *space, bool low) {
    if (space->map) return true;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (low ? MAP_32BIT : 0);
    for (size_t bytes = low ? LOW_BYTES : HIGH_BYTES; bytes >= LEAST_BYTES; bytes /= 2) {
        char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (start == MAP_FAILED) continue;
        keep_to_this_process(start, bytes);
        space->base = SIM_ROUND((CUdeviceptr)start, SIM_BLOCK);
        space->bytes = (bytes - SIM_BLOCK) / SIM_BLOCK * SIM_BLOCK;
        void *map = make_map(space->bytes / SIM_BLOCK), *chunks = make_map(space->bytes / CHUNK + 1);
        sim_range_t *all = calloc(1, sizeof *all);
        if (!map || !chunks || !all) return munmap(start, bytes), free(all), false;
        space->map = map;
        space->chunks = chunks;
        all->base = space->base;
        all->bytes = space->bytes;
        link_free(space, all);
        return true;
    }
    return false;
}

static sim_range_t *fit(space_t *space, size_t bytes) {
    for (unsigned bin = bin_of(bytes / SIM_BLOCK); bin < BINS; bin++)
        for (sim_range_t *range = space->bins[bin]; range; range = range->next)
            if (range->bytes >= bytes) return range;
    return NULL;
}

/* Cuts a free range in two; the front part is returned unlinked, the rest stays free. */
static bool cut(space_t *space, sim_range_t *range, size_t bytes) {
    if (range->bytes == bytes) return true;
    sim_range_t *rest = calloc(1, sizeof *rest);
    if (!rest) return false;
    rest->base = range->base + bytes;
    rest->bytes = range->bytes - bytes;
    range->bytes = bytes;
    link_free(space, rest);
    return true;
}

static void *map_pages(CUdeviceptr start, size_t bytes, int file) {
    int flags = file ? MAP_SHARED | MAP_FIXED | MAP_NORESERVE : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    void *mapped = mmap((void *)start, bytes, PROT_READ | PROT_WRITE, flags, file ? file : -1, 0);
    if (mapped == MAP_FAILED) return NULL;
    keep_to_this_process(mapped, bytes);
    return mapped;
}

bool sim_space_show(sim_range_t *range, int file) {
    if (!map_pages(range->base, range->bytes, file)) return false;
    range->file = file;
    return true;
}

static void clear(sim_range_t *range) {
    if (!range->file) {
        madvise((void *)range->base, range->bytes, MADV_DONTNEED);
        return;
    }
    map_pages(range->base, range->bytes, 0);
    close(range->file);
}

/* Takes the part of a free range that begins at start; what is left on both sides stays free. */
static sim_range_t *carve(space_t *space, sim_range_t *range, CUdeviceptr start, size_t bytes) {
    unlink_free(space, range);
    size_t lead = start - range->base;
    if (lead) {
        sim_range_t *front = range;
        if (!cut(space, front, lead)) return link_free(space, front), NULL;
        range = *slot_of(space, start);
        unlink_free(space, range);
        link_free(space, front);
    }
    if (!cut(space, range, bytes)) return link_free(space, range), NULL;
    mark(space, range, range);
    range->next = range->previous = NULL;
    range->kind = SIM_PLAIN;
    range->low = space == &spaces[1];
    range->id = sim_space_next_id();
    return range;
}

sim_range_t *sim_space_take(size_t bytes, size_t alignment, bool low) {
    space_t *space = &spaces[low];
    bytes = SIM_ROUND(bytes, SIM_BLOCK);
    if (bytes == 0 || bytes > HIGH_BYTES || !reserve(space, low)) return NULL;
    if (alignment < SIM_BLOCK) alignment = SIM_BLOCK;
    sim_range_t *range = fit(space, bytes + alignment - SIM_BLOCK);
    return range ? carve(space, range, SIM_ROUND(range->base, alignment), bytes) : NULL;
}

static sim_range_t *add_island(CUdeviceptr base, size_t bytes) {
    sim_range_t *range = calloc(1, sizeof *range);
    if (!range) return munmap((void *)base, bytes), NULL;
    keep_to_this_process((void *)base, bytes);
    range->base = base;
    range->bytes = bytes;
    range->island = true;
    range->id = sim_space_next_id();
    range->next = islands;
    return islands = range;
}

sim_range_t *sim_space_take_island(size_t bytes, size_t alignment) {
    size_t room;
    if (alignment < SIM_BLOCK) alignment = SIM_BLOCK;
    if (__builtin_add_overflow(bytes, alignment, &room)) return NULL;
    char *start = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    char *base = (char *)SIM_ROUND((CUdeviceptr)start, alignment), *end = base + bytes;
    if (base > start) munmap(start, (size_t)(base - start));
    if (start + room > end) munmap(end, (size_t)(start + room - end));
    return add_island((CUdeviceptr)base, bytes);
}

static sim_range_t *free_range_around(space_t *space, CUdeviceptr start, size_t bytes) {
    for (unsigned bin = bin_of(bytes / SIM_BLOCK); bin < BINS; bin++)
        for (sim_range_t *range = space->bins[bin]; range; range = range->next)
            if (range->base <= start && start + bytes <= range->base + range->bytes) return range;
    return NULL;
}

/* A kernel before 4.17 takes the address for a hint. */
sim_range_t *sim_space_take_at(CUdeviceptr start, size_t bytes) {
    for (space_t *space = spaces; space < spaces + 2; space++) {
        if (!space->map || start < space->base || start >= space->base + space->bytes) continue;
        sim_range_t *range = free_range_around(space, start, bytes);
        return range ? carve(space, range, start, bytes) : NULL;
    }
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *mapped = mmap((void *)start, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapped == MAP_FAILED) return NULL;
    if (mapped != (void *)start) return munmap(mapped, bytes), NULL;
    return add_island(start, bytes);
}

static void give_island(sim_range_t *range) {
    sim_range_t **each = &islands;
    while (*each != range) each = &(*each)->next;
    *each = range->next;
    munmap((void *)range->base, range->bytes);
    free(range);
}

void sim_space_give(sim_range_t *range) {
    if (range->island) return give_island(range);
    space_t *space = &spaces[range->low];
    clear(range);
    mark(space, range, NULL);
    sim_range_t *before = range->base > space->base ? range_at(space, range->base - SIM_BLOCK) : NULL;
    CUdeviceptr end = range->base + range->bytes;
    sim_range_t *after = end < space->base + space->bytes ? range_at(space, end) : NULL;
    sim_range_t clean = {.base = range->base, .bytes = range->bytes};
    if (before && before->kind == SIM_FREE) {
        unlink_free(space, before);
        *slot_of(space, range->base - SIM_BLOCK) = NULL;
        clean.base = before->base;
        clean.bytes += before->bytes;
        free(before);
    }
    if (after && after->kind == SIM_FREE) {
        unlink_free(space, after);
        *slot_of(space, end) = NULL;
        clean.bytes += after->bytes;
        free(after);
    }
    *range = clean;
    link_free(space, range);
}

sim_range_t *sim_space_find(CUdeviceptr address) {
    for (space_t *space = spaces; space < spaces + 2; space++) {
        if (!space->map || address < space->base || address >= space->base + space->bytes) continue;
        sim_range_t *range = range_at(space, address);
        return range && range->kind != SIM_FREE ? range : NULL;
    }
    sim_range_t *range = islands;
    while (range && address - range->base >= range->bytes) range = range->next;
    return range;
}

uint64_t sim_space_next_id(void) {
    static uint64_t last;
    return ++last;
}
