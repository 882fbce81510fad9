/* Registered host memory, and how long copies from and to host memory take. */
#include "check.h"

#include <sys/mman.h>

CUresult cuMemHostRegister_v2(void *start, size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void *start);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);

static char *memory;
static CUdeviceptr device;

static void should_register_once(void) {
    OK(cuMemHostRegister_v2(memory, 8 * MIB, 0));
    OK(cuMemHostRegister_v2(memory + 8 * MIB, 8 * MIB, 0));
    EQUAL(cuMemHostRegister_v2(memory, 8 * MIB, 0), 712);
    EQUAL(cuMemHostRegister_v2(memory + MIB, MIB, 0), 712);
    EQUAL(cuMemHostRegister_v2(memory + 12 * MIB, 8 * MIB, 0), 712);
    EQUAL(cuMemHostUnregister(memory + MIB), 1);
    OK(cuMemHostUnregister(memory));
    EQUAL(cuMemHostUnregister(memory), 713);
    EQUAL(cuMemHostRegister_v2(memory, 32 * MIB, 0), 712);
    OK(cuMemHostUnregister(memory + 8 * MIB));
    OK(cuMemHostRegister_v2(memory, 32 * MIB, 0));
    OK(cuMemHostUnregister(memory));
}

static void should_not_register_what_the_driver_pinned(void) {
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 4 * MIB, 0));
    EQUAL(cuMemHostRegister_v2(pinned, 4 * MIB, 0), 1);
    EQUAL(cuMemHostUnregister(pinned), 1);
    OK(cuMemFreeHost(pinned));
}

static void copies(char *start, size_t bytes, int expected) {
    EQUAL(cuMemcpyHtoD_v2(device, start, bytes), expected);
    EQUAL(cuMemcpyDtoH_v2(start, device, bytes), expected);
    EQUAL(cuMemcpyHtoDAsync_v2(device, start, bytes, NULL), expected);
    EQUAL(cuMemcpyDtoHAsync_v2(start, device, bytes, NULL), expected);
    OK(cuCtxSynchronize());
}

static void should_copy_within_one_registration(void) {
    OK(cuMemHostRegister_v2(memory + 4 * MIB, 4 * MIB, 0));
    OK(cuMemHostRegister_v2(memory + 8 * MIB, 4 * MIB, 0));
    copies(memory + 4 * MIB, 4 * MIB, 0);
    copies(memory + 6 * MIB, 4 * MIB, 1);
    copies(memory + 10 * MIB, 4 * MIB, 1);
    copies(memory, 6 * MIB, 0);
    copies(memory, 16 * MIB, 0);
    OK(cuMemHostUnregister(memory + 4 * MIB));
    OK(cuMemHostUnregister(memory + 8 * MIB));
    copies(memory + 6 * MIB, 4 * MIB, 0);
}

static double time_of_copy(void) {
    double begin = seconds();
    OK(cuMemcpyDtoH_v2(memory, device, 32 * MIB));
    return seconds() - begin;
}

static void should_take_time_by_bytes_and_pinning(void) {
    CHECK(time_of_copy() > 0.31);
    OK(cuMemHostRegister_v2(memory, 32 * MIB, 0));
    double pinned = time_of_copy();
    CHECK(pinned > 0.03 && pinned < 0.3);
    OK(cuMemHostUnregister(memory));
}

int main(void) {
    setenv("SLUICE_SIM_LINK", "1g", 0);
    setenv("SLUICE_SIM_PAGEABLE", "100m", 0);
    use_gpu();
    memory = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 32 * MIB);
    OK(cuMemAlloc_v2(&device, 32 * MIB));
    should_register_once();
    should_not_register_what_the_driver_pinned();
    should_copy_within_one_registration();
    if (!on_real_driver("time of copies")) should_take_time_by_bytes_and_pinning();
    return 0;
}
