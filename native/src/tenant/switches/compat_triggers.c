/* compat_triggers: the signals and the file by which older tools paused and resumed a process, one row for each file name.
 *
 * CUDAw's signals had another meaning in each of its branches. So each meaning has a file name of its own. These names are ours, because
 * CUDAw replaced the runtime library and had no name. */
#include "tenant/switches/compat.h"

#include <signal.h>

#include "region_layout.h"

const char *sl_compat_cudaw_file = "/tmp/cudaw/notified";

static const struct {
    const char *file_name;
    bool has_file;
    sl_compat_triggers_t triggers;
} tools[] = {
    {"libvgpu.so", false, {.depth = SL_REGION_COMMAND_PAUSE, .pause = {SIGUSR2}, .resume = SIGUSR1}},
    {"libcudaw.so", true, {.depth = SL_REGION_COMMAND_EVICT}},
    {"libcudaw-signal-notifier.so", false, {.depth = SL_REGION_COMMAND_EVICT, .pause = {SIGUSR1}, .resume = SIGUSR2}},
    {"libcudaw-checkpoint.so", false, {.depth = SL_REGION_COMMAND_EVICT, .pause = {SIGUSR1, SIGUSR2}, .resume = SIGCONT}},
};

bool sl_compat_triggers(sl_compat_triggers_t *triggers) {
    for (unsigned i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (!sl_options_loaded_as(tools[i].file_name))
            continue;
        *triggers = tools[i].triggers;
        triggers->file = tools[i].has_file ? sl_compat_cudaw_file : NULL;
        return true;
    }
    return false;
}

void sl_compat_cudaw(sl_options_t *options) {
    sl_compat_triggers_t triggers;
    if (options->disabled || !sl_compat_triggers(&triggers) || triggers.depth < SL_REGION_COMMAND_EVICT)
        return;
    options->mapped = true;
    if (!options->source)
        options->source = "CUDAw's file name";
}
