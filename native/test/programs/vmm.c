/* vmm: takes memory by handles and arrays, and says what became of it. Sizes take k, m and g.
 *   loop      creates, maps and releases handles until it is refused, then unmaps all of them in one call
 *   retain    one handle with a second reference: free memory after each step
 *   gaps      unmaps ranges that are whole, have gaps, and are empty
 *   arrays    makes square arrays of --step bytes until it is refused, then destroys them
 *   small     makes --count arrays of 16x16 floats, then destroys them
 *   contexts  makes arrays in a context of its own and destroys the context
 *   sizes     what arrays of many shapes take; meant for a run without Sluice
 *   churn     four threads take and give back handles, mappings and arrays at random, --count times each
 *   cost      nanoseconds of create+release, of create+map+unmap+release and of creating and destroying an array
 *   --step SIZE (64m)  --count N (1000000)  --device N (0): the memory's device, not the context's
 * Lines: "got COUNT BYTES STATUS", "LABEL free B". */
#include "driver_calls.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

typedef struct { int type, id; } location_t;
typedef struct { int type, handle_types; location_t location; void *meta; unsigned char more[8]; } property_t;
typedef struct { location_t location; int flags; } access_t;
typedef struct { size_t width, height, depth; int format; unsigned channels, flags; } shape_t;
typedef struct { size_t bytes, alignment; unsigned reserved[4]; } requirements_t;

static int (*cuMemCreate)(uint64_t *, size_t, const property_t *, uint64_t);
static int (*cuMemRelease)(uint64_t);
static int (*cuMemMap)(uint64_t, size_t, size_t, uint64_t, uint64_t);
static int (*cuMemUnmap)(uint64_t, size_t);
static int (*cuMemSetAccess)(uint64_t, size_t, const access_t *, size_t);
static int (*cuMemAddressReserve)(uint64_t *, size_t, size_t, uint64_t, uint64_t);
static int (*cuMemAddressFree)(uint64_t, size_t);
static int (*cuMemRetainAllocationHandle)(uint64_t *, void *);
static int (*cuArray3DCreate_v2)(void **, const shape_t *);
static int (*cuArrayDestroy)(void *);
static int (*cuArrayGetMemoryRequirements)(requirements_t *, void *, int);
static int (*cuMipmappedArrayCreate)(void **, const shape_t *, unsigned);
static int (*cuMipmappedArrayDestroy)(void *);

static const struct { const char *name; void **function; } calls[] = {
    {"cuMemCreate", (void **)&cuMemCreate}, {"cuMemRelease", (void **)&cuMemRelease},
    {"cuMemMap", (void **)&cuMemMap}, {"cuMemUnmap", (void **)&cuMemUnmap},
    {"cuMemSetAccess", (void **)&cuMemSetAccess}, {"cuMemAddressReserve", (void **)&cuMemAddressReserve},
    {"cuMemAddressFree", (void **)&cuMemAddressFree},
    {"cuMemRetainAllocationHandle", (void **)&cuMemRetainAllocationHandle},
    {"cuArray3DCreate_v2", (void **)&cuArray3DCreate_v2}, {"cuArrayDestroy", (void **)&cuArrayDestroy},
    {"cuArrayGetMemoryRequirements", (void **)&cuArrayGetMemoryRequirements},
    {"cuMipmappedArrayCreate", (void **)&cuMipmappedArrayCreate},
    {"cuMipmappedArrayDestroy", (void **)&cuMipmappedArrayDestroy},
};

static size_t step = 64u << 20;
static long count = 1000000;
static property_t property = {.type = 1, .location = {1, 0}};

static size_t size_of(const char *text) {
    char *unit;
    size_t size = strtoull(text, &unit, 10);
    return size << (*unit == 'k' ? 10 : *unit == 'm' ? 20 : *unit == 'g' ? 30 : 0);
}

static size_t free_bytes(void) {
    size_t free_now = 0, total = 0;
    cuMemGetInfo_v2(&free_now, &total);
    return free_now;
}

static void say_free(const char *label) {
    printf("%s free %zu\n", label, free_bytes());
}

static void must(int status, const char *what) {
    if (status != 0) {
        printf("%s %d\n", what, status);
        exit(5);
    }
}
#define MUST(call) must(call, #call)

static uint64_t reserve(size_t bytes) {
    uint64_t address;
    MUST(cuMemAddressReserve(&address, bytes, 0, 0, 0));
    return address;
}

static void loop(void) {
    size_t room = 1ull << 40;
    uint64_t base = reserve(room), handle;
    long got = 0;
    int status = 0;
    say_free("start");
    for (; got < count && (got + 1) * step <= room && (status = cuMemCreate(&handle, step, &property, 0)) == 0; got++) {
        access_t access = {property.location, 3};
        MUST(cuMemMap(base + got * step, step, 0, handle, 0));
        MUST(cuMemRelease(handle));
        MUST(cuMemSetAccess(base + got * step, step, &access, 1));
    }
    printf("got %ld %zu %d\n", got, got * step, status);
    say_free("held");
    if (got)
        MUST(cuMemUnmap(base, got * step));
    say_free("unmapped");
    printf("again %d\n", cuMemCreate(&handle, step, &property, 0));
    MUST(cuMemRelease(handle));
    MUST(cuMemAddressFree(base, room));
    say_free("end");
}

static void retain(void) {
    uint64_t base = reserve(step), handle, second;
    say_free("start");
    MUST(cuMemCreate(&handle, step, &property, 0));
    say_free("created");
    MUST(cuMemMap(base, step, 0, handle, 0));
    MUST(cuMemRetainAllocationHandle(&second, (void *)(base + step / 2)));
    printf("handle %s\n", handle == second ? "same" : "other");
    MUST(cuMemRelease(handle));
    say_free("released");
    MUST(cuMemUnmap(base, step));
    say_free("unmapped");
    MUST(cuMemMap(base, step, 0, second, 0));
    MUST(cuMemRelease(second));
    say_free("mapped again, released");
    MUST(cuMemUnmap(base, step));
    say_free("end");
}

static void map_at(uint64_t address) {
    uint64_t handle;
    MUST(cuMemCreate(&handle, step, &property, 0));
    MUST(cuMemMap(address, step, 0, handle, 0));
    MUST(cuMemRelease(handle));
}

static void gaps(void) {
    uint64_t base = reserve(step * 8);
    say_free("start");
    for (int i = 0; i < 8; i++)
        if (i != 2 && i != 5)
            map_at(base + i * step);
    say_free("six");
    MUST(cuMemUnmap(base, step * 2));
    say_free("four");
    MUST(cuMemUnmap(base + step, step * 4));
    say_free("two");
    printf("empty %d\n", cuMemUnmap(base, step * 4));
    MUST(cuMemUnmap(base, step * 8));
    say_free("end");
}

static void take_arrays(const shape_t *shape) {
    void **arrays = malloc(sizeof *arrays * (size_t)count);
    long got = 0;
    int status = 0;
    say_free("start");
    while (got < count && (status = cuArray3DCreate_v2(&arrays[got], shape)) == 0)
        got++;
    printf("got %ld %zu %d\n", got, got * step, status);
    say_free("held");
    for (long i = 0; i < got; i++)
        MUST(cuArrayDestroy(arrays[i]));
    say_free("end");
    free(arrays);
}

static shape_t square(void) {
    shape_t shape = {4096, step / 65536, 0, 0x20, 4, 0};
    return shape;
}

static void contexts(void) {
    void *context, *array;
    shape_t shape = square(), tiny = {16, 16, 0, 0x20, 1, 0}, sparse = {4096, 4096, 0, 0x20, 4, 0x40};
    say_free("start");
    MUST(cuCtxCreate_v2(&context, 0, property.location.id));
    for (int i = 0; i < 4; i++)
        MUST(cuArray3DCreate_v2(&array, i < 3 ? &shape : &tiny));
    say_free("four");
    printf("sparse %d\n", cuArray3DCreate_v2(&array, &sparse));
    say_free("sparse");
    MUST(cuCtxDestroy_v2(context));
    driver_begin(property.location.id);
    say_free("end");
}

static void sizes(void) {
    static const struct { shape_t shape; unsigned levels; } shapes[] = {
        {{1024, 1024, 0, 0x20, 4, 0}, 0}, {{1000, 1000, 0, 0x01, 1, 0}, 0}, {{100, 100, 100, 0x20, 1, 0}, 0},
        {{16, 16, 0, 0x20, 1, 0}, 0}, {{4096, 4096, 0, 0x10, 4, 0}, 0}, {{65536, 0, 0, 0x20, 1, 0}, 0},
        {{513, 257, 33, 0x02, 2, 0}, 0}, {{2048, 2048, 0, 0x20, 1, 0}, 12},
        /* Blocks of 16x1, 8x8 and 1x16 GOBs differ in these. */
        {{4096, 1025, 0, 0x20, 4, 0}, 0}, {{4096, 1025, 2, 0x20, 4, 0}, 0}, {{4096, 1025, 9, 0x20, 4, 0}, 0},
        {{256, 128, 129, 0x20, 1, 0}, 0}, {{1024, 72, 65, 0x20, 1, 0}, 0}, {{1024, 40, 65, 0x20, 1, 0}, 0},
        {{1024, 8, 100, 0x20, 1, 0}, 0}, {{4000, 4000, 0, 0x01, 1, 0}, 0}, {{4096, 1025, 3, 0x20, 4, 1}, 0},
        {{1025, 1025, 6, 0x20, 1, 4}, 0}, {{131072, 0, 9, 0x20, 4, 1}, 0}, {{1025, 1025, 0, 0x20, 1, 2}, 0},
        {{2000, 2000, 0, 0x20, 1, 0}, 11}, {{200, 200, 200, 0x20, 1, 0}, 8}, {{512, 512, 0, 0x20, 1, 0}, 0},
        {{724, 724, 0, 0x20, 1, 0}, 0}, {{1920, 1080, 0, 0xb0, 3, 0}, 0},
    };
    void *keep, *array;
    shape_t tiny = {16, 16, 0, 0x20, 1, 0};
    uint64_t small;
    printf("tiny %d", cuArray3DCreate_v2(&keep, &tiny));
    say_free(",");
    printf("linear of 512 bytes %d", cuMemAlloc_v2(&small, 512));
    say_free(",");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        shape_t shape = shapes[i].shape;
        unsigned levels = shapes[i].levels;
        requirements_t needed = {0};
        size_t before = free_bytes();
        int status = levels ? cuMipmappedArrayCreate(&array, &shape, levels) : cuArray3DCreate_v2(&array, &shape);
        size_t taken = before - free_bytes();
        if (status == 0)
            MUST(levels ? cuMipmappedArrayDestroy(array) : cuArrayDestroy(array));
        shape.flags |= 0x80;
        if (!levels && cuArray3DCreate_v2(&array, &shape) == 0) {
            cuArrayGetMemoryRequirements(&needed, array, property.location.id);
            cuArrayDestroy(array);
        }
        printf("size %zux%zux%zu format %x channels %u flags %x levels %u: %d took %zu, deferred needs %zu\n", shape.width,
               shape.height, shape.depth, shape.format, shape.channels, shapes[i].shape.flags, levels, status, taken,
               needed.bytes);
    }
}

/* Each thread has eight places; a place holds a handle, a mapping, both, an array or nothing. */
static void *churn_places(void *number) {
    enum { PLACES = 8, BYTES = 2 << 20 };
    uint64_t base = reserve(PLACES * BYTES), handles[PLACES] = {0}, second;
    void *arrays[PLACES] = {NULL};
    int mapped[PLACES] = {0};
    unsigned seed = (unsigned)(uintptr_t)number;
    shape_t shapes[] = {{16, 16, 0, 0x20, 1, 0}, {1024, 1024, 0, 0x20, 1, 0}, {64, 64, 0, 0x20, 1, 0x40}};
    driver_begin(0);
    for (long i = 0; i < count; i++) {
        int at = rand_r(&seed) % PLACES, what = rand_r(&seed) % 4, last = i + PLACES >= count;
        if (last)
            at = (int)(count - 1 - i);
        uint64_t address = base + (uint64_t)at * BYTES;
        if (arrays[at] && (last || what == 0)) {
            MUST(cuArrayDestroy(arrays[at]));
            arrays[at] = NULL;
        } else if (!arrays[at] && !last && what == 0) {
            if (cuArray3DCreate_v2(&arrays[at], &shapes[rand_r(&seed) % 3]) != 0)
                arrays[at] = NULL;
        }
        if (handles[at] && !mapped[at] && !last && what == 1) {
            MUST(cuMemMap(address, BYTES, 0, handles[at], 0));
            mapped[at] = 1;
        } else if (mapped[at] && (last || what == 1)) {
            MUST(cuMemUnmap(address, BYTES));
            mapped[at] = 0;
        }
        if (mapped[at] && handles[at] && what == 3) {
            MUST(cuMemRetainAllocationHandle(&second, (void *)address));
            MUST(cuMemRelease(second));
        }
        if (handles[at] && (last || what == 2)) {
            MUST(cuMemRelease(handles[at]));
            handles[at] = 0;
        } else if (!handles[at] && !mapped[at] && !last && what == 2) {
            if (cuMemCreate(&handles[at], BYTES, &property, 0) != 0)
                handles[at] = 0;
        }
    }
    return NULL;
}

static void churn(void) {
    pthread_t threads[4];
    count = count == 1000000 ? 200000 : count;
    say_free("start");
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn_places, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    say_free("end");
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint64_t cost_base;

static void create_release(void) {
    uint64_t handle;
    cuMemCreate(&handle, step, &property, 0);
    cuMemRelease(handle);
}

static void create_map(void) {
    uint64_t handle;
    cuMemCreate(&handle, step, &property, 0);
    cuMemMap(cost_base, step, 0, handle, 0);
    cuMemUnmap(cost_base, step);
    cuMemRelease(handle);
}

static void make_array(void) {
    void *array;
    shape_t shape = square();
    cuArray3DCreate_v2(&array, &shape);
    cuArrayDestroy(array);
}

static void measure(const char *what, void (*call)(void)) {
    enum { ROUNDS = 9, CALLS = 2000 };
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < CALLS; i++)
            call();
        double each = (now() - start) / CALLS;
        best = each < best ? each : best;
    }
    printf("%s %.1f\n", what, best);
}

static void cost(void) {
    step = 2u << 20;
    cost_base = reserve(step);
    measure("create+release", create_release);
    measure("create+map+unmap+release", create_map);
    measure("array", make_array);
    uint64_t many = reserve(step * 2000);
    for (int i = 0; i < 2000; i++)
        map_at(many + i * step);
    measure("create+map+unmap+release,2000-mapped", create_map);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "loop";
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--step") == 0)
            step = size_of(argv[i + 1]);
        else if (strcmp(argv[i], "--count") == 0)
            count = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--device") == 0)
            property.location.id = atoi(argv[i + 1]);
        else
            return fprintf(stderr, "vmm: unknown option %s\n", argv[i]), 2;
    }
    driver_open();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        *calls[i].function = driver_function(calls[i].name);
    shape_t shape = square(), tiny = {16, 16, 0, 0x20, 1, 0};
    static const struct { const char *name; void (*run)(void); } modes[] = {
        {"loop", loop}, {"retain", retain}, {"gaps", gaps}, {"contexts", contexts}, {"sizes", sizes}, {"churn", churn}, {"cost", cost}};
    if (strcmp(what, "arrays") == 0 || strcmp(what, "small") == 0)
        return take_arrays(*what == 'a' ? &shape : &tiny), 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(what, modes[i].name) == 0)
            return modes[i].run(), 0;
    return fprintf(stderr, "vmm: unknown %s\n", what), 2;
}
