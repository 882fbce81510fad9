/* driver: the real libraries of the driver, libcuda and libnvidia-ml. */
#ifndef SL_DRIVER_H
#define SL_DRIVER_H

#include <stdbool.h>

#include "driver/elf.h"
#include "driver/entry.h"

typedef struct {
    const char *stem;     /* the file's name up to its version */
    const char *variable; /* names a file to take instead; NULL: none does */
    const char *probe;    /* a function that every version has */
    const sl_entry_table_t *entries;
    struct sl_driver_place *places; /* the wrappers by the addresses of the real functions */
    struct link_map *_Atomic map; /* NULL: not loaded yet */
} sl_driver_library_t;

extern sl_driver_library_t sl_driver_cuda, sl_driver_nvml;

/* The C library's functions, filled in on first use. */
const sl_elf_libc_t *sl_driver_libc(void);

/* Fills the table of real functions. Without may_open only a library that the program has loaded already counts. */
bool sl_driver_load(sl_driver_library_t *library, bool may_open);

/* Called when libcuda was found: any number of times, from any thread. The room entry defines it. */
void sl_driver_found(void);

/* Whether `real` or `real_nvml` has the function, after loading the library if need be. */
#define SL_DRIVER_HAS(function) (real.function || (sl_driver_load(&sl_driver_cuda, true) && real.function))
#define SL_DRIVER_NVML_HAS(function) (real_nvml.function || (sl_driver_load(&sl_driver_nvml, true) && real_nvml.function))

/* Maps a function that the driver's library returned to our wrapper; without a wrapper, returns the function itself. */
void *sl_driver_substitute(sl_driver_library_t *library, void *function);

/* A function of libcuda that is not in spec/cuda.api; NULL: libcuda does not have it. */
void *sl_driver_lookup(const char *name);

#endif
