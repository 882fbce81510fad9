/* Global variables of modules: `.global … TYPE NAME[COUNT]` in PTX text takes memory in the context it is loaded in, and
 * gives it back with the module or the context. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>

#include "module.h"

struct sim_global {
    sim_global_t *next;
    CUdeviceptr address;
    size_t bytes;
    char name[];
};

static bool is_name(char letter) { return isalnum((unsigned char)letter) || strchr("_$%", letter); }

/* ".b8" is 1, ".f64" is 8, anything else 0. */
static size_t element_bytes(const char *word, size_t length) {
    char *end;
    if (length < 3 || word[0] != '.' || !strchr("bfsu", word[1])) return 0;
    size_t bits = strtoul(word + 2, &end, 10);
    return end == word + length ? bits / 8 : 0;
}

static CUresult add(CUmodule module, CUcontext context, const char *name, size_t length, size_t bytes) {
    sim_global_t *global = calloc(1, sizeof *global + length + 1);
    SIM_REQUIRE(global, CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(global->name, name, length);
    global->bytes = bytes;
    CUresult status = sim_memory_take(context, bytes, false, &global->address);
    if (status) return free(global), status;
    global->next = module->globals;
    module->globals = global;
    return CUDA_SUCCESS;
}

/* From behind ".global" to the name and its size; other statements that begin so are left alone. */
static CUresult declare(CUmodule module, CUcontext context, const char *at) {
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
        if (*at != '.') {
            size_t count = at[length] == '[' ? strtoull(at + length + 1, NULL, 10) : 1;
            return element && count ? add(module, context, at, length, element * count) : CUDA_SUCCESS;
        }
        size_t bytes = element_bytes(at, length);
        element = bytes ? bytes : element;
        at += length;
    }
}

CUresult sim_global_load(CUmodule module, CUcontext context, const char *text) {
    module->context = context;
    module->context_id = context->id;
    for (const char *at = text; (at = strstr(at, ".global"));) {
        bool begins = at == text || !is_name(at[-1]);
        at += strlen(".global");
        if (begins && isspace((unsigned char)*at)) SIM_TRY(declare(module, context, at));
    }
    return CUDA_SUCCESS;
}

void sim_global_unload(CUmodule module) {
    bool there = module->context && module->context->alive && module->context->id == module->context_id;
    for (sim_global_t *global = module->globals, *next; global; global = next) {
        next = global->next;
        if (there) sim_memory_give(global->address);
        free(global);
    }
    module->globals = NULL;
}

CUresult sim_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    SIM_REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    for (const sim_global_t *global = module->globals; global; global = global->next) {
        if (strcmp(global->name, name) != 0) continue;
        if (address) *address = global->address;
        if (bytes) *bytes = global->bytes;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
    return sim_cuModuleGetGlobal_v2(address, bytes, (CUmodule)library, name);
}
