/* Tenants and processes join a board and leave it, from any pid namespace, killed or not. */
#include "check.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "os/os.h"
#include "tenant/tenant.h"
#include "turns/seen.h"
#include "turns/turn.h"

#define MILLI 1000000ull

static const uint8_t uuid[16] = {'b', 'o', 'a', 'r', 'd'};
static sl_region_header_t header;
static sl_region_limits_t limits;
static sl_reason_t reason;

/* Makes this a process of a tenant with this creation time. The tenant's first process has ended. */
static void become(uint64_t created) {
    header.created_nanos = created;
    header.root_identity = 4194303;
    snprintf(header.tenant, sizeof header.tenant, "t%llu", (unsigned long long)created);
    snprintf(sl_tenant.region.path, sizeof sl_tenant.region.path, "%s/t.region", test_folder);
    sl_tenant.region.header = &header;
    sl_tenant.region.limits = &limits;
    CHECK(sl_slots_self(&sl_tenant.self, &reason), "%s", reason.text);
}

static uint64_t *shared; /* between a test and its children */

static void join_and_be_killed(void) {
    sl_board_t board = {0};
    become(++*shared);
    CHECK(sl_board_join(&board, uuid, &reason), "%s", reason.text);
    board.processes[board.process].waiting = 1;
    board.processes[board.process].waiting_nanos = sl_os_nanos();
    board.processes[board.process].busy_nanos = sl_os_nanos() + 30000 * MILLI;
    kill(getpid(), SIGKILL);
    _exit(0);
}

static void with_own_proc(void) {
    if (mount("proc", "/proc", "proc", 0, NULL) != 0)
        _exit(SKIPPED);
    _exit(in_child(join_and_be_killed) == 128 + SIGKILL ? 0 : 1);
}

static void in_a_namespace(void) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0)
        _exit(SKIPPED);
    _exit(in_child(with_own_proc));
}

/* More than there are entries. */
static void should_have_room_after_many_containers(void) {
    for (int i = 0; i < SL_BOARD_TENANT_COUNT + 20; i++) {
        int status = in_child(in_a_namespace);
        if (status == SKIPPED) {
            printf("skipped: this machine gives no pid namespaces to tests\n");
            return;
        }
        CHECK(status == 0, "container %d: %d", i, status);
    }
    sl_board_t board = {0};
    become(1000);
    CHECK(sl_board_join(&board, uuid, &reason), "%s", reason.text);
    uint64_t start = sl_os_nanos();
    CHECK(SL_TURN_MINE == sl_turn_wait(&board, start, 5000 * MILLI));
    CHECK(sl_os_nanos() - start < 1000 * MILLI, "the dead cost %llu ms", (unsigned long long)((sl_os_nanos() - start) / MILLI));
    sl_board_forget(&board);
}

static void stay(void) {
    sl_board_t board = {0};
    become(++*shared);
    CHECK(sl_board_join(&board, uuid, &reason), "%s", reason.text);
    shared[1] = board.process + 1;
    for (;;)
        pause();
}

/* The process has closed our descriptors, so it asks /proc whether others live. */
static void should_see_live_processes_without_a_descriptor(void) {
    shared[1] = 0;
    pid_t child = fork();
    if (child == 0)
        stay();
    while (!__atomic_load_n(&shared[1], __ATOMIC_ACQUIRE))
        sl_os_sleep_nanos(MILLI);
    sl_board_t board = {0};
    become(2000);
    CHECK(sl_board_join(&board, uuid, &reason), "%s", reason.text);
    unsigned other = (unsigned)shared[1] - 1;
    CHECK(sl_seen_alive(&board, other) && other != board.process);
    close(board.file.fd);
    CHECK(sl_seen_alive(&board, other));
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(!sl_seen_alive(&board, other));
    sl_board_forget(&board);
}

static const uint8_t other_uuid[16] = {'o', 't', 'h', 'e', 'r'};

static void take_the_turn_and_be_killed(void) {
    sl_board_t board = {0};
    become(++*shared);
    CHECK(sl_board_join(&board, other_uuid, &reason), "%s", reason.text);
    CHECK(SL_TURN_MINE == sl_turn_wait(&board, sl_os_nanos(), 5000 * MILLI));
    board.tenants[board.tenant].held_nanos = board.tenants[board.tenant].turns = 5;
    board.tenants[board.tenant].balance_nanos = -5;
    shared[1] = board.tenant + 1;
    kill(getpid(), SIGKILL);
}

static void should_not_inherit_what_a_dead_tenant_had(void) {
    sl_board_t stranger = {0}, board = {0};
    become(4000);
    CHECK(sl_board_join(&stranger, other_uuid, &reason), "%s", reason.text);
    stranger.tenants[stranger.tenant].plan_nanos = 7 * MILLI;
    shared[1] = 0;
    CHECK(in_child(take_the_turn_and_be_killed) == 128 + SIGKILL);
    unsigned dead = (unsigned)shared[1] - 1;
    CHECK((sl_turn_word(&stranger) & 0xff) == dead + 1 && dead != stranger.tenant, "the dead one has the turn");
    stranger.tenants[stranger.tenant].plan_nanos = 7 * MILLI;
    become(5000);
    CHECK(sl_board_join(&board, other_uuid, &reason), "%s", reason.text);
    CHECK(board.tenant == dead, "the entry of the dead is taken again");
    CHECK(!sl_turn_is_mine(&board), "the turn of the dead is taken, too");
    const sl_board_tenant_t *entry = &board.tenants[dead];
    CHECK(!entry->held_nanos && !entry->turns && !entry->balance_nanos && entry->owner == 5000);
    CHECK(!board.tenants[stranger.tenant].plan_nanos, "a plan that does not know the newcomer");
    sl_board_forget(&board);
    sl_board_forget(&stranger);
}

static void should_keep_the_turn_of_others_when_one_joins(void) {
    sl_board_t first = {0}, second = {0};
    become(6000);
    CHECK(sl_board_join(&first, other_uuid, &reason) && SL_TURN_MINE == sl_turn_wait(&first, sl_os_nanos(), 5000 * MILLI));
    become(7000);
    CHECK(sl_board_join(&second, other_uuid, &reason));
    CHECK(sl_turn_is_mine(&first) && !sl_turn_is_mine(&second));
    sl_board_forget(&second);
    sl_board_forget(&first);
}

/* Another process overwrote the owner of an entry whose process lives. */
static void should_leave_an_entry_to_the_process_that_holds_its_sign(void) {
    shared[1] = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        stay();
    }
    while (!__atomic_load_n(&shared[1], __ATOMIC_ACQUIRE))
        sl_os_sleep_nanos(MILLI);
    sl_board_t board = {0}, again = {0};
    unsigned other = (unsigned)shared[1] - 1;
    become(8000);
    CHECK(sl_board_join(&board, uuid, &reason), "%s", reason.text);
    for (unsigned i = 0; i < SL_BOARD_PROCESS_COUNT; i++)
        if (i != other && i != board.process) {
            board.processes[i].pid_namespace = sl_tenant.self.pid_namespace + 1; /* no process of this namespace can tell whether it lives */
            board.processes[i].owner = 1;
        }
    board.processes[other].owner = 0;
    become(9000);
    board.processes[board.process].owner = 1; /* it would take its own again */
    CHECK(!sl_board_join(&again, uuid, &reason) && board.processes[other].owner == 0, "it has the entry of a process that lives");
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(sl_board_join(&again, uuid, &reason) && again.process == other, "%s", reason.text);
    for (unsigned i = 0; i < SL_BOARD_PROCESS_COUNT; i++)
        if (board.processes[i].owner == 1)
            board.processes[i].owner = 0;
    sl_board_forget(&again);
    sl_board_forget(&board);
}

static void should_say_that_a_board_is_full(void) {
    sl_board_t board = {0};
    become(3000);
    CHECK(sl_board_join(&board, uuid, &reason));
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++) {
        board.tenants[i].owner = 10000 + i;
        board.tenants[i].root_identity = sl_tenant.self.identity;
    }
    sl_board_t full = {0};
    CHECK(!sl_board_join(&full, uuid, &reason) && !full.base && strstr(reason.text, "full"), "%s", reason.text);
    sl_board_forget(&board);
}

int main(void) {
    use_test_folder();
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RUN(should_have_room_after_many_containers);
    RUN(should_see_live_processes_without_a_descriptor);
    RUN(should_not_inherit_what_a_dead_tenant_had);
    RUN(should_keep_the_turn_of_others_when_one_joins);
    RUN(should_leave_an_entry_to_the_process_that_holds_its_sign);
    RUN(should_say_that_a_board_is_full);
    return 0;
}
