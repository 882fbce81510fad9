/* control: see control.h. */
#define _GNU_SOURCE
#include "slices/control.h"

#include <stdio.h>
#include <string.h>

#include "os/fork.h"
#include "os/mutex.h"
#include "os/os.h"
#include "os/report.h"
#include "os/thread.h"
#include "slices/calls.h"
#include "slices/channels.h"
#include "slices/hook.h"
#include "slices/stops.h"
#include "tenant/tenant.h"

#define MILLI 1000000u
/* A busy machine makes a probe slow too. Chosen: how often it is repeated, and after what time, four times as long each time: up to ten minutes. */
#define PROBES 5u
#define PROBE_NANOS (2 * 1000ull * MILLI)
/* Chosen: how often, and for how long, the library tries to put work back that the driver does not put back. */
#define MEND_NANOS (250 * MILLI)
#define MENDS_NANOS (600 * 1000ull * MILLI)
#define UNSURE_NANOS (1000ull * MILLI) /* the same where the driver has not said that the work is off */
#define ALONE_TRIES 100u             /* where the process can have no more threads; later calls go on */
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
static unsigned told, tried_version;
static unsigned slow_probes;
static uint64_t probe_again_nanos; /* 0: never */
static bool suspended;             /* the driver is about to store its state */

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

static bool is_same(const sl_channels_group_t *one, const sl_channels_group_t *other) {
    return one->count == other->count && memcmp(one->channels, other->channels, sizeof one->channels) == 0;
}

/* Also channels that the group has got since, and not those that libcuda has freed. */
static bool put_group_back(const sl_channels_group_t *group, uint32_t *status) {
    sl_channels_group_t now = *group, before;
    for (unsigned i = 0; i < TRIES && sl_channels_find(&now); i++) {
        before = now;
        *status = sl_calls_disable(&now, false);
        if (*status == SL_RM_OK)
            return true;
        if (sl_channels_find(&now) && is_same(&now, &before))
            return false;
    }
    return !sl_channels_find(&now);
}

/* Nobody knows when within a call the work leaves the GPU, or goes on. */
static uint64_t middle(uint64_t begin) {
    return begin + (sl_os_nanos() - begin) / 2;
}

/* Where the driver refuses, all time from the call on counts as work: the driver may have put it back all the same, and time that is subtracted is
 * free. */
static bool put_back(uint32_t *status) {
    unsigned left = 0, before = taken_count;
    uint64_t begin = sl_os_nanos();
    for (unsigned i = 0; i < before; i++)
        if (!put_group_back(&taken[i].group, status))
            taken[left++] = taken[i];
    taken_count = left;
    if (before)
        sl_stops_end(left ? begin : middle(begin));
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
        back = !suspended && put_back(&status);
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
    taken_count = mends || is_sure() ? taken_count : 0;
}

/* With the lock held, before another call. There was no thread to put the work back: perhaps there is now. */
static void go_on_mending(unsigned tries) {
    uint32_t status = SL_RM_OK;
    bool sure = is_sure(), left = taken_count && !reasons && !mends && !suspended;
    mends = mends || (left && sl_thread_start(mend, NULL));
    for (unsigned i = 0; i < tries && left && !mends; i++) {
        left = !put_back(&status);
        if (left && i + 1 < tries)
            sl_os_sleep_nanos(10 * MILLI);
        else if (!left && sure)
            tell_mended(true);
    }
}

/* Restores what can be restored. */
static bool end(unsigned why, uint32_t status) {
    bool was_on = state == SL_REGION_SLICES_ON;
    uint32_t refusal = SL_RM_OK;
    bool back = put_back(&refusal);
    reasons = 0;
    for (unsigned i = 0; i < changed_count; i++)
        if (sl_channels_find(&changed[i]))
            sl_calls_set_slice(&changed[i], changed[i].own_micros);
    changed_count = 0;
    slice_micros = 0;
    probe_again_nanos = 0;
    say(why);
    char number[32] = "";
    if (status && status != SL_CALLS_FAILED)
        snprintf(number, sizeof number, " (status 0x%x)", (unsigned)status);
    if (was_on || (SL_LOAD(sl_options_slices) == SL_OPTIONS_SLICES_ON && told != why))
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
        if (now[i].client == group->client && now[i].group == group->group && now[i].fd == group->fd && is_same(&now[i], group))
            return true;
    return false;
}

static bool judge(const sl_channels_group_t *group, uint32_t status) {
    if (sl_calls_are_slow())
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

static bool end_slow_probe(void) {
    end(SL_REGION_SLICES_SLOW, 0);
    if (slow_probes < PROBES)
        probe_again_nanos = sl_os_nanos() + (PROBE_NANOS << 2 * slow_probes++);
    return false;
}

/* The driver must tell the slice that libcuda has set, and accept it once more. */
static bool probe(const sl_channels_group_t *group) {
    uint64_t micros = 0;
    uint32_t status = sl_calls_get_slice(group, &micros);
    if (status != SL_RM_OK)
        return end(SL_REGION_SLICES_REFUSED, status);
    if (micros != group->own_micros)
        return end(SL_REGION_SLICES_OTHER, 0);
    status = sl_calls_set_slice(group, group->own_micros);
    if (status != SL_RM_OK)
        return end(SL_REGION_SLICES_REFUSED, status);
    return sl_calls_longest_nanos() <= SL_CALLS_SLOW_NANOS || end_slow_probe();
}

static bool try(void) {
    count = 0;
    sl_calls_forget();
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
    if (slow_probes && told == SL_REGION_SLICES_SLOW)
        sl_report(SL_INFO, "the library controls time slices of the GPU now: the control calls are quick");
    told = 0;
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
    bool again = (state == SL_REGION_SLICES_ABSENT && tried_version != sl_channels_version()) ||
                 (state == SL_REGION_SLICES_SLOW && probe_again_nanos && sl_os_nanos() > probe_again_nanos);
    if (suspended)
        return false;
    return state == SL_REGION_SLICES_ON || ((state == SL_REGION_SLICES_UNTRIED || again) && try());
}

static bool look(void) {
    if (!is_ready())
        return false;
    sl_calls_begin_timing();
    bool ok = sl_channels_read(groups, &count) || end(SL_REGION_SLICES_ABSENT, 0);
    tell_groups();
    return ok;
}

bool sl_control_is_ready(void) {
    sl_mutex_lock(&lock);
    go_on_mending(1);
    bool ready = is_ready();
    sl_mutex_unlock(&lock);
    return ready;
}

uint32_t sl_control_slice(uint32_t micros) {
    sl_mutex_lock(&lock);
    go_on_mending(1);
    bool ok = look();
    slice_micros = ok && count ? micros : 0;
    if (ok && micros) { /* before the first group has it, so that end() restores it */
        memcpy(changed, groups, count * sizeof *groups);
        changed_count = count;
    }
    for (unsigned i = 0; ok && i < count; i++)
        ok = judge(&groups[i], sl_calls_set_slice(&groups[i], micros ? micros : groups[i].own_micros));
    changed_count = ok && !micros ? 0 : changed_count;
    if (ok)
        say(state);
    if (ok)
        SL_TELL(SL_DEBUG, "time slices: set to %u us for %u groups in at most %llu us a call", (unsigned)micros, count, (unsigned long long)sl_calls_longest_nanos() / 1000);
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
    go_on_mending(1);
    bool ok = look();
    atomic_fetch_add(&interruptions, ok);
    for (unsigned i = 0; ok && i < count; i++)
        ok = judge(&groups[i], sl_calls_preempt(&groups[i]));
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

static bool let_go(void) {
    uint32_t status = SL_RM_OK;
    sl_calls_begin_timing();
    if (!put_back(&status))
        return end(SL_REGION_SLICES_REFUSED, status);
    return !sl_calls_are_slow() || end(SL_REGION_SLICES_SLOW, 0);
}

/* A refused call may have named a channel that libcuda had just freed, and has done nothing then: the channels that are there now may run. */
static bool take(const sl_channels_group_t *group) {
    sl_channels_group_t now = *group, before;
    for (unsigned i = 0; i < TRIES; i++) {
        if (!note_taken(&now))
            return false;
        uint32_t status = sl_calls_disable(&now, true);
        taken[taken_count - 1].sure |= status == SL_RM_OK;
        before = now;
        if (sl_calls_are_slow())
            return end(SL_REGION_SLICES_SLOW, 0);
        if (status == SL_RM_OK || !sl_channels_find(&now))
            return true;
        if (is_same(&now, &before))
            return end(SL_REGION_SLICES_REFUSED, status);
    }
    return false; /* libcuda makes channels all the time: the next stop may do better */
}

/* While a thread still puts back what an earlier stop took off, there is no other stop. */
static bool take_off(uint64_t *at) {
    bool ok = !mends && look();
    uint64_t begin = sl_os_nanos();
    for (unsigned i = 0; ok && i < count; i++)
        ok = take(&groups[i]);
    *at = middle(begin);
    if (!ok && !reasons && state == SL_REGION_SLICES_ON)
        let_go();
    return ok;
}

static void tell_slow_stop(uint64_t since) {
    uint64_t nanos = sl_os_nanos() - since;
    if (nanos > MILLI)
        SL_TELL(SL_DEBUG, "time slices: it took %llu us to take work off the GPU, of them at most %llu us in a call", (unsigned long long)nanos / 1000,
                (unsigned long long)sl_calls_longest_nanos() / 1000);
}

bool sl_control_stop(sl_control_reason_t reason) {
    uint64_t begin = sl_os_nanos(), at = begin;
    sl_mutex_lock(&lock);
    go_on_mending(1);
    bool ok = take_off(&at) && taken_count;
    tell_slow_stop(begin);
    if (ok && !reasons)
        sl_stops_begin(at);
    if (ok)
        reasons |= reason;
    sl_mutex_unlock(&lock);
    return ok;
}

bool sl_control_go(sl_control_reason_t reason) {
    sl_mutex_lock(&lock);
    go_on_mending(ALONE_TRIES);
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

void sl_control_suspend(void) {
    sl_mutex_lock(&lock);
    if (reasons) {
        reasons = 0;
        let_go();
    }
    suspended = true;
    sl_mutex_unlock(&lock);
}

void sl_control_resume(void) {
    sl_mutex_lock(&lock);
    suspended = false;
    sl_mutex_unlock(&lock);
    sl_channels_renew();
}

void sl_control_drop(void) {
    sl_mutex_lock(&lock);
    sl_channels_drop();
    count = taken_count = changed_count = slice_micros = told = 0;
    reasons = 0;
    sl_stops_end(sl_os_nanos());
    say(state);
    sl_mutex_unlock(&lock);
}

static void forget(void) {
    told = 0;
    lock = (sl_mutex_t)SL_MUTEX_INITIALIZER;
    state = SL_REGION_SLICES_UNTRIED;
    slice_micros = count = taken_count = changed_count = slow_probes = 0;
    sl_calls_forget();
    probe_again_nanos = 0;
    reasons = 0;
    mends = suspended = false;
}
SL_FORK_FORGETS(forget);
