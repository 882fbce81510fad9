/* storm_child: one process of the storm: its threads take and give memory until the parent orders something else. */
#define _GNU_SOURCE
#include "storm.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOTES_MOST 6
#define EXPLAINED_MOST 60
#define STATUS_MOST 999 /* of CUDA's errors */
#define INVALID_VALUE 1
#define NOT_SUPPORTED 801
#define UNFORESEEN_BYTES (2 * BLOCK)
#define IDLE_MICROS 300
#define ABSURD_TIMES 32 /* now and then, so that others meet one under way */
#define LOOK_MICROS 120000u /* the library looks at the driver's figure every 100 ms */

static worker_t workers[THREADS_MOST];
static child_t *self;
static int own_number;
static atomic_int notes;

uint64_t storm_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void note(const char *what, const request_t *request, const char *why) {
    if (notes++ < (options.explain ? EXPLAINED_MOST : NOTES_MOST))
        fprintf(stderr, "storm seed=%llu process %d: %s: %s of %llu bytes on GPU %d%s: %s\n", (unsigned long long)options.seed, own_number, what,
                way_names[request->way], (unsigned long long)request->bytes, request->gpu, request->again ? " (relaunch)" : "", why);
}

static void note_time(way_t way, uint64_t nanos) {
    if (nanos > self->longest_nanos) {
        self->longest_nanos = nanos;
        self->longest_way = way;
    }
}

/* The driver itself refuses it as invalid: storm asked wrongly. Sticky errors do not count, because Sluice may have caused them. */
static bool is_alike(worker_t *worker, const request_t *request, CUresult status) {
    held_t held;
    if (status != INVALID_VALUE && status != NOT_SUPPORTED)
        return false;
    judge_begin_past(self);
    CUresult direct_status = ways_take(&direct, worker, request, &held);
    if (!direct_status)
        ways_give(&direct, worker, &held);
    judge_end_past(self);
    return direct_status == status;
}

static void expect(const request_t *request, CUresult status, const char *what) {
    char why[64];
    if (status == 0 || (options.survive && status > 0 && status <= STATUS_MOST))
        return;
    self->odd++;
    snprintf(why, sizeof why, "status %d", status);
    note(what, request, why);
}

static bool keeps(const held_t *held) {
    return held->address || held->thing || held->handle || held->maps || held->bytes;
}

static void give(worker_t *worker, int which) {
    held_t held = worker->held[which];
    worker->held[which] = worker->held[--worker->held_count];
    self->doing[worker->number] = held.request.way + 100;
    uint64_t began = storm_now();
    record(self, worker->number, GIVES, &held.request, 0);
    CUresult status = ways_give(&given, worker, &held);
    record(self, worker->number, GAVE, &held.request, status);
    expect(&held.request, status, "cannot give back");
    note_time(held.request.way, storm_now() - began);
    if (held.request.way == WAY_MANAGED)
        self->loose[held.request.gpu] -= held.request.bytes;
}

static void refused(worker_t *worker, const request_t *request, bool judged) {
    char why[240] = "there is no quota";
    self->refused++;
    judgement_t judgement = options.unlimited ? WRONG : RIGHT;
    if (judged) {
        self->judged++;
        self->still += worker->was_still;
        judgement = judge_refusal(worker, request, why, sizeof why);
    }
    self->late += judgement == LATE;
    if (judgement == WRONG) {
        self->wrong++;
        self->wrong_by_way[request->way]++;
        note("wrongly refused", request, why);
    }
    worker->shrink = 1 + (int)below(&worker->random, 12);
}

/* What the driver and the ledger have; for a single thread. */
typedef struct { uint64_t driver; ledger_t ledger; } figures_t;

static figures_t figures_of(int gpu) {
    pid_t pid = getpid();
    return (figures_t){truth_of(pid, gpu), ledger_read(&pid, 1, gpu)};
}

/* The library's look in the same call may have booked it as overhead already. Code is always booked so. */
static void explain(const request_t *request, CUresult status, const figures_t *before) {
    figures_t now = figures_of(request->gpu);
    char why[240], shape[120];
    int64_t driver = (int64_t)(now.driver - before->driver), ledger = (int64_t)(now.ledger.charged - before->ledger.charged);
    int64_t overhead = (int64_t)(now.ledger.overhead - before->ledger.overhead), foreseen = request->way == WAY_MODULE ? ledger : ledger - overhead;
    if (driver - foreseen < (int64_t)UNFORESEEN_BYTES)
        return;
    self->unforeseen++;
    if ((uint64_t)(driver - foreseen) > self->unforeseen_most)
        self->unforeseen_most = (uint64_t)(driver - foreseen);
    things_describe(request, shape, sizeof shape);
    snprintf(why, sizeof why, "status %d, driver %+.1f MiB to %.1f, ledger %+.1f MiB, of which overhead %+.1f%s", status, (double)driver / (double)MIB,
             (double)now.driver / (double)MIB, (double)ledger / (double)MIB, (double)overhead / (double)MIB, shape);
    note("unforeseen", request, why);
}

static void take(worker_t *worker) {
    request_t request = ways_choose(worker);
    held_t held;
    self->doing[worker->number] = request.way;
    self->calls++;
    uint64_t began = storm_now();
    if (request.way == WAY_ABSURD) {
        int times = below(&worker->random, 16) ? 1 : ABSURD_TIMES;
        for (int i = 0; i < times; i++)
            if (ways_absurd(worker, request.choice) == 0) {
                self->absurd++;
                note("granted", &request, "a size that no GPU has");
            }
        return;
    }
    bool judged = options.judge && (options.unlimited || below(&worker->random, 2));
    worker->was_still = judged && ways_are_idle(worker);
    figures_t before = options.explain ? figures_of(request.gpu) : (figures_t){0};
    record(self, worker->number, TAKES, &request, 0);
    CUresult status = ways_take(&given, worker, &request, &held);
    record(self, worker->number, TOOK, &request, status);
    note_time(request.way, storm_now() - began);
    if (options.explain)
        explain(&request, status, &before);
    if (status == OUT_OF_MEMORY)
        refused(worker, &request, judged);
    else if (is_alike(worker, &request, status))
        self->alike++;
    else
        expect(&request, status, "failed");
    if (status == 0 && keeps(&held)) {
        worker->held[worker->held_count++] = held;
        if (request.way == WAY_MANAGED)
            self->loose[request.gpu] += request.bytes;
    }
}

static void step(worker_t *worker) {
    if (worker->held_count == HELD_MOST)
        worker->shrink = 1 + (int)below(&worker->random, HELD_MOST);
    if (worker->held_count && (worker->shrink > 0 || below(&worker->random, 3) == 0)) {
        worker->shrink -= worker->shrink > 0;
        give(worker, (int)below(&worker->random, (uint64_t)worker->held_count));
    } else {
        worker->shrink = 0;
        take(worker);
    }
    self->doing[worker->number] = -1;
}

static void *work(void *argument) {
    worker_t *worker = argument;
    ways_open(worker);
    for (;;) {
        uint32_t order = shared->order;
        command_t command = command_of(order);
        if (command == RUN) {
            self->turns[worker->number]++;
            step(worker);
            self->turns[worker->number]++;
            continue;
        }
        if (order != worker->answered) {
            while ((command == DRAIN || command == END) && worker->held_count)
                give(worker, worker->held_count - 1);
            if (command == END)
                ways_close(worker);
            worker->answered = order;
        }
        if (command == LEAVE)
            return NULL;
        usleep(IDLE_MICROS);
    }
}

/* Everything is waited for and trimmed; to ask for the figures also lets the library look at the driver's. */
static void come_to_rest(void) {
    CUresult status = ways_settle(&given, workers, options.threads, true);
    request_t none = {.way = WAY_LAUNCH};
    expect(&none, status, "cannot settle");
    for (int look = 0; look < 3; look++)
        for (int gpu = 0; gpu < options.gpus; gpu++) {
            size_t free_bytes = 0, total = 0;
            ways_use(gpu);
            if (given.cuMemGetInfo_v2(&free_bytes, &total) == 0)
                self->info_used[gpu] = total - free_bytes;
            usleep(LOOK_MICROS / (unsigned)options.gpus);
        }
}

static void probe(void) {
    char why[160];
    for (int gpu = 0; gpu < options.gpus; gpu++)
        if (!judge_probe(gpu, why, sizeof why)) {
            self->edges++;
            if (notes++ < NOTES_MOST)
                fprintf(stderr, "storm seed=%llu process %d: at rest: %s\n", (unsigned long long)options.seed, own_number, why);
        }
}

static void answer(uint32_t order) {
    command_t command = command_of(order);
    for (int i = 0; i < options.threads; i++)
        while (workers[i].answered != order)
            usleep(IDLE_MICROS);
    if (command == PARK || command == DRAIN)
        come_to_rest();
    if (command == PROBE && shared->leader == (uint32_t)own_number)
        probe();
    if (command == END)
        ways_end(options.gpus);
    self->answered = order;
}

/* While the quota is full there may be no room for a context: that is no error, and it is tried again. */
static bool begin(uint64_t seed) {
    if (!ways_begin(options.gpus))
        return false;
    truth_open();
    judge_open(self);
    for (int i = 0; i < options.threads; i++) {
        workers[i].number = i;
        workers[i].random = seed * 1000003u + (uint64_t)i * 7919u;
        self->doing[i] = -1;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    return true;
}

int child_main(int number, uint64_t seed) {
    bool begun = false;
    own_number = number;
    self = &shared->child[number];
    if (!ways_load())
        return 3;
    for (uint32_t order = shared->order; command_of(order) != LEAVE; order = shared->order) {
        self->turns[THREADS_MOST]++;
        if (command_of(order) == RUN)
            begun = begun || begin(seed);
        else if (order != self->answered && begun)
            answer(order);
        else
            self->answered = order;
        self->turns[THREADS_MOST]++;
        usleep(IDLE_MICROS);
    }
    for (int i = 0; i < options.threads && begun; i++)
        pthread_join(workers[i].thread, NULL);
    self->answered = shared->order;
    return 0;
}
