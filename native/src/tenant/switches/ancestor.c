/* ancestor: the process that a tenant began with, where only environment variables describe the tenant.
 *
 * It is the topmost ancestor that was started with the same limits, reached without a gap. So the children of one shell command share a
 * quota, and two commands that happen to have equal limits do not. Where no variable says the limits (an older tool has a default),
 * LD_PRELOAD takes their place. Without LD_PRELOAD every process is a tenant of its own.
 *
 * The library may also come without LD_PRELOAD: by /etc/ld.so.preload, or in the driver's place. A process with such a library and
 * without a variable of limits may have lost its environment (env -i, cron, a login). Then the library looks for the nearest ancestor of
 * the same user that has such a variable. It uses that environment, and the process belongs to that tenant. The kernel keeps that
 * environment from the start of the program. */
#define _GNU_SOURCE
#include "tenant/switches/ancestor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tenant/switches/options.h"
#include "os/os.h"

#define ENVIRONMENT_BYTES (1u << 20)
#define GENERATIONS 256

static struct {
    bool counts;
    char *environment; /* stays mapped, because options point into it; NULL: none was found yet */
    size_t length;
    uint64_t identity; /* of the ancestor */
} found;

static const char *find_value(const char *environment, size_t length, const char *name) {
    size_t name_length = strlen(name);
    for (size_t at = 0; at < length; at += strlen(environment + at) + 1)
        if (strncmp(environment + at, name, name_length) == 0 && environment[at + name_length] == '=')
            return environment + at + name_length + 1;
    return "";
}

static bool has_same_limits(pid_t pid, char *environment) {
    char path[40], buffer[40];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    ssize_t length = sl_os_read(path, environment, ENVIRONMENT_BYTES);
    if (length <= 0)
        return false;
    bool is_named = false;
    const char *name;
    for (unsigned i = 0; (name = sl_options_limit_variable(i, buffer)); i++) {
        const char *own = sl_options_variable(name);
        is_named |= own != NULL;
        if (strcmp(find_value(environment, (size_t)length, name), own ? own : "") != 0)
            return false;
    }
    const char *preload = sl_options_variable("LD_PRELOAD");
    return is_named || (preload && strcmp(find_value(environment, (size_t)length, "LD_PRELOAD"), preload) == 0);
}

/* The variables that give a process limits, one after the other. */
static const char *marker(unsigned position, char buffer[40]) {
    static const char *const others[] = {"SLUICE_REGION", "SLUICE_AGENT"};
    return position < 2 ? others[position] : sl_options_limit_variable(position - 2, buffer);
}

/* A program with other rights than its user's (set-user-ID) takes nothing from that user's processes. */
static bool has_lost_environment(void) {
    char buffer[40];
    const char *name;
    bool lost = !getauxval(AT_SECURE) && !getenv("LD_PRELOAD") && !getenv("CUDA_DISABLE_CONTROL");
    for (unsigned i = 0; lost && (name = marker(i, buffer)); i++)
        lost = !getenv(name);
    return lost;
}

static bool has_limits(const char *environment, size_t length) {
    char buffer[40];
    const char *name;
    for (unsigned i = 0; (name = marker(i, buffer)); i++)
        if (*find_value(environment, length, name))
            return true;
    return false;
}

static ssize_t read_own(pid_t pid, char *environment) {
    char path[40];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (!sl_os_lstat(path, &status) || status.st_uid != geteuid())
        return 0;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    return sl_os_read(path, environment, ENVIRONMENT_BYTES);
}

void sl_ancestor_recover(void) {
    sl_os_process_t process;
    bool lost = has_lost_environment();
    found.counts = lost && found.environment;
    if (!lost || found.environment || !sl_os_process(0, &process))
        return;
    char *environment = mmap(NULL, ENVIRONMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (environment == MAP_FAILED)
        return;
    for (int generation = 0; generation < GENERATIONS; generation++) {
        pid_t parent = process.parent;
        if (parent <= 0 || !sl_os_process(parent, &process))
            break;
        ssize_t length = read_own(parent, environment);
        if (length > 0 && has_limits(environment, (size_t)length)) {
            found.length = (size_t)length;
            found.identity = sl_os_identity(parent, &process);
            found.environment = environment;
            found.counts = true;
            return;
        }
    }
    munmap(environment, ENVIRONMENT_BYTES);
}

const char *sl_ancestor_variable(const char *name) {
    const char *value = found.counts ? find_value(found.environment, found.length, name) : "";
    return *value ? value : NULL;
}

uint64_t sl_ancestor_find(uint64_t own_identity) {
    char *environment = mmap(NULL, ENVIRONMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t first = found.counts ? found.identity : own_identity;
    sl_os_process_t process;
    if (environment == MAP_FAILED || !sl_os_process(found.counts ? sl_os_pid(first) : 0, &process))
        return first;
    for (int generation = 0; generation < GENERATIONS; generation++) {
        pid_t parent = process.parent;
        if (parent <= 0 || !has_same_limits(parent, environment) || !sl_os_process(parent, &process))
            break;
        first = sl_os_identity(parent, &process);
    }
    munmap(environment, ENVIRONMENT_BYTES);
    return first;
}
