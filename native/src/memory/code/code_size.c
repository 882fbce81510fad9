/* code_size: how much memory an image of code takes when it is loaded.
 *
 * Seen on an H200 with driver 580: a cubin takes the sum of its allocated sections, in blocks of 2 MiB, without those of shared and
 * local memory. A fat binary has one image for each architecture. The driver takes the newest cubin of the GPU's own generation that is
 * not newer than the GPU, else the newest PTX. NVIDIA does not document the layout of fat binaries;
 * https://github.com/n-eiling/cuda-fatbin-decompression describes it. */
#define _GNU_SOURCE
#include "memory/code/code_size.h"

#include <elf.h>
#include <string.h>

#include "memory/code/ptx_size.h"

#define FAT_MAGIC 0xba55ed50u
#define WRAPPER_MAGIC 0x466243b1u
#define FAT_COMPRESSED 0xf000u /* 0x2000: LZ4; 0x8000: Zstandard */

enum { FAT_PTX = 1, FAT_CUBIN = 2 };

typedef struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* behind the header */
} fat_header_t;

typedef struct {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* behind the header */
    uint32_t compressed_bytes, unknown;
    uint16_t minor, major;
    uint32_t capability;
    uint32_t name_offset, name_bytes;
    uint64_t flags;
} fat_entry_t;

typedef struct {
    uint32_t magic, version;
    const void *data;
} wrapper_t;

static const sl_code_size_t unknown;

static uint64_t add(uint64_t sum, uint64_t bytes) {
    return bytes > SL_CODE_SIZE_MOST || sum + bytes > SL_CODE_SIZE_MOST ? SL_CODE_SIZE_MOST : sum + bytes;
}

static bool begins(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool lies_within(uint64_t offset, uint64_t bytes, size_t length) {
    return offset <= length && bytes <= length - offset;
}

static sl_code_size_t size_of_cubin(const char *image, size_t length) {
    Elf64_Ehdr header;
    if (length < sizeof header)
        return unknown;
    memcpy(&header, image, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) || !header.e_shoff ||
        header.e_shstrndx >= header.e_shnum || !lies_within(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), length))
        return unknown;
    Elf64_Shdr names, section;
    memcpy(&names, image + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
    if (!lies_within(names.sh_offset, names.sh_size, length) || !names.sh_size || image[names.sh_offset + names.sh_size - 1])
        return unknown;
    sl_code_size_t size = {.known = true};
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
        const char *name = section.sh_name < names.sh_size ? image + names.sh_offset + section.sh_name : "";
        if (!(section.sh_flags & SHF_ALLOC) || begins(name, ".nv.shared") || begins(name, ".nv.local") ||
            begins(name, ".nv.reservedSmem"))
            continue;
        size.all_bytes = add(size.all_bytes, section.sh_size);
        if (begins(name, ".nv.global"))
            size.data_bytes = add(size.data_bytes, section.sh_size);
    }
    return size;
}

static sl_code_size_t size_of_ptx(const char *text, size_t length) {
    uint64_t bytes = sl_ptx_size(text, length);
    return (sl_code_size_t){.known = true, .data_bytes = bytes, .all_bytes = bytes, .ptx = text, .ptx_length = length};
}

/* Whether the driver prefers this entry to the best entry so far. */
static bool is_better(const fat_entry_t *entry, const fat_entry_t *best, unsigned capability) {
    if (entry->capability > capability || (entry->kind == FAT_CUBIN && entry->capability / 10 != capability / 10))
        return false;
    if (entry->kind != FAT_CUBIN && entry->kind != FAT_PTX)
        return false;
    return entry->kind != best->kind ? entry->kind > best->kind : entry->capability > best->capability;
}

static sl_code_size_t size_of_fat_binary(const char *image, size_t length, unsigned capability) {
    fat_header_t header;
    if (length < sizeof header)
        return unknown;
    memcpy(&header, image, sizeof header);
    if (header.header_bytes < sizeof header || !lies_within(header.header_bytes, header.bytes, length))
        return unknown;
    fat_entry_t entry, best = {0};
    const char *chosen = NULL;
    uint64_t at = header.header_bytes, end = at + header.bytes;
    for (; end - at >= sizeof entry; at += entry.header_bytes + entry.bytes) {
        memcpy(&entry, image + at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > end - at || entry.bytes > end - at - entry.header_bytes)
            return unknown;
        if (!is_better(&entry, &best, capability))
            continue;
        best = entry;
        chosen = image + at + entry.header_bytes;
    }
    if (!chosen || best.compressed_bytes || best.flags & FAT_COMPRESSED)
        return unknown;
    return best.kind == FAT_PTX ? size_of_ptx(chosen, strnlen(chosen, best.bytes)) : size_of_cubin(chosen, best.bytes);
}

sl_code_size_t sl_code_size(const void *image, size_t length, unsigned capability) {
    uint32_t magic;
    if (!image || length < sizeof magic || strnlen(image, sizeof magic) < sizeof magic)
        return unknown;
    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC && length == SIZE_MAX) {
        wrapper_t wrapper;
        memcpy(&wrapper, image, sizeof wrapper);
        if (!(image = wrapper.data))
            return unknown;
        memcpy(&magic, image, sizeof magic);
    }
    if (magic == FAT_MAGIC)
        return size_of_fat_binary(image, length, capability);
    if (memcmp(&magic, ELFMAG, SELFMAG) == 0)
        return size_of_cubin(image, length);
    size_t text = length == SIZE_MAX ? strlen(image) : strnlen(image, length);
    return memmem(image, text, ".version", 8) ? size_of_ptx(image, text) : unknown;
}
