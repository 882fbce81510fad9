/* origin: the process that a tenant began with when only environment variables name it.
 *
 * It is the topmost ancestor that was started with the same limits, reached without a gap. So the children of one shell
 * command share a quota, and two commands that happen to have equal limits do not. Where no variable says the limits (an
 * older tool has a default), LD_PRELOAD takes their place, and without that every process is a tenant of its own. */
#define _GNU_SOURCE
#include "tenant/origin.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tenant/options.h"
#include "os/os.h"

#define ENVIRONMENT_BYTES (1u << 20)
#define GENERATIONS 256

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

uint64_t sl_origin_find(uint64_t own_identity) {
    char *environment = mmap(NULL, ENVIRONMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t origin = own_identity;
    sl_os_process_t process;
    if (environment == MAP_FAILED || !sl_os_process(0, &process))
        return origin;
    for (int generation = 0; generation < GENERATIONS; generation++) {
        pid_t parent = process.parent;
        if (parent <= 0 || !has_same_limits(parent, environment) || !sl_os_process(parent, &process))
            break;
        origin = sl_os_identity(parent, &process);
    }
    munmap(environment, ENVIRONMENT_BYTES);
    return origin;
}
