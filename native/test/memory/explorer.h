/* explorer: runs a few coroutines in every order, with every answer that one of them may be given.
 *
 * A coroutine stops before each step that others can see. From each state the explorer tries every coroutine that can run. For that it
 * restores the state: the world that the test names, and all stacks. It explores no state twice. So it covers all orders, as long as
 * nothing else keeps state. */
#ifndef EXPLORER_H
#define EXPLORER_H

#include "check.h"

#include <ucontext.h>

#define EXPLORER_THREADS 3
#define EXPLORER_STACK_BYTES 32768
#define EXPLORER_DEEPEST 4096
#define EXPLORER_SEEN_BITS 23

typedef struct {
    void *world; /* with all that coroutines share; no pointers into memory that changes */
    size_t world_bytes;
    void (*body[EXPLORER_THREADS])(void); /* NULL: there is no such thread */
    bool (*can_run)(int thread);
    void (*before_stop)(void);
    void (*check_step)(void);
    void (*check_end)(void);
} explorer_plan_t;

typedef struct {
    bool done;
    int choices, chosen; /* it waits for one of so many answers; the one that it got */
} explorer_thread_t;

typedef struct {
    char *world;
    explorer_thread_t thread[EXPLORER_THREADS];
    ucontext_t coroutine[EXPLORER_THREADS];
    char *stack[EXPLORER_THREADS];
    size_t stack_bytes[EXPLORER_THREADS];
    int next_thread, next_answer; /* what is to be tried next from here */
} explorer_state_t;

static const explorer_plan_t *explorer_plan;
static explorer_thread_t explorer_thread[EXPLORER_THREADS];
static int explorer_running;
static const char *explorer_broken; /* what a check found */
static uint64_t explorer_states, explorer_steps, explorer_ends;
static ucontext_t explorer_main, explorer_coroutine[EXPLORER_THREADS];
static char explorer_stacks[EXPLORER_THREADS][EXPLORER_STACK_BYTES] __attribute__((aligned(64)));
static explorer_state_t explorer_path[EXPLORER_DEEPEST];
static uint64_t *explorer_seen;

static void explorer_stop(void) {
    explorer_plan->before_stop();
    swapcontext(&explorer_coroutine[explorer_running], &explorer_main);
}

static void explorer_begin(void) {
    explorer_plan->body[explorer_running]();
    explorer_thread[explorer_running].done = true;
    explorer_stop();
}

static void explorer_advance(int thread, int answer) {
    explorer_running = thread;
    explorer_thread[thread].chosen = answer;
    explorer_thread[thread].choices = 1;
    swapcontext(&explorer_main, &explorer_coroutine[thread]);
    explorer_plan->check_step();
}

static char *explorer_top(int i) {
    return (char *)explorer_coroutine[i].uc_mcontext.gregs[REG_RSP];
}

static size_t explorer_depth(int i) {
    return (size_t)(explorer_stacks[i] + EXPLORER_STACK_BYTES - explorer_top(i));
}

static void explorer_save(explorer_state_t *state) {
    state->world = realloc(state->world, explorer_plan->world_bytes);
    memcpy(state->world, explorer_plan->world, explorer_plan->world_bytes);
    memcpy(state->thread, explorer_thread, sizeof explorer_thread);
    state->next_thread = state->next_answer = 0;
    for (int i = 0; i < EXPLORER_THREADS; i++) {
        state->coroutine[i] = explorer_coroutine[i];
        state->stack_bytes[i] = explorer_depth(i);
        state->stack[i] = realloc(state->stack[i], state->stack_bytes[i]);
        memcpy(state->stack[i], explorer_top(i), state->stack_bytes[i]);
    }
}

static void explorer_restore_world(const explorer_state_t *state) {
    memcpy(explorer_plan->world, state->world, explorer_plan->world_bytes);
    memcpy(explorer_thread, state->thread, sizeof explorer_thread);
}

static void explorer_restore(const explorer_state_t *state) {
    explorer_restore_world(state);
    for (int i = 0; i < EXPLORER_THREADS; i++) {
        explorer_coroutine[i] = state->coroutine[i];
        memcpy(explorer_top(i), state->stack[i], state->stack_bytes[i]);
    }
}

static uint64_t explorer_mix(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *from = bytes;
    for (; count >= 8; count -= 8, from += 8) {
        uint64_t word;
        memcpy(&word, from, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    for (; count; count--, from++)
        hash = (hash ^ *from) * 0x100000001b3ull;
    return hash;
}

static uint64_t explorer_digest(void) {
    static const int registers[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15, REG_RSP, REG_RIP};
    uint64_t hash = explorer_mix(1469598103934665603ull, explorer_plan->world, explorer_plan->world_bytes);
    hash = explorer_mix(hash, explorer_thread, sizeof explorer_thread);
    for (int i = 0; i < EXPLORER_THREADS; i++) {
        if (explorer_thread[i].done)
            continue;
        for (size_t r = 0; r < sizeof registers / sizeof *registers; r++)
            hash = explorer_mix(hash, &explorer_coroutine[i].uc_mcontext.gregs[registers[r]], 8);
        hash = explorer_mix(hash, explorer_top(i), explorer_depth(i));
    }
    return hash ? hash : 1;
}

static bool explorer_is_new(void) {
    uint64_t hash = explorer_digest(), place = hash >> (64 - EXPLORER_SEEN_BITS);
    for (; explorer_seen[place]; place = (place + 1) & ((1u << EXPLORER_SEEN_BITS) - 1))
        if (explorer_seen[place] == hash)
            return false;
    explorer_seen[place] = hash;
    CHECK(++explorer_states < 3u << (EXPLORER_SEEN_BITS - 2), "too many states");
    return true;
}

static bool explorer_can_run(int thread) {
    return !explorer_thread[thread].done && explorer_plan->can_run(thread);
}

/* The next thread and answer that were not tried from this state. */
static bool explorer_next(explorer_state_t *state, int *thread, int *answer) {
    explorer_restore_world(state);
    for (; state->next_thread < EXPLORER_THREADS; state->next_thread++, state->next_answer = 0)
        if (explorer_can_run(state->next_thread) && state->next_answer < explorer_thread[state->next_thread].choices) {
            *thread = state->next_thread;
            *answer = state->next_answer++;
            return true;
        }
    return false;
}

static void explorer_start(void) {
    memset(explorer_stacks, 0, sizeof explorer_stacks);
    for (int i = 0; i < EXPLORER_THREADS; i++) {
        explorer_thread[i] = (explorer_thread_t){.done = !explorer_plan->body[i], .choices = 1};
        getcontext(&explorer_coroutine[i]);
        explorer_coroutine[i].uc_stack.ss_sp = explorer_stacks[i];
        explorer_coroutine[i].uc_stack.ss_size = EXPLORER_STACK_BYTES;
        explorer_coroutine[i].uc_link = NULL;
        makecontext(&explorer_coroutine[i], explorer_begin, 0);
    }
}

/* Whether all are done; they are not if none can go on. */
static bool explorer_is_end(void) {
    bool done = true, stuck = true;
    for (int i = 0; i < EXPLORER_THREADS; i++) {
        done &= explorer_thread[i].done;
        stuck &= !explorer_can_run(i);
    }
    if (stuck && !done)
        explorer_broken = "nobody can go on";
    return done;
}

/* The world is as the test made it. True: no check failed in any order. */
static bool explorer_explore(const explorer_plan_t *plan) {
    int depth = 0, thread, answer;
    explorer_plan = plan;
    explorer_broken = NULL;
    explorer_states = explorer_steps = explorer_ends = 0;
    if (!explorer_seen)
        CHECK((explorer_seen = calloc((size_t)1 << EXPLORER_SEEN_BITS, sizeof *explorer_seen)));
    memset(explorer_seen, 0, sizeof *explorer_seen << EXPLORER_SEEN_BITS);
    explorer_start();
    explorer_save(&explorer_path[0]);
    while (depth >= 0 && !explorer_broken) {
        if (!explorer_next(&explorer_path[depth], &thread, &answer)) {
            depth--;
            continue;
        }
        explorer_restore(&explorer_path[depth]);
        explorer_advance(thread, answer);
        explorer_steps++;
        if (!explorer_broken && explorer_is_end()) {
            explorer_ends++;
            plan->check_end();
        }
        if (!explorer_broken && explorer_is_new()) {
            CHECK(depth + 1 < EXPLORER_DEEPEST);
            explorer_save(&explorer_path[++depth]);
        }
    }
    return !explorer_broken;
}

#endif
