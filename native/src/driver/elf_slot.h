/* elf_slot: the place in a loaded library through which it calls a function of another library. */
#ifndef SL_ELF_SLOT_H
#define SL_ELF_SLOT_H

#include <link.h>
#include <stdbool.h>

/* NULL: the library does not call it by its table of addresses. Late: before the first call, the loader may not have filled the place. */
void **sl_elf_slot(const struct link_map *map, const char *name, bool *late);
/* Stores an address there; the loader may have made the page read-only. */
bool sl_elf_slot_store(void **slot, void *function);

#endif
