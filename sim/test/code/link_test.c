/* What kernels and modules take besides plain memory: the malloc heap, variables of cubins. */
#include "check.h"

#include <elf.h>

CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *state);
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name, unsigned count,
                          CUjit_option *options, void **values);
CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes);
CUresult cuLinkDestroy(CUlinkState state);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name);
CUresult cuModuleUnload(CUmodule module);

enum { PRINTF = 1, HEAP = 2, CUBIN = 0, PTX = 1 };

#define HEAD ".version 6.0\n.target sm_52\n.address_size 64\n"
static const char first[] = HEAD ".visible .entry sluice_fill(.param .u64 to, .param .u32 value, .param .u64 count) { ret; }\n"
                                 ".visible .global .align 4 .b8 big[3145728];\n.visible .global .u32 set = 7;\n";
static const char second[] = HEAD ".visible .entry other() { ret; }\n.visible .global .b8 more[3145728];\n";
static const char needy[] = HEAD ".visible .entry sluice_heap() { ret; }\n.visible .entry sluice_print() { ret; }\n";

static size_t section_bytes(const char *cubin, const char *name) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)cubin;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(cubin + header->e_shoff);
    EQUAL(header->e_machine, 190);
    for (unsigned i = 1; i < header->e_shnum; i++)
        if (strcmp(cubin + sections[header->e_shstrndx].sh_offset + sections[i].sh_name, name) == 0) return sections[i].sh_size;
    return 0;
}

static void should_link_ptx_into_a_cubin_that_loads(void) {
    CUlinkState link, again;
    void *cubin, *copy;
    size_t bytes, before = free_bytes();
    CUmodule module;
    CUfunction function;
    CUdeviceptr address, target;
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    EQUAL(cuLinkAddData_v2(link, PTX, "nonsense", 9, "x", 0, NULL, NULL), 218);
    EQUAL(cuLinkAddData_v2(link, CUBIN, (void *)first, sizeof first, "x", 0, NULL, NULL), 200);
    OK(cuLinkAddData_v2(link, PTX, (void *)first, sizeof first, "first", 0, NULL, NULL));
    OK(cuLinkAddData_v2(link, PTX, (void *)second, sizeof second, "second", 0, NULL, NULL));
    OK(cuLinkComplete(link, &cubin, &bytes));
    EQUAL(free_bytes(), before);
    EQUAL(section_bytes(cubin, ".nv.global"), 6 * MIB);
    EQUAL(section_bytes(cubin, ".nv.global.init"), 4);
    CHECK(section_bytes(cubin, ".text.other") > 0 && section_bytes(cubin, ".nv.constant0.sluice_fill") > 0);
    OK(cuLinkCreate_v2(0, NULL, NULL, &again));
    OK(cuLinkAddData_v2(again, CUBIN, cubin, bytes, "linked", 0, NULL, NULL));
    OK(cuLinkComplete(again, &copy, &bytes));
    OK(cuLinkDestroy(link));
    EQUAL(section_bytes(copy, ".nv.global"), 6 * MIB);
    OK(cuModuleLoadData(&module, copy));
    OK(cuLinkDestroy(again));
    EQUAL(before - free_bytes(), 8 * MIB);
    OK(cuModuleGetGlobal_v2(&address, &bytes, module, "more"));
    EQUAL(bytes, 3 * MIB);
    OK(cuModuleGetGlobal_v2(&target, &bytes, module, "set"));
    EQUAL(bytes, 4);
    EQUAL(cuModuleGetFunction(&function, module, "absent"), 500);
    OK(cuModuleGetFunction(&function, module, "other"));
    OK(cuModuleGetFunction(&function, module, "sluice_fill"));
    unsigned value = 9;
    uint64_t count = 3 * MIB / 4;
    launch(function, NULL, (void *[]){&address, &value, &count});
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
    EQUAL(free_bytes(), before);
}

static void should_take_the_ptx_as_its_cubin(void) {
    CUmodule module;
    size_t before = free_bytes();
    OK(cuModuleLoadData(&module, first));
    EQUAL(before - free_bytes(), 4 * MIB);
    OK(cuModuleUnload(module));
}

static void should_take_the_heap_when_a_kernel_needs_it(void) {
    CUcontext first_context, own;
    CUmodule module;
    CUfunction heap, print;
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    OK(cuCtxGetCurrent(&first_context));
    size_t outside = free_bytes();
    OK(cuCtxCreate_v2(&own, 0, 0));
    OK(cuModuleLoadData(&module, needy));
    OK(cuModuleGetFunction(&heap, module, "sluice_heap"));
    OK(cuModuleGetFunction(&print, module, "sluice_print"));
    size_t before = free_bytes();
    OK(cuCtxSetLimit(HEAP, 512 * MIB));
    OK(cuCtxSetLimit(PRINTF, 32 * MIB));
    EQUAL(free_bytes(), before);
    launch(heap, NULL, NULL);
    EQUAL(before - free_bytes(), 514 * MIB);
    launch(heap, NULL, NULL);
    EQUAL(before - free_bytes(), 514 * MIB);
    EQUAL(cuCtxSetLimit(HEAP, 64 * MIB), 1);
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 2));
    launch(print, stream, NULL);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    EQUAL(before - free_bytes(), 514 * MIB);
    OK(cuGraphLaunch(executable, stream));
    EQUAL(before - free_bytes(), 514 * MIB);
    EQUAL(cuCtxSetLimit(PRINTF, 64 * MIB), 1);
    OK(cuCtxDestroy_v2(own));
    OK(cuCtxSetCurrent(first_context));
    EQUAL(free_bytes(), outside);
}

static void should_refuse_a_launch_whose_heap_does_not_fit(void) {
    CUcontext first_context, own;
    CUmodule module;
    CUfunction heap;
    OK(cuCtxGetCurrent(&first_context));
    OK(cuCtxCreate_v2(&own, 0, 0));
    OK(cuModuleLoadData(&module, needy));
    OK(cuModuleGetFunction(&heap, module, "sluice_heap"));
    OK(cuCtxSetLimit(HEAP, free_bytes() + 2 * MIB));
    EQUAL(cuLaunchKernel(heap, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 2);
    OK(cuCtxDestroy_v2(own));
    OK(cuCtxSetCurrent(first_context));
}

int main(void) {
    use_gpu();
    should_link_ptx_into_a_cubin_that_loads();
    should_take_the_ptx_as_its_cubin();
    should_take_the_heap_when_a_kernel_needs_it();
    should_refuse_a_launch_whose_heap_does_not_fit();
    return 0;
}
