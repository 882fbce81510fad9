/* timens: how far the monotonic clock of this process's time namespace is ahead of the machine's. */
#define _GNU_SOURCE
#include "os/timens.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/fork.h"
#include "os/os.h"

#define MOST_SECONDS 4000000000ll

_Atomic int64_t sl_timens_known = SL_TIMENS_UNKNOWN;

/* After unshare(CLONE_NEWTIME) the file shows the namespace of the process's children; the process itself is still in the old one. */
static int is_own(void) {
    char own[64] = {0}, children[64] = {0};
    return readlink("/proc/self/ns/time", own, sizeof own - 1) > 0 &&
           readlink("/proc/self/ns/time_for_children", children, sizeof children - 1) > 0 && strcmp(own, children) == 0;
}

int64_t sl_timens_find(void) {
    int saved = errno;
    char text[256];
    long long seconds = 0, nanos = 0;
    const char *line = is_own() && sl_os_read("/proc/self/timens_offsets", text, sizeof text) > 0 ? strstr(text, "monotonic") : NULL;
    if (!line || sscanf(line, "monotonic %lld %lld", &seconds, &nanos) != 2 || seconds > MOST_SECONDS || seconds < -MOST_SECONDS)
        seconds = nanos = 0;
    int64_t offset = seconds * 1000000000 + nanos;
    atomic_store_explicit(&sl_timens_known, offset, memory_order_relaxed);
    errno = saved;
    return offset;
}

void sl_timens_forget(void) {
    atomic_store_explicit(&sl_timens_known, SL_TIMENS_UNKNOWN, memory_order_relaxed);
}
SL_FORK_FORGETS(sl_timens_forget);
