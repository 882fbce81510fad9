/* Reads and writes the state file. */
#define _GNU_SOURCE
#include "gpu/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpu/lives.h"

#define CLEARING (1ull << 63)
#define PID_BITS 22
#define NAMESPACE_BITS 9
#define TICKS (~0ull >> (1 + PID_BITS + NAMESPACE_BITS)) /* 497 days of them */
#define LAYOUT_VERSIONS 256u
#define PATIENCE_NS 1000000000u /* a process that takes memory for longer counts as stopped */
#define STALE_NS 600000000000u /* further ahead only a file from before a reboot is busy */

static sim_state_t *state;
static sim_state_slot_t *own;

uint64_t sim_state_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* 0 when this namespace has no such process; a zombie counts as gone, as its GPU memory would be. */
static uint64_t identity_of(pid_t pid) {
    char path[32], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = read(file, line, sizeof line - 1);
    close(file);
    line[length > 0 ? length : 0] = 0;
    char *field = strrchr(line, ')');
    if (!field || field[1] == 0 || strchr("ZXx", field[2])) return 0;
    for (int i = 0; i < 20 && field; i++) field = strchr(field + 1, ' ');
    if (!field) return 0;
    return (strtoull(field, NULL, 10) & TICKS) << (PID_BITS + NAMESPACE_BITS) | (uint64_t)sim_lives_namespace() << PID_BITS | (uint64_t)pid;
}

static unsigned namespace_of(uint64_t owner) { return owner >> PID_BITS & ((1u << NAMESPACE_BITS) - 1); }

pid_t sim_state_pid(uint64_t owner) { return (pid_t)(owner & ((1u << PID_BITS) - 1)); }

uint64_t sim_state_self(void) { return own ? atomic_load(&own->owner) : 0; }

/* A process of the first namespace holds no lock that a container could see. A reader in the first namespace finds it dead. */
bool sim_state_is_alive(uint64_t owner) {
    pid_t pid;
    if (!owner || owner == sim_state_self()) return owner != 0;
    if (namespace_of(owner) == sim_lives_namespace()) return identity_of(sim_state_pid(owner)) == (owner & ~CLEARING);
    return namespace_of(owner) == 0 || sim_lives_has(owner & ~CLEARING, &pid);
}

static sim_state_t *map_file(void) {
    int file = open(sim_settings()->state_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return NULL;
    struct stat stat;
    bool sized = fstat(file, &stat) == 0 && (stat.st_size >= (off_t)sizeof *state || ftruncate(file, sizeof *state) == 0);
    void *map = sized ? mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    return map == MAP_FAILED ? NULL : map;
}

/* Replaces a state file of another version. Processes that use the old file keep it, and do not see this process. */
bool sim_state_open(void) {
    for (int attempt = 0; !state && attempt < 2; attempt++) {
        sim_state_t *mapped = map_file();
        if (!mapped) return false;
        uint32_t layout = 0;
        bool ours = atomic_compare_exchange_strong(&mapped->layout, &layout, SIM_STATE_LAYOUT) || layout == SIM_STATE_LAYOUT;
        if (ours) state = mapped;
        else munmap(mapped, sizeof *mapped);
        if (!ours && (layout ^ SIM_STATE_LAYOUT) < LAYOUT_VERSIONS) unlink(sim_settings()->state_path);
    }
    return state;
}

/* All memory that this process held before an exec, or is about to leave. */
static void forget_shares(uint64_t self) {
    uint32_t used = atomic_load(&state->shares_used);
    for (uint32_t i = 0; i < used; i++)
        for (int k = 0; k < SIM_STATE_HOLDERS; k++) {
            uint64_t holder = self;
            atomic_compare_exchange_strong(&state->share[i].holder[k], &holder, 0);
        }
}

/* A slot may be claimed when it is free, was ours before an exec, or belongs to a dead process. */
static bool claim(sim_state_slot_t *slot, uint64_t self) {
    uint64_t owner = atomic_load(&slot->owner);
    if (owner != 0 && (owner & ~CLEARING) != self && sim_state_is_alive(owner)) return false;
    if (!atomic_compare_exchange_strong(&slot->owner, &owner, self | CLEARING)) return false;
    for (int gpu = 0; gpu < SIM_GPUS_MAX; gpu++) atomic_store(&slot->taken_bytes[gpu], 0);
    uint32_t used = atomic_load(&state->slots_used), needed = (uint32_t)(slot - state->slot) + 1;
    while (used < needed && !atomic_compare_exchange_weak(&state->slots_used, &used, needed)) continue;
    forget_shares(self);
    atomic_store(&slot->owner, self);
    own = slot;
    return true;
}

bool sim_state_attach(void) {
    uint64_t self = identity_of(getpid());
    if (self == 0) return false;
    sim_lives_begin(self);
    for (int i = 0; i < SIM_STATE_SLOTS; i++)
        if ((atomic_load(&state->slot[i].owner) & ~CLEARING) == self && claim(&state->slot[i], self)) return true;
    for (int i = 0; i < SIM_STATE_SLOTS; i++)
        if (claim(&state->slot[i], self)) return true;
    return false;
}

void sim_state_detach(void) {
    if (own) {
        forget_shares(sim_state_self());
        atomic_store(&own->owner, 0);
    }
    own = NULL;
}

/* Owner and bytes of a slot; a dead owner's slot is freed on the way. */
static uint64_t live_bytes(sim_state_slot_t *slot, int gpu, bool check, uint64_t *owner) {
    *owner = atomic_load(&slot->owner);
    if (*owner == 0 || *owner & CLEARING) return 0;
    if (check && slot != own && !sim_state_is_alive(*owner)) {
        atomic_compare_exchange_strong(&slot->owner, owner, 0);
        return 0;
    }
    return atomic_load(&slot->taken_bytes[gpu]);
}

/* Bytes of a row that no slot counts, and the holder that has them now. */
static uint64_t orphaned_bytes(sim_state_share_t *row, int gpu, uint64_t *keeper) {
    if (!atomic_load(&row->key) || atomic_load(&row->gpu) != (uint32_t)gpu) return 0;
    for (int i = 0; i < SIM_STATE_HOLDERS; i++) {
        *keeper = atomic_load(&row->holder[i]);
        if (*keeper && sim_state_is_alive(*keeper)) return i == 0 ? 0 : atomic_load(&row->bytes);
    }
    return 0;
}

static uint64_t orphaned(int gpu, uint64_t of) {
    uint64_t bytes = 0, keeper;
    uint32_t used = atomic_load(&state->shares_used);
    for (uint32_t i = 0; i < used; i++) {
        uint64_t more = orphaned_bytes(&state->share[i], gpu, &keeper);
        if (more && (!of || of == keeper)) bytes += more;
    }
    return bytes;
}

static uint64_t sum(int gpu, bool check) {
    uint64_t bytes = 0, owner;
    uint32_t used = atomic_load(&state->slots_used);
    for (uint32_t i = 0; i < used; i++) bytes += live_bytes(&state->slot[i], gpu, check, &owner);
    return bytes + orphaned(gpu, 0);
}

uint64_t sim_state_taken(int gpu) { return sum(gpu, true); }

bool sim_state_process(int gpu, unsigned slot, pid_t *pid, uint64_t *bytes) {
    uint64_t owner;
    *bytes = live_bytes(&state->slot[slot], gpu, true, &owner);
    if (owner && !(owner & CLEARING)) *bytes += orphaned(gpu, owner);
    *pid = sim_state_pid(owner);
    if (*bytes > 0 && namespace_of(owner) != sim_lives_namespace() && namespace_of(owner) != 0) sim_lives_has(owner, pid);
    return *bytes > 0;
}

static bool has_room(int gpu, uint64_t bytes) {
    uint64_t total = sim_unit_memory(sim_settings(), gpu);
    return bytes <= total && (sum(gpu, false) <= total - bytes || sum(gpu, true) <= total - bytes);
}

/* Requests are decided one at a time, as in a driver. So no request fails because of another one that fails, too. */
static void begin_take(uint64_t self) {
    uint64_t late_ns = sim_state_now() + PATIENCE_NS, taker = 0;
    while (!atomic_compare_exchange_strong(&state->taker, &taker, self))
        if (taker != self && sim_state_is_alive(taker) && sim_state_now() < late_ns) {
            taker = 0;
            usleep(20);
        }
}

static void end_take(uint64_t self) { atomic_compare_exchange_strong(&state->taker, &self, 0); }

/* A process that was stopped for longer than PATIENCE_NS loses its place, and may continue at any time. So each process sums again after it
 * has added its bytes, in one total order. If two requests do not fit together, at least one process sees both and takes its bytes back. */
bool sim_state_take(int gpu, uint64_t bytes) {
    uint64_t self = atomic_load(&own->owner);
    begin_take(self);
    bool fits = has_room(gpu, bytes);
    if (fits) atomic_fetch_add(&own->taken_bytes[gpu], bytes);
    if (fits && !has_room(gpu, 0)) {
        atomic_fetch_sub(&own->taken_bytes[gpu], bytes);
        fits = false;
    }
    end_take(self);
    return fits;
}

void sim_state_withdraw(uint64_t bytes[SIM_GPUS_MAX]) {
    for (int gpu = 0; gpu < SIM_GPUS_MAX; gpu++) bytes[gpu] = atomic_exchange(&own->taken_bytes[gpu], 0);
}

bool sim_state_return(const uint64_t bytes[SIM_GPUS_MAX]) {
    int gpu = 0;
    while (gpu < SIM_GPUS_MAX && (!bytes[gpu] || sim_state_take(gpu, bytes[gpu]))) gpu++;
    if (gpu == SIM_GPUS_MAX) return true;
    while (gpu-- > 0) atomic_fetch_sub(&own->taken_bytes[gpu], bytes[gpu]);
    return false;
}

uint64_t sim_state_own_bytes(void) {
    uint64_t bytes = 0;
    for (int gpu = 0; gpu < SIM_GPUS_MAX; gpu++) bytes += atomic_load(&own->taken_bytes[gpu]);
    return bytes;
}

static _Thread_local uint64_t given_bytes;

void sim_state_give(int gpu, uint64_t bytes) {
    atomic_fetch_sub(&own->taken_bytes[gpu], bytes);
    given_bytes += bytes;
}

uint64_t sim_state_forget_given(void) {
    uint64_t bytes = given_bytes;
    given_bytes = 0;
    return bytes;
}

static bool is_held(sim_state_share_t *row) {
    for (int i = 0; i < SIM_STATE_HOLDERS; i++) {
        uint64_t holder = atomic_load(&row->holder[i]);
        if (holder && sim_state_is_alive(holder)) return true;
    }
    return false;
}

/* The creator's identity is set last: until then the row has no live holder, and counts for nothing. */
static void found_row(sim_state_share_t *row, int gpu, uint64_t bytes, uint64_t key, uint64_t self) {
    atomic_store(&row->key, key);
    for (int i = 0; i < SIM_STATE_HOLDERS; i++) atomic_store(&row->holder[i], 0);
    atomic_store(&row->gpu, (uint32_t)gpu);
    atomic_store(&row->joins, 0);
    atomic_store(&row->bytes, bytes);
    uint32_t used = (uint32_t)(row - state->share) + 1;
    if (atomic_load(&state->shares_used) < used) atomic_store(&state->shares_used, used);
    atomic_store(&row->holder[0], self);
}

bool sim_state_share(int gpu, uint64_t bytes, unsigned *row, uint64_t *key) {
    uint64_t self = sim_state_self();
    begin_take(self);
    for (*row = 0; *row < SIM_STATE_SHARES && is_held(&state->share[*row]);) ++*row;
    *key = sim_state_now();
    if (*row < SIM_STATE_SHARES) found_row(&state->share[*row], gpu, bytes, *key, self);
    end_take(self);
    return *row < SIM_STATE_SHARES;
}

bool sim_state_join(unsigned index, uint64_t key) {
    uint64_t self = sim_state_self();
    sim_state_share_t *row = &state->share[index];
    bool joined = false;
    begin_take(self);
    for (int i = 1; i < SIM_STATE_HOLDERS && !joined && atomic_load(&row->key) == key; i++) {
        uint64_t holder = atomic_load(&row->holder[i]);
        joined = (!holder || !sim_state_is_alive(holder)) && atomic_compare_exchange_strong(&row->holder[i], &holder, self);
    }
    if (joined) atomic_fetch_add(&row->joins, 1);
    end_take(self);
    return joined;
}

/* The creator's bytes leave its slot and appear in the row while no process can take memory. */
bool sim_state_leave(unsigned index, uint64_t key) {
    uint64_t self = sim_state_self();
    sim_state_share_t *row = &state->share[index];
    begin_take(self);
    bool own_row = atomic_load(&row->key) == key;
    if (own_row && atomic_load(&row->holder[0]) == self) sim_state_give((int)atomic_load(&row->gpu), atomic_load(&row->bytes));
    for (int i = 0; own_row && i < SIM_STATE_HOLDERS; i++) {
        uint64_t holder = self;
        if (atomic_compare_exchange_strong(&row->holder[i], &holder, 0)) break;
    }
    bool unused = own_row && atomic_load(&row->joins) && !is_held(row);
    end_take(self);
    return unused;
}

/* Work before now is done, and work after it is one unbroken span. So used time is known exactly at any moment since the last
 * reservation. */
static uint64_t used_at(const sim_state_gpu_t *gpu, uint64_t time) {
    uint64_t until = atomic_load(&gpu->busy_until_ns), total = atomic_load(&gpu->busy_total_ns);
    uint64_t ahead = until > time ? until - time : 0;
    return total > ahead ? total - ahead : 0;
}

#define SAMPLE_STEP_NS 10000u
#define SAMPLE_EVERY_NS 100000000u

static void keep_sample(sim_state_gpu_t *gpu, uint64_t now) {
    uint64_t newer = atomic_load(&gpu->sample[1]);
    uint32_t age = (uint32_t)(now / SAMPLE_STEP_NS) - (uint32_t)(newer >> 32);
    if (age < SAMPLE_EVERY_NS / SAMPLE_STEP_NS) return;
    uint64_t fresh = (now / SAMPLE_STEP_NS) << 32 | (uint32_t)(used_at(gpu, now) / SAMPLE_STEP_NS);
    if (atomic_compare_exchange_strong(&gpu->sample[1], &newer, fresh)) atomic_store(&gpu->sample[0], newer);
}

bool sim_state_changes_user(int index, uint64_t ready_ns) {
    sim_state_gpu_t *gpu = &state->gpu[index];
    uint64_t self = sim_state_self();
    return atomic_exchange(&state->last_user[index], self) != self && atomic_load(&gpu->busy_until_ns) > ready_ns;
}

uint64_t sim_state_reserve(int index, uint64_t ready_ns, uint64_t duration_ns) {
    sim_state_gpu_t *gpu = &state->gpu[index];
    uint64_t now = sim_state_now();
    keep_sample(gpu, now);
    uint64_t until = atomic_load(&gpu->busy_until_ns), end;
    if (until > now + STALE_NS && atomic_compare_exchange_strong(&gpu->busy_until_ns, &until, now)) until = now;
    do end = (until > ready_ns ? until : ready_ns) + duration_ns;
    while (!atomic_compare_exchange_weak(&gpu->busy_until_ns, &until, end));
    atomic_fetch_add(&gpu->busy_total_ns, duration_ns);
    atomic_store(&gpu->last_work_ns, now);
    return end;
}

/* Time that lies before another reservation stays unused. */
void sim_state_cut(int index, uint64_t until_ns, uint64_t duration_ns) {
    sim_state_gpu_t *gpu = &state->gpu[index];
    uint64_t until = until_ns;
    atomic_compare_exchange_strong(&gpu->busy_until_ns, &until, until_ns - duration_ns);
    atomic_fetch_sub(&gpu->busy_total_ns, duration_ns);
}

unsigned sim_state_busy_percent(int index) {
    sim_state_gpu_t *gpu = &state->gpu[index];
    const uint64_t window = 2 * SAMPLE_EVERY_NS;
    uint64_t now = sim_state_now(), span = window, used;
    if (atomic_load(&gpu->last_work_ns) + window < now) {
        used = used_at(gpu, now) - used_at(gpu, now - window);
    } else {
        uint64_t from = atomic_load(&gpu->sample[0]);
        span = (uint64_t)((uint32_t)(now / SAMPLE_STEP_NS) - (uint32_t)(from >> 32)) * SAMPLE_STEP_NS;
        used = (uint64_t)((uint32_t)(used_at(gpu, now) / SAMPLE_STEP_NS) - (uint32_t)from) * SAMPLE_STEP_NS;
        if (span > 5 * window) span = 5 * window;
    }
    uint64_t percent = span ? used * 100 / span : 0;
    return percent > 100 ? 100 : (unsigned)percent;
}
