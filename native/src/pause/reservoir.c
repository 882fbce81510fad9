/* reservoir: host memory for device memory that left the GPU.
 *
 * Measured on an H200 with 16 cores: first touch of fresh memory 2 GB/s with one thread and 8 GB/s with 16 (2 MiB pages),
 * registration 41 to 56 GB/s in parallel pieces, copy 55 GB/s. So blocks are touched and registered in parallel, in their order, and a
 * copy into the first can begin while the others are made; but while one is registered, a copy stands almost still (bench/gpu/register.c). Memory that cannot be
 * registered is used as it is: slower, but it works. */
#define _GNU_SOURCE
#include "pause/reservoir.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "os/fork.h"
#include "os/host.h"
#include "os/size.h"
#include "pause/borrow.h"
#include "pause/helpers.h"
#include "pause/pages.h"
#include "pause/reasons.h"
#include "pause/telling.h"
#include "tenant/tenant.h"

#define PAGE SL_PAGES_BORDER
#define ALREADY_REGISTERED 712
#define NOT_REGISTERED 713

typedef enum { UNTOUCHED, FAILED, TOUCHED, REGISTERED } state_t;

typedef struct {
    char *start;
    uint64_t bytes;
    _Atomic state_t state;
    atomic_bool ready; /* as ready as it gets: for this move nothing more happens to it */
} block_t;

static block_t *blocks;
static size_t block_count, block_room;
static uint64_t all_bytes;
static sl_helpers_t helpers;
static bool helping;
static CUcontext registering; /* the context for it; NULL: none */

uint64_t sl_reservoir_bytes(void) {
    return all_bytes;
}

/* What all live processes of the tenant have for released memory. */
static uint64_t taken_by_all(void) {
    const sl_region_t *region = &sl_tenant.region;
    uint64_t sum = 0;
    for (unsigned number = 0; number < SL_REGION_SLOT_COUNT; number++) {
        uint64_t owner = region->slots[number].owner;
        if (owner && !(owner >> 63))
            sum += region->pauses[number].reservoir_bytes;
    }
    return sum;
}

/* Adds first and sums afterwards, so of two processes that race they never both pass; see ledger.c. */
static bool charge(uint64_t more, sl_reason_t *reason) {
    sl_region_pause_t *record = sl_telling_record();
    if (!record)
        return true;
    uint64_t limit = sl_tenant.region.limits->reservoir_bytes;
    record->reservoir_bytes += more;
    uint64_t sum = limit ? taken_by_all() : 0;
    if (limit && sum > limit && sl_slots_reap(&sl_tenant.region, &sl_tenant.self))
        sum = taken_by_all();
    if (!limit || sum <= limit)
        return true;
    record->reservoir_bytes -= more;
    char needs[SL_SIZE_TEXT_BYTES], left[SL_SIZE_TEXT_BYTES];
    uint64_t others = sum - more;
    return sl_report_fail(reason, SL_REASON_RESERVOIR, sl_size_format(more, needs), sl_size_format(others < limit ? limit - others : 0, left));
}

static void refund(uint64_t bytes) {
    sl_region_pause_t *record = sl_telling_record();
    if (record)
        record->reservoir_bytes -= bytes;
}

/* What an agent has granted it has looked for itself. */
static bool host_has(uint64_t more, sl_reason_t *reason) {
    uint64_t left = sl_pages_granted() ? UINT64_MAX : sl_host_memory_free();
    if (more <= left)
        return true;
    char needs[SL_SIZE_TEXT_BYTES], shown[SL_SIZE_TEXT_BYTES];
    return sl_report_fail(reason, SL_REASON_HOST, sl_size_format(more, needs), sl_size_format(left, shown));
}

static bool grow(size_t count) {
    if (count <= block_room)
        return true;
    block_t *more = realloc(blocks, count * sizeof *more);
    if (!more)
        return false;
    blocks = more;
    block_room = count;
    return true;
}

static bool is_unregistered(CUresult status) {
    return status == CUDA_SUCCESS || status == NOT_REGISTERED;
}

static bool unregister(const block_t *block) {
    return !real.cuMemHostUnregister || is_unregistered(real.cuMemHostUnregister(block->start)) ||
           is_unregistered(real.cuMemHostUnregister(block->start));
}

/* Where the driver still takes the addresses for registered, nothing of the program may come to lie: its copies would fail, or go to
 * the former pages. Such a block stays mapped, and charged. */
static void drop_last(void) {
    block_t *last = &blocks[block_count - 1];
    if (last->state != REGISTERED || unregister(last)) {
        sl_pages_give(last->start, last->bytes);
        refund(last->bytes);
    }
    all_bytes -= last->bytes;
    block_count--;
}

/* Blocks go from the end; of the last that stays not a part. */
static void shrink(uint64_t bytes) {
    while (block_count && all_bytes - blocks[block_count - 1].bytes >= bytes)
        drop_last();
}

static bool add_block(uint64_t bytes) {
    char *start = sl_pages_take(block_count * SL_RESERVOIR_BLOCK, bytes);
    if (!start)
        return false;
    block_t *block = &blocks[block_count++];
    block->start = start;
    block->bytes = bytes;
    block->state = UNTOUCHED;
    block->ready = false;
    all_bytes += bytes;
    return true;
}

bool sl_reservoir_reserve(uint64_t bytes, CUcontext context, sl_reason_t *reason) {
    bytes = (bytes + PAGE - 1) & ~(PAGE - 1);
    if (bytes <= all_bytes)
        return true;
    if (block_count && blocks[block_count - 1].bytes < SL_RESERVOIR_BLOCK)
        sl_reservoir_keep(all_bytes - blocks[block_count - 1].bytes, context);
    uint64_t before = all_bytes, more = bytes - before;
    if (!charge(more, reason))
        return false;
    bool done = sl_pages_ask(bytes, !block_count, reason) && host_has(more, reason);
    if (done && !grow((bytes + SL_RESERVOIR_BLOCK - 1) / SL_RESERVOIR_BLOCK))
        done = sl_report_fail(reason, SL_REASON_BLOCKS);
    while (done && all_bytes < bytes) {
        uint64_t left = bytes - all_bytes;
        if (!add_block(left < SL_RESERVOIR_BLOCK ? left : SL_RESERVOIR_BLOCK))
            done = sl_report_fail(reason, SL_REASON_KERNEL, (unsigned long long)(more >> 20));
    }
    if (done)
        return true;
    uint64_t made = all_bytes - before;
    refund(more - made);
    shrink(before);
    return false;
}

static bool touch(const block_t *block) {
    if (!sl_pages_wait(block->start, block->bytes) && block->bytes > sl_host_memory_free())
        return false;
    return sl_pages_touch(block->start, block->bytes);
}

/* Portable: for the copies of all contexts. */
static bool register_with_driver(const block_t *block) {
    enum { PORTABLE = 1 };
    sl_borrow_t borrow;
    if (!registering || !real.cuMemHostRegister_v2)
        return false;
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    if (sl_borrow_begin(&borrow, registering))
        status = real.cuMemHostRegister_v2(block->start, block->bytes, PORTABLE);
    sl_borrow_end(&borrow);
    return status == CUDA_SUCCESS || status == ALREADY_REGISTERED;
}

static void make_ready(void *of, size_t number) {
    (void)of;
    block_t *block = &blocks[number];
    int saved = errno;
    if (block->state == UNTOUCHED || block->state == FAILED)
        block->state = touch(block) ? TOUCHED : FAILED;
    if (block->state == TOUCHED && register_with_driver(block))
        block->state = REGISTERED;
    block->ready = true;
    errno = saved;
}

void sl_reservoir_begin(uint64_t bytes, CUcontext context) {
    size_t count = (bytes + SL_RESERVOIR_BLOCK - 1) / SL_RESERVOIR_BLOCK, last = 0;
    count = count > block_count ? block_count : count;
    for (size_t i = 0; i < block_count; i++) {
        blocks[i].ready = i >= count || blocks[i].state == REGISTERED;
        if (!blocks[i].ready)
            last = i + 1;
    }
    registering = context;
    sl_pages_watch();
    helping = true;
    sl_helpers_begin(&helpers, last, make_ready, NULL);
}

void *sl_reservoir_at(uint64_t offset) {
    block_t *block = &blocks[offset / SL_RESERVOIR_BLOCK];
    for (uint32_t done; done = helpers.done, !block->ready;)
        sl_helpers_wait(&helpers, done);
    return block->state == FAILED ? NULL : block->start + offset % SL_RESERVOIR_BLOCK;
}

bool sl_reservoir_is_registered(uint64_t offset) {
    return blocks[offset / SL_RESERVOIR_BLOCK].state == REGISTERED;
}

uint64_t sl_reservoir_unregistered(uint64_t bytes) {
    uint64_t sum = 0;
    for (size_t i = 0; i < block_count && i * SL_RESERVOIR_BLOCK < bytes; i++)
        sum += blocks[i].state == REGISTERED ? 0 : blocks[i].bytes;
    return sum;
}

bool sl_reservoir_end(void) {
    if (helping)
        sl_helpers_end(&helpers);
    helping = false;
    registering = NULL;
    for (size_t i = 0; i < block_count; i++)
        if (blocks[i].state == FAILED)
            return false;
    return true;
}

void sl_reservoir_keep(uint64_t bytes, CUcontext context) {
    sl_borrow_t borrow;
    sl_borrow_begin(&borrow, context);
    shrink(bytes);
    sl_borrow_end(&borrow);
}

void sl_reservoir_abandon(void) {
    sl_pages_leave();
    block_count = 0;
    all_bytes = 0;
}

static void unregister_block(void *of, size_t number) {
    (void)of;
    int saved = errno;
    sl_borrow_t borrow;
    if (blocks[number].state == REGISTERED) {
        sl_borrow_begin(&borrow, registering);
        if (unregister(&blocks[number]))
            blocks[number].state = TOUCHED;
        sl_borrow_end(&borrow);
    }
    errno = saved;
}

/* One thread alone unregisters 64 GB/s on an H200: half a second for 32 GiB. */
void sl_reservoir_unregister(CUcontext context) {
    registering = context;
    sl_helpers_begin(&helpers, block_count, unregister_block, NULL);
    sl_helpers_end(&helpers);
    registering = NULL;
}

/* A child has none of it: the blocks are not copied by a fork. */
static void forget(void) {
    blocks = NULL;
    block_count = block_room = 0;
    all_bytes = 0;
    helping = false;
}
SL_FORK_FORGETS(forget);
