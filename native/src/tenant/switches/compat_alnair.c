/* compat_alnair: the switches of Alnair.
 *
 * libcuinterpose.so: ALNAIR_ID names the tenant, the file `limits` of its workspace says "vmem:<bytes>", and
 * ALNAIR_VGPU_COMPUTE_PERCENTILE caps its GPU time. Without that file Alnair had no limit on memory, and neither has
 * Sluice. libpfinterpose.so: PFLOG names the folder of a profile. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenant/switches/compat.h"
#include "os/os.h"
#include "os/size.h"

#define WORKSPACE "/var/lib/alnair/workspace"
#define KEY "vmem:"
#define PERCENTILE "ALNAIR_VGPU_COMPUTE_PERCENTILE"
#define PROFILE_FOLDER "./test"

static bool read_limits(const char *path, const char *text, sl_options_t *options, sl_reason_t *reason) {
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\r\n");
        uint64_t bytes;
        if (strncmp(line, KEY, strlen(KEY)) != 0)
            continue;
        const char *value = line + strlen(KEY);
        if (!sl_size_parse_older(value, (size_t)(end - value), &bytes))
            return sl_report_fail(reason, "%.100s says %.*s: bad size; write " KEY " and the bytes", path,
                                  end - line > 60 ? 60 : (int)(end - line), line);
        sl_options_limit_every_gpu(options, bytes);
        return true;
    }
    return sl_report_fail(reason, "%.120s has no line that begins with " KEY, path);
}

/* Whole numbers that are not from 1 to 100 meant no cap. */
static bool read_share(sl_shares_t *shares, sl_reason_t *reason) {
    const char *text = sl_options_variable(PERCENTILE);
    if (!text)
        return true;
    char *end;
    long percent = strtol(text, &end, 10);
    if (end == text || *end)
        return sl_report_fail(reason, PERCENTILE "=%.40s: write a whole number from 1 to 100", text);
    sl_shares_cap_every_gpu(shares, percent >= 1 && percent <= 100 ? (uint32_t)percent * 10 : 0);
    return true;
}

bool sl_compat_alnair(sl_options_t *options, sl_reason_t *reason) {
    const char *id = sl_options_variable("ALNAIR_ID"), *workspace = sl_options_variable("ALNAIR_WORKSPACE_PATH");
    if (!id) {
        if (sl_options_loaded_as("libcuinterpose.so"))
            SL_TELL(SL_INFO, "no limits: libcuinterpose.so needs ALNAIR_ID");
        return true;
    }
    options->source = "Alnair's switches";
    if ((!options->tenant[0] && !sl_options_name_tenant(options, "ALNAIR_ID", id, reason)) ||
        !read_share(&options->shares, reason))
        return false;
    char path[512], text[1024];
    snprintf(path, sizeof path, "%s/limits", workspace ? workspace : WORKSPACE);
    if (sl_os_read(path, text, sizeof text) >= 0)
        return read_limits(path, text, options, reason);
    if (options->fail_on_error)
        return sl_report_fail(reason, "cannot read %.120s: %s", path, strerror(errno));
    sl_report(SL_WARN, "cannot read %.120s: %s; memory has no limit", path, strerror(errno));
    return true;
}

bool sl_compat_alnair_profiles(void) {
    return sl_options_variable("PFLOG") || sl_options_loaded_as("libpfinterpose.so");
}

/* The program may go to another folder later. */
static bool make_absolute(const char *path, char folder[SL_COMPAT_PATH_BYTES]) {
    char here[SL_COMPAT_PATH_BYTES] = "";
    bool relative = *path != '/';
    if (relative && !getcwd(here, sizeof here))
        return false;
    int length = snprintf(folder, SL_COMPAT_PATH_BYTES, "%s%s%s", here, relative ? "/" : "", path);
    return length < SL_COMPAT_PATH_BYTES || (errno = ENAMETOOLONG, false);
}

/* Alnair's profiler made no folder, and wrote nothing without one. Sluice makes a folder that the user named. It does not make the default
 * folder, because then every program would leave one behind. */
static bool find_folder(char folder[SL_COMPAT_PATH_BYTES]) {
    const char *path = sl_options_variable("PFLOG");
    struct stat status;
    bool ok = make_absolute(path ? path : PROFILE_FOLDER, folder);
    if (ok && path && mkdir(folder, 0777) != 0 && errno != EEXIST)
        ok = false;
    if (ok && !path && !(ok = sl_os_lstat(folder, &status)))
        errno = ENOENT;
    if (!ok) {
        sl_report(SL_WARN, "no profile is written: %s%.120s: %s; set PFLOG to a folder that can be written",
                  path ? "PFLOG=" : "", path ? path : PROFILE_FOLDER, strerror(errno));
        folder[0] = 0;
    }
    return ok;
}

static bool read_format(const char *text, sl_compat_profile_format_t *format) {
    static const char *const formats[] = {[SL_COMPAT_PROFILE_V1] = "v1", [SL_COMPAT_PROFILE_V1_5] = "v1.5", [SL_COMPAT_PROFILE_V2] = "v2"};
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(text, formats[i]) == 0) {
            *format = (sl_compat_profile_format_t)i;
            return true;
        }
    return false;
}

bool sl_compat_alnair_profile(sl_compat_profile_t *settings) {
    const char *format = sl_options_variable("SLUICE_PROFILE_FORMAT"), *id = sl_options_variable("ALNAIR_ID");
    const char *workspace = sl_options_variable("ALNAIR_WORKSPACE_PATH");
    settings->format = SL_COMPAT_PROFILE_V1;
    settings->folder[0] = settings->workspace[0] = 0;
    if (sl_compat_alnair_profiles() && find_folder(settings->folder) && format &&
        !read_format(format, &settings->format))
        sl_report(SL_WARN, "SLUICE_PROFILE_FORMAT=%.40s: expected v1, v1.5 or v2; v1 is used", format);
    if (id && (!make_absolute(workspace ? workspace : WORKSPACE, settings->workspace) || access(settings->workspace, W_OK) != 0))
        settings->workspace[0] = 0;
    return settings->folder[0] || (id && settings->workspace[0]);
}
