/* Reads PTX text: `.entry NAME` is a kernel, `.global … TYPE NAME[COUNT]` a variable. Code is not looked at. */
#define _GNU_SOURCE
#include "code/image.h"

#include <ctype.h>

#define VARIABLE_STEP 16u

CUresult sim_image_add(sim_image_t *image, const char *name, size_t length, sim_symbol_t **result) {
    sim_symbol_t *symbol = calloc(1, sizeof *symbol + length + 1);
    SIM_REQUIRE(symbol, CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(symbol->name, name, length);
    if (image->last) image->last->next = symbol;
    else image->first = symbol;
    *result = image->last = symbol;
    return CUDA_SUCCESS;
}

CUresult sim_image_add_variable(sim_image_t *image, const char *name, size_t length, size_t bytes, bool has_value) {
    sim_symbol_t *symbol;
    size_t *end = has_value ? &image->value_bytes : &image->empty_bytes, offset = SIM_ROUND(*end, VARIABLE_STEP);
    SIM_REQUIRE(bytes <= 1ull << 44 && offset <= 1ull << 44, CUDA_ERROR_OUT_OF_MEMORY);
    SIM_TRY(sim_image_add(image, name, length, &symbol));
    symbol->has_value = has_value;
    symbol->bytes = bytes;
    symbol->offset = offset;
    *end = offset + bytes;
    return CUDA_SUCCESS;
}

void sim_image_drop(sim_image_t *image) {
    for (sim_symbol_t *symbol = image->first, *next; symbol; symbol = next) {
        next = symbol->next;
        free(symbol);
    }
    *image = (sim_image_t){0};
}

static bool is_name(char letter) { return isalnum((unsigned char)letter) || strchr("_$%", letter); }

/* ".b8" is 1, ".f64" is 8, anything else 0. */
static size_t element_bytes(const char *word, size_t length) {
    char *end;
    if (length < 3 || word[0] != '.' || !strchr("bfsu", word[1])) return 0;
    size_t bits = strtoul(word + 2, &end, 10);
    return end == word + length ? bits / 8 : 0;
}

/* At the name: its size, and whether a value follows. */
static CUresult finish(sim_image_t *image, const char *name, size_t length, size_t element) {
    const char *after = name + length;
    size_t count = *after == '[' ? strtoull(after + 1, NULL, 10) : 1, bytes;
    if (!element || !count || __builtin_mul_overflow(element, count, &bytes)) return CUDA_SUCCESS;
    size_t until = strcspn(after, "=;");
    return sim_image_add_variable(image, name, length, bytes, after[until] == '=');
}

/* From behind ".global" to the name; other statements that begin so are left alone. */
static CUresult declare(sim_image_t *image, const char *at) {
    size_t element = 0;
    for (;;) {
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n[;=,");
        if (!length) return CUDA_SUCCESS;
        if (strncmp(at, ".align", length) == 0) {
            at += length + strspn(at + length, " \t\r\n");
            at += strcspn(at, " \t\r\n");
            continue;
        }
        if (*at != '.') return finish(image, at, length, element);
        size_t bytes = element_bytes(at, length);
        element = bytes ? bytes : element;
        at += length;
    }
}

static CUresult read_kernels(const char *text, sim_image_t *image) {
    for (const char *at = text; (at = strstr(at, ".entry"));) {
        sim_symbol_t *symbol;
        at += strlen(".entry");
        at += strspn(at, " \t\r\n");
        const char *end = at;
        while (*end && is_name(*end)) end++;
        if (end == at) continue;
        SIM_TRY(sim_image_add(image, at, (size_t)(end - at), &symbol));
        symbol->is_kernel = true;
        at = end;
    }
    return CUDA_SUCCESS;
}

CUresult sim_ptx_read(const char *text, sim_image_t *image) {
    SIM_REQUIRE(strstr(text, ".version"), CUDA_ERROR_INVALID_IMAGE);
    SIM_TRY(read_kernels(text, image));
    for (const char *at = text; (at = strstr(at, ".global"));) {
        bool begins = at == text || !is_name(at[-1]);
        at += strlen(".global");
        if (begins && isspace((unsigned char)*at)) SIM_TRY(declare(image, at));
    }
    return CUDA_SUCCESS;
}
