/* elf_slot: see elf_slot.h. */
#define _GNU_SOURCE
#include "driver/elf_slot.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    const ElfW(Rela) *first;
    size_t count;
} relocations_t;

typedef struct {
    const ElfW(Sym) *symbols;
    const char *strings;
    relocations_t lazy, other;
} tables_t;

/* glibc has added the base to the addresses in the dynamic section already; other loaders leave them. */
static const void *relocated(uintptr_t base, ElfW(Addr) value) {
    return (const void *)(value < base ? base + value : value);
}

static tables_t tables_of(const struct link_map *map) {
    tables_t tables = {0};
    for (const ElfW(Dyn) *dynamic = map->l_ld; dynamic->d_tag != DT_NULL; dynamic++) {
        const void *value = relocated(map->l_addr, dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB: tables.symbols = value; break;
        case DT_STRTAB: tables.strings = value; break;
        case DT_JMPREL: tables.lazy.first = value; break;
        case DT_PLTRELSZ: tables.lazy.count = dynamic->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELA: tables.other.first = value; break;
        case DT_RELASZ: tables.other.count = dynamic->d_un.d_val / sizeof(ElfW(Rela)); break;
        }
    }
    return tables;
}

static void **slot_in(const struct link_map *map, const tables_t *tables, relocations_t relocations, const char *name) {
    for (size_t i = 0; relocations.first && i < relocations.count; i++) {
        const ElfW(Rela) *relocation = &relocations.first[i];
        unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
#ifdef __x86_64__
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
            continue;
#else
        if (type != R_AARCH64_JUMP_SLOT && type != R_AARCH64_GLOB_DAT)
            continue;
#endif
        const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(relocation->r_info)];
        if (strcmp(tables->strings + symbol->st_name, name) == 0)
            return (void **)(map->l_addr + relocation->r_offset);
    }
    return NULL;
}

void **sl_elf_slot(const struct link_map *map, const char *name, bool *late) {
    tables_t tables = tables_of(map);
    if (!tables.symbols || !tables.strings)
        return NULL;
    void **slot = slot_in(map, &tables, tables.lazy, name);
    *late = slot != NULL;
    return slot ? slot : slot_in(map, &tables, tables.other, name);
}

typedef struct {
    uintptr_t address;
    bool is_protected; /* by the loader, after it filled the table */
} place_t;

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    place_t *place = data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_RELRO && place->address - start < segment->p_memsz)
            place->is_protected = true;
    }
    return place->is_protected;
}

bool sl_elf_slot_store(void **slot, void *function) {
    uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)slot & ~(bytes - 1);
    place_t place = {(uintptr_t)slot, false};
    dl_iterate_phdr(visit, &place);
    if (place.is_protected && mprotect((void *)page, bytes, PROT_READ | PROT_WRITE))
        return false;
    __atomic_store_n(slot, function, __ATOMIC_RELEASE);
    if (place.is_protected)
        mprotect((void *)page, bytes, PROT_READ);
    return true;
}
