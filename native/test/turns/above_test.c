/* Priorities by time slices: which tenants have short slices, which one works outside the turns, and how it interrupts turns. */
#include "check.h"

#include <unistd.h>

#include "os/os.h"
#include "tenant/tenant.h"
#include "turns/seen.h"
#include "turns/turn.h"

#define MILLI 1000000ull

static sl_board_turn_t turn;
static sl_board_tenant_t tenants[SL_BOARD_TENANT_COUNT];
static sl_board_process_t processes[SL_BOARD_PROCESS_COUNT];
static sl_board_t boards[4];

static void join(unsigned tenant, int priority, uint32_t micros) {
    tenants[tenant].owner = 1000 + tenant;
    tenants[tenant].root_identity = sl_tenant.self.identity;
    tenants[tenant].weight = 1;
    tenants[tenant].priority = priority;
    processes[tenant].owner = sl_tenant.self.identity;
    processes[tenant].pid_namespace = sl_tenant.self.pid_namespace;
    processes[tenant].tenant = tenant;
    processes[tenant].slice_micros = micros;
    processes[tenant].busy_nanos = sl_os_nanos();
    boards[tenant] = (sl_board_t){.turn = &turn, .tenants = tenants, .processes = processes, .tenant = tenant, .process = tenant,
                                  .key = tenants[tenant].owner, .identity = processes[tenant].owner,
                                  .pid_namespace = sl_tenant.self.pid_namespace, .file = {.fd = -1}};
    turn.tenants = turn.processes = tenant + 1;
}

/* A high one, a normal one and a low one. */
static void begin(void) {
    static const sl_board_turn_t no_turn;
    sl_reason_t reason;
    CHECK(sl_slots_self(&sl_tenant.self, &reason), "%s", reason.text);
    turn = no_turn;
    memset(tenants, 0, sizeof tenants);
    memset(processes, 0, sizeof processes);
    join(0, 1, 2048);
    join(1, 0, 1);
    join(2, -1, 1);
}

static sl_seen_rank_t rank(unsigned tenant) {
    return sl_seen_rank(&boards[tenant], sl_os_nanos());
}

/* No process has this identity: pid 1 of another boot. */
static void kill_process(unsigned process) {
    processes[process].owner = (99ull << 50) | 4194300;
}

static void should_put_one_high_tenant_above_all_others(void) {
    begin();
    CHECK(rank(0) == SL_SEEN_ABOVE);
    CHECK(rank(1) == SL_SEEN_BELOW && rank(2) == SL_SEEN_BELOW);
}

static void should_leave_all_in_turns_without_a_high_tenant(void) {
    begin();
    tenants[0].priority = 0;
    for (unsigned i = 0; i < 3; i++)
        CHECK(rank(i) == SL_SEEN_IN_TURNS);
}

static void should_leave_two_high_tenants_in_turns_above_the_rest(void) {
    begin();
    tenants[1].priority = 1;
    CHECK(rank(0) == SL_SEEN_IN_TURNS && rank(1) == SL_SEEN_IN_TURNS && rank(2) == SL_SEEN_BELOW);
    kill_process(1);
    CHECK(rank(0) == SL_SEEN_ABOVE);
}

static void should_forget_a_high_tenant_without_work(void) {
    begin();
    processes[0].busy_nanos = 0;
    CHECK(rank(0) == SL_SEEN_IN_TURNS && rank(1) == SL_SEEN_IN_TURNS && sl_seen_any_high(&boards[1]));
    processes[0].waiting = 1;
    CHECK(rank(0) == SL_SEEN_ABOVE && rank(1) == SL_SEEN_BELOW);
    processes[0].waiting = 0;
    processes[0].busy_nanos = 1000;
    CHECK(sl_seen_rank(&boards[1], 1000 + SL_SEEN_HIGH_NANOS - 1) == SL_SEEN_BELOW);
    CHECK(sl_seen_rank(&boards[1], 1000 + SL_SEEN_HIGH_NANOS) == SL_SEEN_IN_TURNS);
}

static void should_not_wait_for_the_slice_of_a_process_that_never_worked(void) {
    begin();
    processes[2].slice_micros = 2048;
    processes[2].busy_nanos = 0;
    CHECK(sl_seen_others_are_short(&boards[0]) && !sl_seen_is_short(&boards[0], 2));
    processes[2].waiting = 1;
    CHECK(!sl_seen_others_are_short(&boards[0]));
}

static void should_take_the_turn_from_work_that_slices_cut(void) {
    begin();
    uint64_t now = sl_os_nanos();
    CHECK(sl_turn_wait(&boards[2], now, 10 * MILLI) == SL_TURN_MINE);
    sl_turn_say_busy(&boards[2], now + 1000 * MILLI);
    CHECK(sl_turn_wait(&boards[0], sl_os_nanos(), 0) == SL_TURN_MINE);
}

static void should_wait_for_work_that_slices_do_not_cut(void) {
    begin();
    uint64_t now = sl_os_nanos();
    processes[2].slice_micros = 2048;
    CHECK(sl_turn_wait(&boards[2], now, 10 * MILLI) == SL_TURN_MINE);
    sl_turn_say_busy(&boards[2], now + 1000 * MILLI);
    CHECK(sl_turn_wait(&boards[0], sl_os_nanos(), MILLI) == SL_TURN_NOT_YET);
    processes[2].slice_micros = 1;
    tenants[2].exclusive = 1;
    CHECK(sl_turn_wait(&boards[0], sl_os_nanos(), MILLI) == SL_TURN_NOT_YET);
    CHECK(sl_turn_is_mine(&boards[2]));
}

/* The holder's turn and its work take longer by the time in which the GPU worked for the tenant outside the turns. */
static void should_lengthen_a_turn_that_is_interrupted(void) {
    begin();
    uint64_t now = sl_os_nanos();
    CHECK(sl_turn_wait(&boards[2], now, 10 * MILLI) == SL_TURN_MINE);
    uint64_t ends = sl_turn_ends(&boards[2], now + 8 * MILLI), busy = now + 5 * MILLI;
    sl_turn_say_busy(&boards[2], busy);
    turn.above_nanos += 3 * MILLI;
    CHECK(sl_turn_ends(&boards[2], now + 8 * MILLI) == ends + 3 * MILLI);
    sl_seen_t seen;
    sl_seen_read(&seen, &boards[1], now + 8 * MILLI);
    CHECK(seen.interrupted == 3 * MILLI && seen.busy == busy + 3 * MILLI);
    sl_turn_say_busy(&boards[2], busy + MILLI);
    sl_seen_read(&seen, &boards[1], now + 8 * MILLI);
    CHECK(seen.busy == busy + MILLI, "what was said later knows of it");
    turn.above_nanos += 1ull << 60;
    CHECK(sl_turn_ends(&boards[2], now + 8 * MILLI) == ends, "an interruption is no longer than the turn");
    sl_seen_read(&seen, &boards[1], now + 8 * MILLI);
    CHECK(seen.busy == busy + MILLI);
}

static void should_not_take_the_turn_while_work_outside_delays_the_holder(void) {
    begin();
    tenants[1].priority = -1;
    processes[0].outside = 1;
    uint64_t now = sl_os_nanos();
    CHECK(sl_turn_wait(&boards[2], now, 10 * MILLI) == SL_TURN_MINE);
    sl_turn_say_busy(&boards[2], sl_os_nanos());
    sl_turn_say_busy(&boards[0], now + 1000 * MILLI);
    CHECK(sl_turn_wait(&boards[1], sl_os_nanos(), 20 * MILLI) == SL_TURN_NOT_YET);
    sl_turn_say_busy(&boards[0], sl_os_nanos());
    CHECK(sl_turn_wait(&boards[1], sl_os_nanos(), 20 * MILLI) == SL_TURN_MINE);
}

static void should_leave_all_in_turns_beside_an_exclusive_tenant(void) {
    begin();
    tenants[2].exclusive = 1;
    for (unsigned i = 0; i < 3; i++)
        CHECK(rank(i) == SL_SEEN_IN_TURNS);
}

static void should_leave_all_in_turns_when_the_high_tenant_does_not_control_its_slice(void) {
    begin();
    processes[0].slice_micros = 0;
    for (unsigned i = 0; i < 3; i++)
        CHECK(rank(i) == SL_SEEN_IN_TURNS);
}

static void should_end_with_the_high_process(void) {
    begin();
    kill_process(0);
    CHECK(rank(1) == SL_SEEN_IN_TURNS && rank(2) == SL_SEEN_IN_TURNS);
}

static void should_wait_until_all_others_are_short(void) {
    begin();
    CHECK(sl_seen_others_are_short(&boards[0]));
    processes[2].slice_micros = 2048;
    CHECK(!sl_seen_others_are_short(&boards[0]));
    processes[2].slice_micros = 0;
    CHECK(!sl_seen_others_are_short(&boards[0]));
    kill_process(2);
    CHECK(sl_seen_others_are_short(&boards[0]));
}

static void should_believe_no_number_of_a_tenant_that_is_none(void) {
    begin();
    processes[3].owner = sl_tenant.self.identity;
    processes[3].tenant = 0xffffffff;
    turn.processes = 4;
    CHECK(rank(0) == SL_SEEN_ABOVE);
    turn.processes = turn.tenants = 0xffffffff;
    CHECK(rank(1) == SL_SEEN_BELOW);
}

static void should_be_no_superior_of_those_in_turns_while_outside(void) {
    begin();
    CHECK(sl_turn_has_superior(&boards[2]));
    tenants[1].priority = -1;
    processes[0].outside = 1;
    CHECK(!sl_turn_has_superior(&boards[2]));
    tenants[1].priority = 0;
    CHECK(sl_turn_has_superior(&boards[2]) && !sl_turn_has_superior(&boards[1]));
}

static void should_give_the_turn_away_when_it_leaves(void) {
    begin();
    uint64_t now = sl_os_nanos();
    processes[0].waiting = 0;
    CHECK(sl_turn_wait(&boards[0], now, 10 * MILLI) == SL_TURN_MINE);
    sl_turn_say_busy(&boards[0], now + 1000 * MILLI);
    processes[1].waiting = 1;
    processes[1].waiting_nanos = now;
    sl_turn_leave(&boards[0], sl_os_nanos());
    CHECK((turn.word & 0xff) == 2, "%llu", (unsigned long long)turn.word & 0xff);
}

static void should_leave_no_turn_behind(void) {
    begin();
    uint64_t now = sl_os_nanos();
    CHECK(sl_turn_wait(&boards[0], now, 10 * MILLI) == SL_TURN_MINE);
    sl_turn_say_busy(&boards[0], now + 1000 * MILLI);
    sl_turn_leave(&boards[0], sl_os_nanos());
    CHECK((turn.word & 0xff) == 0);
    CHECK(sl_turn_wait(&boards[1], now, 10 * MILLI) == SL_TURN_MINE);
    sl_turn_leave(&boards[0], sl_os_nanos());
    CHECK(sl_turn_is_mine(&boards[1]));
}

int main(void) {
    RUN(should_put_one_high_tenant_above_all_others);
    RUN(should_leave_all_in_turns_without_a_high_tenant);
    RUN(should_leave_two_high_tenants_in_turns_above_the_rest);
    RUN(should_forget_a_high_tenant_without_work);
    RUN(should_not_wait_for_the_slice_of_a_process_that_never_worked);
    RUN(should_take_the_turn_from_work_that_slices_cut);
    RUN(should_wait_for_work_that_slices_do_not_cut);
    RUN(should_lengthen_a_turn_that_is_interrupted);
    RUN(should_not_take_the_turn_while_work_outside_delays_the_holder);
    RUN(should_leave_all_in_turns_beside_an_exclusive_tenant);
    RUN(should_leave_all_in_turns_when_the_high_tenant_does_not_control_its_slice);
    RUN(should_end_with_the_high_process);
    RUN(should_wait_until_all_others_are_short);
    RUN(should_believe_no_number_of_a_tenant_that_is_none);
    RUN(should_be_no_superior_of_those_in_turns_while_outside);
    RUN(should_give_the_turn_away_when_it_leaves);
    RUN(should_leave_no_turn_behind);
    return 0;
}
