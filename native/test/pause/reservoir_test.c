/* Host memory for released memory: made, registered, counted for the tenant, and never more than the host has. */
#include "on_sim.h"

#include <pthread.h>
#include <sys/mman.h>

#include "pause/host_memory.h"
#include "pause/reservoir.h"
#include "pause/telling.h"

/* Replaces the attendant's function. */
void __wrap_sl_context_making(void);
void __wrap_sl_context_making(void) {}

static sl_reason_t reason;
static CUcontext context;

static sl_region_limits_t *limits(void) {
    uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    return (sl_region_limits_t *)sl_tenant.region.limits;
}

static void fill(uint64_t bytes, char with) {
    for (uint64_t at = 0; at < bytes; at += SL_RESERVOIR_BLOCK) {
        char *block = sl_reservoir_at(at);
        CHECK(block && (uintptr_t)block % (2 * MIB) == 0);
        memset(block, with, bytes - at < SL_RESERVOIR_BLOCK ? bytes - at : SL_RESERVOIR_BLOCK);
    }
}

static unsigned registered(uint64_t bytes) {
    unsigned count = 0, flags;
    for (uint64_t at = 0; at < bytes; at += SL_RESERVOIR_BLOCK)
        count += real.cuMemHostGetFlags(&flags, sl_reservoir_at(at)) == 0;
    return count;
}

static void should_make_and_let_go(void) {
    CHECK(sl_reservoir_reserve(150 * MIB, context, &reason), "%s", reason.text);
    sl_reservoir_begin(150 * MIB, context);
    fill(150 * MIB, 5);
    CHECK(sl_reservoir_end() && registered(150 * MIB) == 3);
    CHECK(sl_reservoir_bytes() == 150 * MIB && sl_telling_record()->reservoir_bytes == 150 * MIB);
    sl_reservoir_unregister(context);
    CHECK(registered(150 * MIB) == 0 && *(char *)sl_reservoir_at(149 * MIB) == 5);
    sl_reservoir_begin(150 * MIB, context);
    CHECK(sl_reservoir_end() && registered(150 * MIB) == 3 && *(char *)sl_reservoir_at(149 * MIB) == 5);
    sl_reservoir_keep(100 * MIB, context);
    CHECK(sl_reservoir_bytes() == 128 * MIB);
    CHECK(sl_reservoir_reserve(130 * MIB, context, &reason) && sl_reservoir_bytes() == 130 * MIB);
    CHECK(sl_reservoir_reserve(192 * MIB, context, &reason) && sl_reservoir_bytes() == 192 * MIB);
    sl_reservoir_keep(0, context);
    CHECK(sl_reservoir_bytes() == 0 && sl_telling_record()->reservoir_bytes == 0);
}

static void should_do_without_registration(void) {
    arm(1, 1000);
    CHECK(sl_reservoir_reserve(70 * MIB, context, &reason));
    sl_reservoir_begin(70 * MIB, context);
    fill(70 * MIB, 6);
    CHECK(sl_reservoir_end() && registered(70 * MIB) == 0);
    disarm();
    sl_reservoir_keep(0, context);
}

static unsigned refusals;
static CUresult (*true_unregister)(void *);

static CUresult refuse_to_unregister(void *start) {
    return refusals ? refusals--, FAULT : true_unregister(start);
}

/* The driver would take other memory at these addresses for registered. */
static void should_keep_addresses_that_stay_registered(void) {
    unsigned flags;
    true_unregister = real.cuMemHostUnregister;
    real.cuMemHostUnregister = refuse_to_unregister;
    for (unsigned times = 1; times <= 2; times++) {
        CHECK(sl_reservoir_reserve(2 * MIB, context, &reason));
        sl_reservoir_begin(2 * MIB, context);
        CHECK(sl_reservoir_end() && registered(2 * MIB) == 1);
        char *block = sl_reservoir_at(0);
        refusals = times;
        sl_reservoir_keep(0, context);
        bool stays = real.cuMemHostGetFlags(&flags, block) == 0, mapped = msync(block, 4096, MS_ASYNC) == 0;
        CHECK(sl_reservoir_bytes() == 0 && refusals == 0 && stays == (times == 2) && mapped == stays);
        CHECK(sl_telling_record()->reservoir_bytes == (stays ? 2 * MIB : 0));
        if (stays)
            CHECK(true_unregister(block) == 0 && munmap(block, 2 * MIB) == 0);
    }
    real.cuMemHostUnregister = true_unregister;
    sl_telling_record()->reservoir_bytes = 0;
}

static void should_count_for_the_tenant(void) {
    sl_region_slot_t *other = &sl_tenant.region.slots[sl_tenant.slot + 1];
    sl_region_pause_t *pause = &sl_tenant.region.pauses[sl_tenant.slot + 1];
    limits()->reservoir_bytes = 100 * MIB;
    pause->reservoir_bytes = 40 * MIB;
    CHECK(sl_reservoir_reserve(64 * MIB, context, &reason)); /* that slot is free */
    sl_reservoir_keep(0, context);
    uint64_t self = sl_tenant.region.slots[sl_tenant.slot].owner;
    other->owner = self & ~(1ull << 62); /* a process that lives */
    other->image = sl_tenant.region.slots[sl_tenant.slot].image;
    CHECK(!sl_reservoir_reserve(64 * MIB, context, &reason));
    CHECK(strstr(reason.text, "needs 64.0 MiB more of host memory, the limit leaves 60.0 MiB"), "%s", reason.text);
    CHECK(sl_reservoir_bytes() == 0 && sl_telling_record()->reservoir_bytes == 0);
    CHECK(sl_reservoir_reserve(60 * MIB, context, &reason), "%s", reason.text);
    sl_reservoir_keep(0, context);
    other->owner = 0;
    pause->reservoir_bytes = 0;
    limits()->reservoir_bytes = 0;
}

static void write_file(const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "mkdir -p $(dirname %s%s)", test_folder, name);
    CHECK(system(path) == 0);
    snprintf(path, sizeof path, "%s%s", test_folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void should_leave_memory_to_the_host(void) {
    sl_host_memory_root = test_folder;
    CHECK(sl_host_memory_free() == UINT64_MAX);
    write_file("/proc/meminfo", "MemTotal: 999999 kB\nMemFree: 1 kB\nMemAvailable: 204800 kB\n");
    CHECK(sl_host_memory_free() == 190 * MIB);
    CHECK(!sl_reservoir_reserve(192 * MIB, context, &reason) && strstr(reason.text, "needs 192.0 MiB of host memory, 190.0 MiB are free"), "%s",
          reason.text);
    CHECK(sl_reservoir_bytes() == 0 && sl_telling_record()->reservoir_bytes == 0);
    write_file("/proc/self/cgroup", "0::/jobs/one\n");
    write_file("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
    write_file("/sys/fs/cgroup/jobs/one/memory.current", "1\n");
    CHECK(sl_host_memory_free() == 190 * MIB);
    write_file("/sys/fs/cgroup/jobs/memory.max", "209715200\n");
    write_file("/sys/fs/cgroup/jobs/memory.current", "125829120\n");
    CHECK(sl_host_memory_free() == 76 * MIB, "%llu", (unsigned long long)sl_host_memory_free());
    write_file("/sys/fs/cgroup/jobs/memory.stat", "anon 5\nfile 1\ninactive_file 10485760\nactive_file 10485760\n");
    CHECK(sl_host_memory_free() == 95 * MIB);
    CHECK(sl_reservoir_reserve(80 * MIB, context, &reason));
    write_file("/proc/meminfo", "MemAvailable: 10 kB\n"); /* the host is full before it is touched */
    sl_reservoir_begin(80 * MIB, context);
    CHECK(!sl_reservoir_at(0) && !sl_reservoir_end());
    sl_reservoir_keep(0, context);
    sl_host_memory_root = "";
}

static void should_use_memory_of_an_agent(void) {
    int file = memfd_create("reservoir", 0);
    CHECK(file >= 0 && ftruncate(file, 96 * MIB) == 0 && sl_reservoir_use(file, 96 * MIB));
    CHECK(!sl_reservoir_reserve(98 * MIB, context, &reason) && sl_reservoir_reserve(96 * MIB, context, &reason));
    sl_reservoir_begin(96 * MIB, context);
    fill(96 * MIB, 7);
    CHECK(sl_reservoir_end());
    char byte = 0;
    CHECK(pread(file, &byte, 1, 95 * MIB) == 1 && byte == 7 && !sl_reservoir_use(file, 96 * MIB));
    sl_reservoir_keep(0, context);
    CHECK(pread(file, &byte, 1, 95 * MIB) == 1 && byte == 0);
}

static void look_at_nothing(void) {
    CHECK(sl_reservoir_bytes() == 0);
}

static void should_forget_after_a_fork(void) {
    CHECK(sl_reservoir_reserve(2 * MIB, context, &reason));
    CHECK(in_child(look_at_nothing) == 0);
    sl_reservoir_keep(0, context);
}

int main(void) {
    use_sim("reservoir", "512m");
    make_faulty();
    CHECK(real.cuCtxGetCurrent(&context) == 0);
    RUN(should_make_and_let_go);
    RUN(should_do_without_registration);
    RUN(should_keep_addresses_that_stay_registered);
    RUN(should_count_for_the_tenant);
    RUN(should_leave_memory_to_the_host);
    RUN(should_use_memory_of_an_agent);
    RUN(should_forget_after_a_fork);
    return 0;
}
