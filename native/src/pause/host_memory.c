/* host_memory: how much memory of the host this process may still take: MemAvailable of the machine, and of each control group above
 * the process its limit less what it uses. Files that are only cached do not count as used. */
#include "pause/host_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define PATH_BYTES 512

const char *sl_host_memory_root = "";

static bool read_file(char *text, size_t bytes, const char *folder, const char *name) {
    char path[PATH_BYTES * 2];
    snprintf(path, sizeof path, "%s%s%s", sl_host_memory_root, folder, name);
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

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* A group has no more than the groups above it. In a container the upper ones cannot be seen, and the path may not exist. */
static uint64_t left_of_groups(char *path) {
    char folder[PATH_BYTES + 32];
    uint64_t left = UINT64_MAX;
    for (char *end = path + strlen(path);; *end = 0) {
        snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", path);
        left = least(left, left_of(folder, "/memory.max", "/memory.current", "active_file ", "inactive_file "));
        end = strrchr(path, '/');
        if (!end)
            return left;
    }
}

static uint64_t left_of_older_group(const char *path) {
    char folder[PATH_BYTES + 32];
    uint64_t left = UINT64_MAX;
    for (int whole = 0; whole < 2; whole++) {
        snprintf(folder, sizeof folder, "/sys/fs/cgroup/memory%s", whole ? path : "");
        left = least(left, left_of(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_active_file ", "total_inactive_file "));
    }
    return left;
}

static uint64_t left_of_own_groups(void) {
    char text[4096], *rest;
    uint64_t left = UINT64_MAX;
    if (!read_file(text, sizeof text, "/proc/self/cgroup", ""))
        return left;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *path = strchr(line, '/');
        if (!path || strlen(path) >= PATH_BYTES)
            continue;
        if (strncmp(line, "0::", 3) == 0)
            left = least(left, left_of_groups(path));
        else if (strstr(line, ":memory:"))
            left = least(left, left_of_older_group(path));
    }
    return left;
}

uint64_t sl_host_memory_free(void) {
    char text[4096];
    uint64_t kib, left = left_of_own_groups();
    if (read_file(text, sizeof text, "/proc/meminfo", "") && number_after(text, "MemAvailable:", &kib))
        left = least(left, kib * 1024);
    return left == UINT64_MAX ? left : left - left / 20;
}
