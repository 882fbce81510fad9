/* elf: finds functions in loaded libraries without asking dlsym, and says which library an address belongs to. */
#ifndef SL_ELF_H
#define SL_ELF_H

#include <link.h>
#include <stdbool.h>

typedef struct {
    void *(*dlsym)(void *handle, const char *name);
    void *(*dlvsym)(void *handle, const char *name, const char *version);
    void *(*dlopen)(const char *path, int mode);
    int (*dlclose)(void *handle);
    char *(*dlerror)(void);
} sl_elf_libc_t;

typedef struct {
    int position; /* in load order; -1 = the address is in no library */
    const char *name;
} sl_elf_object_t;

/* The C library's own functions; false where there is no glibc. */
bool sl_elf_libc(sl_elf_libc_t *libc);
void *sl_elf_lookup(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name);
sl_elf_object_t sl_elf_object(const void *address);
bool sl_elf_is_own(const void *address);
bool sl_elf_is_own_handle(const void *handle);
void *sl_elf_lookup_own(const char *name);
sl_elf_object_t sl_elf_own_object(void);
/* Whether the library is called as the stem says, libcuda.so, or libcuda.so.1 or the like. */
bool sl_elf_has_name(const char *path, const char *stem);

#endif
