/* mover: takes the movable memory of this process to the host, and back to its addresses.
 *
 * Out: list, reserve host memory, copy everything, and only then give the pieces back to the driver. Back: take all pieces, and only then copy. So the
 * contents are complete on one side at every moment, and a failure leaves one of three states: nothing left (REFUSED), nothing came
 * back (NO_ROOM), or the host has everything and the driver does not do its part (BROKEN: a later call tries again).
 *
 * Pieces of several contexts are copied in turns, so that several GPUs copy at the same time. Host memory that is not registered goes through the
 * staging memory where there is some. */
#include "pause/mover.h"

#include <stdlib.h>

#include "memory/movable.h"
#include "os/fork.h"
#include "os/os.h"
#include "os/size.h"
#include "pause/reasons.h"
#include "pause/reservoir.h"
#include "pause/staging.h"
#include "pause/telling.h"
#include "pause/track.h"
#include "ledger/ledger.h"
#include "driver/entry.h"
#include "tenant/accounts.h"

#define TRACKS 64

typedef struct {
    const sl_movable_source_t *source;
    size_t number;
    sl_movable_t what;
    uint64_t offset; /* in the reservoir */
    unsigned track;
    bool away;       /* what the GPU has for it, if anything, are not its contents */
    bool given;      /* the GPU has nothing for it */
} item_t;

static item_t *items;
static size_t item_count;
static uint64_t total; /* bytes of all items */
static bool is_away;
static bool is_quiet = true; /* no copy of an earlier step can be under way */
static sl_track_t tracks[TRACKS];
static unsigned track_count;

static void settle(void) {
    for (const sl_movable_source_t *const *source = sl_movables; *source; source++)
        if ((*source)->settle)
            (*source)->settle();
    free(items);
    items = NULL;
    item_count = 0;
    total = 0;
    is_away = false;
}

static void add_items(const sl_movable_source_t *source, size_t count) {
    for (size_t number = 0; number < count; number++) {
        item_t *item = &items[item_count++];
        *item = (item_t){.source = source, .number = number, .what = source->piece(number), .offset = total};
        total += item->what.bytes;
    }
}

/* False: no memory for the list. */
static bool list(void) {
    enum { SOURCES = 16 };
    size_t counts[SOURCES], sum = 0, n = 0;
    for (const sl_movable_source_t *const *source = sl_movables; *source && n < SOURCES; source++)
        sum += counts[n++] = (*source)->count();
    items = malloc((sum + 1) * sizeof *items);
    for (size_t i = 0; i < n && items; i++)
        add_items(sl_movables[i], counts[i]);
    return items;
}

uint64_t sl_mover_bytes(void) {
    if (is_away)
        return total;
    list();
    uint64_t bytes = total;
    settle();
    return bytes;
}

static CUcontext first_context(void) {
    return track_count ? tracks[0].context : NULL;
}

static void close_tracks(void) {
    sl_staging_close(first_context(), is_quiet);
    for (unsigned i = 0; i < track_count; i++)
        sl_track_close(&tracks[i]);
    track_count = 0;
}

static bool is_for(const sl_track_t *track, const sl_movable_t *what, bool any_context) {
    return track->gpu == what->gpu && (any_context || track->context == what->context);
}

static bool open_tracks(sl_reason_t *reason) {
    for (item_t *item = items; item < items + item_count; item++) {
        unsigned i = 0;
        while (i < track_count && !is_for(&tracks[i], &item->what, !item->what.context))
            i++;
        if (i == TRACKS)
            return sl_report_fail(reason, SL_REASON_CONTEXTS, TRACKS);
        if (i == track_count && !sl_track_open(&tracks[track_count++], item->what.context, item->what.gpu))
            return sl_report_fail(reason, SL_REASON_NO_CONTEXT, sl_tenant.region.gpus[item->what.gpu].index);
        item->track = i;
    }
    return true;
}

enum { NOTHING_LEFT = -1, NO_HOST_MEMORY = -2 };

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

/* The next copy of one track, up to the border of a block or to the end of a piece of staging memory. */
static int copy_next(unsigned number, bool out) {
    sl_track_t *track = &tracks[number];
    while (track->item < item_count && (items[track->item].track != number || (!out && !items[track->item].away)))
        track->item++;
    if (track->item == item_count)
        return NOTHING_LEFT;
    const item_t *item = &items[track->item];
    uint64_t offset = item->offset + track->done, left = item->what.bytes - track->done;
    uint64_t address = item->what.address + track->done, bytes = least(left, SL_RESERVOIR_BLOCK - offset % SL_RESERVOIR_BLOCK);
    void *host = sl_reservoir_at(offset);
    if (!host)
        return NO_HOST_MEMORY;
    bool staged = sl_staging_is_open() && !sl_reservoir_is_registered(offset);
    bytes = staged ? least(bytes, SL_STAGING_PIECE) : bytes;
    CUresult status = staged ? sl_staging_copy(track, address, host, bytes) : sl_track_copy(track, out, address, host, bytes);
    track->done = bytes == left ? 0 : track->done + bytes;
    track->item += bytes == left;
    return (int)status;
}

/* All items out, or those that are away in. */
static int copy_all(bool out) {
    int status = CUDA_SUCCESS;
    unsigned busy = track_count;
    for (unsigned i = 0; i < track_count; i++) {
        tracks[i].item = 0;
        tracks[i].done = 0;
    }
    if (sl_staging_is_open())
        sl_staging_begin(out);
    while (busy && status == CUDA_SUCCESS) {
        busy = 0;
        for (unsigned i = 0; i < track_count && status == CUDA_SUCCESS; i++) {
            status = copy_next(i, out);
            busy += status == CUDA_SUCCESS;
            status = status == NOTHING_LEFT ? CUDA_SUCCESS : status;
        }
    }
    if (sl_staging_is_open())
        status = (int)sl_staging_end((CUresult)status);
    for (unsigned i = 0; i < track_count; i++) {
        bool quiet = true;
        int one = (int)sl_track_drain(&tracks[i], &quiet);
        is_quiet &= quiet;
        status = status == CUDA_SUCCESS ? one : status;
    }
    return status;
}

/* Copies of an earlier step may be under way although the driver failed to wait for them. */
static bool wait_until_quiet(void) {
    if (is_quiet)
        return true;
    bool idle = true;
    for (unsigned i = 0; i < track_count; i++)
        idle &= sl_track_is_idle(&tracks[i]);
    return is_quiet = idle && track_count;
}

/* Without a piece there is no track, and host memory that was prepared is registered nevertheless. */
static void let_host_memory_go(void) {
    uint64_t prepared = sl_telling_record() ? sl_tenant.region.limits->prepared_bytes : 0;
    sl_track_t any = {.retained = -1};
    sl_reservoir_end();
    bool quiet = wait_until_quiet();
    sl_staging_close(first_context(), quiet);
    if (!quiet)
        sl_reservoir_abandon();
    is_quiet = true;
    sl_reservoir_keep(prepared, track_count ? first_context() : sl_track_any(&any));
    sl_track_close(&any);
}

/* What this process still has on the GPUs. */
static uint64_t staying_bytes(void) {
    uint64_t sum = 0;
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        sum += sl_accounts_own(gpu)->charged_bytes;
    return sum;
}

/* Of the items that are away on a GPU. */
static uint64_t away_bytes(unsigned gpu) {
    uint64_t sum = 0;
    for (const item_t *item = items; item < items + item_count; item++)
        sum += item->what.gpu == gpu && item->away ? item->what.bytes : 0;
    return sum;
}

/* What those need that the GPU has nothing for: after a failure the driver may still have some. */
static uint64_t missing_bytes(unsigned gpu) {
    uint64_t sum = 0;
    for (const item_t *item = items; item < items + item_count; item++)
        sum += item->what.gpu == gpu && item->given ? item->what.bytes : 0;
    return sum;
}

static CUresult take(item_t *item) {
    CUresult status = item->source->take(item->number);
    item->given &= status != CUDA_SUCCESS;
    return status;
}

static CUresult give(item_t *item) {
    CUresult status = item->source->give(item->number);
    item->given |= status == CUDA_SUCCESS;
    return status;
}

static void tell_away(uint64_t bytes) {
    sl_region_pause_t *record = sl_telling_record();
    if (!record)
        return;
    record->away_bytes = bytes;
    record->staying_bytes = bytes ? staying_bytes() : 0;
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        sl_accounts_own(gpu)->away_bytes = away_bytes(gpu);
}

/* Nothing is given back to the driver yet. */
static sl_mover_result_t stay(void) {
    let_host_memory_go();
    close_tracks();
    settle();
    tell_away(0);
    return SL_MOVER_REFUSED;
}

/* Takes what is away. The status of the first that failed, and its number in *failed. */
static CUresult take_all(size_t *failed) {
    for (*failed = 0; *failed < item_count; ++*failed) {
        item_t *item = &items[*failed];
        CUresult status = item->away ? take(item) : CUDA_SUCCESS;
        if (status != CUDA_SUCCESS)
            return status;
    }
    return CUDA_SUCCESS;
}

static void give_all_again(void) {
    for (item_t *item = items; item < items + item_count; item++)
        if (item->away)
            give(item);
}

static sl_mover_result_t broken(sl_reason_t *reason, const char *step, int status) {
    sl_report_fail(reason, SL_REASON_BROKEN, step, status);
    sl_report(SL_ERROR, "the driver fails to %s (error %d); the job stays paused with its memory in host memory", step, status);
    tell_away(total);
    return SL_MOVER_BROKEN;
}

/* The driver did not take a piece back. What it has taken comes back to the GPU. */
static sl_mover_result_t undo(CUresult cause, sl_reason_t *reason) {
    size_t failed;
    is_away = true;
    int status = take_all(&failed);
    if (status == CUDA_SUCCESS)
        status = copy_all(false);
    if (status != CUDA_SUCCESS) {
        sl_reservoir_end();
        close_tracks();
        return broken(reason, SL_REASON_STEP, status);
    }
    sl_report_fail(reason, SL_REASON_FREE, cause);
    return stay();
}

static CUresult give_all(void) {
    for (item_t *item = items; item < items + item_count; item++) {
        item->away = true;
        CUresult status = give(item);
        if (status != CUDA_SUCCESS)
            return status;
    }
    return CUDA_SUCCESS;
}

static void count_out(uint64_t since) {
    sl_region_pause_t *record = sl_telling_record();
    if (!record)
        return;
    record->out_bytes += total;
    record->out_nanos += sl_os_nanos() - since;
}

/* The host memory of the items begins to be made ready. stages: what is not registered goes through staging memory, if there is some. fresh: that may still
 * have to be taken from the host. */
static void begin_host_memory(bool stages, bool fresh) {
    uint64_t bytes = sl_reservoir_unregistered(total);
    bool staged = stages && sl_staging_open(bytes, fresh ? bytes : 0);
    sl_reservoir_begin(total, staged ? NULL : first_context());
}

/* Without staging memory it is registered after all. */
static void finish_staging_memory(void) {
    if (!sl_staging_is_open() || sl_staging_ready(first_context()))
        return;
    sl_reservoir_end();
    sl_reservoir_begin(total, first_context());
}

sl_mover_result_t sl_mover_out(bool vacates, sl_reason_t *reason) {
    uint64_t began = sl_os_nanos();
    if (is_away)
        return SL_MOVER_DONE;
    if (!list()) {
        sl_report_fail(reason, SL_REASON_LIST);
        return stay();
    }
    if (!open_tracks(reason) || !sl_reservoir_reserve(total, first_context(), reason))
        return stay();
    begin_host_memory(vacates, true);
    finish_staging_memory();
    int status = copy_all(true);
    bool touched = sl_reservoir_end();
    if (status != CUDA_SUCCESS || !touched) {
        if (status == NO_HOST_MEMORY || !touched)
            sl_report_fail(reason, SL_REASON_HOST_RAN_OUT);
        else
            sl_report_fail(reason, SL_REASON_COPY, status);
        return stay();
    }
    CUresult given = give_all();
    if (given != CUDA_SUCCESS)
        return undo(given, reason);
    is_away = true;
    close_tracks();
    count_out(began);
    tell_away(total);
    return SL_MOVER_DONE;
}

static sl_mover_result_t no_room(const item_t *item, sl_reason_t *reason) {
    unsigned gpu = item->what.gpu;
    uint64_t missing = missing_bytes(gpu), needs = missing ? missing : away_bytes(gpu), limit = sl_accounts_limit(gpu), used = sl_accounts_sum(gpu).charged;
    uint64_t left = limit > used ? limit - used : 0;
    char need[SL_SIZE_TEXT_BYTES], quota[SL_SIZE_TEXT_BYTES], vacant[SL_SIZE_TEXT_BYTES];
    sl_size_format(left, quota);
    sl_report_fail(reason, SL_REASON_ROOM, sl_size_format(needs, need), sl_tenant.region.gpus[gpu].index, limit ? quota : "any", sl_size_format(sl_track_free_bytes(&tracks[item->track]), vacant));
    return SL_MOVER_NO_ROOM;
}

/* An item for which its GPU cannot have room; NULL: none. Without this look each attempt would take what is free for a moment, and the restore of
 * another process that was promised it would be lost. The driver may give back what pools of this process keep. 0 is also what an unknown number is. */
static const item_t *crowded(void) {
    uint32_t seen = 0;
    for (const item_t *item = items; item < items + item_count; item++) {
        unsigned gpu = item->what.gpu;
        if (!item->given || seen >> gpu & 1)
            continue;
        seen |= 1u << gpu;
        uint64_t left = sl_track_free_bytes(&tracks[item->track]);
        if (left && left + sl_accounts_own(gpu)->pool_bytes < missing_bytes(gpu))
            return item;
    }
    return NULL;
}

static sl_mover_result_t stay_away(sl_mover_result_t result) {
    sl_reservoir_end();
    close_tracks();
    tell_away(total);
    return result;
}

sl_mover_result_t sl_mover_back(sl_reason_t *reason) {
    uint64_t began = sl_os_nanos();
    if (!is_away)
        return SL_MOVER_DONE;
    if (!open_tracks(reason))
        return stay_away(SL_MOVER_BROKEN);
    if (!wait_until_quiet())
        return stay_away(broken(reason, "wait for earlier copies", CUDA_ERROR_NOT_READY));
    const item_t *outside = crowded();
    if (outside)
        return stay_away(no_room(outside, reason));
    begin_host_memory(true, false);
    size_t failed;
    CUresult status = take_all(&failed);
    if (status != CUDA_SUCCESS) {
        give_all_again();
        bool room = status == CUDA_ERROR_OUT_OF_MEMORY;
        return stay_away(room ? no_room(&items[failed], reason) : broken(reason, "map memory again", status));
    }
    finish_staging_memory();
    status = copy_all(false);
    if (status != CUDA_SUCCESS) {
        if (is_quiet) /* else a copy may be under way, and the memory stays */
            give_all_again();
        return stay_away(broken(reason, "copy memory from the host", status));
    }
    sl_region_pause_t *record = sl_telling_record();
    if (record) {
        record->back_bytes += total;
        record->back_nanos += sl_os_nanos() - began;
    }
    stay();
    return SL_MOVER_DONE;
}

bool sl_mover_prepare(uint64_t bytes) {
    sl_track_t track;
    sl_reason_t reason;
    uint64_t wanted = sl_telling_record() ? sl_tenant.region.limits->prepared_bytes : 0;
    if (is_away)
        return false;
    CUcontext context = sl_track_any(&track);
    bool reserved = sl_reservoir_reserve(bytes, context, &reason);
    if (!reserved) {
        sl_report(SL_WARN, "cannot prepare host memory for a release: the job %s", reason.text);
    } else {
        sl_reservoir_begin(bytes, context);
        if (!sl_reservoir_end())
            sl_reservoir_keep(0, context);
        sl_reservoir_keep(wanted > bytes ? wanted : bytes, context);
    }
    sl_track_close(&track);
    return reserved;
}

void sl_mover_unregister(void) {
    sl_track_t track;
    sl_reservoir_unregister(sl_track_any(&track));
    sl_track_close(&track);
}

/* A child has neither the memory nor the copies. */
static void forget(void) {
    items = NULL;
    item_count = 0;
    total = 0;
    is_away = false;
    is_quiet = true;
    track_count = 0;
}
SL_FORK_FORGETS(forget);
