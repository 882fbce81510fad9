/* ring: the file in which the events of one thread are recorded.
 *
 * Space is allocated before it is written: touching a hole on a full disk would kill the host program. No descriptor stays open,
 * because a program may close descriptors that it does not know. */
#define _GNU_SOURCE
#include "trace/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/os.h"

#define LEAST_GROWTH_BYTES (256u << 10) /* chosen: a thread that records little takes little of the disk */
#define MOST_GROWTH_BYTES (4u << 20)    /* chosen: each growth is a system call within a call of the program */
#define WARM_EVENTS 4096u               /* chosen: pages that are written ahead at a time, see write_zeros */
#define ATTEMPTS 1000                   /* chosen: names to try for a file */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

static sl_trace_ring_t *header_of(const sl_ring_t *ring) {
    return (sl_trace_ring_t *)(ring->base + SL_TRACE_RING_OFFSET);
}

static uint64_t bytes_of(uint64_t events) {
    return SL_TRACE_EVENT_OFFSET + events * sizeof(sl_trace_event_t);
}

/* Passing the limit on file sizes would send a signal to the host program. */
static bool may_be_as_long(uint64_t bytes) {
    struct rlimit files;
    return getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_cur >= bytes;
}

static bool allocate(int fd, uint64_t from, uint64_t to) {
    int error = EFBIG;
    if (may_be_as_long(to))
        do
            error = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
        while (error == EINTR);
    errno = error ? error : errno;
    return !error;
}

/* The name may exist: the kernel uses numbers of ended threads again, and a process keeps its number after execve. */
static int create(char path[SL_RING_PATH_BYTES], const char *directory, unsigned tid) {
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
        char suffix[16] = "";
        if (attempt > 1)
            snprintf(suffix, sizeof suffix, "-%d", attempt);
        if (snprintf(path, SL_RING_PATH_BYTES, "%s/ring-%d-%u%s", directory, (int)getpid(), tid, suffix) >= SL_RING_PATH_BYTES) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static void fill_header(const sl_ring_t *ring, const sl_ring_draft_t *draft, unsigned tid) {
    sl_trace_ring_t *header = header_of(ring);
    header->magic = SL_TRACE_MAGIC;
    header->page_bytes = SL_TRACE_PAGE_BYTES;
    header->event_bytes = sizeof(sl_trace_event_t);
    header->mode = draft->mode;
    header->capacity = draft->capacity;
    header->pid = (uint32_t)getpid();
    header->tid = tid;
    header->identity = draft->identity;
    header->created_nanos = sl_os_wall_nanos();
    header->created_monotonic_nanos = sl_os_nanos();
    header->created_ticks = sl_clock_ticks();
    header->generation = draft->generation;
    prctl(PR_GET_NAME, header->thread, 0, 0, 0);
    snprintf(header->process, sizeof header->process, "%s", draft->process);
    atomic_store_explicit(&header->layout, SL_TRACE_LAYOUT, memory_order_release);
}

static bool map(sl_ring_t *ring, int fd, const sl_ring_draft_t *draft) {
    uint64_t first = bytes_of(draft->capacity);
    if (draft->mode == SL_TRACE_MODE_SPOOL && first > LEAST_GROWTH_BYTES)
        first = LEAST_GROWTH_BYTES;
    if (!allocate(fd, 0, first))
        return false;
    ring->mapped_bytes = bytes_of(draft->capacity);
    ring->base = mmap(NULL, ring->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring->base == MAP_FAILED)
        return false;
    ring->capacity = draft->capacity;
    ring->room = (first - SL_TRACE_EVENT_OFFSET) / sizeof(sl_trace_event_t);
    return true;
}

bool sl_ring_make(sl_ring_t *ring, const sl_ring_draft_t *draft, sl_reason_t *reason) {
    unsigned tid = (unsigned)syscall(SYS_gettid);
    *ring = (sl_ring_t){.base = NULL};
    int fd = create(ring->path, draft->directory, tid);
    if (fd < 0)
        return sl_report_fail(reason, "cannot make a ring in %.100s: %s", draft->directory, strerror(errno));
    bool ok = map(ring, fd, draft);
    if (ok)
        fill_header(ring, draft, tid);
    else {
        sl_report_fail(reason, "cannot make ring %.100s: %s", ring->path, strerror(errno));
        ring->base = NULL;
        unlink(ring->path);
    }
    close(fd);
    return ok;
}

static int reopen(const sl_ring_t *ring) {
    return open(ring->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

static bool grow(sl_ring_t *ring) {
    uint64_t have = bytes_of(ring->room), step = have < LEAST_GROWTH_BYTES ? LEAST_GROWTH_BYTES : have;
    uint64_t want = have + (step < MOST_GROWTH_BYTES ? step : MOST_GROWTH_BYTES), all = bytes_of(ring->capacity);
    want = want < all ? want : all;
    int fd = reopen(ring);
    bool ok = fd >= 0 && allocate(fd, have, want);
    if (fd >= 0)
        close(fd);
    if (ok)
        ring->room = (want - SL_TRACE_EVENT_OFFSET) / sizeof(sl_trace_event_t);
    else
        sl_report(SL_WARN, "the trace has no more space: %s: %s; free some, or record for a shorter time", ring->path, strerror(errno));
    return ok;
}

/* Writes zeros ahead, because page faults on written pages are cheaper than on holes: on ext4 an event costs 13 ns instead of 50 to 65.
 * On tmpfs the opposite holds, so nothing is written there. A failed write does not matter: the space is allocated. */
static void write_zeros(const sl_ring_t *ring, uint64_t from, uint64_t to) {
    static const char zeros[SL_TRACE_PAGE_BYTES];
    struct iovec pages[WARM_EVENTS * sizeof(sl_trace_event_t) / SL_TRACE_PAGE_BYTES];
    int count = (int)((to - from) / SL_TRACE_PAGE_BYTES), fd = reopen(ring);
    struct statfs system;
    for (int i = 0; i < count; i++)
        pages[i] = (struct iovec){(void *)(uintptr_t)zeros, SL_TRACE_PAGE_BYTES};
    bool in_memory = fd < 0 || fstatfs(fd, &system) != 0 || system.f_type == TMPFS_MAGIC;
    if (!in_memory && may_be_as_long(to) && pwritev(fd, pages, count, (off_t)from) < 0)
        SL_TELL(SL_DEBUG, "cannot write to %s: %s", ring->path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* False: the file system promised space and has none, so touching the page would kill the host. Only the last range ends within a page. */
static bool warm_up(sl_ring_t *ring) {
    uint64_t next = ring->warm + WARM_EVENTS < ring->room ? ring->warm + WARM_EVENTS : ring->room;
    uint64_t from = bytes_of(ring->warm);
    write_zeros(ring, from, bytes_of(next));
    bool failed = madvise(ring->base + from, bytes_of(next) - from, MADV_POPULATE_WRITE) != 0;
    ring->warm = failed && errno == EINVAL ? ring->room : next;
    return !failed || errno != EFAULT;
}

/* A tail that is out of range is ignored. Until the first round is over, the file may lack space for the whole ring. */
bool sl_ring_look_for_room(sl_ring_t *ring) {
    const sl_trace_reader_t *reader = (const sl_trace_reader_t *)(ring->base + SL_TRACE_READER_OFFSET);
    int saved = errno;
    bool full = sl_ring_writer(ring)->closed == SL_TRACE_CLOSED_SPACE;
    if (!full && ring->head == ring->room && ring->room < ring->capacity)
        full = !grow(ring);
    if (!full && ring->head == ring->warm && ring->warm < ring->room)
        full = !warm_up(ring);
    if (full)
        sl_ring_close(ring, SL_TRACE_CLOSED_SPACE);
    uint64_t tail = atomic_load_explicit(&reader->tail, memory_order_acquire);
    if (tail > ring->head || ring->head - tail > ring->capacity)
        tail = ring->head < ring->capacity ? 0 : ring->head - ring->capacity;
    ring->limit = full ? ring->head : tail + ring->capacity;
    if (ring->warm < ring->capacity && ring->limit > ring->warm)
        ring->limit = ring->warm;
    errno = saved;
    return ring->head != ring->limit;
}

void sl_ring_close(sl_ring_t *ring, uint32_t why) {
    uint32_t open = 0;
    atomic_compare_exchange_strong(&sl_ring_writer(ring)->closed, &open, why);
}

void sl_ring_shorten(sl_ring_t *ring) {
    if (ring->head < ring->capacity && truncate(ring->path, (off_t)bytes_of(ring->head)) != 0)
        SL_TELL(SL_DEBUG, "cannot shorten %s: %s", ring->path, strerror(errno));
}
