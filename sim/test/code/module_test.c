/* Global variables and stacks take memory, as on an H200, and give it back. */
#include "check.h"

CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name);
CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values, unsigned count,
                           CUlibraryOption *library_options, void **library_values, unsigned library_count);
CUresult cuLibraryUnload(CUlibrary library);

#define STACK_16K 4152360960ull

static const char code[] = ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry k(){ ld.global.u32 %r1, [%a]; ret; }\n"
                           ".visible .global .align 4 .b8 big[67108864];\n.global .u32 small;\n";

static void should_take_memory_for_global_variables(void) {
    CUmodule module;
    CUdeviceptr address;
    size_t bytes, before = free_bytes();
    OK(cuModuleLoadData(&module, code));
    EQUAL(before - free_bytes(), 66 * MIB); /* and a block for the small one */
    OK(cuModuleGetGlobal_v2(&address, &bytes, module, "big"));
    EQUAL(bytes, 64 * MIB);
    OK(cuModuleGetGlobal_v2(&address, &bytes, module, "small"));
    EQUAL(bytes, 4);
    EQUAL(cuModuleGetGlobal_v2(&address, &bytes, module, "k"), 500);
    OK(cuModuleUnload(module));
    EQUAL(before - free_bytes(), 0);
    CUlibrary library;
    OK(cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    EQUAL(before - free_bytes(), 66 * MIB);
    OK(cuLibraryUnload(library));
    EQUAL(before - free_bytes(), 0);
}

static void should_take_memory_for_stacks_at_once(void) {
    size_t value, before = free_bytes();
    OK(cuCtxSetLimit(0, 16384));
    EQUAL(before - free_bytes(), STACK_16K);
    OK(cuCtxSetLimit(0, 1024));
    EQUAL(before - free_bytes(), 0);
    EQUAL(cuCtxSetLimit(0, 64 * MIB), 1);
    OK(cuCtxGetLimit(&value, 0));
    EQUAL(value, 1024);
    OK(cuCtxSetLimit(2, 256 * MIB));
    EQUAL(before - free_bytes(), 0);
}

static void should_give_all_back_with_the_context(void) {
    CUcontext first, second;
    CUmodule module;
    OK(cuCtxGetCurrent(&first));
    size_t before = free_bytes();
    OK(cuCtxCreate_v2(&second, 0, 0));
    OK(cuModuleLoadData(&module, code));
    OK(cuCtxSetLimit(0, 2048));
    OK(cuCtxDestroy_v2(second));
    OK(cuCtxSetCurrent(first));
    EQUAL(before - free_bytes(), 0);
    OK(cuModuleUnload(module));
    EQUAL(before - free_bytes(), 0);
}

int main(void) {
    use_gpu();
    should_take_memory_for_global_variables();
    should_take_memory_for_stacks_at_once();
    should_give_all_back_with_the_context();
    return 0;
}
