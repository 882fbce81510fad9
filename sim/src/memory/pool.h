/* Memory pools: one stretch of addresses each, backed by 32 MiB chunks as an H200's pools are. */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "work/work.h"

#define SIM_POOL_CHUNK (32ull << 20)
#define SIM_POOL_BUCKETS 1024u

typedef struct sim_piece sim_piece_t;

struct CUmemoryPool_opaque {
    CUmemoryPool next;
    int device;
    bool destroyed, is_default, of_graphs;
    bool imported; /* of another process, which pays; only its exported pieces can be had here */
    bool peer_access[SIM_GPUS_MAX]; /* devices that may use it besides its own */
    int reuse[3];
    uint64_t threshold_bytes, most_bytes;
    uint64_t reserved_bytes, reserved_high_bytes, used_bytes, used_high_bytes;
    unsigned live; /* pieces in use or still to be freed by a stream */
    sim_range_t *range;
    sim_piece_t *pieces;  /* by address */
    sim_piece_t *free_pieces;
    sim_piece_t *buckets[SIM_POOL_BUCKETS]; /* pieces in use or still to be freed */
    uint32_t *chunk_uses; /* for each chunk the live pieces that touch it */
    bool *chunk_is_taken;
};

CUresult sim_pool_make(int device, CUmemoryPool *pool);
/* The same on the pages of a file. */
CUresult sim_pool_make_shared(int device, int file, CUmemoryPool *pool);
size_t sim_pool_bytes(int device);
CUresult sim_pool_of_graphs(int device, CUmemoryPool *pool);
CUmemoryPool sim_pool_first(void);

/* Addresses without memory, memory for them, and both back. */
CUresult sim_pool_place(CUmemoryPool pool, size_t bytes, CUstream stream, CUdeviceptr *address);
/* Addresses at a given place, if they are free. */
CUresult sim_pool_place_at(CUmemoryPool pool, CUdeviceptr address, size_t asked);
bool sim_pool_fill(CUmemoryPool pool, CUdeviceptr address);
CUresult sim_pool_give(CUmemoryPool pool, CUdeviceptr address);

/* From now on free for this stream, for others when the engine has come here. */
CUresult sim_pool_give_in_order(CUmemoryPool pool, CUdeviceptr address, CUstream stream, uint64_t *generation);
void sim_pool_trim(CUmemoryPool pool, uint64_t keep_bytes);
void sim_pool_release_if_dead(CUmemoryPool pool);

#endif
