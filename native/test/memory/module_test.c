/* Code and limits are reserved before the driver is asked. A refused call never took anything, and memory that the driver takes with a
 * later launch is charged before. The driver and NVML are fakes that keep one number, and its peak. */
#include "check.h"

#include <elf.h>

#include "hooks.h"
#include "ledger/ledger.h"
#include "memory/code/code_size.h"
#include "memory/overhead.h"
#include "real.h"
#include "real_nvml.h"
#include "tenant/tenant.h"

#define MIB (1ull << 20)
#define CONTEXT (500 * MIB)
#define THREADS (132ull * 2048)
#define GPU 0u
#define PRINTF 1
#define HEAP 2

static struct {
    uint64_t process_bytes, peak_bytes;
    uint64_t image_bytes;   /* what the next image takes */
    bool lazy;              /* libraries wait for launch(), */
    bool at_once;           /* or, although the driver says so, do not */
    uint64_t waiting_bytes; /* for it */
    uint64_t loaded_bytes, limits[3];
    unsigned loads, links;
    bool hidden;
    CUresult answer; /* the error of calls that load, unload or set a limit, if any */
} fake;

static void take(uint64_t bytes) {
    fake.process_bytes += bytes;
    if (fake.process_bytes > fake.peak_bytes)
        fake.peak_bytes = fake.process_bytes;
}
static uint64_t blocks(uint64_t bytes) {
    return (bytes + 2 * MIB - 1) & ~(2 * MIB - 1);
}
static CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    *value = attribute == 16 ? 132 : attribute == 39 ? 2048 : attribute == 75 ? 9 : attribute == 76 ? 0 : 1024;
    return device == 0 ? 0 : 101;
}
static CUresult get_uuid(CUuuid *uuid, CUdevice device) {
    memset(uuid, 7, sizeof *uuid);
    return device == 0 ? 0 : 101;
}
static CUresult get_count(int *count) {
    *count = 1;
    return 0;
}
static CUresult total_mem(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = 100000 * MIB;
    return 0;
}
static CUresult get_device(CUdevice *device) {
    *device = 0;
    return 0;
}
static CUresult get_current(CUcontext *context) {
    *context = (CUcontext)0x7000000;
    return 0;
}
static CUresult create(CUcontext *context, unsigned flags, CUdevice device) {
    (void)flags, (void)device;
    take(CONTEXT);
    return get_current(context);
}
static CUresult destroy(CUcontext context) {
    (void)context;
    fake.process_bytes = fake.loaded_bytes = fake.waiting_bytes = 0;
    return 0;
}
static CUresult loading_mode(CUmoduleLoadingMode *mode) {
    *mode = fake.lazy ? 2 : 1;
    return 0;
}
static CUresult load(CUmodule *module, const void *image) {
    (void)image;
    fake.loads++;
    if (fake.answer)
        return fake.answer;
    fake.loaded_bytes = fake.image_bytes;
    take(fake.loaded_bytes);
    *module = (CUmodule)0x456000;
    return 0;
}
static void (*meanwhile)(void); /* what another thread does between the driver's end of a module and ours */
static CUresult unload(CUmodule module) {
    void (*others)(void) = meanwhile;
    (void)module;
    if (fake.answer)
        return fake.answer;
    fake.process_bytes -= fake.loaded_bytes;
    fake.loaded_bytes = 0;
    meanwhile = NULL;
    if (others)
        others();
    return 0;
}
static void launch(void) {
    fake.loaded_bytes += fake.waiting_bytes;
    take(fake.waiting_bytes);
    fake.waiting_bytes = 0;
}
static CUresult load_library(CUlibrary *library, const void *image, CUjit_option *options, void **values, unsigned count,
                             CUlibraryOption *more, void **more_values, unsigned more_count) {
    (void)options, (void)values, (void)count, (void)more, (void)more_values, (void)more_count;
    if (!fake.lazy)
        return load((CUmodule *)library, image);
    fake.loads++;
    fake.waiting_bytes = fake.image_bytes;
    *library = (CUlibrary)0x456000;
    if (fake.at_once)
        launch();
    return 0;
}
static CUresult unload_library(CUlibrary library) {
    fake.waiting_bytes = 0;
    return unload((CUmodule)library);
}
static CUresult set_limit(CUlimit limit, size_t value) {
    if ((limit == 0 && value >= 512 << 10) || fake.answer)
        return 1;
    if (limit == 0 && value > fake.limits[0])
        take((value - fake.limits[0]) * THREADS);
    if (limit == 0 && value < fake.limits[0])
        fake.process_bytes -= (fake.limits[0] - value) * THREADS;
    fake.limits[limit] = value;
    return 0;
}
static CUresult get_limit(size_t *value, CUlimit limit) {
    *value = fake.limits[limit];
    return 0;
}

static char linked[4096];
static CUresult link_create(unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
    (void)count, (void)options, (void)values;
    *state = (CUlinkState)0x99000;
    return 0;
}
static CUresult link_add(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned count,
                         CUjit_option *options, void **values) {
    (void)state, (void)data, (void)size, (void)name, (void)count, (void)options, (void)values;
    return type == 1 ? 0 : 1;
}
static CUresult link_complete(CUlinkState state, void **cubin, size_t *size) {
    (void)state;
    fake.links++;
    *cubin = linked;
    *size = sizeof linked;
    return 0;
}
static CUresult link_destroy(CUlinkState state) {
    (void)state;
    memset(linked, 0, sizeof linked);
    return 0;
}

static nvmlReturn_t nvml_init(void) {
    return 0;
}
static nvmlReturn_t nvml_by_uuid(const char *uuid, nvmlDevice_t *device) {
    (void)uuid;
    *device = (nvmlDevice_t)0x99;
    return 0;
}
static nvmlReturn_t nvml_processes(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *processes) {
    (void)device;
    if (!(*count = fake.process_bytes > 0))
        return 0;
    processes[0] = (nvmlProcessInfo_t){.pid = fake.hidden ? 1 : (unsigned)getpid(), .usedGpuMemory = fake.process_bytes};
    return 0;
}

/* A cubin with these sections; the driver keeps shared memory elsewhere. */
static void make_cubin(char image[4096], uint64_t data, uint64_t code) {
    static const char names[] = "\0.shstrtab\0.nv.global\0.nv.global.init\0.text.k\0.nv.shared.k\0.comment";
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64}, .e_machine = 190, .e_shoff = 1024,
                         .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 7, .e_shstrndx = 1};
    Elf64_Shdr sections[7] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = 512, .sh_size = sizeof names},
        {.sh_name = 11, .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_size = data - 8},
        {.sh_name = 22, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_size = 8},
        {.sh_name = 38, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = code},
        {.sh_name = 46, .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_size = 77 * MIB},
        {.sh_name = 59, .sh_type = SHT_PROGBITS, .sh_size = 33 * MIB},
    };
    memset(image, 0, 4096);
    memcpy(image, &header, sizeof header);
    memcpy(image + 512, names, sizeof names);
    memcpy(image + 1024, sections, sizeof sections);
}

/* A fat binary with one entry for each of three architectures. */
static size_t make_fat(char *image, const char *cubin, bool compressed) {
    struct { uint32_t magic; uint16_t version, header; uint64_t bytes; } header = {0xba55ed50, 1, 16, 0};
    struct {
        uint16_t kind, version;
        uint32_t header;
        uint64_t bytes;
        uint32_t compressed, unknown;
        uint16_t minor, major;
        uint32_t arch, name, name_bytes;
        uint64_t flags, zero, plain;
    } entry = {2, 0x101, 64, 4096, compressed ? 999 : 0, 0, 0, 0, 0, 0, 0, compressed ? 0x2000 : 0, 0, 0};
    static const unsigned archs[] = {80, 90, 100};
    size_t at = sizeof header;
    for (int i = 0; i < 3; i++, at += 64 + 4096) {
        char other[4096];
        make_cubin(other, 5000 * MIB, 64);
        entry.arch = archs[i];
        memcpy(image + at, &entry, 64);
        memcpy(image + at + 64, archs[i] == 90 ? cubin : other, 4096);
    }
    header.bytes = at - sizeof header;
    memcpy(image, &header, sizeof header);
    return at;
}

static const char *ptx(uint64_t bytes) {
    static char text[512];
    snprintf(text, sizeof text, ".version 7.0\n.target sm_52\n.address_size 64\n// .global .b8 no[9999999999];\n"
             ".extern .global .align 4 .b8 elsewhere[9999999999];\n.visible .global .align 8 .b8 big[%llu];\n"
             ".visible .entry k(.param .u64 .ptr .global .align 4 p){ .reg .b32 %%r; ld.global.u32 %%r, [big]; ret; }\n",
             (unsigned long long)bytes);
    return text;
}

static sl_region_account_t *account(void) {
    return sl_region_account(&sl_tenant.region, sl_tenant.slot, GPU);
}
static void check_overhead(uint64_t bytes, int line) {
    const sl_region_account_t *books = account();
    CHECK(books->overhead_bytes == bytes && !books->in_flight_bytes && books->charged_bytes == books->context_bytes + bytes,
          "line %d: overhead %.3f MiB, in flight %llu, charged %.3f", line, (double)books->overhead_bytes / MIB,
          (unsigned long long)books->in_flight_bytes, (double)books->charged_bytes / MIB);
}
#define OVERHEAD(bytes) check_overhead(bytes, __LINE__)

static CUcontext context;
static CUmodule module;
static CUlibrary library;

/* A process with a context under 1000 MiB. */
static void begin(void) {
    real = (sl_real_t){.cuDeviceGetAttribute = get_attribute, .cuDeviceGetUuid_v2 = get_uuid, .cuDeviceGetCount = get_count,
                       .cuDeviceTotalMem_v2 = total_mem, .cuCtxGetDevice = get_device, .cuCtxGetCurrent = get_current,
                       .cuCtxCreate_v2 = create, .cuCtxDestroy_v2 = destroy, .cuModuleLoadData = load,
                       .cuModuleLoadFatBinary = load, .cuModuleUnload = unload, .cuLibraryLoadData = load_library,
                       .cuLibraryUnload = unload_library, .cuCtxSetLimit = set_limit, .cuCtxGetLimit = get_limit,
                       .cuModuleGetLoadingMode = loading_mode, .cuLinkCreate_v2 = link_create,
                       .cuLinkAddData_v2 = link_add, .cuLinkComplete = link_complete, .cuLinkDestroy = link_destroy};
    real_nvml = (sl_real_nvml_t){.nvmlInit_v2 = nvml_init, .nvmlDeviceGetHandleByUUID = nvml_by_uuid,
                                 .nvmlDeviceGetComputeRunningProcesses_v3 = nvml_processes};
    fake.limits[0] = 1024, fake.limits[1] = 8448 << 10, fake.limits[HEAP] = 8 * MIB;
    char name[32];
    snprintf(name, sizeof name, "module-%d", (int)getpid());
    setenv("SLUICE_TENANT", name, 1);
    setenv("SLUICE_MEMORY", "1000m", 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED && hook_cuCtxCreate_v2(&context, 0, 0) == 0);
}

static void stacks(void) {
    begin();
    CHECK(hook_cuCtxSetLimit(0, 16384) == 2 && fake.peak_bytes == CONTEXT, "took %.0f MiB", (double)fake.peak_bytes / MIB);
    OVERHEAD(0);
    CHECK(hook_cuCtxSetLimit(0, 2048) == 0);
    OVERHEAD(264 * MIB);
    CHECK(hook_cuCtxSetLimit(0, 4096) == 2 && fake.limits[0] == 2048 && fake.peak_bytes == CONTEXT + 264 * MIB);
    CHECK(hook_cuCtxSetLimit(0, 512 << 10) == 1 && hook_cuCtxSetLimit(0, SIZE_MAX) == 1, "the driver's own error");
    CHECK(hook_cuCtxSetLimit(0, 1040) == 0);
    OVERHEAD(16 * THREADS);
    CHECK(hook_cuCtxSetLimit(0, 1024) == 0);
    OVERHEAD(0);
}
static void should_not_ask_for_a_stack_that_does_not_fit(void) {
    CHECK(in_child(stacks) == 0);
}

static void cubins(void) {
    static char cubin[4096], fat[20000];
    begin();
    make_cubin(cubin, 600 * MIB, 4096);
    fake.image_bytes = blocks(600 * MIB + 4096);
    CHECK(hook_cuModuleLoadData(&module, cubin) == 2 && !fake.loads, "the driver was asked");
    make_fat(fat, cubin, false);
    CHECK(hook_cuModuleLoadFatBinary(&module, fat) == 2 && !fake.loads, "the driver was asked");
    struct { uint32_t magic, version; const void *data, *name; } wrapper = {0x466243b1, 1, fat, NULL};
    CHECK(hook_cuModuleLoadFatBinary(&module, &wrapper) == 2 && !fake.loads, "the driver was asked");
    CHECK(sl_tenant.region.gpus[GPU].refused_calls == 3 && fake.peak_bytes == CONTEXT);
    make_cubin(cubin, 400 * MIB, 4096);
    make_fat(fat, cubin, false);
    fake.image_bytes = blocks(400 * MIB + 4096);
    CHECK(hook_cuModuleLoadFatBinary(&module, fat) == 0);
    OVERHEAD(402 * MIB);
    CHECK(hook_cuModuleUnload(module) == 0);
    OVERHEAD(0);
    make_cubin(cubin, 498 * MIB, 2 * MIB); /* exactly what is left */
    fake.image_bytes = 500 * MIB;
    CHECK(hook_cuModuleLoadData(&module, cubin) == 0);
    OVERHEAD(500 * MIB);
    make_cubin(cubin, 64, 64);
    fake.image_bytes = 0; /* it lies in a block that is there */
    CHECK(hook_cuModuleLoadData(&module, cubin) == 0, "a module that fits was refused");
    OVERHEAD(500 * MIB);
}
static void should_not_ask_for_a_cubin_that_does_not_fit(void) {
    CHECK(in_child(cubins) == 0);
}

static CUresult load_file(CUmodule *result, const char *path) {
    return load(result, path);
}
static void files(void) {
    char path[64], cubin[4096];
    begin();
    real.cuModuleLoad = load_file;
    snprintf(path, sizeof path, "%s/image", test_folder);
    make_cubin(cubin, 600 * MIB, 4096);
    for (int text = 0; text < 2; text++) {
        FILE *file = fopen(path, "w");
        CHECK(file && fwrite(text ? ptx(600 * MIB) : cubin, text ? strlen(ptx(600 * MIB)) : sizeof cubin, 1, file) == 1);
        CHECK(fclose(file) == 0 && hook_cuModuleLoad(&module, path) == 2 && !fake.loads, "the driver was asked");
    }
    CHECK(hook_cuModuleLoad(&module, "/nonexistent") == 0 && hook_cuModuleLoad(&module, test_folder) == 0 && fake.loads == 2);
    OVERHEAD(0);
}
static void should_read_files_as_the_driver_does(void) {
    CHECK(in_child(files) == 0);
}

static void compressed(void) {
    static char cubin[4096], fat[20000];
    begin();
    make_cubin(cubin, 600 * MIB, 4096);
    make_fat(fat, cubin, true);
    fake.image_bytes = 602 * MIB;
    CHECK(hook_cuModuleLoadFatBinary(&module, fat) == 2 && fake.loads == 1 && fake.process_bytes == CONTEXT && !module);
    OVERHEAD(0);
}
static void should_undo_what_cannot_be_read(void) {
    CHECK(in_child(compressed) == 0);
}

static void texts(void) {
    begin();
    fake.image_bytes = 202 * MIB;
    CHECK(hook_cuModuleLoadData(&module, ptx(200 * MIB + 9)) == 0 && !fake.links, "a text that fits was linked");
    OVERHEAD(202 * MIB);
    CHECK(hook_cuModuleUnload(module) == 0);
    make_cubin(linked, 600 * MIB, 4096);
    CHECK(hook_cuModuleLoadData(&module, ptx(600 * MIB)) == 2 && fake.links == 1 && fake.loads == 1, "the driver was asked");
    make_cubin(linked, 100 * MIB, 4096); /* most of it was left out */
    fake.image_bytes = 102 * MIB;
    CHECK(hook_cuModuleLoadData(&module, ptx(600 * MIB)) == 0 && fake.links == 2);
    OVERHEAD(102 * MIB);
    CHECK(hook_cuModuleLoadData(&module, ptx(600 * MIB)) == 2 && fake.links == 3, "without a cubin the bound stands");
    CHECK(fake.peak_bytes == CONTEXT + 202 * MIB);
}
static void should_link_a_text_only_where_its_bound_does_not_fit(void) {
    CHECK(in_child(texts) == 0);
}

static void lazily(void) {
    begin();
    fake.lazy = true;
    fake.image_bytes = 302 * MIB;
    CHECK(hook_cuLibraryLoadData(&library, ptx(300 * MIB), NULL, NULL, 0, NULL, NULL, 0) == 0);
    OVERHEAD(300 * MIB); /* nothing of it is there yet */
    sl_overhead_came_back(GPU);
    OVERHEAD(300 * MIB);
    CHECK(!sl_ledger_reserve(GPU, 201 * MIB), "the launch would pass the quota");
    make_cubin(linked, 300 * MIB, 64);
    CHECK(hook_cuModuleLoadData(&module, ptx(300 * MIB)) == 2);
    launch();
    sl_overhead_came_back(GPU);
    OVERHEAD(302 * MIB); /* and not twice */
    CHECK(hook_cuLibraryUnload(library) == 0);
    OVERHEAD(0);
    CHECK(hook_cuLibraryLoadData(&library, ptx(300 * MIB), NULL, NULL, 0, NULL, NULL, 0) == 0);
    OVERHEAD(300 * MIB);
    CHECK(hook_cuLibraryUnload(library) == 0);
    OVERHEAD(0);
    CHECK(hook_cuLibraryLoadData(&library, ptx(501 * MIB), NULL, NULL, 0, NULL, NULL, 0) == 2);
    CHECK(fake.peak_bytes <= CONTEXT + 302 * MIB);
}
static void should_charge_a_library_before_its_launch(void) {
    CHECK(in_child(lazily) == 0);
}

/* The driver takes whole blocks, and with managed memory the overhead is known only between two bounds. So the end of a library must be
 * measured; otherwise the rest of its block would hide a part of the next library. */
static void lazily_beside_managed(void) {
    begin();
    fake.lazy = true;
    sl_ledger_commit(GPU, SL_USE_MANAGED, 200 * MIB, sl_ledger_reserve(GPU, 200 * MIB));
    take(200 * MIB);
    for (uint64_t bytes = 5 * MIB; bytes >= 4 * MIB; bytes -= MIB / 2) {
        fake.image_bytes = blocks(bytes);
        CHECK(hook_cuLibraryLoadData(&library, ptx(bytes), NULL, NULL, 0, NULL, NULL, 0) == 0);
        CHECK(account()->overhead_bytes == bytes, "%.3f of %.3f MiB", (double)account()->overhead_bytes / MIB, (double)bytes / MIB);
        launch();
        for (int i = 0; i < 5; i++, usleep(110000)) /* until it is beyond doubt */
            sl_overhead_came_back(GPU);
        CHECK(account()->overhead_bytes == blocks(bytes), "%.3f of %.3f MiB", (double)account()->overhead_bytes / MIB,
              (double)blocks(bytes) / MIB);
        CHECK(hook_cuLibraryUnload(library) == 0 && account()->overhead_bytes == 0, "%.3f MiB are left after %.3f",
              (double)account()->overhead_bytes / MIB, (double)bytes / MIB);
    }
}
static void should_measure_what_the_end_of_a_library_gives_back(void) {
    CHECK(in_child(lazily_beside_managed) == 0);
}

static void load_bytes(uint64_t bytes) {
    fake.image_bytes = blocks(bytes);
    CHECK(hook_cuLibraryLoadData(&library, ptx(bytes), NULL, NULL, 0, NULL, NULL, 0) == 0);
}
static void touch_managed(uint64_t bytes) {
    sl_ledger_commit(GPU, SL_USE_MANAGED, bytes, sl_ledger_reserve(GPU, bytes));
    take(bytes);
}
static void free_managed(void) {
    uint64_t bytes = account()->managed_bytes;
    sl_ledger_refund(GPU, SL_USE_MANAGED, bytes);
    fake.process_bytes -= bytes;
}
/* Memory that was freed in a stream is in flight until the program waits: meanwhile no call is measured. */
static void begin_free(void) {
    CHECK(sl_ledger_reserve(GPU, 12 * MIB));
}
static void end_free(void) {
    sl_ledger_cancel(GPU, 12 * MIB);
}

/* After this more is booked than is there: the rest of a block, */
static void end_library_unseen(void) {
    touch_managed(4 * MIB);
    load_bytes(3 * MIB + 7);
    begin_free();
    CHECK(hook_cuLibraryUnload(library) == 0);
    end_free();
}
/* or a block that a look saw in passing. */
static void look_in_passing(void) {
    touch_managed(4 * MIB);
    take(2 * MIB);
    sl_overhead_came_back(GPU);
    fake.process_bytes -= 2 * MIB;
}
/* Even exact looks may see the block, and it goes without a call. */
static void look_again_in_passing(void) {
    take(2 * MIB);
    sl_overhead_came_back(GPU);
    sl_overhead_came_back(GPU);
    fake.process_bytes -= 2 * MIB;
}

static void (*const ways[])(void) = {end_library_unseen, look_in_passing, look_again_in_passing};
static void (*too_much)(void);
static bool is_busy;
static void promises_beside_too_much(void) {
    begin();
    fake.lazy = fake.at_once = true;
    too_much();
    CHECK(account()->overhead_bytes > 0, "nothing is booked too high");
    if (is_busy)
        begin_free();
    else
        free_managed();
    load_bytes(5 * MIB + MIB / 2);
    if (is_busy) {
        end_free();
        free_managed();
    }
    sl_overhead_came_back(GPU);
    OVERHEAD(6 * MIB);
    CHECK(hook_cuLibraryUnload(library) == 0);
    sl_overhead_came_back(GPU);
    OVERHEAD(0);
}
static void should_have_the_drivers_figure_at_rest(void) {
    for (int i = 0; i < 6; i++) {
        too_much = ways[i / 2];
        is_busy = i % 2;
        CHECK(in_child(promises_beside_too_much) == 0, "way %d, %s", i / 2, is_busy ? "busy" : "quiet");
    }
}

static void waits_beside_too_much(void) {
    begin();
    fake.lazy = fake.at_once = true;
    too_much();
    fake.at_once = false;
    if (is_busy)
        begin_free();
    else
        free_managed();
    load_bytes(5 * MIB + MIB / 2);
    if (is_busy) {
        end_free();
        free_managed();
    }
    for (int i = 0; i < 3; i++)
        sl_overhead_came_back(GPU);
    OVERHEAD(5 * MIB + MIB / 2);
    launch();
    sl_overhead_came_back(GPU);
    OVERHEAD(6 * MIB);
}
static void should_keep_a_promise_that_is_not_taken(void) {
    for (int i = 0; i < 6; i++) {
        too_much = ways[i / 2];
        is_busy = i % 2;
        CHECK(in_child(waits_beside_too_much) == 0, "way %d, %s", i / 2, is_busy ? "busy" : "quiet");
    }
}

/* The look that measures the end also sees what came before and was hidden by memory in flight. */
static void end_beside_hidden_growth(void) {
    begin();
    fake.lazy = fake.at_once = true;
    load_bytes(5 * MIB + MIB / 2);
    CHECK(hook_cuCtxSetLimit(HEAP, 64 * MIB) == 0);
    OVERHEAD(6 * MIB + 66 * MIB);
    take(66 * MIB); /* the launch */
    begin_free();
    sl_overhead_came_back(GPU);
    end_free();
    CHECK(hook_cuLibraryUnload(library) == 0);
    OVERHEAD(66 * MIB);
}
static void should_tell_an_end_from_growth_in_one_look(void) {
    CHECK(in_child(end_beside_hidden_growth) == 0);
}

static void heaps(void) {
    begin();
    CHECK(hook_cuCtxSetLimit(HEAP, 4 * MIB) == 0);
    OVERHEAD(0);
    CHECK(hook_cuCtxSetLimit(HEAP, 600 * MIB) == 2 && fake.limits[HEAP] == 4 * MIB && hook_cuCtxSetLimit(HEAP, 256 * MIB) == 0);
    OVERHEAD(258 * MIB);
    CHECK(hook_cuCtxSetLimit(PRINTF, 900 * MIB) == 0);
    OVERHEAD(258 * MIB);
    CHECK(hook_cuCtxSetLimit(HEAP, UINT64_MAX) == 2 && hook_cuCtxSetLimit(HEAP, 128 * MIB) == 0);
    OVERHEAD(130 * MIB);
    take(130 * MIB); /* the launch */
    sl_overhead_came_back(GPU);
    OVERHEAD(130 * MIB);
    CHECK(hook_cuCtxDestroy_v2(context) == 0);
    OVERHEAD(0);
    CHECK(hook_cuCtxCreate_v2(&context, 0, 0) == 0 && hook_cuCtxSetLimit(HEAP, 8 * MIB) == 0);
    OVERHEAD(0);
}
static void should_charge_the_heap_when_it_is_set(void) {
    CHECK(in_child(heaps) == 0);
}

static void hides(void) {
    fake.hidden = true;
    begin();
    sl_ledger_commit(GPU, SL_USE_CONTEXT, 2 * MIB, sl_ledger_reserve(GPU, 2 * MIB));
    CHECK(hook_cuCtxSetLimit(0, 2048) == 0);
    OVERHEAD(264 * MIB);
    fake.image_bytes = 202 * MIB;
    CHECK(hook_cuModuleLoadData(&module, ptx(200 * MIB + 1)) == 0);
    OVERHEAD(264 * MIB + 202 * MIB);
    CHECK(hook_cuModuleUnload(module) == 0);
    OVERHEAD(264 * MIB);
    CHECK(hook_cuCtxSetLimit(0, 16384) == 2 && hook_cuCtxSetLimit(0, 1024) == 0);
    OVERHEAD(0);
}
static void should_count_what_was_computed_where_nvml_does_not_know_the_process(void) {
    CHECK(in_child(hides) == 0);
}

/* A call that the driver refuses changes nothing. NVML does not know the process here, so no look corrects a wrong figure. */
static void refuses(void) {
    begin();
    if (fake.hidden)
        sl_ledger_commit(GPU, SL_USE_CONTEXT, 2 * MIB, sl_ledger_reserve(GPU, 2 * MIB));
    fake.answer = 1;
    CHECK(hook_cuModuleLoadData(&module, ptx(200 * MIB)) == 1 && hook_cuCtxSetLimit(0, 2048) == 1 && hook_cuCtxSetLimit(HEAP, 200 * MIB) == 1);
    OVERHEAD(0);
    fake.answer = 0;
    fake.image_bytes = 50 * MIB;
    CHECK(hook_cuModuleLoadData(&module, ptx(50 * MIB)) == 0 && hook_cuCtxSetLimit(0, 1056) == 0 && hook_cuCtxSetLimit(HEAP, 64 * MIB) == 0);
    OVERHEAD(50 * MIB + 32 * THREADS + 66 * MIB);
    fake.answer = 1;
    CHECK(hook_cuModuleUnload(module) == 1 && hook_cuCtxSetLimit(0, 1024) == 1 && hook_cuCtxSetLimit(HEAP, 8 * MIB) == 1);
    OVERHEAD(50 * MIB + 32 * THREADS + 66 * MIB);
    fake.answer = 0;
    CHECK(hook_cuModuleUnload(module) == 0 && hook_cuCtxSetLimit(0, 1024) == 0);
    OVERHEAD(66 * MIB);
    if (!fake.hidden)
        CHECK(hook_cuCtxDestroy_v2(context) == 0);
    if (!fake.hidden)
        OVERHEAD(0);
}
static void refuses_a_hidden_one(void) {
    fake.hidden = true;
    refuses();
}
static void should_charge_and_refund_only_what_the_driver_did(void) {
    CHECK(in_child(refuses) == 0);
    CHECK(in_child(refuses_a_hidden_one) == 0);
}

static void load_another(void) {
    CUmodule another;
    fake.image_bytes = 102 * MIB;
    CHECK(hook_cuModuleLoadData(&another, ptx(100 * MIB + 1)) == 0 && another == module);
}
static void look(void) {
    sl_overhead_came_back(GPU);
}
/* With untouched managed memory no look corrects a wrong figure. */
static void unload_with(void (*others)(void), uint64_t overhead) {
    begin();
    sl_ledger_commit(GPU, SL_USE_MANAGED, 200 * MIB, sl_ledger_reserve(GPU, 200 * MIB));
    fake.image_bytes = 52 * MIB;
    CHECK(hook_cuCtxSetLimit(0, 1056) == 0 && hook_cuModuleLoadData(&module, ptx(50 * MIB + 1)) == 0);
    CHECK(account()->overhead_bytes == 32 * THREADS + 52 * MIB);
    meanwhile = others;
    CHECK(hook_cuModuleUnload(module) == 0);
    CHECK(account()->overhead_bytes == 32 * THREADS + overhead && !account()->in_flight_bytes, "overhead %.3f MiB",
          (double)account()->overhead_bytes / MIB);
}
static void reuses(void) {
    unload_with(load_another, 102 * MIB);
    CHECK(hook_cuModuleUnload(module) == 0 && account()->overhead_bytes == 32 * THREADS);
}
static void looks(void) {
    unload_with(look, 0);
}
static void should_end_a_module_before_its_handle_is_used_again(void) {
    CHECK(in_child(reuses) == 0);
}
static void should_not_see_a_module_go_before_it_is_booked(void) {
    CHECK(in_child(looks) == 0);
}

static void should_add_up_the_variables_of_a_text(void) {
    static const struct { const char *text; uint64_t bytes; } cases[] = {
        {".version 7.0 .global .align 8 .b8 a[100];", 100}, {".version 7.0\n.visible .global .f64 a[10][20];", 1600},
        {".version 7.0 .global .v4 .f32 a[3], b;", 64}, {".version 7.0 .global .u32 a[] = {1, 2, 3};", 12},
        {".version 7.0 .global .u32 a[5] = {1, 2}; .global .u64 b = 7;", 28}, {".version 7.0 .extern .global .u32 a[9];", 0},
        {".version 7.0 ld.global.u32 %r, [a];", 0}, {".version 7.0 /* .global .u32 a; */ .file 1 \".global .u32 b;\"", 0},
        {".version 7.0 .global .texref t;", 8}, {".version 7.0 .global", 0}, {".version 7.0 .global .b8 a[", 0},
        {".version 7.0 .global .b8 a[99999999999999999999];", SL_CODE_SIZE_MOST},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        sl_code_size_t size = sl_code_size(cases[i].text, SIZE_MAX, 90);
        CHECK(size.known && size.data_bytes == cases[i].bytes, "%s: %llu", cases[i].text, (unsigned long long)size.data_bytes);
    }
}

/* Whatever an image says of itself, nothing is read beyond its end. */
static void should_not_trust_an_image(void) {
    static char cubin[4096], fat[20000];
    make_cubin(cubin, 600 * MIB, 4096);
    size_t length = make_fat(fat, cubin, false);
    unsigned seed = 7;
    for (int round = 0; round < 20000; round++) {
        size_t bytes = round % 2 ? sizeof cubin : length, cut = round % 4 < 2 ? bytes : (size_t)rand_r(&seed) % bytes;
        char *image = malloc(cut ? cut : 1);
        memcpy(image, round % 2 ? cubin : fat, cut);
        for (int i = 0; cut > 4 && i < 3; i++)
            image[(size_t)rand_r(&seed) % (round % 8 < 4 ? cut : cut < 2048 ? cut : 2048)] = (char)rand_r(&seed);
        sl_code_size(image, cut, 90);
        free(image);
    }
}

int main(void) {
    use_test_folder();
    RUN(should_end_a_module_before_its_handle_is_used_again);
    RUN(should_not_see_a_module_go_before_it_is_booked);
    RUN(should_add_up_the_variables_of_a_text);
    RUN(should_not_trust_an_image);
    RUN(should_not_ask_for_a_stack_that_does_not_fit);
    RUN(should_not_ask_for_a_cubin_that_does_not_fit);
    RUN(should_read_files_as_the_driver_does);
    RUN(should_undo_what_cannot_be_read);
    RUN(should_link_a_text_only_where_its_bound_does_not_fit);
    RUN(should_charge_a_library_before_its_launch);
    RUN(should_measure_what_the_end_of_a_library_gives_back);
    RUN(should_have_the_drivers_figure_at_rest);
    RUN(should_keep_a_promise_that_is_not_taken);
    RUN(should_tell_an_end_from_growth_in_one_look);
    RUN(should_charge_the_heap_when_it_is_set);
    RUN(should_count_what_was_computed_where_nvml_does_not_know_the_process);
    RUN(should_charge_and_refund_only_what_the_driver_did);
    return 0;
}
