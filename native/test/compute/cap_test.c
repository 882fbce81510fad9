/* The cap of a tenant with several processes, in simulated time. The processes share one GPU and the tenant's word in the region. */
#include "check.h"

#include "compute/cap.h"

#define MILLI 1000000u
#define PROCESSES 3u

static sl_region_share_t share;
static sl_lane_gpu_t gpus[PROCESSES]; /* one for each process */
static uint64_t used_millis[PROCESSES];
static uint64_t now = 1000000000000u;

static void begin(unsigned processes, uint32_t permille) {
    share.due_nanos = 0;
    for (unsigned i = 0; i < PROCESSES; i++) {
        gpus[i] = (sl_lane_gpu_t){.share = &share, .permille = permille, .sharers = processes};
        used_millis[i] = 0;
    }
}

/* The same check as the gate's before a call. */
static bool may_submit(sl_lane_gpu_t *gpu) {
    gpu->shut = sl_cap_opens(gpu, now) > now;
    return !gpu->shut;
}

/* Processes that always want the GPU, with kernels of a millisecond. The GPU runs one kernel at a time. */
static void work(unsigned processes, unsigned millis) {
    for (uint64_t end = now + (uint64_t)millis * MILLI; now < end; now += MILLI) {
        unsigned first = (unsigned)(now / MILLI % processes), process = first;
        while (!may_submit(&gpus[process]) && (process = (process + 1) % processes) != first) {
        }
        if (!gpus[process].shut) {
            sl_cap_charge(&gpus[process], MILLI, now);
            used_millis[process]++;
        }
    }
}

static uint64_t used_by_all(void) {
    uint64_t all = 0;
    for (unsigned i = 0; i < PROCESSES; i++)
        all += used_millis[i];
    return all;
}

/* An idle tenant keeps 15 ms of GPU time at most, and a kernel that begins in time may end late. */
static void should_hold_all_processes_to_one_cap(void) {
    for (unsigned processes = 1; processes <= PROCESSES; processes++)
        for (unsigned permille = 50; permille < 1000; permille += 100) {
            begin(processes, permille);
            work(processes, 10000);
            uint64_t all = used_by_all(), cap = 10 * permille;
            CHECK(all <= cap + 15 + processes && all + 15 >= cap, "%u processes used %lu ms of %lu", processes, (unsigned long)all, (unsigned long)cap);
        }
}

static void should_give_each_process_an_equal_part_of_the_cap(void) {
    begin(3, 250);
    work(3, 10000);
    for (unsigned i = 0; i < 3; i++)
        CHECK(used_millis[i] >= 2500 / 3 - 10 && used_millis[i] <= 2500 / 3 + 10, "process %u used %lu ms", i, (unsigned long)used_millis[i]);
}

/* The process still counts a sibling that has just stopped. */
static void should_leave_a_process_what_its_siblings_do_not_use(void) {
    begin(2, 250);
    work(1, 10000);
    CHECK(used_millis[0] >= 2500 - 150 && used_millis[0] <= 2500 + 17, "it used %lu ms of 2500", (unsigned long)used_millis[0]);
}

/* Any process of the tenant can write the word. A large value must not free the others from their own part of the cap. */
static void should_hold_each_process_to_its_part_when_the_common_debt_is_damaged(void) {
    begin(2, 250);
    for (unsigned i = 0; i < 1000; i++) {
        share.due_nanos = i % 2 ? UINT64_MAX : now;
        work(2, 10);
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK(used_millis[i] <= 1250 + 17 && used_millis[i] >= 1250 - 100, "process %u used %lu ms of 1250", i, (unsigned long)used_millis[i]);
}

int main(void) {
    RUN(should_hold_all_processes_to_one_cap);
    RUN(should_give_each_process_an_equal_part_of_the_cap);
    RUN(should_leave_a_process_what_its_siblings_do_not_use);
    RUN(should_hold_each_process_to_its_part_when_the_common_debt_is_damaged);
    return 0;
}
