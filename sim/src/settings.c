/* Reads the SLUICE_SIM_* variables. Nonsense is never replaced by a default: it is kept as the problem that cuInit and
 * nvmlInit fail with. */
#define _GNU_SOURCE
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static sim_settings_t settings;

static int parse_size(const char *text, uint64_t *bytes) {
    if (!isdigit((unsigned char)text[0])) return 0;
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (errno || strspn(text, "0123456789.") != (size_t)(end - text)) return 0;
    static const char units[] = "kmgt";
    const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    for (const char *step = units; unit && step <= unit; step++) number *= 1024;
    if (unit) end++;
    if (strcasecmp(end, "ib") != 0 && strcasecmp(end, "b") != 0 && *end != 0) return 0;
    if (number >= 1e18) return 0;
    *bytes = (uint64_t)number;
    return 1;
}

int sim_settings_duration(const char *text, uint64_t *nanoseconds) {
    static const struct { const char *unit; double factor; } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    if (!isdigit((unsigned char)text[0])) return 0;
    char *end;
    double number = strtod(text, &end);
    if (strspn(text, "0123456789.") != (size_t)(end - text) || number > 1e6) return 0;
    if (*end == 0 && number == 0) return *nanoseconds = 0, 1;
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) return *nanoseconds = (uint64_t)(number * units[i].factor), 1;
    return 0;
}

static void refuse(const char *name, const char *value, const char *wanted) {
    if (settings.problem[0] == 0)
        snprintf(settings.problem, sizeof settings.problem, "%s=%.60s is not %s", name, value, wanted);
}

static uint64_t whole(const char *name, uint64_t fallback, uint64_t least, uint64_t most, const char *wanted) {
    const char *value = getenv(name);
    if (!value) return fallback;
    char *end;
    unsigned long long number = isdigit((unsigned char)*value) ? strtoull(value, &end, 10) : (end = (char *)value, 0);
    if (*end != 0 || end == value || number < least || number > most) return refuse(name, value, wanted), fallback;
    return number;
}

static uint64_t size(const char *name, uint64_t fallback, uint64_t least) {
    const char *value = getenv(name);
    uint64_t bytes;
    if (!value) return fallback;
    if (!parse_size(value, &bytes) || bytes < least) return refuse(name, value, "a size such as 16g"), fallback;
    return bytes;
}

static void text(const char *name, char *target, size_t room) {
    const char *value = getenv(name);
    if (!value) return;
    if (strlen(value) >= room) refuse(name, value, "short enough");
    else strcpy(target, value);
}

static int gpu_with_uuid(const char *name, size_t length) {
    for (unsigned gpu = 0; gpu < settings.gpus; gpu++) {
        unsigned char uuid[16];
        char text[48] = "GPU-";
        sim_device_uuid((int)gpu, uuid);
        for (int i = 0, at = 4; i < 16; i++)
            at += sprintf(text + at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
        if (length > 4 && strncmp(text, name, length) == 0) return (int)gpu;
    }
    return -1;
}

/* As the driver does: numbers or (beginnings of) UUIDs; the list ends at the first that means nothing, or comes twice. */
static void show(const char *list) {
    for (const char *name = list; settings.visible < settings.gpus; name++) {
        size_t length = strcspn(name, ",");
        char *end;
        long number = strtol(name, &end, 10);
        int gpu = end > name && (size_t)(end - name) == length ? (int)number : gpu_with_uuid(name, length);
        if (gpu < 0 || gpu >= (int)settings.gpus) return;
        for (unsigned i = 0; i < settings.visible; i++)
            if (settings.visible_gpu[i] == gpu) return;
        settings.visible_gpu[settings.visible++] = gpu;
        name += length;
        if (!*name) return;
    }
}

/* "1" or "1@3s". */
static void lose(const char *name) {
    const char *value = getenv(name);
    settings.lost = -1;
    if (!value) return;
    char *end;
    unsigned long gpu = strtoul(value, &end, 10);
    bool timed = *end == '@', read = isdigit((unsigned char)*value) && gpu < settings.gpus;
    if (read && (timed ? sim_settings_duration(end + 1, &settings.lost_after_ns) : !*end)) settings.lost = (int)gpu;
    else refuse(name, value, "the number of a GPU, such as 1, or with a time, such as 1@3s");
}

static void load(void) {
    settings.gpus = (unsigned)whole("SLUICE_SIM_GPUS", 1, 1, SIM_GPUS_MAX, "a number of GPUs from 1 to 16");
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    for (unsigned i = 0; !visible && i < settings.gpus; i++) settings.visible_gpu[settings.visible++] = (int)i;
    if (visible) show(visible);
    settings.memory_bytes = size("SLUICE_SIM_MEMORY", 16ull << 30, 64ull << 20) & ~((2ull << 20) - 1);
    settings.context_bytes = size("SLUICE_SIM_CONTEXT", 64ull << 20, 0);
    settings.link_bytes_per_s = size("SLUICE_SIM_LINK", 55ull << 30, 1 << 20);
    settings.sms = (int)whole("SLUICE_SIM_SMS", 132, 1, 4096, "a number of multiprocessors");
    settings.driver = (int)whole("SLUICE_SIM_DRIVER", 13000, 2000, 13000, "a CUDA version from 2000 to 13000, such as 12040");
    settings.temperature = (unsigned)whole("SLUICE_SIM_TEMPERATURE", 0, 0, 200, "a temperature of at most 200 degrees Celsius");
    settings.ecc = (unsigned)whole("SLUICE_SIM_ECC", 0, 0, 1000000, "a number of memory errors");
    settings.xid = (unsigned)whole("SLUICE_SIM_XID", 0, 0, 1000, "an Xid, such as 79");
    lose("SLUICE_SIM_LOST");
    const char *launch = getenv("SLUICE_SIM_LAUNCH");
    if (launch && !sim_settings_duration(launch, &settings.launch_ns)) refuse("SLUICE_SIM_LAUNCH", launch, "a duration such as 3us");
    const char *blocks = getenv("CUDA_LAUNCH_BLOCKING");
    settings.launch_blocks = blocks && strcmp(blocks, "1") == 0;
    snprintf(settings.state_path, sizeof settings.state_path, "/dev/shm/sluice-sim-%u", (unsigned)geteuid());
    text("SLUICE_SIM_STATE", settings.state_path, sizeof settings.state_path);
    text("SLUICE_SIM_FAULTS", settings.faults, sizeof settings.faults);
    if (settings.problem[0]) fprintf(stderr, "sluice-sim: %s\n", settings.problem);
}

const sim_settings_t *sim_settings(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return &settings;
}

uint64_t sim_settings_memory(int gpu) {
    (void)gpu;
    return sim_settings()->memory_bytes;
}

void sim_device_uuid(int device, unsigned char bytes[16]) {
    memcpy(bytes, "sluice-sim-gpu", 14);
    bytes[14] = 0;
    bytes[15] = (unsigned char)device;
}
