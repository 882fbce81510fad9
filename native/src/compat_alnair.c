/* compat_alnair: the switches of Alnair (libcuinterpose.so): ALNAIR_ID names the tenant, the file `limits` of its workspace
 * says "vmem:<bytes>", and ALNAIR_VGPU_COMPUTE_PERCENTILE caps its GPU time. Without that file there was no limit on memory
 * there, and there is none here. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "os.h"
#include "size.h"

#define WORKSPACE "/var/lib/alnair/workspace"
#define KEY "vmem:"
#define PERCENTILE "ALNAIR_VGPU_COMPUTE_PERCENTILE"

static bool read_limits(const char *path, const char *text, sl_options_t *options, sl_reason_t *reason) {
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\r\n");
        uint64_t bytes;
        if (strncmp(line, KEY, strlen(KEY)) != 0)
            continue;
        const char *value = line + strlen(KEY);
        if (!sl_size_parse(value, (size_t)(end - value), &bytes))
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
