/* import: memory of other processes in the arenas of this one. It is charged to the process that made it, and it never moves. */
#ifndef SL_IMPORT_H
#define SL_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/mapped/arena.h"
#include "memory/mapped/mapped.h"

/* The opened allocation, and the context that opened it. */
typedef struct {
    uint64_t door;   /* names the process that made it */
    uint64_t number; /* of the chunk there */
    CUcontext context;
    uint32_t offset; /* of the allocation in the chunk */
    uint64_t bytes;
} sl_import_key_t;

/* Opens an allocation whose chunk is mapped already. False: it is not mapped. */
bool sl_import_open_again(const sl_import_key_t *key, CUdeviceptr *address, CUresult *status);
/* Opens an allocation whose chunk is not mapped yet: first maps the chunk of the descriptor. Only one thread at a time may call this. */
CUresult sl_import_open(const sl_import_key_t *key, int fd, uint64_t chunk_bytes, CUdevice device, CUdeviceptr *address);
/* The last close waits for the work of the context and unmaps the memory. */
CUresult sl_import_close(CUdeviceptr address);
bool sl_import_any(void);
/* A context is gone: unmaps the memory that it opened. */
void sl_import_end(CUcontext context);
/* With the lock of mapped memory held: the allocation that an address of an opened chunk lies in. */
bool sl_import_look(const sl_chunk_t *chunk, uint64_t address, sl_mapped_view_t *view);

#endif
