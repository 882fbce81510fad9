/* storm_sample: what the driver holds for the tenant is at most the limit + 2 % in every sample. Three things are allowed for:
 * - After the limit was lowered, a tenant above it may keep what it has, but not grow. A call that began before may still be
 *   admitted by the former limit, and to make a context takes a real driver seconds. So until each thread has left the call
 *   in which the change found it, the former bound holds: the time of grace. Afterwards the bound falls with the driver's figure and the ledger's.
 * - Memory that storm itself holds past Sluice, to judge: no sample counts until the driver's figure shows that gone. What it shows
 *   for longer than the judge waits may stay, but not grow.
 * - NVML is not exact to the millisecond, and reads one process after the other. So with NVML the bound falls only as far as a few samples
 *   in a row agree, and a sum of several processes that is over is read again. */
#define _GNU_SOURCE
#include "storm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PERCENT_OVER 2u
#define AFTER_GRACE_NANOS 50000000u /* NVML may be late */
#define AGREEING 3
#define KEPT 32
#define TOLD_BEFORE 6
#define TOLD_MOST 40
#define EPISODES_MOST 6
#define EPISODE_NANOS 50000000u
#define TOLD_EVENTS_NANOS 25000000u

/* One sample of one GPU. */
typedef struct {
    uint64_t nanos, took_nanos, driver, limit, allowed;
    ledger_t ledger;
    bool in_grace, counts, has_ledger;
    int gpu, command;
} point_t;

sampling_t sampling;

static uint64_t began, limit, bound[GPUS_MOST], recent[GPUS_MOST][AGREEING];
static bool is_in_grace;
static uint64_t settled_at; /* 0: a call from before the change is still under way */
static struct { uint32_t life; uint64_t turns[THREADS_MOST + 1]; } at_change[PROCESSES_MOST];
static uint64_t past_seen; /* sum of all processes */
static point_t kept[KEPT], worst;
static uint64_t kept_count, told, last_over;
static int episodes;

void sample_open(uint64_t first_limit) {
    began = storm_now();
    limit = first_limit;
    for (int gpu = 0; gpu < GPUS_MOST; gpu++)
        bound[gpu] = limit;
}

void sample_change_limit(uint64_t next) {
    for (int gpu = 0; gpu < options.gpus; gpu++)
        bound[gpu] = bound[gpu] > limit ? bound[gpu] : limit;
    limit = next;
    ledger_set_limit(options.gpus, next);
    for (int i = 0; i < options.processes; i++) {
        at_change[i].life = shared->child[i].life;
        for (int k = 0; k <= THREADS_MOST; k++)
            at_change[i].turns[k] = shared->child[i].turns[k];
    }
    is_in_grace = true;
    settled_at = 0;
}

static bool is_any_under_way(void) {
    for (int i = 0; i < options.processes; i++)
        for (int k = 0; k <= THREADS_MOST && shared->child[i].life == at_change[i].life; k++)
            if (at_change[i].turns[k] % 2 && shared->child[i].turns[k] == at_change[i].turns[k])
                return true;
    return false;
}

bool sample_is_settled(void) {
    uint64_t now = storm_now();
    if (is_in_grace && !settled_at && !is_any_under_way())
        settled_at = now;
    if (is_in_grace && settled_at && now - settled_at > (truth_is_exact() ? 0 : AFTER_GRACE_NANOS))
        is_in_grace = false;
    return !is_in_grace;
}

/* False: a process holds memory past Sluice. */
static bool nothing_is_past(uint64_t *sum) {
    bool nothing = true;
    *sum = 0;
    for (int i = 0; i < options.processes; i++) {
        uint64_t past = shared->child[i].past;
        nothing = nothing && past % 2 == 0;
        *sum += past;
    }
    return nothing;
}

/* What the driver did not give back in time after a judgement is not the tenant's doing. */
static void allow_residue(int gpu, uint64_t bytes) {
    for (int i = 0; i < options.processes; i++)
        if (shared->child[i].residue[gpu] && bound[gpu] < bytes)
            bound[gpu] = bytes;
}

static double mib(uint64_t bytes) {
    return (double)bytes / (double)MIB;
}

static void tell_point(const char *what, const point_t *point) {
    static const char *const commands[] = {"runs", "parks", "probes", "drains", "ends", "leaves"};
    char ledger[100] = "not read";
    if (point->has_ledger)
        snprintf(ledger, sizeof ledger, "%.1f (in flight %.1f, overhead %.1f)", mib(point->ledger.charged), mib(point->ledger.in_flight), mib(point->ledger.overhead));
    fprintf(stderr, "storm seed=%llu: %s at %.4f s (asked for %.1f ms), GPU %d: MiB: driver %.1f, ledger %s, limit %.1f, allowed %.1f; storm %s%s%s\n",
            (unsigned long long)options.seed, what, (double)(point->nanos - began) / 1e9, (double)point->took_nanos / 1e6, point->gpu, mib(point->driver), ledger,
            mib(point->limit), mib(point->allowed), commands[point->command % 6], point->in_grace ? ", limit just changed" : "",
            point->counts ? "" : ", not counted: memory is held past Sluice");
}

/* The first of an episode tells what led to it: the samples before, and what each thread did. */
static void tell_over(const point_t *point) {
    bool is_new = point->nanos - last_over > EPISODE_NANOS;
    last_over = point->nanos;
    episodes += is_new;
    if (told++ >= TOLD_MOST * EPISODES_MOST || episodes > EPISODES_MOST)
        return;
    uint64_t since = point->nanos - point->took_nanos - TOLD_EVENTS_NANOS;
    for (uint64_t back = TOLD_BEFORE; is_new && back > 0; back--)
        if (kept_count > back && kept[(kept_count - 1 - back) % KEPT].gpu == point->gpu)
            tell_point("before", &kept[(kept_count - 1 - back) % KEPT]);
    tell_point("over", point);
    if (is_new) {
        record_tell(began, since);
        fprintf(stderr, "  threads do");
        for (int i = 0; i < options.processes; i++)
            record_tell_doing(i);
        fprintf(stderr, "\n");
    }
}

static void follow(int gpu, uint64_t bytes) {
    uint64_t most = bytes;
    for (int i = AGREEING - 1; i > 0; i--)
        recent[gpu][i] = recent[gpu][i - 1];
    recent[gpu][0] = bytes;
    for (int i = 0; i < AGREEING && !truth_is_exact(); i++)
        most = recent[gpu][i] > most ? recent[gpu][i] : most;
    if (!is_in_grace && most < bound[gpu])
        bound[gpu] = most;
}

static uint64_t allowed_on(int gpu) {
    return bound[gpu] > limit ? bound[gpu] : limit;
}

/* Reads again where the sum is over; false: that failed, or storm held memory past Sluice meanwhile. */
static bool read_figures(const pid_t *live, int count, uint64_t *bytes, uint64_t *past) {
    uint64_t past_after, again[GPUS_MOST];
    bool over = false, right = nothing_is_past(past) && truth_sum(live, count, options.gpus, bytes);
    for (int gpu = 0; gpu < options.gpus && right && options.quota; gpu++)
        over = over || bytes[gpu] > allowed_on(gpu);
    if (over && count > 1 && !truth_is_exact()) {
        memcpy(again, bytes, sizeof again);
        right = truth_again(live, count, options.gpus, again);
        for (int gpu = 0; gpu < options.gpus && right; gpu++) {
            sampling.torn += bytes[gpu] > allowed_on(gpu) && again[gpu] <= allowed_on(gpu);
            bytes[gpu] = again[gpu] < bytes[gpu] ? again[gpu] : bytes[gpu];
        }
    }
    return right && nothing_is_past(&past_after) && *past == past_after;
}

static void judge(const point_t *point) {
    uint64_t allowed = point->allowed, percents = allowed / 100 * PERCENT_OVER;
    double percent = (double)point->driver * 100 / (double)allowed;
    double over = ((double)point->driver - (double)allowed) / (double)MIB;
    if (percent > sampling.worst_percent) {
        sampling.worst_percent = percent;
        worst = *point;
    }
    if (over > sampling.worst_over_mib)
        sampling.worst_over_mib = over;
    if (point->driver > allowed + (percents > options.over ? percents : options.over)) {
        sampling.over++;
        tell_over(point);
    }
}

/* What a tenant above a lowered limit may keep: also what it was charged under the former one and the driver takes with a later call, such
 * as stacks and graphs. */
static uint64_t to_keep(const pid_t *live, int count, int gpu, uint64_t bytes) {
    if (bound[gpu] <= limit)
        return bytes;
    ledger_t ledger = ledger_read(live, count, gpu);
    uint64_t charged = ledger.charged > ledger.in_flight ? ledger.charged - ledger.in_flight : 0;
    return charged > bytes ? charged : bytes;
}

void sample_now(const pid_t *live, int count) {
    uint64_t bytes[GPUS_MOST] = {0}, past, asked = storm_now();
    sample_is_settled();
    bool counts = read_figures(live, count, bytes, &past);
    uint64_t now = storm_now();
    sampling.missed += !counts;
    sampling.samples += counts;
    sampling.in_grace += counts && is_in_grace;
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        if (counts && bytes[gpu] > sampling.worst[gpu])
            sampling.worst[gpu] = bytes[gpu];
        if (!options.quota)
            continue;
        if (counts && past != past_seen)
            allow_residue(gpu, bytes[gpu]);
        point_t point = {.nanos = now, .took_nanos = now - asked, .driver = bytes[gpu], .limit = limit, .allowed = allowed_on(gpu),
                         .in_grace = is_in_grace, .counts = counts, .gpu = gpu, .command = (int)command_of(shared->order)};
        if (!truth_is_exact() || (counts && point.driver > point.allowed)) /* to read it costs more than the simulated driver's figure */
            point.ledger = ledger_read(live, count, gpu), point.has_ledger = true;
        kept[kept_count++ % KEPT] = point;
        if (counts) {
            judge(&point);
            follow(gpu, to_keep(live, count, gpu, bytes[gpu]));
        }
    }
    if (counts)
        past_seen = past;
}

void sample_tell(void) {
    if (options.quota && sampling.samples)
        tell_point("worst sample", &worst);
}
