/* host: see host.h. Memory: MemAvailable of the machine, and of each control group above the process its limit less what it uses. Files that are
 * only cached do not count as used. */
#define _GNU_SOURCE
#include "os/host.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define PATH_BYTES 512

const char *sl_host_root = "";

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool read_file(char *text, size_t bytes, const char *folder, const char *name) {
    char path[PATH_BYTES * 2];
    snprintf(path, sizeof path, "%s%s%s", sl_host_root, folder, name);
    return sl_os_read(path, text, bytes) > 0;
}

/* The number after a word at the beginning of a line. */
static bool number_after(const char *text, const char *word, uint64_t *number) {
    size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, word, length) != 0)
            continue;
        char *end;
        *number = strtoull(line + length, &end, 10);
        return end != line + length;
    }
    return false;
}

/* "max" is no limit. */
static uint64_t left_of(const char *folder, const char *limit_name, const char *use_name, const char *active, const char *inactive) {
    char text[8192];
    uint64_t limit, used, cached, more;
    if (!read_file(text, sizeof text, folder, limit_name) || !number_after(text, "", &limit))
        return UINT64_MAX;
    if (!read_file(text, sizeof text, folder, use_name) || !number_after(text, "", &used))
        return UINT64_MAX;
    bool told = read_file(text, sizeof text, folder, "/memory.stat");
    if (told && number_after(text, active, &cached) && number_after(text, inactive, &more))
        used -= cached + more < used ? cached + more : used;
    return limit > used ? limit - used : 0;
}

/* What a control group at this folder leaves; UINT64_MAX: all. */
typedef uint64_t look_t(const char *folder);

static uint64_t memory_left(const char *folder) {
    return left_of(folder, "/memory.max", "/memory.current", "active_file ", "inactive_file ");
}

static uint64_t older_memory_left(const char *folder) {
    return left_of(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_active_file ", "total_inactive_file ");
}

static uint64_t processors_worth(uint64_t quota, uint64_t period) {
    return period && quota > period ? (quota + period / 2) / period : 1;
}

static uint64_t processors_left(const char *folder) {
    char text[64], *end;
    if (!read_file(text, sizeof text, folder, "/cpu.max"))
        return UINT64_MAX;
    uint64_t quota = strtoull(text, &end, 10);
    return end != text ? processors_worth(quota, strtoull(end, NULL, 10)) : UINT64_MAX; /* "max 100000" */
}

static uint64_t older_processors_left(const char *folder) {
    char quota[64], period[64];
    if (!read_file(quota, sizeof quota, folder, "/cpu.cfs_quota_us") || !read_file(period, sizeof period, folder, "/cpu.cfs_period_us"))
        return UINT64_MAX;
    return quota[0] != '-' ? processors_worth(strtoull(quota, NULL, 10), strtoull(period, NULL, 10)) : UINT64_MAX;
}

/* A group has no more than the groups above it. In a container the upper ones cannot be seen, and the path may not exist. */
static uint64_t left_of_groups(char *path, look_t *look) {
    char folder[PATH_BYTES + 32];
    uint64_t left = UINT64_MAX;
    for (char *end = path + strlen(path);; *end = 0) {
        snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", path);
        left = least(left, look(folder));
        end = strrchr(path, '/');
        if (!end)
            return left;
    }
}

static uint64_t left_of_older_group(const char *controller, const char *path, look_t *look) {
    char folder[PATH_BYTES + 32];
    uint64_t left = UINT64_MAX;
    for (int whole = 0; whole < 2; whole++) {
        snprintf(folder, sizeof folder, "/sys/fs/cgroup/%s%s", controller, whole ? path : "");
        left = least(left, look(folder));
    }
    return left;
}

/* A line is 0::/path, or number:controller,controller:/path. */
static bool has_controller(const char *line, const char *controller) {
    size_t length = strlen(controller);
    for (const char *name = strchr(line, ':'); name && name[0] && name[1] != '/'; name = strpbrk(name + 1, ",:"))
        if (strncmp(name + 1, controller, length) == 0 && (name[1 + length] == ',' || name[1 + length] == ':'))
            return true;
    return false;
}

static uint64_t left_of_own_groups(const char *controller, look_t *look, look_t *older) {
    char text[4096], *rest;
    uint64_t left = UINT64_MAX;
    if (!read_file(text, sizeof text, "/proc/self/cgroup", ""))
        return left;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *path = strchr(line, '/');
        if (!path || strlen(path) >= PATH_BYTES)
            continue;
        if (strncmp(line, "0::", 3) == 0)
            left = least(left, left_of_groups(path, look));
        else if (has_controller(line, controller))
            left = least(left, left_of_older_group(controller, path, older));
    }
    return left;
}

uint64_t sl_host_memory_free(void) {
    char text[4096];
    uint64_t kib, left = left_of_own_groups("memory", memory_left, older_memory_left);
    if (read_file(text, sizeof text, "/proc/meminfo", "") && number_after(text, "MemAvailable:", &kib))
        left = least(left, kib * 1024);
    return left == UINT64_MAX ? left : left - left / 20;
}

unsigned sl_host_processors(void) {
    cpu_set_t set;
    uint64_t count = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : sl_os_processors();
    return (unsigned)least(count, left_of_own_groups("cpu", processors_left, older_processors_left));
}
