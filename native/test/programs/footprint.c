/* footprint: takes memory without asking for it by name, and says after each step what NVML says that the process has.
 *   --hold STEP      stops behind that step until its input ends, so that others can look
 *   --device N       CUDA device (0)
 *   --stack BYTES    the larger stack (16384)
 *   --global BYTES   the module's variable (67108864)
 * Lines: "STEP STATUS BYTES", BYTES -1 when NVML does not list the process. Steps, in order: primary, again, released,
 * second, module, unloaded, library, dropped, stack, unstacked, memory, destroyed, reset, back. */
#include "driver_calls.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    unsigned pid;
    unsigned long long bytes;
    unsigned instances[2];
} process_t;

static int device;
static size_t stack = 16384, global = 64u << 20;
static const char *hold = "";
static void *nvml_device;
static int (*list)(void *, unsigned *, process_t *);

static int (*cuCtxSetLimit)(int, size_t);
static int (*cuModuleLoadData)(void **, const void *);
static int (*cuModuleUnload)(void *);
static int (*cuLibraryLoadData)(void **, const void *, void *, void *, unsigned, void *, void *, unsigned);
static int (*cuLibraryUnload)(void *);
static int (*cuDeviceGetUuid_v2)(unsigned char *, int);

static void load_more(void) {
    *(void **)&cuCtxSetLimit = driver_function("cuCtxSetLimit");
    *(void **)&cuModuleLoadData = driver_function("cuModuleLoadData");
    *(void **)&cuModuleUnload = driver_function("cuModuleUnload");
    *(void **)&cuLibraryLoadData = driver_function("cuLibraryLoadData");
    *(void **)&cuLibraryUnload = driver_function("cuLibraryUnload");
    *(void **)&cuDeviceGetUuid_v2 = driver_function("cuDeviceGetUuid_v2");
}

static void open_nvml(void) {
    unsigned char uuid[16];
    char text[48] = "GPU-";
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library || cuDeviceGetUuid_v2(uuid, device) != 0)
        return;
    for (int i = 0, at = 4; i < 16; i++)
        at += sprintf(text + at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
    int (*init)(void), (*find)(const char *, void **);
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&find = dlsym(library, "nvmlDeviceGetHandleByUUID");
    *(void **)&list = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!init || !find || !list || init() != 0 || find(text, &nvml_device) != 0)
        list = NULL;
}

static long long own_bytes(void) {
    process_t processes[512];
    unsigned count = 512;
    if (!list || list(nvml_device, &count, processes) != 0)
        return -1;
    for (unsigned i = 0; i < count; i++)
        if (processes[i].pid == (unsigned)getpid())
            return (long long)processes[i].bytes;
    return -1;
}

static int say(const char *step, int status) {
    printf("%s %d %lld\n", step, status, own_bytes());
    if (strcmp(step, hold) == 0)
        while (getchar() != EOF)
            ;
    return status;
}

static int options(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--hold") == 0)
            hold = argv[i + 1];
        else if (strcmp(argv[i], "--device") == 0)
            device = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--stack") == 0)
            stack = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--global") == 0)
            global = strtoull(argv[i + 1], NULL, 10);
        else
            return fprintf(stderr, "footprint: unknown option %s\n", argv[i]), 2;
    }
    return 0;
}

int main(int argc, char **argv) {
    char code[256];
    void *primary = NULL, *second = NULL, *module = NULL, *library = NULL;
    uint64_t address = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (options(argc, argv) != 0)
        return 2;
    snprintf(code, sizeof code, ".version 6.0\n.target sm_52\n.address_size 64\n.visible .entry k(){ret;}\n"
             ".visible .global .align 4 .b8 big[%zu];\n", global);
    driver_load();
    load_more();
    int status = cuInit(0);
    open_nvml();
    if (status != 0 || say("primary", cuDevicePrimaryCtxRetain(&primary, device)) != 0)
        return 4;
    cuCtxSetCurrent(primary);
    say("again", cuDevicePrimaryCtxRetain(&primary, device));
    say("released", cuDevicePrimaryCtxRelease_v2(device));
    say("second", cuCtxCreate_v2(&second, 0, device));
    cuCtxSetCurrent(primary);
    if (say("module", cuModuleLoadData(&module, code)) == 0)
        say("unloaded", cuModuleUnload(module));
    if (say("library", cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0)) == 0)
        say("dropped", cuLibraryUnload(library));
    say("stack", cuCtxSetLimit(0, stack));
    say("unstacked", cuCtxSetLimit(0, 1024));
    say("memory", cuMemAlloc_v2(&address, 100u << 20));
    if (second)
        say("destroyed", cuCtxDestroy_v2(second));
    say("reset", cuDevicePrimaryCtxReset_v2(device));
    say("back", cuDevicePrimaryCtxRetain(&primary, device));
    return 0;
}
