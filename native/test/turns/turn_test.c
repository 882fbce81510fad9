/* Tenants on a board of their own get their turns in the right order and for the right time. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

#include "os/os.h"
#include "tenant/tenant.h"
#include "turns/turn.h"

#define MILLI 1000000ull
#define SWITCH SL_TURN_SWITCH_NANOS

#define CHECK_EQUAL(found, expected) \
    CHECK((found) == (expected), "%lld instead of %lld", (long long)(found), (long long)(expected))

static sl_board_turn_t turn;
static sl_board_tenant_t tenants[SL_BOARD_TENANT_COUNT];
static sl_board_process_t processes[SL_BOARD_PROCESS_COUNT];
static sl_board_t boards[4];
static uint64_t now;

static void join(unsigned tenant, unsigned weight, int priority, bool exclusive) {
    tenants[tenant].owner = 1000 + tenant;
    tenants[tenant].root_identity = sl_tenant.self.identity;
    tenants[tenant].weight = weight;
    tenants[tenant].priority = priority;
    tenants[tenant].exclusive = exclusive;
    processes[tenant].owner = sl_tenant.self.identity;
    processes[tenant].pid_namespace = sl_tenant.self.pid_namespace;
    processes[tenant].tenant = tenant;
    boards[tenant] = (sl_board_t){.turn = &turn, .tenants = tenants, .processes = processes, .tenant = tenant, .process = tenant,
                                  .key = tenants[tenant].owner, .identity = processes[tenant].owner,
                                  .pid_namespace = sl_tenant.self.pid_namespace, .file = {.fd = -1}};
    turn.tenants = turn.processes = tenant + 1;
}

static void begin(unsigned count) {
    static const sl_board_turn_t no_turn;
    sl_reason_t reason;
    CHECK(sl_slots_self(&sl_tenant.self, &reason), "%s", reason.text);
    turn = no_turn;
    memset(tenants, 0, sizeof tenants);
    memset(processes, 0, sizeof processes);
    now = sl_os_nanos();
    for (unsigned i = 0; i < count; i++)
        join(i, 1, 0, false);
}

static void want(unsigned tenant, uint64_t since) {
    processes[tenant].waiting = 1;
    processes[tenant].waiting_nanos = since;
}

static unsigned holder(void) {
    return (unsigned)(turn.word & 0xff) - 1;
}

static void take(unsigned tenant) {
    processes[tenant].waiting = 0;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[tenant], now, 1000 * MILLI));
    CHECK_EQUAL(holder(), tenant);
    now = turn.began_nanos;
}

/* The holder has worked until then and hands over. The tenant that gets the turn stops waiting. */
static unsigned give(unsigned tenant, uint64_t at, bool wants_more) {
    now = at;
    processes[tenant].busy_nanos = at - 1;
    sl_turn_give(&boards[tenant], wants_more, at);
    unsigned next = holder();
    if (next != tenant) {
        processes[next].waiting = 0;
        if (wants_more)
            want(tenant, at);
    }
    return next;
}

static void should_keep_the_turn_while_no_tenant_waits(void) {
    begin(2);
    take(0);
    CHECK_EQUAL(give(0, turn.ends_nanos + 500 * MILLI, true), 0);
}

static void should_go_round_the_table(void) {
    begin(3);
    take(0);
    want(1, now);
    want(2, now);
    for (unsigned i = 0; i < 9; i++)
        CHECK_EQUAL(give(i % 3, turn.ends_nanos, true), (i + 1) % 3);
}

static void should_give_time_by_weight(void) {
    begin(2);
    tenants[0].weight = 3;
    take(0);
    want(1, now);
    give(0, turn.ends_nanos, true);
    CHECK_EQUAL(turn.ends_nanos - now, 10 * MILLI + SWITCH);
    give(1, turn.ends_nanos, true);
    CHECK_EQUAL(turn.ends_nanos - now, 30 * MILLI + SWITCH);
}

static void should_let_a_plan_go_before_weights(void) {
    begin(2);
    tenants[1].plan_nanos = 4 * MILLI;
    take(0);
    want(1, now);
    give(0, turn.ends_nanos, true);
    CHECK_EQUAL(turn.ends_nanos - now, 4 * MILLI + SWITCH);
}

/* Kernels of 50 ms against a turn of 10 ms: four turns are passed over for each. */
static void should_take_a_long_turn_off_the_next(void) {
    begin(2);
    take(0);
    want(1, now);
    uint64_t held[2] = {0, 0};
    for (unsigned i = 0, who = 0; i < 600; i++) {
        uint64_t began = now;
        unsigned next = give(who, who ? now + 50 * MILLI : turn.ends_nanos, true);
        held[who] += now - began;
        who = next;
    }
    double ratio = (double)held[0] / (double)held[1];
    CHECK(ratio > 0.97 && ratio < 1.03, "the ratio is %.3f", ratio);
}

static void should_not_charge_time_that_no_tenant_wanted(void) {
    begin(2);
    take(0);
    uint64_t late = turn.ends_nanos + 5000 * MILLI;
    want(1, late);
    give(0, late + MILLI, true);
    CHECK_EQUAL(holder(), 1);
    CHECK(tenants[0].balance_nanos >= -2 * (int64_t)MILLI, "%lld", (long long)tenants[0].balance_nanos);
}

/* A second process of a tenant, in an entry behind those of the others. */
static sl_board_process_t *add_sibling(unsigned tenant) {
    sl_board_process_t *sibling = &processes[turn.processes++];
    sibling->owner = sl_tenant.self.identity;
    sibling->pid_namespace = sl_tenant.self.pid_namespace;
    sibling->tenant = tenant;
    return sibling;
}

static void should_not_give_the_turn_while_a_sibling_works(void) {
    begin(2);
    take(0);
    sl_board_process_t *first = add_sibling(0), *second = add_sibling(0);
    want(1, now);
    uint64_t at = turn.ends_nanos;
    first->busy_nanos = at + 50 * MILLI;
    second->busy_nanos = at - 1;
    CHECK_EQUAL(give(0, at, true), 0);
    first->busy_nanos = at - 1;
    second->busy_nanos = at + 50 * MILLI;
    CHECK_EQUAL(give(0, at, true), 0);
    second->busy_nanos = at;
    CHECK_EQUAL(give(0, at, true), 1);
}

static void should_not_seize_the_turn_while_a_sibling_works(void) {
    for (int i = 0; i < 4; i++) {
        begin(2);
        take(0);
        sl_board_process_t *first = add_sibling(0), *second = add_sibling(0);
        uint64_t start = sl_os_nanos(), later = start + 50000 * MILLI;
        processes[0].busy_nanos = start;
        first->busy_nanos = i == 0 ? later : start;
        second->busy_nanos = i == 1 ? later : start;
        first->blocked_nanos = i == 2 ? start + 20 * MILLI : 0;
        second->blocked_nanos = i == 3 ? start + 20 * MILLI : 0;
        CHECK(SL_TURN_NOT_YET == sl_turn_wait(&boards[1], start, 3 * MILLI) || (i > 1 && sl_os_nanos() - start >= 20 * MILLI), "%d", i);
    }
    begin(2);
    take(0);
    add_sibling(0)->busy_nanos = processes[0].busy_nanos = now;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], now, 5000 * MILLI));
}

/* The first of a tenant's processes to wait decides when the tenant's turn comes. */
static void should_wait_as_long_as_the_first_of_the_siblings(void) {
    begin(3);
    for (unsigned i = 0; i < 3; i++)
        tenants[i].exclusive = 1;
    take(0);
    sl_board_process_t *early = add_sibling(2), *late = add_sibling(2);
    early->waiting = late->waiting = 1;
    early->waiting_nanos = now - 50;
    late->waiting_nanos = now - 10;
    want(1, now - 30);
    want(2, now - 20);
    CHECK_EQUAL(give(0, now + MILLI, true), 2);
}

static void should_owe_no_more_than_a_hundred_turns(void) {
    begin(2);
    take(0);
    want(1, now);
    give(0, turn.ends_nanos + 60000 * MILLI, true);
    CHECK_EQUAL(holder(), 1);
    CHECK_EQUAL(tenants[0].balance_nanos, -100 * 10 * (int64_t)MILLI);
}

/* It had nothing to do, so it has no claim to the rest. */
static void should_not_add_the_rest_of_a_turn_that_was_given_up(void) {
    begin(2);
    take(0);
    want(1, now);
    CHECK_EQUAL(give(0, now + 2 * MILLI, false), 1);
    CHECK_EQUAL(tenants[0].balance_nanos, 0);
    want(0, now);
    CHECK_EQUAL(give(1, turn.ends_nanos, true), 0);
    CHECK_EQUAL(turn.ends_nanos - now, 10 * MILLI + SWITCH);
}

static void should_let_a_higher_priority_go_first(void) {
    begin(3);
    tenants[2].priority = 1;
    take(0);
    want(1, now);
    want(2, now + 5);
    CHECK_EQUAL(give(0, turn.ends_nanos, true), 2);
}

static void cut_after(uint64_t nanos) {
    begin(3);
    tenants[2].priority = 1;
    take(0);
    want(1, now);
    processes[0].busy_nanos = now + 50000 * MILLI;
    CHECK(SL_TURN_NOT_YET == sl_turn_wait(&boards[2], now, 0));
    CHECK_EQUAL(sl_turn_ends(&boards[0], now), now);
    want(2, now);
    CHECK_EQUAL(give(0, now + nanos, true), 2);
}

static void should_go_on_with_a_turn_that_was_cut(void) {
    cut_after(2 * MILLI);
    CHECK_EQUAL(give(2, now + MILLI, false), 0);
    CHECK(turn.ends_nanos - now > 7 * MILLI && turn.ends_nanos - now < 9 * MILLI, "%llu", (unsigned long long)(turn.ends_nanos - now));
    CHECK_EQUAL(give(0, turn.ends_nanos, true), 1);
    CHECK_EQUAL(give(1, turn.ends_nanos, true), 0);
    CHECK(turn.ends_nanos - now > 9 * MILLI && turn.ends_nanos - now < 11 * MILLI, "%llu", (unsigned long long)(turn.ends_nanos - now));
}

static void should_add_the_little_that_was_cut_to_the_next_turn(void) {
    cut_after(9 * MILLI + MILLI / 2);
    CHECK_EQUAL(give(2, now + MILLI, false), 1);
    CHECK_EQUAL(give(1, turn.ends_nanos, true), 0);
    CHECK(turn.ends_nanos - now > 10 * MILLI && turn.ends_nanos - now < 11 * MILLI, "%llu", (unsigned long long)(turn.ends_nanos - now));
}

/* The holder had just finished its submitted work, and the other tenant was faster than its next call. */
static void should_go_on_with_a_turn_that_a_higher_priority_seized(void) {
    begin(3);
    tenants[0].weight = 100;
    tenants[2].priority = 1;
    take(0);
    want(1, now);
    processes[0].busy_nanos = sl_os_nanos();
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[2], sl_os_nanos(), 1000 * MILLI));
    CHECK_EQUAL(turn.seized, 1);
    want(0, now);
    CHECK_EQUAL(give(2, sl_os_nanos(), false), 0);
    CHECK(turn.ends_nanos - now > 500 * MILLI && turn.ends_nanos - now < 1000 * MILLI + 2 * SWITCH, "%llu", (unsigned long long)(turn.ends_nanos - now));
}

/* Two tenants; the first lost almost all of its turn of a second, and wants the GPU again so long after its work. */
static void lose_a_turn(uint64_t pause) {
    begin(2);
    tenants[0].weight = 100;
    take(0);
    processes[0].busy_nanos = now;
    uint64_t worked = now;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], now, 1000 * MILLI));
    CHECK_EQUAL(turn.seized, 1);
    want(0, worked + pause);
    CHECK_EQUAL(give(1, turn.ends_nanos + 50 * MILLI, true), 0);
}

static void should_add_what_an_idle_holder_lost_to_its_next_turn(void) {
    lose_a_turn(10 * MILLI);
    CHECK(turn.ends_nanos - now > 1500 * MILLI, "%llu", (unsigned long long)(turn.ends_nanos - now));
}

static void should_forget_what_an_idle_holder_lost_when_it_does_not_come_back(void) {
    lose_a_turn(30 * MILLI);
    CHECK_EQUAL(turn.ends_nanos - now, 1000 * MILLI + SWITCH);
}

/* The tenant whose turn was cut is absent when the higher priority is done. So another tenant has a turn first. */
static void should_owe_the_rest_of_a_cut_turn_to_one_that_was_passed_over(void) {
    cut_after(2 * MILLI);
    processes[0].waiting = 0;
    CHECK_EQUAL(give(2, now + MILLI, false), 1);
    want(0, now);
    CHECK_EQUAL(give(1, turn.ends_nanos, true), 0);
    CHECK(turn.ends_nanos - now > 17 * MILLI && turn.ends_nanos - now < 19 * MILLI, "%llu", (unsigned long long)(turn.ends_nanos - now));
}

static void should_serve_exclusive_ones_in_the_order_they_came(void) {
    begin(4);
    for (unsigned i = 0; i < 4; i++)
        tenants[i].exclusive = 1;
    take(0);
    want(3, now - 30);
    want(1, now - 20);
    want(2, now - 10);
    CHECK_EQUAL(give(0, now + MILLI, true), 3);
    CHECK_EQUAL(give(3, now + MILLI, true), 1);
    CHECK_EQUAL(give(1, now + MILLI, true), 2);
    CHECK_EQUAL(give(2, now + MILLI, true), 0);
}

static void should_seize_the_turn_of_an_idle_holder(void) {
    begin(2);
    take(0);
    uint64_t start = sl_os_nanos();
    processes[0].busy_nanos = start + 2 * MILLI;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], start, 5000 * MILLI));
    CHECK(sl_os_nanos() - start >= 2 * MILLI);
    CHECK_EQUAL(turn.seized, 1);
}

static void should_keep_the_turn_while_a_thread_waits_for_the_gpu(void) {
    begin(3);
    tenants[2].priority = 1;
    take(0);
    uint64_t start = sl_os_nanos();
    processes[0].busy_nanos = start;
    processes[0].blocked_nanos = start + 20 * MILLI;
    CHECK(SL_TURN_NOT_YET == sl_turn_wait(&boards[1], start, 5 * MILLI) || sl_os_nanos() - start >= 20 * MILLI);
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[2], start, 5000 * MILLI));
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], start, 5000 * MILLI));
}

static void should_seize_the_turn_of_a_thread_that_waits_too_long(void) {
    begin(2);
    take(0);
    uint64_t start = sl_os_nanos();
    processes[0].busy_nanos = start;
    processes[0].blocked_nanos = start + 5 * MILLI;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], start, 5000 * MILLI));
    CHECK(sl_os_nanos() - start >= 5 * MILLI);
    processes[1].busy_nanos = sl_os_nanos();
    processes[1].blocked_nanos = UINT64_MAX;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[0], sl_os_nanos(), 5000 * MILLI), "a time that makes no sense");
}

static void should_outlive_a_dead_holder(void) {
    begin(2);
    take(0);
    processes[0].busy_nanos = sl_os_nanos() + 50000 * MILLI;
    processes[0].owner = 4194303; /* started at 0: nobody */
    tenants[0].root_identity = 4194303;
    uint64_t start = sl_os_nanos();
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], start, 5000 * MILLI));
    CHECK(sl_os_nanos() - start < 1000 * MILLI);
}

static void should_bear_nonsense_on_the_board(void) {
    begin(2);
    turn.word = 0xf7;
    take(0);
    turn.began_nanos = turn.ends_nanos = UINT64_MAX;
    CHECK(sl_turn_ends(&boards[0], now) <= now + 10 * MILLI, "a turn without an end");
    turn.word = 2;
    turn.ready = 0;
    processes[1].tenant = 77;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[0], now, 5000 * MILLI));
}

/* As on a board from before a reboot, or beside a tenant whose clock is another. */
static void should_not_wait_for_a_turn_that_begins_in_the_future(void) {
    begin(2);
    turn.word = 0x102;
    turn.ready = 0x102;
    turn.began_nanos = now + 3600000 * MILLI;
    turn.ends_nanos = turn.began_nanos + 10 * MILLI;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[0], now, 3000 * MILLI), "a new tenant hangs");
    CHECK(sl_os_nanos() - now < 1000 * MILLI);
}

static void should_not_believe_in_work_without_an_end(void) {
    begin(2);
    take(1);
    processes[1].busy_nanos = now + 86400000 * MILLI;
    processes[1].blocked_nanos = now + 86400000 * MILLI;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[0], now, 3000 * MILLI));
}

/* The word names the new holder, and the rest of the turn is not written yet. */
static void should_not_take_a_turn_that_is_being_given(void) {
    begin(3);
    tenants[2].priority = 1;
    take(0);
    processes[0].busy_nanos = now;
    want(1, now);
    turn.word = 0x202;
    CHECK(SL_TURN_NOT_YET == sl_turn_wait(&boards[0], now, MILLI / 2) || sl_os_nanos() - now >= 2 * MILLI);
    CHECK(SL_TURN_NOT_YET == sl_turn_wait(&boards[2], now, MILLI / 2) || sl_os_nanos() - now >= 2 * MILLI, "a higher priority");
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[0], now, 1000 * MILLI), "the giver is dead");
}

/* The process that gave the turn was killed before it wrote the length. */
static void should_end_a_turn_of_unknown_length(void) {
    begin(2);
    turn.word = 0x101;
    uint64_t ends = sl_turn_ends(&boards[0], now);
    CHECK_EQUAL(ends, now + 10 * MILLI);
    CHECK_EQUAL(sl_turn_ends(&boards[0], now + 5 * MILLI), ends);
}

static void should_notice_that_its_entries_are_anothers(void) {
    begin(2);
    take(1);
    processes[0].owner = tenants[0].owner = 0;
    processes[0].tenant = 1;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[0], now, 5000 * MILLI), "it was taken for dead, and hangs");
    CHECK_EQUAL(processes[0].owner, boards[0].identity);
    processes[0].owner = 4711;
    CHECK(SL_TURN_LOST == sl_turn_wait(&boards[0], now, 5000 * MILLI));
    begin(2);
    tenants[0].owner = 4711;
    CHECK(SL_TURN_LOST == sl_turn_wait(&boards[0], now, 5000 * MILLI));
}

/* A child that stands still, in the place of the holder's process. */
static pid_t start_stopped(unsigned process) {
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    sl_os_process_t found = {0};
    kill(child, SIGSTOP);
    for (int i = 0; i < 1000 && found.state != 'T'; i++) {
        sl_os_sleep_nanos(MILLI);
        CHECK(sl_os_process(child, &found));
    }
    processes[process].owner = sl_os_identity(child, &found);
    return child;
}

static void end_child(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void should_take_the_turn_of_a_stopped_holder(void) {
    begin(2);
    take(0);
    pid_t child = start_stopped(0);
    uint64_t start = sl_os_nanos();
    processes[0].busy_nanos = start + 1000 * MILLI;
    processes[0].blocked_nanos = start + 20 * MILLI;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], start, 5000 * MILLI));
    uint64_t took = sl_os_nanos() - start;
    CHECK(took < 500 * MILLI, "it took %llu ms", (unsigned long long)(took / MILLI));
    end_child(child);
}

/* A tenant counts as stopped only if all its working processes are stopped. */
static void should_leave_the_turn_to_a_sibling_of_a_stopped_process(void) {
    begin(2);
    take(0);
    pid_t child = start_stopped(0);
    sl_board_process_t *sibling = add_sibling(0), *idle = add_sibling(0);
    uint64_t start = sl_os_nanos();
    processes[0].busy_nanos = sibling->busy_nanos = start + 60000 * MILLI;
    CHECK(SL_TURN_NOT_YET == sl_turn_wait(&boards[1], start, 100 * MILLI), "the sibling works");
    sibling->busy_nanos = idle->busy_nanos = start;
    CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], start, 5000 * MILLI));
    end_child(child);
}

static void should_leave_exclusive_work_of_a_stopped_holder_alone(void) {
    begin(2);
    tenants[0].exclusive = 1;
    take(0);
    pid_t child = start_stopped(0);
    processes[0].busy_nanos = sl_os_nanos() + 10000 * MILLI;
    CHECK(SL_TURN_NOT_YET == sl_turn_wait(&boards[1], sl_os_nanos(), 100 * MILLI));
    end_child(child);
}

static void should_give_one_turn_to_a_waiter_that_is_stopped(void) {
    begin(2);
    pid_t child = start_stopped(0);
    want(0, now);
    take(1);
    for (unsigned i = 0; i < 5; i++) {
        uint64_t start = sl_os_nanos();
        processes[1].busy_nanos = start - 1;
        processes[1].waiting = 0;
        sl_turn_give(&boards[1], true, start);
        CHECK(SL_TURN_MINE == sl_turn_wait(&boards[1], start, 1000 * MILLI));
    }
    CHECK(turn.seized <= 1, "it was given %llu turns", (unsigned long long)turn.seized);
    CHECK(processes[0].owner, "it was taken for dead");
    end_child(child);
}

static void should_not_heed_the_priority_of_the_dead(void) {
    begin(3);
    tenants[1].priority = 1;
    tenants[2].priority = -1;
    CHECK(sl_turn_has_superior(&boards[0]) && sl_turn_has_inferior(&boards[0]) && !sl_turn_has_superior(&boards[1]));
    for (unsigned i = 1; i < 3; i++)
        processes[i].owner = tenants[i].root_identity = 4194303; /* started at 0: nobody */
    CHECK(!sl_turn_has_superior(&boards[0]) && !sl_turn_has_inferior(&boards[0]));
}

/* As on a board from before a reboot, or beside a tenant whose clock is another. */
static void should_not_believe_in_a_wish_from_the_future(void) {
    begin(1);
    turn.wanted_nanos = now - 5 * MILLI;
    CHECK(sl_turn_is_wanted(&boards[0], now));
    turn.wanted_nanos = now + 5 * MILLI; /* a coarse clock is a little behind */
    CHECK(sl_turn_is_wanted(&boards[0], now));
    turn.wanted_nanos = now + 3600000 * MILLI;
    CHECK(!sl_turn_is_wanted(&boards[0], now));
    turn.wanted_nanos = now - 50 * MILLI;
    CHECK(!sl_turn_is_wanted(&boards[0], now));
}

static void should_find_a_dead_waiter_once(void) {
    begin(3);
    processes[2].owner = 4194303; /* started at 0: nobody */
    tenants[2].root_identity = 4194303;
    want(2, now);
    take(0);
    for (unsigned i = 0; i < 4; i++) {
        unsigned from = i % 2, to = 1 - from;
        uint64_t start = sl_os_nanos();
        processes[from].busy_nanos = start - 1;
        processes[from].waiting = 0;
        want(to, start);
        sl_turn_give(&boards[from], false, start);
        processes[to].waiting = 0;
        CHECK(SL_TURN_MINE == sl_turn_wait(&boards[to], start, 1000 * MILLI));
    }
    CHECK(!processes[2].owner, "it has an entry still");
    CHECK(turn.seized <= 1, "it was given %llu turns", (unsigned long long)turn.seized);
}

int main(void) {
    RUN(should_keep_the_turn_while_no_tenant_waits);
    RUN(should_go_round_the_table);
    RUN(should_give_time_by_weight);
    RUN(should_let_a_plan_go_before_weights);
    RUN(should_take_a_long_turn_off_the_next);
    RUN(should_not_charge_time_that_no_tenant_wanted);
    RUN(should_owe_no_more_than_a_hundred_turns);
    RUN(should_not_add_the_rest_of_a_turn_that_was_given_up);
    RUN(should_not_give_the_turn_while_a_sibling_works);
    RUN(should_not_seize_the_turn_while_a_sibling_works);
    RUN(should_wait_as_long_as_the_first_of_the_siblings);
    RUN(should_let_a_higher_priority_go_first);
    RUN(should_go_on_with_a_turn_that_was_cut);
    RUN(should_add_the_little_that_was_cut_to_the_next_turn);
    RUN(should_go_on_with_a_turn_that_a_higher_priority_seized);
    RUN(should_add_what_an_idle_holder_lost_to_its_next_turn);
    RUN(should_forget_what_an_idle_holder_lost_when_it_does_not_come_back);
    RUN(should_owe_the_rest_of_a_cut_turn_to_one_that_was_passed_over);
    RUN(should_serve_exclusive_ones_in_the_order_they_came);
    RUN(should_seize_the_turn_of_an_idle_holder);
    RUN(should_keep_the_turn_while_a_thread_waits_for_the_gpu);
    RUN(should_seize_the_turn_of_a_thread_that_waits_too_long);
    RUN(should_outlive_a_dead_holder);
    RUN(should_bear_nonsense_on_the_board);
    RUN(should_not_wait_for_a_turn_that_begins_in_the_future);
    RUN(should_not_believe_in_work_without_an_end);
    RUN(should_not_take_a_turn_that_is_being_given);
    RUN(should_end_a_turn_of_unknown_length);
    RUN(should_take_the_turn_of_a_stopped_holder);
    RUN(should_leave_the_turn_to_a_sibling_of_a_stopped_process);
    RUN(should_leave_exclusive_work_of_a_stopped_holder_alone);
    RUN(should_give_one_turn_to_a_waiter_that_is_stopped);
    RUN(should_notice_that_its_entries_are_anothers);
    RUN(should_not_heed_the_priority_of_the_dead);
    RUN(should_not_believe_in_a_wish_from_the_future);
    RUN(should_find_a_dead_waiter_once);
    return 0;
}
