/* How a pool keeps its memory. Pieces lie side by side in one stretch of addresses; a chunk counts against the GPU from the
 * first piece in it until a trim finds it without pieces. */
#define _GNU_SOURCE
#include "work/graph.h"

#include <sys/mman.h>

#define STEP 512u

struct sim_piece {
    CUdeviceptr base;
    size_t bytes, asked;
    bool used;
    CUstream ordered_in;  /* free, but other streams must wait until the engine has come to it */
    uint64_t generation;
    sim_piece_t *before, *after;
    sim_piece_t *next_free, *previous_free;
    sim_piece_t *next_in_bucket;
};

static CUmemoryPool pools;

CUmemoryPool sim_pool_first(void) { return pools; }

static sim_piece_t **bucket_of(CUmemoryPool pool, CUdeviceptr address) { return &pool->buckets[address / STEP * 2654435761u % SIM_POOL_BUCKETS]; }

static sim_piece_t *find(CUmemoryPool pool, CUdeviceptr address) {
    sim_piece_t *piece = *bucket_of(pool, address);
    while (piece && piece->base != address) piece = piece->next_in_bucket;
    return piece;
}

static void enter_bucket(CUmemoryPool pool, sim_piece_t *piece) {
    sim_piece_t **bucket = bucket_of(pool, piece->base);
    piece->next_in_bucket = *bucket;
    *bucket = piece;
}

static void leave_bucket(CUmemoryPool pool, sim_piece_t *piece) {
    sim_piece_t **each = bucket_of(pool, piece->base);
    while (*each != piece) each = &(*each)->next_in_bucket;
    *each = piece->next_in_bucket;
}

static void link_free(CUmemoryPool pool, sim_piece_t *piece) {
    piece->previous_free = NULL;
    piece->next_free = pool->free_pieces;
    if (piece->next_free) piece->next_free->previous_free = piece;
    pool->free_pieces = piece;
}

static void unlink_free(CUmemoryPool pool, sim_piece_t *piece) {
    if (piece->previous_free) piece->previous_free->next_free = piece->next_free;
    else pool->free_pieces = piece->next_free;
    if (piece->next_free) piece->next_free->previous_free = piece->previous_free;
}

static bool is_free(const sim_piece_t *piece) { return piece && !piece->used && !piece->ordered_in; }

static void count_chunks(CUmemoryPool pool, const sim_piece_t *piece, int by) {
    size_t from = (piece->base - pool->range->base) / SIM_POOL_CHUNK;
    size_t to = (piece->base + piece->bytes - 1 - pool->range->base) / SIM_POOL_CHUNK;
    for (size_t chunk = from; chunk <= to; chunk++) pool->chunk_uses[chunk] += (uint32_t)by;
    pool->live += (unsigned)by;
}

size_t sim_pool_bytes(int device) { return SIM_ROUND(sim_device_memory(device), SIM_POOL_CHUNK) * 2; }

CUresult sim_pool_make(int device, CUmemoryPool *result) {
    CUmemoryPool pool = calloc(1, sizeof *pool);
    size_t bytes = sim_pool_bytes(device);
    sim_range_t *range = sim_space_take(bytes, SIM_POOL_CHUNK, false);
    sim_piece_t *all = calloc(1, sizeof *all);
    SIM_REQUIRE(pool && range && all, CUDA_ERROR_OUT_OF_MEMORY);
    pool->chunk_uses = calloc(bytes / SIM_POOL_CHUNK, sizeof *pool->chunk_uses);
    pool->chunk_is_taken = calloc(bytes / SIM_POOL_CHUNK, sizeof *pool->chunk_is_taken);
    SIM_REQUIRE(pool->chunk_uses && pool->chunk_is_taken, CUDA_ERROR_OUT_OF_MEMORY);
    range->kind = SIM_POOL;
    range->device = device;
    range->detail = pool;
    all->base = range->base;
    all->bytes = bytes;
    pool->device = device;
    pool->range = range;
    pool->pieces = all;
    pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
    link_free(pool, all);
    pool->next = pools;
    *result = pools = pool;
    return CUDA_SUCCESS;
}

CUresult sim_pool_make_shared(int device, int file, CUmemoryPool *result) {
    SIM_TRY(sim_pool_make(device, result));
    if (sim_space_show((*result)->range, file)) return CUDA_SUCCESS;
    (*result)->destroyed = true;
    sim_pool_release_if_dead(*result);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* A piece that this stream freed, of the same size; else the lowest that is free for all. */
static sim_piece_t *choose(CUmemoryPool pool, size_t bytes, CUstream stream) {
    sim_piece_t *best = NULL;
    for (sim_piece_t *piece = pool->free_pieces; piece; piece = piece->next_free) {
        if (piece->ordered_in && piece->ordered_in == stream && piece->bytes == bytes) return piece;
        if (!piece->ordered_in && piece->bytes >= bytes && (!best || piece->base < best->base)) best = piece;
    }
    return best;
}

static bool split(CUmemoryPool pool, sim_piece_t *piece, size_t bytes) {
    if (piece->bytes == bytes) return true;
    sim_piece_t *rest = calloc(1, sizeof *rest);
    if (!rest) return false;
    rest->base = piece->base + bytes;
    rest->bytes = piece->bytes - bytes;
    rest->before = piece;
    rest->after = piece->after;
    if (rest->after) rest->after->before = rest;
    piece->after = rest;
    piece->bytes = bytes;
    link_free(pool, rest);
    return true;
}

static void begin_use(CUmemoryPool pool, sim_piece_t *piece, size_t asked) {
    piece->used = true;
    piece->ordered_in = NULL;
    piece->asked = asked;
    piece->generation = sim_space_next_id();
    pool->used_bytes += asked;
    if (pool->used_bytes > pool->used_high_bytes) pool->used_high_bytes = pool->used_bytes;
}

CUresult sim_pool_place(CUmemoryPool pool, size_t asked, CUstream stream, CUdeviceptr *address) {
    size_t bytes = SIM_ROUND(asked, STEP);
    SIM_REQUIRE(asked <= pool->range->bytes, CUDA_ERROR_OUT_OF_MEMORY);
    sim_piece_t *piece = choose(pool, bytes, stream);
    SIM_REQUIRE(piece, CUDA_ERROR_OUT_OF_MEMORY);
    bool waiting = piece->ordered_in;
    if (!waiting) SIM_REQUIRE(split(pool, piece, bytes), CUDA_ERROR_OUT_OF_MEMORY);
    unlink_free(pool, piece);
    begin_use(pool, piece, asked);
    if (!waiting) {
        enter_bucket(pool, piece);
        if (!pool->of_graphs) count_chunks(pool, piece, 1);
    }
    *address = piece->base;
    return CUDA_SUCCESS;
}

CUresult sim_pool_place_at(CUmemoryPool pool, CUdeviceptr address, size_t asked) {
    size_t bytes = SIM_ROUND(asked, STEP);
    sim_piece_t *piece = pool->pieces;
    while (piece && address - piece->base >= piece->bytes) piece = piece->after;
    SIM_REQUIRE(piece && is_free(piece) && bytes && bytes <= piece->bytes - (address - piece->base), CUDA_ERROR_INVALID_VALUE);
    if (piece->base < address) {
        SIM_REQUIRE(split(pool, piece, address - piece->base), CUDA_ERROR_OUT_OF_MEMORY);
        piece = piece->after;
    }
    SIM_REQUIRE(split(pool, piece, bytes), CUDA_ERROR_OUT_OF_MEMORY);
    unlink_free(pool, piece);
    begin_use(pool, piece, asked);
    enter_bucket(pool, piece);
    count_chunks(pool, piece, 1);
    return CUDA_SUCCESS;
}

bool sim_pool_fill(CUmemoryPool pool, CUdeviceptr address) {
    const sim_piece_t *piece = find(pool, address);
    size_t from = (piece->base - pool->range->base) / SIM_POOL_CHUNK;
    size_t to = (piece->base + piece->bytes - 1 - pool->range->base) / SIM_POOL_CHUNK;
    uint64_t missing = 0;
    for (size_t chunk = from; chunk <= to; chunk++) missing += pool->chunk_is_taken[chunk] ? 0 : SIM_POOL_CHUNK;
    if (pool->most_bytes && pool->reserved_bytes + missing > SIM_ROUND(pool->most_bytes, SIM_POOL_CHUNK)) return false;
    if (missing && !sim_state_take(sim_device_gpu(pool->device), missing)) return false;
    for (size_t chunk = from; chunk <= to; chunk++) pool->chunk_is_taken[chunk] = true;
    pool->reserved_bytes += missing;
    if (pool->reserved_bytes > pool->reserved_high_bytes) pool->reserved_high_bytes = pool->reserved_bytes;
    return true;
}

static void melt(CUmemoryPool pool, sim_piece_t *piece, sim_piece_t *other) {
    unlink_free(pool, other);
    piece->bytes += other->bytes;
    piece->after = other->after;
    if (piece->after) piece->after->before = piece;
    free(other);
}

static void settle_piece(CUmemoryPool pool, sim_piece_t *piece) {
    leave_bucket(pool, piece);
    if (!pool->of_graphs) count_chunks(pool, piece, -1);
    if (is_free(piece->after)) melt(pool, piece, piece->after);
    if (is_free(piece->before)) {
        sim_piece_t *before = piece->before;
        link_free(pool, piece);
        melt(pool, before, piece);
    } else {
        link_free(pool, piece);
    }
}

static sim_piece_t *end_use(CUmemoryPool pool, CUdeviceptr address) {
    sim_piece_t *piece = find(pool, address);
    if (!piece || !piece->used) return NULL;
    piece->used = false;
    pool->used_bytes -= piece->asked;
    return piece;
}

CUresult sim_pool_give(CUmemoryPool pool, CUdeviceptr address) {
    sim_piece_t *piece = end_use(pool, address);
    SIM_REQUIRE(piece, CUDA_ERROR_INVALID_VALUE);
    settle_piece(pool, piece);
    return CUDA_SUCCESS;
}

CUresult sim_pool_give_in_order(CUmemoryPool pool, CUdeviceptr address, CUstream stream, uint64_t *generation) {
    sim_piece_t *piece = end_use(pool, address);
    SIM_REQUIRE(piece, CUDA_ERROR_INVALID_VALUE);
    piece->ordered_in = stream;
    *generation = piece->generation;
    link_free(pool, piece);
    return CUDA_SUCCESS;
}

void sim_pool_finish_free(CUdeviceptr address, uint64_t generation) {
    sim_range_t *range = sim_space_find(address);
    if (!range || range->kind != SIM_POOL) return;
    CUmemoryPool pool = range->detail;
    if (pool->of_graphs) return sim_graph_memory_finish(generation);
    sim_piece_t *piece = find(pool, address);
    if (!piece || piece->used || piece->generation != generation) return;
    unlink_free(pool, piece);
    piece->ordered_in = NULL;
    settle_piece(pool, piece);
    sim_pool_release_if_dead(pool);
}

bool sim_pool_find(sim_range_t *range, CUdeviceptr address, sim_allocation_t *allocation) {
    CUmemoryPool pool = range->detail;
    sim_piece_t *piece = find(pool, address);
    if (!piece)
        for (piece = pool->pieces; piece && address - piece->base >= piece->bytes;) piece = piece->after;
    if (!piece || !piece->used) return false;
    *allocation = (sim_allocation_t){piece->base, piece->asked, range};
    return address - piece->base < piece->asked;
}

void sim_pool_trim(CUmemoryPool pool, uint64_t keep_bytes) {
    for (size_t chunk = pool->range->bytes / SIM_POOL_CHUNK; chunk-- > 0 && pool->reserved_bytes >= keep_bytes + SIM_POOL_CHUNK;) {
        if (!pool->chunk_is_taken[chunk] || pool->chunk_uses[chunk]) continue;
        pool->chunk_is_taken[chunk] = false;
        pool->reserved_bytes -= SIM_POOL_CHUNK;
        int forget = pool->range->file ? MADV_REMOVE : MADV_DONTNEED;
        madvise((void *)(pool->range->base + chunk * SIM_POOL_CHUNK), SIM_POOL_CHUNK, forget);
        sim_state_give(sim_device_gpu(pool->device), SIM_POOL_CHUNK);
    }
}

/* At every synchronisation a pool gives back what it holds above its threshold; graph memory stays until it is trimmed. */
void sim_pool_settle(int device) {
    for (CUmemoryPool pool = pools; pool; pool = pool->next)
        if (pool->device == device && !pool->of_graphs && pool->reserved_bytes > pool->threshold_bytes) sim_pool_trim(pool, pool->threshold_bytes);
}

/* The last context on a GPU is gone and takes the pools' memory with it. */
void sim_pool_drop(int device) {
    for (CUmemoryPool pool = pools; pool; pool = pool->next) {
        if (pool->device != device || pool->of_graphs) continue;
        for (sim_piece_t *piece = pool->pieces; piece;)
            if (!piece->used) piece = piece->after;
            else sim_pool_give(pool, piece->base), piece = pool->pieces;
        sim_pool_trim(pool, 0);
    }
}

void sim_pool_release_if_dead(CUmemoryPool pool) {
    if (!pool->destroyed || pool->live) return;
    sim_pool_trim(pool, 0);
    for (CUmemoryPool *each = &pools; *each; each = &(*each)->next)
        if (*each == pool) {
            *each = pool->next;
            break;
        }
    for (sim_piece_t *piece = pool->pieces, *after; piece; piece = after) {
        after = piece->after;
        free(piece);
    }
    sim_space_give(pool->range);
    free(pool->chunk_uses);
    free(pool->chunk_is_taken);
    free(pool);
}
