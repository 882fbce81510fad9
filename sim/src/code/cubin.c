/* Cubins: ELF files as the linker makes them. Written here with empty code, but with the sections and symbols of real ones; read
 * from here or from NVIDIA's tools. */
#include "code/image.h"

#include <elf.h>
#include <stdio.h>

enum { MACHINE_CUDA = 190, FLAGS_SM_90 = 0x5a055a, ENTRY = 0x10, TEXT_BYTES = 256, CONSTANT_BYTES = 592, NAME_MOST = 4096 };
enum { NAMES = 1, STRINGS, SYMBOLS, EMPTY, VALUES, FIRST_KERNEL };

typedef struct {
    char *bytes;
    size_t used, room;
    bool failed;
} text_t;

/* The offset of what was added. */
static size_t append(text_t *to, const void *data, size_t bytes) {
    if (to->used + bytes > to->room) {
        size_t room = (to->used + bytes) * 2;
        char *grown = realloc(to->bytes, room);
        if (!grown) return to->failed = true, 0;
        to->bytes = grown;
        to->room = room;
    }
    if (data) memcpy(to->bytes + to->used, data, bytes);
    else memset(to->bytes + to->used, 0, bytes);
    to->used += bytes;
    return to->used - bytes;
}

static void align(text_t *to) { append(to, NULL, SIM_ROUND(to->used, 16u) - to->used); }

typedef struct {
    text_t body, names, strings, symbols, sections;
    unsigned count;
} writer_t;

static void add_section(writer_t *writer, const char *name, unsigned type, unsigned long flags, const void *data, size_t bytes) {
    align(&writer->body);
    Elf64_Shdr section = {.sh_name = (unsigned)append(&writer->names, name, strlen(name) + 1), .sh_type = type, .sh_flags = flags, .sh_size = bytes,
                          .sh_addralign = 16};
    section.sh_offset = type == SHT_NOBITS ? writer->body.used : append(&writer->body, data, bytes);
    if (type == SHT_SYMTAB) section.sh_link = STRINGS, section.sh_entsize = sizeof(Elf64_Sym), section.sh_info = 1;
    append(&writer->sections, &section, sizeof section);
    writer->count++;
}

static void add_symbols(writer_t *writer, const sim_image_t *image) {
    unsigned section = FIRST_KERNEL;
    append(&writer->strings, "", 1);
    append(&writer->symbols, NULL, sizeof(Elf64_Sym));
    for (const sim_symbol_t *each = image->first; each; each = each->next) {
        Elf64_Sym symbol = {.st_name = (unsigned)append(&writer->strings, each->name, strlen(each->name) + 1),
                            .st_info = ELF64_ST_INFO(STB_GLOBAL, each->is_kernel ? STT_FUNC : STT_OBJECT), .st_other = each->is_kernel ? ENTRY : 0,
                            .st_shndx = (unsigned short)(each->is_kernel ? section : each->has_value ? VALUES : EMPTY), .st_value = each->offset,
                            .st_size = each->is_kernel ? TEXT_BYTES : each->bytes};
        append(&writer->symbols, &symbol, sizeof symbol);
        section += each->is_kernel ? 2 : 0;
    }
}

static void add_kernels(writer_t *writer, const sim_image_t *image) {
    char name[NAME_MOST];
    for (const sim_symbol_t *each = image->first; each; each = each->next) {
        if (!each->is_kernel) continue;
        snprintf(name, sizeof name, ".text.%s", each->name);
        add_section(writer, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, NULL, TEXT_BYTES);
        snprintf(name, sizeof name, ".nv.constant0.%s", each->name);
        add_section(writer, name, SHT_PROGBITS, SHF_ALLOC, NULL, CONSTANT_BYTES);
    }
}

/* The table of names holds its own name, so it is written last and its place corrected. */
static void finish(writer_t *writer) {
    align(&writer->body);
    Elf64_Shdr *names = (Elf64_Shdr *)writer->sections.bytes + NAMES;
    names->sh_size = writer->names.used;
    names->sh_offset = append(&writer->body, writer->names.bytes, writer->names.used);
    align(&writer->body);
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 51}, .e_type = ET_EXEC, .e_machine = MACHINE_CUDA,
                         .e_version = EV_CURRENT, .e_flags = FLAGS_SM_90, .e_ehsize = sizeof header, .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (unsigned short)writer->count, .e_shstrndx = NAMES};
    header.e_shoff = append(&writer->body, writer->sections.bytes, writer->sections.used);
    memcpy(writer->body.bytes, &header, sizeof header);
}

void *sim_cubin_write(const sim_image_t *image, size_t *bytes) {
    writer_t writer = {.count = 1};
    append(&writer.body, NULL, sizeof(Elf64_Ehdr));
    append(&writer.names, "", 1);
    append(&writer.sections, NULL, sizeof(Elf64_Shdr));
    add_symbols(&writer, image);
    add_section(&writer, ".shstrtab", SHT_STRTAB, 0, NULL, 0);
    add_section(&writer, ".strtab", SHT_STRTAB, 0, writer.strings.bytes, writer.strings.used);
    add_section(&writer, ".symtab", SHT_SYMTAB, 0, writer.symbols.bytes, writer.symbols.used);
    add_section(&writer, ".nv.global", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, NULL, image->empty_bytes);
    add_section(&writer, ".nv.global.init", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, NULL, image->value_bytes);
    add_kernels(&writer, image);
    bool failed = writer.body.failed || writer.names.failed || writer.strings.failed || writer.symbols.failed || writer.sections.failed;
    if (!failed) finish(&writer);
    free(writer.names.bytes), free(writer.strings.bytes), free(writer.symbols.bytes), free(writer.sections.bytes);
    if (failed || writer.body.failed) return free(writer.body.bytes), NULL;
    *bytes = writer.body.used;
    return writer.body.bytes;
}

/* Its first bytes say whether there are more: other images that begin as an ELF file are not looked into. */
bool sim_cubin_is_one(const void *data) {
    const Elf64_Ehdr *header = data;
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == MACHINE_CUDA
        && header->e_shoff && header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shstrndx < header->e_shnum;
}

typedef struct {
    const char *data, *names;
    const Elf64_Shdr *sections;
    unsigned count;
} reader_t;

static bool is_called(const reader_t *reader, unsigned section, const char *name) {
    return section < reader->count && strcmp(reader->names + reader->sections[section].sh_name, name) == 0;
}

static CUresult read_symbol(const reader_t *reader, const Elf64_Sym *from, const char *strings, sim_image_t *image) {
    const char *name = strings + from->st_name;
    bool is_kernel = ELF64_ST_TYPE(from->st_info) == STT_FUNC && from->st_other & ENTRY, has_value = is_called(reader, from->st_shndx, ".nv.global.init");
    bool is_variable = ELF64_ST_TYPE(from->st_info) == STT_OBJECT && (has_value || is_called(reader, from->st_shndx, ".nv.global"));
    if (!is_kernel && !is_variable) return CUDA_SUCCESS;
    sim_symbol_t *symbol;
    SIM_TRY(sim_image_add(image, name, strlen(name), &symbol));
    symbol->is_kernel = is_kernel;
    symbol->has_value = has_value;
    symbol->bytes = is_kernel ? 0 : from->st_size;
    symbol->offset = is_kernel ? 0 : from->st_value;
    return CUDA_SUCCESS;
}

CUresult sim_cubin_read(const void *data, sim_image_t *image) {
    SIM_REQUIRE(sim_cubin_is_one(data), CUDA_ERROR_INVALID_IMAGE);
    const Elf64_Ehdr *header = data;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)((const char *)data + header->e_shoff);
    reader_t reader = {data, (const char *)data + sections[header->e_shstrndx].sh_offset, sections, header->e_shnum};
    for (unsigned i = 1; i < reader.count; i++) {
        if (is_called(&reader, i, ".nv.global")) image->empty_bytes = sections[i].sh_size;
        if (is_called(&reader, i, ".nv.global.init")) image->value_bytes = sections[i].sh_size;
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= reader.count) continue;
        const char *strings = reader.data + sections[sections[i].sh_link].sh_offset;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(reader.data + sections[i].sh_offset);
        for (size_t k = 1; k < sections[i].sh_size / sizeof *symbols; k++) SIM_TRY(read_symbol(&reader, &symbols[k], strings, image));
    }
    return CUDA_SUCCESS;
}
