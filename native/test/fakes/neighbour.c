/* A library that asks dlsym for itself. WHO tells two builds of it apart. */
#define _GNU_SOURCE
#include <dlfcn.h>

__attribute__((visibility("default"))) const char *neighbour_marker(void) {
    return WHO;
}
__attribute__((visibility("default"))) void *NEXT(const char *name) {
    void *volatile found = dlsym(RTLD_NEXT, name);
    return found;
}
__attribute__((visibility("default"))) void *DEFAULT(const char *name) {
    void *volatile found = dlsym(RTLD_DEFAULT, name);
    return found;
}
/* Not CUDA's, although the name begins like it. */
__attribute__((visibility("default"))) int curl_easy_init(void) {
    return 42;
}
