/* storm_judge: whether a refusal was right. The rule: a request is refused only if, rounded as the driver rounds it, it exceeds the room
 * that is left after pools and graphs were trimmed. Without a quota it is refused only if the driver refuses it. The driver itself is the
 * judge: storm makes the same request past Sluice, and compares what the driver then holds for this process with the quota. That needs a
 * process with a single thread. */
#define _GNU_SOURCE
#include "storm.h"

#include <stdio.h>
#include <unistd.h>

#define GONE_NANOS 500000000u
#define GONE_MICROS 500

static child_t *judge_self;
static bool has_region;

void judge_open(child_t *self) {
    judge_self = self;
    has_region = ledger_open();
}

static void undo(const sl_real_t *cu, worker_t *worker, held_t *held) {
    ways_give(cu, worker, held);
    ways_settle(cu, worker, 1, true);
}

void judge_begin_past(child_t *self) {
    self->past++;
}

void judge_end_past(child_t *self) {
    self->past++;
}

/* NVML may show memory for some milliseconds longer than the driver has it. */
static void wait_until_gone(const worker_t *worker, const request_t *request, uint64_t before) {
    uint64_t began = storm_now(), waited = 0, now;
    while ((now = truth_of(getpid(), request->gpu)) > before && waited < GONE_NANOS) {
        usleep(GONE_MICROS);
        waited = storm_now() - began;
    }
    uint64_t residue = now > before ? now - before : 0;
    judge_self->residue[request->gpu] = residue;
    if (residue > judge_self->residue_most)
        judge_self->residue_most = residue;
    if (waited > judge_self->residue_nanos_most)
        judge_self->residue_nanos_most = waited;
    record(judge_self, worker->number, SAW_IT_GONE, request, 0);
}

/* What the driver holds with the request granted; 0: the driver refuses it, too. No sample counts meanwhile. */
static uint64_t hold_past_sluice(worker_t *worker, const request_t *request) {
    held_t held;
    uint64_t bytes = 0, before = truth_of(getpid(), request->gpu);
    judge_begin_past(judge_self);
    record(judge_self, worker->number, HOLDS_PAST_SLUICE, request, 0);
    if (ways_take(&direct, worker, request, &held) == 0) {
        direct.cuCtxSynchronize();
        bytes = truth_of(getpid(), request->gpu);
        undo(&direct, worker, &held);
    }
    record(judge_self, worker->number, HELD_PAST_SLUICE, request, 0);
    wait_until_gone(worker, request, before);
    judge_end_past(judge_self);
    return bytes;
}

/* Where some stream still had work to do, time alone gives memory back: a graph ends, a stream comes to a free. Nobody can ask for
 * the room at the moment of the refusal, because that is over. So only what is refused while all streams are idle can be
 * judged wrong by a second attempt. The same goes for a graph that the request launches twice: the second launch finds the first
 * under way. */
static bool time_may_help(const worker_t *worker, const request_t *request) {
    return !worker->was_still || (request->way == WAY_GRAPH && things_launches(request) > 1);
}

/* Late: work had to end before there was room, for which no call need wait. */
judgement_t judge_refusal(worker_t *worker, const request_t *request, char *why, size_t room) {
    held_t held;
    if (options.unlimited) {
        snprintf(why, room, "the driver grants it, and there is no quota");
        return hold_past_sluice(worker, request) ? WRONG : RIGHT;
    }
    for (int waits = 0; waits < 2; waits++) {
        ways_settle(&given, worker, 1, waits);
        if (ways_take(&given, worker, request, &held) != 0)
            continue;
        bool near = options.slack && truth_of(getpid(), request->gpu) + options.slack > options.quota;
        undo(&given, worker, &held);
        if (near)
            return RIGHT;
        snprintf(why, room, "granted once pools and graphs were trimmed by hand");
        return waits || time_may_help(worker, request) ? LATE : WRONG;
    }
    pid_t self = getpid();
    uint64_t before = truth_of(self, request->gpu), after = hold_past_sluice(worker, request);
    if (!after || (options.quota && after + options.slack > options.quota))
        return RIGHT;
    snprintf(why, room, "the driver would hold %llu instead of %llu bytes of %llu, the ledger says %llu", (unsigned long long)after,
             (unsigned long long)before, (unsigned long long)options.quota,
             (unsigned long long)(has_region ? ledger_of(&self, 1, request->gpu) : 0));
    return WRONG;
}

/* The room that cuMemGetInfo names can be used to the last block, and no block more. */
bool judge_probe(int gpu, char *why, size_t room) {
    size_t free_bytes = 0, total = 0;
    CUdeviceptr address, more;
    ways_use(gpu);
    if (given.cuMemGetInfo_v2(&free_bytes, &total) != 0)
        return snprintf(why, room, "cuMemGetInfo failed"), false;
    uint64_t whole = free_bytes / BLOCK * BLOCK;
    if (!whole || !options.quota)
        return true;
    CUresult fits = given.cuMemAlloc_v2(&address, whole);
    CUresult passes = fits ? OUT_OF_MEMORY : given.cuMemAlloc_v2(&more, BLOCK + 1);
    if (!passes)
        given.cuMemFree_v2(more);
    if (!fits)
        given.cuMemFree_v2(address);
    if (fits)
        snprintf(why, room, "GPU %d: %llu bytes are free, and as many were refused (%d)", gpu, (unsigned long long)whole, fits);
    else if (!passes)
        snprintf(why, room, "GPU %d: granted %llu bytes, and 4 MiB more", gpu, (unsigned long long)whole);
    return !fits && passes == OUT_OF_MEMORY;
}
