/* storm_truth: what the driver says of processes. The simulated driver's state file is read as it is; else NVML is asked. */
#define _GNU_SOURCE
#include "storm.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/elf.h"

#define SLOTS 512
#define SIM_GPUS 16
#define PID_MASK ((1u << 22) - 1)
#define ATTEMPTS 200
#define LISTED_MOST 512

/* As in sim/src/gpu/state.h. */
typedef struct { _Atomic uint64_t owner, taken[SIM_GPUS]; } sim_slot_t;
typedef struct {
    _Atomic uint32_t layout, slots_used;
    _Atomic uint64_t taker;
    uint32_t reserved[12];
    _Atomic uint64_t gpu[SIM_GPUS][5];
    sim_slot_t slot[SLOTS];
} sim_state_t;

typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } listed_t;

static const sim_state_t *sim;
static void *devices[GPUS_MOST];
static int (*list_processes)(void *, unsigned *, listed_t *);
static int (*whole_memory)(void *, unsigned long long *);
static uint64_t baseline[GPUS_MOST];
static uint64_t last_each[PROCESSES_MOST][GPUS_MOST]; /* of the last sum */
static bool is_listed; /* NVML knows processes of ours */

typedef struct { const char *stem, *name; void *found; } search_t;

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    search_t *search = data;
    if (size < sizeof *info || !info->dlpi_name || !sl_elf_has_name(info->dlpi_name, search->stem))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        void *found = sl_elf_lookup(info->dlpi_addr, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), search->name);
        search->found = found ? found : search->found;
    }
    return 0;
}

/* The last library of that name: where Sluice itself is installed as libcuda.so.1, it loads the driver later. */
void *truth_symbol(const char *stem, const char *name) {
    search_t search = {stem, name, NULL};
    dl_iterate_phdr(visit, &search);
    return search.found;
}

static bool open_sim(const char *path) {
    for (int attempt = 0; attempt < 2000 && !sim; attempt++) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file >= 0 && lseek(file, 0, SEEK_END) >= (off_t)sizeof *sim) {
            const sim_state_t *map = mmap(NULL, sizeof *sim, PROT_READ, MAP_SHARED, file, 0);
            sim = map == MAP_FAILED ? NULL : map;
        }
        if (file >= 0)
            close(file);
        if (!sim)
            usleep(5000); /* the first process on the GPU makes it */
    }
    return sim != NULL;
}

static bool open_nvml(void) {
    if (!dlopen("libnvidia-ml.so.1", RTLD_NOW))
        return false;
    int (*init)(void) = (int (*)(void))truth_symbol("libnvidia-ml.so", "nvmlInit_v2");
    int (*device)(unsigned, void **) = (int (*)(unsigned, void **))truth_symbol("libnvidia-ml.so", "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&list_processes = truth_symbol("libnvidia-ml.so", "nvmlDeviceGetComputeRunningProcesses_v3");
    *(void **)&whole_memory = truth_symbol("libnvidia-ml.so", "nvmlDeviceGetMemoryInfo");
    if (!init || !device || !list_processes || !whole_memory || init() != 0)
        return false;
    for (int gpu = 0; gpu < options.gpus; gpu++)
        if (device((unsigned)gpu, &devices[gpu]) != 0)
            return false;
    return true;
}

static uint64_t used_on(int gpu) {
    unsigned long long total_free_used[3] = {0};
    return whole_memory(devices[gpu], total_free_used) == 0 ? total_free_used[2] : 0;
}

static const char *baseline_name(int gpu) {
    static const char *const names[GPUS_MOST] = {"STORM_BASE_0", "STORM_BASE_1", "STORM_BASE_2", "STORM_BASE_3"};
    return names[gpu];
}

bool truth_prepare(void) {
    char text[32];
    if (getenv("SLUICE_SIM_STATE") && !options.nvml)
        return true;
    if (!open_nvml())
        return false;
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)used_on(gpu));
        setenv(baseline_name(gpu), text, 1);
    }
    return true;
}

bool truth_open(void) {
    const char *path = getenv("SLUICE_SIM_STATE");
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        const char *text = getenv(baseline_name(gpu));
        baseline[gpu] = text ? strtoull(text, NULL, 10) : 0;
    }
    return path && !options.nvml ? open_sim(path) : list_processes || open_nvml();
}

bool truth_is_exact(void) {
    return sim != NULL;
}

const char *truth_source(void) {
    return sim ? "simulated" : is_listed ? "nvml-processes" : "nvml-whole-gpu";
}

static bool is_one_of(pid_t pid, const pid_t *pids, int count) {
    for (int i = 0; i < count; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* Where NVML does not know the numbers of our processes, the whole GPU's memory less what was used before tells it. That contains killed
 * processes that are not gone yet. So storm does not ask it once NVML has listed one of ours. */
static bool collect_nvml(const pid_t *pids, int count, int gpus, uint64_t each[PROCESSES_MOST][GPUS_MOST], uint64_t *bytes) {
    static listed_t listed[LISTED_MOST];
    memset(each, 0, sizeof each[0] * PROCESSES_MOST);
    for (int gpu = 0; gpu < gpus; gpu++) {
        unsigned entries = LISTED_MOST;
        bytes[gpu] = 0;
        if (list_processes(devices[gpu], &entries, listed) != 0) {
            if (is_listed)
                return false;
            entries = 0;
        }
        for (unsigned i = 0; i < entries; i++)
            for (int k = 0; k < count; k++)
                if ((pid_t)listed[i].pid == pids[k] && listed[i].used != ~0ull) {
                    bytes[gpu] += listed[i].used;
                    each[k][gpu] = listed[i].used;
                    is_listed = true;
                }
        uint64_t whole = is_listed ? 0 : used_on(gpu);
        if (whole > baseline[gpu])
            bytes[gpu] = whole - baseline[gpu];
    }
    return true;
}

static void collect_sim(const pid_t *pids, int count, int gpus, uint64_t words[SLOTS][GPUS_MOST], uint64_t *bytes) {
    uint32_t used = sim->slots_used < SLOTS ? sim->slots_used : SLOTS;
    memset(bytes, 0, sizeof *bytes * (size_t)gpus);
    for (uint32_t i = 0; i < used; i++) {
        uint64_t owner = sim->slot[i].owner;
        bool counts = owner && !(owner >> 63) && is_one_of((pid_t)(owner & PID_MASK), pids, count);
        for (int gpu = 0; gpu < gpus; gpu++) {
            words[i][gpu] = counts ? sim->slot[i].taken[gpu] : 0;
            bytes[gpu] += words[i][gpu];
        }
    }
}

/* Words of several processes are read one after the other. The sum counts if a second reading finds all of them unchanged. */
bool truth_sum(const pid_t *pids, int count, int gpus, uint64_t *bytes) {
    static uint64_t first[SLOTS][GPUS_MOST], second[SLOTS][GPUS_MOST];
    if (!sim)
        return collect_nvml(pids, count, gpus, last_each, bytes);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        collect_sim(pids, count, gpus, first, bytes);
        collect_sim(pids, count, gpus, second, bytes);
        if (memcmp(first, second, sizeof first) == 0)
            return true;
    }
    return false;
}

/* NVML reads one process after the other, so memory that one gives and another takes meanwhile can be in the sum twice. In the sum of
 * what each process has at the least in two readings it is not. */
bool truth_again(const pid_t *pids, int count, int gpus, uint64_t *bytes) {
    static uint64_t again[PROCESSES_MOST][GPUS_MOST];
    if (sim || !is_listed || count < 2)
        return true;
    if (!collect_nvml(pids, count, gpus, again, bytes))
        return false;
    for (int gpu = 0; gpu < gpus; gpu++) {
        bytes[gpu] = 0;
        for (int k = 0; k < count; k++)
            bytes[gpu] += again[k][gpu] < last_each[k][gpu] ? again[k][gpu] : last_each[k][gpu];
    }
    return true;
}

uint64_t truth_of(pid_t pid, int gpu) {
    uint64_t bytes[GPUS_MOST] = {0};
    if (sim || list_processes)
        truth_sum(&pid, 1, options.gpus, bytes);
    return bytes[gpu];
}
