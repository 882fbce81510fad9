/* options: reads the environment into one record.
 *
 * Sluice's own variables go before those of older tools. Of these tools, the first that is in use gives all limits. If
 * Sluice's variables set shares of GPU time alone, an older tool may still limit memory. */
#define _GNU_SOURCE
#include "tenant/switches/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenant/switches/compat.h"
#include "driver/elf.h"
#include "os/size.h"
#include "tenant/switches/ancestor.h"

#define OOM_WAIT_MILLIS 60000u

const char *sl_options_file_name;

const char *sl_options_variable(const char *name) {
    const char *value = secure_getenv(name);
    return value && *value ? value : sl_ancestor_variable(name);
}

/* ".10.1" or ".v2.9.0-rc1", but not ".old". */
static bool is_version(const char *text) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";
    const char *number = *text == '.' ? text + 1 + (text[1] == 'v') : text;
    return number > text && *number >= '0' && *number <= '9' && !number[strspn(number, allowed)];
}

bool sl_options_loaded_as(const char *file_name) {
    if (!sl_options_file_name) /* asked once: in a forked child the loader may be locked for ever */
        sl_options_file_name = sl_elf_own_object().name;
    const char *slash = strrchr(sl_options_file_name, '/');
    const char *own = slash ? slash + 1 : sl_options_file_name;
    size_t length = strlen(file_name);
    return strncmp(own, file_name, length) == 0 && (!own[length] || is_version(own + length));
}

bool sl_options_is_name(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(name);
    return length && length < sizeof ((sl_options_t *)NULL)->tenant && strspn(name, allowed) == length && name[0] != '.' && name[0] != '-';
}

bool sl_options_name_tenant(sl_options_t *options, const char *variable, const char *name, sl_reason_t *reason) {
    if (!sl_options_is_name(name))
        return sl_report_fail(reason, "%s=%.70s: a name is 1 to 63 of A-Z a-z 0-9 . _ - and begins with no dot and no "
                              "dash", variable, name);
    strcpy(options->tenant, name);
    return true;
}

void sl_options_limit_every_gpu(sl_options_t *options, uint64_t bytes) {
    for (int gpu = 0; gpu < SL_OPTIONS_GPUS; gpu++)
        options->memory_bytes[gpu] = bytes;
}

/* "4g" for every GPU, or "0=4g,1=8g". */
static bool read_memory(const char *text, sl_options_t *options, sl_reason_t *reason) {
    uint64_t *bytes = options->memory_bytes, all;
    options->source = "SLUICE_MEMORY";
    if (!strchr(text, '=')) {
        if (!sl_size_parse(text, strlen(text), &all))
            return sl_report_fail(reason, "SLUICE_MEMORY=%.80s: %s; " SL_SIZE_HINT, text,
                                  sl_size_parse_older(text, strlen(text), &all) ? "a size needs a unit" : "bad size");
        sl_options_limit_every_gpu(options, all);
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
            return sl_report_fail(reason, "SLUICE_MEMORY=%.80s: bad limit; write 4g for every GPU, or 0=4g,1=8g; each size needs a unit", text);
    }
    return true;
}

static bool read_compute(const char *text, sl_shares_t *shares) {
    return sl_shares_read_compute(text, shares->compute_permille);
}

static bool read_weight(const char *text, sl_shares_t *shares) {
    return shares->turns = true, sl_shares_read_weight(text, &shares->weight);
}

static bool read_priority(const char *text, sl_shares_t *shares) {
    return shares->turns = true, sl_shares_read_priority(text, &shares->priority);
}

static bool read_exclusive(const char *text, sl_shares_t *shares) {
    bool ok = sl_shares_read_exclusive(text, &shares->exclusive);
    shares->turns |= shares->exclusive;
    return ok;
}

static bool read_turn(const char *text, sl_shares_t *shares) {
    return shares->turns = true, sl_shares_read_turn(text, &shares->turn_micros);
}

static bool read_strict(const char *text, sl_shares_t *shares) {
    return sl_shares_read_exclusive(text, &shares->strict);
}

/* Sluice's own variables for shares of GPU time, as in the table of limits (sluice.region.limits.Limit). */
static const struct {
    const char *name;
    bool (*read)(const char *text, sl_shares_t *shares);
    const char *hint;
} share_variables[] = {
    {"SLUICE_COMPUTE", read_compute, "write 25% for every GPU, or 0=25%,1=50%; more than 0 and at most 100%, with the sign"},
    {"SLUICE_WEIGHT", read_weight, "write a whole number from 1 to 1000"},
    {"SLUICE_PRIORITY", read_priority, "expected high, normal or low"},
    {"SLUICE_EXCLUSIVE", read_exclusive, "expected 1, true, yes or on, or 0, false, no or off"},
    {"SLUICE_TURN", read_turn, "write it like 5ms or 500us, from 100us to 1s"},
    {"SLUICE_STRICT", read_strict, "expected 1, true, yes or on, or 0, false, no or off"},
};
#define SHARE_VARIABLES ((unsigned)(sizeof share_variables / sizeof *share_variables))

/* The first that is set is named in source; NULL: none is. */
static bool read_shares(sl_shares_t *shares, const char **source, sl_reason_t *reason) {
    bool ok = true;
    for (unsigned i = 0; i < SHARE_VARIABLES; i++) {
        const char *name = share_variables[i].name, *text = sl_options_variable(name);
        if (text && !*source)
            *source = name;
        if (text && ok && !share_variables[i].read(text, shares))
            ok = sl_report_fail(reason, "%s=%.80s: %s", name, text, share_variables[i].hint);
    }
    if (ok && shares->strict && !sl_shares_any_cap(shares))
        ok = sl_report_fail(reason, "SLUICE_STRICT=%.40s: it holds the cap of SLUICE_COMPUTE, and there is none; add a cap, as in SLUICE_COMPUTE=10%%",
                            sl_options_variable("SLUICE_STRICT"));
    return ok;
}

const char *sl_options_limit_variable(unsigned position, char buffer[40]) {
    static const char *const names[] = {
        "SLUICE_TENANT", "SLUICE_MEMORY", "SLUICE_MAPPED", "SLUICE_RESERVOIR", "SLUICE_PREPARE",
        "CUDA_DEVICE_MEMORY_LIMIT", "CUDA_DEVICE_MEMORY_SHARED_CACHE", "CUDA_DEVICE_SM_LIMIT",
        "GPU_CORE_UTILIZATION_POLICY", "CUDA_TASK_PRIORITY", "WRAPPER_MAX_MEMORY", "ALNAIR_ID", "ALNAIR_WORKSPACE_PATH",
        "ALNAIR_VGPU_COMPUTE_PERCENTILE"};
    static const char *const numbered[] = {"CUDA_DEVICE_MEMORY_LIMIT", "CUDA_DEVICE_SM_LIMIT"};
    const unsigned count = sizeof names / sizeof *names;
    if (position < SHARE_VARIABLES)
        return share_variables[position].name;
    position -= SHARE_VARIABLES;
    if (position < count)
        return names[position];
    position -= count;
    if (position >= 2 * SL_OPTIONS_GPUS)
        return NULL;
    snprintf(buffer, 40, "%s_%u", numbered[position / SL_OPTIONS_GPUS], position % SL_OPTIONS_GPUS);
    return buffer;
}

/* fail, wait, or wait:30s; units are ms, s and m. */
static bool read_on_oom(const char *text, sl_options_t *options, sl_reason_t *reason) {
    static const struct {
        const char *unit;
        uint32_t millis;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};
    if (!text || strcmp(text, "fail") == 0)
        return true;
    options->wait_on_oom = true;
    options->oom_wait_millis = OOM_WAIT_MILLIS;
    if (strcmp(text, "wait") == 0)
        return true;
    bool counted = strncmp(text, "wait:", 5) == 0 && text[5] >= '0' && text[5] <= '9';
    char *unit = NULL;
    unsigned long number = counted ? strtoul(text + 5, &unit, 10) : 0;
    for (size_t i = 0; counted && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0 && number && number <= SL_OPTIONS_LONGEST_WAIT_MILLIS / units[i].millis) {
            options->oom_wait_millis = (uint32_t)number * units[i].millis;
            return true;
        }
    return sl_report_fail(reason, "SLUICE_ON_OOM=%.40s: expected fail, wait, or wait with a time of at most an hour, as "
                          "in wait:30s", text);
}

static bool read_on_error(const char *text, sl_options_t *options, sl_reason_t *reason) {
    options->fail_on_error = text && strcmp(text, "fail") == 0;
    if (text && !options->fail_on_error && strcmp(text, "run") != 0)
        return sl_report_fail(reason, "SLUICE_ON_ERROR=%.40s: expected run or fail", text);
    return true;
}

static bool read_mapped(const char *text, sl_options_t *options, sl_reason_t *reason) {
    return !text || sl_shares_read_exclusive(text, &options->mapped) ||
           sl_report_fail(reason, "SLUICE_MAPPED=%.40s: expected 1, true, yes or on, or 0, false, no or off", text);
}

/* A size, or "none". */
static bool read_bytes(const char *name, uint64_t *bytes, sl_reason_t *reason) {
    const char *text = sl_options_variable(name);
    if (!text || strcmp(text, "none") == 0 || sl_size_parse(text, strlen(text), bytes))
        return true;
    return sl_report_fail(reason, "%s=%.80s: bad size; " SL_SIZE_HINT ", or none", name, text);
}

/* False: the text is none of the levels. */
static bool read_log(const char *text) {
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    for (int level = 0; text && level < 4; level++)
        if (strcmp(text, levels[level]) == 0) {
            sl_report_level = level;
            return true;
        }
    return !text;
}

atomic_bool sl_options_tells_refusals;

/* False: the text is neither of the two words. */
static bool read_refusals(const char *text) {
    sl_options_tells_refusals = text && strcmp(text, "tell") == 0;
    return !text || sl_options_tells_refusals || strcmp(text, "quiet") == 0;
}

_Atomic unsigned sl_options_slices = SL_OPTIONS_SLICES_DEFAULT;

static bool read_slices(const char *text) {
    bool on = false, is_auto = text && strcmp(text, "auto") == 0, known = !text || is_auto || sl_shares_read_exclusive(text, &on);
    unsigned asked = is_auto ? SL_OPTIONS_SLICES_AUTO : on ? SL_OPTIONS_SLICES_ON : SL_OPTIONS_SLICES_OFF;
    atomic_store(&sl_options_slices, text && known ? asked : SL_OPTIONS_SLICES_DEFAULT);
    return known;
}

static bool read_limits(sl_options_t *options, sl_reason_t *reason) {
    static bool (*const tools[])(sl_options_t *, sl_reason_t *) = {sl_compat_hami, sl_compat_wrapper, sl_compat_alnair};
    const char *memory = sl_options_variable("SLUICE_MEMORY"), *tenant = sl_options_variable("SLUICE_TENANT");
    sl_shares_t shares = {.turns = false};
    bool ok_shares = read_shares(&shares, &options->shares_source, reason);
    options->wanted = memory || tenant || options->shares_source || sl_options_variable("SLUICE_MAPPED") ||
                      sl_options_variable("SLUICE_RESERVOIR") || sl_options_variable("SLUICE_PREPARE");
    if (!ok_shares || (tenant && !sl_options_name_tenant(options, "SLUICE_TENANT", tenant, reason)))
        return false;
    bool ok = !memory || read_memory(memory, options, reason);
    for (size_t i = 0; i < sizeof tools / sizeof *tools && !options->source; i++)
        ok = tools[i](options, reason);
    sl_compat_cudaw(options);
    if (options->shares_source)
        options->shares = shares;
    else if (!options->disabled && !sl_shares_any(&options->shares))
        sl_compat_locker(options);
    options->wanted = options->shares_source || ((options->wanted || options->source) && !options->disabled);
    return ok;
}

static void tell_source(const sl_options_t *options) {
    const char *source = options->source && !options->disabled ? options->source : NULL, *shares = options->shares_source;
    if (options->region)
        source = "the tenant's region";
    if (options->agent)
        source = "the agent";
    SL_TELL(SL_INFO, "limits: %s%s%s%s%s", source ? source : shares ? "" : "none", source && shares ? " and " : "",
            shares ? shares : "", options->tenant[0] ? "; tenant " : "", options->tenant);
}

bool sl_options_read(sl_options_t *options, sl_reason_t *reason) {
    sl_ancestor_recover();
    *options = (sl_options_t){.region = sl_options_variable("SLUICE_REGION"), .trace = sl_options_variable("SLUICE_TRACE")};
    if (!options->region && (options->agent = sl_options_variable("SLUICE_AGENT")))
        options->label = sl_options_variable("SLUICE_LABEL");
    options->wanted = options->region != NULL;
    const char *log = sl_options_variable("SLUICE_LOG"), *refusals = sl_options_variable("SLUICE_REFUSALS");
    const char *slices = sl_options_variable("SLUICE_SLICES");
    bool log_known = read_log(log), refusals_known = read_refusals(refusals), slices_known = read_slices(slices);
    sl_reason_t other;
    bool ok = read_on_error(sl_options_variable("SLUICE_ON_ERROR"), options, reason);
    bool ok_limits = options->region || read_limits(options, ok ? reason : &other);
    if (!options->disabled)
        sl_compat_alnair_register();
    options->wanted |= options->agent != NULL;
    if (options->trace && !options->wanted)
        *options = (sl_options_t){.wanted = true, .trace = options->trace, .fail_on_error = options->fail_on_error};
    options->wanted |= !options->disabled && sl_compat_alnair_profiles(); /* a profile is of a tenant, with limits or without */
    if (!options->wanted)
        return true;
    if (!log_known)
        sl_report(SL_WARN, "SLUICE_LOG=%.40s: expected error, warn, info or debug; warn is used", log);
    if (!refusals_known)
        sl_report(SL_WARN, "SLUICE_REFUSALS=%.40s: expected tell or quiet; quiet is used", refusals);
    if (!slices_known)
        sl_report(SL_WARN, "SLUICE_SLICES=%.40s: expected auto, 1, true, yes or on, or 0, false, no or off; the default is used", slices);
    if (!ok || !ok_limits)
        return false;
    tell_source(options);
    return options->region || (read_mapped(sl_options_variable("SLUICE_MAPPED"), options, reason) &&
                               read_bytes("SLUICE_RESERVOIR", &options->reservoir_bytes, reason) &&
                               read_bytes("SLUICE_PREPARE", &options->prepared_bytes, reason) &&
                               read_on_oom(sl_options_variable("SLUICE_ON_OOM"), options, reason));
}
