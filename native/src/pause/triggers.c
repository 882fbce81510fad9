/* triggers: see triggers.h. */
#define _GNU_SOURCE
#include "pause/triggers.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/fork.h"
#include "os/os.h"
#include "os/report.h"
#include "pause/attendant.h"
#include "pause/telling.h"
#include "tenant/switches/compat.h"
#include "tenant/tenant.h"

#define WHAT 0xffu
#define NUMBER_STEP (WHAT + 1)
#define LOOK_NANOS 250000000u

uint64_t sl_triggers_resume_nanos = 30000000000u; /* CUDAw slept so long when the memory was gone, then it came back */

static sl_compat_triggers_t triggers; /* all 0: none. Written before a handler is installed */
static _Atomic pid_t home;            /* the process for which the handlers act: not for its child after vfork */
static _Atomic uint32_t asked;        /* as pause.own */
static _Atomic uint32_t refused;      /* the same */

static struct { /* only the attendant uses it */
    bool seen;              /* the file was there at the last look */
    uint32_t asked;         /* by the file, and nothing else since; 0: nothing */
    uint64_t next_nanos;    /* of a look */
    uint64_t resume_nanos;  /* the pause ends then; 0: it has not begun */
} file;

/* What is asked already is not asked again, unless it was refused. Handlers of several threads may meet here. */
static uint32_t ask(unsigned what) {
    uint32_t now = atomic_load(&asked), next;
    do {
        if ((now & WHAT) == what && (!now || now != atomic_load(&refused)))
            return now;
        next = ((now & ~WHAT) + NUMBER_STEP) | what;
    } while (!atomic_compare_exchange_weak(&asked, &now, next));
    return next;
}

static void on_signal(int number) {
    int saved = errno;
    if (getpid() == atomic_load(&home)) {
        ask(number == triggers.resume ? SL_REGION_COMMAND_RUN : triggers.depth);
        sl_attendant_wake();
    }
    errno = saved;
}

static bool is_default(const struct sigaction *action) {
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

/* SA_ONSTACK: threads of some runtimes have small stacks. The program may install its handler between our look and our call: then it is
 * put back. */
static void take(int number) {
    struct sigaction own = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK}, before;
    if (!number || sigaction(number, NULL, &before) != 0)
        return;
    if (!is_default(&before)) {
        if (before.sa_handler != on_signal)
            SL_TELL(SL_INFO, "%s is the program's own and pauses or resumes nothing", strsignal(number));
        return;
    }
    if (sigaction(number, &own, &before) == 0 && !is_default(&before))
        sigaction(number, &before, NULL);
}

void sl_triggers_begin(void) {
    sl_compat_triggers_t found;
    if (!sl_compat_triggers(&found))
        return;
    if (!triggers.depth)
        triggers = found;
    atomic_store(&home, getpid());
    for (unsigned i = 0; i < sizeof triggers.pause / sizeof *triggers.pause; i++)
        take(triggers.pause[i]);
    take(triggers.resume);
}

static bool is_trusted(uid_t owner) {
    return owner == 0 || owner == geteuid();
}

/* Others can write to /tmp: the folder and the file count only if they are the user's own or root's. A file of the user's under a second
 * name may have been linked there by somebody else. Nothing is opened. */
static bool is_there(const char *path) {
    char folder[128];
    struct stat status;
    const char *slash = strrchr(path, '/');
    int length = snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (length >= (int)sizeof folder || !sl_os_lstat(folder, &status) || !S_ISDIR(status.st_mode) || !is_trusted(status.st_uid))
        return false;
    return sl_os_lstat(path, &status) && S_ISREG(status.st_mode) && is_trusted(status.st_uid) && status.st_nlink == 1;
}

/* A file pauses once: until it has been away. */
static void look(void) {
    uint64_t now = sl_os_nanos();
    if (!triggers.file || now < file.next_nanos)
        return;
    file.next_nanos = now + LOOK_NANOS;
    bool there = is_there(triggers.file);
    if (there && !file.seen) {
        file.asked = ask(triggers.depth);
        file.resume_nanos = 0;
    }
    file.seen = there;
    if (file.asked != atomic_load(&asked))
        file.asked = 0;
    if (file.asked && (!there || (file.resume_nanos && now >= file.resume_nanos))) {
        ask(SL_REGION_COMMAND_RUN);
        file.asked = 0;
    }
}

static void settle(uint32_t own) {
    if (file.asked == own && !file.resume_nanos)
        file.resume_nanos = sl_os_nanos() + sl_triggers_resume_nanos;
}

uint32_t sl_triggers_now(void) {
    if (!triggers.depth)
        return 0;
    look();
    uint32_t own = atomic_load(&asked);
    sl_region_pause_t *record = sl_telling_record();
    if (record && record->own != own)
        atomic_store(&record->own, own);
    return own;
}

void sl_triggers_drop(void) {
    ask(SL_REGION_COMMAND_RUN);
}

void sl_triggers_answer(uint32_t own) {
    sl_region_pause_t *record = sl_telling_record();
    if (record)
        atomic_store(&record->own_answer, own);
    settle(own);
}

void sl_triggers_refuse(uint32_t own) {
    sl_region_pause_t *record = sl_telling_record();
    if (record)
        atomic_store(&record->own_refused, own);
    atomic_store(&refused, own);
    settle(own);
}

/* The child has no work. It attaches with its first call, and until then a signal does nothing to it. */
static void forget(void) {
    atomic_store(&home, 0);
    atomic_store(&asked, 0);
    atomic_store(&refused, 0);
    memset(&file, 0, sizeof file);
}
SL_FORK_FORGETS(forget);
