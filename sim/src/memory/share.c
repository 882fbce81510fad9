/* Anonymous files for memory that processes share. They are found through /proc/PID/fd, so nothing is left when their owner dies. The
 * inode number distinguishes a file from a later one under the same descriptor. */
#define _GNU_SOURCE
#include "entry/sim.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u
#define PAGES_AT_ONCE 4096u
#define PAGE_IS_THERE (3ull << 62) /* in memory or swapped out */

int sim_share_file(size_t bytes) {
    int made = memfd_create("sluice-sim", MFD_CLOEXEC);
    int file = made >= 0 ? fcntl(made, F_DUPFD_CLOEXEC, 3) : -1; /* never 0, which means none */
    if (made >= 0) close(made);
    if (file < 0) return 0;
    if (ftruncate(file, (off_t)bytes) == 0) return file;
    close(file);
    return 0;
}

uint64_t sim_share_inode(int file) {
    struct stat stat;
    return fstat(file, &stat) == 0 ? (uint64_t)stat.st_ino : 0;
}

int sim_share_open(uint64_t owner, int file, uint64_t inode) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)sim_state_pid(owner), file);
    int opened = sim_state_is_alive(owner) ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (opened < 0) return 0;
    if (sim_share_inode(opened) == inode) return opened;
    close(opened);
    return 0;
}

/* Only pages that were ever written, so that a large and mostly empty range stays so. */
static bool copy_pages(const sim_range_t *range, int file, int pagemap) {
    static uint64_t entries[PAGES_AT_ONCE];
    size_t pages = range->bytes / PAGE;
    for (size_t first = 0; first < pages; first += PAGES_AT_ONCE) {
        size_t count = pages - first < PAGES_AT_ONCE ? pages - first : PAGES_AT_ONCE;
        off_t at = (off_t)((range->base / PAGE + first) * sizeof *entries);
        if (pread(pagemap, entries, count * sizeof *entries, at) != (ssize_t)(count * sizeof *entries)) return false;
        for (size_t i = 0; i < count; i++) {
            off_t offset = (off_t)((first + i) * PAGE);
            if (entries[i] & PAGE_IS_THERE && pwrite(file, (char *)range->base + offset, PAGE, offset) != PAGE) return false;
        }
    }
    return true;
}

bool sim_share_range(sim_range_t *range) {
    if (range->file) return true;
    int file = sim_share_file(range->bytes), pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool moved = file && pagemap >= 0 && copy_pages(range, file, pagemap) && sim_space_show(range, file);
    if (pagemap >= 0) close(pagemap);
    if (file && !moved) close(file);
    return moved;
}
