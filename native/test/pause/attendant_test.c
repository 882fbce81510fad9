/* The attendant carries out commands; when it cannot, each command learns why. */
#include "on_sim.h"

#include <pthread.h>
#include <sys/mman.h>

#include "os/os.h"
#include "pause/attendant.h"
#include "pause/telling.h"
#include "tenant/registration.h"

static sl_region_limits_t *limits;
static uint64_t number;

static void be_able_to_ask(void) {
    uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    limits = (sl_region_limits_t *)sl_tenant.region.limits;
}

static void look_for_room(void) {
    atomic_store(&limits->room_nanos, sl_os_nanos());
}

static uint64_t only_ask(unsigned depth) {
    uint64_t command = ++number << 8 | depth;
    atomic_store(&limits->command, command);
    return command;
}

/* True: it is done. False: it is refused. */
static bool is_done(uint64_t command) {
    for (int i = 0; i < 10000; i++) {
        if (atomic_load(&sl_tenant.region.slots[sl_tenant.slot].answer) == command)
            return true;
        if (atomic_load(&sl_telling_record()->refused) == command)
            return false;
        usleep(1000);
    }
    CHECK(false, "no answer to command %llx", (unsigned long long)command);
    return false;
}

/* As the tools do. */
static bool ask(unsigned depth) {
    look_for_room();
    return is_done(only_ask(depth));
}

static _Atomic bool is_out_of_threads;
bool __real_sl_thread_start(void *(*body)(void *), void *argument);

bool __wrap_sl_thread_start(void *(*body)(void *), void *argument) {
    return !is_out_of_threads && __real_sl_thread_start(body, argument);
}

static _Atomic bool is_restarted;
static _Atomic unsigned next_depth;

/* The next agent hands over limits of its own, writes the next command there, and has looked for room. */
void __wrap_sl_registration_follow(void) {
    if (!atomic_exchange(&is_restarted, false))
        return;
    char *page = (char *)((uintptr_t)limits & ~4095ul);
    static char copy[4096];
    memcpy(copy, page, sizeof copy);
    CHECK(mmap(page, sizeof copy, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page);
    memcpy(page, copy, sizeof copy);
    only_ask(next_depth);
    look_for_room();
}

/* True: the command that only the next agent's limits have is carried out. */
static bool is_done_for_the_next_agent(unsigned depth) {
    uint64_t command = (number + 1) << 8 | depth;
    next_depth = depth;
    atomic_store(&is_restarted, true);
    return is_done(command);
}

static void should_go_down_and_up(void) {
    for (unsigned depth = SL_REGION_COMMAND_PAUSE; depth <= SL_REGION_COMMAND_VACATE; depth++) {
        CHECK(ask(depth));
        CHECK(account((unsigned)sl_gpu_find(0))->charged_bytes ? depth < SL_REGION_COMMAND_VACATE : depth == SL_REGION_COMMAND_VACATE);
        CHECK(ask(SL_REGION_COMMAND_RUN));
    }
}

/* Memory that can leave the GPU. */
static CUmemGenericAllocationHandle map_some(CUdeviceptr *address) {
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}};
    CUmemAccessDesc access = {{1, 0}, 3};
    CUmemGenericAllocationHandle handle;
    CHECK(hook_cuMemCreate(&handle, 4 * MIB, &prop, 0) == 0 && real.cuMemAddressReserve(address, 4 * MIB, 0, 0, 0) == 0);
    CHECK(hook_cuMemMap(*address, 4 * MIB, 0, handle, 0) == 0 && real.cuMemSetAccess(*address, 4 * MIB, &access, 1) == 0);
    return handle;
}

/* Even if the process ends up as the command asked: the driver neither frees the memory nor maps it again. */
static _Atomic uint64_t registered; /* bytes */

static CUresult count_register(void *start, size_t bytes, unsigned flags) {
    registered += bytes;
    return true_cuMemHostRegister_v2(start, bytes, flags);
}

static void wait_until_registered(uint64_t bytes) {
    for (int i = 0; i < 10000 && registered < bytes; i++)
        usleep(1000);
    CHECK(registered == bytes, "%llu bytes", (unsigned long long)registered);
}

/* The checkpoint needs it unregistered. It is registered again when the job runs, not while it waits. */
static void should_register_prepared_memory_again_after_a_vacate(void) {
    true_cuMemHostRegister_v2 = real.cuMemHostRegister_v2;
    real.cuMemHostRegister_v2 = count_register;
    limits->prepared_bytes = 130 * MIB;
    sl_attendant_wake();
    wait_until_registered(130 * MIB);
    CHECK(ask(SL_REGION_COMMAND_VACATE) && ask(SL_REGION_COMMAND_PAUSE) && registered == 130 * MIB);
    CHECK(ask(SL_REGION_COMMAND_RUN));
    wait_until_registered(260 * MIB);
    CHECK(sl_telling_record()->reservoir_bytes == 130 * MIB);
    limits->prepared_bytes = 0;
    sl_attendant_wake();
    for (int i = 0; i < 10000 && sl_telling_record()->reservoir_bytes; i++)
        usleep(1000);
    CHECK(!sl_telling_record()->reservoir_bytes);
    real.cuMemHostRegister_v2 = true_cuMemHostRegister_v2;
}

static void should_refuse_with_a_reason_and_go_on(void) {
    CUdeviceptr address;
    CUmemGenericAllocationHandle handle = map_some(&address);
    unsigned refused = 0, broken = 0;
    make_faulty();
    arm(0, 0);
    CHECK(ask(SL_REGION_COMMAND_EVICT));
    unsigned calls = disarm();
    CHECK(ask(SL_REGION_COMMAND_RUN));
    for (unsigned at = 1; at <= calls; at++) {
        arm(at, 1u << 30);
        bool done = ask(SL_REGION_COMMAND_EVICT);
        disarm();
        if (!done) {
            usleep(2000);
            CHECK(sl_telling_record()->reason[0]);
            CHECK(sl_tenant.region.slots[sl_tenant.slot].answer != limits->command);
            refused++;
            broken += strstr(sl_telling_record()->reason, "map it again") != NULL;
        }
        CHECK(ask(SL_REGION_COMMAND_RUN), "%s", sl_telling_record()->reason);
    }
    printf("  %u refused, %u of them half way\n", refused, broken);
    CHECK(refused > broken && broken);
    CHECK(hook_cuMemUnmap(address, 4 * MIB) == 0 && hook_cuMemRelease(handle) == 0);
}

static CUresult be_broken(void) {
    return 700;
}

/* An illegal address, for example: the context answers every call with the same error. */
static void should_only_hold_a_broken_context(void) {
    CUresult (*true_synchronize)(void) = real.cuCtxSynchronize;
    real.cuCtxSynchronize = be_broken;
    CHECK(ask(SL_REGION_COMMAND_PAUSE));
    CHECK(!ask(SL_REGION_COMMAND_EVICT) && strstr(sl_telling_record()->reason, "error 700"), "%s", sl_telling_record()->reason);
    CHECK(!ask(SL_REGION_COMMAND_VACATE) && strstr(sl_telling_record()->reason, "error 700"));
    CHECK(ask(SL_REGION_COMMAND_RUN));
    real.cuCtxSynchronize = true_synchronize;
    CHECK(ask(SL_REGION_COMMAND_EVICT) && ask(SL_REGION_COMMAND_RUN));
}

static bool is_logged(const char *text) {
    for (int i = 0; i < SL_REGION_ERROR_COUNT; i++)
        if (sl_tenant.region.errors[i].state && strstr(sl_tenant.region.errors[i].text, text))
            return true;
    return false;
}

/* In a process of its own: its first cuMemsetD8 has an error that stays. */
static void should_leave_the_program_its_error(void) {
    CUdeviceptr address;
    CHECK(hook_cuMemAlloc_v2(&address, 4 * MIB) == 0);
    CHECK(ask(SL_REGION_COMMAND_EVICT) && ask(SL_REGION_COMMAND_RUN));
    CHECK(real.cuMemsetD8_v2(address, 1, 4 * MIB) == 0 && real.cuCtxSynchronize() == 700);
    uint64_t before = account((unsigned)sl_gpu_find(0))->charged_bytes;
    CHECK(!is_logged("error 700") && ask(SL_REGION_COMMAND_PAUSE));
    CHECK(is_logged("paused, and a context answers error 700"), "a hold that is not complete was not told");
    for (unsigned depth = SL_REGION_COMMAND_EVICT; depth <= SL_REGION_COMMAND_VACATE; depth++) {
        CHECK(!ask(depth) && strstr(sl_telling_record()->reason, "a context answers error 700"), "%s", sl_telling_record()->reason);
        CHECK(!sl_telling_record()->away_bytes && account((unsigned)sl_gpu_find(0))->charged_bytes == before);
    }
    CHECK(ask(SL_REGION_COMMAND_RUN) && real.cuCtxSynchronize() == 700);
}

static void should_end_a_long_reason_with_a_word(void) {
    char text[200] = "", *end = text;
    for (int i = 0; i < 30; i++)
        end += sprintf(end, "word%d ", i);
    sl_telling_reason("%s", text);
    const char *reason = sl_telling_record()->reason;
    size_t length = strlen(reason);
    CHECK(length < sizeof sl_telling_record()->reason && strcmp(reason + length - 4, " …") == 0, "%s", reason);
    CHECK(strncmp(text, reason, length - 4) == 0 && text[length - 4] == ' ', "%s", reason);
    sl_telling_reason("%s", "short");
    CHECK(strcmp(reason, "short") == 0);
}

/* Released, it stays on the GPU. */
static void should_not_vacate_managed_memory(void) {
    CUdeviceptr address;
    CHECK(hook_cuMemAllocManaged(&address, 8 * MIB, 1) == 0);
    CHECK(!ask(SL_REGION_COMMAND_VACATE) && strstr(sl_telling_record()->reason, "managed memory"), "%s", sl_telling_record()->reason);
    CHECK(ask(SL_REGION_COMMAND_RUN));
    CUdeviceptr mapped;
    CUmemGenericAllocationHandle handle = map_some(&mapped);
    CHECK(ask(SL_REGION_COMMAND_EVICT) && sl_telling_record()->away_bytes == 4 * MIB && sl_telling_record()->staying_bytes >= 8 * MIB);
    CHECK(account((unsigned)sl_gpu_find(0))->managed_bytes == 8 * MIB);
    CHECK(ask(SL_REGION_COMMAND_RUN) && hook_cuMemUnmap(mapped, 4 * MIB) == 0 && hook_cuMemRelease(handle) == 0);
    CHECK(hook_cuMemFree_v2(address) == 0 && ask(SL_REGION_COMMAND_VACATE) && ask(SL_REGION_COMMAND_RUN));
}

static CUresult (*true_restore)(int, CUcheckpointRestoreArgs *);
static _Atomic unsigned restores;

static CUresult count_restore(int pid, CUcheckpointRestoreArgs *args) {
    restores++;
    return true_restore(pid, args);
}

static void should_wait_for_a_look(uint64_t command) {
    usleep(400000);
    sl_region_pause_t *record = sl_telling_record();
    CHECK(record->step == SL_REGION_STEP_ROOM && strstr(record->reason, "sluice resume"), "%s", record->reason);
    CHECK(restores == 0 && record->refused != command && sl_tenant.region.slots[sl_tenant.slot].answer != command);
}

/* Whoever asks: a resume, a pause that is not so deep, an older tool. */
static void should_restore_only_after_a_look_for_room(void) {
    sl_region_slot_t *slot = &sl_tenant.region.slots[sl_tenant.slot];
    sl_region_account_t *own = account((unsigned)sl_gpu_find(0));
    uint64_t before = own->charged_bytes;
    true_restore = real.cuCheckpointProcessRestore;
    real.cuCheckpointProcessRestore = count_restore;
    unsigned depths[] = {SL_REGION_COMMAND_RUN, SL_REGION_COMMAND_PAUSE, SL_REGION_COMMAND_EVICT};
    for (unsigned i = 0; i < 3; i++) {
        CHECK(ask(SL_REGION_COMMAND_VACATE) && slot->stored_nanos && own->aside_bytes == before && !own->charged_bytes);
        CHECK(limits->room_nanos < slot->stored_nanos, "a look before the state was stored");
        restores = 0;
        should_wait_for_a_look(only_ask(depths[i]));
        CHECK(is_done(only_ask(SL_REGION_COMMAND_VACATE)) && restores == 0);
        CHECK(ask(SL_REGION_COMMAND_RUN));
    }
    CHECK(!slot->stored_nanos && !own->aside_bytes && own->charged_bytes == before);
    CHECK(ask(SL_REGION_COMMAND_VACATE));
    usleep(1100000);
    restores = 0;
    atomic_store(&limits->room_nanos, slot->stored_nanos + 1);
    should_wait_for_a_look(only_ask(SL_REGION_COMMAND_RUN));
    atomic_store(&limits->room_nanos, sl_os_nanos() + 3600000000000ull);
    should_wait_for_a_look(number << 8);
    CHECK(ask(SL_REGION_COMMAND_RUN) && restores == 1);
    real.cuCheckpointProcessRestore = true_restore;
}

static _Atomic bool work_may_end;

static void keep_working(void *unused) {
    while (!work_may_end)
        usleep(1000);
    (void)unused;
}

static void *let_work_end(void *unused) {
    usleep(700000); /* the attendant looks every 250 ms */
    work_may_end = true;
    return unused;
}

/* Then a pause cannot be withdrawn while it waits, and it waits all the same. */
static void should_wait_for_work_without_a_thread_for_it(void) {
    pthread_t thread;
    is_out_of_threads = true;
    work_may_end = false;
    CHECK(real.cuLaunchHostFunc(NULL, keep_working, NULL) == 0 && pthread_create(&thread, NULL, let_work_end, NULL) == 0);
    CHECK(ask(SL_REGION_COMMAND_PAUSE) && work_may_end, "a hold that is not complete");
    CHECK(ask(SL_REGION_COMMAND_RUN) && pthread_join(thread, NULL) == 0);
    is_out_of_threads = false;
}

static void *destroy(void *context) {
    CHECK(hook_cuCtxDestroy_v2(context) == 0);
    return NULL;
}

static void should_wait_for_work(uint64_t command) {
    sl_region_pause_t *record = sl_telling_record();
    for (int i = 0; i < 2000 && record->step != SL_REGION_STEP_DRAIN; i++)
        usleep(1000);
    usleep(30000);
    CHECK(record->step == SL_REGION_STEP_DRAIN && !record->away_bytes, "step %u, answer %llx, refused %llx: %s", record->step,
          (unsigned long long)sl_tenant.region.slots[sl_tenant.slot].answer, (unsigned long long)record->refused, record->reason);
    CHECK(sl_tenant.region.slots[sl_tenant.slot].answer != command && record->refused != command);
}

/* The host function that the work waits for may need what a held thread has. */
static void should_withdraw_a_pause_while_work_runs(void) {
    sl_region_account_t *own = account((unsigned)sl_gpu_find(0));
    CUcontext other;
    CUstream stream;
    CUdeviceptr address;
    pthread_t thread;
    CHECK(hook_cuCtxCreate_v2(&other, 0, 0) == 0 && real.cuCtxPopCurrent_v2(&other) == 0);
    CUmemGenericAllocationHandle handle = map_some(&address);
    CHECK(real.cuMemsetD8_v2(address, 7, 4 * MIB) == 0 && real.cuStreamCreate(&stream, 1) == 0);
    uint64_t charged = own->charged_bytes;
    for (unsigned depth = SL_REGION_COMMAND_PAUSE; depth <= SL_REGION_COMMAND_VACATE; depth++) {
        work_may_end = false;
        CHECK(real.cuLaunchHostFunc(stream, keep_working, NULL) == 0);
        should_wait_for_work(only_ask(depth));
        uint64_t before = sl_os_nanos();
        CHECK(is_done(only_ask(SL_REGION_COMMAND_RUN)));
        CHECK(sl_os_nanos() - before < 1000000000, "the pause was withdrawn late");
        CHECK(!sl_telling_record()->since_nanos && own->charged_bytes == charged);
        CUdeviceptr more;
        CHECK(hook_cuMemAlloc_v2(&more, MIB) == 0, "calls do not go on");
        uint64_t again = only_ask(SL_REGION_COMMAND_EVICT);
        should_wait_for_work(again);
        work_may_end = true;
        CHECK(is_done(again) && sl_telling_record()->away_bytes);
        CHECK(ask(SL_REGION_COMMAND_RUN) && hook_cuMemFree_v2(more) == 0);
    }
    unsigned char byte = 0;
    CHECK(real.cuMemcpyDtoH_v2(&byte, address, 1) == 0 && byte == 7);
    work_may_end = false;
    CHECK(real.cuCtxPushCurrent_v2(other) == 0 && real.cuLaunchHostFunc(NULL, keep_working, NULL) == 0 && real.cuCtxPopCurrent_v2(&other) == 0);
    should_wait_for_work(only_ask(SL_REGION_COMMAND_PAUSE));
    CHECK(is_done(only_ask(SL_REGION_COMMAND_RUN)) && pthread_create(&thread, NULL, destroy, other) == 0);
    usleep(20000);
    work_may_end = true;
    CHECK(pthread_join(thread, NULL) == 0 && ask(SL_REGION_COMMAND_PAUSE) && ask(SL_REGION_COMMAND_RUN));
    CHECK(real.cuStreamDestroy_v2(stream) == 0 && hook_cuMemUnmap(address, 4 * MIB) == 0 && hook_cuMemRelease(handle) == 0);
}

/* In a process of its own: it ends while the work runs for which a pause waits. */
static void should_end_while_work_runs(void) {
    CUstream stream;
    CHECK(real.cuStreamCreate(&stream, 1) == 0 && real.cuLaunchHostFunc(stream, keep_working, NULL) == 0);
    should_wait_for_work(only_ask(SL_REGION_COMMAND_PAUSE));
    alarm(10);
}

static void should_follow_the_next_agent_while_it_waits(void) {
    CHECK(ask(SL_REGION_COMMAND_VACATE));
    restores = 0;
    true_restore = real.cuCheckpointProcessRestore;
    should_wait_for_a_look(only_ask(SL_REGION_COMMAND_RUN));
    CHECK(is_done_for_the_next_agent(SL_REGION_COMMAND_PAUSE) && ask(SL_REGION_COMMAND_RUN));
    work_may_end = false;
    CHECK(real.cuLaunchHostFunc(NULL, keep_working, NULL) == 0);
    should_wait_for_work(only_ask(SL_REGION_COMMAND_PAUSE));
    CHECK(is_done_for_the_next_agent(SL_REGION_COMMAND_RUN));
    work_may_end = true;
}

static CUresult (*true_unlock)(int, CUcheckpointUnlockArgs *);
static unsigned unlocks;

static CUresult fail_once_to_unlock(int pid, CUcheckpointUnlockArgs *args) {
    return unlocks++ ? true_unlock(pid, args) : FAULT;
}

static void should_unlock_once_more(void) {
    uint64_t before = account((unsigned)sl_gpu_find(0))->charged_bytes;
    true_unlock = real.cuCheckpointProcessUnlock;
    real.cuCheckpointProcessUnlock = fail_once_to_unlock;
    CHECK(ask(SL_REGION_COMMAND_VACATE) && ask(SL_REGION_COMMAND_RUN), "%s", sl_telling_record()->reason);
    CHECK(unlocks == 2 && account((unsigned)sl_gpu_find(0))->charged_bytes == before);
    real.cuCheckpointProcessUnlock = true_unlock;
}

static CUresult fail_to_restore(int pid, CUcheckpointRestoreArgs *args) {
    (void)pid, (void)args;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* The last test: the process cannot go on afterwards. */
static void should_tell_each_command_that_it_cannot_go_on(void) {
    CHECK(ask(SL_REGION_COMMAND_VACATE));
    real.cuCheckpointProcessRestore = fail_to_restore;
    unsigned depths[] = {SL_REGION_COMMAND_RUN, SL_REGION_COMMAND_PAUSE, SL_REGION_COMMAND_RUN};
    for (unsigned i = 0; i < 3; i++) {
        CHECK(!ask(depths[i]));
        CHECK(strstr(sl_telling_record()->reason, "restore"), "%s", sl_telling_record()->reason);
    }
    CHECK(ask(SL_REGION_COMMAND_VACATE));
    CHECK(!ask(SL_REGION_COMMAND_RUN));
    CHECK(strstr(sl_telling_record()->reason, "restore"));
}

static CUresult fail_to_store(int pid, CUcheckpointCheckpointArgs *args) {
    (void)pid, (void)args;
    return FAULT;
}

static CUresult fail_to_unlock(int pid, CUcheckpointUnlockArgs *args) {
    (void)pid, (void)args;
    return FAULT;
}

/* In a process of its own: calls of the driver wait for ever. */
static void should_not_call_a_driver_that_stays_locked(void) {
    real.cuCheckpointProcessCheckpoint = fail_to_store;
    real.cuCheckpointProcessUnlock = fail_to_unlock;
    unsigned depths[] = {SL_REGION_COMMAND_VACATE, SL_REGION_COMMAND_RUN, SL_REGION_COMMAND_VACATE};
    for (unsigned i = 0; i < 3; i++) {
        CHECK(!ask(depths[i]));
        CHECK(strstr(sl_telling_record()->reason, "go on"), "%s", sl_telling_record()->reason);
    }
}

static void share_memory(void) {
    CUdeviceptr address;
    CUipcMemHandle handle;
    CHECK(hook_cuMemAlloc_v2(&address, 4 * MIB) == 0 && hook_cuIpcGetMemHandle(&handle, address) == 0);
}

static void share_event(void) {
    CUevent event;
    CUipcEventHandle handle;
    CHECK(real.cuEventCreate(&event, 2 | 4) == 0 && hook_cuIpcGetEventHandle(&handle, event) == 0);
}

static void share_pool(void) {
    CUmemPoolProps prop = {.allocType = 1, .handleTypes = 1, .location = {1, 0}};
    CUmemoryPool pool;
    int fd;
    CHECK(hook_cuMemPoolCreate(&pool, &prop) == 0 && hook_cuMemPoolExportToShareableHandle(&fd, pool, 1, 0) == 0);
}

/* In a process of its own. Nobody knows whether the driver restores it, and a restore that fails loses the job. */
static void should_not_vacate_what_others_may_use(const char *what) {
    CUmemAllocationProp prop = {.type = 1, .requestedHandleTypes = 1, .location = {1, 0}};
    CUmemGenericAllocationHandle handle;
    int fd;
    CHECK(ask(SL_REGION_COMMAND_VACATE) && ask(SL_REGION_COMMAND_RUN));
    if (strcmp(what, "handle") == 0)
        CHECK(hook_cuMemCreate(&handle, 4 * MIB, &prop, 0) == 0 && hook_cuMemExportToShareableHandle(&fd, handle, 1, 0) == 0);
    else
        strcmp(what, "memory") == 0 ? share_memory() : strcmp(what, "event") == 0 ? share_event() : share_pool();
    CHECK(!ask(SL_REGION_COMMAND_VACATE));
    CHECK(strstr(sl_telling_record()->reason, "shares memory or events"), "%s", sl_telling_record()->reason);
    CHECK(ask(SL_REGION_COMMAND_EVICT) && ask(SL_REGION_COMMAND_RUN), "it can be released");
    if (strcmp(what, "handle") == 0)
        CHECK(hook_cuMemRelease(handle) == 0 && ask(SL_REGION_COMMAND_VACATE) && ask(SL_REGION_COMMAND_RUN), "the memory is gone");
}

int main(int count, char **words) {
    use_sim("attendant", "800m");
    be_able_to_ask();
    if (count > 1 && strcmp(words[1], "locked") == 0) {
        RUN(should_not_call_a_driver_that_stays_locked);
        _exit(0); /* the driver's own end would wait, too */
    }
    if (count > 1 && strcmp(words[1], "sticky") == 0) {
        RUN(should_leave_the_program_its_error);
        return 0;
    }
    if (count > 2 && strcmp(words[1], "shared") == 0) {
        should_not_vacate_what_others_may_use(words[2]);
        return 0;
    }
    if (count > 1 && strcmp(words[1], "ending") == 0) {
        RUN(should_end_while_work_runs);
        return 0;
    }
    RUN(should_wait_for_work_without_a_thread_for_it); /* before there is one */
    RUN(should_go_down_and_up);
    RUN(should_register_prepared_memory_again_after_a_vacate);
    RUN(should_withdraw_a_pause_while_work_runs);
    RUN(should_refuse_with_a_reason_and_go_on);
    RUN(should_only_hold_a_broken_context);
    RUN(should_not_vacate_managed_memory);
    RUN(should_end_a_long_reason_with_a_word);
    RUN(should_restore_only_after_a_look_for_room);
    RUN(should_follow_the_next_agent_while_it_waits);
    RUN(should_unlock_once_more);
    RUN(should_tell_each_command_that_it_cannot_go_on);
    return 0;
}
