/* names: what kernels and the program's own ranges are called in a trace.
 *
 * The number of a text is a hash of the text. So two threads that see a new text need not agree on a number: at worst its line is
 * written twice. Handles are kept in a table without a lock, because every recorded launch reads it; os/index.h needs a lock. A writer
 * claims a place before it fills it; a reader checks the key before and after. */
#define _GNU_SOURCE
#include "trace/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "driver/entry.h"
#include "os/os.h"
#include "real.h"

#define PLACES 8192u
#define PROBES 16u
#define FILLING UINT64_MAX
#define TEXT_BYTES 4000

typedef struct {
    _Atomic uint64_t key; /* 0 = free */
    _Atomic uint64_t name;
} place_t;

static place_t places[PLACES]; /* the child of a fork keeps them: the salt of its trace is new, so no old key matches */
SL_HOT_DATA _Atomic uint64_t sl_names_unload_count;

static uint64_t mix(uint64_t word) {
    word = (word ^ word >> 32) * 0xd6e8feb86659fd93ull;
    return (word ^ word >> 32) * 0xd6e8feb86659fd93ull ^ word;
}

static uint64_t key_of(const sl_names_t *names, uint64_t handle) {
    uint64_t key = mix(handle ^ mix(names->salt << 32 ^ sl_names_unloads()));
    return key == 0 || key == FILLING ? 1 : key;
}

static uint64_t find(uint64_t key) {
    for (unsigned i = 0; i < PROBES; i++) {
        place_t *place = &places[(key + i) % PLACES];
        uint64_t found = atomic_load_explicit(&place->key, memory_order_acquire);
        if (found == key) {
            uint64_t name = atomic_load_explicit(&place->name, memory_order_acquire);
            return atomic_load_explicit(&place->key, memory_order_relaxed) == key ? name : 0;
        }
        if (found == 0)
            return 0;
    }
    return 0;
}

/* If all places are taken, replaces an old one; a lookup of it then asks the driver again. */
static void remember(uint64_t key, uint64_t name) {
    place_t *place = NULL;
    uint64_t old = FILLING;
    for (unsigned i = 0; i < PROBES && !place; i++) {
        place_t *candidate = &places[(key + i) % PLACES];
        uint64_t found = 0;
        if (atomic_compare_exchange_strong(&candidate->key, &found, FILLING))
            place = candidate;
        else if (found == key)
            return;
    }
    if (!place) {
        place = &places[(key + name % PROBES) % PLACES];
        old = atomic_load(&place->key);
        if (old == FILLING || !atomic_compare_exchange_strong(&place->key, &old, FILLING))
            return;
    }
    atomic_store_explicit(&place->name, name, memory_order_release);
    atomic_store_explicit(&place->key, key, memory_order_release);
}

static uint64_t number_of(const char *text, size_t length) {
    uint64_t hash = 14695981039346656037ull;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
    hash = mix(hash) >> 1;
    return hash ? hash : 1;
}

static void write_line(const char *path, uint64_t number, const char *text, size_t length) {
    char line[TEXT_BYTES + 32];
    int start = snprintf(line, 32, "%llu\t", (unsigned long long)number);
    for (size_t i = 0; i < length; i++)
        line[(size_t)start + i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    line[(size_t)start + length] = '\n';
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    size_t bytes = (size_t)start + length + 1;
    struct rlimit files; /* to pass this limit would be a signal for the host */
    off_t at = lseek(fd, 0, SEEK_END);
    bool fits = getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_cur >= (rlim_t)at + bytes;
    ssize_t written = fits ? write(fd, line, bytes) : 0;
    (void)written;
    close(fd);
}

uint64_t sl_names_text(const sl_names_t *names, const char *text) {
    size_t length = strnlen(text, TEXT_BYTES);
    uint64_t number = number_of(text, length), key = key_of(names, number);
    if (!find(key)) {
        int saved = errno;
        write_line(names->path, number, text, length);
        remember(key, number);
        errno = saved;
    }
    return number;
}

uint64_t sl_names_of(const sl_names_t *names, uint64_t handle) {
    return find(key_of(names, handle));
}

void sl_names_remember(const sl_names_t *names, uint64_t handle, uint64_t name) {
    remember(key_of(names, handle), name);
}

/* A launch takes the handle of a kernel (CUkernel) in the place of a function. */
static const char *ask(uint64_t function) {
    const char *name = NULL;
    if (real.cuFuncGetName && real.cuFuncGetName(&name, (CUfunction)(uintptr_t)function) == CUDA_SUCCESS && name)
        return name;
    if (real.cuKernelGetName && real.cuKernelGetName(&name, (CUkernel)(uintptr_t)function) == CUDA_SUCCESS && name)
        return name;
    return NULL;
}

uint64_t sl_names_kernel(const sl_names_t *names, uint64_t function, bool known) {
    uint64_t key = key_of(names, function), name = find(key);
    if (name)
        return name;
    const char *text = known ? ask(function) : NULL;
    char address[32];
    snprintf(address, sizeof address, "kernel@0x%llx", (unsigned long long)function);
    name = sl_names_text(names, text ? text : address);
    if (known)
        remember(key, name);
    return name;
}

void sl_names_unloaded(void) {
    atomic_fetch_add(&sl_names_unload_count, 1);
}
