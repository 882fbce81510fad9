/* A slot belongs to one live process. Slots of dead processes are emptied, however they died. */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>

#include "os/os.h"
#include "tenant/slots.h"

static sl_region_t region;
static sl_reason_t reason;
static sl_slots_owner_t self;

static void open_tenant(const char *tenant) {
    static const uint64_t memory_bytes[16];
    CHECK(sl_slots_self(&self, &reason));
    sl_region_draft_t draft = {.tenant = tenant, .root_identity = self.identity, .memory_bytes = memory_bytes};
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
}

static int taken_slots(void) {
    int taken = 0;
    for (int i = 0; i < SL_REGION_SLOT_COUNT; i++)
        taken += region.slots[i].owner != 0;
    return taken;
}

static int claim_as_child(void) {
    sl_slots_owner_t me;
    CHECK(sl_slots_self(&me, &reason));
    int slot = sl_slots_claim(&region, &me, &reason);
    CHECK(slot >= 0, "%s", reason.text);
    sl_region_account(&region, (unsigned)slot, 0)->charged_bytes = 1000;
    return slot;
}

static void claim_and_die(void) {
    claim_as_child();
    raise(SIGKILL);
}

static void should_give_each_process_its_own_slot(void) {
    enum { PROCESSES = 40 };
    int *slots = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if ((pids[i] = fork()) == 0) {
            slots[i] = claim_as_child() + 1;
            pause();
        }
    for (int i = 0; i < PROCESSES; i++)
        while (!__atomic_load_n(&slots[i], __ATOMIC_ACQUIRE))
            usleep(100);
    for (int i = 0; i < PROCESSES; i++)
        for (int j = 0; j < i; j++)
            CHECK(slots[i] != slots[j]);
    CHECK(sl_slots_reap(&region, &self) == 0, "the living were reaped");
    for (int i = 0; i < PROCESSES; i++)
        kill(pids[i], SIGKILL);
    /* Not waited for: they are zombies, which hold no GPU memory. */
    for (int tries = 0; tries < 2000 && taken_slots(); tries++, usleep(1000))
        sl_slots_reap(&region, &self);
    CHECK(taken_slots() == 0 && sl_region_account(&region, 3, 0)->charged_bytes == 0);
    while (wait(NULL) > 0)
        ;
}

static void claim_on_the_last_gpu_and_die(void) {
    int slot = claim_as_child();
    sl_region_account(&region, (unsigned)slot, SL_REGION_GPU_COUNT - 1)->charged_bytes = 1000;
    raise(SIGKILL);
}

static void should_empty_all_gpus_of_the_dead(void) {
    CHECK(in_child(claim_on_the_last_gpu_and_die) == 128 + SIGKILL);
    CHECK(sl_region_account(&region, 0, SL_REGION_GPU_COUNT - 1)->charged_bytes == 1000);
    CHECK(sl_slots_reap(&region, &self) == 1 && taken_slots() == 0);
    for (unsigned gpu = 0; gpu < SL_REGION_GPU_COUNT; gpu++)
        CHECK(sl_region_account(&region, 0, gpu)->charged_bytes == 0, "GPU %u: the next process would be charged for it", gpu);
}

static void should_finish_the_claim_of_a_dead_process(void) {
    CHECK(in_child(claim_and_die) == 128 + SIGKILL);
    uint64_t dead = region.slots[0].owner;
    region.slots[0].owner = (dead & SL_SLOTS_IDENTITY) | 1ull << 63;
    CHECK(sl_slots_reap(&region, &self) == 1 && taken_slots() == 0);
}

static void *outlive_main(void *ready) {
    *(volatile int *)ready = 1;
    pause();
    return NULL;
}

static volatile int *thread_ready;

static void end_main_thread(void) {
    prctl(PR_SET_NAME, "x) Z 1 (");
    claim_as_child();
    pthread_t thread;
    pthread_create(&thread, NULL, outlive_main, (void *)thread_ready);
    pthread_exit(NULL);
}

static void should_check_that_a_process_lives_by_more_than_its_name_and_state(void) {
    thread_ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid == 0)
        end_main_thread();
    while (!*thread_ready)
        usleep(100);
    usleep(20000);
    CHECK(sl_slots_reap(&region, &self) == 0, "a process whose main thread has ended was taken for dead");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK(sl_slots_reap(&region, &self) == 1);
}

static void should_know_a_reused_pid(void) {
    region.slots[5].owner = self.identity - (1ull << 22);
    CHECK(sl_slots_reap(&region, &self) == 1, "the same pid with another start time lives for Sluice");
}

static void should_leave_other_namespaces_alone(void) {
    region.slots[5].owner = 1ull << 40 | 4000000;
    region.slots[5].pid_namespace = self.pid_namespace + 1;
    CHECK(sl_slots_reap(&region, &self) == 0);
    region.slots[5].pid_namespace = 0;
    CHECK(sl_slots_reap(&region, &self) == 1);
}

static void (*within)(void);

static void begin_namespace(void) {
    _exit(in_child(within));
}

static void enter_namespace(void) {
    if (unshare(CLONE_NEWPID) != 0)
        _exit(SKIPPED);
    _exit(in_child(begin_namespace));
}

/* Runs as the second process of a new pid namespace: the kernel does not deliver signals that the first sends to itself. */
static int in_namespace(void (*body)(void)) {
    within = body;
    return in_child(enter_namespace);
}

static void spare_from_within(void) {
    sl_slots_owner_t me;
    CHECK(sl_slots_self(&me, &reason));
    CHECK(taken_slots() == 1 && sl_slots_reap(&region, &me) == 0, "a process that lives outside was reaped");
}

static void reap_from_within(void) {
    sl_slots_owner_t me;
    CHECK(sl_slots_self(&me, &reason));
    CHECK(taken_slots() == 1 && sl_slots_reap(&region, &me) == 1, "nobody within sees that it ended");
}

static void should_empty_the_slot_of_a_process_killed_in_another_namespace(void) {
    int ended = in_namespace(claim_and_die);
    if (ended == SKIPPED) {
        printf("  skipped: a pid namespace needs root\n");
        return;
    }
    CHECK(ended == 128 + SIGKILL);
    CHECK(taken_slots() == 1 && sl_region_account(&region, 0, 0)->charged_bytes == 1000);
    CHECK(sl_slots_reap(&region, &self) == 1 && taken_slots() == 0);
    CHECK(sl_region_account(&region, 0, 0)->charged_bytes == 0);
    pid_t outside = fork();
    if (outside == 0) {
        claim_as_child();
        pause();
    }
    while (!taken_slots() || region.slots[0].owner >> 63)
        usleep(100);
    CHECK(in_namespace(spare_from_within) == 0);
    kill(outside, SIGKILL);
    CHECK(waitpid(outside, NULL, 0) == outside && in_namespace(reap_from_within) == 0 && taken_slots() == 0);
}

/* The new process has the same pid, clock tick and start of the stack as the dead one. */
static void claim_beside_the_dead(void) {
    sl_slots_owner_t me;
    CHECK(sl_slots_self(&me, &reason));
    int slot = sl_slots_claim(&region, &me, &reason);
    CHECK(slot == 0, "%s", reason.text);
    uint64_t owner = region.slots[0].owner, image = region.slots[0].image;
    CHECK(sl_slots_claim(&region, &me, &reason) == SL_SLOTS_TAKEN_BY_A_COPY, "a copy in this process counts, too");
    region.slots[3].pid_namespace = me.pid_namespace;
    region.slots[3].image = image;
    region.slots[3].owner = owner;
    region.slots[0].owner = 0;
    sl_region_account(&region, 3, 0)->charged_bytes = 77;
    slot = sl_slots_claim(&region, &me, &reason);
    CHECK(slot >= 0 && slot != 3, "slot %d: %s", slot, reason.text);
    CHECK(region.slots[3].owner == 0 && sl_region_account(&region, 3, 0)->charged_bytes == 0);
}

static void should_not_take_the_dead_for_a_copy(void) {
    CHECK(in_child(claim_beside_the_dead) == 0);
    sl_slots_reap(&region, &self);
    CHECK(taken_slots() == 0);
}

static char executable[256], folder[256];

/* The first look at a process that came back: its new image is not there yet. */
static int looks_too_early;
bool __real_sl_os_alive(uint64_t identity, uint64_t image);
bool __wrap_sl_os_alive(uint64_t identity, uint64_t image) {
    if (!looks_too_early)
        return __real_sl_os_alive(identity, image);
    looks_too_early--;
    return false;
}

static void claim_and_exec(void) {
    claim_as_child();
    execl(executable, executable, "--after-exec", folder, NULL);
}

static void should_empty_the_slot_that_execve_left(void) {
    CHECK(in_child(claim_and_exec) == 0);
    sl_slots_reap(&region, &self);
    CHECK(taken_slots() == 0);
}

static void claim_and_stay_another(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    claim_as_child();
    execl(executable, executable, "--stay", NULL);
}

#define SIGNED (1ull << 62)

/* If the region's file cannot be opened, no process has a lock in it. */
static void use_signs(bool are_there) {
    snprintf(region.path, sizeof region.path, "%s", are_there ? folder : "");
}

static void reap_an_image(bool has_sign) {
    char link[64], name[256] = "";
    use_signs(has_sign);
    pid_t pid = fork();
    if (pid == 0)
        claim_and_stay_another();
    while (!taken_slots() || region.slots[0].owner >> 63)
        usleep(100);
    CHECK(!(region.slots[0].owner & SIGNED) == !has_sign);
    snprintf(link, sizeof link, "/proc/%d/cmdline", (int)pid);
    for (bool changed = false; !changed; usleep(1000)) { /* until execve is done */
        ssize_t length = sl_os_read(link, name, sizeof name);
        changed = length > 7 && memmem(name, (size_t)length, "--stay", 6);
    }
    CHECK(kill(pid, 0) == 0 && sl_slots_reap(&region, &self) == 1, "its charge stays as long as the process lives");
    CHECK(taken_slots() == 0 && sl_region_account(&region, 0, 0)->charged_bytes == 0);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    use_signs(true);
}

static void should_empty_the_slot_of_a_process_that_called_execve(void) {
    reap_an_image(true);
    reap_an_image(false);
}

/* By its old image the owner looks dead. Before we empty the slot, the owner takes it again. */
static void should_leave_a_slot_to_an_owner_that_came_back(void) {
    use_signs(false);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        claim_as_child();
        pause();
    }
    while (!taken_slots() || region.slots[0].owner >> 63)
        usleep(100);
    uint64_t owner = region.slots[0].owner;
    CHECK(!(owner & SIGNED));
    looks_too_early = 1;
    unsigned emptied = sl_slots_reap(&region, &self);
    CHECK(!looks_too_early, "nobody asked");
    CHECK(emptied == 0 && region.slots[0].owner == owner && sl_region_account(&region, 0, 0)->charged_bytes == 1000);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid && sl_slots_reap(&region, &self) == 1 && taken_slots() == 0);
    use_signs(true);
}

/* Another process sees that the image changed; then the process itself attaches anew. */
static int after_exec(const char *path) {
    CHECK(sl_region_open(&region, path, &reason), "%s", reason.text);
    CHECK(taken_slots() == 1 && sl_slots_self(&self, &reason));
    uint64_t owner = region.slots[0].owner & SL_SLOTS_IDENTITY;
    CHECK(!sl_os_alive(owner, region.slots[0].image) && sl_os_alive(owner, 0));
    int slot = sl_slots_claim(&region, &self, &reason);
    CHECK(slot == 0 && taken_slots() == 1 && sl_region_account(&region, 0, 0)->charged_bytes == 0);
    CHECK(sl_slots_claim(&region, &self, &reason) == SL_SLOTS_TAKEN_BY_A_COPY && strstr(reason.text, "another copy"), "%s", reason.text);
    return 0;
}

/* Each image finds the slot of the image before, at the same addresses. */
static void exec_again_without_aslr(void) {
    CHECK(personality(ADDR_NO_RANDOMIZE) != -1);
    claim_as_child();
    execl(executable, executable, "--again", folder, "20", NULL);
}

static int claim_again(const char *path, int left) {
    CHECK(sl_region_open(&region, path, &reason), "%s", reason.text);
    CHECK(taken_slots() == 1);
    claim_as_child();
    CHECK(taken_slots() == 1);
    char number[12];
    snprintf(number, sizeof number, "%d", left - 1);
    if (left)
        execl(executable, executable, "--again", path, number, NULL);
    return left;
}

static void should_know_an_image_without_aslr(void) {
    int status = in_child(exec_again_without_aslr);
    CHECK(status == 0);
    sl_slots_reap(&region, &self);
    CHECK(taken_slots() == 0);
}

static void should_not_claim_a_slot_whose_sign_is_held(void) {
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        claim_as_child();
        pause();
    }
    while (!sl_region_account(&region, 0, 0)->charged_bytes) /* the child writes it after its claim */
        usleep(100);
    uint64_t owner = region.slots[0].owner;
    CHECK(owner & SIGNED);
    region.slots[0].owner = 0; /* another process damaged the slot */
    int slot = sl_slots_claim(&region, &self, &reason);
    CHECK(slot == 1 && sl_region_account(&region, 0, 0)->charged_bytes == 1000, "slot %d is that of a process that lives", slot);
    sl_slots_leave(&self);
    region.slots[1].owner = 0;
    region.slots[0].owner = owner;
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid && sl_slots_reap(&region, &self) == 1 && taken_slots() == 0);
}

static void should_take_the_place_of_the_dead_when_all_slots_are_taken(void) {
    for (int i = 0; i < SL_REGION_SLOT_COUNT; i++)
        region.slots[i].owner = 1ull << 40 | 4000000; /* nobody */
    int slot = sl_slots_claim(&region, &self, &reason);
    CHECK(slot >= 0, "%s", reason.text);
    CHECK(taken_slots() == 1);
    sl_slots_leave(&self);
    region.slots[slot].owner = 0;
}

static void should_say_when_all_slots_are_taken(void) {
    for (int i = 0; i < SL_REGION_SLOT_COUNT; i++) {
        region.slots[i].pid_namespace = self.pid_namespace + 1;
        region.slots[i].owner = 99;
    }
    CHECK(sl_slots_claim(&region, &self, &reason) == SL_SLOTS_FULL && strstr(reason.text, "512 processes"), "%s", reason.text);
}

int main(int argc, char **argv) {
    if (argc == 2)
        return pause();
    if (argc == 3)
        return after_exec(argv[2]);
    if (argc == 4)
        return readlink("/proc/self/exe", executable, sizeof executable - 1) > 0 ? claim_again(argv[2], atoi(argv[3])) : 1;
    use_test_folder();
    open_tenant("slots");
    CHECK(readlink("/proc/self/exe", executable, sizeof executable - 1) > 0);
    snprintf(folder, sizeof folder, "%s/slots.region", test_folder);
    RUN(should_give_each_process_its_own_slot);
    RUN(should_empty_all_gpus_of_the_dead);
    RUN(should_finish_the_claim_of_a_dead_process);
    RUN(should_check_that_a_process_lives_by_more_than_its_name_and_state);
    RUN(should_know_a_reused_pid);
    RUN(should_leave_other_namespaces_alone);
    RUN(should_empty_the_slot_of_a_process_killed_in_another_namespace);
    RUN(should_empty_the_slot_that_execve_left);
    RUN(should_empty_the_slot_of_a_process_that_called_execve);
    RUN(should_leave_a_slot_to_an_owner_that_came_back);
    RUN(should_know_an_image_without_aslr);
    RUN(should_not_take_the_dead_for_a_copy);
    RUN(should_not_claim_a_slot_whose_sign_is_held);
    RUN(should_take_the_place_of_the_dead_when_all_slots_are_taken);
    RUN(should_say_when_all_slots_are_taken);
    return 0;
}
