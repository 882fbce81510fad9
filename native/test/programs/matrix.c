/* matrix: which function the driver gives for each (name, version, flags). Usage: matrix FILE
 * FILE has lines "name version flags" ("-" for the empty name). Each gives a line
 *   name version flags status4 symbol4 status5 symbol5 found
 * with what the 4- and the 5-argument cuGetProcAddress answered; the output with and without Sluice must be equal. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *symbol_of(void *function) {
    Dl_info info;
    if (!function)
        return "NULL";
    return dladdr(function, &info) && info.dli_sname ? info.dli_sname : "unnamed";
}

int main(int argc, char **argv) {
    FILE *lines = argc == 2 ? fopen(argv[1], "r") : NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lines || !driver) {
        fprintf(stderr, "usage: matrix FILE, with a libcuda.so.1 in the library path\n");
        return 2;
    }
    int (*four)(const char *, void **, int, uint64_t) =
        (int (*)(const char *, void **, int, uint64_t))dlsym(driver, "cuGetProcAddress");
    int (*five)(const char *, void **, int, uint64_t, int *) =
        (int (*)(const char *, void **, int, uint64_t, int *))dlsym(driver, "cuGetProcAddress_v2");
    char name[128];
    int version;
    unsigned long long flags;
    while (fscanf(lines, "%127s %d %llu%*[^\n]", name, &version, &flags) == 3) {
        const char *asked = strcmp(name, "-") == 0 ? "" : name;
        void *function4 = NULL, *function5 = NULL;
        int found = -1;
        int status4 = four ? four(asked, &function4, version, flags) : -1;
        int status5 = five ? five(asked, &function5, version, flags, &found) : -1;
        printf("%s %d %llu %d %s %d %s %d\n", name, version, flags, status4, symbol_of(function4), status5,
               symbol_of(function5), found);
    }
    return 0;
}
