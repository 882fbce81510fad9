/* Entry points: the steps before and after every body, cuInit, and cuGetProcAddress. */
#define _GNU_SOURCE
#include "entry/sim.h"

#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool initialised, forked, ended;
static bool before_init[SIM_ENTRY_COUNT];
static bool while_locked[SIM_ENTRY_COUNT]; /* the calls that a locked process may still make */
static bool locked;
static unsigned inside; /* calls under way, without those */
static pthread_cond_t unlocked = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool faults_are_valid;
_Thread_local int sim_per_thread;
_Thread_local bool sim_on_engine_thread;

void sim_lock(void) { pthread_mutex_lock(&mutex); }
void sim_unlock(void) { pthread_mutex_unlock(&mutex); }
pthread_mutex_t *sim_mutex(void) { return &mutex; }

/* A thread that the child does not have may hold the lock. */
static void in_child(void) {
    forked = initialised || forked;
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    unlocked = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    locked = false;
    inside = 0;
}

void sim_entry_lock(void) { locked = true; }

void sim_entry_unlock(void) {
    locked = false;
    pthread_cond_broadcast(&unlocked);
}

bool sim_entry_is_quiet(void) { return inside == 0; }

static void load(void) {
    static const char *const early[] = {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetProcAddress",
                                        "cuGetProcAddress_v2", "cuGetExportTable"};
    for (unsigned i = 0; i < SIM_ENTRY_COUNT; i++) {
        const char *symbol = sim_entries[i].symbol;
        for (unsigned k = 0; k < sizeof early / sizeof *early; k++) before_init[i] |= strcmp(symbol, early[k]) == 0;
        /* As driver 580.159: cuInit waits, these do not. */
        while_locked[i] = (before_init[i] && strcmp(symbol, "cuInit") != 0) || strcmp(symbol, "cuCtxGetCurrent") == 0
                       || strncmp(symbol, "cuCheckpointProcess", 19) == 0;
    }
    char problem[200];
    faults_are_valid = sim_fault_load(sim_settings()->faults, problem, sizeof problem);
    if (!faults_are_valid) fprintf(stderr, "sluice-sim: SLUICE_SIM_FAULTS: %s\n", problem);
    pthread_atfork(NULL, NULL, in_child);
}

bool sim_entry_is_visible(const sim_entry_t *entry) {
    return entry->since <= sim_settings()->driver && !sim_fault_is_missing((unsigned)(entry - sim_entries));
}

bool sim_enter(unsigned index, int per_thread, CUresult *result) {
    pthread_once(&once, load);
    if (!sim_entry_is_visible(&sim_entries[index])) return *result = CUDA_ERROR_NOT_FOUND, true;
    if (sim_fault_before(index, result)) return true;
    if (!before_init[index] && (!initialised || forked)) return *result = CUDA_ERROR_NOT_INITIALIZED, true;
    if (sim_on_engine_thread) return *result = CUDA_ERROR_NOT_PERMITTED, true;
    sim_lock();
    while (locked && !while_locked[index] && !ended) pthread_cond_wait(&unlocked, &mutex);
    if (ended) return sim_unlock(), *result = CUDA_ERROR_DEINITIALIZED, true;
    if (!while_locked[index]) inside++;
    sim_per_thread = per_thread;
    return false;
}

/* On an H200 the caller waits for milliseconds after the memory of a large free has gone. */
static void wait_for_given(void) {
    uint64_t wait_ns = sim_state_forget_given() / (1u << 20) * sim_settings()->free_ns / 1024;
    if (!wait_ns) return;
    struct timespec pause = {(time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u)};
    nanosleep(&pause, NULL);
}

CUresult sim_leave(unsigned index, CUresult result) {
    if (!while_locked[index]) inside--;
    sim_unlock();
    wait_for_given();
    sim_fault_after(index);
    return result;
}

bool sim_has_ended(void) { return ended; }

/* Threads of the program, and the engine, may still be at work when it exits. */
__attribute__((destructor)) static void at_exit(void) {
    if (!initialised || forked) return;
    sim_lock();
    ended = true;
    sim_state_detach();
    sim_unlock();
}

CUresult sim_cuInit(unsigned int flags) {
    SIM_REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(!forked, CUDA_ERROR_NOT_INITIALIZED);
    SIM_REQUIRE(sim_settings()->problem[0] == 0 && faults_are_valid, CUDA_ERROR_INVALID_VALUE);
    SIM_REQUIRE(sim_settings()->visible > 0, CUDA_ERROR_NO_DEVICE);
    if (initialised) return CUDA_SUCCESS;
    if (!sim_state_open() || !sim_state_attach()) {
        fprintf(stderr, "sluice-sim: cannot use the state file %s; set SLUICE_SIM_STATE to another path\n", sim_settings()->state_path);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    initialised = true;
    return CUDA_SUCCESS;
}

CUresult sim_cuDriverGetVersion(int *version) {
    SIM_REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    *version = sim_settings()->driver;
    return CUDA_SUCCESS;
}

CUresult sim_cuGetExportTable(const void **table, const CUuuid *id) {
    (void)id;
    if (table) *table = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

enum { FOUND, NOT_FOUND, TOO_OLD };

/* As driver 580 answers: an API with per-thread twins gives only twins when flag 2 is set, one without them its only form. */
static int look_up(const char *name, int version, bool per_thread, void **function) {
    bool known = false, twins = false;
    const sim_entry_t *best = NULL;
    for (unsigned i = 0; per_thread && i < SIM_ENTRY_COUNT; i++)
        twins |= sim_entries[i].per_thread && strcmp(sim_entries[i].name, name) == 0;
    for (const sim_entry_t *entry = sim_entries; entry < sim_entries + SIM_ENTRY_COUNT; entry++) {
        if (entry->per_thread != twins || strcmp(entry->name, name) != 0 || !sim_entry_is_visible(entry)) continue;
        known = true;
        if (entry->since <= version && (!best || entry->since > best->since)) best = entry;
    }
    *function = best ? (void *)best->function : NULL;
    return best ? FOUND : known ? TOO_OLD : NOT_FOUND;
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status) {
    SIM_REQUIRE(symbol && function && version <= sim_settings()->driver && flags <= 3, CUDA_ERROR_INVALID_VALUE);
    int found = look_up(symbol, version, flags & 2, function);
    if (status) *status = found;
    return CUDA_SUCCESS;
}

CUresult sim_cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags) {
    SIM_REQUIRE(symbol && function && version <= sim_settings()->driver && flags <= 3, CUDA_ERROR_INVALID_VALUE);
    void *found;
    SIM_REQUIRE(look_up(symbol, version, flags & 2, &found) == FOUND, CUDA_ERROR_NOT_FOUND);
    *function = found;
    return CUDA_SUCCESS;
}
