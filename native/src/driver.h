/* driver: the real libcuda. */
#ifndef SL_DRIVER_H
#define SL_DRIVER_H

#include <stdbool.h>

#include "elf.h"

/* The C library's functions, filled in on first use. */
const sl_elf_libc_t *sl_driver_libc(void);

/* Fills `real`. Without may_open only a driver that the program has loaded already counts. */
bool sl_driver_load(bool may_open);

/* Whether `real` has the function, after loading the driver if need be. */
#define SL_DRIVER_HAS(function) (real.function || (sl_driver_load(true) && real.function))

/* The function to hand out for one that the driver handed out: our wrapper when it is hooked. */
void *sl_driver_substitute(void *function);

/* A function of the driver that is not in spec/cuda.api; NULL when it lacks that too. */
void *sl_driver_lookup(const char *name);

#endif
