/* hostile: a tenant that writes nonsense. It maps a region as a process of the tenant does (page 0 read-only), and all boards. For a time
 * it writes random values to every word that it may write. It takes no slot and calls no CUDA.
 *   --seed N (1)  --seconds S (5)  --directory DIR (SLUICE_RUNTIME_DIR)
 *   --tenant NAME     whose region; without it only boards are written to
 *   --no-boards       only the region
 *   --places LIST     some of gpu,error,slot,account,share,call,traffic,work,turn,tenant,process (all)
 *   --quiet MICROS    sleeps up to so long after each burst of up to 64 words (2000)
 * Prints "seed=N words=N". */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "board_layout.h"
#include "region_layout.h"

#define FILES_MOST 17
#define BURST 64u
#define LOOK_NANOS 100000000u

typedef struct {
    const char *name;
    size_t offset, record_bytes, count;
    bool of_board;
} place_t;

#define REGION(lower, upper) {#lower, SL_REGION_##upper##_OFFSET, sizeof(sl_region_##lower##_t), SL_REGION_##upper##_COUNT, false}
#define BOARD(lower, upper) {#lower, SL_BOARD_##upper##_OFFSET, sizeof(sl_board_##lower##_t), SL_BOARD_##upper##_COUNT, true}
static const place_t places[] = {
    REGION(gpu, GPU), REGION(error, ERROR), REGION(slot, SLOT), REGION(account, ACCOUNT), REGION(share, SHARE), REGION(call, CALL),
    REGION(traffic, TRAFFIC), REGION(work, WORK), BOARD(turn, TURN), BOARD(tenant, TENANT), BOARD(process, PROCESS),
};
enum { PLACES = sizeof places / sizeof *places };

typedef struct {
    char name[256];
    char *base;
    bool is_board;
} file_t;

static file_t files[FILES_MOST];
static int file_count;
static uint64_t state = 1;
static char directory[400];
static const char *tenant = "", *chosen = "";
static bool boards = true;

static uint64_t draw(void) {
    uint64_t x = state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void map_file(const char *name, bool is_board) {
    char path[700];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    size_t bytes = is_board ? SL_BOARD_BYTES : SL_REGION_BYTES, page = is_board ? SL_BOARD_PAGE_BYTES : SL_REGION_PAGE_BYTES;
    char *base = MAP_FAILED;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size >= (off_t)bytes)
        base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (base == MAP_FAILED || mprotect(base + page, bytes - page, PROT_READ | PROT_WRITE) != 0)
        return;
    files[file_count] = (file_t){.base = base, .is_board = is_board};
    snprintf(files[file_count++].name, sizeof files->name, "%s", name);
}

static bool is_known(const char *name) {
    for (int i = 0; i < file_count; i++)
        if (strcmp(files[i].name, name) == 0)
            return true;
    return false;
}

/* They come when the first tenant makes them. */
static void look_for_files(void) {
    char region[300];
    snprintf(region, sizeof region, "%s.region", tenant);
    DIR *folder = opendir(directory);
    for (struct dirent *entry; folder && (entry = readdir(folder)) && file_count < FILES_MOST;) {
        bool is_board = strncmp(entry->d_name, "board-", 6) == 0 && !strstr(entry->d_name, ".tmp");
        if ((is_board ? boards : strcmp(entry->d_name, region) == 0) && !is_known(entry->d_name))
            map_file(entry->d_name, is_board);
    }
    if (folder)
        closedir(folder);
}

static bool is_chosen(const place_t *place) {
    size_t length = strlen(place->name);
    for (const char *at = chosen; (at = strstr(at, place->name)); at += length)
        if ((at == chosen || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    return !*chosen;
}

/* Nonsense, edges, what looks right but is not, and what was true of another word. */
static uint64_t value_for(const file_t *file, const place_t *place, uint64_t old) {
    static const uint64_t edges[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 255, 256, 511, 512, 513, 1ull << 31, UINT32_MAX, 1ull << 62,
                                     1ull << 63, (1ull << 63) | 1, UINT64_MAX, UINT64_MAX - 1, INT64_MAX};
    const _Atomic uint64_t *other = (const void *)(file->base + place->offset + draw() % (place->record_bytes * place->count) / 8 * 8);
    switch (draw() % 8) {
    case 0: return draw();
    case 1: case 2: return edges[draw() % (sizeof edges / sizeof *edges)];
    case 3: return old ^ 1ull << draw() % 64;
    case 4: return *other;
    case 5: return now() + (draw() >> (draw() % 40)) * (draw() & 1 ? 1 : -1ull);
    case 6: return old + draw() % 512 - 256;
    default: return draw() % 600;
    }
}

/* A debt of GPU time that can be true is no nonsense: processes of the tenant repay it, for ten minutes at the most. */
static bool is_believable_debt(const place_t *place, uint64_t value) {
    return strcmp(place->name, "share") == 0 && value > now() && value - now() < 600000000000u;
}

static bool write_one(void) {
    const file_t *file = &files[draw() % (uint64_t)file_count];
    const place_t *place = &places[draw() % PLACES];
    if (place->of_board != file->is_board || !is_chosen(place))
        return false;
    uint64_t record = draw() % 4 ? draw() % (place->count < 4 ? place->count : 4) : draw() % place->count;
    char *at = file->base + place->offset + record * place->record_bytes + draw() % (place->record_bytes / 8) * 8;
    _Atomic uint64_t *word = (void *)at;
    uint64_t value = value_for(file, place, *word);
    if (is_believable_debt(place, value))
        return false;
    if (draw() % 4 == 0)
        *(_Atomic uint32_t *)(void *)(at + (draw() & 4)) = (uint32_t)value;
    else
        *word = value;
    return true;
}

int main(int count, char **words) {
    double seconds = 5;
    uint64_t seed = 1, quiet = 2000, written = 0, next_look = 0;
    const char *folder = getenv("SLUICE_RUNTIME_DIR");
    for (int i = 1; i < count; i++) {
        const char *option = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(option, "--no-boards") == 0) {
            boards = false;
            continue;
        }
        i++;
        if (strcmp(option, "--seed") == 0)
            seed = strtoull(value, NULL, 10);
        else if (strcmp(option, "--seconds") == 0)
            seconds = atof(value);
        else if (strcmp(option, "--directory") == 0)
            folder = value;
        else if (strcmp(option, "--tenant") == 0)
            tenant = value;
        else if (strcmp(option, "--places") == 0)
            chosen = value;
        else if (strcmp(option, "--quiet") == 0)
            quiet = strtoull(value, NULL, 10);
        else
            return fprintf(stderr, "hostile: unknown option %s\n", option), 2;
    }
    snprintf(directory, sizeof directory, "%s", folder ? folder : "");
    state = seed;
    for (uint64_t end = now() + (uint64_t)(seconds * 1e9); now() < end;) {
        if (now() > next_look) {
            look_for_files();
            next_look = now() + LOOK_NANOS;
        }
        for (uint64_t i = draw() % BURST; file_count && i > 0; i--)
            written += write_one();
        usleep((useconds_t)(draw() % (quiet + 1)));
    }
    printf("seed=%llu words=%llu files=%d\n", (unsigned long long)seed, (unsigned long long)written, file_count);
    return written ? 0 : 1;
}
