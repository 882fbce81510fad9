/* board: the memory-mapped file of one GPU: makes it, opens it and joins it.
 *
 * The file lies in the runtime directory beside the regions. Like a region, it has all its blocks allocated before it is mapped, and gets
 * its name when it is complete. */
#define _GNU_SOURCE
#include "turns/board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/os.h"
#include "tenant/format.h"
#include "tenant/region.h"
#include "tenant/registration.h"
#include "tenant/tenant.h"
#include "turns/seen.h"

#define ATTEMPTS 4

static const char *const records[] = SL_BOARD_PLACE_NAMES;
static const sl_format_t format = {"board", SL_BOARD_FORMAT, records, SL_BOARD_FIRST_PLACES};
_Static_assert(sizeof(sl_board_format_t) == sizeof(sl_region_format_t) &&
               offsetof(sl_board_format_t, place_count) == offsetof(sl_region_format_t, place_count), "one format record for both files");

static bool fill(int fd, const uint8_t uuid[16]) {
    static const sl_board_header_t nothing;
    sl_board_header_t header = nothing;
    header.magic = SL_BOARD_MAGIC;
    header.page_bytes = SL_BOARD_PAGE_BYTES;
    header.board_bytes = SL_BOARD_BYTES;
    header.created_nanos = sl_os_wall_nanos();
    memcpy(header.uuid, uuid, sizeof header.uuid);
    sl_region_format_t of_file = sl_format_of_new_file(&format);
    uint32_t layout = SL_BOARD_LAYOUT;
    int error = posix_fallocate(fd, 0, SL_BOARD_BYTES);
    errno = error ? error : errno;
    return !error && pwrite(fd, &header, sizeof header, SL_BOARD_HEADER_OFFSET) == sizeof header &&
           pwrite(fd, &of_file, sizeof of_file, SL_BOARD_FORMAT_OFFSET) == sizeof of_file &&
           pwrite(fd, &layout, sizeof layout, offsetof(sl_board_header_t, layout)) == sizeof layout;
}

/* Whether the file is there afterwards, made by this process or another one. */
static bool make(const char *path, const uint8_t uuid[16], sl_reason_t *reason) {
    char temporary[SL_REGION_PATH_BYTES + 96];
    snprintf(temporary, sizeof temporary, "%s.%u.tmp", path, (unsigned)getpid());
    unlink(temporary);
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool made = fd >= 0 && fill(fd, uuid) && (link(temporary, path) == 0 || errno == EEXIST);
    if (!made)
        sl_report_fail(reason, "cannot make board %.120s: %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    return made;
}

static bool map_board(sl_board_t *board, int fd, const char *path, const uint8_t uuid[16], sl_reason_t *reason) {
    struct stat status;
    if (!sl_os_stat(fd, &status) || status.st_size < SL_BOARD_BYTES)
        return sl_report_fail(reason, "%.120s is not a board of layout %d; remove it when no tenant runs", path, SL_BOARD_LAYOUT);
    char *base = mmap(NULL, SL_BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return sl_report_fail(reason, "cannot map board %.120s: %s", path, strerror(errno));
    const sl_board_header_t *header = (const sl_board_header_t *)(base + SL_BOARD_HEADER_OFFSET);
    bool ours = header->magic == SL_BOARD_MAGIC && header->layout == SL_BOARD_LAYOUT && memcmp(header->uuid, uuid, sizeof header->uuid) == 0;
    if (!ours)
        sl_report_fail(reason, "%.120s is not a board of layout %d; remove it when no tenant runs", path, SL_BOARD_LAYOUT);
    if (!ours || !sl_format_check(&format, (const sl_region_format_t *)(base + SL_BOARD_FORMAT_OFFSET), path, reason)) {
        munmap(base, SL_BOARD_BYTES);
        return false;
    }
    *board = (sl_board_t){
        .base = base,
        .turn = (sl_board_turn_t *)(base + SL_BOARD_TURN_OFFSET),
        .tenants = (sl_board_tenant_t *)(base + SL_BOARD_TENANT_OFFSET),
        .processes = (sl_board_process_t *)(base + SL_BOARD_PROCESS_OFFSET),
        .key = sl_tenant.region.header->created_nanos,
        .identity = sl_tenant.self.identity,
        .pid_namespace = sl_tenant.self.pid_namespace,
        .file = sl_life_open(fd),
    };
    return true;
}

static int open_file(char path[SL_REGION_PATH_BYTES + 64], const uint8_t uuid[16], sl_reason_t *reason) {
    const char *region = sl_tenant.region.path, *slash = strrchr(region, '/');
    int length = snprintf(path, SL_REGION_PATH_BYTES + 64, "%.*s/board-", slash ? (int)(slash - region) : 1, slash ? region : ".");
    for (int i = 0; i < 16; i++)
        length += snprintf(path + length, SL_REGION_PATH_BYTES + 64 - (size_t)length, "%02x", uuid[i]);
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < ATTEMPTS; attempt++) {
        fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && (errno != ENOENT || !make(path, uuid, reason)))
            return sl_report_fail(reason, "cannot open board %.120s: %s", path, strerror(errno)), -1;
    }
    return fd;
}

static bool open_board(sl_board_t *board, const uint8_t uuid[16], sl_reason_t *reason) {
    char path[SL_REGION_PATH_BYTES + 64] = "from the agent";
    const char *agent = sl_tenant.region.agent;
    int fd = *agent ? sl_registration_board(agent, uuid, reason) : open_file(path, uuid, reason);
    bool ok = fd >= 0 && map_board(board, fd, path, uuid, reason);
    if (fd >= 0)
        close(fd);
    return ok;
}

void sl_board_describe(const sl_board_t *board) {
    const sl_region_limits_t *limits = sl_tenant.region.limits;
    sl_board_tenant_t *entry = &board->tenants[board->tenant];
    entry->weight = limits->weight ? limits->weight : 1;
    entry->priority = limits->priority;
    entry->exclusive = limits->exclusive;
    entry->turn_micros = limits->turn_micros;
}

/* A plan that does not know all tenants is worse than no plan. Weights count until the agent writes the next plan. */
static void take_plan_back(const sl_board_t *board) {
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++)
        board->tenants[i].plan_nanos = 0;
}

/* The entry's last owner may have ended while it had the turn. Its successor has no turn yet. */
static void drop_turn(const sl_board_t *board, unsigned tenant) {
    uint64_t word = board->turn->word;
    if ((word & 0xff) == tenant + 1)
        atomic_compare_exchange_strong(&board->turn->word, &word, ((word >> 8) + 1) << 8);
}

/* Writes its owner. */
static void enter_tenant(const sl_board_t *board, unsigned number) {
    const sl_region_header_t *header = sl_tenant.region.header;
    sl_board_tenant_t *entry = &board->tenants[number];
    entry->root_identity = header->root_identity;
    entry->region_inode = sl_tenant.region.inode;
    entry->held_nanos = entry->turns = 0;
    entry->balance_nanos = 0;
    memset(entry->unused_bytes, 0, sizeof entry->unused_bytes); /* fields of later versions */
    take_plan_back(board);
    drop_turn(board, number);
    snprintf(entry->name, sizeof entry->name, "%.63s", header->tenant);
}

static bool claim_tenant(sl_board_t *board) {
    uint64_t key = board->key;
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++)
        if (board->tenants[i].owner == key)
            return board->tenant = i, true;
    for (unsigned i = 0; i < SL_BOARD_TENANT_COUNT; i++) {
        uint64_t free = 0;
        sl_seen_tenant_alive(board, i);
        if (atomic_compare_exchange_strong(&board->tenants[i].owner, &free, key)) {
            enter_tenant(board, i);
            return board->tenant = i, true;
        }
    }
    return false;
}

/* The sign comes before the owner, as life.h says. Without a sign only processes of this pid namespace will see the end. */
static bool take_entry(const sl_board_t *board, unsigned number) {
    sl_board_process_t *entry = &board->processes[number];
    uint64_t owner = entry->owner, self = board->identity;
    bool free = !owner || (owner == self && entry->pid_namespace == board->pid_namespace) || !sl_seen_alive(board, number);
    void *sign = free && board->file.fd >= 0 ? sl_life_begin(board->file.fd, sl_board_place(number)) : NULL;
    if (!free || (!sign && sl_life_in(&board->file, sl_board_place(number)) == SL_LIFE_ALIVE))
        return false;
    if (sign)
        entry->sign = self;
    if (atomic_compare_exchange_strong(&entry->owner, &owner, self))
        return true;
    sl_life_end(sign);
    return false;
}

static bool claim_process(sl_board_t *board) {
    board->process = SL_BOARD_PROCESS_COUNT;
    for (unsigned i = 0; i < SL_BOARD_PROCESS_COUNT; i++) {
        sl_board_process_t *entry = &board->processes[i];
        if (!take_entry(board, i))
            continue;
        entry->pid_namespace = board->pid_namespace;
        entry->image = sl_tenant.self.image;
        entry->tenant = board->tenant;
        entry->waiting = 0;
        entry->waiting_nanos = entry->busy_nanos = entry->blocked_nanos = 0;
        entry->slice_micros = entry->outside = 0;
        memset(entry->unused_bytes, 0, sizeof entry->unused_bytes);
        return board->process = i, true;
    }
    return false;
}

static void leave(sl_board_t *board) {
    munmap(board->base, SL_BOARD_BYTES);
    sl_life_close(&board->file);
    board->base = NULL;
}

/* Until this process has an entry, other processes may take the tenant for dead and free its entry. */
static bool claim(sl_board_t *board) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!claim_tenant(board) || (!attempt && !claim_process(board)))
            return false;
        board->processes[board->process].tenant = board->tenant;
        if (board->tenants[board->tenant].owner == board->key)
            return true;
    }
    return false;
}

bool sl_board_join(sl_board_t *board, const uint8_t uuid[16], sl_reason_t *reason) {
    if (!open_board(board, uuid, reason))
        return false;
    if (!claim(board)) {
        leave(board);
        return sl_report_fail(reason, "the GPU's board is full: %d tenants or %d processes take turns already",
                              SL_BOARD_TENANT_COUNT, SL_BOARD_PROCESS_COUNT);
    }
    sl_seen_repair(board);
    sl_board_describe(board);
    return true;
}

bool sl_board_rejoin(sl_board_t *board, const uint8_t uuid[16], sl_reason_t *reason) {
    sl_board_t again = {0};
    if (!sl_board_join(&again, uuid, reason))
        return false;
    sl_life_close(&board->file);
    *board = again;
    return true;
}

void sl_board_forget(sl_board_t *board) {
    if (board->base)
        leave(board);
}
