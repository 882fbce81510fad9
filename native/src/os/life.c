/* life: whether a process that took a place in a shared file still lives. */
#define _GNU_SOURCE
#include "os/life.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/os.h"

/* Linux 3.15; the headers of glibc 2.17 do not know them. */
enum { OFD_GETLK = 36, OFD_SETLK = 37 };
#define PAGE_BYTES 4096u

static struct flock byte_at(uint64_t place) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};
}

/* An open file description of its own: all descriptors that share a description share its locks. */
static int open_again(int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* The descriptor is not inherited before the lock is taken: a child would have the place, too. */
static void *lock_and_map(int fd, uint64_t place) {
    void *page = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return NULL;
    struct flock lock = byte_at(place);
    if (madvise(page, PAGE_BYTES, MADV_DONTFORK) == 0 && fcntl(fd, OFD_SETLK, &lock) == 0)
        return page;
    munmap(page, PAGE_BYTES);
    return NULL;
}

void *sl_life_begin(int fd, uint64_t place) {
    int saved = errno, own = open_again(fd);
    void *page = own >= 0 ? lock_and_map(own, place) : NULL;
    if (own >= 0)
        close(own);
    errno = saved;
    return page;
}

void sl_life_end(void *sign) {
    if (sign)
        munmap(sign, PAGE_BYTES);
}

sl_life_t sl_life_of(int fd, uint64_t place) {
    int saved = errno;
    struct flock lock = byte_at(place);
    int failed = fd < 0 || fcntl(fd, OFD_GETLK, &lock) != 0;
    errno = saved;
    return failed ? SL_LIFE_UNKNOWN : lock.l_type == F_UNLCK ? SL_LIFE_ENDED : SL_LIFE_ALIVE;
}

static bool is_same(const sl_life_file_t *file) {
    struct stat status;
    return file->fd >= 0 && sl_os_stat(file->fd, &status) && (uint64_t)status.st_dev == file->device && (uint64_t)status.st_ino == file->inode;
}

sl_life_file_t sl_life_open(int fd) {
    int saved = errno, own = sl_os_raise(open_again(fd));
    struct stat status = {0};
    bool ok = own >= 0 && sl_os_stat(own, &status);
    errno = saved;
    return (sl_life_file_t){ok ? own : -1, (uint64_t)status.st_dev, (uint64_t)status.st_ino};
}

sl_life_t sl_life_in(const sl_life_file_t *file, uint64_t place) {
    int saved = errno;
    bool same = is_same(file);
    errno = saved;
    return same ? sl_life_of(file->fd, place) : SL_LIFE_UNKNOWN;
}

void sl_life_close(sl_life_file_t *file) {
    int saved = errno;
    if (is_same(file))
        close(file->fd);
    file->fd = -1;
    errno = saved;
}
