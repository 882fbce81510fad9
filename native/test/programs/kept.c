/* kept: threads that write, copy, free and read device memory at random, and compare all of it with copies of their own. For tests that
 * take the memory away meanwhile: a byte that is not kept, a pointer that changed or a failed call ends the program with status 1.
 * Usage: kept SECONDS THREADS BYTES SEED [WAY]   WAY: plain (default), physical (memory of cuMemCreate, as PyTorch's expandable segments)
 * Prints "ready", "step N" once a second, and "kept N" with the number of steps.
 * KEPT_PATIENCE=10: a call that takes or gives memory and fails is made again for so many seconds. A soak with faults sets it. */
#include "driver_calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFERS 12
#define GRANULE (2u << 20)

typedef struct {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *unused;
    unsigned char rest[8];
} properties_t;

typedef struct {
    struct {
        int type, id;
    } location;
    int flags;
} access_t;

typedef struct {
    uint64_t address;
    size_t bytes, mapped;
    unsigned long long handle;
    unsigned char *copy;
} buffer_t;

typedef struct {
    pthread_t thread;
    uint64_t random;
    buffer_t buffers[BUFFERS];
} worker_t;

static int (*to_gpu)(uint64_t, const void *, size_t);
static int (*from_gpu)(void *, uint64_t, size_t);
static int (*on_gpu)(uint64_t, uint64_t, size_t);
static int (*set)(uint64_t, unsigned char, size_t);
static int (*reserve)(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
static int (*unreserve)(uint64_t, size_t);
static int (*create)(unsigned long long *, size_t, const properties_t *, unsigned long long);
static int (*drop)(unsigned long long);
static int (*map)(uint64_t, size_t, size_t, unsigned long long, unsigned long long);
static int (*unmap)(uint64_t, size_t);
static int (*allow)(uint64_t, size_t, const access_t *, size_t);
static void *context;
static size_t most_bytes;
static int physical;
static double patience;
static atomic_ullong steps;
static atomic_int stop;

static void check(const char *what, int status) {
    if (status == 0)
        return;
    printf("%s answered %d\n", what, status);
    fflush(stdout);
    _exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#define INSIST(what, call)                                                             \
    do {                                                                               \
        double began_ = now();                                                         \
        int status_ = call;                                                            \
        for (; status_ && now() < began_ + patience; usleep(1000), status_ = call) {}  \
        check(what, status_);                                                          \
    } while (0)

static uint64_t next(worker_t *worker) {
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return worker->random;
}

static void take_physical(buffer_t *buffer) {
    properties_t properties = {.type = 1, .location = {1, 0}};
    access_t access = {.location = {1, 0}, .flags = 3};
    buffer->mapped = (buffer->bytes + GRANULE - 1) / GRANULE * GRANULE;
    INSIST("cuMemAddressReserve", reserve(&buffer->address, buffer->mapped, 0, 0, 0));
    INSIST("cuMemCreate", create(&buffer->handle, buffer->mapped, &properties, 0));
    INSIST("cuMemMap", map(buffer->address, buffer->mapped, 0, buffer->handle, 0));
    INSIST("cuMemSetAccess", allow(buffer->address, buffer->mapped, &access, 1));
}

static void give_physical(buffer_t *buffer) {
    INSIST("cuMemUnmap", unmap(buffer->address, buffer->mapped));
    INSIST("cuMemRelease", drop(buffer->handle));
    INSIST("cuMemAddressFree", unreserve(buffer->address, buffer->mapped));
}

static void take(worker_t *worker, buffer_t *buffer) {
    size_t most = next(worker) % 3 ? most_bytes : 4096;
    buffer->bytes = 1 + next(worker) % most;
    buffer->copy = malloc(buffer->bytes);
    if (physical)
        take_physical(buffer);
    else
        INSIST("cuMemAlloc", cuMemAlloc_v2(&buffer->address, buffer->bytes));
    for (size_t i = 0; i < buffer->bytes; i++)
        buffer->copy[i] = (unsigned char)(i * 7 + (size_t)buffer->address / 512);
    check("cuMemcpyHtoD", to_gpu(buffer->address, buffer->copy, buffer->bytes));
}

static void compare(const buffer_t *buffer, size_t from, size_t bytes) {
    unsigned char *found = malloc(bytes ? bytes : 1);
    check("cuMemcpyDtoH", from_gpu(found, buffer->address + from, bytes));
    for (size_t i = 0; i < bytes; i++)
        if (found[i] != buffer->copy[from + i]) {
            printf("byte %zu of %zu at %llx is %d instead of %d\n", from + i, buffer->bytes, (unsigned long long)buffer->address, found[i], buffer->copy[from + i]);
            fflush(stdout);
            _exit(1);
        }
    free(found);
}

static void give(buffer_t *buffer) {
    compare(buffer, 0, buffer->bytes);
    if (physical)
        give_physical(buffer);
    else
        INSIST("cuMemFree", cuMemFree_v2(buffer->address));
    free(buffer->copy);
    buffer->copy = NULL;
}

static void change(worker_t *worker, buffer_t *buffer) {
    buffer_t *other = &worker->buffers[next(worker) % BUFFERS];
    size_t from = next(worker) % buffer->bytes, bytes = 1 + next(worker) % (buffer->bytes - from);
    switch (next(worker) % 4) {
    case 0:
        for (size_t i = 0; i < bytes; i++)
            buffer->copy[from + i] = (unsigned char)(buffer->copy[from + i] * 3 + i);
        check("cuMemcpyHtoD", to_gpu(buffer->address + from, buffer->copy + from, bytes));
        break;
    case 1:
        memset(buffer->copy + from, (int)bytes & 0xff, bytes);
        check("cuMemsetD8", set(buffer->address + from, (unsigned char)bytes, bytes));
        break;
    case 2:
        if (other == buffer || !other->copy)
            break;
        bytes = bytes < other->bytes ? bytes : other->bytes;
        memcpy(buffer->copy + from, other->copy, bytes);
        check("cuMemcpyDtoD", on_gpu(buffer->address + from, other->address, bytes));
        break;
    default:
        compare(buffer, from, bytes);
    }
}

static void *work(void *argument) {
    worker_t *worker = argument;
    check("cuCtxSetCurrent", cuCtxSetCurrent(context));
    while (!atomic_load(&stop)) {
        buffer_t *buffer = &worker->buffers[next(worker) % BUFFERS];
        if (!buffer->copy)
            take(worker, buffer);
        else if (next(worker) % 16 == 0)
            give(buffer);
        else
            change(worker, buffer);
        atomic_fetch_add(&steps, 1);
    }
    for (buffer_t *buffer = worker->buffers; buffer < worker->buffers + BUFFERS; buffer++)
        if (buffer->copy)
            give(buffer);
    return NULL;
}

static void find_calls(void) {
    *(void **)&to_gpu = driver_function("cuMemcpyHtoD_v2");
    *(void **)&from_gpu = driver_function("cuMemcpyDtoH_v2");
    *(void **)&on_gpu = driver_function("cuMemcpyDtoD_v2");
    *(void **)&set = driver_function("cuMemsetD8_v2");
    *(void **)&reserve = driver_function("cuMemAddressReserve");
    *(void **)&unreserve = driver_function("cuMemAddressFree");
    *(void **)&create = driver_function("cuMemCreate");
    *(void **)&drop = driver_function("cuMemRelease");
    *(void **)&map = driver_function("cuMemMap");
    *(void **)&unmap = driver_function("cuMemUnmap");
    *(void **)&allow = driver_function("cuMemSetAccess");
}

int main(int count, char **words) {
    if (count < 5)
        return 2;
    double until = now() + atof(words[1]), told = now();
    int threads = atoi(words[2]);
    most_bytes = strtoull(words[3], NULL, 10);
    physical = count > 5 && strcmp(words[5], "physical") == 0;
    patience = getenv("KEPT_PATIENCE") ? atof(getenv("KEPT_PATIENCE")) : 0;
    driver_load();
    find_calls();
    check("cuInit", cuInit(0));
    INSIST("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    worker_t *workers = calloc((size_t)threads, sizeof *workers);
    for (int i = 0; i < threads; i++) {
        workers[i].random = strtoull(words[4], NULL, 10) * 0x9e3779b97f4a7c15ull + (uint64_t)i + 1;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    printf("ready\n");
    fflush(stdout);
    for (; now() < until; usleep(20000))
        if (now() > told + 1) {
            told = now();
            printf("step %llu\n", (unsigned long long)steps);
            fflush(stdout);
        }
    atomic_store(&stop, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("kept %llu\n", (unsigned long long)steps);
    return 0;
}
