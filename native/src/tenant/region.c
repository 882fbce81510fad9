/* region: the memory-mapped file of one tenant: making, opening and checking it.
 *
 * All blocks of the file are allocated before it is mapped: touching a hole on a full tmpfs would kill the host. */
#define _GNU_SOURCE
#include "tenant/region.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cuda_entries.h"
#include "os/os.h"
#include "tenant/format.h"
#include "tenant/switches/options.h"
#include "tenant/slots.h"

#define ATTEMPTS 8
#define PATH_BYTES (SL_REGION_PATH_BYTES - 128)
#define KEEP_TEMPORARY_SECONDS 60

static const char *const records[] = SL_REGION_PLACE_NAMES;
static const sl_format_t format = {"region", SL_REGION_FORMAT, records, SL_REGION_FIRST_PLACES};

sl_region_account_t *sl_region_account(const sl_region_t *region, unsigned slot, unsigned gpu) {
    return &region->accounts[slot * SL_REGION_GPU_COUNT + gpu];
}

static bool check_header(const char *base, const char *path, sl_reason_t *reason) {
    const sl_region_header_t *header = (const sl_region_header_t *)(base + SL_REGION_HEADER_OFFSET);
    uint32_t layout = atomic_load_explicit(&header->layout, memory_order_acquire);
    if (header->magic != SL_REGION_MAGIC)
        return sl_report_fail(reason, "%.120s is not a region", path);
    if (layout != SL_REGION_LAYOUT)
        return sl_report_fail(reason, "region %.80s has layout %u and this library reads layout %d; use the sluice that "
                              "belongs to the library", path, layout, SL_REGION_LAYOUT);
    if (header->page_bytes != SL_REGION_PAGE_BYTES || header->region_bytes < SL_REGION_BYTES)
        return sl_report_fail(reason, "region %.120s is damaged: its header names other sizes", path);
    return sl_format_check(&format, (const sl_region_format_t *)(base + SL_REGION_FORMAT_OFFSET), path, reason);
}

static void place(sl_region_t *region, char *base, uint64_t inode, int fd, const char *path) {
    *region = (sl_region_t){
        .base = base,
        .inode = inode,
        .fd = fd,
        .header = (const sl_region_header_t *)(base + SL_REGION_HEADER_OFFSET),
        .limits = (const sl_region_limits_t *)(base + SL_REGION_LIMITS_OFFSET),
        .gpus = (sl_region_gpu_t *)(base + SL_REGION_GPU_OFFSET),
        .errors = (sl_region_error_t *)(base + SL_REGION_ERROR_OFFSET),
        .slots = (sl_region_slot_t *)(base + SL_REGION_SLOT_OFFSET),
        .accounts = (sl_region_account_t *)(base + SL_REGION_ACCOUNT_OFFSET),
        .shares = (sl_region_share_t *)(base + SL_REGION_SHARE_OFFSET),
        .calls = (sl_region_call_t *)(base + SL_REGION_CALL_OFFSET),
        .traffic = (sl_region_traffic_t *)(base + SL_REGION_TRAFFIC_OFFSET),
        .submissions = (sl_region_submission_t *)(base + SL_REGION_SUBMISSION_OFFSET),
        .works = (sl_region_work_t *)(base + SL_REGION_WORK_OFFSET),
        .pauses = (sl_region_pause_t *)(base + SL_REGION_PAUSE_OFFSET),
    };
    snprintf(region->path, sizeof region->path, "%s", path);
}

static bool map_region(sl_region_t *region, int fd, uint64_t inode, const char *path, sl_reason_t *reason) {
    char *base = mmap(NULL, SL_REGION_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return sl_report_fail(reason, "cannot map region %.120s: %s", path, strerror(errno));
    if (!check_header(base, path, reason) ||
        (mprotect(base + SL_REGION_PAGE_BYTES, SL_REGION_BYTES - SL_REGION_PAGE_BYTES, PROT_READ | PROT_WRITE) != 0 &&
         !sl_report_fail(reason, "cannot map region %.120s for writing: %s", path, strerror(errno)))) {
        munmap(base, SL_REGION_BYTES);
        return false;
    }
    place(region, base, inode, -1, path);
    return true;
}

bool sl_region_open_handed(sl_region_t *region, int limits, int ledger, const char *tenant, sl_reason_t *reason) {
    char path[SL_REGION_PATH_BYTES];
    snprintf(path, sizeof path, "%.63s from the agent", tenant);
    struct stat page, rest;
    if (!sl_os_stat(limits, &page) || !sl_os_stat(ledger, &rest) || page.st_size < SL_REGION_PAGE_BYTES ||
        rest.st_size < SL_REGION_BYTES)
        return sl_report_fail(reason, "region %.120s has another size; is the agent of this version?", path);
    char *base = mmap(NULL, SL_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ledger, 0);
    if (base == MAP_FAILED)
        return sl_report_fail(reason, "cannot map region %.120s: %s", path, strerror(errno));
    bool mapped = mmap(base, SL_REGION_PAGE_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, limits, 0) == base;
    if (!mapped)
        sl_report_fail(reason, "cannot map the limits of region %.120s: %s", path, strerror(errno));
    if (!mapped || !check_header(base, path, reason)) {
        munmap(base, SL_REGION_BYTES);
        return false;
    }
    place(region, base, rest.st_ino, sl_os_raise(fcntl(ledger, F_DUPFD_CLOEXEC, 0)), path);
    return true;
}

bool sl_region_open(sl_region_t *region, const char *path, sl_reason_t *reason) {
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return sl_report_fail(reason, "cannot open region %.120s: %s", path, strerror(errno));
    struct stat status;
    bool ok = sl_os_stat(fd, &status) && S_ISREG(status.st_mode);
    if (!ok)
        sl_report_fail(reason, "%.120s is not a region", path);
    else if (status.st_size < SL_REGION_BYTES)
        ok = sl_report_fail(reason, "%.120s is not a region of layout %d: it has %lld bytes instead of %d", path,
                            SL_REGION_LAYOUT, (long long)status.st_size, SL_REGION_BYTES);
    else if ((int64_t)status.st_blocks * 512 < SL_REGION_BYTES && posix_fallocate(fd, 0, SL_REGION_BYTES) != 0)
        ok = sl_report_fail(reason, "no space left for region %.120s; free some there", path);
    ok = ok && map_region(region, fd, status.st_ino, path, reason);
    close(fd);
    return ok;
}

static bool is_file_of(const sl_region_t *region, int fd) {
    struct stat status;
    return fd >= 0 && sl_os_stat(fd, &status) && (uint64_t)status.st_ino == region->inode && status.st_size >= SL_REGION_BYTES;
}

void sl_region_close(sl_region_t *region) {
    if (is_file_of(region, region->fd))
        close(region->fd);
    munmap(region->base, SL_REGION_BYTES);
    region->base = NULL;
    region->fd = -1;
}

/* The program may have closed the descriptor and use its number for another file; the path may be that of another region by now. */
int sl_region_borrow(const sl_region_t *region) {
    int saved = errno, fd = region->fd;
    bool handed = region->agent[0] != 0;
    if (!handed)
        fd = region->path[0] ? open(region->path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (!is_file_of(region, fd)) {
        if (!handed && fd >= 0)
            close(fd);
        fd = -1;
    }
    errno = saved;
    return fd;
}

void sl_region_return(const sl_region_t *region, int fd) {
    if (fd >= 0 && fd != region->fd)
        close(fd);
}

bool sl_region_is_current(const sl_region_t *region) {
    struct stat status;
    return sl_os_lstat(region->path, &status) && (uint64_t)status.st_ino == region->inode;
}

static bool usable_directory(const char *path, sl_reason_t *reason) {
    struct stat status;
    bool made = mkdir(path, 0700) == 0;
    if (made)
        chmod(path, 0700); /* whatever the umask is */
    else if (errno != EEXIST)
        return sl_report_fail(reason, "cannot make runtime directory %.120s: %s; set SLUICE_RUNTIME_DIR", path,
                              strerror(errno));
    if (!sl_os_lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077))
        return sl_report_fail(reason, "runtime directory %.120s must be a directory of your own with mode 700; set "
                              "SLUICE_RUNTIME_DIR to another", path);
    return true;
}

static bool find_directory(char path[PATH_BYTES], sl_reason_t *reason) {
    const char *chosen = sl_options_variable("SLUICE_RUNTIME_DIR");
    if (chosen) {
        if (strlen(chosen) >= PATH_BYTES)
            return sl_report_fail(reason, "SLUICE_RUNTIME_DIR is too long: %.60s...", chosen);
        strcpy(path, chosen);
        return usable_directory(path, reason);
    }
    static const char *const places[] = {"/dev/shm", "/tmp"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, PATH_BYTES, "%s/sluice-%u", places[i], (unsigned)geteuid());
        if (usable_directory(path, reason) && access(path, W_OK) == 0)
            return true;
    }
    return false;
}

static void fill_command(char *command, size_t size, uint64_t identity) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%u/cmdline", (unsigned)(identity & 0x3fffff));
    ssize_t length = sl_os_read(path, command, size);
    for (ssize_t i = 0; i + 1 < length; i++)
        if ((unsigned char)command[i] < ' ')
            command[i] = ' ';
}

static void fill_shares(sl_region_limits_t *limits, const sl_shares_t *shares) {
    for (int gpu = 0; gpu < SL_SHARES_GPUS; gpu++)
        limits->compute_permille[gpu] = shares->compute_permille[gpu];
    limits->turns = shares->turns;
    limits->weight = shares->weight;
    limits->priority = shares->priority;
    limits->exclusive = shares->exclusive;
    limits->turn_micros = shares->turn_micros;
    limits->strict = shares->strict;
    limits->cap_when_shared = shares->cap_when_shared;
}

static bool write_draft(int fd, const sl_region_draft_t *draft) {
    static const sl_region_header_t no_header;
    static const sl_region_limits_t no_limits;
    sl_region_header_t header = no_header;
    header.magic = SL_REGION_MAGIC;
    header.page_bytes = SL_REGION_PAGE_BYTES;
    header.region_bytes = SL_REGION_BYTES;
    header.created_nanos = sl_os_wall_nanos();
    header.root_identity = draft->root_identity;
    header.pid_namespace = sl_os_proc_namespace();
    header.uid = (uint32_t)geteuid();
    header.on_error = draft->fail_on_error;
    header.entries_digest = SL_ENTRY_DIGEST;
    snprintf(header.tenant, sizeof header.tenant, "%s", draft->tenant);
    fill_command(header.command, sizeof header.command, draft->root_identity);
    sl_region_limits_t limits = no_limits;
    limits.mapped = draft->mapped;
    limits.reservoir_bytes = draft->reservoir_bytes;
    limits.prepared_bytes = draft->prepared_bytes;
    limits.on_oom = draft->wait_on_oom;
    limits.oom_wait_millis = draft->oom_wait_millis;
    for (int gpu = 0; gpu < 16; gpu++)
        limits.memory_bytes[gpu] = draft->memory_bytes[gpu];
    if (draft->shares)
        fill_shares(&limits, draft->shares);
    sl_region_format_t of_file = sl_format_of_new_file(&format);
    uint32_t layout = SL_REGION_LAYOUT;
    struct rlimit files; /* passing this limit would send a signal to the host program */
    bool too_large = getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < SL_REGION_BYTES;
    int error = too_large ? EFBIG : posix_fallocate(fd, 0, SL_REGION_BYTES);
    errno = error ? error : errno;
    return !error && pwrite(fd, &header, sizeof header, SL_REGION_HEADER_OFFSET) == sizeof header &&
           pwrite(fd, &limits, sizeof limits, SL_REGION_LIMITS_OFFSET) == sizeof limits &&
           pwrite(fd, &of_file, sizeof of_file, SL_REGION_FORMAT_OFFSET) == sizeof of_file &&
           pwrite(fd, &layout, sizeof layout, offsetof(sl_region_header_t, layout)) == sizeof layout;
}

/* 1 made, 0 another process was faster, -1 failed. A link never replaces a file, so only one of two creators succeeds. */
static int create(const char *temporary, const char *path, const sl_region_draft_t *draft, sl_reason_t *reason) {
    unlink(temporary);
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int result = -1;
    if (fd < 0) {
        sl_report_fail(reason, "cannot make region %.120s: %s; set SLUICE_RUNTIME_DIR to another directory", path,
                       strerror(errno));
        return result;
    }
    if (fchmod(fd, 0600) == 0 && write_draft(fd, draft))
        result = link(temporary, path) == 0 ? 1 : errno == EEXIST ? 0 : -1;
    if (result < 0)
        sl_report_fail(reason, "cannot make region %.120s: %s; free space there or set SLUICE_RUNTIME_DIR", path,
                       strerror(errno));
    close(fd);
    unlink(temporary);
    return result;
}

static bool has_ended(const char *path) {
    sl_region_t region;
    sl_reason_t reason;
    if (!sl_region_open(&region, path, &reason))
        return false;
    bool ended = sl_slots_ended(&region);
    sl_region_close(&region);
    return ended;
}

/* Another process may have replaced the ended region by a new one just now, so checks the file again after it was moved aside. */
static void remove_ended(const char *path, const char *temporary) {
    if (rename(path, temporary) != 0)
        return;
    if (!has_ended(temporary) && link(temporary, path) != 0)
        sl_report(SL_WARN, "region %.120s was replaced while it was in use", path);
    unlink(temporary);
}

/* Deletes temporary files of creators that died, and regions of ended tenants without a chosen name. Their automatic name stands for a
 * process that is gone, so it is never used again. */
static void sweep(const char *directory) {
    DIR *folder = opendir(directory);
    if (!folder)
        return;
    uint64_t now = sl_os_wall_nanos() / 1000000000u;
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name, *suffix = strrchr(name, '.');
        char path[PATH_BYTES + 260];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", directory, name);
        bool temporary = name[0] == '.' && strcmp(suffix, ".tmp") == 0;
        bool automatic = strncmp(name, "auto-", 5) == 0;
        if ((temporary || automatic) && sl_os_lstat(path, &status) && S_ISREG(status.st_mode) &&
            (temporary ? (uint64_t)status.st_mtime + KEEP_TEMPORARY_SECONDS < now : has_ended(path)))
            unlink(path);
    }
    closedir(folder);
}

bool sl_region_open_or_create(sl_region_t *region, const sl_region_draft_t *draft, sl_reason_t *reason) {
    char directory[PATH_BYTES], path[SL_REGION_PATH_BYTES], temporary[SL_REGION_PATH_BYTES];
    if (!find_directory(directory, reason))
        return false;
    snprintf(path, sizeof path, "%s/%s.region", directory, draft->tenant);
    snprintf(temporary, sizeof temporary, "%s/.%s.%d.tmp", directory, draft->tenant, (int)getpid());
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct stat status;
        int made = sl_os_lstat(path, &status) ? 0 : create(temporary, path, draft, reason);
        if (made < 0)
            return false;
        if (made)
            sweep(directory);
        if (!sl_region_open(region, path, reason)) {
            if (sl_os_lstat(path, &status))
                return false;
            continue; /* removed between the two steps: try again */
        }
        if (!sl_slots_ended(region))
            return true;
        sl_region_close(region);
        remove_ended(path, temporary);
    }
    return sl_report_fail(reason, "other processes keep making and removing region %.120s", path);
}

uint64_t sl_region_call_nanos(const sl_region_call_t *call) {
    uint64_t timed = call->timed_calls, sampled = call->sampled_calls, calls = call->calls;
    double mean = sampled ? (double)call->sampled_nanos / (double)sampled : 0;
    return call->timed_nanos + (uint64_t)(mean * (double)(calls > timed ? calls - timed : 0));
}
