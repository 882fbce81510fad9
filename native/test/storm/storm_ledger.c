/* storm_ledger: the tenant's region as a tool sees it: what each process is charged, and limits that change. */
#define _GNU_SOURCE
#include "storm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region_layout.h"

#define PID_MASK ((1u << 22) - 1)

static char *base;

/* Anew each time: when all processes of a tenant are dead at a moment, the next one makes a new region. */
bool ledger_open(void) {
    const char *directory = getenv("SLUICE_RUNTIME_DIR"), *tenant = getenv("SLUICE_TENANT");
    char path[512];
    snprintf(path, sizeof path, "%s/%s.region", directory ? directory : "", tenant ? tenant : "");
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    char *map = mmap(NULL, SL_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (base)
        munmap(base, SL_REGION_BYTES);
    base = map == MAP_FAILED ? NULL : map;
    return base != NULL;
}

static int entry_of(int gpu) {
    const sl_region_gpu_t *entries = (const void *)(base + SL_REGION_GPU_OFFSET);
    for (int i = 0; i < SL_REGION_GPU_COUNT; i++)
        if (entries[i].owner == 1 && entries[i].index == gpu)
            return i;
    return -1;
}

ledger_t ledger_read(const pid_t *pids, int count, int gpu) {
    ledger_t sum = {0};
    if (!ledger_open())
        return sum;
    const sl_region_slot_t *slots = (const void *)(base + SL_REGION_SLOT_OFFSET);
    const sl_region_account_t *accounts = (const void *)(base + SL_REGION_ACCOUNT_OFFSET);
    int entry = entry_of(gpu);
    for (int i = 0; i < SL_REGION_SLOT_COUNT && entry >= 0; i++)
        for (int k = 0; k < count; k++)
            if (pids[k] > 0 && (pid_t)(slots[i].owner & PID_MASK) == pids[k]) {
                const sl_region_account_t *account = &accounts[i * SL_REGION_GPU_COUNT + entry];
                sum.charged += account->charged_bytes;
                sum.in_flight += account->in_flight_bytes;
                sum.overhead += account->overhead_bytes;
            }
    return sum;
}

uint64_t ledger_of(const pid_t *pids, int count, int gpu) {
    return ledger_read(pids, count, gpu).charged;
}

void ledger_set_limit(int gpus, uint64_t bytes) {
    if (!ledger_open())
        return;
    sl_region_limits_t *limits = (void *)(base + SL_REGION_LIMITS_OFFSET);
    for (int gpu = 0; gpu < gpus; gpu++)
        limits->memory_bytes[gpu] = bytes;
    limits->epoch++;
}
