/* elf: finds functions in loaded libraries without asking dlsym, and says which library an address belongs to.
 *
 * Sluice exports dlsym, so it cannot find the C library's dlsym by name. It reads the address from the symbol table of
 * libc.so.6 (libdl.so.2 before glibc 2.34). It holds no lock, and doing it twice gives the same result.
 *
 * ThreadSanitizer asks dlsym for the functions that it replaces. Until it has found all of them, the program can call none of them. So
 * code on this path calls no function of the C library. */
#define _GNU_SOURCE
#include "driver/elf.h"

#include <stdint.h>
#include <string.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Weak, so that the library names no library but the C library as needed. */
extern struct r_debug _r_debug __attribute__((weak));

typedef struct {
    const ElfW(Sym) *symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *hash;
} tables_t;

/* glibc has added the base to the addresses in the dynamic section already; other loaders leave them. */
static const void *relocated(uintptr_t base, ElfW(Addr) value) {
    return (const void *)(value < base ? base + value : value);
}

static tables_t tables_of(uintptr_t base, const ElfW(Dyn) *dynamic) {
    tables_t tables = {0};
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const void *value = relocated(base, dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB: tables.symbols = value; break;
        case DT_STRTAB: tables.strings = value; break;
        case DT_GNU_HASH: tables.gnu_hash = value; break;
        case DT_HASH: tables.hash = value; break;
        }
    }
    return tables;
}

static bool equal(const char *one, const char *other) {
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

static bool defines(const tables_t *tables, uint32_t index, const char *name) {
    const ElfW(Sym) *symbol = &tables->symbols[index];
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           equal(tables->strings + symbol->st_name, name);
}

static uint32_t find_gnu(const tables_t *tables, const char *name) {
    uint32_t hash = 5381;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    uint32_t bucket_count = tables->gnu_hash[0], first = tables->gnu_hash[1], bloom_words = tables->gnu_hash[2];
    const uint32_t *buckets = tables->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = buckets + bucket_count;
    uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0;
    if (index < first)
        return 0;
    for (;; index++) {
        if ((chain[index - first] | 1) == (hash | 1) && defines(tables, index, name))
            return index;
        if (chain[index - first] & 1)
            return 0;
    }
}

void *sl_elf_lookup(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name) {
    tables_t tables = tables_of(base, dynamic);
    if (!tables.symbols || !tables.strings)
        return NULL;
    uint32_t index = 0;
    if (tables.gnu_hash)
        index = find_gnu(&tables, name);
    else if (tables.hash)
        for (uint32_t at = 1; at < tables.hash[1] && !index; at++)
            index = defines(&tables, at, name) ? at : 0;
    return index ? (void *)(base + tables.symbols[index].st_value) : NULL;
}

static const char *base_name(const char *path) {
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

static void look_into(sl_elf_libc_t *libc, const char *path, uintptr_t base, const ElfW(Dyn) *dynamic) {
    const char *name = base_name(path ? path : "");
    void *found;
    if (!equal(name, "libc.so.6") && !equal(name, "libdl.so.2"))
        return;
    if ((found = sl_elf_lookup(base, dynamic, "dlsym")))
        libc->dlsym = (void *(*)(void *, const char *))found;
    if ((found = sl_elf_lookup(base, dynamic, "dlvsym")))
        libc->dlvsym = (void *(*)(void *, const char *, const char *))found;
    if ((found = sl_elf_lookup(base, dynamic, "dlclose")))
        libc->dlclose = (int (*)(void *))found;
    if ((found = sl_elf_lookup(base, dynamic, "dlerror")))
        libc->dlerror = (char *(*)(void))found;
    /* Before glibc 2.34 libdl may not be loaded. Then libc.so.6 has this function for its own use. */
    if ((found = sl_elf_lookup(base, dynamic, "dlopen")) ||
        (!libc->dlopen && (found = sl_elf_lookup(base, dynamic, "__libc_dlopen_mode"))))
        libc->dlopen = (void *(*)(const char *, int))found;
}

static bool is_complete(const sl_elf_libc_t *libc) {
    return libc->dlsym && libc->dlvsym && libc->dlopen && libc->dlclose && libc->dlerror;
}

static int visit_libc(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            look_into(data, info->dlpi_name, info->dlpi_addr, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    return 0;
}

/* Walks the loader's list of libraries without its lock. The libraries that a program starts with, such as the C library, are at the
 * head of the list and are never removed. */
bool sl_elf_libc(sl_elf_libc_t *libc) {
    *libc = (sl_elf_libc_t){0};
    for (const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL; map && !is_complete(libc); map = map->l_next)
        look_into(libc, map->l_name, map->l_addr, map->l_ld);
    if (!is_complete(libc))
        dl_iterate_phdr(visit_libc, libc);
    return libc->dlsym && libc->dlvsym && libc->dlopen;
}

typedef struct {
    uintptr_t address;
    int position;
    sl_elf_object_t found;
} place_t;

static int visit_address(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    place_t *place = data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && place->address - start < segment->p_memsz) {
            place->found = (sl_elf_object_t){place->position, info->dlpi_name ? info->dlpi_name : ""};
            return 1;
        }
    }
    place->position++;
    return 0;
}

sl_elf_object_t sl_elf_object(const void *address) {
    place_t place = {(uintptr_t)address, 0, {-1, ""}};
    dl_iterate_phdr(visit_address, &place);
    return place.found;
}

bool sl_elf_is_own(const void *address) {
    return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/* In glibc a handle of dlopen is the link map of the library. */
bool sl_elf_is_own_handle(const void *handle) {
    return ((const struct link_map *)handle)->l_ld == _DYNAMIC;
}

void *sl_elf_lookup_own(const char *name) {
    return sl_elf_lookup((uintptr_t)__ehdr_start, _DYNAMIC, name);
}

sl_elf_object_t sl_elf_own_object(void) {
    return sl_elf_object(__ehdr_start);
}

bool sl_elf_has_name(const char *path, const char *stem) {
    const char *name = base_name(path);
    size_t length = strlen(stem);
    return strncmp(name, stem, length) == 0 && (!name[length] || name[length] == '.');
}
