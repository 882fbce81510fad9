/* register: what the registration of host memory costs beside copies, for the way back of a vacated job.
 *
 * gcc -O2 -o register bench/gpu/register.c -ldl -lpthread
 * usage: register [MIB [MOST_SECONDS]]            8192 MiB and 300 seconds; on a GPU that nobody else uses, without Sluice
 *        register staged [MIB [MOST_SECONDS]]     only the second table
 *
 * A vacated job has to register its host memory again before it copies at the speed of the link: 22.8 to 27.5 GB/s on an H200, where
 * registration alone reaches 54 and copies alone 55. The table shows whether the two contend. A row is a kind of host memory, a size of the pieces in
 * which it is registered, and a number of threads that register. GB/s:
 *   register     all pieces, nothing else
 *   copy         one thread, from registered memory to the GPU, nothing else
 *   with out     all pieces, while another thread copies from the GPU to memory that was registered before; then the rate of these copies
 *   with back    the same with copies to the GPU
 *   after        all pieces, and then all copies to the GPU
 *   piped        a piece is copied to the GPU as soon as it and all before it are registered
 *   unregister   all pieces
 *
 * The second table is of the other way: the memory stays unregistered. Threads copy pieces between it and a ring of staging memory, which is registered
 * once; one thread begins all copies between the ring and the GPU, in order. A row is a kind of memory, a size of the pieces, and a number of threads that
 * copy. GB/s, but for the first:
 *   ready        ms to map, touch and register the ring, by one thread
 *   staged out   from the GPU through the ring
 *   out stream   the same with streaming stores instead of memcpy
 *   staged back  to the GPU through the ring
 *   back stream
 *   cpu          the threads copy between memory and ring, without the GPU
 * It runs on the simulated GPU too; its numbers mean nothing there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <emmintrin.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define PAGE (2 * MIB)
#define CHUNK (64 * MIB) /* of one copy */
#define MOST_MIB 262144 /* a piece has at least one */
#define MOST_THREADS 16
#define FLIGHT 8 /* copies of the GPU that are begun ahead */
#define MOST_SLOTS (MOST_THREADS + FLIGHT)
#define POPULATE_WRITE 23

static int (*set_current)(void *);
static int (*host_register)(void *, size_t, unsigned);
static int (*host_unregister)(void *);
static int (*copy_out)(void *, uint64_t, size_t, void *);
static int (*copy_back)(uint64_t, const void *, size_t, void *);
static int (*wait_for)(void *);
static int (*make_stream)(void **, unsigned);
static int (*make_event)(void **, unsigned);
static int (*record)(void *, void *);
static int (*wait_for_event)(void *);
static void *context, *stream;
static uint64_t device;
static char *other; /* registered all the time */

static char *memory;
static size_t bytes, piece, pieces;
static _Atomic size_t next_piece;
static atomic_bool registered[MOST_MIB];
static atomic_bool copying, stop;
static _Atomic size_t copied;
static _Atomic int most_failed; /* the last status that was not 0 */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(const char *what, int status) {
    if (status == 0)
        return;
    fprintf(stderr, "register: %s answered %d\n", what, status);
    exit(1);
}

static void *find(void *library, const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "register: %s\n", dlerror());
        exit(1);
    }
    return function;
}

static size_t piece_bytes(size_t number) {
    size_t left = bytes - number * piece;
    return left < piece ? left : piece;
}

static void *register_pieces(void *unused) {
    set_current(context);
    for (size_t number; (number = atomic_fetch_add(&next_piece, 1)) < pieces;) {
        int status = host_register(memory + number * piece, piece_bytes(number), 1);
        if (status)
            most_failed = status;
        registered[number] = true;
    }
    return unused;
}

static void *unregister_pieces(void *unused) {
    set_current(context);
    for (size_t number; (number = atomic_fetch_add(&next_piece, 1)) < pieces;)
        host_unregister(memory + number * piece);
    return unused;
}

static void begin(pthread_t *threads, int count, void *(*work)(void *)) {
    next_piece = 0;
    for (size_t i = 0; i < pieces; i++)
        registered[i] = false;
    for (int i = 0; i < count; i++)
        must("pthread_create", pthread_create(&threads[i], NULL, work, NULL));
}

static void end(pthread_t *threads, int count) {
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Seconds. */
static double all(int count, void *(*work)(void *)) {
    pthread_t threads[MOST_THREADS];
    double began = now();
    begin(threads, count, work);
    end(threads, count);
    return now() - began;
}

static void *copy_beside(void *is_out) {
    set_current(context);
    while (!stop) {
        int status = is_out ? copy_out(other, device, CHUNK, stream) : copy_back(device, other, CHUNK, stream);
        must("a copy", status ? status : wait_for(stream));
        copied += CHUNK;
        copying = true;
    }
    return is_out;
}

/* Seconds for all pieces; *rate: bytes a second that the other thread copied meanwhile. */
static double beside(int count, bool out, double *rate) {
    pthread_t copier;
    copying = stop = false;
    must("pthread_create", pthread_create(&copier, NULL, copy_beside, out ? &copying : NULL));
    while (!copying)
        usleep(100);
    copied = 0;
    double seconds = all(count, register_pieces);
    *rate = (double)copied / seconds;
    stop = true;
    pthread_join(copier, NULL);
    return seconds;
}

static void copy_piece(size_t number) {
    char *from = memory + number * piece;
    for (size_t done = 0, most = piece_bytes(number); done < most; done += CHUNK)
        must("a copy", copy_back(device, from + done, most - done < CHUNK ? most - done : CHUNK, stream));
}

static double copy_all(void) {
    double began = now();
    for (size_t number = 0; number < pieces; number++)
        copy_piece(number);
    must("cuStreamSynchronize", wait_for(stream));
    return now() - began;
}

static double piped(int count) {
    pthread_t threads[MOST_THREADS];
    double began = now();
    begin(threads, count, register_pieces);
    for (size_t number = 0; number < pieces; number++) {
        while (!registered[number])
            usleep(20);
        copy_piece(number);
    }
    must("cuStreamSynchronize", wait_for(stream));
    end(threads, count);
    return now() - began;
}

static char *take(bool file, size_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, fd = -1;
    char *whole = mmap(NULL, size + PAGE, PROT_NONE, flags, -1, 0);
    char *start = (char *)(((uintptr_t)whole + PAGE - 1) & ~(PAGE - 1));
    if (file) {
        fd = memfd_create("register", 0);
        must("memfd_create", fd < 0 || ftruncate(fd, (off_t)size) != 0);
        flags = MAP_SHARED;
    }
    must("mmap", mmap(start, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) == MAP_FAILED);
    if (file)
        close(fd);
    madvise(start, size, MADV_HUGEPAGE);
    if (madvise(start, size, POPULATE_WRITE) != 0)
        memset(start, 1, size);
    return start;
}

static void row(const char *kind, int count) {
    double rate_out, rate_back, gb = (double)bytes / 1e9;
    most_failed = 0;
    double alone = all(count, register_pieces);
    double copy = copy_all();
    double unregister = all(count, unregister_pieces);
    double with_out = beside(count, true, &rate_out);
    all(count, unregister_pieces);
    double with_back = beside(count, false, &rate_back);
    all(count, unregister_pieces);
    double after = all(count, register_pieces) + copy_all();
    all(count, unregister_pieces);
    double pipe = piped(count);
    all(count, unregister_pieces);
    printf("| %s | %zu | %d | %.1f | %.1f | %.1f / %.1f | %.1f / %.1f | %.1f | %.1f | %.1f |", kind, piece / MIB, count, gb / alone, gb / copy,
           gb / with_out, rate_out / 1e9, gb / with_back, rate_back / 1e9, gb / after, gb / pipe, gb / unregister);
    if (most_failed)
        printf(" cuMemHostRegister answered %d |", most_failed);
    printf("\n");
    fflush(stdout);
}

/* The staged way. A slot of the ring is used by piece number, number + slots, … */
static struct {
    char *ring;
    size_t slots;
    bool out, streaming;
    _Atomic uint32_t given;               /* pieces that the threads may copy */
    _Atomic uint32_t copied;              /* pieces that they have copied, in any order */
    atomic_bool done[MOST_MIB];
    void *streams[2], *events[MOST_SLOTS];
} staged;

static void sleep_while(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void copy_streaming(char *to, const char *from, size_t size) {
    for (size_t at = 0; at < size; at += 64)
        for (size_t i = 0; i < 64; i += 16)
            _mm_stream_si128((__m128i *)(to + at + i), _mm_load_si128((const __m128i *)(from + at + i)));
    _mm_sfence();
}

static char *slot_of(size_t number) {
    return staged.ring + number % staged.slots * piece;
}

static void *stage_pieces(void *unused) {
    for (size_t number; (number = atomic_fetch_add(&next_piece, 1)) < pieces;) {
        for (uint32_t given; (given = staged.given) <= number;)
            syscall(SYS_futex, &staged.given, FUTEX_WAIT_BITSET_PRIVATE, given, NULL, NULL, 1u << number % 32);
        char *place = memory + number * piece, *to = staged.out ? place : slot_of(number), *from = staged.out ? slot_of(number) : place;
        if (staged.streaming)
            copy_streaming(to, from, piece_bytes(number));
        else
            memcpy(to, from, piece_bytes(number));
        staged.done[number] = true;
        staged.copied++;
        wake(&staged.copied);
    }
    return unused;
}

/* Each thread waits with a bit of its own, so one piece wakes one thread. */
static void give(size_t count) {
    uint32_t before = atomic_exchange(&staged.given, (uint32_t)count), bits = count - before == 1 ? 1u << before % 32 : FUTEX_BITSET_MATCH_ANY;
    if (count != before)
        syscall(SYS_futex, &staged.given, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, bits);
}

static void wait_for_piece(size_t number) {
    for (uint32_t copied; copied = staged.copied, !staged.done[number];)
        sleep_while(&staged.copied, copied);
}

static void begin_copy(size_t number) {
    void *on = staged.streams[number % 2];
    uint64_t at = device + number * piece % CHUNK;
    must("a copy", staged.out ? copy_out(slot_of(number), at, piece_bytes(number), on) : copy_back(at, slot_of(number), piece_bytes(number), on));
    must("cuEventRecord", record(staged.events[number % staged.slots], on));
}

static void wait_for_copy(size_t number) {
    must("cuEventSynchronize", wait_for_event(staged.events[number % staged.slots]));
}

static void all_out(void) {
    for (size_t number = 0; number < pieces + FLIGHT; number++) {
        if (number >= FLIGHT) {
            wait_for_copy(number - FLIGHT);
            give(number - FLIGHT + 1);
        }
        if (number < pieces && number >= staged.slots)
            wait_for_piece(number - staged.slots);
        if (number < pieces)
            begin_copy(number);
    }
}

static void all_back(void) {
    size_t given = 0;
    for (size_t number = 0; number < pieces; number++) {
        size_t ahead = number + staged.slots - FLIGHT, most = ahead < pieces ? ahead : pieces;
        for (; given < most; given++)
            if (given >= staged.slots)
                wait_for_copy(given - staged.slots);
        give(given);
        wait_for_piece(number);
        begin_copy(number);
    }
    for (int i = 0; i < 2; i++)
        must("cuStreamSynchronize", wait_for(staged.streams[i]));
}

static void cpu_alone(void) {
    give(pieces);
}

/* GB/s. */
static double stage(int count, void (*way)(void), bool out, bool streaming) {
    pthread_t threads[MOST_THREADS];
    staged.out = out;
    staged.streaming = streaming;
    staged.given = staged.copied = 0;
    for (size_t i = 0; i < pieces; i++)
        staged.done[i] = false;
    double began = now();
    begin(threads, count, stage_pieces);
    way();
    end(threads, count);
    return (double)bytes / (now() - began) / 1e9;
}

static void staged_row(const char *kind, int count) {
    staged.slots = (size_t)count + FLIGHT;
    double began = now();
    staged.ring = take(false, staged.slots * piece);
    must("cuMemHostRegister", host_register(staged.ring, staged.slots * piece, 1));
    double ready = now() - began;
    printf("| %s | %zu | %d | %.1f |", kind, piece / MIB, count, ready * 1e3);
    printf(" %.1f |", stage(count, all_out, true, false));
    printf(" %.1f |", stage(count, all_out, true, true));
    printf(" %.1f |", stage(count, all_back, false, false));
    printf(" %.1f |", stage(count, all_back, false, true));
    printf(" %.1f |\n", stage(count, cpu_alone, false, false));
    fflush(stdout);
    host_unregister(staged.ring);
    munmap(staged.ring, staged.slots * piece);
}

static void staged_table(double until) {
    static const size_t sizes[] = {1, 2, 4, 8};
    static const int threads[] = {2, 4, 8, 12, 16};
    for (int i = 0; i < 2; i++)
        must("cuStreamCreate", make_stream(&staged.streams[i], 1));
    for (int i = 0; i < MOST_SLOTS; i++)
        must("cuEventCreate", make_event(&staged.events[i], 3));
    printf("\n| memory | pieces | threads | ready ms | staged out | out stream | staged back | back stream | cpu |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int file = 0; file < 2; file++) {
        memory = take(file, bytes);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            piece = sizes[i] * MIB;
            pieces = (bytes + piece - 1) / piece;
            for (size_t j = 0; j < sizeof threads / sizeof *threads && now() < until; j++)
                staged_row(file ? "memfd" : "private", threads[j]);
        }
        munmap(memory, bytes);
    }
}

static void start(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "register: %s\n", dlerror());
        exit(1);
    }
    int (*initialize)(unsigned), (*retain)(void **, int), (*allocate)(uint64_t *, size_t);
    *(void **)&initialize = find(library, "cuInit");
    *(void **)&retain = find(library, "cuDevicePrimaryCtxRetain");
    *(void **)&allocate = find(library, "cuMemAlloc_v2");
    *(void **)&make_stream = find(library, "cuStreamCreate");
    *(void **)&set_current = find(library, "cuCtxSetCurrent");
    *(void **)&host_register = find(library, "cuMemHostRegister_v2");
    *(void **)&host_unregister = find(library, "cuMemHostUnregister");
    *(void **)&copy_out = find(library, "cuMemcpyDtoHAsync_v2");
    *(void **)&copy_back = find(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&wait_for = find(library, "cuStreamSynchronize");
    *(void **)&make_event = find(library, "cuEventCreate");
    *(void **)&record = find(library, "cuEventRecord");
    *(void **)&wait_for_event = find(library, "cuEventSynchronize");
    must("cuInit", initialize(0));
    must("cuDevicePrimaryCtxRetain", retain(&context, 0));
    must("cuCtxSetCurrent", set_current(context));
    must("cuStreamCreate", make_stream(&stream, 1));
    must("cuMemAlloc", allocate(&device, CHUNK));
    other = take(false, CHUNK);
    must("cuMemHostRegister", host_register(other, CHUNK, 1));
}

static void registered_table(double until) {
    static const size_t sizes[] = {64, 128, 256, 512, 1024};
    static const int threads[] = {1, 2, 4, 8};
    printf("| memory | pieces | threads | register | copy | with out | with back | after | piped | unregister |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int file = 0; file < 2; file++) {
        memory = take(file, bytes);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            piece = sizes[i] * MIB;
            pieces = (bytes + piece - 1) / piece;
            for (size_t j = 0; j < sizeof threads / sizeof *threads && now() < until && (i == 0 || piece <= bytes); j++)
                row(file ? "memfd" : "private", threads[j]);
        }
        munmap(memory, bytes);
    }
}

int main(int count, char **words) {
    bool only_staged = count > 1 && strcmp(words[1], "staged") == 0;
    words += only_staged;
    count -= only_staged;
    size_t mib = count > 1 ? strtoul(words[1], NULL, 10) : 8192;
    double until = now() + (count > 2 ? atof(words[2]) : 300);
    bytes = mib / 2 * PAGE;
    if (mib < 64 || mib > MOST_MIB)
        return fprintf(stderr, "usage: register [staged] [MIB [MOST_SECONDS]]   MIB: 64 to %d\n", MOST_MIB), 2;
    start();
    printf("%zu MiB, pieces in MiB, GB/s. Beside copies: registration / copies\n\n", bytes / MIB);
    if (!only_staged)
        registered_table(until);
    staged_table(until);
    return 0;
}
