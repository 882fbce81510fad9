/* Copies through staging memory: each byte arrives, by pieces of any size and through several contexts at a time, and a failure of any step leaves the
 * contents where they were. */
#define _GNU_SOURCE
#include "on_sim.h"

#include <pthread.h>
#include <sys/mman.h>

#include "os/host.h"
#include "pause/staging.h"

/* Replaces the attendant's function. */
void __wrap_sl_context_making(void);
void __wrap_sl_context_making(void) {}

enum { TRACKS = 3, PIECES = 32 /* more than slots */ };
#define BYTES (PIECES * SL_STAGING_PIECE)

static const sl_staging_rule_t any = {.least_bytes = 1, .least_processors = 1};
static sl_track_t tracks[TRACKS];
static CUcontext contexts[TRACKS];
static struct {
    unsigned char *device; /* the simulated device's memory lies at its address in this process */
    unsigned char *host, *expected;
    uint64_t bytes, done;
} sides[TRACKS];
static uint64_t random_state = 99;
static void *ring; /* the last memory that was registered, */
static uint64_t ring_bytes, registered; /* its bytes, and those of all */

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 33;
}

static CUresult count_register(void *start, size_t bytes, unsigned flags) {
    ring = start;
    ring_bytes = bytes;
    registered += bytes;
    return faulty_cuMemHostRegister_v2(start, bytes, flags);
}

/* Two contexts of one GPU, and one of another. The bytes are odd. */
static void make_sides(void) {
    CUcontext popped;
    CHECK(real.cuCtxGetCurrent(&contexts[0]) == 0);
    CHECK(real.cuDevicePrimaryCtxRetain(&contexts[1], 1) == 0);
    CHECK(real.cuCtxCreate_v2(&contexts[2], 0, 0) == 0 && real.cuCtxPopCurrent_v2(&popped) == 0);
    for (unsigned i = 0; i < TRACKS; i++) {
        CUdeviceptr address;
        sides[i].bytes = BYTES / TRACKS - i * 12345 - 1;
        CHECK(true_cuCtxPushCurrent_v2(contexts[i]) == 0 && real.cuMemAlloc_v2(&address, sides[i].bytes) == 0 && real.cuCtxPopCurrent_v2(&popped) == 0);
        sides[i].device = (unsigned char *)address;
        sides[i].host = malloc(sides[i].bytes);
        sides[i].expected = malloc(sides[i].bytes);
        CHECK(sides[i].host && sides[i].expected);
    }
}

static void fill_sides(bool out) {
    for (unsigned i = 0; i < TRACKS; i++) {
        for (uint64_t at = 0; at + 8 <= sides[i].bytes; at += 8)
            *(uint64_t *)(sides[i].expected + at) = next_random() * 0x9e3779b97f4a7c15ull;
        memcpy(out ? sides[i].device : sides[i].host, sides[i].expected, sides[i].bytes);
        memset(out ? sides[i].host : sides[i].device, 0x55, sides[i].bytes);
        sides[i].done = 0;
    }
}

static bool are_equal(bool device) {
    for (unsigned i = 0; i < TRACKS; i++)
        if (memcmp(device ? sides[i].device : sides[i].host, sides[i].expected, sides[i].bytes) != 0)
            return false;
    return true;
}

static uint64_t next_bytes(uint64_t left, bool whole) {
    uint64_t bytes = whole ? SL_STAGING_PIECE : 1 + next_random() % SL_STAGING_PIECE;
    return bytes < left ? bytes : left;
}

/* By turns, as the mover does. */
static CUresult copy_sides(bool out, bool whole, bool *quiet) {
    CUresult status = CUDA_SUCCESS;
    sl_staging_begin(out);
    for (bool busy = true; busy && status == CUDA_SUCCESS;) {
        busy = false;
        for (unsigned i = 0; i < TRACKS && status == CUDA_SUCCESS; i++) {
            uint64_t bytes = next_bytes(sides[i].bytes - sides[i].done, whole), at = sides[i].done;
            if (!bytes)
                continue;
            status = sl_staging_copy(&tracks[i], (CUdeviceptr)(sides[i].device + at), sides[i].host + at, bytes);
            sides[i].done += bytes;
            busy = true;
        }
    }
    status = sl_staging_end(status);
    for (unsigned i = 0; i < TRACKS; i++) {
        CUresult one = sl_track_drain(&tracks[i], quiet);
        status = status ? status : one;
    }
    return status;
}

static bool open_tracks(void) {
    bool opened = true;
    for (unsigned i = 0; i < TRACKS; i++)
        opened &= sl_track_open(&tracks[i], contexts[i], (unsigned)sl_gpu_find(i == 1));
    return opened;
}

static void close_tracks(void) {
    for (unsigned i = 0; i < TRACKS; i++)
        sl_track_close(&tracks[i]);
}

static bool make_ring(uint64_t bytes, uint64_t taken) {
    return sl_staging_open(bytes, taken) && sl_staging_ready(contexts[0]);
}

static bool is_mapped(void) {
    return msync(ring, 4096, MS_ASYNC) == 0;
}

static bool is_registered(void) {
    unsigned flags;
    return real.cuMemHostGetFlags(&flags, ring) == 0;
}

static void should_copy_every_byte(void) {
    for (int round = 0; round < 8; round++) {
        bool out = round % 2 == 0, quiet = true;
        registered = 0;
        fill_sides(out);
        CHECK(open_tracks() && make_ring(BYTES, 0) && sl_staging_is_open() && is_registered());
        CHECK(copy_sides(out, round < 4, &quiet) == CUDA_SUCCESS && quiet);
        CHECK(are_equal(true) && are_equal(false));
        sl_staging_close(contexts[0], true);
        CHECK(!sl_staging_is_open() && !is_mapped() && registered == ring_bytes && registered <= BYTES);
        close_tracks();
    }
}

static void should_serve_both_ways(void) {
    bool quiet = true;
    CHECK(open_tracks() && make_ring(BYTES, 0));
    fill_sides(true);
    CHECK(copy_sides(true, true, &quiet) == CUDA_SUCCESS && are_equal(false));
    fill_sides(false);
    CHECK(copy_sides(false, false, &quiet) == CUDA_SUCCESS && are_equal(true) && quiet);
    sl_staging_close(contexts[0], true);
    close_tracks();
}

static unsigned seen[3];

/* How many calls of the driver it takes. */
static unsigned copy_with_faults(bool out, unsigned at, bool many) {
    bool quiet = true;
    fill_sides(out);
    CHECK(open_tracks());
    arm(at, many ? 1u << 30 : 1);
    bool opened = make_ring(BYTES, 0);
    CUresult status = opened ? copy_sides(out, true, &quiet) : CUDA_SUCCESS;
    unsigned calls = disarm();
    seen[!opened ? 0 : status ? 1 : 2]++;
    CHECK(are_equal(out), "what was the source is changed");
    CHECK(!opened || status || are_equal(!out), "call %u failed unseen", at);
    for (unsigned i = 0; i < TRACKS; i++)
        CHECK(sl_track_is_idle(&tracks[i]));
    sl_staging_close(contexts[0], true);
    CHECK(!is_mapped() && !is_registered());
    close_tracks();
    return calls;
}

/* Each call of the driver fails: first alone, then together with all that follow. */
static void should_survive_faults(void) {
    for (unsigned kind = 0; kind < 4; kind++) {
        bool out = kind % 2, many = kind / 2;
        unsigned calls = copy_with_faults(out, UINT32_MAX, false);
        for (unsigned at = 1; at <= calls; at += at < 20 ? 1 : 17)
            copy_with_faults(out, at, many);
    }
    printf("  %u without staging memory, %u failed, %u done\n", seen[0], seen[1], seen[2]);
    CHECK(seen[0] && seen[1]);
}

static void should_copy_without_streams(void) {
    bool quiet = true;
    arm(1, 1u << 30);
    real.cuCtxPushCurrent_v2 = true_cuCtxPushCurrent_v2;
    CHECK(open_tracks() && !tracks[0].streams[0]);
    disarm();
    real.cuCtxPushCurrent_v2 = faulty_cuCtxPushCurrent_v2;
    for (unsigned way = 0; way < 2; way++) {
        fill_sides(way);
        CHECK(make_ring(BYTES, 0) && copy_sides(way, true, &quiet) == CUDA_SUCCESS && quiet);
        CHECK(are_equal(true) && are_equal(false));
        sl_staging_close(contexts[0], true);
    }
    close_tracks();
}

static void should_close_before_it_is_ready(void) {
    ring = NULL;
    CHECK(sl_staging_open(BYTES, 0) && sl_staging_is_open());
    sl_staging_close(contexts[0], false);
    CHECK(!sl_staging_is_open() && !ring, "it was registered");
    sl_staging_close(contexts[0], true);
}

/* Something may still write to it. */
static void should_keep_what_may_be_in_use(void) {
    CHECK(make_ring(BYTES, 0));
    sl_staging_close(contexts[0], false);
    CHECK(!sl_staging_is_open() && is_mapped() && is_registered());
    CHECK(real.cuMemHostUnregister(ring) == 0 && munmap(ring, ring_bytes) == 0);
}

static CUresult refuse_to_unregister(void *start) {
    (void)start;
    return FAULT;
}

static void should_keep_addresses_that_stay_registered(void) {
    CUresult (*unregister)(void *) = real.cuMemHostUnregister;
    CHECK(make_ring(BYTES, 0));
    real.cuMemHostUnregister = refuse_to_unregister;
    sl_staging_close(contexts[0], true);
    real.cuMemHostUnregister = unregister;
    CHECK(!sl_staging_is_open() && is_mapped() && is_registered());
    CHECK(real.cuMemHostUnregister(ring) == 0 && munmap(ring, ring_bytes) == 0);
}

static void should_follow_the_rule(void) {
    sl_staging_rule.least_bytes = BYTES + 1;
    CHECK(!make_ring(BYTES, 0));
    sl_staging_rule = (sl_staging_rule_t){.least_bytes = 1, .least_processors = 4096};
    CHECK(!make_ring(BYTES, 0));
    sl_staging_rule = any;
    CHECK(!(sl_staging_open(BYTES, 0) && sl_staging_ready(NULL)));
    CHECK(!is_mapped());
}

static void should_leave_memory_to_the_host(void) {
    char command[300];
    sl_host_root = test_folder;
    snprintf(command, sizeof command, "mkdir -p %s/proc && echo 'MemAvailable: 409600 kB' > %s/proc/meminfo", test_folder, test_folder);
    CHECK(system(command) == 0);
    CHECK(make_ring(BYTES, 100 * MIB));
    sl_staging_close(contexts[0], true);
    CHECK(!make_ring(BYTES, 370 * MIB) && !make_ring(BYTES, UINT64_MAX));
    sl_host_root = "";
}

/* No stack of that size can be had. */
static void allow_threads(bool allowed) {
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, allowed ? 1u << 20 : 1ul << 48) == 0);
    CHECK(pthread_setattr_default_np(&attributes) == 0);
}

static void should_do_without_threads(void) {
    bool quiet = true;
    allow_threads(false);
    CHECK(!make_ring(BYTES, 0), "one thread alone copies more slowly than memory is registered");
    for (unsigned way = 0; way < 2; way++) {
        allow_threads(true);
        fill_sides(way);
        CHECK(open_tracks() && make_ring(BYTES, 0));
        allow_threads(false);
        CHECK(copy_sides(way, true, &quiet) == CUDA_SUCCESS && are_equal(true) && are_equal(false));
        sl_staging_close(contexts[0], true);
        close_tracks();
    }
    allow_threads(true);
}

static void look_at_nothing(void) {
    CHECK(!sl_staging_is_open() && !is_mapped());
}

static void should_forget_after_a_fork(void) {
    CHECK(make_ring(BYTES, 0));
    CHECK(in_child(look_at_nothing) == 0);
    sl_staging_close(contexts[0], true);
}

int main(void) {
    use_sim("staging", "768m");
    make_faulty();
    real.cuMemHostRegister_v2 = count_register;
    sl_staging_rule = any;
    make_sides();
    RUN(should_copy_every_byte);
    RUN(should_serve_both_ways);
    RUN(should_survive_faults);
    RUN(should_copy_without_streams);
    RUN(should_close_before_it_is_ready);
    RUN(should_keep_what_may_be_in_use);
    RUN(should_keep_addresses_that_stay_registered);
    RUN(should_follow_the_rule);
    RUN(should_leave_memory_to_the_host);
    RUN(should_do_without_threads);
    RUN(should_forget_after_a_fork);
    return 0;
}
