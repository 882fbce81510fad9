/* storm: a random program against the driver's truth. It takes device memory in every way, in threads, streams, GPUs and processes
 * of one tenant, and judges: what the driver holds for the tenant is at most quota + 2 % in every sample; nothing that fits is
 * refused; the ledger is what the driver says whenever all is at rest; nothing is left at the end. It runs on the simulated and
 * on a real GPU; without Sluice it tells whether the driver itself does what it expects.
 *   --seed N (1)  --seconds S (10)  --processes N (1)  --threads N (1)  --streams N (2)  --gpus N (1)
 *   --quota SIZE      the tenant's quota on each GPU; sets SLUICE_MEMORY. Without it nothing may be refused
 *   --size SIZE       largest requests are a quarter of it (the quota, or 1g)
 *   --ways LIST       all (default), or some of plain,pitch,managed,async,pool,graph,vmm,array,mipmap,module,stack,context,absurd,
 *                     launch,orphan (pools that are destroyed while memory of theirs lives),tiny (arrays and variables that
 *                     share blocks); "-graph,…": all but these
 *   --judge           asks the driver about every other refusal (one process, one thread)
 *   --wrong PERMILLE  of the refusals that were judged wrong, at most (0)
 *   --kills MILLIS, --stops MILLIS   every so often a process gets SIGKILL, or SIGSTOP for a while
 *   --limits          changes the quota all the time, between the half of it and all of it
 *   --survive         judges only that nothing crashes or hangs: any error of CUDA's will do
 *   --nvml            asks NVML for the truth on the simulated GPU, too
 *   --patience S      one that does not come to rest in so long hangs (30)
 *   --longest MILLIS  no call may take longer than that (not judged)
 *   --slack SIZE      by which the ledger may be wrong at rest, and when it refuses (0)
 *   --over SIZE       by which the driver's figure may pass the limit where 2 % are less (0)
 *   --explain         one thread: tells of calls for which the driver took more than the library had foreseen
 * A call that the driver refuses as invalid past Sluice, too, is counted as alike; another error than out of memory is odd.
 * It prints a sample over the limit with the samples before and with what all threads did.
 * Prints key=value lines; exits with 0 when all held, 1 when not. Sizes take k, m and g. */
#define _GNU_SOURCE
#include "storm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE_NANOS 1000000u
#define REST_NANOS 1500000000u
#define LIMIT_NANOS 1000000000u
#define SHARED_FD 200

options_t options = {.patience = 30, .seed = 1, .seconds = 10, .threads = 1, .streams = 2, .gpus = 1, .processes = 1, .ways = (1u << WAY_COUNT) - 1};
shared_t *shared;

typedef struct { uint64_t points, unequal, hangs, crashes, left, edges; int64_t worst_difference; } verdict_t;

static pid_t pids[PROCESSES_MOST];
static uint64_t stopped_until[PROCESSES_MOST];
static unsigned generation[PROCESSES_MOST];
static uint64_t kills, stops, limit_changes, random_state;
static verdict_t verdict;
static char **arguments;
static bool has_ledger;

static uint64_t size_of(const char *text) {
    char *unit;
    uint64_t size = strtoull(text, &unit, 10);
    return size << (*unit == 'k' ? 10 : *unit == 'm' ? 20 : *unit == 'g' ? 30 : 0);
}

static unsigned ways_of(const char *text) {
    unsigned all = (1u << WAY_COUNT) - 1, ways = 0;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", *text == '-' ? text + 1 : text);
    for (char *rest, *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        unsigned found = strcmp(word, "all") == 0 ? all : 0;
        for (int i = 0; i < WAY_COUNT; i++)
            found |= strcmp(word, way_names[i]) == 0 ? 1u << i : 0;
        if (!found)
            fprintf(stderr, "storm: unknown way %s\n", word), exit(2);
        ways |= found;
    }
    return *text == '-' ? all & ~ways : ways;
}

static void parse(int count, char **words, int *child) {
    for (int i = 1; i < count; i++) {
        const char *option = words[i], *value = i + 1 < count ? words[i + 1] : "";
        bool *flag = strcmp(option, "--judge") == 0 ? &options.judge : strcmp(option, "--limits") == 0 ? &options.limits
                   : strcmp(option, "--survive") == 0 ? &options.survive : strcmp(option, "--nvml") == 0 ? &options.nvml
                   : strcmp(option, "--explain") == 0 ? &options.explain : NULL;
        int *number = strcmp(option, "--processes") == 0 ? &options.processes : strcmp(option, "--threads") == 0 ? &options.threads
                    : strcmp(option, "--streams") == 0 ? &options.streams : strcmp(option, "--gpus") == 0 ? &options.gpus
                    : strcmp(option, "--kills") == 0 ? &options.kills : strcmp(option, "--stops") == 0 ? &options.stops
                    : strcmp(option, "--longest") == 0 ? &options.longest : strcmp(option, "--patience") == 0 ? &options.patience
                    : strcmp(option, "--child") == 0 ? child : NULL;
        uint64_t *size = strcmp(option, "--quota") == 0 ? &options.quota : strcmp(option, "--size") == 0 ? &options.base
                       : strcmp(option, "--slack") == 0 ? &options.slack : strcmp(option, "--over") == 0 ? &options.over
                       : strcmp(option, "--wrong") == 0 ? &options.wrong_permille : strcmp(option, "--seed") == 0 ? &options.seed : NULL;
        if (flag) {
            *flag = true;
            continue;
        }
        i++;
        if (number)
            *number = atoi(value);
        else if (size)
            *size = size_of(value);
        else if (strcmp(option, "--seconds") == 0)
            options.seconds = atof(value);
        else if (strcmp(option, "--ways") == 0)
            options.ways = ways_of(value);
        else
            fprintf(stderr, "storm: unknown option %s\n", option), exit(2);
    }
    options.base = options.base ? options.base : options.quota ? options.quota : 1024 * MIB;
    options.unlimited = !options.quota;
    if (options.processes > PROCESSES_MOST || options.threads > THREADS_MOST || options.gpus > GPUS_MOST || options.streams > STREAMS_MOST ||
        options.processes < 1 || options.threads < 1 || options.gpus < 1 || options.streams < 1 ||
        ((options.judge || options.explain) && options.processes * options.threads > 1))
        fprintf(stderr, "storm: at most %d processes, %d threads, %d streams, %d GPUs; --judge, --explain: one thread\n", PROCESSES_MOST, THREADS_MOST,
                STREAMS_MOST, GPUS_MOST), exit(2);
}

static bool map_shared(bool make) {
    if (make) {
        int file = memfd_create("storm", 0);
        if (file < 0 || ftruncate(file, sizeof *shared) != 0 || dup2(file, SHARED_FD) != SHARED_FD)
            return false;
        close(file);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
    return shared != MAP_FAILED;
}

static void start(int number) {
    char text[16], seed[32];
    int count = 0;
    char *words[64];
    while (arguments[count] && count < 56)
        words[count] = arguments[count], count++;
    snprintf(text, sizeof text, "%d", number);
    snprintf(seed, sizeof seed, "%u", generation[number]);
    setenv("STORM_GENERATION", seed, 1);
    words[count++] = "--child";
    words[count++] = text;
    words[count] = NULL;
    child_t *child = &shared->child[number];
    child->answered = 0;
    child->past += child->past % 2;
    for (int i = 0; i <= THREADS_MOST; i++)
        child->turns[i] = 0;
    child->life++;
    pids[number] = fork();
    if (pids[number] == 0) {
        execv("/proc/self/exe", words);
        _exit(127);
    }
}

static void reap(int number, bool was_killed) {
    int status;
    waitpid(pids[number], &status, 0);
    bool expected = was_killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!expected && status != 0) {
        verdict.crashes++;
        fprintf(stderr, "storm seed=%llu: process %d ended by %s %d\n", (unsigned long long)options.seed, number,
                WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    pids[number] = 0;
}

/* Counts a crashed process and starts it again, so that the rest of the time is not lost. */
static void find_crashed(void) {
    for (int i = 0; i < options.processes; i++) {
        siginfo_t info = {0};
        if (!pids[i] || waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
            continue;
        reap(i, false);
        generation[i]++;
        start(i);
    }
}

static int live_pids(pid_t *live) {
    int count = 0;
    for (int i = 0; i < options.processes; i++)
        if (pids[i])
            live[count++] = pids[i];
    return count;
}

static void sample(void) {
    pid_t live[PROCESSES_MOST];
    sample_now(live, live_pids(live));
}

static void wait_and_sample(uint64_t nanos) {
    uint64_t end = storm_now() + nanos;
    while (storm_now() < end) {
        sample();
        usleep(SAMPLE_NANOS / 1000 - 100);
    }
}

static void go_on(int number) {
    if (stopped_until[number])
        kill(pids[number], SIGCONT);
    stopped_until[number] = 0;
}

static void kill_one(void) {
    int victim = (int)below(&random_state, (uint64_t)options.processes);
    kill(pids[victim], SIGKILL);
    reap(victim, true);
    stopped_until[victim] = 0;
    generation[victim]++;
    kills++;
    start(victim);
}

static void stop_one(uint64_t now) {
    int victim = (int)below(&random_state, (uint64_t)options.processes);
    if (stopped_until[victim] || !sample_is_settled())
        return;
    kill(pids[victim], SIGSTOP);
    stopped_until[victim] = now + 5000000u + below(&random_state, 300000000u);
    stops++;
}

/* Continues stopped processes first: one may have reserved under the old quota, and the grace period lasts until it has the memory. */
static void change_limit(void) {
    for (int i = 0; i < options.processes; i++)
        go_on(i);
    uint64_t next = options.quota / 2 + below(&random_state, options.quota / 2 + 1);
    next = below(&random_state, 3) ? next / BLOCK * BLOCK : options.quota;
    limit_changes++;
    sample_change_limit(next);
}

static void disturb(void) {
    static uint64_t next_kill, next_stop, next_limit;
    uint64_t now = storm_now();
    for (int i = 0; i < options.processes; i++)
        if (stopped_until[i] && now > stopped_until[i])
            go_on(i);
    find_crashed();
    if (options.kills && now > next_kill) {
        if (next_kill)
            kill_one();
        next_kill = now + below(&random_state, 2000000ull * (uint64_t)options.kills);
    }
    if (options.stops && now > next_stop) {
        stop_one(now);
        next_stop = now + below(&random_state, 2000000ull * (uint64_t)options.stops);
    }
    if (options.limits && has_ledger && now > next_limit && sample_is_settled()) {
        change_limit();
        next_limit = now + LIMIT_NANOS + below(&random_state, 2000000000u);
    }
}

static void say_hang(int number, command_t command) {
    verdict.hangs++;
    fprintf(stderr, "storm seed=%llu: process %d (pid %d) did not answer command %d in %d s; its threads do", (unsigned long long)options.seed, number,
            (int)pids[number], command, options.patience);
    record_tell_doing(number);
    fprintf(stderr, "\n");
}

/* False: a process does not answer. */
static bool order(command_t command) {
    uint32_t number = ((shared->order >> 8) + 1) << 8 | command;
    uint64_t late = storm_now() + (uint64_t)options.patience * 1000000000u;
    for (int i = 0; i < options.processes; i++)
        go_on(i);
    shared->order = number;
    for (int i = 0; i < options.processes && command != RUN; i++)
        while (pids[i] && shared->child[i].answered != number) {
            sample();
            usleep(1000);
            if (command != LEAVE)
                find_crashed();
            if (storm_now() > late)
                return say_hang(i, command), false;
        }
    return true;
}

static void compare(const char *when, bool empty) {
    pid_t live[PROCESSES_MOST];
    int count = live_pids(live);
    uint64_t truth[GPUS_MOST] = {0};
    for (int i = 0; i < 100 && !truth_sum(live, count, options.gpus, truth); i++)
        usleep(1000);
    verdict.points++;
    for (int gpu = 0; gpu < options.gpus && has_ledger; gpu++) {
        uint64_t ledger = ledger_of(live, count, gpu), loose = options.slack;
        for (int i = 0; i < options.processes && !truth_is_exact(); i++)
            loose += shared->child[i].loose[gpu];
        int64_t difference = (int64_t)(ledger - truth[gpu]);
        int64_t size = difference < 0 ? -difference : difference;
        verdict.worst_difference = size > verdict.worst_difference ? size : verdict.worst_difference;
        bool unequal = options.quota && (uint64_t)size > loose, left = empty && (ledger || (truth_is_exact() && truth[gpu]));
        if (unequal || left)
            fprintf(stderr, "storm seed=%llu: %s, GPU %d: ledger %lld, driver %llu, difference %+.3f MiB\n", (unsigned long long)options.seed, when, gpu,
                    (long long)ledger, (unsigned long long)truth[gpu], (double)difference / (double)MIB);
        verdict.unequal += unequal;
        verdict.left += left;
    }
}

static bool rest(bool drain) {
    if (!order(PARK))
        return false;
    if (!options.survive)
        compare("at rest", false);
    uint32_t leader = (uint32_t)below(&random_state, (uint64_t)options.processes);
    shared->leader = leader;
    if (!options.survive && !order(PROBE))
        return false;
    if (drain && !order(DRAIN))
        return false;
    if (drain && !options.survive)
        compare("all freed", false);
    return order(RUN);
}

static void run(void) {
    uint64_t end = storm_now() + (uint64_t)(options.seconds * 1e9);
    bool answers = true;
    for (int round = 1; storm_now() < end && answers; round++) {
        uint64_t now = storm_now(), pause = now + (end - now < REST_NANOS ? end - now : REST_NANOS);
        while (storm_now() < pause) {
            disturb();
            wait_and_sample(5000000u);
        }
        answers = storm_now() >= end || rest(round % 3 == 0);
    }
    answers = answers && order(PARK);
    if (answers && !options.survive)
        compare("at rest", false);
    answers = answers && order(DRAIN);
    if (answers && !options.survive)
        compare("all freed", false);
    answers = answers && order(END);
    if (answers && !options.survive)
        compare("at the end", true);
    if (answers)
        order(LEAVE);
    for (int i = 0; i < options.processes; i++) {
        if (!answers)
            kill(pids[i], SIGKILL);
        reap(i, !answers);
    }
}

static uint64_t sum_of(size_t offset) {
    uint64_t sum = 0;
    for (int i = 0; i < options.processes; i++)
        sum += *(_Atomic uint64_t *)((char *)&shared->child[i] + offset);
    return sum;
}
#define SUM(field) ((unsigned long long)sum_of(offsetof(child_t, field)))

static int tell(void) {
    uint64_t longest = 0;
    const char *way = "-";
    for (int i = 0; i < options.processes; i++)
        if (shared->child[i].longest_nanos > longest) {
            longest = shared->child[i].longest_nanos;
            way = way_names[shared->child[i].longest_way % WAY_COUNT];
        }
    printf("seed=%llu processes=%d threads=%d gpus=%d quota=%llu seconds=%.0f kills=%llu stops=%llu limit-changes=%llu\n",
           (unsigned long long)options.seed, options.processes, options.threads, options.gpus, (unsigned long long)options.quota, options.seconds,
           (unsigned long long)kills, (unsigned long long)stops, (unsigned long long)limit_changes);
    printf("calls=%llu refused=%llu judged=%llu still=%llu late=%llu wrong=%llu odd=%llu alike=%llu absurd-granted=%llu edges-wrong=%llu longest-ms=%.1f longest-way=%s\n", SUM(calls), SUM(refused),
           SUM(judged), SUM(still), SUM(late), SUM(wrong), SUM(odd), SUM(alike), SUM(absurd), SUM(edges), (double)longest / 1e6, way);
    printf("samples=%llu missed=%llu torn=%llu in-grace=%llu over=%llu worst-percent=%.2f worst-over-mib=%.1f most-bytes=%llu,%llu\n",
           (unsigned long long)sampling.samples, (unsigned long long)sampling.missed, (unsigned long long)sampling.torn, (unsigned long long)sampling.in_grace,
           (unsigned long long)sampling.over, sampling.worst_percent, sampling.worst_over_mib, (unsigned long long)sampling.worst[0],
           (unsigned long long)sampling.worst[1]);
    printf("residue-most=%llu residue-ms-most=%.1f unforeseen=%llu unforeseen-most=%llu truth=%s\n", SUM(residue_most), (double)SUM(residue_nanos_most) / 1e6,
           SUM(unforeseen), SUM(unforeseen_most), truth_source());
    sample_tell();
    printf("rests=%llu unequal=%llu worst-difference=%lld left=%llu crashes=%llu hangs=%llu\n", (unsigned long long)verdict.points,
           (unsigned long long)verdict.unequal, (long long)verdict.worst_difference, (unsigned long long)verdict.left,
           (unsigned long long)verdict.crashes, (unsigned long long)verdict.hangs);
    for (int i = 0; i < WAY_COUNT; i++)
        if (SUM(wrong_by_way[i]))
            printf("wrong-%s=%llu\n", way_names[i], SUM(wrong_by_way[i]));
    bool in_time = !options.longest || longest <= (uint64_t)options.longest * 1000000u;
    bool survived = !verdict.crashes && !verdict.hangs && SUM(calls) > 0 && in_time;
    bool right = !SUM(odd) && !sampling.over && !verdict.unequal && !verdict.left && SUM(wrong) * 1000 <= (unsigned long long)options.wrong_permille * SUM(refused) && !SUM(absurd) && !SUM(edges) && sampling.samples > 0 && sampling.worst[0] > 0;
    bool ok = survived && (options.survive || right);
    printf("verdict=%s\n", ok ? "held" : "broken");
    return ok ? 0 : 1;
}

int main(int count, char **words) {
    int child = -1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    parse(count, words, &child);
    if (child >= 0) {
        const char *number = getenv("STORM_GENERATION");
        return map_shared(false) ? child_main(child, options.seed + (uint64_t)child * 131u + (number ? strtoull(number, NULL, 10) : 0) * 65537u) : 3;
    }
    char text[32];
    snprintf(text, sizeof text, "storm-%d", (int)getpid());
    setenv("SLUICE_TENANT", text, 0);
    snprintf(text, sizeof text, "%llub", (unsigned long long)options.quota);
    if (options.quota)
        setenv("SLUICE_MEMORY", text, 0);
    if (!map_shared(true))
        return fprintf(stderr, "storm: %s\n", strerror(errno)), 3;
    arguments = words;
    random_state = options.seed ^ 0x5707;
    sample_open(options.quota);
    if (!truth_prepare())
        return fprintf(stderr, "storm: there is no driver to ask\n"), 3;
    for (int i = 0; i < options.processes; i++)
        start(i);
    if (!truth_open())
        return fprintf(stderr, "storm: there is no driver to ask\n"), 3;
    for (int i = 0; i < 2000 && !has_ledger; i++, usleep(5000)) {
        has_ledger = ledger_open();
        if (!has_ledger && !getenv("LD_PRELOAD") && i > 100)
            break;
    }
    run();
    return tell();
}
