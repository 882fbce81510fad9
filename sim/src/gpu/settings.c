/* Reads the SLUICE_SIM_* variables. An invalid value is never replaced by a default: it is kept as the problem that cuInit and
 * nvmlInit fail with. */
#define _GNU_SOURCE
#include "gpu/units.h"

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

/* "0:2" or "0:2,3:7": GPU and number of instances. */
static void split(const char *name) {
    const char *value = getenv(name);
    for (const char *at = value; at && *at;) {
        unsigned gpu, count;
        int length = 0;
        bool read = sscanf(at, "%u:%u%n", &gpu, &count, &length) == 2 && (at[length] == 0 || (at[length] == ',' && at[length + 1]));
        if (!read || gpu >= settings.gpus || count < 1 || count > SIM_MIG_MOST) return refuse(name, value, "GPUs and their instances, such as 0:2");
        settings.instances[gpu] = count;
        at += length + (at[length] == ',');
    }
    if (sim_units(&settings) > SIM_GPUS_MAX) refuse(name, value, "at most 16 GPUs and instances together");
}

/* "535.43" or "535.54.03". */
static void choose_nvml(const char *name) {
    const char *value = getenv(name);
    snprintf(settings.nvml, sizeof settings.nvml, "%s", SIM_NVML_VERSION);
    if (!value) return;
    int length = 0;
    bool read = sscanf(value, "%d.%d%n", &settings.nvml_major, &settings.nvml_minor, &length) == 2 && strlen(value) < sizeof settings.nvml;
    if (read && strspn(value + length, ".0123456789") == strlen(value + length)) strcpy(settings.nvml, value);
    else refuse(name, value, "a version of NVML, such as 535.43");
}

static void load(void) {
    settings.gpus = (unsigned)whole("SLUICE_SIM_GPUS", 1, 1, SIM_GPUS_MAX, "a number of GPUs from 1 to 16");
    settings.fastest = (int)whole("SLUICE_SIM_FASTEST", 0, 0, settings.gpus - 1, "the number of a GPU");
    split("SLUICE_SIM_MIG");
    lose("SLUICE_SIM_LOST");
    sim_units_show(&settings, getenv("CUDA_VISIBLE_DEVICES"), getenv("CUDA_DEVICE_ORDER"));
    choose_nvml("SLUICE_SIM_NVML");
    settings.memory_bytes = size("SLUICE_SIM_MEMORY", 16ull << 30, 64ull << 20) & ~((2ull << 20) - 1);
    settings.reserved_bytes = size("SLUICE_SIM_RESERVED", 0, 0);
    settings.context_bytes = size("SLUICE_SIM_CONTEXT", 64ull << 20, 0);
    settings.link_bytes_per_s = size("SLUICE_SIM_LINK", 55ull << 30, 1 << 20);
    settings.pageable_bytes_per_s = size("SLUICE_SIM_PAGEABLE", settings.link_bytes_per_s, 1 << 20);
    settings.checkpoint_percent = (unsigned)whole("SLUICE_SIM_CHECKPOINT", 1, 0, 1000, "a percentage of an H200's time, from 0 to 1000");
    settings.sms = (int)whole("SLUICE_SIM_SMS", 132, 1, 4096, "a number of multiprocessors");
    settings.driver = (int)whole("SLUICE_SIM_DRIVER", 13000, 2000, 13000, "a CUDA version from 2000 to 13000, such as 12040");
    settings.temperature = (unsigned)whole("SLUICE_SIM_TEMPERATURE", 0, 0, 200, "a temperature of at most 200 degrees Celsius");
    settings.ecc = (unsigned)whole("SLUICE_SIM_ECC", 0, 0, 1000000, "a number of memory errors");
    settings.xid = (unsigned)whole("SLUICE_SIM_XID", 0, 0, 1000, "an Xid, such as 79");
    const char *change = getenv("SLUICE_SIM_SWITCH");
    if (change && !sim_settings_duration(change, &settings.switch_ns)) refuse("SLUICE_SIM_SWITCH", change, "a duration such as 139us");
    const char *launch = getenv("SLUICE_SIM_LAUNCH");
    if (launch && !sim_settings_duration(launch, &settings.launch_ns)) refuse("SLUICE_SIM_LAUNCH", launch, "a duration such as 3us");
    const char *frees = getenv("SLUICE_SIM_FREE");
    if (frees && !sim_settings_duration(frees, &settings.free_ns)) refuse("SLUICE_SIM_FREE", frees, "a duration such as 3ms");
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
