/* Jobs with weights beside bursts of a higher priority, in simulated time, so that the load of the machine does not matter. The jobs follow
 * the rules of admit.c, their hosts stop at random, and the board is the real one. */
#include "check.h"

#include "os/life.h"
#include "os/os.h"
#include "turns/turn.h"

#define MICRO 1000ull
#define MILLI 1000000ull
#define STEP (10 * MICRO)
#define LOOK (100 * MICRO)  /* how often a job that waits looks, or is woken */
#define AHEAD (350 * MICRO) /* a job submits its next kernel when so little is under way */
#define JOBS 3

enum { THREE, ONE, OTHER };

typedef enum { ASKS, WORKS, DRAINS, PAUSES } state_t;

typedef struct {
    state_t state;
    uint64_t kernel, pause;       /* a pause after each kernel; 0: endless work */
    uint64_t until, queued_until; /* of a pause, and of its work on the GPU */
    uint64_t since, looked, stands_until;
    uint64_t used;                /* GPU time */
} job_t;

typedef struct {
    uint64_t every, most; /* a host stands still about so often, for so long at the most; 0: never */
} stalls_t;

static sl_board_turn_t turn;
static sl_board_tenant_t tenants[SL_BOARD_TENANT_COUNT];
static sl_board_process_t processes[SL_BOARD_PROCESS_COUNT];
static sl_board_t boards[JOBS];
static job_t jobs[JOBS];
static uint64_t now, asked, seed;

/* Each reading advances the time a little, so that no loop waits for ever. */
uint64_t sl_os_nanos(void) {
    return now + asked++;
}

long __wrap_syscall(long number, ...) {
    (void)number;
    return 0;
}

unsigned sl_os_processors(void) {
    return 2;
}

bool sl_os_alive(uint64_t identity, uint64_t image) {
    (void)image;
    return identity != 0;
}

pid_t sl_os_pid(uint64_t identity) {
    return (pid_t)identity;
}

bool sl_os_process(pid_t pid, sl_os_process_t *process) {
    (void)pid, (void)process;
    return false;
}

uint64_t sl_os_identity(pid_t pid, const sl_os_process_t *process) {
    (void)process;
    return (uint64_t)pid;
}

sl_life_t sl_life_in(const sl_life_file_t *file, uint64_t place) {
    (void)file, (void)place;
    return SL_LIFE_UNKNOWN;
}

static uint64_t random_below(uint64_t most) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % most;
}

static void join(unsigned id, unsigned weight, int priority, uint64_t kernel, uint64_t pause) {
    tenants[id].owner = processes[id].owner = 1000 + id;
    tenants[id].root_identity = 1000 + id;
    tenants[id].weight = weight;
    tenants[id].priority = priority;
    processes[id].tenant = id;
    boards[id] = (sl_board_t){.turn = &turn, .tenants = tenants, .processes = processes, .tenant = id, .process = id, .key = 1000 + id,
                              .identity = 1000 + id, .file = {.fd = -1}};
    jobs[id] = (job_t){.state = PAUSES, .kernel = kernel, .pause = pause};
    turn.tenants = turn.processes = id + 1;
}

static void begin(uint64_t number) {
    static const sl_board_turn_t no_turn;
    turn = no_turn;
    memset(tenants, 0, sizeof tenants);
    memset(processes, 0, sizeof processes);
    memset(jobs, 0, sizeof jobs);
    now = 1000000 * MILLI;
    seed = number;
}

static void ask(unsigned id) {
    jobs[id].state = ASKS;
    jobs[id].since = now;
    processes[id].waiting = 1;
    processes[id].waiting_nanos = now;
}

static void look(unsigned id) {
    job_t *job = &jobs[id];
    if (!sl_turn_is_mine(&boards[id]) && now - job->looked < LOOK)
        return;
    job->looked = now;
    asked = 0;
    if (sl_turn_wait(&boards[id], job->since, 0) != SL_TURN_MINE)
        return;
    processes[id].waiting = 0;
    job->state = WORKS;
}

static void submit(unsigned id) {
    job_t *job = &jobs[id];
    job->queued_until = (job->queued_until > now ? job->queued_until : now) + job->kernel;
    job->used += job->kernel;
    sl_turn_say_busy(&boards[id], job->queued_until);
}

static void work(unsigned id) {
    job_t *job = &jobs[id];
    uint64_t left = job->queued_until > now ? job->queued_until - now : 0;
    if (!sl_turn_is_mine(&boards[id])) {
        ask(id);
    } else if (job->pause) {
        submit(id);
        job->state = DRAINS;
    } else if (sl_turn_is_wanted(&boards[id], now) && now + left >= sl_turn_ends(&boards[id], now)) {
        job->state = DRAINS;
    } else if (left < AHEAD) {
        submit(id);
    }
}

static void drain(unsigned id) {
    job_t *job = &jobs[id];
    if (now < job->queued_until)
        return;
    if (job->pause) {
        sl_turn_say_busy(&boards[id], now);
        job->state = PAUSES;
        job->until = now + job->pause;
        return;
    }
    sl_turn_say_busy(&boards[id], now - 1);
    sl_turn_give(&boards[id], true, now);
    job->state = WORKS;
}

static void step(unsigned id, stalls_t stalls) {
    job_t *job = &jobs[id];
    if (now < job->stands_until)
        return;
    if (stalls.every && random_below(stalls.every / STEP) == 0)
        job->stands_until = now + random_below(stalls.most);
    if (job->state == PAUSES && now >= job->until)
        ask(id);
    else if (job->state == ASKS)
        look(id);
    else if (job->state == WORKS)
        work(id);
    else if (job->state == DRAINS)
        drain(id);
}

static void run(uint64_t nanos, stalls_t stalls) {
    for (uint64_t end = now + nanos; now < end; now += STEP)
        for (unsigned id = 0; id < turn.tenants; id++)
            step(id, stalls);
}

/* The middle of five. */
static double median(double all[5]) {
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            if (all[j] < all[i]) {
                double other = all[i];
                all[i] = all[j];
                all[j] = other;
            }
    return all[2];
}

static void check_ratio(const char *what, uint64_t kernel, uint64_t burst, uint64_t pause, stalls_t stalls) {
    double ratios[5];
    for (unsigned i = 0; i < 5; i++) {
        begin(i + 1);
        join(THREE, 3, 0, kernel, 0);
        join(ONE, 1, 0, kernel, 0);
        if (burst)
            join(OTHER, 1, 1, burst, pause);
        run(10000 * MILLI, stalls);
        ratios[i] = (double)jobs[THREE].used / (double)jobs[ONE].used;
    }
    double middle = median(ratios);
    printf("  %s: %.3f (%.3f to %.3f), bursts %.3f\n", what, middle, ratios[0], ratios[4], (double)jobs[OTHER].used / (10000.0 * MILLI));
    CHECK(middle > 2.85 && middle < 3.15, "%s: the ratio is %.3f", what, middle);
}

static void check_ratios(const char *what, stalls_t stalls) {
    static const unsigned shapes[][2] = {{0, 0}, {1, 2}, {1, 3}, {2, 18}, {5, 10}, {10, 10}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned kernel = 100; kernel <= 500; kernel += 400) {
            char text[100];
            unsigned burst = shapes[i][0], pause = shapes[i][1];
            snprintf(text, sizeof text, "%s, bursts of %u ms, then a pause of %u, kernels of %u us", what, burst, pause, kernel);
            check_ratio(text, kernel * MICRO, burst * MILLI, pause * MILLI, stalls);
        }
}

static void should_share_by_weight_beside_bursts(void) {
    check_ratios("steady hosts", (stalls_t){0, 0});
}

static void should_share_by_weight_beside_bursts_on_a_busy_machine(void) {
    check_ratios("restless hosts", (stalls_t){100 * MILLI, 4 * MILLI});
}

static double part(unsigned id) {
    return (double)jobs[id].used / (10000.0 * MILLI);
}

/* Priorities are strict: a low one has all that others leave, and nothing else. */
static void should_leave_to_a_low_priority_what_others_leave(void) {
    for (uint64_t pause = 0; pause <= 2; pause += 2) {
        begin(1);
        join(THREE, 1, 0, MILLI, pause * MILLI);
        join(ONE, 1, -1, 100 * MICRO, 0);
        join(OTHER, 1, 1, MILLI, 2 * MILLI);
        run(10000 * MILLI, (stalls_t){100 * MILLI, 4 * MILLI});
        printf("  a pause of %u ms: normal %.3f, low %.3f, high %.3f\n", (unsigned)pause, part(THREE), part(ONE), part(OTHER));
        CHECK(pause || part(ONE) < 0.02, "low got %.3f beside endless work", part(ONE));
        CHECK(!pause || part(ONE) > 0.15, "low got %.3f of what is left", part(ONE));
    }
}

int main(void) {
    RUN(should_share_by_weight_beside_bursts);
    RUN(should_share_by_weight_beside_bursts_on_a_busy_machine);
    RUN(should_leave_to_a_low_priority_what_others_leave);
    return 0;
}
