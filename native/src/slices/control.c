/* control: see control.h. */
#define _GNU_SOURCE
#include "slices/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "os/fork.h"
#include "os/mutex.h"
#include "os/os.h"
#include "os/report.h"
#include "os/thread.h"
#include "slices/channels.h"
#include "slices/hook.h"
#include "slices/stops.h"
#include "tenant/tenant.h"

#define MILLI 1000000u
#define SLOW_NANOS (100 * MILLI)     /* on an H200 the slowest took 0.6 ms */
#define SLOW_CALLS 3u                /* a stopped process, or a busy machine, makes a call seem slow; it is the driver that makes several so */
#define QUICK_CALLS 64u              /* so many quick ones make up for a slow one */
#define PREEMPT_MICROS 100000u       /* the driver gives up after this */
#define FAILED UINT32_MAX            /* the kernel did not carry out the call at all */
/* Chosen: how often, and for how long, the library tries to put work back that the driver does not put back. */
#define MEND_NANOS (250 * MILLI)
#define MENDS_NANOS (600 * 1000ull * MILLI)
#define UNSURE_NANOS (1000ull * MILLI) /* the same where the driver has not said that the work is off */
#define ALONE_TRIES 100u             /* where the process can have no more threads */
#define CALLS 3u                     /* of one that a signal has interrupted */
#define TRIES 4u                     /* libcuda may free a channel just before a call that names it */

static sl_mutex_t lock; /* one call at a time */
static unsigned state = SL_REGION_SLICES_UNTRIED;
static uint32_t slice_micros;
static sl_channels_group_t changed[SL_CHANNELS_GROUPS]; /* those whose slice is not libcuda's */
static unsigned changed_count;
static _Atomic unsigned reasons;                       /* for which the work is off the GPU; bits */
static struct {
    sl_channels_group_t group;
    bool sure; /* the driver has said that it is off */
} taken[SL_CHANNELS_GROUPS];                           /* what was taken off the GPU, and is not back yet */
static unsigned taken_count;
static bool mends;                                     /* a thread goes on putting it back */
static _Atomic unsigned interruptions;
static sl_channels_group_t groups[SL_CHANNELS_GROUPS]; /* as of the last look */
static unsigned count;
static uint64_t longest_nanos;
static unsigned slowness; /* of the calls lately */
static unsigned told, tried_version;

static uint32_t call(const sl_channels_group_t *group, uint32_t object, uint32_t command, void *parameters, uint32_t bytes) {
    struct stat file;
    if (!sl_os_stat(group->fd, &file) || file.st_rdev != group->device)
        return FAILED;
    sl_rm_control_t control = {.client = group->client, .object = object, .command = command, .parameters = (uintptr_t)parameters,
                               .bytes = bytes, .status = FAILED};
    uint64_t begin = sl_os_nanos();
    int result = -1;
    for (unsigned i = 0; i < CALLS && result < 0 && (!i || errno == EINTR || errno == EAGAIN); i++)
        result = sl_hook_call(group->fd, SL_RM_CONTROL_REQUEST, &control);
    uint64_t nanos = sl_os_nanos() - begin;
    longest_nanos = nanos > longest_nanos ? nanos : longest_nanos;
    slowness = nanos > SLOW_NANOS ? slowness + QUICK_CALLS : slowness ? slowness - 1 : 0;
    return result < 0 ? FAILED : control.status;
}

static uint32_t set_slice(const sl_channels_group_t *group, uint64_t micros) {
    sl_rm_slice_t slice = {.micros = micros};
    return call(group, group->group, SL_RM_SET_SLICE, &slice, sizeof slice);
}

static uint32_t disable(const sl_channels_group_t *group, bool off) {
    sl_rm_disable_t disable = {.disable = off, .count = group->count};
    if (!group->count)
        return SL_RM_OK;
    for (unsigned i = 0; i < group->count; i++) {
        disable.clients[i] = group->client;
        disable.channels[i] = group->channels[i];
    }
    return call(group, group->subdevice, SL_RM_DISABLE, &disable, sizeof disable);
}

static void say(unsigned what) {
    state = what;
    if (atomic_load_explicit(&sl_tenant.state, memory_order_acquire) != SL_TENANT_ATTACHED)
        return;
    sl_region_slot_t *slot = &sl_tenant.region.slots[sl_tenant.slot];
    atomic_store(&slot->slice_micros, state == SL_REGION_SLICES_ON ? slice_micros : 0);
    atomic_store(&slot->slices, state);
}

static const char *const obstacles[] = {
    [SL_REGION_SLICES_OFF] = "SLUICE_SLICES turns them off",
    [SL_REGION_SLICES_UNHOOKED] = "the calls of libcuda to the kernel driver cannot be observed",
    [SL_REGION_SLICES_UNCHECKED] = "they were never checked with this version of the driver; SLUICE_SLICES=1 tries",
    [SL_REGION_SLICES_ABSENT] = "libcuda set no time slice, as for a client of MPS",
    [SL_REGION_SLICES_OTHER] = "the driver tells another time slice than libcuda has set",
    [SL_REGION_SLICES_REFUSED] = "the driver refused a control call",
    [SL_REGION_SLICES_SLOW] = "a control call took too long",
};

/* Also channels that the group has got since, and not those that libcuda has freed. */
static bool put_group_back(const sl_channels_group_t *group, uint32_t *status) {
    sl_channels_group_t now = *group, before;
    for (unsigned i = 0; i < TRIES && sl_channels_find(&now); i++) {
        before = now;
        *status = disable(&now, false);
        if (*status == SL_RM_OK)
            return true;
        if (sl_channels_find(&now) && now.count == before.count && memcmp(now.channels, before.channels, sizeof now.channels) == 0)
            return false;
    }
    return !sl_channels_find(&now);
}

/* The time of the calls counts as work: nobody knows when within them it goes on. */
static bool put_back(uint32_t *status) {
    unsigned left = 0, before = taken_count;
    uint64_t begin = sl_os_nanos();
    for (unsigned i = 0; i < before; i++)
        if (!put_group_back(&taken[i].group, status))
            taken[left++] = taken[i];
    taken_count = left;
    if (before && !left)
        sl_stops_end(begin);
    return !left;
}

static bool is_sure(void) {
    bool sure = false;
    for (unsigned i = 0; i < taken_count; i++)
        sure |= taken[i].sure;
    return sure;
}

static void tell_mended(bool back) {
    if (back)
        sl_report(SL_WARN, "the driver has put the process's work back on the GPU");
    else
        sl_report(SL_ERROR, "the driver still does not put the process's work back on the GPU; the program has to end");
}

static void *mend(void *unused) {
    uint64_t begin = sl_os_nanos(), nanos = MILLI;
    bool back = false, sure = false, ended = false;
    while (!ended) {
        sl_os_sleep_nanos(nanos);
        nanos = 2 * nanos < MEND_NANOS ? 2 * nanos : MEND_NANOS;
        uint32_t status = SL_RM_OK;
        sl_mutex_lock(&lock);
        sure |= is_sure();
        back = put_back(&status);
        ended = back || sl_os_nanos() - begin > (sure ? MENDS_NANOS : UNSURE_NANOS);
        mends = !ended;
        taken_count = ended ? 0 : taken_count;
        sl_mutex_unlock(&lock);
    }
    if (sure)
        tell_mended(back);
    return unused;
}

static void begin_to_mend(uint32_t status) {
    if (is_sure())
        sl_report(SL_ERROR, "the driver does not put the process's work back on the GPU (status 0x%x); the library tries it for ten minutes",
                  (unsigned)status);
    mends = mends || sl_thread_start(mend, NULL);
    for (unsigned i = 0; i < ALONE_TRIES && !mends && !put_back(&status); i++)
        sl_os_sleep_nanos(10 * MILLI);
}

/* Restores what can be restored. */
static bool end(unsigned why, uint32_t status) {
    bool was_on = state == SL_REGION_SLICES_ON;
    uint32_t refusal = SL_RM_OK;
    bool back = put_back(&refusal);
    reasons = 0;
    for (unsigned i = 0; i < changed_count; i++)
        if (sl_channels_find(&changed[i]))
            set_slice(&changed[i], changed[i].own_micros);
    changed_count = 0;
    slice_micros = 0;
    say(why);
    char number[32] = "";
    if (status && status != FAILED)
        snprintf(number, sizeof number, " (status 0x%x)", (unsigned)status);
    if (was_on || SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_ON)
        sl_report(SL_WARN, "the library does not control time slices of the GPU: %s%s. Priorities, caps and pauses take effect between "
                  "kernels", obstacles[why], number);
    else if (told != why)
        SL_TELL(SL_INFO, "the library does not control time slices of the GPU: %s%s", obstacles[why], number);
    told = why;
    if (!back)
        begin_to_mend(refusal);
    return false;
}

/* An object that libcuda has freed meanwhile was refused rightly. */
static bool still_has(const sl_channels_group_t *group) {
    sl_channels_group_t now[SL_CHANNELS_GROUPS];
    unsigned found;
    if (!sl_channels_read(now, &found))
        return true;
    for (unsigned i = 0; i < found; i++)
        if (now[i].client == group->client && now[i].group == group->group && now[i].fd == group->fd &&
            now[i].count == group->count && memcmp(now[i].channels, group->channels, sizeof group->channels) == 0)
            return true;
    return false;
}

static bool is_slow(void) {
    return slowness > (SLOW_CALLS - 1) * QUICK_CALLS;
}

static bool judge(const sl_channels_group_t *group, uint32_t status) {
    if (is_slow())
        return end(SL_REGION_SLICES_SLOW, 0);
    if (status != SL_RM_OK && still_has(group))
        return end(SL_REGION_SLICES_REFUSED, status);
    return true;
}

static bool is_checked(void) {
    static const char *const versions[] = SL_RM_CHECKED;
    char text[512];
    if (SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_ON)
        return true;
    if (sl_os_read("/proc/driver/nvidia/version", text, sizeof text) <= 0)
        return false;
    for (char *rest, *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
        for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++)
            if (strcmp(word, versions[i]) == 0)
                return true;
    return false;
}

/* The driver must tell the slice that libcuda has set, and accept it once more. */
static bool probe(const sl_channels_group_t *group) {
    sl_rm_slice_t slice = {0};
    uint32_t status = call(group, group->group, SL_RM_GET_SLICE, &slice, sizeof slice);
    if (status != SL_RM_OK)
        return end(SL_REGION_SLICES_REFUSED, status);
    if (slice.micros != group->own_micros)
        return end(SL_REGION_SLICES_OTHER, 0);
    status = set_slice(group, group->own_micros);
    if (status != SL_RM_OK)
        return end(SL_REGION_SLICES_REFUSED, status);
    return longest_nanos <= SLOW_NANOS || end(SL_REGION_SLICES_SLOW, 0);
}

static bool try(void) {
    count = 0;
    longest_nanos = 0;
    tried_version = sl_channels_version();
    if (SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_OFF) {
        say(SL_REGION_SLICES_OFF);
        return false;
    }
    if (!sl_hook_is_set())
        return end(SL_REGION_SLICES_UNHOOKED, 0);
    if (!is_checked())
        return end(SL_REGION_SLICES_UNCHECKED, 0);
    if (!sl_channels_read(groups, &count) || !count)
        return count = 0, end(SL_REGION_SLICES_ABSENT, 0);
    for (unsigned i = 0; i < count; i++)
        if (!probe(&groups[i]))
            return false;
    say(SL_REGION_SLICES_ON);
    return true;
}

static void tell_groups(void) {
    static unsigned shown;
    if (!sl_report_shows(SL_DEBUG) || shown == sl_channels_version())
        return;
    shown = sl_channels_version();
    SL_TELL(SL_DEBUG, "time slices: %u channel groups", count);
    for (unsigned i = 0; i < count; i++)
        SL_TELL(SL_DEBUG, "time slices: group 0x%x of client 0x%x: %u channels, subdevice 0x%x, libcuda's slice is %llu us", groups[i].group,
                groups[i].client, groups[i].count, groups[i].subdevice, (unsigned long long)groups[i].own_micros);
}

/* With the lock held. Before its first context the process has no channel group. */
static bool is_ready(void) {
    bool again = state == SL_REGION_SLICES_ABSENT && tried_version != sl_channels_version();
    return state == SL_REGION_SLICES_ON || ((state == SL_REGION_SLICES_UNTRIED || again) && try());
}

static bool look(void) {
    if (!is_ready())
        return false;
    longest_nanos = 0;
    bool ok = sl_channels_read(groups, &count) || end(SL_REGION_SLICES_ABSENT, 0);
    tell_groups();
    return ok;
}

bool sl_control_is_ready(void) {
    sl_mutex_lock(&lock);
    bool ready = is_ready();
    sl_mutex_unlock(&lock);
    return ready;
}

uint32_t sl_control_slice(uint32_t micros) {
    sl_mutex_lock(&lock);
    bool ok = look();
    slice_micros = ok ? micros : 0;
    if (ok && micros) { /* before the first group has it, so that end() restores it */
        memcpy(changed, groups, count * sizeof *groups);
        changed_count = count;
    }
    for (unsigned i = 0; ok && i < count; i++)
        ok = judge(&groups[i], set_slice(&groups[i], micros ? micros : groups[i].own_micros));
    changed_count = micros ? changed_count : 0;
    if (ok)
        say(state);
    if (ok)
        SL_TELL(SL_DEBUG, "time slices: set to %u us for %u groups in at most %llu us a call", (unsigned)micros, count, (unsigned long long)longest_nanos / 1000);
    uint32_t now = ok && count ? micros ? micros : (uint32_t)groups[0].own_micros : 0;
    sl_mutex_unlock(&lock);
    return now;
}

unsigned sl_control_groups(void) {
    sl_mutex_lock(&lock);
    unsigned groups_now = state == SL_REGION_SLICES_ON ? count : 0;
    sl_mutex_unlock(&lock);
    return groups_now;
}

bool sl_control_preempt(void) {
    sl_mutex_lock(&lock);
    bool ok = look();
    atomic_fetch_add(&interruptions, ok);
    for (unsigned i = 0; ok && i < count; i++) {
        sl_rm_preempt_t preempt = {.wait = 1, .manual = 1, .timeout_micros = PREEMPT_MICROS};
        ok = judge(&groups[i], call(&groups[i], groups[i].group, SL_RM_PREEMPT, &preempt, sizeof preempt));
    }
    sl_mutex_unlock(&lock);
    return ok;
}

/* Before the call, so that the group is put back whatever the driver answers. */
static bool note_taken(const sl_channels_group_t *group) {
    unsigned kept = 0;
    bool sure = false;
    for (unsigned i = 0; i < taken_count; i++) {
        sl_channels_group_t *other = &taken[i].group;
        bool same = other->client == group->client && other->group == group->group && other->fd == group->fd;
        sure |= same && taken[i].sure;
        if (!same && sl_channels_find(other))
            taken[kept++] = taken[i];
    }
    taken_count = kept;
    if (taken_count == SL_CHANNELS_GROUPS)
        return end(SL_REGION_SLICES_ABSENT, 0);
    taken[taken_count].group = *group;
    taken[taken_count++].sure = sure;
    return true;
}

static bool take(const sl_channels_group_t *group) {
    if (!note_taken(group))
        return false;
    uint32_t status = disable(group, true);
    taken[taken_count - 1].sure |= status == SL_RM_OK;
    return judge(group, status);
}

/* While a thread still puts back what an earlier stop took off, there is no other stop. */
static bool take_off(void) {
    bool ok = !mends && look();
    for (unsigned i = 0; ok && i < count; i++)
        ok = take(&groups[i]);
    return ok;
}

bool sl_control_stop(sl_control_reason_t reason) {
    sl_mutex_lock(&lock);
    bool ok = take_off() && taken_count;
    if (ok && !reasons)
        sl_stops_begin(sl_os_nanos());
    if (ok)
        reasons |= reason;
    sl_mutex_unlock(&lock);
    return ok;
}

static bool let_go(void) {
    uint32_t status = SL_RM_OK;
    longest_nanos = 0;
    if (!put_back(&status))
        return end(SL_REGION_SLICES_REFUSED, status);
    return !is_slow() || end(SL_REGION_SLICES_SLOW, 0);
}

bool sl_control_go(sl_control_reason_t reason) {
    sl_mutex_lock(&lock);
    bool was = reasons & reason;
    reasons &= ~(unsigned)reason;
    bool ok = !was || reasons || let_go();
    sl_mutex_unlock(&lock);
    return ok;
}

bool sl_control_is_stopped(sl_control_reason_t reason) {
    return atomic_load_explicit(&reasons, memory_order_relaxed) & reason;
}

const char *sl_control_obstacle(void) {
    sl_mutex_lock(&lock);
    const char *text = state < sizeof obstacles / sizeof *obstacles ? obstacles[state] : NULL;
    sl_mutex_unlock(&lock);
    return text;
}

unsigned sl_control_interruptions(void) {
    return atomic_load_explicit(&interruptions, memory_order_relaxed);
}

void sl_control_drop(void) {
    sl_mutex_lock(&lock);
    sl_channels_drop();
    count = taken_count = changed_count = 0;
    reasons = 0;
    sl_stops_end(sl_os_nanos());
    sl_mutex_unlock(&lock);
}

static void forget(void) {
    told = 0;
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    state = SL_REGION_SLICES_UNTRIED;
    slice_micros = count = taken_count = changed_count = slowness = 0;
    reasons = 0;
    mends = false;
}
SL_FORK_FORGETS(forget);
