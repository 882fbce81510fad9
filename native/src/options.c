/* options: the environment variables of the library as one record.
 *
 * CUDA_DEVICE_MEMORY_LIMIT and CUDA_DEVICE_MEMORY_LIMIT_<gpu> are those of an older tool; they end in the same record. */
#define _GNU_SOURCE
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"

#define SIZE_HINT "write it like 512m, 1.5g, 2Gi or 4GB"
#define LEGACY_LIMIT "CUDA_DEVICE_MEMORY_LIMIT"

static const char *variable(const char *name) {
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

const char *sl_options_limit_variable(unsigned position, char buffer[40]) {
    static const char *const names[] = {"SLUICE_TENANT", "SLUICE_MEMORY", LEGACY_LIMIT};
    if (position < 3)
        return names[position];
    if (position - 3 >= SL_OPTIONS_GPUS)
        return NULL;
    snprintf(buffer, 40, LEGACY_LIMIT "_%u", position - 3);
    return buffer;
}

static bool read_tenant(const char *name, sl_reason_t *reason) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = name ? strlen(name) : 1;
    if (name && (length > 63 || strspn(name, allowed) != length || name[0] == '.'))
        return sl_report_fail(reason, "SLUICE_TENANT=%.70s: a name is 1 to 63 of A-Z a-z 0-9 . _ - and begins with no dot",
                              name);
    return true;
}

/* "4g" for every GPU, or "0=4g,1=8g". */
static bool read_memory(const char *text, uint64_t bytes[SL_OPTIONS_GPUS], sl_reason_t *reason) {
    if (!strchr(text, '=')) {
        uint64_t all;
        if (!sl_size_parse(text, strlen(text), &all))
            return sl_report_fail(reason, "SLUICE_MEMORY=%.80s: bad size; " SIZE_HINT, text);
        for (int gpu = 0; gpu < SL_OPTIONS_GPUS; gpu++)
            bytes[gpu] = all;
        return true;
    }
    for (const char *part = text, *end; part; part = *end ? end + 1 : NULL) {
        end = strchrnul(part, ',');
        part += strspn(part, " \t");
        unsigned gpu = 0;
        size_t digits = strspn(part, "0123456789");
        for (size_t i = 0; i < digits && i < 3; i++)
            gpu = gpu * 10 + (unsigned)(part[i] - '0');
        const char *equals = part + digits + strspn(part + digits, " \t");
        if (!digits || gpu >= SL_OPTIONS_GPUS || *equals != '=' || bytes[gpu] ||
            !sl_size_parse(equals + 1, end > equals ? (size_t)(end - equals - 1) : 0, &bytes[gpu]))
            return sl_report_fail(reason, "SLUICE_MEMORY=%.80s: bad limit; write 4g for every GPU, or 0=4g,1=8g", text);
    }
    return true;
}

static bool read_legacy(uint64_t bytes[SL_OPTIONS_GPUS], sl_reason_t *reason) {
    for (int gpu = -1; gpu < SL_OPTIONS_GPUS; gpu++) {
        char name[40] = LEGACY_LIMIT;
        if (gpu >= 0)
            snprintf(name, sizeof name, LEGACY_LIMIT "_%d", gpu);
        const char *text = variable(name);
        uint64_t value = 0;
        if (!text)
            continue;
        if (strcmp(text, "0") != 0 && !sl_size_parse(text, strlen(text), &value))
            return sl_report_fail(reason, "%s=%.80s: bad size; " SIZE_HINT ", or 0 for no limit", name, text);
        for (int to = gpu < 0 ? 0 : gpu; to < (gpu < 0 ? SL_OPTIONS_GPUS : gpu + 1); to++)
            bytes[to] = value;
    }
    return true;
}

static bool asks_for_limits(void) {
    char buffer[40];
    if (variable("SLUICE_REGION"))
        return true;
    const char *name;
    for (unsigned i = 0; (name = sl_options_limit_variable(i, buffer)); i++)
        if (variable(name))
            return true;
    return false;
}

static void read_log(const char *text) {
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    for (int level = 0; text && level < 4; level++)
        if (strcmp(text, levels[level]) == 0) {
            sl_report_threshold((sl_report_level_t)level);
            return;
        }
    if (text)
        sl_report(SL_WARN, "SLUICE_LOG=%.40s: expected error, warn, info or debug; warn is used", text);
}

bool sl_options_read(sl_options_t *options, sl_reason_t *reason) {
    *options = (sl_options_t){.wanted = asks_for_limits()};
    if (!options->wanted)
        return true;
    read_log(variable("SLUICE_LOG"));
    const char *on_error = variable("SLUICE_ON_ERROR");
    options->fail_on_error = on_error && strcmp(on_error, "fail") == 0;
    if (on_error && !options->fail_on_error && strcmp(on_error, "run") != 0)
        return sl_report_fail(reason, "SLUICE_ON_ERROR=%.40s: expected run or fail", on_error);
    options->region = variable("SLUICE_REGION");
    options->tenant = variable("SLUICE_TENANT");
    if (options->region)
        return true;
    const char *memory = variable("SLUICE_MEMORY");
    return read_tenant(options->tenant, reason) &&
           (memory ? read_memory(memory, options->memory_bytes, reason) : read_legacy(options->memory_bytes, reason));
}
