/* vacate: see vacate.h. */
#define _GNU_SOURCE
#include "pause/vacate.h"

#include <unistd.h>

#include "driver/driver.h"
#include "ledger/ledger.h"
#include "memory/ipc/opened.h"
#include "memory/mapped/export.h"
#include "os/os.h"
#include "pause/reasons.h"
#include "pause/telling.h"
#include "real.h"
#include "slices/control.h"
#include "tenant/accounts.h"
#include "tenant/tenant.h"

#define LOCK_MILLIS 10000u
#define MIB (1u << 20)
#define ROOM_NANOS 1000000000u /* how long a look for room counts: others take memory meanwhile */

static uint64_t aside[SL_REGION_GPU_COUNT];

static const char *name_of(CUresult status) {
    const char *name = NULL;
    return real.cuGetErrorName && real.cuGetErrorName(status, &name) == CUDA_SUCCESS && name ? name : "an unknown error";
}

/* The log has room for what the reason has not. */
static void log_limits(void) {
    sl_report(SL_WARN, "the driver cannot store its own state with managed memory, memory shared by cuIpc, MPS or MIG");
}

/* Seen on driver 580: with managed memory the driver refuses, and then always refuses. With memory of other processes it stores its
 * state and cannot restore it. */
static bool is_possible(sl_reason_t *reason) {
    if (!SL_DRIVER_HAS(cuCheckpointProcessCheckpoint))
        return sl_report_fail(reason, SL_REASON_OLD_DRIVER);
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        if (sl_accounts_own(gpu)->managed_bytes)
            return sl_report_fail(reason, SL_REASON_MANAGED);
    if (sl_opened_any())
        return sl_report_fail(reason, SL_REASON_OPENED);
    if (sl_export_any())
        return sl_report_fail(reason, SL_REASON_EXPORTED);
    return true;
}

/* The time is written last: a tool that sees it, and looks for room afterwards, sees the bytes too. */
static void put_aside(void) {
    uint64_t sum = 0;
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++) {
        sum += aside[gpu] = sl_ledger_put_aside(gpu);
        sl_accounts_own(gpu)->aside_bytes = aside[gpu];
    }
    sl_telling_record()->staying_bytes = sum;
    sl_tenant.region.slots[sl_tenant.slot].stored_nanos = sl_os_nanos();
}

static void end_aside(void) {
    sl_tenant.region.slots[sl_tenant.slot].stored_nanos = 0;
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        sl_accounts_own(gpu)->aside_bytes = 0;
}

/* A tool has looked since the state was stored, and just now. */
static bool is_room_seen(void) {
    uint64_t seen = sl_tenant.region.limits->room_nanos, now = sl_os_nanos();
    return seen > sl_tenant.region.slots[sl_tenant.slot].stored_nanos && seen <= now && now - seen < ROOM_NANOS;
}

/* Tries twice: in a process that stays locked, calls wait for ever. */
static CUresult unlock(void) {
    CUresult status = real.cuCheckpointProcessUnlock(getpid(), NULL);
    return status == CUDA_SUCCESS ? status : real.cuCheckpointProcessUnlock(getpid(), NULL);
}

static sl_vacate_result_t store(sl_reason_t *reason) {
    CUcheckpointLockArgs args = {.timeoutMs = LOCK_MILLIS};
    CUresult status = real.cuCheckpointProcessLock(getpid(), &args);
    if (status != CUDA_SUCCESS) {
        sl_report_fail(reason, SL_REASON_STOP, name_of(status), (int)status);
        return SL_VACATE_REFUSED;
    }
    status = real.cuCheckpointProcessCheckpoint(getpid(), NULL);
    if (status != CUDA_SUCCESS) {
        sl_report_fail(reason, SL_REASON_STORE, name_of(status), (int)status);
        log_limits();
        status = unlock();
        if (status == CUDA_SUCCESS)
            return SL_VACATE_REFUSED;
        sl_report_fail(reason, SL_REASON_GO_ON, name_of(status), (int)status);
        return SL_VACATE_FAILED;
    }
    return SL_VACATE_DONE;
}

sl_vacate_result_t sl_vacate_store(sl_reason_t *reason) {
    if (!is_possible(reason))
        return SL_VACATE_REFUSED;
    sl_control_suspend();
    sl_vacate_result_t result = store(reason);
    if (result == SL_VACATE_REFUSED)
        sl_control_resume();
    if (result != SL_VACATE_DONE)
        return result;
    sl_control_drop();
    put_aside();
    return SL_VACATE_DONE;
}

static bool take_up(sl_reason_t *reason) {
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++) {
        if (!aside[gpu] || sl_ledger_take_up(gpu, aside[gpu]))
            continue;
        for (unsigned taken = 0; taken < gpu; taken++)
            if (aside[taken])
                sl_ledger_cancel(taken, aside[taken]);
        return sl_report_fail(reason, SL_REASON_QUOTA, sl_tenant.region.gpus[gpu].index,
                              (unsigned long long)(aside[gpu] / MIB));
    }
    return true;
}

sl_vacate_result_t sl_vacate_restore(sl_reason_t *reason) {
    if (!is_room_seen()) {
        sl_report_fail(reason, SL_REASON_LOOK);
        return SL_VACATE_NO_ROOM;
    }
    if (!take_up(reason))
        return SL_VACATE_NO_ROOM;
    CUresult status = real.cuCheckpointProcessRestore(getpid(), NULL);
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++) {
        if (aside[gpu] && status == CUDA_SUCCESS)
            sl_ledger_back(gpu, aside[gpu]);
        else if (aside[gpu])
            sl_ledger_cancel(gpu, aside[gpu]);
    }
    if (status == CUDA_SUCCESS) {
        end_aside();
        status = unlock();
    }
    if (status == CUDA_SUCCESS) {
        sl_control_resume();
        return SL_VACATE_DONE;
    }
    sl_report_fail(reason, SL_REASON_RESTORE, name_of(status), (int)status);
    return SL_VACATE_FAILED;
}
