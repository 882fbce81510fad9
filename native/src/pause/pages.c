/* pages: see pages.h. */
#define _GNU_SOURCE
#include "pause/pages.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/fork.h"
#include "os/os.h"
#include "os/size.h"
#include "pause/reasons.h"
#include "tenant/registration.h"

#define PAGE SL_PAGES_BORDER
#define SMALL_PAGE 4096u
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, from Linux 5.14 on: it fails where a write would end in SIGBUS */
#define AGENT_PATIENCE_NANOS 300000000ull /* an agent that fills nothing for so long does not fill */
#define AGENT_LOOK_NANOS 500000ull

static struct {
    char *start; /* where the file that an agent handed over is mapped as a whole; NULL: there is none, memory comes from the kernel */
    uint64_t bytes, number;
    bool granted;              /* the agent has host memory for what was asked for */
    _Atomic uint64_t progress; /* when it was last seen to fill the file */
} file;
/* At a border of 2 MiB, and a child of the program does not get it. fd -1: memory of the process. NULL: there is none. */
static char *map_pages(int fd, uint64_t bytes) {
    int saved = errno, flags = MAP_FIXED | MAP_NORESERVE | (fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
    char *start = mmap(NULL, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return errno = saved, NULL;
    char *aligned = (char *)(((uintptr_t)start + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    if (aligned > start)
        munmap(start, (size_t)(aligned - start));
    if (start + PAGE > aligned)
        munmap(aligned + bytes, (size_t)(start + PAGE - aligned));
    if (mmap(aligned, bytes, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED) {
        munmap(aligned, bytes);
        aligned = NULL;
    } else {
        madvise(aligned, bytes, MADV_DONTFORK);
        madvise(aligned, bytes, MADV_HUGEPAGE);
        madvise(aligned, bytes, MADV_DONTDUMP);
    }
    errno = saved;
    return aligned;
}

static void drop_file(void) {
    if (file.start)
        munmap(file.start, file.bytes);
    file.start = NULL;
    file.granted = false;
}

/* From now on memory comes from this file. The descriptor is not kept. */
static bool use(int fd, uint64_t bytes) {
    struct stat status;
    bytes &= ~(PAGE - 1);
    char *start = bytes && sl_os_stat(fd, &status) ? map_pages(fd, bytes) : NULL;
    if (!start)
        return false;
    drop_file();
    file.start = start;
    file.bytes = bytes;
    file.number = (uint64_t)status.st_ino;
    file.granted = true;
    return true;
}

bool sl_pages_ask(uint64_t bytes, bool empty, sl_reason_t *reason) {
    sl_registration_memory_t memory;
    if (!empty && !file.start)
        return true;
    sl_registration_grant_t grant = sl_registration_reservoir(bytes, empty ? 0 : file.number, &memory);
    if (grant == SL_REGISTRATION_FULL) {
        char needs[SL_SIZE_TEXT_BYTES], left[SL_SIZE_TEXT_BYTES];
        return sl_report_fail(reason, SL_REASON_AGENT, sl_size_format(bytes, needs), sl_size_format(memory.bytes, left));
    }
    bool granted = grant == SL_REGISTRATION_GRANTED && (!empty || use(memory.fd, memory.bytes));
    if (memory.fd >= 0)
        close(memory.fd);
    if (!granted && empty)
        drop_file();
    file.granted = granted;
    return true;
}

bool sl_pages_granted(void) {
    return file.granted;
}

char *sl_pages_map(uint64_t bytes) {
    return map_pages(-1, bytes);
}

bool sl_pages_touch(char *start, uint64_t bytes) {
    if (madvise(start, bytes, POPULATE_WRITE) == 0)
        return true;
    if (errno != EINVAL)
        return false;
    for (uint64_t at = 0; at < bytes; at += SMALL_PAGE)
        *(volatile char *)(start + at) = 0;
    return true;
}

char *sl_pages_take(uint64_t offset, uint64_t bytes) {
    if (!file.start)
        return map_pages(-1, bytes);
    return offset + bytes <= file.bytes ? file.start + offset : NULL;
}

/* Pages of a file go back by their addresses: the program may have closed any descriptor, and opened its own file under that number. */
void sl_pages_give(char *start, uint64_t bytes) {
    if (file.start)
        madvise(start, bytes, MADV_REMOVE);
    else
        munmap(start, bytes);
}

void sl_pages_leave(void) {
    file.start = NULL;
    file.granted = false;
}

void sl_pages_watch(void) {
    file.progress = sl_os_nanos();
}

/* Whether all pages are in memory, whoever filled them. */
static bool is_filled(char *start, uint64_t size) {
    enum { PAGES = 1024 };
    unsigned char found[PAGES];
    for (uint64_t at = 0; at < size; at += PAGES * SMALL_PAGE) {
        uint64_t left = size - at, bytes = left < PAGES * SMALL_PAGE ? left : PAGES * SMALL_PAGE;
        if (mincore(start + at, bytes, found) != 0)
            return false;
        for (uint64_t page = 0; page < bytes / SMALL_PAGE; page++)
            if (!(found[page] & 1))
                return false;
    }
    return true;
}

/* Pages count for the control group of the process that touches them first. So the agent fills its file, and this process waits for it; if
 * nothing happens, it does so itself. */
bool sl_pages_wait(char *start, uint64_t bytes) {
    if (!file.granted)
        return false;
    while (!is_filled(start, bytes)) {
        if (sl_os_nanos() - file.progress > AGENT_PATIENCE_NANOS)
            return false;
        sl_os_sleep_nanos(AGENT_LOOK_NANOS);
    }
    file.progress = sl_os_nanos();
    return true;
}

/* A child has none of it: the pages are not copied by a fork. */
static void forget(void) {
    file.start = NULL;
    file.granted = false;
}
SL_FORK_FORGETS(forget);
