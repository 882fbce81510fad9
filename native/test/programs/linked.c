/* linked: a program that is linked with libcuda.so.1, as few are but some must be. Usage: linked BYTES
 * Prints "<call> <status> [value]" for each call. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemFreeAsync_ptsz(uint64_t address, void *stream);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuStreamSynchronize_ptsz(void *stream);

int main(int argc, char **argv) {
    size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 1 << 20, free_bytes = 0, total_bytes = 0, device_bytes = 0;
    uint64_t address = 0;
    void *context = NULL;
    int count = 0;
    int status = cuDeviceGetCount(&count); /* before cuInit: the driver's own error */
    printf("cuDeviceGetCount %d\n", status);
    printf("cuInit %d\n", cuInit(0));
    status = cuDeviceGetCount(&count);
    printf("cuDeviceGetCount %d %d\n", status, count);
    printf("cuDevicePrimaryCtxRetain %d\n", cuDevicePrimaryCtxRetain(&context, 0));
    printf("cuCtxSetCurrent %d\n", cuCtxSetCurrent(context));
    status = cuDeviceTotalMem_v2(&device_bytes, 0);
    printf("cuDeviceTotalMem_v2 %d %zu\n", status, device_bytes);
    status = cuMemAlloc_v2(&address, bytes);
    printf("cuMemAlloc_v2 %d\n", status);
    int info = cuMemGetInfo_v2(&free_bytes, &total_bytes);
    printf("cuMemGetInfo_v2 %d %zu %zu\n", info, free_bytes, total_bytes);
    if (status == 0)
        printf("cuMemFree_v2 %d\n", cuMemFree_v2(address));
    if (cuMemAlloc_v2(&address, 1 << 20) == 0)
        printf("cuMemFreeAsync_ptsz %d\n", cuMemFreeAsync_ptsz(address, NULL));
    printf("cuStreamSynchronize_ptsz %d\n", cuStreamSynchronize_ptsz(NULL));
    info = cuMemGetInfo_v2(&free_bytes, &total_bytes);
    printf("cuMemGetInfo_v2 %d %zu %zu\n", info, free_bytes, total_bytes);
    printf("cuDevicePrimaryCtxRelease_v2 %d\n", cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
