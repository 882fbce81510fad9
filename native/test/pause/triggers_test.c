/* Signals and the file of older tools pause this process under the name of their tool, and change nothing under any other. */
#include "on_sim.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "pause/telling.h"
#include "pause/triggers.h"
#include "tenant/switches/compat.h"

static sl_region_limits_t *limits;
static CUdeviceptr address;
static char folder[160], path[200];

static void be_able_to_ask(void) {
    uintptr_t page = (uintptr_t)sl_tenant.region.limits & ~4095ul;
    CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0);
    limits = (sl_region_limits_t *)sl_tenant.region.limits;
}

static unsigned char pattern(size_t i) {
    return (unsigned char)(i * 31 + 7);
}

static void begin(const char *name) {
    sl_options_file_name = name;
    snprintf(folder, sizeof folder, "/tmp/sluice-cudaw-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/notified", folder);
    sl_compat_cudaw_file = path;
    use_sim("triggered", "800m");
    be_able_to_ask();
    static unsigned char bytes[MIB];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = pattern(i);
    CHECK(hook_cuMemAlloc_v2(&address, 8 * MIB) == 0 && real.cuMemcpyHtoD_v2(address + 5 * MIB, bytes, sizeof bytes) == 0);
}

static void check_bytes(void) {
    static unsigned char bytes[MIB];
    CHECK(real.cuMemcpyDtoH_v2(bytes, address + 5 * MIB, sizeof bytes) == 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == pattern(i), "byte %zu", i);
}

static bool is_settled(void) {
    const sl_region_pause_t *record = sl_telling_record();
    return record->own && (record->own_answer == record->own || record->own_refused == record->own);
}

/* Until what the triggers ask is this, and is done. */
static void await(unsigned what) {
    const sl_region_pause_t *record = sl_telling_record();
    for (int i = 0; i < 10000; i++, usleep(1000))
        if ((record->own & 0xff) == what && is_settled())
            return;
    CHECK(false, "own %x, answer %x, refused %x, wanted %u: %s", record->own, record->own_answer, record->own_refused, what, record->reason);
}

static void command(uint64_t number, unsigned what, bool resumes) {
    uint64_t word = number << 8 | what;
    if (resumes)
        atomic_store(&limits->resumed, word);
    atomic_store(&limits->command, word);
    for (int i = 0; i < 10000 && sl_tenant.region.slots[sl_tenant.slot].answer != word; i++)
        usleep(1000);
    CHECK(sl_tenant.region.slots[sl_tenant.slot].answer == word);
}

static void should_move(int pause, int resume) {
    for (int i = 0; i < 3; i++) {
        raise(pause);
        await(SL_REGION_COMMAND_EVICT);
        CHECK(sl_telling_record()->away_bytes >= 8 * MIB && sl_telling_record()->since_nanos);
        raise(resume);
        await(SL_REGION_COMMAND_RUN);
        CHECK(!sl_telling_record()->away_bytes && !sl_telling_record()->since_nanos);
        check_bytes();
    }
}

static void as_signal_notifier(void) {
    begin("libcudaw-signal-notifier.so");
    should_move(SIGUSR1, SIGUSR2);
    struct sigaction action;
    CHECK(sigaction(SIGCONT, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
}

static void as_checkpoint(void) {
    begin("libcudaw-checkpoint.so");
    should_move(SIGUSR1, SIGCONT);
    should_move(SIGUSR2, SIGCONT);
}

static void as_hami(void) {
    begin("libvgpu.so.v2.9.0");
    raise(SIGUSR2);
    await(SL_REGION_COMMAND_PAUSE);
    CHECK(!sl_telling_record()->away_bytes && sl_telling_record()->since_nanos);
    raise(SIGUSR1);
    await(SL_REGION_COMMAND_RUN);
    check_bytes();
}

static void as_nobody(void) {
    struct sigaction action;
    begin("libsluice.so");
    for (int i = 0; i < 3; i++)
        CHECK(sigaction((int[]){SIGUSR1, SIGUSR2, SIGCONT}[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    CHECK(mkdir(folder, 0700) == 0 && close(creat(path, 0600)) == 0);
    usleep(700000);
    CHECK(!sl_telling_record()->own && !sl_telling_record()->since_nanos);
}

static volatile sig_atomic_t seen;

static void own_handler(int number) {
    seen = number;
}

static void with_a_handler_before(void) {
    signal(SIGUSR1, own_handler);
    signal(SIGUSR2, SIG_IGN);
    begin("libcudaw-checkpoint.so");
    raise(SIGUSR1);
    raise(SIGUSR2);
    usleep(300000);
    CHECK(seen == SIGUSR1 && !sl_telling_record()->own);
}

static void with_a_handler_after(void) {
    begin("libcudaw-checkpoint.so");
    signal(SIGUSR1, own_handler);
    raise(SIGUSR1);
    usleep(300000);
    CHECK(seen == SIGUSR1 && !sl_telling_record()->own);
    raise(SIGUSR2);
    await(SL_REGION_COMMAND_EVICT);
    raise(SIGCONT);
    await(SL_REGION_COMMAND_RUN);
}

/* The deeper counts; a resume takes all back; a withdrawn command takes nothing back; a signal lifts no command. */
static void beside_commands(void) {
    begin("libcudaw-signal-notifier.so");
    raise(SIGUSR1);
    await(SL_REGION_COMMAND_EVICT);
    command(1, SL_REGION_COMMAND_PAUSE, false);
    CHECK(sl_telling_record()->away_bytes);
    command(2, SL_REGION_COMMAND_RUN, false);
    CHECK(sl_telling_record()->away_bytes && (sl_telling_record()->own & 0xff) == SL_REGION_COMMAND_EVICT);
    command(3, SL_REGION_COMMAND_RUN, true);
    CHECK(!sl_telling_record()->away_bytes && !sl_telling_record()->since_nanos);
    command(4, SL_REGION_COMMAND_EVICT, false);
    raise(SIGUSR1);
    await(SL_REGION_COMMAND_EVICT);
    raise(SIGUSR2);
    await(SL_REGION_COMMAND_RUN);
    CHECK(sl_telling_record()->away_bytes);
    command(5, SL_REGION_COMMAND_RUN, true);
    CHECK(!sl_telling_record()->away_bytes);
    check_bytes();
}

/* Without host memory it stays held, says why, and goes on. */
static void with_a_refusal(void) {
    begin("libcudaw-signal-notifier.so");
    atomic_store(&limits->reservoir_bytes, MIB);
    for (int i = 0; i < 2; i++) {
        raise(SIGUSR1);
        usleep(20000);
        await(SL_REGION_COMMAND_EVICT);
        CHECK(sl_telling_record()->own_refused == sl_telling_record()->own && sl_telling_record()->reason[0]);
        CHECK(sl_telling_record()->since_nanos && !sl_telling_record()->away_bytes);
    }
    atomic_store(&limits->reservoir_bytes, 0);
    raise(SIGUSR1);
    for (int i = 0; i < 5000 && !sl_telling_record()->away_bytes; i++)
        usleep(1000);
    CHECK(sl_telling_record()->away_bytes);
    raise(SIGUSR2);
    await(SL_REGION_COMMAND_RUN);
    check_bytes();
}

static void by_file(void) {
    begin("libcudaw.so");
    struct sigaction action;
    CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    CHECK(mkdir(folder, 0700) == 0);
    CHECK(close(creat(path, 0600)) == 0);
    await(SL_REGION_COMMAND_EVICT);
    CHECK(sl_telling_record()->away_bytes);
    CHECK(unlink(path) == 0);
    await(SL_REGION_COMMAND_RUN);
    sl_triggers_resume_nanos = 600000000;
    CHECK(close(creat(path, 0600)) == 0);
    await(SL_REGION_COMMAND_EVICT);
    await(SL_REGION_COMMAND_RUN);
    usleep(700000);
    CHECK((sl_telling_record()->own & 0xff) == SL_REGION_COMMAND_RUN, "a file pauses once");
    check_bytes();
}

static void by_no_file_of_others(void) {
    char other[220];
    begin("libcudaw.so");
    CHECK(mkdir(folder, 0700) == 0);
    snprintf(other, sizeof other, "%s/other", folder);
    CHECK(close(creat(other, 0600)) == 0 && symlink(other, path) == 0);
    usleep(600000);
    CHECK(!sl_telling_record()->own, "a link");
    CHECK(unlink(path) == 0 && link(other, path) == 0);
    usleep(600000);
    CHECK(!sl_telling_record()->own, "a second name");
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    usleep(600000);
    CHECK(!sl_telling_record()->own, "a pipe");
    CHECK(unlink(path) == 0);
    if (geteuid() == 0) {
        CHECK(close(creat(path, 0600)) == 0 && chown(path, 12345, 12345) == 0);
        usleep(600000);
        CHECK(!sl_telling_record()->own, "of another user");
    }
}

/* A thousand signals in a second, of both kinds, from another process; then it runs and has all bytes. */
static void in_a_storm(void) {
    begin("libcudaw-signal-notifier.so");
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        for (int i = 0; i < 1000; i++, usleep(1000))
            kill(parent, i % 7 < 4 ? SIGUSR1 : SIGUSR2);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    raise(SIGUSR2);
    await(SL_REGION_COMMAND_RUN);
    check_bytes();
    printf("  %u releases\n", sl_telling_record()->releases);
    CHECK(!sl_telling_record()->since_nanos);
}

/* The child of a fork has no work: its signals are its own, and the parent's pause is not. */
static void in_a_child(void) {
    begin("libcudaw-signal-notifier.so");
    pid_t child = fork();
    if (child == 0) {
        raise(SIGUSR1);
        usleep(300000);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x", status);
    CHECK(!sl_telling_record()->own);
    child = vfork();
    if (child == 0) {
        kill(getpid(), SIGUSR1);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    usleep(300000);
    CHECK(!sl_telling_record()->own);
    raise(SIGUSR1);
    await(SL_REGION_COMMAND_EVICT);
    raise(SIGUSR2);
    await(SL_REGION_COMMAND_RUN);
}

/* Stopped, it goes on with SIGCONT; a read that the signal interrupts goes on, too. */
static void in_a_read(void) {
    int ends[2], status;
    begin("libcudaw-checkpoint.so");
    CHECK(pipe(ends) == 0);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        usleep(100000);
        kill(parent, SIGSTOP);
        usleep(100000);
        kill(parent, SIGUSR1);
        kill(parent, SIGCONT);
        usleep(100000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    raise(SIGCONT);
    await(SL_REGION_COMMAND_RUN);
    check_bytes();
}

/* Each in a process of its own: what is loaded, and what is installed, stays. */
static void apart(const char *name, void (*test)(void)) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("%s\n", name);
        test();
        fflush(stdout);
        char other[220];
        snprintf(other, sizeof other, "%s/other", folder);
        unlink(other), unlink(path), rmdir(folder);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        exit(SKIPPED);
    CHECK(status == 0, "%s ended with %x", name, status);
}

#define APART(test) apart(#test, test)

int main(void) {
    APART(as_signal_notifier);
    APART(as_checkpoint);
    APART(as_hami);
    APART(as_nobody);
    APART(with_a_handler_before);
    APART(with_a_handler_after);
    APART(beside_commands);
    APART(with_a_refusal);
    APART(by_file);
    APART(by_no_file_of_others);
    APART(in_a_storm);
    APART(in_a_child);
    APART(in_a_read);
    return 0;
}
