/* A program that is built with ThreadSanitizer starts under the library and calls the driver from several threads.
 * Usage: sanitized_test, with LD_PRELOAD */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>

static int (*init)(unsigned);

static void *call(void *ignored) {
    CHECK(init(0) == 0);
    return ignored;
}

static void should_route_calls_of_several_threads(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver, "%s", dlerror());
    init = (int (*)(unsigned))dlsym(driver, "cuInit");
    CHECK(init);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
    use_test_folder();
    setenv("SLUICE_MEMORY", "1g", 1);
    RUN(should_route_calls_of_several_threads);
    return 0;
}
