/* Device addresses. One reservation of address space, backed by pages of this process only where something is written, cut
 * into blocks of 2 MiB; a map from block to range finds the allocation of any pointer. Free ranges know their neighbours
 * through the map and melt together. A second, small reservation lies below 4 GiB for the API's first generation. */
#define _GNU_SOURCE
#include "entry/sim.h"

#include <sys/mman.h>
#include <unistd.h>

#define HIGH_BYTES (16ull << 40)
#define LOW_BYTES (1ull << 30)
#define LEAST_BYTES (256ull << 20)
#define BINS 48

typedef struct {
    CUdeviceptr base;
    size_t bytes;
    sim_range_t **map; /* for each block its range; for a free range only the first and the last */
    sim_range_t *bins[BINS];
} space_t;

static space_t spaces[2];

static unsigned bin_of(size_t blocks) { return 63u - (unsigned)__builtin_clzll(blocks); }

static sim_range_t **slot_of(space_t *space, CUdeviceptr address) { return &space->map[(address - space->base) / SIM_BLOCK]; }

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

static bool reserve(space_t *space, bool low) {
    if (space->map) return true;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (low ? MAP_32BIT : 0);
    for (size_t bytes = low ? LOW_BYTES : HIGH_BYTES; bytes >= LEAST_BYTES; bytes /= 2) {
        char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (start == MAP_FAILED) continue;
        madvise(start, bytes, MADV_DONTFORK);
        madvise(start, bytes, MADV_DONTDUMP);
        madvise(start, bytes, MADV_NOHUGEPAGE);
        space->base = SIM_ROUND((CUdeviceptr)start, SIM_BLOCK);
        space->bytes = (bytes - SIM_BLOCK) / SIM_BLOCK * SIM_BLOCK;
        size_t entries = space->bytes / SIM_BLOCK * sizeof *space->map;
        void *map = mmap(NULL, entries, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        sim_range_t *all = calloc(1, sizeof *all);
        if (map == MAP_FAILED || !all) return munmap(start, bytes), free(all), false;
        space->map = map;
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
    madvise(mapped, bytes, MADV_DONTFORK);
    madvise(mapped, bytes, MADV_DONTDUMP);
    madvise(mapped, bytes, MADV_NOHUGEPAGE);
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

sim_range_t *sim_space_take(size_t bytes, size_t alignment, bool low) {
    space_t *space = &spaces[low];
    bytes = SIM_ROUND(bytes, SIM_BLOCK);
    if (bytes == 0 || bytes > HIGH_BYTES || !reserve(space, low)) return NULL;
    sim_range_t *range = fit(space, bytes + (alignment > SIM_BLOCK ? alignment : 0));
    if (!range) return NULL;
    unlink_free(space, range);
    size_t lead = alignment > SIM_BLOCK ? SIM_ROUND(range->base, alignment) - range->base : 0;
    if (lead) {
        sim_range_t *front = range;
        if (!cut(space, front, lead)) return link_free(space, front), NULL;
        range = *slot_of(space, front->base + lead);
        unlink_free(space, range);
        link_free(space, front);
    }
    if (!cut(space, range, bytes)) return link_free(space, range), NULL;
    for (size_t offset = 0; offset < bytes; offset += SIM_BLOCK) *slot_of(space, range->base + offset) = range;
    range->next = range->previous = NULL;
    range->kind = SIM_PLAIN;
    range->low = low;
    range->id = sim_space_next_id();
    return range;
}

void sim_space_give(sim_range_t *range) {
    space_t *space = &spaces[range->low];
    clear(range);
    for (size_t offset = 0; offset < range->bytes; offset += SIM_BLOCK) *slot_of(space, range->base + offset) = NULL;
    sim_range_t *before = range->base > space->base ? *slot_of(space, range->base - SIM_BLOCK) : NULL;
    CUdeviceptr end = range->base + range->bytes;
    sim_range_t *after = end < space->base + space->bytes ? *slot_of(space, end) : NULL;
    sim_range_t clean = {.base = range->base, .bytes = range->bytes};
    if (before && before->kind == SIM_FREE) {
        unlink_free(space, before);
        clean.base = before->base;
        clean.bytes += before->bytes;
        free(before);
    }
    if (after && after->kind == SIM_FREE) {
        unlink_free(space, after);
        clean.bytes += after->bytes;
        free(after);
    }
    *range = clean;
    link_free(space, range);
}

sim_range_t *sim_space_find(CUdeviceptr address) {
    for (space_t *space = spaces; space < spaces + 2; space++) {
        if (!space->map || address < space->base || address >= space->base + space->bytes) continue;
        sim_range_t *range = *slot_of(space, address);
        return range && range->kind != SIM_FREE ? range : NULL;
    }
    return NULL;
}

uint64_t sim_space_next_id(void) {
    static uint64_t last;
    return ++last;
}
