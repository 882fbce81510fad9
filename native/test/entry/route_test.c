/* By every way of looking up, programs find the function that they would find without Sluice, hooked or not.
 * Usage: route_test no-driver|driver|installed  (the last two with a driver in the library path) */
#include "check.h"

#include <dlfcn.h>
#include <errno.h>

/* Linked libraries, in this order. */
const char *neighbour_marker(void);
void *first_next(const char *name);
void *first_default(const char *name);
void *second_next(const char *name);

static const char *library_of(void *function) {
    Dl_info info;
    const char *slash = function && dladdr(function, &info) ? strrchr(info.dli_fname, '/') : NULL;
    return slash ? slash + 1 : "nowhere";
}

static bool is_wrapper(void *function, const char *name) {
    Dl_info info;
    return function && dladdr(function, &info) && strstr(info.dli_fname, "libsluice.so") && info.dli_sname &&
           strcmp(info.dli_sname, name) == 0;
}

static bool is_drivers(void *function) {
    return strcmp(library_of(function), "libcuda.so.1") == 0;
}

static void should_not_pretend_that_a_driver_is_there(void) {
    void *self = dlopen(NULL, RTLD_NOW);
    CHECK(!dlsym(RTLD_DEFAULT, "cuInit") && strstr(dlerror(), "undefined symbol: cuInit"));
    CHECK(!dlsym(RTLD_NEXT, "cuMemAlloc_v2") && dlerror());
    CHECK(!dlsym(self, "cuLaunchKernel") && dlerror());
    CHECK(!dlsym(RTLD_DEFAULT, "nvmlDeviceGetMemoryInfo") && !dlsym(self, "nvmlDeviceGetMemoryInfo_v2") && dlerror());
    CHECK(!dlvsym(self, "cuInit", "X") && !first_next("cuInit") && !first_default("cuInit"));
    if (dlopen("libcuda.so.1", RTLD_NOW)) {
        printf("  that a missing driver stays missing was skipped: this machine has one\n");
        exit(SKIPPED);
    }
    CHECK(dlerror());
}

static void should_let_rtld_next_see_its_caller(void) {
    for (int twice = 0; twice < 2; twice++) {
        const char *(*marker)(void) = (const char *(*)(void))first_next("neighbour_marker");
        CHECK(strcmp(neighbour_marker(), "first") == 0);
        CHECK(marker && strcmp(marker(), "second") == 0, "RTLD_NEXT of the first library found itself");
        CHECK(!second_next("neighbour_marker"));
        CHECK(dlsym(RTLD_NEXT, "malloc") && dlsym(RTLD_NEXT, "malloc") == second_next("malloc"));
        CHECK(dlvsym(RTLD_NEXT, "realpath", "GLIBC_2.3") && !dlvsym(RTLD_NEXT, "realpath", "GLIBC_9.9"));
        dlerror();
    }
}

static void should_leave_other_names_alone(void) {
    int (*curl)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "curl_easy_init");
    CHECK(curl && curl() == 42);
    CHECK(!dlsym(RTLD_DEFAULT, "cublasCreate_v2") && !dlsym(RTLD_DEFAULT, "cu") && !dlsym(RTLD_DEFAULT, ""));
    dlerror();
    errno = 77;
    CHECK(dlsym(RTLD_DEFAULT, "printf") && !dlerror() && errno == 77);
}

static void should_hand_out_wrappers_for_known_functions_only(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK(driver, "%s", dlerror());
    CHECK(!dlsym(RTLD_DEFAULT, "cuInit") && dlerror(), "a driver that was loaded privately is seen by all");
    CHECK(is_wrapper(dlsym(driver, "cuMemAlloc_v2"), "cuMemAlloc_v2") && !dlerror());
    CHECK(is_wrapper(dlsym(driver, "cuMemFreeAsync_ptsz"), "cuMemFreeAsync_ptsz"));
    CHECK(is_wrapper(dlsym(driver, "cuStreamGetCaptureInfo_v3"), "cuStreamGetCaptureInfo_v3"));
    CHECK(is_drivers(dlsym(driver, "cuBrandNewThing")));
    CHECK(!dlsym(driver, "cuMemAllocManaged") && strstr(dlerror(), "cuMemAllocManaged"), "the driver lacks it");
    CHECK(!dlsym(driver, "cuNoSuchThing") && dlerror());
    void *versioned = dlvsym(driver, "cuMemAlloc_v2", "libcuda.so.1");
    CHECK(!versioned || is_wrapper(versioned, "cuMemAlloc_v2"));
}

static void should_find_a_driver_that_all_see(void) {
    void *private = dlopen("libprivate.so", RTLD_NOW | RTLD_LOCAL);
    CHECK(private, "%s", dlerror());
    void *(*private_default)(const char *) = (void *(*)(const char *))dlsym(private, "private_default");
    CHECK(is_wrapper(private_default("cuMemAlloc_v2"), "cuMemAlloc_v2"), "%s", "linked with the driver, loaded privately");
    dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    CHECK(is_wrapper(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"), "cuMemAlloc_v2") && !dlerror());
    CHECK(is_wrapper(dlsym(RTLD_NEXT, "cuMemAlloc_v2"), "cuMemAlloc_v2"));
    CHECK(is_wrapper(first_next("cuMemAlloc_v2"), "cuMemAlloc_v2"), "RTLD_NEXT of a third library is a way past Sluice");
    CHECK(is_wrapper(dlsym(RTLD_DEFAULT, "cuStreamGetCaptureInfo_v3"), "cuStreamGetCaptureInfo_v3"));
    CHECK(is_drivers(dlsym(RTLD_NEXT, "cuBrandNewThing")));
    CHECK(is_wrapper(dlsym(dlopen(NULL, RTLD_NOW), "cuInit"), "cuInit"));
    void *(*own_lookup)(const char *) = (void *(*)(const char *))dlsym(RTLD_DEFAULT, "fake_own_lookup");
    CHECK(is_drivers(own_lookup("cuMemAlloc_v2")), "the driver itself got a wrapper");
}

static void should_route_nvml_as_it_routes_cuda(void) {
    CHECK(!dlsym(RTLD_DEFAULT, "nvmlDeviceGetMemoryInfo") && dlerror());
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK(nvml, "%s", dlerror());
    int (*memory_info)(void *, unsigned long long *) =
        (int (*)(void *, unsigned long long *))dlsym(nvml, "nvmlDeviceGetMemoryInfo");
    unsigned long long memory[3] = {0};
    CHECK(is_wrapper((void *)memory_info, "nvmlDeviceGetMemoryInfo") && memory_info(NULL, memory) == 0 && memory[0] == 4711);
    CHECK(strcmp(library_of(dlsym(nvml, "nvmlInit_v2")), "libnvidia-ml.so.1") == 0);
    CHECK(strcmp(library_of(dlsym(nvml, "nvmlBrandNewThing")), "libnvidia-ml.so.1") == 0);
    CHECK(!dlsym(nvml, "nvmlDeviceGetMemoryInfo_v2") && strstr(dlerror(), "nvmlDeviceGetMemoryInfo_v2"), "NVML lacks it");
    CHECK(!dlsym(nvml, "nvmlx") && !dlsym(nvml, "nvml") && dlerror());
    void *(*lookup)(const char *, const char *) = (void *(*)(const char *, const char *))dlsym(nvml, "fake_nvml_lookup");
    CHECK(strcmp(library_of(lookup("libnvidia-ml.so.1", "nvmlDeviceGetMemoryInfo")), "libnvidia-ml.so.1") == 0);
    CHECK(is_drivers(lookup("libcuda.so.1", "cuMemAlloc_v2")), "NVML got a wrapper");
    dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_GLOBAL);
    CHECK(is_wrapper(dlsym(RTLD_DEFAULT, "nvmlDeviceGetMemoryInfo"), "nvmlDeviceGetMemoryInfo") && !dlerror());
}

typedef int (*address4_t)(const char *, void **, int, uint64_t);
typedef int (*address5_t)(const char *, void **, int, uint64_t, int *);

static void should_answer_like_the_driver(void *address4, void *address5) {
    address4_t four = (address4_t)address4;
    address5_t five = (address5_t)address5;
    void *untouched = (void *)0x77, *function = untouched;
    int found = 9;
    CHECK(four("cuMemAlloc", &function, 12000, 0) == 0 && is_wrapper(function, "cuMemAlloc_v2"));
    CHECK(five("cuMemFreeAsync", &function, 12000, 2, &found) == 0 && is_wrapper(function, "cuMemFreeAsync_ptsz") && found == 0);
    CHECK(five("cuMemAlloc", &function, 12000, 0, NULL) == 0 && is_wrapper(function, "cuMemAlloc_v2"));
    CHECK(five("cuLaunchKernel", &function, 12000, 0, &found) == 0 && is_wrapper(function, "cuLaunchKernel"));
    CHECK(five("cuStreamGetCaptureInfo", &function, 12030, 0, &found) == 0 && is_wrapper(function, "cuStreamGetCaptureInfo_v3"));
    CHECK(five("cuBrandNewThing", &function, 13000, 0, &found) == 0 && is_drivers(function));
    CHECK(five("cuGetProcAddress", &function, 12000, 0, &found) == 0 && is_wrapper(function, "cuGetProcAddress_v2"));
    function = untouched;
    CHECK(five("cuMemAlloc", &function, 2000, 0, &found) == 500 && function == untouched && found == 1);
    CHECK(four("", &function, 0, 0) == 500 && function == untouched);
}

static void should_answer_cuGetProcAddress(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *four = dlsym(driver, "cuGetProcAddress"), *five = dlsym(driver, "cuGetProcAddress_v2");
    CHECK(is_wrapper(four, "cuGetProcAddress") && is_wrapper(five, "cuGetProcAddress_v2"));
    should_answer_like_the_driver(four, five);
}

/* Sluice lies in the place of libcuda.so.1; the driver is found through SLUICE_DRIVER. */
static void should_stand_for_the_driver(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver, "%s", dlerror());
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*bias)(void *, float) = (int (*)(void *, float))dlsym(driver, "cuTexRefSetMipmapLevelBias");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))
        dlsym(driver, "cuLaunchKernel");
    CHECK(init && bias && launch);
    CHECK(bias(NULL, 2.5f) == 0, "the first call goes through an empty slot");
    CHECK(launch(NULL, 1, 2, 3, 4, 5, 6, 1000, (void *)7, NULL, NULL) == 1007 && init(23) == 23);
    int (*capture_info)(void *, int *, uint64_t *, void **, void **, void **, size_t *) =
        (int (*)(void *, int *, uint64_t *, void **, void **, void **, size_t *))dlsym(driver, "cuStreamGetCaptureInfo_v3");
    CHECK(capture_info && capture_info(NULL, &(int){40}, NULL, NULL, NULL, NULL, &(size_t){2}) == 42, "an argument on the stack");
    int (*managed)(uint64_t *, size_t, unsigned) = (int (*)(uint64_t *, size_t, unsigned))dlsym(driver, "cuMemAllocManaged");
    CHECK(managed && managed(NULL, 1, 1) == 500, "the driver lacks it");
    int (*exit_thread)(void) = (int (*)(void))dlsym(driver, "cuCtxSynchronize");
    CHECK(exit_thread && exit_thread() == 500);
    float *seen = dlsym(dlopen(getenv("SLUICE_DRIVER"), RTLD_NOW), "fake_bias");
    CHECK(seen && *seen == 2.5f, "a float was lost on the way");
    void *function;
    address5_t five = (address5_t)dlsym(driver, "cuGetProcAddress_v2");
    CHECK(five("cuMemAlloc", &function, 12000, 0, NULL) == 0 && function == dlsym(driver, "cuMemAlloc_v2"));
    CHECK(five("cuBrandNewThing", &function, 12000, 0, NULL) == 0 && ((int (*)(void))function)() == 4711);
}

int main(int argc, char **argv) {
    CHECK(argc == 2, "usage: route_test no-driver|driver|installed");
    if (strcmp(argv[1], "installed") == 0) {
        RUN(should_stand_for_the_driver);
        return 0;
    }
    RUN(should_let_rtld_next_see_its_caller);
    RUN(should_leave_other_names_alone);
    if (strcmp(argv[1], "no-driver") == 0) {
        RUN(should_not_pretend_that_a_driver_is_there);
        return 0;
    }
    RUN(should_hand_out_wrappers_for_known_functions_only);
    RUN(should_answer_cuGetProcAddress);
    RUN(should_find_a_driver_that_all_see);
    RUN(should_route_nvml_as_it_routes_cuda);
    return 0;
}
