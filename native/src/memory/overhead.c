/* overhead: memory that the driver took and no call asked for by name.
 *
 * Overhead is the driver's figure for this process, less what is on the GPU by name. Two things make it uncertain. Managed memory is on
 * the GPU only as far as it was touched there. A call in flight may or may not have got its memory. In both cases the truth lies between
 * two bounds. Then the booked figure stays as long as it lies between them, moved by what a watched call took.
 *
 * The figure falls only when several looks agree, because a thread may be between the driver's free and its refund. It rises only when
 * several looks agree, or a watched call explains the rise: while the driver is asked, other threads may take and give back more than
 * the ledger shows before and after. Measured with four threads that take and give back all the time: with one look, 12 of 100 runs left
 * something booked that was gone; with two looks, 1 of 300.
 *
 * A rise that comes anyway is doubted for a while. It goes with the first looks that do not need it: where names, and managed memory
 * that is all on the GPU, explain the driver's figure. If that managed memory was in fact elsewhere, the ledger still has no less than
 * the driver, and the rise comes back with the memory.
 *
 * Some memory the driver takes later, with a launch that cannot be refused. It is promised as soon as that is known, and counts as
 * overhead from then on. Awaited memory is booked beside the truth. When the truth grows, the growth is taken for the awaited memory
 * first, so nothing counts twice. The truth may be booked too high when the memory comes: then it grows by less than came. Two rules
 * keep that error out of the awaited memory:
 * - What a call took or gave back in a quiet moment is measured, and kept apart from what else the same look corrects.
 * - The books know by how much they may be too high: what the last exact look left open beside managed memory; a block for each
 * unmeasured end of a promise since then; and a block for what is doubted. Where an exact look finds no more than that above the
 * driver's figure, nothing is awaited.
 *
 * So at rest the ledger has the driver's figure and the promises that a launch may still take. An exact look carries over at most four
 * blocks of such an error. So no larger promise is given up for an earlier error.
 *
 * Where NVML does not know this process (a container hides its number), only promises are booked. The memory of the whole GPU also moves
 * with other processes, and a program must not be refused for that. */
#include "memory/overhead.h"

#include <errno.h>
#include <stdatomic.h>

#include "ledger/ledger.h"
#include "os/fork.h"
#include "os/mutex.h"
#include "os/thread.h"
#include "os/os.h"
#include "memory/look.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define EVERY_NANOS 100000000u   /* chosen: ten looks a second at most, because a look asks NVML */
#define CHECK_TICKS 10000000u    /* chosen: 3 to 10 ms, by the processor; well below EVERY_NANOS */
#define ATTEMPTS 4               /* chosen: while other threads change the books; a later look corrects the figure */
#define LOOKS 4                  /* chosen: two already left only 1 of 300 runs wrong (see above) */
#define CONFIRMATIONS 4          /* chosen: a rise is doubted for 0.4 s at least */
#define FIRST_PAUSE_NANOS 25000u /* measured: storm plain,module with 4 threads: 436 of 5000 samples passed the quota, with pauses 2 at most */
#define BLOCK_BYTES (2ull << 20) /* the driver's unit of device memory */
#define CARRIED_BYTES (4 * BLOCK_BYTES)

/* Guarded by the lock. So is the account's overhead: the sum of the known truth and of awaited memory. */
typedef struct {
    uint64_t awaited;  /* promised and not seen on the GPU yet */
    uint64_t promised; /* promises, of which some may be on the GPU */
    uint64_t doubted;  /* the part of the truth that was seen while other threads took and gave back */
    uint64_t passing;  /* the part of doubted that is not taken for awaited memory; a block at most */
    uint64_t unsure;   /* the part of truth and awaited that may be too much; exact looks leave it open */
    unsigned confirmed; /* how often quiet looks confirmed the doubted part */
    uint64_t confirmed_nanos; /* when a quiet look last confirmed it */
    uint64_t version;  /* counts changes */
} books_t;

typedef struct {
    atomic_bool watched;
    _Atomic uint64_t due_nanos;
    _Atomic uint64_t checked_ticks; /* when the clock was last compared with due_nanos */
    books_t books;
} gpu_t;

static gpu_t gpus[SL_OVERHEAD_GPUS];
static sl_mutex_t lock;

_Static_assert(SL_OVERHEAD_GPUS == SL_REGION_GPU_COUNT, "one for each entry of the region");

static void forget(void) {
    lock.state = 0;
    for (int i = 0; i < SL_OVERHEAD_GPUS; i++) {
        gpus[i].watched = false;
        gpus[i].due_nanos = gpus[i].checked_ticks = 0;
        gpus[i].books = (books_t){0};
    }
}
SL_FORK_FORGETS(forget);

void sl_overhead_watch(unsigned gpu) {
    if (!atomic_exchange(&gpus[gpu].watched, true))
        gpus[gpu].due_nanos = sl_os_coarse_nanos() + EVERY_NANOS;
}

static uint64_t less(uint64_t from, uint64_t bytes) {
    return from > bytes ? from - bytes : 0;
}

static uint64_t moved(uint64_t bytes, int64_t by) {
    return by < 0 ? less(bytes, 0 - (uint64_t)by) : bytes + (uint64_t)by;
}

/* The booked overhead without awaited memory, and what the last looks tell about it. */
typedef struct {
    uint64_t truth, doubted;
    bool is_confirmed; /* by a look during which no thread took or gave back */
    bool is_measured;  /* between two such looks */
    int64_t moved;     /* by the call, as two quiet looks tell */
    bool is_exact;     /* the last look was exact */
    uint64_t least;    /* the least truth that the last look leaves possible */
} booked_t;

/* What is known besides the look. */
typedef struct {
    const sl_overhead_look_t *before; /* the look before a call with unknown needs; NULL: no such call */
    bool only_if_quiet;               /* that look counts only if no other thread took or gave back anything since */
    uint64_t released;                /* promised bytes that have ended, whether the driver had taken them or not */
} change_t;

/* The truth after one more look. The doubted part stays only if the driver's figure needs it even with all managed memory on the GPU. */
static uint64_t truth_now(unsigned gpu, booked_t *booked, const change_t *change) {
    sl_overhead_look_t now = sl_overhead_look(gpu);
    if (!sl_look_tells(&now))
        return booked->truth;
    bool usable = change->before && (!change->only_if_quiet || sl_look_was_quiet(change->before, &now));
    const sl_overhead_look_t *before = usable ? change->before : NULL;
    int64_t by = before && !now.is_late ? sl_look_difference(before, &now) : 0;
    uint64_t bytes = moved(booked->truth, by), least = sl_look_least(&now);
    uint64_t most = less(now.process_bytes, less(now.certain, now.loose)), needed = less(most, now.managed);
    booked->is_measured = before && before->is_exact && now.is_exact;
    booked->moved = by && sl_look_was_quiet(before, &now) ? by : 0;
    booked->is_exact = now.is_exact && !now.is_late;
    booked->least = least;
    if (bytes < least || now.is_late)
        return bytes < least ? least : bytes;
    booked->is_confirmed = now.is_exact && needed >= booked->truth;
    uint64_t firm = less(bytes, booked->doubted), kept = needed < firm ? firm : needed < bytes ? needed : bytes;
    return kept > most ? most : kept;
}

/* The look that is nearer to the booked figure; the booked figure itself when it lies between the two looks. */
static uint64_t nearer(uint64_t booked, uint64_t one, uint64_t other) {
    if (one < booked)
        return other < one ? one : other < booked ? other : booked;
    return other > one ? one : other > booked ? other : booked;
}

/* The figure on which several looks agree, so that a passing state is not booked. Before the figure falls, threads that free get time for
 * their refunds: 2.1 ms at most. */
static uint64_t agreed(unsigned gpu, booked_t *booked, const change_t *change) {
    uint64_t truth = booked->truth, bytes = truth_now(gpu, booked, change);
    if (bytes > truth && change->before && (!change->only_if_quiet || booked->is_measured))
        return bytes;
    int saved = errno;
    for (int look = 1; look < LOOKS && bytes != truth; look++) {
        if (bytes < truth)
            sl_os_sleep_nanos(FIRST_PAUSE_NANOS << 2 * look);
        bytes = nearer(truth, bytes, truth_now(gpu, booked, change));
    }
    errno = saved;
    return bytes;
}

/* Growth counts as awaited memory that came. Released bytes for which the look shows no fall are subtracted from awaited memory first,
 * then from the truth. */
static uint64_t awaited_after(const books_t *books, const booked_t *known, uint64_t *now, const change_t *change) {
    uint64_t moved_truth = moved(known->truth, known->moved), seen = known->moved ? moved_truth : *now;
    uint64_t awaited = less(books->awaited, less(*now, moved_truth) + less(moved_truth, known->truth));
    uint64_t gone = less(change->released, less(known->truth, seen));
    if (known->is_exact && less(*now, known->least) + awaited <= books->unsure + books->passing)
        awaited = 0;
    *now = less(*now, less(gone, awaited));
    awaited = less(awaited, gone);
    return awaited < books->promised ? awaited : books->promised;
}

/* By how much the books may be too high after an exact look: in the truth, because of managed memory, or in awaited memory. */
static uint64_t unsure_at(uint64_t unsure, uint64_t truth, uint64_t least, uint64_t awaited) {
    uint64_t over = less(truth, least), open = over + (awaited < CARRIED_BYTES ? awaited : CARRIED_BYTES);
    uint64_t seen = over < CARRIED_BYTES ? over : CARRIED_BYTES, most = unsure < open ? unsure : open;
    return most > seen ? most : seen;
}

static uint64_t unsure_after(const books_t *books, const booked_t *known, uint64_t now, uint64_t awaited, const change_t *change) {
    uint64_t unsure = books->unsure + (change->released && !known->is_measured ? BLOCK_BYTES : 0);
    return known->is_exact ? unsure_at(unsure, now, known->least, awaited) : unsure;
}

static uint64_t passing_after(const books_t *books, const booked_t *known, uint64_t now) {
    uint64_t rise = known->is_measured ? 0 : less(less(now, known->truth), books->awaited), passing = books->passing + rise;
    uint64_t most = books->doubted < BLOCK_BYTES ? books->doubted : BLOCK_BYTES;
    return passing < most ? passing : most;
}

/* A rise is doubted if no call explains it, or if other threads took and gave back while it was measured. Quiet looks, some time apart,
 * confirm it. The reason: a small allocation that should share a block may get a new one. No book has that block until its thread
 * gives it back, and the thread may be paused. */
static void doubt(books_t *books, const booked_t *booked, uint64_t now) {
    uint64_t nanos = sl_os_coarse_nanos();
    if (now > booked->truth)
        books->doubted += booked->is_measured ? 0 : now - booked->truth;
    else
        books->doubted = less(books->doubted, booked->truth - now);
    if (now != booked->truth || !books->doubted) {
        books->confirmed = 0;
    } else if (booked->is_confirmed && nanos - books->confirmed_nanos >= EVERY_NANOS) {
        books->confirmed_nanos = nanos;
        books->doubted = ++books->confirmed < CONFIRMATIONS ? books->doubted : 0;
    }
}

/* Returns by how much the booked figure rose; negative: it fell. */
static int64_t reconcile(unsigned gpu, const change_t *change) {
    books_t *books = &gpus[gpu].books;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        sl_mutex_lock(&lock);
        uint64_t version = books->version, booked = sl_ledger_own(gpu).overhead;
        booked_t known = {.truth = less(booked, books->awaited), .doubted = books->doubted};
        sl_mutex_unlock(&lock);
        uint64_t now = agreed(gpu, &known, change);
        sl_mutex_lock(&lock);
        bool valid = version == books->version;
        if (valid)
            doubt(books, &known, now);
        uint64_t awaited = awaited_after(books, &known, &now, change);
        if (valid) {
            books->unsure = unsure_after(books, &known, now, awaited, change);
            books->passing = passing_after(books, &known, now);
        }
        if (valid && (now + awaited != booked || awaited != books->awaited)) {
            books->awaited = awaited;
            books->version++;
            sl_ledger_set_overhead(gpu, booked, now + awaited);
        }
        sl_mutex_unlock(&lock);
        if (valid)
            return (int64_t)(now + awaited - booked);
    }
    return 0;
}

/* The reserved bytes become overhead. */
static void give(unsigned gpu, const sl_overhead_part_t *part, bool later) {
    books_t *books = &gpus[gpu].books;
    sl_mutex_lock(&lock);
    if (later && part->before.is_exact && !part->before.is_late) {
        uint64_t truth = less(sl_ledger_own(gpu).overhead, books->awaited);
        books->unsure = unsure_at(books->unsure, truth, sl_look_least(&part->before), books->awaited);
    }
    books->awaited += later ? part->reserved : 0;
    books->promised += later ? part->reserved : 0;
    books->version++;
    sl_ledger_commit(gpu, SL_USE_OVERHEAD, part->reserved, part->used);
    sl_mutex_unlock(&lock);
}

/* The bytes are no overhead any more. */
static void take_back(unsigned gpu, uint64_t bytes) {
    books_t *books = &gpus[gpu].books;
    sl_mutex_lock(&lock);
    uint64_t booked = sl_ledger_own(gpu).overhead, truth = less(booked, books->awaited);
    if (bytes) {
        sl_ledger_set_overhead(gpu, booked, booked - truth + less(truth, bytes));
        books->version++;
    }
    sl_mutex_unlock(&lock);
}

void sl_overhead_leave(sl_overhead_call_t *call, unsigned number, uint64_t bytes, bool later) {
    sl_overhead_part_t *part = &call->parts[number];
    call->is_known = true;
    books_t *books = &gpus[part->before.gpu].books;
    if (later) {
        part->released = bytes;
        return;
    }
    sl_mutex_lock(&lock);
    uint64_t truth = less(sl_ledger_own(part->before.gpu).overhead, books->awaited);
    part->ended = bytes < truth ? bytes : truth;
    books->doubted = books->doubted < truth - part->ended ? books->doubted : truth - part->ended;
    books->version++;
    sl_ledger_leave(part->before.gpu, SL_USE_OVERHEAD, part->ended);
    sl_mutex_unlock(&lock);
}

/* The driver has answered. */
static void end_left(sl_overhead_part_t *part, bool done) {
    sl_mutex_lock(&lock);
    gpus[part->before.gpu].books.version++;
    if (done)
        sl_ledger_refund_left(part->before.gpu, part->ended);
    else
        sl_ledger_keep_left(part->before.gpu, SL_USE_OVERHEAD, part->ended);
    sl_mutex_unlock(&lock);
    part->released = done ? part->released : 0;
}

static void withdraw(unsigned gpu, uint64_t bytes) {
    sl_mutex_lock(&lock);
    gpus[gpu].books.promised = less(gpus[gpu].books.promised, bytes);
    sl_mutex_unlock(&lock);
}

bool sl_overhead_is_limited(int gpu) {
    for (int each = 0; each < SL_OVERHEAD_GPUS; each++)
        if ((each == gpu || gpu == SL_OVERHEAD_ALL) && gpus[each].watched && sl_accounts_limit((unsigned)each))
            return true;
    return false;
}

static void cancel(sl_overhead_call_t *call) {
    for (unsigned i = 0; i < call->count; i++)
        if (call->parts[i].reserved)
            sl_ledger_cancel(call->parts[i].before.gpu, call->parts[i].reserved);
    call->count = 0;
}

/* Without a quota no call is refused, and a look now and then is enough. */
bool sl_overhead_begin(sl_overhead_call_t *call, int gpu, uint64_t bytes, bool wait) {
    call->count = 0;
    call->later = false;
    call->is_known = bytes != 0;
    call->given_bytes = call->grown_bytes = 0;
    for (int each = 0; each < SL_OVERHEAD_GPUS; each++) {
        if ((each != gpu && gpu != SL_OVERHEAD_ALL) || !sl_overhead_is_limited(each))
            continue;
        sl_overhead_part_t *part = &call->parts[call->count++];
        *part = (sl_overhead_part_t){.before = sl_overhead_look((unsigned)each)};
        if (bytes)
            part->used = wait ? sl_ledger_reserve((unsigned)each, bytes) : sl_ledger_try((unsigned)each, bytes);
        if (bytes && !part->used) {
            call->count--;
            call->grown_gpu = (unsigned)each;
            cancel(call);
            return false;
        }
        part->reserved = bytes;
    }
    return true;
}

/* A call with a known need is not measured: other threads take and give back meanwhile, and with managed memory the error would stay.
 * The end of a promise is measured if no other thread took or gave back: only that shows whether the driver had taken it. */
static int64_t book(sl_overhead_call_t *call, const sl_overhead_part_t *part) {
    unsigned gpu = part->before.gpu;
    bool measured = !call->is_known, promise = (call->later && part->reserved) || part->released;
    change_t change = {.before = measured || promise ? &part->before : NULL, .only_if_quiet = !measured, .released = part->released};
    if (part->reserved) {
        give(gpu, part, call->later);
        call->given_bytes = part->reserved;
    }
    int64_t grown = reconcile(gpu, &change);
    withdraw(gpu, part->released);
    return measured ? grown : 0;
}

bool sl_overhead_end(sl_overhead_call_t *call, bool done) {
    for (unsigned i = 0; i < call->count; i++) {
        sl_overhead_part_t *part = &call->parts[i];
        if (!done && part->reserved) {
            sl_ledger_cancel(part->before.gpu, part->reserved);
            part->reserved = 0;
        }
        if (part->ended || part->released)
            end_left(part, done);
        int64_t grown = book(call, part);
        if (grown <= 0 || sl_ledger_fits(part->before.gpu))
            continue;
        call->grown_bytes = (uint64_t)grown;
        call->grown_gpu = part->before.gpu;
    }
    if (!call->grown_bytes)
        return true;
    for (unsigned i = 0; i < call->count; i++)
        call->parts[i].before = sl_overhead_look(call->parts[i].before.gpu);
    return false;
}

void sl_overhead_refuse(sl_overhead_call_t *call) {
    for (unsigned i = 0; i < call->count; i++)
        reconcile(call->parts[i].before.gpu, &(change_t){.before = &call->parts[i].before});
    sl_ledger_refuse(call->grown_gpu, call->grown_bytes);
}

void sl_overhead_release(unsigned gpu, uint64_t bytes, bool later) {
    take_back(gpu, later ? 0 : bytes);
    reconcile(gpu, &(change_t){.released = later ? bytes : 0});
    withdraw(gpu, later ? bytes : 0);
}

bool sl_overhead_came_back(unsigned gpu) {
    return gpus[gpu].watched && reconcile(gpu, &(change_t){0}) < 0;
}

/* Before the first look nothing is booked, so nothing can have come back, and NVML need not be loaded. */
void sl_overhead_refresh(void) {
    for (unsigned gpu = 0; gpu < SL_OVERHEAD_GPUS; gpu++)
        if (sl_look_was_asked(gpu))
            sl_overhead_came_back(gpu);
}

static __attribute__((noinline)) void look_if_due(unsigned gpu) {
    uint64_t now = sl_os_coarse_nanos(), due = atomic_load_explicit(&gpus[gpu].due_nanos, memory_order_relaxed);
    if (now >= due && atomic_compare_exchange_strong(&gpus[gpu].due_nanos, &due, now + EVERY_NANOS))
        sl_overhead_came_back(gpu);
}

/* Reading the clock costs more than all the rest, so it is read every CHECK_TICKS. Even the processor's counter costs 30 ns on an H200's
 * host; the watched call has read it already. */
SL_HOT void sl_overhead_now_and_then(unsigned gpu) {
    if (!atomic_load_explicit(&gpus[gpu].watched, memory_order_relaxed))
        return;
    uint64_t ticks = sl_thread.began_ticks ? sl_thread.began_ticks : sl_os_ticks();
    uint64_t checked = atomic_load_explicit(&gpus[gpu].checked_ticks, memory_order_relaxed);
    if (ticks - checked < CHECK_TICKS || checked - ticks < CHECK_TICKS)
        return;
    atomic_store_explicit(&gpus[gpu].checked_ticks, ticks, memory_order_relaxed);
    look_if_due(gpu);
}
