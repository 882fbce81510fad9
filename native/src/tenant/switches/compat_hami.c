/* compat_hami: the switches of HAMi-core (libvgpu.so).
 *
 * CUDA_DEVICE_MEMORY_LIMIT[_i], CUDA_DEVICE_SM_LIMIT[_i], GPU_CORE_UTILIZATION_POLICY, CUDA_TASK_PRIORITY,
 * CUDA_DEVICE_MEMORY_SHARED_CACHE, LIBCUDA_LOG_LEVEL, CUDA_DISABLE_CONTROL. A line of the file /overrideEnv goes before the
 * variable of its name; the host's environment stays as it is. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tenant/switches/compat.h"
#include "os/os.h"
#include "os/size.h"

#define LIMIT "CUDA_DEVICE_MEMORY_LIMIT"
#define SM_LIMIT "CUDA_DEVICE_SM_LIMIT"
#define PRIORITY "CUDA_TASK_PRIORITY"
#define SHARED_CACHE "CUDA_DEVICE_MEMORY_SHARED_CACHE"
#define DEFAULT_CACHE "/tmp/cudevshr.cache"
#define OVERRIDE_BYTES 4096

const char *sl_compat_hami_override = "/overrideEnv";

/* The file's lines, each ended by a NUL. */
typedef struct {
    char text[OVERRIDE_BYTES];
    ssize_t length;
} override_t;

static void read_override(override_t *override) {
    override->length = sl_os_read(sl_compat_hami_override, override->text, sizeof override->text);
    for (ssize_t i = 0; i < override->length; i++)
        if (override->text[i] == '\n' || override->text[i] == '\r')
            override->text[i] = 0;
}

/* The last line counts. NULL: the file does not name the variable; "": it unsets the variable. */
static const char *overridden(const override_t *override, const char *name) {
    const char *found = NULL;
    size_t length = strlen(name);
    for (ssize_t at = 0; at < override->length; at += (ssize_t)strlen(override->text + at) + 1) {
        const char *line = override->text + at + strspn(override->text + at, " \t");
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            found = line + length + 1;
    }
    return found;
}

static const char *value_of(const override_t *override, const char *name) {
    const char *value = overridden(override, name);
    return !value ? sl_options_variable(name) : *value ? value : NULL;
}

/* Less than 0: of all GPUs. */
static const char *name_of(const char *limit, int gpu, char buffer[40]) {
    snprintf(buffer, 40, gpu < 0 ? "%s" : "%s_%d", limit, gpu);
    return buffer;
}

/* Zero, with or without a unit, means no limit. 0x is base 16, as in HAMi-core. */
static bool read_size(const char *text, uint64_t *bytes) {
    if (sl_size_parse_older(text, strlen(text), bytes))
        return true;
    char *unit, one[16];
    bool hexadecimal = strncasecmp(text, "0x", 2) == 0;
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &unit, hexadecimal ? 16 : 10) : 1;
    if ((number && !hexadecimal) || snprintf(one, sizeof one, "1%s", unit) >= (int)sizeof one ||
        !sl_size_parse_older(one, strlen(one), bytes))
        return false;
    return !__builtin_mul_overflow(*bytes, number, bytes) && *bytes <= INT64_MAX;
}

static bool read_memory(const override_t *override, sl_options_t *options, sl_reason_t *reason) {
    for (int gpu = -1; gpu < SL_OPTIONS_GPUS; gpu++) {
        char name[40];
        uint64_t bytes;
        const char *text = value_of(override, name_of(LIMIT, gpu, name));
        if (!text)
            continue;
        if (!read_size(text, &bytes))
            return sl_report_fail(reason, "%s=%.80s: bad size; " SL_SIZE_HINT ", or 0 for no limit", name, text);
        if (gpu < 0)
            sl_options_limit_every_gpu(options, bytes);
        else
            options->memory_bytes[gpu] = bytes;
    }
    return true;
}

/* 0, 100 and more mean no cap, as in HAMi-core. */
static bool read_percent(const char *text, uint32_t *permille) {
    size_t digits = strspn(text, "0123456789");
    bool whole = digits && !text[digits];
    if (whole && (digits > 3 || atoi(text) == 0 || atoi(text) >= 100)) {
        *permille = 0;
        return true;
    }
    return sl_shares_read_older_percent(text, strlen(text), permille);
}

/* By default a tenant that is alone on the GPU may use all of it. */
static bool read_caps(const override_t *override, sl_shares_t *shares, sl_reason_t *reason) {
    const char *policy = value_of(override, "GPU_CORE_UTILIZATION_POLICY");
    for (int gpu = -1; gpu < SL_OPTIONS_GPUS; gpu++) {
        char name[40];
        uint32_t permille;
        const char *text = value_of(override, name_of(SM_LIMIT, gpu, name));
        if (!text)
            continue;
        if (!read_percent(text, &permille))
            return sl_report_fail(reason, "%s=%.80s: bad share; write a percentage like 25, or 0 for no cap", name, text);
        if (gpu < 0)
            sl_shares_cap_every_gpu(shares, permille);
        else
            shares->compute_permille[gpu] = permille % SL_SHARES_WHOLE;
    }
    if (policy && strcasecmp(policy, "disable") == 0)
        sl_shares_cap_every_gpu(shares, 0);
    shares->cap_when_shared = sl_shares_any(shares) && !(policy && strcasecmp(policy, "force") == 0);
    return true;
}

/* 1 was also the default, so it cannot mean less than normal. */
static bool read_priority(const override_t *override, sl_shares_t *shares, sl_reason_t *reason) {
    const char *text = value_of(override, PRIORITY);
    if (!text)
        return true;
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return sl_report_fail(reason, PRIORITY "=%.40s: expected 0, which is high, or 1", text);
    shares->turns = true;
    shares->priority = *text == '0';
    return true;
}

/* Processes that name the same file are one tenant. The file itself is never touched. */
static void name_after(sl_options_t *options, const char *path) {
    char folder[1024] = "";
    if (*path != '/' && !getcwd(folder, sizeof folder))
        folder[0] = 0;
    uint64_t hash = 14695981039346656037ull;
    for (const char *at = folder; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211ull;
    for (const char *at = path; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211ull;
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    snprintf(options->tenant, sizeof options->tenant, "hami-%016llx-%.40s", (unsigned long long)hash, base);
    for (char *at = options->tenant; *at; at++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *at))
            *at = '_';
}

static void read_log_level(const char *text) {
    static const sl_report_level_t levels[] = {SL_ERROR, SL_WARN, SL_WARN, SL_INFO, SL_DEBUG};
    if (!text || sl_options_variable("SLUICE_LOG"))
        return;
    if (strlen(text) == 1 && *text >= '0' && *text <= '4')
        sl_report_level = (int)levels[*text - '0'];
    else
        sl_report(SL_WARN, "LIBCUDA_LOG_LEVEL=%.40s: expected 0 to 4; 2 is used", text);
}

static bool is_true(const char *text) {
    return text && (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

bool sl_compat_hami(sl_options_t *options, sl_reason_t *reason) {
    override_t override;
    read_override(&override);
    if (is_true(value_of(&override, "CUDA_DISABLE_CONTROL"))) {
        options->disabled = true;
        options->source = "CUDA_DISABLE_CONTROL";
        SL_TELL(SL_INFO, "no limits: CUDA_DISABLE_CONTROL is true");
        return true;
    }
    const char *cache = value_of(&override, SHARED_CACHE);
    bool limited = value_of(&override, PRIORITY) != NULL, limited_by_file = overridden(&override, PRIORITY) != NULL;
    for (int i = 0; i < 2 * (SL_OPTIONS_GPUS + 1); i++) {
        char name[40];
        limited |= value_of(&override, name_of(i % 2 ? SM_LIMIT : LIMIT, i / 2 - 1, name)) != NULL;
        limited_by_file |= overridden(&override, name) != NULL;
    }
    if (!cache && !limited && !sl_options_loaded_as("libvgpu.so"))
        return true;
    options->source = "HAMi's switches";
    read_log_level(value_of(&override, "LIBCUDA_LOG_LEVEL"));
    /* The file applies to all processes that see it, so they share one quota, as under HAMi. */
    if (!options->tenant[0] && (cache || limited_by_file))
        name_after(options, cache ? cache : DEFAULT_CACHE);
    return read_memory(&override, options, reason) && read_caps(&override, &options->shares, reason) &&
           read_priority(&override, &options->shares, reason);
}
