/* look: what NVML and the ledger say about this process at one moment, and how far that can be trusted.
 *
 * Other threads go on while NVML is asked, so the two figures can differ.
 * - NVML may count memory that a thread takes and gives back meanwhile, and a new block that a thread got without quota and must return.
 * - The ledger may still count memory that is gone: of a context that ends, and of a pool or a graph that gives memory back. An H200's
 *   driver trims a gigabyte of graph memory in some milliseconds, longer than several looks take.
 * A look reports such doubts, and the books follow it only as far as it can be trusted. */
#include "memory/look.h"

#include <stdatomic.h>

#include "driver/nvml.h"
#include "ledger/ledger.h"
#include "memory/pool.h"
#include "os/fork.h"
#include "os/report.h"
#include "tenant/tenant.h"

typedef enum { UNDECIDED, BY_PROCESS, HIDDEN } way_t;

typedef struct {
    _Atomic(nvmlDevice_t) device;
    atomic_bool asked;
    _Atomic way_t way;
} gpu_t;

static gpu_t gpus[SL_OVERHEAD_GPUS];
static _Atomic uint64_t ends_begun, ends_done;

static void forget(void) {
    ends_begun = ends_done = 0;
    for (int i = 0; i < SL_OVERHEAD_GPUS; i++) {
        gpus[i].device = NULL;
        gpus[i].asked = false;
        gpus[i].way = UNDECIDED;
    }
}
SL_FORK_FORGETS(forget);

void sl_look_begin_end(void) {
    ends_begun++;
}

void sl_look_end_end(void) {
    ends_done++;
}

bool sl_look_was_asked(unsigned gpu) {
    return gpus[gpu].asked;
}

static nvmlDevice_t device_of(unsigned gpu) {
    if (!gpus[gpu].asked) {
        gpus[gpu].device = sl_nvml_device(sl_tenant.region.gpus[gpu].uuid);
        gpus[gpu].asked = gpus[gpu].device || !sl_nvml_is_open_question();
    }
    return gpus[gpu].device;
}

/* The driver frees memory of pools whenever it waits for a stream, in many calls that have no hook. So the library refreshes the charges
 * of the pools just before it asks NVML. With old charges, the difference would be taken for overhead. */
sl_overhead_look_t sl_overhead_look(unsigned gpu) {
    sl_overhead_look_t look = {.gpu = gpu};
    sl_pool_refresh(gpu);
    nvmlDevice_t device = device_of(gpu);
    const sl_region_account_t *account = sl_region_account(&sl_tenant.region, sl_tenant.slot, gpu);
    uint64_t done = ends_done, calls = account->allocations_total;
    bool under_way = account->in_flight_bytes != sl_ledger_spare(gpu);
    look.loose = sl_pool_held(gpu);
    sl_ledger_own_t before = sl_ledger_own(gpu);
    if (gpus[gpu].way != HIDDEN)
        look.process_known = sl_nvml_process_bytes(device, &look.process_bytes, &look.listed);
    sl_ledger_own_t after = sl_ledger_own(gpu);
    look.loose += sl_pool_held(gpu);
    look.certain = before.certain < after.certain ? before.certain : after.certain;
    look.most_certain = before.certain < after.certain ? after.certain : before.certain;
    look.possible = before.possible > after.possible ? before.possible : after.possible;
    look.managed = account->managed_bytes;
    look.is_exact = before.certain == after.certain && before.possible == after.possible && look.possible == look.managed &&
                    !under_way && !look.loose && calls == account->allocations_total;
    look.calls = calls;
    look.is_late = ends_begun != done;
    return look;
}

/* NVML must list the process once it has something on the GPU, unless NVML could not be asked yet. */
static void decide(const sl_overhead_look_t *look) {
    gpu_t *gpu = &gpus[look->gpu];
    if (gpu->way != UNDECIDED || (!look->listed && !look->certain) || !gpu->asked)
        return;
    gpu->way = look->process_known && look->listed ? BY_PROCESS : HIDDEN;
    if (gpu->way == HIDDEN)
        sl_report(SL_INFO, "NVML does not know this process, so what the driver takes for itself, contexts and code, is "
                  "not counted; share the host's pid namespace, or use an agent (SLUICE_AGENT), to have it counted");
}

bool sl_look_tells(const sl_overhead_look_t *look) {
    decide(look);
    return look->process_known && gpus[look->gpu].way != HIDDEN;
}

/* Loose memory explains a difference first: memory loose now explains a fall, memory loose before explains a rise. */
static int64_t without_loose(int64_t difference, uint64_t before, uint64_t now) {
    uint64_t loose = difference < 0 ? now : before, size = difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
    int64_t left = size > loose ? (int64_t)(size - loose) : 0;
    return difference < 0 ? -left : left;
}

int64_t sl_look_difference(const sl_overhead_look_t *before, const sl_overhead_look_t *now) {
    if (gpus[now->gpu].way != BY_PROCESS || !before->process_known || !now->process_known)
        return 0;
    int64_t difference = (int64_t)((now->process_bytes - before->process_bytes) - (now->certain - before->certain));
    return without_loose(difference, before->loose, now->loose);
}

uint64_t sl_look_least(const sl_overhead_look_t *look) {
    uint64_t others = look->most_certain + look->possible;
    return look->process_bytes > others ? look->process_bytes - others : 0;
}

bool sl_look_was_quiet(const sl_overhead_look_t *before, const sl_overhead_look_t *now) {
    return before->is_exact && now->is_exact && before->certain == now->certain && before->managed == now->managed &&
           before->calls == now->calls && !before->is_late && !now->is_late;
}

/* A process of another namespace may have one of our pids. Then NVML listed that pid before we had anything on the GPU. */
uint64_t sl_overhead_growth(const sl_overhead_look_t *before) {
    sl_overhead_look_t now = sl_overhead_look(before->gpu);
    if (gpus[before->gpu].way == UNDECIDED && before->listed)
        now.listed = false;
    decide(&now);
    int64_t growth = sl_look_difference(before, &now);
    return growth > 0 ? (uint64_t)growth : 0;
}
