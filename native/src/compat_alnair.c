/* compat_alnair: the switches of Alnair (libcuinterpose.so): ALNAIR_ID names the tenant, and the file `limits` of its
 * workspace says "vmem:<bytes>". Without that file there was no limit there, and there is none here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compat.h"
#include "os.h"
#include "size.h"

#define WORKSPACE "/var/lib/alnair/workspace"
#define KEY "vmem:"

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

bool sl_compat_alnair(sl_options_t *options, sl_reason_t *reason) {
    const char *id = sl_options_variable("ALNAIR_ID"), *workspace = sl_options_variable("ALNAIR_WORKSPACE_PATH");
    if (!id) {
        if (sl_options_loaded_as("libcuinterpose.so"))
            SL_TELL(SL_INFO, "no limits: libcuinterpose.so needs ALNAIR_ID");
        return true;
    }
    options->source = "Alnair's switches";
    if (!options->tenant[0] && !sl_options_name_tenant(options, "ALNAIR_ID", id, reason))
        return false;
    char path[512], text[1024];
    snprintf(path, sizeof path, "%s/limits", workspace ? workspace : WORKSPACE);
    if (sl_os_read(path, text, sizeof text) >= 0)
        return read_limits(path, text, options, reason);
    if (options->fail_on_error)
        return sl_report_fail(reason, "cannot read %.120s: %s", path, strerror(errno));
    sl_report(SL_WARN, "cannot read %.120s: %s; there is no limit", path, strerror(errno));
    return true;
}
