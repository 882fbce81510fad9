/* A pool of one process, with pieces that another uses; the exporter pays. */
#include "peer_process.h"

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream);
CUresult cuMemPoolExportToShareableHandle(void *result, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *given, CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address);
CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool, CUmemPoolPtrExportData *data);

typedef struct { char bytes[64]; } piece_t;

static unsigned word(CUdeviceptr address) {
    unsigned value;
    OK(cuMemcpyDtoH_v2(&value, address, 4));
    return value;
}

static void importer(void) {
    CUmemoryPool pool;
    CUdeviceptr first, second, own;
    piece_t data[2];
    int file = take_file();
    hear(data, sizeof data);
    use_gpu();
    size_t before = free_bytes();
    OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)file, 1, 0));
    OK(cuMemPoolImportPointer(&first, pool, (void *)&data[0]));
    OK(cuMemPoolImportPointer(&second, pool, (void *)&data[1]));
    EQUAL(word(first), 1);
    EQUAL(word(second), 2);
    OK(cuMemsetD32_v2(second, 3, 4));
    EQUAL(cuMemsetD8_v2(second, 3, 5 * MIB), 1);
    EQUAL(free_bytes(), before);
    EQUAL(cuMemAllocFromPoolAsync(&own, 512, pool, NULL), 1);
    EQUAL(cuDeviceSetMemPool(0, pool), 1);
    OK(cuMemFreeAsync(first, NULL));
    OK(cuMemFree_v2(second));
    OK(cuCtxSynchronize());
    OK(cuMemPoolDestroy(pool));
    EQUAL(free_bytes(), before);
}

int main(void) {
    CUmemoryPool pool, plain;
    CUdeviceptr first, second, other;
    piece_t data[2];
    int file;
    start_peer(importer);
    use_gpu();
    OK(cuMemPoolCreate(&plain, &(CUmemPoolProps){.allocType = 1, .location = {1, 0}}));
    EQUAL(cuMemPoolExportToShareableHandle(&file, plain, 1, 0), 1);
    OK(cuMemPoolCreate(&pool, &(CUmemPoolProps){.allocType = 1, .handleTypes = 1, .location = {1, 0}}));
    OK(cuMemAllocFromPoolAsync(&first, MIB, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&second, 4 * MIB, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&other, 4 * MIB, plain, NULL));
    OK(cuMemsetD32_v2(first, 1, 4));
    OK(cuMemsetD32_v2(second, 2, 4));
    OK(cuMemPoolExportPointer((void *)&data[0], first));
    OK(cuMemPoolExportPointer((void *)&data[1], second));
    EQUAL(cuMemPoolExportPointer((void *)&data[1], other), 1);
    OK(cuMemPoolExportToShareableHandle(&file, pool, 1, 0));
    pass_file(file);
    say(data, sizeof data);
    end_peer();
    EQUAL(word(second), 3);
    OK(cuMemFree_v2(first));
    OK(cuMemFree_v2(second));
    OK(cuMemPoolDestroy(pool));
    return 0;
}
