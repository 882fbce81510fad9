/* register: what the registration of host memory costs beside copies, for the way back of a vacated job.
 *
 * gcc -O2 -o register bench/gpu/register.c -ldl -lpthread
 * usage: register [MIB [MOST_SECONDS]]     8192 MiB and 300 seconds; on a GPU that nobody else uses, without Sluice
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
 * It runs on the simulated GPU too; its numbers mean nothing there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define PAGE (2 * MIB)
#define CHUNK (64 * MIB) /* of one copy */
#define MOST_PIECES 4096
#define MOST_THREADS 8
#define POPULATE_WRITE 23

static int (*set_current)(void *);
static int (*host_register)(void *, size_t, unsigned);
static int (*host_unregister)(void *);
static int (*copy_out)(void *, uint64_t, size_t, void *);
static int (*copy_back)(uint64_t, const void *, size_t, void *);
static int (*wait_for)(void *);
static void *context, *stream;
static uint64_t device;
static char *other; /* registered all the time */

static char *memory;
static size_t bytes, piece, pieces;
static _Atomic size_t next_piece;
static atomic_bool registered[MOST_PIECES];
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

static void start(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "register: %s\n", dlerror());
        exit(1);
    }
    int (*initialize)(unsigned), (*retain)(void **, int), (*allocate)(uint64_t *, size_t), (*make_stream)(void **, unsigned);
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
    must("cuInit", initialize(0));
    must("cuDevicePrimaryCtxRetain", retain(&context, 0));
    must("cuCtxSetCurrent", set_current(context));
    must("cuStreamCreate", make_stream(&stream, 1));
    must("cuMemAlloc", allocate(&device, CHUNK));
    other = take(false, CHUNK);
    must("cuMemHostRegister", host_register(other, CHUNK, 1));
}

int main(int count, char **words) {
    static const size_t sizes[] = {64, 128, 256, 512, 1024};
    static const int threads[] = {1, 2, 4, 8};
    size_t mib = count > 1 ? strtoul(words[1], NULL, 10) : 8192;
    double until = now() + (count > 2 ? atof(words[2]) : 300);
    bytes = mib / 2 * PAGE;
    if (mib < 64 || mib > MOST_PIECES * 64)
        return fprintf(stderr, "usage: register [MIB [MOST_SECONDS]]   MIB: 64 to %d\n", MOST_PIECES * 64), 2;
    start();
    printf("%zu MiB, pieces in MiB, GB/s. Beside copies: registration / copies\n\n", bytes / MIB);
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
    return 0;
}
