/* Checkpoint and restore of this process: its memory leaves the GPU and comes back. In the simulation contents are in host
 * memory anyway, so only the account in the state file changes.
 *
 * All codes are those of driver 580.159.04 on an H200. A refused checkpoint leaves the process LOCKED, it can go on, and every
 * later checkpoint returns 999. A failed restore leaves it CHECKPOINTED for good: restore returns 304 from then on and unlock
 * 401, also when there is room again. */
#define _GNU_SOURCE
#include "kernel/rm.h"
#include "work/work.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define LOOK_US 100u
#define AWAY_NS 450000000u
#define AWAY_BYTES_PER_S 2e9
#define BACK_NS 350000000u
#define BACK_BYTES_PER_S 6e9

enum { RUNNING, LOCKED, CHECKPOINTED };

static int state;
static bool moving; /* from one state to the next, with the lock open */
static bool is_spoilt;  /* a checkpoint was refused */
static bool is_lost;    /* a restore failed */
static uint64_t away[SIM_GPUS_MAX];
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

static CUresult check_process(int pid) {
    if (pid == getpid()) return CUDA_SUCCESS;
    return pid > 0 && kill(pid, 0) && errno == ESRCH ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_NOT_SUPPORTED;
}

static bool is_zero(const void *start, size_t bytes) {
    const char *byte = start;
    while (bytes && !byte[bytes - 1]) bytes--;
    return bytes == 0;
}

static CUresult begin(int pid, bool arguments_are_valid, int from) {
    SIM_TRY(check_process(pid));
    SIM_REQUIRE(arguments_are_valid, CUDA_ERROR_INVALID_VALUE);
    while (moving) pthread_cond_wait(&moved, sim_mutex());
    SIM_REQUIRE(state == from, CUDA_ERROR_ILLEGAL_STATE);
    moving = true;
    return CUDA_SUCCESS;
}

static CUresult end(int in, CUresult result) {
    state = in;
    moving = false;
    pthread_cond_broadcast(&moved);
    return result;
}

static void pass_time(uint64_t fixed_ns, uint64_t bytes, double bytes_per_s) {
    double ns = ((double)fixed_ns + (double)bytes / bytes_per_s * 1e9) * sim_settings()->checkpoint_percent / 100;
    struct timespec pause = {(time_t)(ns / 1e9), (long)(ns - (double)(time_t)(ns / 1e9) * 1e9)};
    sim_unlock();
    nanosleep(&pause, NULL);
    sim_lock();
}

/* True when nothing is under way any more, neither calls of other threads nor work. */
static bool wait_for_silence(unsigned timeout_ms) {
    uint64_t late_ns = timeout_ms ? sim_state_now() + timeout_ms * 1000000ull : UINT64_MAX;
    for (;;) {
        sim_work_catch_up();
        if (sim_entry_is_quiet() && sim_work_is_done()) return true;
        if (sim_state_now() >= late_ns) return false;
        sim_unlock();
        usleep(LOOK_US);
        sim_lock();
    }
}

CUresult sim_cuCheckpointProcessLock(int pid, CUcheckpointLockArgs *wanted) {
    SIM_TRY(begin(pid, !wanted || (!wanted->reserved0 && is_zero(wanted->reserved1, sizeof wanted->reserved1)), RUNNING));
    sim_entry_lock();
    if (wait_for_silence(wanted ? wanted->timeoutMs : 0)) return end(LOCKED, CUDA_SUCCESS);
    sim_entry_unlock();
    return end(RUNNING, CUDA_ERROR_NOT_READY);
}

CUresult sim_cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *wanted) {
    SIM_TRY(begin(pid, !wanted || is_zero(wanted, sizeof *wanted), LOCKED));
    if (is_spoilt) return end(LOCKED, CUDA_ERROR_UNKNOWN);
    is_spoilt = sim_memory_has(SIM_MANAGED);
    if (is_spoilt) return end(LOCKED, CUDA_ERROR_NOT_SUPPORTED);
    pass_time(AWAY_NS, sim_state_own_bytes(), AWAY_BYTES_PER_S);
    sim_state_withdraw(away);
    sim_rm_close();
    return end(CHECKPOINTED, CUDA_SUCCESS);
}

static CUresult restore(void) {
    SIM_REQUIRE(!is_lost, CUDA_ERROR_OPERATING_SYSTEM);
    SIM_REQUIRE(!sim_memory_has(SIM_IMPORTED), CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!sim_vmm_has_imports() && !sim_pool_has_imports(), CUDA_ERROR_NOT_SUPPORTED);
    SIM_REQUIRE(sim_state_return(away), CUDA_ERROR_OUT_OF_MEMORY);
    bool opened = sim_rm_open();
    for (CUcontext context = sim_context_first(); context; context = context->next)
        context->group = context->alive && opened ? sim_rm_make_group() : -1;
    pass_time(BACK_NS, sim_state_own_bytes(), BACK_BYTES_PER_S);
    return CUDA_SUCCESS;
}

/* Another GPU in place of the old one is not simulated. */
static bool moves_elsewhere(const CUcheckpointRestoreArgs *wanted) {
    for (unsigned i = 0; wanted && i < wanted->gpuPairsCount; i++)
        if (memcmp(&wanted->gpuPairs[i].oldUuid, &wanted->gpuPairs[i].newUuid, sizeof(CUuuid)) != 0) return true;
    return false;
}

CUresult sim_cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs *wanted) {
    bool valid = !wanted || (is_zero(wanted->reserved, sizeof wanted->reserved) && !wanted->reserved1 && (wanted->gpuPairs || !wanted->gpuPairsCount));
    SIM_TRY(begin(pid, valid, CHECKPOINTED));
    if (moves_elsewhere(wanted)) return end(CHECKPOINTED, CUDA_ERROR_NOT_SUPPORTED);
    CUresult restored = restore();
    is_lost = restored != CUDA_SUCCESS;
    return end(is_lost ? CHECKPOINTED : LOCKED, restored);
}

CUresult sim_cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs *wanted) {
    SIM_TRY(begin(pid, !wanted || is_zero(wanted, sizeof *wanted), LOCKED));
    sim_entry_unlock();
    return end(RUNNING, CUDA_SUCCESS);
}

CUresult sim_cuCheckpointProcessGetState(int pid, CUprocessState *result) {
    SIM_REQUIRE(result, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(check_process(pid));
    *result = state;
    return CUDA_SUCCESS;
}

CUresult sim_cuCheckpointProcessGetRestoreThreadId(int pid, int *thread) {
    SIM_REQUIRE(thread, CUDA_ERROR_INVALID_VALUE);
    SIM_TRY(check_process(pid));
    return sim_work_thread(thread);
}
