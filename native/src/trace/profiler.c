/* profiler: shows the library's waits as NVTX ranges to a profiler, if there is one: the program's side of the protocol in nvtx.h.
 *
 * NVTX_INJECTION64_PATH names the profiler's library. The profiler itself, or the program's own NVTX, has loaded it already. It fills
 * our tables, as it does for each part of a program that uses NVTX. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "driver/driver.h"
#include "trace/nvtx.h"

bool sl_nvtx_listens;

/* Only one module of the protocol is used. But a profiler may refuse a client that lacks one, or has it in another size. The child of a
 * fork keeps the tables: the profiler stays loaded there. */
#define MODULES 7
#define MOST_FUNCTIONS 16
static const unsigned sizes[MODULES] = {0, SL_NVTX_CORE_SIZE, 9, 15, 7, SL_NVTX_CORE2_SIZE, 7};
static sl_nvtx_function_t functions[MODULES][MOST_FUNCTIONS], *tables[MODULES][MOST_FUNCTIONS];

static int functions_of(int module, sl_nvtx_function_t ***table, unsigned *size) {
    if (module <= 0 || module >= MODULES)
        return 0;
    if (table)
        *table = tables[module];
    if (size)
        *size = sizes[module];
    return 1;
}

static void set_version(uint32_t version) {
    (void)version;
}

static const void *export_table(uint32_t id) {
    static const sl_nvtx_callbacks_t callbacks = {sizeof callbacks, functions_of};
    static const struct {
        uint64_t struct_bytes;
        uint32_t version, reserved;
        void (*set_version)(uint32_t version);
    } versions = {sizeof versions, 3, 0, set_version};
    enum { VERSIONS = 3 };
    return id == SL_NVTX_CALLBACKS ? (const void *)&callbacks : id == VERSIONS ? &versions : NULL;
}

void sl_nvtx_look(void) {
    static bool looked;
    if (__atomic_exchange_n(&looked, true, __ATOMIC_RELAXED))
        return;
    int saved = errno;
    const char *path = secure_getenv("NVTX_INJECTION64_PATH");
    const sl_elf_libc_t *libc = path && *path ? sl_driver_libc() : NULL;
    void *library = libc ? libc->dlopen(path, RTLD_LAZY) : NULL;
    void *found = library ? libc->dlsym(library, "InitializeInjectionNvtx2") : NULL;
    int (*initialize)(const void *(*)(uint32_t)) = found && !sl_elf_is_own(found) ? (int (*)(const void *(*)(uint32_t)))found : NULL;
    for (unsigned i = 0; i < MODULES * MOST_FUNCTIONS; i++)
        tables[i / MOST_FUNCTIONS][i % MOST_FUNCTIONS] = &functions[i / MOST_FUNCTIONS][i % MOST_FUNCTIONS];
    if (initialize && initialize(export_table))
        sl_nvtx_listens = functions[SL_NVTX_CORE][SL_NVTX_PUSH_A] && functions[SL_NVTX_CORE][SL_NVTX_POP];
    errno = saved;
}

void sl_nvtx_push_slowly(const char *name) {
    ((int (*)(const char *))(void *)functions[SL_NVTX_CORE][SL_NVTX_PUSH_A])(name);
}

void sl_nvtx_pop_slowly(void) {
    ((int (*)(void))(void *)functions[SL_NVTX_CORE][SL_NVTX_POP])();
}
