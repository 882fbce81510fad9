/* overhead: what the driver took that nobody asked for by name.
 *
 * The driver's figure for this process, less what is on the GPU by name, is overhead. Managed memory is on the GPU only as
 * far as it was touched there, and a call that is under way may or may not have got its memory, so with those the truth
 * is only known to lie between two bounds: then the figure that is booked stays as long as it lies between them, moved by
 * what a call that we watched took. It falls only when more looks agree, because a thread may be between the driver's free
 * and its refund; and so it rises unless a call that we watched explains it, because while the driver is asked other threads
 * may take and give back more than the ledger shows before and after. Four threads that take and give back all the
 * time left something booked that was gone in 12 of 100 runs with one look, in 1 of 300 with two.
 *
 * Where NVML does not know this process (its number is hidden by a container), nothing is booked: the whole GPU's memory
 * also moves with what others do, and a program must not be refused for that. */
#include "memory/overhead.h"

#include <errno.h>
#include <stdatomic.h>

#include "ledger/ledger.h"
#include "driver/nvml.h"
#include "os/os.h"
#include "memory/pool.h"
#include "real.h"
#include "tenant/report.h"
#include "tenant/tenant.h"

#define EVERY_NANOS 100000000u
#define CHECK_TICKS 10000000u
#define ATTEMPTS 4
#define LOOKS 4

typedef enum { UNDECIDED, BY_PROCESS, HIDDEN } way_t;

typedef struct {
    _Atomic(nvmlDevice_t) device;
    atomic_bool asked;
    atomic_bool watched;
    _Atomic uint64_t due_nanos;
    _Atomic uint64_t checked_ticks; /* when the clock was last asked whether that is now */
} gpu_t;

static gpu_t gpus[SL_OVERHEAD_GPUS];
static _Atomic way_t way;

_Static_assert(SL_OVERHEAD_GPUS == SL_REGION_GPU_COUNT, "one for each entry of the region");

void sl_overhead_forget(void) {
    for (int i = 0; i < SL_OVERHEAD_GPUS; i++) {
        gpus[i].device = NULL;
        gpus[i].asked = gpus[i].watched = false;
        gpus[i].due_nanos = gpus[i].checked_ticks = 0;
    }
    way = UNDECIDED;
}

void sl_overhead_watch(unsigned gpu) {
    if (!atomic_exchange(&gpus[gpu].watched, true))
        gpus[gpu].due_nanos = sl_os_coarse_nanos() + EVERY_NANOS;
}

static nvmlDevice_t device_of(unsigned gpu) {
    if (!gpus[gpu].asked) {
        gpus[gpu].device = sl_nvml_device(sl_tenant.region.gpus[gpu].uuid);
        gpus[gpu].asked = true;
    }
    return gpus[gpu].device;
}

/* Pools give memory back whenever the driver waits for a stream, in many calls that have no hook; what they are charged must
 * not be older than the driver's figure, or the difference would be taken for overhead. */
sl_overhead_look_t sl_overhead_look(unsigned gpu) {
    sl_overhead_look_t look = {.gpu = gpu};
    sl_pool_refresh(gpu);
    nvmlDevice_t device = device_of(gpu);
    sl_ledger_own_t before = sl_ledger_own(gpu);
    if (way != HIDDEN)
        look.process_known = sl_nvml_process_bytes(device, &look.process_bytes, &look.listed);
    sl_ledger_own_t after = sl_ledger_own(gpu);
    look.certain = before.certain < after.certain ? before.certain : after.certain;
    look.most_certain = before.certain < after.certain ? after.certain : before.certain;
    look.possible = before.possible > after.possible ? before.possible : after.possible;
    return look;
}

/* Once something of ours is on the GPU, NVML must list the process. */
static void decide(const sl_overhead_look_t *look) {
    if (way != UNDECIDED || (!look->listed && !look->certain))
        return;
    way = look->process_known && look->listed ? BY_PROCESS : HIDDEN;
    if (way == HIDDEN)
        sl_report(SL_INFO, "NVML does not know this process, so what the driver takes for itself, contexts and code, is "
                  "not counted; share the host's pid namespace, or use an agent (SLUICE_AGENT), to have it counted");
}

static int64_t difference(const sl_overhead_look_t *before, const sl_overhead_look_t *now) {
    if (way != BY_PROCESS || !before->process_known || !now->process_known)
        return 0;
    return (int64_t)(now->process_bytes - before->process_bytes) - (int64_t)(now->certain - before->certain);
}

/* A number of ours that belongs to somebody else outside was listed before there was anything of ours. */
uint64_t sl_overhead_growth(const sl_overhead_look_t *before) {
    sl_overhead_look_t now = sl_overhead_look(before->gpu);
    if (way == UNDECIDED && before->listed)
        now.listed = false;
    decide(&now);
    int64_t growth = difference(before, &now);
    return growth > 0 ? (uint64_t)growth : 0;
}

static uint64_t less(uint64_t from, uint64_t bytes) {
    return from > bytes ? from - bytes : 0;
}

static uint64_t moved(uint64_t bytes, int64_t by) {
    return by < 0 ? less(bytes, (uint64_t)-by) : bytes + (uint64_t)by;
}

/* What is to be booked; before NULL: nothing but the look itself tells what happened. */
static uint64_t overhead_now(unsigned gpu, uint64_t booked, const sl_overhead_look_t *before) {
    sl_overhead_look_t now = sl_overhead_look(gpu);
    decide(&now);
    uint64_t bytes = before ? moved(booked, difference(before, &now)) : booked;
    if (way == HIDDEN)
        return 0;
    if (!now.process_known)
        return booked;
    uint64_t least = less(now.process_bytes, now.most_certain + now.possible);
    uint64_t most = less(now.process_bytes, now.certain);
    return bytes < least ? least : bytes > most ? most : bytes;
}

/* Of two looks the one that is nearer to what is booked; what is booked when they are on both sides of it. */
static uint64_t nearer(uint64_t booked, uint64_t one, uint64_t other) {
    if (one < booked)
        return other < one ? one : other < booked ? other : booked;
    return other > one ? one : other > booked ? other : booked;
}

/* What all looks agree on, so that what is seen in passing is not booked. */
static uint64_t agreed(unsigned gpu, uint64_t booked, const sl_overhead_look_t *before) {
    uint64_t bytes = overhead_now(gpu, booked, before);
    if (bytes > booked && before)
        return bytes;
    for (int look = 1; look < LOOKS && bytes != booked; look++)
        bytes = nearer(booked, bytes, overhead_now(gpu, booked, before));
    return bytes;
}

/* How much more is booked than before; negative when it is less. */
static int64_t reconcile(unsigned gpu, const sl_overhead_look_t *before) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t booked = sl_ledger_own(gpu).overhead, bytes = agreed(gpu, booked, before);
        if (bytes == booked || sl_ledger_set_overhead(gpu, booked, bytes))
            return (int64_t)(bytes - booked);
    }
    return 0;
}

/* Without a quota nothing has to be known, and NVML need not be loaded. */
static bool is_wanted(unsigned gpu) {
    return gpus[gpu].watched && sl_ledger_limit(gpu);
}

void sl_overhead_begin(sl_overhead_call_t *call, int gpu) {
    call->count = 0;
    call->grown_bytes = 0;
    for (int each = 0; each < SL_OVERHEAD_GPUS; each++)
        if ((each == gpu || gpu == SL_OVERHEAD_ALL) && is_wanted((unsigned)each))
            call->before[call->count++] = sl_overhead_look((unsigned)each);
}

bool sl_overhead_end(sl_overhead_call_t *call) {
    for (unsigned i = 0; i < call->count; i++) {
        unsigned gpu = call->before[i].gpu;
        int64_t grown = reconcile(gpu, &call->before[i]);
        if (grown <= 0 || sl_ledger_fits(gpu))
            continue;
        call->grown_bytes = (uint64_t)grown;
        call->grown_gpu = gpu;
    }
    if (!call->grown_bytes)
        return true;
    for (unsigned i = 0; i < call->count; i++)
        call->before[i] = sl_overhead_look(call->before[i].gpu);
    return false;
}

void sl_overhead_refuse(sl_overhead_call_t *call) {
    for (unsigned i = 0; i < call->count; i++)
        reconcile(call->before[i].gpu, &call->before[i]);
    sl_ledger_refuse(call->grown_gpu, call->grown_bytes);
}

bool sl_overhead_came_back(unsigned gpu) {
    return is_wanted(gpu) && reconcile(gpu, NULL) < 0;
}

void sl_overhead_refresh(void) {
    for (unsigned gpu = 0; gpu < SL_OVERHEAD_GPUS; gpu++)
        sl_overhead_came_back(gpu);
}

static __attribute__((noinline)) void look_if_due(unsigned gpu) {
    uint64_t now = sl_os_coarse_nanos(), due = atomic_load_explicit(&gpus[gpu].due_nanos, memory_order_relaxed);
    if (now >= due && atomic_compare_exchange_strong(&gpus[gpu].due_nanos, &due, now + EVERY_NANOS))
        sl_overhead_came_back(gpu);
}

/* To ask the clock costs more than all the rest when it was not asked for a while, so that is done every 10 ms or so. */
SL_HOT void sl_overhead_now_and_then(unsigned gpu) {
    if (!atomic_load_explicit(&gpus[gpu].watched, memory_order_relaxed))
        return;
    uint64_t ticks = sl_os_ticks();
    if (ticks - atomic_load_explicit(&gpus[gpu].checked_ticks, memory_order_relaxed) < CHECK_TICKS)
        return;
    atomic_store_explicit(&gpus[gpu].checked_ticks, ticks, memory_order_relaxed);
    look_if_due(gpu);
}
