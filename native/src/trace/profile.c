/* profile: the time of the program's calls, in the files of Alnair's profiler (PFLOG) and of its interposer (the workspace).
 *
 * There is no thread. The first call after the end of a period writes the files, and so does the end of the process. Calls of a killed
 * process since its last write are in the sums of its tenant, which the tenant's next process writes. They are in no timeline. */
#define _GNU_SOURCE
#include "trace/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fork.h"
#include "tenant/switches/compat.h"
#include "os/index.h"
#include "os/mutex.h"
#include "os/os.h"
#include "trace/profile_file.h"
#include "trace/profile_sums.h"
#include "trace/profile_workspace.h"
#include "trace/sink.h"
#include "tenant/tenant.h"

#define BUFFER_BYTES 65536             /* chosen: some 1000 lines of the timeline between two writes */
#define WORKSPACE_NANOS 100000000u     /* chosen: between two writes of the workspace */
#define RETRY_NANOS 1000000000u        /* chosen: after a failed write */
#define LONGEST_NANOS 10000000000u     /* chosen: between two writes, however slow the disk is */
#define COST_FACTOR 100                /* chosen: writing takes at most 1/100 of the time */
#define LAST_ATTEMPTS 1000             /* chosen: the end of the process waits 0.1 s at most for a thread that writes */
#define LAST_NANOS 100000u
#define PATIENCE_NANOS 2000000u        /* chosen: wait for the lock of other processes that write the same files */
#define LAST_PATIENCE_NANOS 300000000u /* chosen: the same at the end of the process, where no later write follows */

enum { UNKNOWN, BUSY, OFF, ON };

typedef struct {
    uint64_t address;
    uint64_t bytes;
} allocation_t;

static atomic_int state;
static sl_compat_profile_t settings;
static atomic_bool writing, ended;
static _Atomic uint64_t next_ticks;

static sl_mutex_t lock; /* guards the variables below */
static char lines[BUFFER_BYTES];
static size_t lines_bytes;
static uint64_t lost_lines;
static sl_index_t allocations = {.record_bytes = sizeof(allocation_t)};

static char taken[BUFFER_BYTES]; /* lines of the thread that writes now */
static bool own_timeline_begun;

void sl_profile_start(void) {
    int unknown = UNKNOWN;
    if (atomic_load_explicit(&state, memory_order_relaxed) != UNKNOWN || !atomic_compare_exchange_strong(&state, &unknown, BUSY))
        return;
    int saved = errno;
    bool wanted = sl_compat_alnair_profile(&settings);
    errno = saved;
    if (wanted)
        sl_profile_sums_prepare();
    atomic_store(&state, wanted ? ON : OFF);
    if (wanted)
        sl_sink_switch(SL_SINK_PROFILE, true);
}

static void forget(void) {
    int busy = BUSY;
    atomic_compare_exchange_strong(&state, &busy, UNKNOWN);
    lock = (sl_mutex_t){0};
    writing = ended = own_timeline_begun = false;
    lines_bytes = 0;
    lost_lines = 0;
    next_ticks = 0;
    allocations = (sl_index_t){.record_bytes = sizeof(allocation_t)};
}
SL_FORK_FORGETS(forget);

static void failed(const char *folder, const char *name) {
    sl_report(SL_WARN, "cannot write %.120s/%.40s: %s; the program runs on, its profile is not complete", folder, name,
              strerror(errno));
}

static bool put_metrics(const char *name, const sl_profile_sum_t sums[SL_PROFILE_NAMES], uint64_t used_bytes) {
    char text[SL_PROFILE_TEXT_BYTES];
    size_t length = sl_profile_text_metrics(text, settings.format, sums, used_bytes);
    bool ok = sl_profile_file_replace(settings.folder, name, text, length);
    if (!ok)
        failed(settings.folder, name);
    return ok;
}

static bool put_timeline(const char *name, size_t length, bool afresh, bool alone) {
    bool ok = !length || sl_profile_file_append(settings.folder, name, taken, length, afresh, alone);
    if (!ok)
        failed(settings.folder, name);
    return ok;
}

/* Computes and writes the sums under the lock, so that a later writer never writes less. Before this process takes part in its tenant it
 * writes none: the sums of the other processes would be missing. */
static bool write_shared(size_t length, int lock) {
    sl_profile_sum_t sums[SL_PROFILE_NAMES];
    bool ok = put_timeline("timeline.log", length, false, lock >= 0);
    if (lock == SL_PROFILE_FILE_BUSY)
        sl_report(SL_WARN, "another process keeps %.120s locked; metrics.log lacks the newest calls until a process writes it again", settings.folder);
    else if (sl_tenant.state != SL_TENANT_UNKNOWN) {
        sl_profile_sums_of_tenant(sums);
        ok &= put_metrics("metrics.log", sums, sl_profile_sums_tenant_bytes());
    }
    return ok;
}

static bool write_own(size_t length) {
    char name[40];
    sl_profile_sum_t sums[SL_PROFILE_NAMES];
    sl_profile_sums_of_process(sums);
    snprintf(name, sizeof name, "timeline-%d.log", (int)getpid());
    bool ok = put_timeline(name, length, !own_timeline_begun, true);
    own_timeline_begun |= length != 0;
    snprintf(name, sizeof name, "metrics-%d.log", (int)getpid());
    return put_metrics(name, sums, sl_profile_sums_process_bytes()) && ok;
}

static int lock_folder(const char *folder, bool can_wait) {
    return sl_profile_file_lock(folder, can_wait ? PATIENCE_NANOS : LAST_PATIENCE_NANOS);
}

/* In many containers root owns the folder, so no file is written. The message is for debugging only, because no user asked for the file. */
static void write_workspace(bool can_wait) {
    char text[SL_PROFILE_TEXT_BYTES];
    sl_profile_workspace_t workspace;
    int lock = lock_folder(settings.workspace, can_wait);
    if (lock == SL_PROFILE_FILE_BUSY)
        return;
    sl_profile_workspace_look(settings.workspace, &workspace);
    size_t length = sl_profile_text_workspace(text, &workspace);
    if (!sl_profile_file_replace(settings.workspace, "metrics.log", text, length))
        SL_TELL(SL_DEBUG, "cannot write %s/metrics.log: %s", settings.workspace, strerror(errno));
    sl_profile_file_unlock(lock);
}

static size_t take_lines(void) {
    sl_mutex_lock(&lock);
    size_t length = lines_bytes;
    memcpy(taken, lines, length);
    lines_bytes = 0;
    uint64_t lost = lost_lines;
    lost_lines = 0;
    sl_mutex_unlock(&lock);
    if (lost)
        sl_report(SL_WARN, "%llu lines of the timeline are lost: calls came faster than they could be written",
                  (unsigned long long)lost);
    return length;
}

static bool write_profile(bool can_wait) {
    int lock = lock_folder(settings.folder, can_wait);
    if (lock == SL_PROFILE_FILE_BUSY && can_wait)
        return true;
    size_t length = take_lines();
    bool ok = write_shared(length, lock);
    sl_profile_file_unlock(lock);
    return write_own(length) && ok;
}

static uint64_t ticks_of(uint64_t nanos) {
    uint64_t scale = atomic_load_explicit(&sl_clock_scale, memory_order_relaxed);
    return (uint64_t)(((unsigned __int128)nanos << 32) / (scale ? scale : 1));
}

/* The caller has set the flag `writing`. can_wait: lines that cannot be written now are kept for the next time. */
static void write_files(bool can_wait) {
    int saved = errno;
    uint64_t began = sl_os_nanos();
    bool ok = !settings.folder[0] || write_profile(can_wait);
    if (settings.workspace[0] && sl_tenant.state != SL_TENANT_UNKNOWN)
        write_workspace(can_wait);
    uint64_t period = settings.folder[0] ? sl_profile_text_period_nanos(settings.format) : WORKSPACE_NANOS;
    uint64_t gap = (sl_os_nanos() - began) * COST_FACTOR, least = ok ? period : RETRY_NANOS;
    gap = gap < least ? least : gap > LONGEST_NANOS ? LONGEST_NANOS : gap;
    next_ticks = ended ? 0 : sl_clock_ticks() + ticks_of(gap);
    errno = saved;
}

static void write_unless_busy(bool can_wait) {
    if (atomic_exchange(&writing, true))
        return;
    write_files(can_wait);
    writing = false;
}

void sl_profile_write(void) {
    if (state != ON)
        return;
    for (int i = 0; i < LAST_ATTEMPTS && atomic_exchange(&writing, true); i++)
        if (i == LAST_ATTEMPTS - 1)
            return;
        else
            sl_os_sleep_nanos(LAST_NANOS);
    write_files(false);
    writing = false;
}

/* At the end of the process. Destructors of the program may still call CUDA: each such call is written at once. */
__attribute__((destructor)) static void end(void) {
    if (state != ON || !next_ticks)
        return;
    ended = true;
    sl_profile_write();
}

/* A free of the address gives back the bytes that were allocated there. */
static uint64_t bytes_of(unsigned name, int status, const sl_detail_t *detail) {
    if (name != SL_PROFILE_FREE && (name != SL_PROFILE_ALLOC || status != CUDA_SUCCESS))
        return detail->bytes;
    allocation_t *allocation;
    uint64_t bytes = detail->bytes;
    sl_mutex_lock(&lock);
    if (name == SL_PROFILE_ALLOC) {
        allocation = sl_index_put(&allocations, detail->address);
        if (allocation)
            allocation->bytes = bytes;
    } else if (status == CUDA_SUCCESS && (allocation = sl_index_find(&allocations, detail->address))) {
        bytes = allocation->bytes;
        sl_index_remove(&allocations, allocation);
    }
    sl_mutex_unlock(&lock);
    return bytes;
}

static bool keep(const char *line, size_t length) {
    sl_mutex_lock(&lock);
    bool fits = lines_bytes + length <= BUFFER_BYTES;
    if (fits) {
        memcpy(lines + lines_bytes, line, length);
        lines_bytes += length;
    }
    sl_mutex_unlock(&lock);
    return fits;
}

static void show(const sl_profile_rule_t *rule, uint64_t begin_ticks, uint64_t nanos, int status,
                 const sl_detail_t *detail) {
    char line[SL_PROFILE_LINE_BYTES];
    uint64_t now = sl_clock_ticks();
    sl_profile_event_t event = {
        .name = rule->shown,
        .start_nanos = sl_os_wall_nanos() - sl_clock_nanos(now > begin_ticks ? now - begin_ticks : 0),
        .nanos = nanos,
        .bytes = bytes_of(rule->shown, status, detail),
        .kind = rule->kind,
    };
    size_t length = sl_profile_text_event(line, settings.format, &event);
    if (!length || keep(line, length))
        return;
    write_unless_busy(false);
    if (!keep(line, length)) {
        sl_mutex_lock(&lock);
        lost_lines++;
        sl_mutex_unlock(&lock);
    }
}

void sl_profile_call(unsigned entry, uint64_t begin_ticks, uint64_t end_ticks, int status, const sl_detail_t *detail) {
    if (state != ON)
        return;
    const sl_profile_rule_t *rule = sl_profile_sums_rule(entry);
    if (rule->name != SL_PROFILE_NOTHING) {
        uint64_t nanos = sl_clock_nanos(end_ticks > begin_ticks ? end_ticks - begin_ticks : 0);
        sl_profile_sums_add(rule, nanos);
        if (rule->shown != SL_PROFILE_NOTHING && settings.folder[0])
            show(rule, begin_ticks, nanos, status, detail);
    }
    if (SL_UNLIKELY(end_ticks >= atomic_load_explicit(&next_ticks, memory_order_relaxed)))
        write_unless_busy(!ended);
}
