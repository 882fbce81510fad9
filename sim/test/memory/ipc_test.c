/* Memory and events of one process used by another. */
#include "peer_process.h"

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr address);
CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event);
CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle);

enum { INTERPROCESS = 4 | 2 };

static unsigned word(CUdeviceptr address) {
    unsigned value;
    OK(cuMemcpyDtoH_v2(&value, address, 4));
    return value;
}

static void should_show_the_exporters_memory(void) {
    CUipcMemHandle small, large;
    CUdeviceptr first, again, second;
    size_t bytes, before;
    hear(&small, sizeof small);
    hear(&large, sizeof large);
    before = free_bytes();
    OK(cuIpcOpenMemHandle_v2(&first, small, 1));
    OK(cuIpcOpenMemHandle_v2(&again, small, 1));
    EQUAL(again, first);
    EQUAL(cuIpcOpenMemHandle_v2(&again, small, 0), 1);
    OK(cuIpcOpenMemHandle_v2(&second, large, 1));
    EQUAL(word(first), 11);
    EQUAL(word(second + 64 * MIB), 22);
    OK(cuMemsetD32_v2(second, 33, 4));
    OK(cuMemGetAddressRange_v2(&again, &bytes, second + 5));
    EQUAL(bytes, 100 * MIB);
    EQUAL(again, second);
    EQUAL(free_bytes(), before);
    EQUAL(cuMemFree_v2(second), 1);
    OK(cuIpcCloseMemHandle(second));
    EQUAL(cuIpcCloseMemHandle(second), 1);
    OK(cuIpcCloseMemHandle(first));
    EQUAL(word(first), 11);
    OK(cuIpcCloseMemHandle(first));
    CUipcMemHandle nonsense = {{1}};
    EQUAL(cuIpcOpenMemHandle_v2(&first, nonsense, 1), 400);
}

static void should_wait_for_the_exporters_event(void) {
    CUipcEventHandle handle;
    CUevent event;
    CUstream stream;
    hear(&handle, sizeof handle);
    OK(cuIpcOpenEventHandle(&event, handle));
    say_turn();
    hear_turn();
    EQUAL(cuEventQuery(event), 600);
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamWaitEvent(stream, event, 0));
    EQUAL(cuStreamQuery(stream), 600);
    OK(cuStreamSynchronize(stream));
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    say_turn();
    hear_turn();
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy_v2(event));
}

static void importer(void) {
    use_gpu();
    say_turn();
    should_show_the_exporters_memory();
    say_turn();
    should_wait_for_the_exporters_event();
    say_turn();
    hear_turn();
    CUipcMemHandle gone;
    CUdeviceptr address;
    hear(&gone, sizeof gone);
    EQUAL(cuIpcOpenMemHandle_v2(&address, gone, 1), 400);
}

static void export_memory(void) {
    CUdeviceptr small, large, managed;
    CUipcMemHandle handle;
    OK(cuMemAlloc_v2(&small, 1000));
    OK(cuMemAlloc_v2(&large, 100 * MIB));
    OK(cuMemsetD32_v2(small, 11, 10));
    OK(cuMemsetD32_v2(large, 21, 10));
    size_t before = free_bytes();
    OK(cuIpcGetMemHandle(&handle, small));
    say(&handle, sizeof handle);
    EQUAL(cuIpcOpenMemHandle_v2(&managed, handle, 1), 201);
    OK(cuIpcGetMemHandle(&handle, large));
    OK(cuMemsetD32_v2(large + 64 * MIB, 22, 10));
    say(&handle, sizeof handle);
    hear_turn();
    EQUAL(word(large), 33);
    EQUAL(free_bytes(), before);
    OK(cuMemAllocManaged(&managed, MIB, 1));
    EQUAL(cuIpcGetMemHandle(&handle, managed), 1);
    OK(cuMemFree_v2(managed));
    OK(cuMemFree_v2(small));
    OK(cuMemFree_v2(large));
}

static void export_event(void) {
    CUevent event, plain;
    CUipcEventHandle handle;
    EQUAL(cuEventCreate(&event, 4), 1);
    OK(cuEventCreate(&plain, 2));
    EQUAL(cuIpcGetEventHandle(&handle, plain), 400);
    OK(cuEventCreate(&event, INTERPROCESS));
    OK(cuIpcGetEventHandle(&handle, event));
    say(&handle, sizeof handle);
    hear_turn();
    spin(NULL, 300000000);
    OK(cuEventRecord(event, NULL));
    say_turn();
    hear_turn();
    OK(cuEventQuery(event));
    say_turn();
    hear_turn();
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy_v2(event));
}

int main(void) {
    start_peer(importer);
    use_gpu();
    hear_turn();
    export_memory();
    export_event();
    CUdeviceptr address;
    CUipcMemHandle handle;
    OK(cuMemAlloc_v2(&address, 4 * MIB));
    OK(cuIpcGetMemHandle(&handle, address));
    OK(cuMemFree_v2(address));
    say_turn();
    say(&handle, sizeof handle);
    end_peer();
    return 0;
}
