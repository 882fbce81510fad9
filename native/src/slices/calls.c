/* calls: see calls.h. */
#include "slices/calls.h"

#include <errno.h>
#include <sys/stat.h>

#include "os/os.h"
#include "slices/hook.h"

#define SLOW_CALLS 3u                /* a stopped process, or a busy machine, makes a call seem slow; it is the driver that makes several so */
#define QUICK_CALLS 64u              /* so many quick ones make up for a slow one */
#define PREEMPT_MICROS 100000u       /* the driver gives up after this */
#define TIMES 3u                     /* of one that a signal has interrupted */

static uint64_t longest_nanos;
static unsigned slowness; /* of the calls lately */

static uint32_t call(const sl_channels_group_t *group, uint32_t object, uint32_t command, void *parameters, uint32_t bytes) {
    struct stat file;
    if (!sl_os_stat(group->fd, &file) || file.st_rdev != group->device)
        return SL_CALLS_FAILED;
    sl_rm_control_t control = {.client = group->client, .object = object, .command = command, .parameters = (uintptr_t)parameters,
                               .bytes = bytes, .status = SL_CALLS_FAILED};
    uint64_t begin = sl_os_nanos();
    int result = -1;
    for (unsigned i = 0; i < TIMES && result < 0 && (!i || errno == EINTR || errno == EAGAIN); i++)
        result = sl_hook_call(group->fd, SL_RM_CONTROL_REQUEST, &control);
    uint64_t nanos = sl_os_nanos() - begin;
    longest_nanos = nanos > longest_nanos ? nanos : longest_nanos;
    slowness = nanos > SL_CALLS_SLOW_NANOS ? slowness + QUICK_CALLS : slowness ? slowness - 1 : 0;
    return result < 0 ? SL_CALLS_FAILED : control.status;
}

uint32_t sl_calls_set_slice(const sl_channels_group_t *group, uint64_t micros) {
    sl_rm_slice_t slice = {.micros = micros};
    return call(group, group->group, SL_RM_SET_SLICE, &slice, sizeof slice);
}

uint32_t sl_calls_get_slice(const sl_channels_group_t *group, uint64_t *micros) {
    sl_rm_slice_t slice = {0};
    uint32_t status = call(group, group->group, SL_RM_GET_SLICE, &slice, sizeof slice);
    *micros = slice.micros;
    return status;
}

uint32_t sl_calls_preempt(const sl_channels_group_t *group) {
    sl_rm_preempt_t preempt = {.wait = 1, .manual = 1, .timeout_micros = PREEMPT_MICROS};
    return call(group, group->group, SL_RM_PREEMPT, &preempt, sizeof preempt);
}

uint32_t sl_calls_disable(const sl_channels_group_t *group, bool off) {
    sl_rm_disable_t disable = {.disable = off, .count = group->count};
    if (!group->count)
        return SL_RM_OK;
    for (unsigned i = 0; i < group->count; i++) {
        disable.clients[i] = group->client;
        disable.channels[i] = group->channels[i];
    }
    return call(group, group->subdevice, SL_RM_DISABLE, &disable, sizeof disable);
}

void sl_calls_begin_timing(void) {
    longest_nanos = 0;
}

uint64_t sl_calls_longest_nanos(void) {
    return longest_nanos;
}

bool sl_calls_are_slow(void) {
    return slowness > (SLOW_CALLS - 1) * QUICK_CALLS;
}

void sl_calls_forget(void) {
    slowness = 0;
    longest_nanos = 0;
}
