/* The ways in: every ABI variant is a function of its own, and cuGetProcAddress chooses as driver 580 does. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>

static int compare(const void *left, const void *right) {
    uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
    return (a > b) - (a < b);
}

static void should_have_a_distinct_function_for_every_variant(void *driver) {
    static uintptr_t addresses[2000];
    size_t count = 0;
    char line[200], name[200];
    FILE *exports = fopen(SIM_EXPORTS, "r");
    CHECK(exports);
    while (fgets(line, sizeof line, exports)) {
        if (sscanf(line, " cu%190[A-Za-z0-9_];", name + 2) != 1) continue;
        memcpy(name, "cu", 2);
        addresses[count] = (uintptr_t)dlsym(driver, name);
        CHECK(addresses[count++]);
    }
    fclose(exports);
    CHECK(count > 650);
    qsort(addresses, count, sizeof *addresses, compare);
    for (size_t i = 1; i < count; i++) CHECK(addresses[i] != addresses[i - 1]);
}

static void should_choose_as_a_real_driver(void *driver) {
    static const struct { const char *name; int version, flags, status; const char *symbol; } cases[] = {
        {"", 0, 0, 1, NULL}, {"nosuch", 12000, 0, 1, NULL}, {"cuMemAlloc_v2", 12000, 0, 1, NULL}, {"cuInit", 1000, 0, 2, NULL},
        {"cuMemAlloc", 2000, 0, 0, "cuMemAlloc"}, {"cuMemAlloc", 12000, 0, 0, "cuMemAlloc_v2"}, {"cuMemAllocAsync", 11010, 0, 2, NULL},
        {"cuStreamSynchronize", 7000, 2, 0, "cuStreamSynchronize_ptsz"}, {"cuStreamSynchronize", 6000, 2, 2, NULL},
        {"cuMemcpyHtoD", 3000, 1, 0, "cuMemcpyHtoD"}, {"cuMemcpyHtoD", 7000, 2, 0, "cuMemcpyHtoD_v2_ptds"}, {"cuMemcpyHtoD", 6000, 2, 2, NULL},
        {"cuGetProcAddress", 11030, 0, 0, "cuGetProcAddress"}, {"cuGetProcAddress", 12000, 0, 0, "cuGetProcAddress_v2"},
        {"cuDevicePrimaryCtxRelease", 7000, 0, 0, "cuDevicePrimaryCtxRelease"}, {"cuInit", 13000, 3, 0, "cuInit"},
        {"cuStreamGetCaptureInfo", 11030, 2, 0, "cuStreamGetCaptureInfo_v2_ptsz"}, {"cuStreamGetCaptureInfo", 12030, 0, 0, "cuStreamGetCaptureInfo_v3"},
        {"cuDeviceTotalMem", 3020, 0, 0, "cuDeviceTotalMem_v2"}, {"cuCtxCreate", 3020, 0, 0, "cuCtxCreate_v2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void *function = (void *)7, *again = (void *)7;
        int status = 9;
        OK(cuGetProcAddress_v2(cases[i].name, &function, cases[i].version, (cuuint64_t)cases[i].flags, &status));
        EQUAL(status, cases[i].status);
        CHECK(function == (cases[i].symbol ? dlsym(driver, cases[i].symbol) : NULL));
        EQUAL(cuGetProcAddress(cases[i].name, &again, cases[i].version, (cuuint64_t)cases[i].flags), cases[i].symbol ? 0 : 500);
        CHECK(again == (cases[i].symbol ? function : (void *)7));
    }
    void *function;
    int status;
    EQUAL(cuGetProcAddress_v2("cuMemAlloc", &function, 99000, 0, &status), 1);
    EQUAL(cuGetProcAddress_v2("cuInit", &function, 13000, 4, &status), 1);
}

static void should_want_initialisation(void) {
    CUcontext context;
    CUdeviceptr address;
    int version;
    EQUAL(cuCtxGetCurrent(&context), 3);
    EQUAL(cuMemAlloc_v2(&address, 10), 3);
    OK(cuDriverGetVersion(&version));
    EQUAL(version, 13000);
    EQUAL(cuInit(1), 1);
    OK(cuInit(0));
    OK(cuCtxGetCurrent(&context));
    CHECK(context == NULL);
}

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver);
    if (!on_real_driver("all symbols")) should_have_a_distinct_function_for_every_variant(driver);
    should_choose_as_a_real_driver(driver);
    should_want_initialisation();
    return 0;
}
