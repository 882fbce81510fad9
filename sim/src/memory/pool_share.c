/* Pools of one process used by another: the pool travels as a file descriptor, each of its pieces as 64 bytes. The exporter
 * pays for all of it, and its memory goes with the exporter. */
#define _GNU_SOURCE
#include "memory/pool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x6c6f6f702d6d6973ull
enum { HANDLE_FILE_DESCRIPTOR = 1, EXPORT_BYTES = 64 };

typedef struct { uint64_t magic, offset, bytes; } piece_ticket_t;
typedef struct { uint64_t magic; int gpu; } label_t;

/* A label lies where no piece can be: behind the end of the pool. */
static off_t label_at(int file) {
    struct stat stat;
    return fstat(file, &stat) == 0 ? (off_t)(stat.st_size / (off_t)SIM_POOL_CHUNK * (off_t)SIM_POOL_CHUNK) : 0;
}

bool sim_pool_has_imports(void) {
    CUmemoryPool pool = sim_pool_first();
    while (pool && !pool->imported) pool = pool->next;
    return pool;
}

CUresult sim_cuMemPoolExportToShareableHandle(void *result, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags) {
    SIM_REQUIRE(result && pool && flags == 0 && type == HANDLE_FILE_DESCRIPTOR && pool->range->file && !pool->imported, CUDA_ERROR_INVALID_VALUE);
    label_t label = {MAGIC, sim_device_gpu(pool->device)};
    int file = fcntl(pool->range->file, F_DUPFD_CLOEXEC, 0);
    SIM_REQUIRE(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    if (pwrite(file, &label, sizeof label, label_at(file)) != sizeof label) return close(file), CUDA_ERROR_OPERATING_SYSTEM;
    *(int *)result = file;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolImportFromShareableHandle(CUmemoryPool *result, void *given, CUmemAllocationHandleType type, unsigned long long flags) {
    label_t label = {0};
    int original = (int)(intptr_t)given;
    SIM_REQUIRE(result && flags == 0 && type == HANDLE_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(pread(original, &label, sizeof label, label_at(original)) == sizeof label && label.magic == MAGIC, CUDA_ERROR_INVALID_VALUE);
    int device = sim_device_of_gpu(label.gpu), file = fcntl(original, F_DUPFD_CLOEXEC, 3);
    if (file >= 0 && device < 0) return close(file), CUDA_ERROR_INVALID_DEVICE;
    SIM_REQUIRE(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    CUresult made = sim_pool_make_shared(device, file, result);
    if (made) return close(file), made;
    (*result)->imported = true;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolExportPointer(CUmemPoolPtrExportData *result, CUdeviceptr address) {
    sim_allocation_t found;
    SIM_REQUIRE(result && sim_memory_find(address, &found) && found.range->kind == SIM_POOL, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(found.range->file && found.base == address && !((CUmemoryPool)found.range->detail)->imported, CUDA_ERROR_INVALID_VALUE);
    memset(result, 0, EXPORT_BYTES);
    memcpy(result, &(piece_ticket_t){MAGIC, address - found.range->base, found.bytes}, sizeof(piece_ticket_t));
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool, CUmemPoolPtrExportData *data) {
    piece_ticket_t ticket;
    SIM_REQUIRE(address && pool && pool->imported && data, CUDA_ERROR_INVALID_VALUE);
    memcpy(&ticket, data, sizeof ticket);
    SIM_REQUIRE(ticket.magic == MAGIC && ticket.offset < pool->range->bytes, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(sim_pool_place_at(pool, pool->range->base + ticket.offset, ticket.bytes));
    *address = pool->range->base + ticket.offset;
    return CUDA_SUCCESS;
}
