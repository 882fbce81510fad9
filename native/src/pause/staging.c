/* staging: see staging.h. */
#define _GNU_SOURCE
#include "pause/staging.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "os/fork.h"
#include "os/host.h"
#include "pause/borrow.h"
#include "pause/helpers.h"
#include "pause/pages.h"

enum { FLIGHT = SL_TRACK_FLIGHT, MOST_SLOTS = SL_HELPERS_MOST + 1 + FLIGHT };

sl_staging_rule_t sl_staging_rule = {.least_bytes = 1ull << 30, .least_processors = 4}; /* chosen */

/* What a slot holds: the piece of this number, until that of number + slots. */
typedef struct {
    sl_track_t *track;
    uint64_t address, bytes;
    char *host;
    uint64_t mark;            /* the copy of the driver has ended when the track has ended so many */
    _Atomic uint64_t copied;  /* 1 + number of the last piece that a helper has copied */
} slot_t;

static char *ring;
static unsigned thread_count;
static unsigned slot_count; /* for each helper thread a piece, one that waits for a thread, and those that the driver copies */
static slot_t slots[MOST_SLOTS];
static bool is_out;
static uint64_t begun;  /* pieces */
static uint64_t passed; /* of these, handed to the second of the two copies */
static sl_helpers_t helpers;
static atomic_bool is_touched; /* all of the ring */
static bool is_registered;

static slot_t *slot_of(uint64_t number) {
    return &slots[number % slot_count];
}

static char *place_of(uint64_t number) {
    return ring + number % slot_count * SL_STAGING_PIECE;
}

static uint64_t ring_bytes(void) {
    return slot_count * SL_STAGING_PIECE;
}

static bool register_ring(CUcontext context) {
    enum { PORTABLE = 1 };
    sl_borrow_t borrow;
    bool done = sl_borrow_begin(&borrow, context) && real.cuMemHostRegister_v2 && real.cuMemHostUnregister &&
                real.cuMemHostRegister_v2(ring, ring_bytes(), PORTABLE) == CUDA_SUCCESS;
    sl_borrow_end(&borrow);
    return done;
}

static bool unregister_ring(CUcontext context) {
    sl_borrow_t borrow;
    sl_borrow_begin(&borrow, context);
    bool done = real.cuMemHostUnregister(ring) == CUDA_SUCCESS || real.cuMemHostUnregister(ring) == CUDA_SUCCESS;
    sl_borrow_end(&borrow);
    return done;
}

static void touch_slot(void *of, size_t number) {
    (void)of;
    int saved = errno;
    if (!sl_pages_touch(place_of(number), SL_STAGING_PIECE))
        is_touched = false;
    errno = saved;
}

static void drop_ring(void) {
    munmap(ring, ring_bytes());
    ring = NULL;
}

/* Touched in parallel: one thread alone touches 2 GB/s of fresh memory on an H200's host. */
bool sl_staging_open(uint64_t bytes, uint64_t taken) {
    unsigned processors = sl_host_processors();
    if (bytes < sl_staging_rule.least_bytes || processors < sl_staging_rule.least_processors)
        return false;
    /* Three quarters: with 12 of 16 threads 51 GB/s, with all 46 on an H200's host. */
    thread_count = processors * 3 / 4 < SL_HELPERS_MOST ? processors * 3 / 4 : SL_HELPERS_MOST;
    thread_count += !thread_count; /* tests allow one processor */
    slot_count = thread_count + 1 + FLIGHT;
    uint64_t left = sl_host_memory_free();
    ring = left > taken && left - taken >= ring_bytes() ? sl_pages_map(ring_bytes()) : NULL;
    if (!ring)
        return false;
    is_registered = false;
    is_touched = true;
    sl_helpers_begin(&helpers, slot_count, touch_slot, NULL);
    bool helped = helpers.threads || helpers.done;
    if (!helped)
        drop_ring();
    return helped;
}

bool sl_staging_is_open(void) {
    return ring;
}

bool sl_staging_ready(CUcontext context) {
    sl_helpers_end(&helpers);
    is_registered = is_touched && register_ring(context);
    if (!is_registered)
        drop_ring();
    return is_registered;
}

static void copy_piece(void *of, size_t number) {
    (void)of;
    slot_t *slot = slot_of(number);
    memcpy(is_out ? slot->host : place_of(number), is_out ? place_of(number) : slot->host, slot->bytes);
    slot->copied = number + 1;
}

void sl_staging_begin(bool out) {
    is_out = out;
    begun = passed = 0;
    for (unsigned i = 0; i < slot_count; i++)
        slots[i].copied = 0;
    sl_helpers_open(&helpers, thread_count, copy_piece, NULL);
}

static void wait_for_helper(uint64_t number) {
    const slot_t *slot = slot_of(number);
    for (uint32_t done; done = helpers.done, slot->copied != number + 1;)
        sl_helpers_wait(&helpers, done);
}

static CUresult wait_for_driver(uint64_t number) {
    const slot_t *slot = slot_of(number);
    return sl_track_wait(slot->track, slot->mark);
}

static void begin_helper(uint64_t number) {
    sl_helpers_give(&helpers, (uint32_t)number + 1);
}

static CUresult begin_driver(uint64_t number) {
    slot_t *slot = slot_of(number);
    CUresult status = sl_track_copy(slot->track, is_out, slot->address, place_of(number), slot->bytes);
    slot->mark = slot->track->begun;
    return status;
}

/* The oldest piece goes from the first of its copies to the second. */
static CUresult pass(void) {
    uint64_t number = passed++;
    if (!is_out) {
        wait_for_helper(number);
        return begin_driver(number);
    }
    CUresult status = wait_for_driver(number);
    if (status == CUDA_SUCCESS)
        begin_helper(number);
    return status;
}

/* So many pieces may be in the first of their copies. */
static uint64_t most_in_first(void) {
    return is_out ? FLIGHT : slot_count - FLIGHT;
}

static CUresult free_slot(uint64_t number) {
    if (number < slot_count)
        return CUDA_SUCCESS;
    if (!is_out)
        return wait_for_driver(number - slot_count);
    wait_for_helper(number - slot_count);
    return CUDA_SUCCESS;
}

CUresult sl_staging_copy(sl_track_t *track, uint64_t address, void *host, uint64_t bytes) {
    CUresult status = begun - passed == most_in_first() ? pass() : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS)
        status = free_slot(begun);
    if (status != CUDA_SUCCESS)
        return status;
    slot_t *slot = slot_of(begun);
    slot->track = track;
    slot->address = address;
    slot->host = host;
    slot->bytes = bytes;
    if (is_out)
        status = begin_driver(begun);
    else
        begin_helper(begun);
    begun += status == CUDA_SUCCESS;
    return status;
}

CUresult sl_staging_end(CUresult status) {
    while (status == CUDA_SUCCESS && passed < begun)
        status = pass();
    sl_helpers_end(&helpers);
    return status;
}

/* Where the driver still takes the addresses for registered, nothing else may come to lie. */
void sl_staging_close(CUcontext context, bool quiet) {
    if (!ring)
        return;
    if (!is_registered)
        sl_helpers_end(&helpers);
    if (!is_registered || (quiet && unregister_ring(context)))
        drop_ring();
    ring = NULL;
}

/* A child has neither the ring nor the threads. */
static void forget(void) {
    ring = NULL;
}
SL_FORK_FORGETS(forget);
