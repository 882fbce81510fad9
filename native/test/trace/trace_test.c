/* What a trace records of calls. Nothing is lost, left behind or waited for when the disk is full, a reader stops, a process forks or
 * threads end. */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "fakes/fake_gpus.h"

#include "costs/cost.h"
#include "costs/sample.h"
#include "cuda_entries.h"
#include "entry/watch.h"
#include "os/os.h"
#include "trace/trace.h"
#include "trace/trace_quick.h"
#include "tenant/accounts.h"

#define FUNCTION 0x7000

static char folder[64];
static const char *kernel_name = "saxpy";
static unsigned asked;

static CUresult fake_name(const char **name, CUfunction function) {
    (void)function;
    asked++;
    *name = kernel_name;
    return 0;
}

static void set(size_t offset, const void *value, size_t size) {
    int fd = open(sl_tenant.region.path, O_RDWR);
    CHECK(pwrite(fd, value, size, (off_t)(SL_REGION_LIMITS_OFFSET + offset)) == (ssize_t)size);
    close(fd);
}

#define SET(field, value)                                                     \
    do {                                                                      \
        __typeof__(((sl_region_limits_t *)0)->field) word = (value);           \
        set(offsetof(sl_region_limits_t, field), &word, sizeof word);         \
    } while (0)

static void switch_off(void) {
    SET(trace, 0);
    sl_trace_decide();
}

static void switch_on(uint32_t mode, uint32_t events) {
    static uint32_t generation;
    static int number;
    switch_off();
    snprintf(folder, sizeof folder, "%s/trace-%d-%d", test_folder, getpid(), number++);
    CHECK(mkdir(folder, 0700) == 0);
    set(offsetof(sl_region_limits_t, trace_directory), folder, strlen(folder) + 1);
    SET(trace_events, events);
    SET(trace_until_nanos, 0);
    SET(trace_generation, ++generation);
    SET(trace, mode);
    sl_trace_decide();
    CHECK(sl_trace_is_on());
}

static void call(void) {
    static const sl_detail_t nothing;
    uint64_t ticks = sl_clock_ticks();
    sl_trace_call(SL_ENTRY_cuCtxGetDevice, ticks, ticks + 7, 3, &nothing);
}

static void launch(uint64_t function, int status) {
    sl_detail_t detail = {.kind = SL_DETAIL_KERNEL, .stream = 1, .function = function, .grid = {1000, 2, 3}, .block = {32, 4, 2}, .shared_bytes = 512};
    uint64_t ticks = sl_clock_ticks();
    sl_trace_call(SL_ENTRY_cuLaunchKernel, ticks, ticks + 1, status, &detail);
}

typedef struct {
    char *base;
    size_t bytes;
    const sl_trace_ring_t *ring;
    const sl_trace_writer_t *writer;
    sl_trace_reader_t *reader;
    const sl_trace_process_t *process;
    const sl_trace_event_t *events;
} file_t;

static file_t open_ring(pid_t pid, pid_t tid, const char *suffix) {
    char path[128];
    snprintf(path, sizeof path, "%s/ring-%d-%d%s", folder, pid, tid, suffix);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0, "%s", path);
    struct stat status;
    CHECK(sl_os_stat(fd, &status) && (status.st_mode & 0777) == 0600);
    file_t file = {.bytes = (size_t)status.st_size};
    file.base = mmap(NULL, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(file.base != MAP_FAILED);
    close(fd);
    file.ring = (void *)file.base;
    file.writer = (void *)(file.base + SL_TRACE_WRITER_OFFSET);
    file.reader = (void *)(file.base + SL_TRACE_READER_OFFSET);
    file.process = (void *)(file.base + SL_TRACE_PROCESS_OFFSET);
    file.events = (void *)(file.base + SL_TRACE_EVENT_OFFSET);
    CHECK(file.ring->magic == SL_TRACE_MAGIC && file.ring->layout == SL_TRACE_LAYOUT && file.ring->event_bytes == 64);
    CHECK(file.ring->pid == (uint32_t)pid && file.ring->tid == (uint32_t)tid);
    return file;
}

static pid_t self(void) {
    return (pid_t)syscall(SYS_gettid);
}

static file_t own_ring(void) {
    return open_ring(getpid(), self(), "");
}

static const sl_trace_event_t *event(const file_t *file, uint64_t number) {
    return &file->events[number & (file->ring->capacity - 1)];
}

static uint64_t count(const file_t *file, unsigned kind) {
    uint64_t found = 0;
    for (uint64_t i = file->reader->tail; i < file->writer->head; i++)
        found += event(file, i)->kind == kind;
    return found;
}

/* The n-th event that is no clock, from 1. */
static const sl_trace_event_t *nth_but_clocks(const file_t *file, unsigned n) {
    uint64_t i = 0;
    while (i < file->writer->head && (n -= event(file, i)->kind != SL_TRACE_KIND_CLOCK))
        i++;
    CHECK(i < file->writer->head, "%u events are missing", n);
    return event(file, i);
}

static unsigned files(const char *prefix) {
    unsigned found = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; (entry = readdir(directory));)
        found += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(directory);
    return found;
}

static const char *text_of(const char *name) {
    static char text[4096];
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(sl_os_read(path, text, sizeof text) > 0, "%s", path);
    return text;
}

static const char *own_file(const char *kind) {
    char name[32];
    snprintf(name, sizeof name, "%s-%d", kind, getpid());
    return text_of(name);
}

static void should_record_a_call_and_the_clock(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    call();
    file_t file = own_ring();
    CHECK(file.ring->capacity == 1u << 24 && file.ring->mode == SL_TRACE_MODE_SPOOL && file.writer->head == 2);
    CHECK(strcmp(file.ring->thread, "trace_test") == 0 && atoi(file.ring->process) == getpid());
    const sl_trace_event_t *clock = event(&file, 0), *made = event(&file, 1);
    CHECK(clock->kind == SL_TRACE_KIND_CLOCK && clock->a <= sl_os_nanos() && sl_os_nanos() - clock->a < 1000000000);
    CHECK(sl_os_wall_nanos() - clock->b < 1000000000);
    CHECK(made->kind == SL_TRACE_KIND_CALL && made->entry == SL_ENTRY_cuCtxGetDevice && made->status == 3);
    CHECK(made->end_ticks - made->begin_ticks == 7);
    const char *process = own_file("process");
    CHECK(strstr(process, "command=") && strstr(process, "tenant=traced\n") && strstr(process, "library=0."), "%s", process);
    char entries[40];
    snprintf(entries, sizeof entries, "entries-%016llx", SL_ENTRY_DIGEST);
    CHECK(strncmp(text_of(entries), "0\t", 2) == 0);
}

/* Does what the wrappers do while only a trace is on. Calls in between take the long path and show the time. */
static void should_record_a_question_the_short_way(void) {
    enum { QUESTIONS = 10000 };
    static sl_region_call_t calls[SL_ENTRY_COUNT];
    const sl_region_call_t *counted = &calls[SL_ENTRY_cuCtxGetCurrent];
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    sl_sink_switch(SL_SINK_NO_COUNTER, false);
    sl_thread.watch = (sl_thread_watch_t){.calls = calls};
    uint64_t begin = sl_clock_ticks();
    CHECK(!sl_trace_question(SL_ENTRY_cuCtxGetCurrent, begin, begin + 1, 9));
    usleep(2000); /* in the first millisecond of the clock every call takes the long path (os/clock.c) */
    for (unsigned i = 0; i < QUESTIONS; i++)
        sl_watch_tell_question(sl_clock_ticks(), SL_ENTRY_cuCtxGetCurrent, CUDA_SUCCESS, 9);
    CHECK(counted->calls == QUESTIONS && counted->sampled_calls < QUESTIONS / 8, "%lu timed", (unsigned long)counted->sampled_calls);
    file_t file = own_ring();
    CHECK(count(&file, SL_TRACE_KIND_CALL) == QUESTIONS);
    while (!sl_trace_question(SL_ENTRY_cuStreamGetFlags, begin, begin + 5, 7))
        call();
    const sl_trace_event_t *last = event(&file, file.writer->head - 1);
    CHECK(last->kind == SL_TRACE_KIND_CALL && last->entry == SL_ENTRY_cuStreamGetFlags && last->stream == 7 && last->status == CUDA_SUCCESS);
    CHECK(last->begin_ticks == begin && last->end_ticks == begin + 5 && !last->a && !last->b && !last->c);
    sl_thread.watch = (sl_thread_watch_t){.calls = NULL};
    sl_sink_switch(SL_SINK_NO_COUNTER, true);
}

static void should_tell_the_time_again_and_again(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    for (int i = 0; i < 10000; i++)
        call();
    file_t file = own_ring();
    uint64_t clocks = count(&file, SL_TRACE_KIND_CLOCK);
    CHECK(clocks >= 10 && clocks < 20 && file.writer->head == 10000 + clocks, "%lu clocks", (unsigned long)clocks);
    usleep(250000);
    call();
    CHECK(count(&file, SL_TRACE_KIND_CLOCK) == clocks + 1);
}

static void should_record_the_name_of_a_kernel(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    asked = 0;
    kernel_name = "saxpy";
    launch(FUNCTION, 0);
    launch(FUNCTION, 0);
    launch(FUNCTION + 8, 700);
    CHECK(asked == 1, "a handle that was refused must not be asked about");
    kernel_name = "gemm";
    sl_trace_unloaded();
    launch(FUNCTION, 0);
    file_t file = own_ring();
    const sl_trace_event_t *first = nth_but_clocks(&file, 1), *second = nth_but_clocks(&file, 2);
    const sl_trace_event_t *refused = nth_but_clocks(&file, 3), *other = nth_but_clocks(&file, 4);
    CHECK(first->kind == SL_TRACE_KIND_KERNEL && first->b == (1000 | 2ull << 32 | 3ull << 48) && first->c == (32 | 4ull << 16 | 2ull << 32));
    CHECK(first->d == (512 | 255ull << 56) && first->stream == 1);
    CHECK(second->a == first->a && other->a != first->a && refused->a != first->a && refused->status == 700);
    char line[64];
    snprintf(line, sizeof line, "%lu\tsaxpy\n", (unsigned long)first->a);
    CHECK(strstr(own_file("names"), line), "%s", own_file("names"));
    snprintf(line, sizeof line, "%lu\tkernel@0x%x\n", (unsigned long)refused->a, FUNCTION + 8);
    CHECK(strstr(own_file("names"), line), "%s", own_file("names"));
}

/* Measures so often that older measurements no longer count. The gate's counter tells the short path that the cost changed. */
static void measure(sl_cost_t *cost, double nanos) {
    for (int i = 0; i < 8; i++)
        sl_sample_note(cost, SL_SAMPLE_ALONE, (sl_sample_t){50000, nanos, nanos + 1000});
    cost->nanos = (uint64_t)nanos;
}

/* Each launch is counted in one COST event, and costs that are learnt later follow in later events. */
static void should_tell_what_kernels_are_known_to_take(void) {
    sl_cost_t *cost = sl_cost_find(sl_cost_mix(sl_cost_mix(FUNCTION, 6000), 256));
    sl_detail_t waits = {.kind = SL_DETAIL_SYNC};
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    cost->nanos = 0;
    launch(FUNCTION, 0);
    launch(FUNCTION, 0);
    file_t file = own_ring();
    CHECK(count(&file, SL_TRACE_KIND_COST) == 0);
    measure(cost, 50000);
    sl_trace_call(SL_ENTRY_cuCtxSynchronize, 1, 2, 0, &waits);
    const sl_trace_event_t *told = nth_but_clocks(&file, 3);
    CHECK(told->kind == SL_TRACE_KIND_COST && told->a == nth_but_clocks(&file, 1)->a && told->b == 50000 && told->c == 2 && told->stream == 6000);
    CHECK(told->entry == SL_TRACE_SAMPLE_ALONE && told->status == 20 << 16, "%x", (unsigned)told->status);
    for (int i = 0; i < 5; i++)
        launch(FUNCTION, 0);
    measure(cost, 52000);
    launch(FUNCTION, 0);
    CHECK(count(&file, SL_TRACE_KIND_COST) == 1);
    measure(cost, 80000);
    launch(FUNCTION, 0);
    told = event(&file, file.writer->head - 1);
    CHECK(told->kind == SL_TRACE_KIND_COST && told->b == 80000 && told->c == 7, "%lu launches", (unsigned long)told->c);
    CHECK(told->status == (375 | 13 << 16), "%x", (unsigned)told->status);
}

/* The gate predicts from any measurement; the trace marks such a cost as an upper bound. */
static void should_tell_that_a_time_is_only_a_bound(void) {
    sl_cost_forget();
    sl_sample_forget();
    sl_cost_t *cost = sl_cost_find(sl_cost_mix(sl_cost_mix(FUNCTION, 6000), 256));
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    sl_sample_note(cost, SL_SAMPLE_BOUND, (sl_sample_t){0, 90000, 90000});
    cost->nanos = 90000;
    launch(FUNCTION, 0);
    file_t file = own_ring();
    const sl_trace_event_t *told = event(&file, file.writer->head - 1);
    CHECK(told->kind == SL_TRACE_KIND_COST && told->b == 90000 && told->entry == SL_TRACE_SAMPLE_BOUND && told->status == 1000);
    measure(cost, 89000);
    launch(FUNCTION, 0);
    told = event(&file, file.writer->head - 1);
    CHECK(told->kind == SL_TRACE_KIND_COST && told->b == 89000 && told->entry == SL_TRACE_SAMPLE_ALONE);
}

static void should_say_how_much_memory_is_used(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    sl_detail_t allocates = {.kind = SL_DETAIL_MEMORY, .bytes = 4096};
    sl_trace_call(SL_ENTRY_cuMemAlloc_v2, 1, 2, 0, &allocates);
    file_t file = own_ring();
    const sl_trace_event_t *made = event(&file, 1);
    CHECK(made->a == 4096 && made->c == 1 << 8 && made->b == sl_accounts_used(0) && made->d == 0, "%lx", (unsigned long)made->c);
    CHECK(strstr(own_file("process"), "gpu.0=GPU-01000000-0000-0000-0000-000000000000 "), "%s", own_file("process"));
    CHECK(strstr(own_file("process"), "share.0=0 1\n"), "%s", own_file("process"));
}

static void should_drop_and_count_events_without_a_reader(void) {
    enum { CALLS = 5000 };
    switch_on(SL_TRACE_MODE_RING, 128);
    for (int i = 0; i < CALLS; i++)
        call();
    file_t file = own_ring();
    uint64_t written = count(&file, SL_TRACE_KIND_CALL);
    CHECK(file.writer->head == 128 && written + file.writer->dropped == CALLS, "%lu written, %lu dropped", (unsigned long)written,
          (unsigned long)file.writer->dropped);
    uint64_t clocks = count(&file, SL_TRACE_KIND_CLOCK);
    file.reader->tail = 100;
    for (int i = 0; i < 100; i++)
        call();
    written = count(&file, SL_TRACE_KIND_CALL);
    CHECK(file.writer->head == 228 && written + count(&file, SL_TRACE_KIND_CLOCK) == 128);
    CHECK(written + 100 - (CALLS + 100 - file.writer->dropped) <= clocks);
    file.reader->tail = UINT64_MAX; /* a faulty reader */
    for (int i = 0; i < 10; i++)
        call();
    CHECK(file.writer->head == 228);
}

static void *read_on(void *argument) {
    file_t *file = argument;
    uint64_t *seen = (uint64_t *)(file + 1), tail = 0, last = 0;
    while (!file->writer->closed || tail != file->writer->head) {
        uint64_t head = atomic_load_explicit(&file->writer->head, memory_order_acquire);
        for (; tail != head; tail++)
            if (event(file, tail)->kind == SL_TRACE_KIND_CALL) {
                CHECK(event(file, tail)->begin_ticks == last + 1, "event %lu is not whole", (unsigned long)tail);
                last = event(file, tail)->begin_ticks;
                ++*seen;
            }
        atomic_store_explicit(&file->reader->tail, tail, memory_order_release);
    }
    return NULL;
}

/* With a reader that keeps up nothing is lost, and nothing is read before it is whole. */
static void should_lose_no_event_with_a_reader(void) {
    static const sl_detail_t nothing;
    enum { CALLS = 2000000 };
    switch_on(SL_TRACE_MODE_RING, 0);
    sl_trace_call(0, 1, 1, 0, &nothing);
    struct {
        file_t file;
        uint64_t seen;
    } reader = {own_ring(), 0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_on, &reader) == 0);
    for (uint64_t i = 2; i <= CALLS; i++) {
        while (reader.file.writer->head - reader.file.reader->tail > 100000)
            sched_yield();
        sl_trace_call(0, i, i, 0, &nothing);
    }
    switch_off();
    pthread_join(thread, NULL);
    CHECK(reader.seen == CALLS && reader.file.writer->dropped == 0 && reader.file.writer->closed == SL_TRACE_CLOSED_TRACE);
}

/* The file grows, and its pages are asked for, many times meanwhile. */
static void should_keep_every_event_of_a_long_spool(void) {
    static const sl_detail_t nothing;
    enum { CALLS = 100000 };
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    for (uint64_t i = 1; i <= CALLS; i++)
        sl_trace_call(0, i, i, 0, &nothing);
    file_t file = own_ring();
    uint64_t last = 0;
    for (uint64_t i = 0; i < file.writer->head; i++)
        if (event(&file, i)->kind == SL_TRACE_KIND_CALL) {
            CHECK(event(&file, i)->begin_ticks == last + 1, "event %lu tells of call %lu after %lu", (unsigned long)i,
                  (unsigned long)event(&file, i)->begin_ticks, (unsigned long)last);
            last = event(&file, i)->begin_ticks;
        }
    CHECK(last == CALLS && file.writer->dropped == 0);
    switch_off();
}

static void fill_disk(void) {
    enum { CALLS = 30000 };
    struct rlimit most = {1 << 20, 1 << 20}; /* what posix_fallocate says of a full disk, it says of this too */
    CHECK(setrlimit(RLIMIT_FSIZE, &most) == 0);
    for (int i = 0; i < CALLS; i++)
        call();
    file_t file = own_ring();
    uint64_t written = count(&file, SL_TRACE_KIND_CALL), room = ((1u << 20) - 4096) / 64;
    CHECK(file.bytes == 1 << 20 && file.writer->head == room && file.writer->closed == SL_TRACE_CLOSED_SPACE);
    CHECK(written + file.writer->dropped == CALLS, "%lu written, %lu dropped", (unsigned long)written, (unsigned long)file.writer->dropped);
}

static void should_drop_and_count_when_the_disk_is_full(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    CHECK(in_child(fill_disk) == 0);
}

/* A file system that is really full; only root may have one. */
static void should_survive_a_full_file_system(void) {
    enum { CALLS = 60000 };
    char options[] = "size=1m";
    pid_t pid = fork();
    if (pid == 0) {
        switch_on(SL_TRACE_MODE_SPOOL, 0);
        switch_off();
        if (syscall(SYS_unshare, 0x00020000 /* CLONE_NEWNS */) != 0 || syscall(SYS_mount, "none", folder, "tmpfs", 0, options) != 0)
            _exit(SKIPPED);
        SET(trace, SL_TRACE_MODE_SPOOL);
        sl_trace_decide();
        for (int i = 0; i < CALLS; i++)
            call();
        file_t file = own_ring();
        CHECK(count(&file, SL_TRACE_KIND_CALL) + file.writer->dropped == CALLS && file.writer->closed == SL_TRACE_CLOSED_SPACE);
        launch(FUNCTION, 0);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SKIPPED), "status %x", status);
    if (WEXITSTATUS(status) == SKIPPED)
        printf("  skipped: only root may mount\n");
}

static void fork_body(void) {
    call();
    call();
    file_t file = own_ring();
    CHECK(count(&file, SL_TRACE_KIND_CALL) == 2 && atoi(file.ring->process) == getpid());
    own_file("process");
}

static void should_begin_anew_in_a_forked_child(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    call();
    file_t file = own_ring();
    CHECK(in_child(fork_body) == 0);
    call();
    CHECK(count(&file, SL_TRACE_KIND_CALL) == 2 && !file.writer->closed);
    CHECK(files("process-") == 2 && files("ring-") == 2);
}

static void *call_some(void *argument) {
    for (int i = 0; i < 10; i++)
        call();
    *(pid_t *)argument = self();
    return NULL;
}

static void should_close_the_ring_of_a_thread_that_ends(void) {
    pthread_t thread;
    pid_t tid;
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    call();
    CHECK(pthread_create(&thread, NULL, call_some, &tid) == 0);
    pthread_join(thread, NULL);
    file_t file = open_ring(getpid(), tid, "");
    uint64_t clocks = count(&file, SL_TRACE_KIND_CLOCK), head = file.writer->head;
    CHECK(file.writer->closed == SL_TRACE_CLOSED_THREAD && clocks >= 2 && head == 10 + clocks && file.bytes == 4096 + head * 64);
    file_t first = own_ring();
    CHECK(first.process->rings == 2 && !first.writer->closed);
}

static pthread_barrier_t all_called;

static void *call_and_stay(void *argument) {
    call_some(argument);
    pthread_barrier_wait(&all_called);
    return NULL;
}

static void should_count_events_without_a_ring(void) {
    enum { THREADS = 300 };
    pthread_t threads[THREADS];
    pid_t tid;
    switch_on(SL_TRACE_MODE_RING, 64);
    call();
    pthread_barrier_init(&all_called, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call_and_stay, &tid) == 0);
    pthread_barrier_wait(&all_called);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    file_t first = own_ring();
    CHECK(first.process->strays == (THREADS + 1 - 256) * 10, "%lu strays", (unsigned long)first.process->strays);
    CHECK(first.process->rings == 256 && files("ring-") == 256);
}

static void should_begin_new_rings_for_another_trace(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    call();
    file_t first = own_ring();
    switch_off();
    CHECK(first.writer->closed == SL_TRACE_CLOSED_TRACE && !sl_trace_is_on());
    SET(trace_generation, 1000);
    SET(trace, 2);
    sl_trace_decide();
    launch(FUNCTION, 0);
    file_t second = open_ring(getpid(), self(), "-2");
    CHECK(count(&second, SL_TRACE_KIND_KERNEL) == 1 && first.writer->head == 2 && second.ring->generation == 1000);
    char names[64];
    snprintf(names, sizeof names, "names-%s", second.ring->process);
    CHECK(strchr(second.ring->process, '-') && strstr(text_of(names), "\tgemm\n"), "%s", names);
}

static void should_end_by_itself(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    call();
    SET(trace_until_nanos, sl_os_nanos() + 3600000000000);
    sl_trace_decide();
    file_t file = own_ring();
    call();
    CHECK(sl_trace_is_on() && count(&file, SL_TRACE_KIND_CALL) == 2);
    SET(trace_until_nanos, sl_os_nanos() + 50000000);
    usleep(300000);
    call();
    CHECK(!sl_trace_is_on() && file.writer->closed == SL_TRACE_CLOSED_TRACE);
    sl_trace_decide();
    CHECK(!sl_trace_is_on() && files("ring-") == 1);
}

static void should_tell_waits_turns_and_batches(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    uint64_t begin = sl_trace_start(), nanos = sl_os_nanos();
    usleep(2000);
    sl_trace_wait(SL_TRACE_REASON_CAP, begin, 0);
    sl_trace_turn(begin, begin + 5, 0);
    sl_trace_batch(0, nanos, nanos + 1000000, 3, 900000, 5000);
    file_t file = own_ring();
    const sl_trace_event_t *wait = event(&file, 1), *turn = event(&file, 2), *batch = event(&file, 3);
    CHECK(wait->kind == SL_TRACE_KIND_WAIT && wait->a == SL_TRACE_REASON_CAP && wait->begin_ticks == begin && wait->d == 0);
    CHECK(turn->kind == SL_TRACE_KIND_TURN && turn->end_ticks == begin + 5);
    double off = (double)(int64_t)(batch->begin_ticks - begin), length = (double)(batch->end_ticks - batch->begin_ticks);
    double waited = (double)(wait->end_ticks - wait->begin_ticks);
    CHECK(batch->kind == SL_TRACE_KIND_BATCH && batch->a == 3 && batch->b == 900000 && batch->c == 5000);
    CHECK(off < waited / 10 && off > -waited / 10 && length < waited, "off by %.0f of %.0f ticks", off, waited);
}

static void should_report_a_directory_that_is_not_there(void) {
    switch_on(SL_TRACE_MODE_SPOOL, 0);
    switch_off();
    char nowhere[] = "/nonexistent/trace";
    set(offsetof(sl_region_limits_t, trace_directory), nowhere, sizeof nowhere);
    SET(trace, 2);
    sl_trace_decide();
    call();
    CHECK(!sl_trace_is_on() && strstr(sl_tenant.region.errors[0].text, "cannot trace to /nonexistent/trace"), "%s",
          sl_tenant.region.errors[0].text);
    switch_off();
}

static uint64_t processor_nanos(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Prints the cost and checks nothing, because the machine may be busy. The ring was used before, so no page is touched first. */
static void should_cost_little(void) {
    enum { CALLS = 1000000, EVENTS = 1 << 16 };
    for (int mode = SL_TRACE_MODE_RING; mode <= SL_TRACE_MODE_SPOOL; mode++)
        for (int kernels = 0; kernels < 2; kernels++) {
            switch_on((uint32_t)mode, mode == SL_TRACE_MODE_RING ? EVENTS : 0);
            call();
            file_t file = own_ring();
            uint64_t start = 0;
            for (int i = -EVENTS; i < CALLS; i++) {
                if (i == 0)
                    start = processor_nanos();
                if (mode == SL_TRACE_MODE_RING)
                    file.reader->tail = file.writer->head;
                kernels ? launch(FUNCTION, 0) : call();
            }
            printf("  %s in a %s: %.1f ns\n", kernels ? "launch" : "call", mode == SL_TRACE_MODE_RING ? "ring" : "spool",
                   (double)(processor_nanos() - start) / CALLS);
            CHECK(file.writer->dropped == 0);
        }
    switch_off();
}

static void should_trace_where_the_environment_says(void) {
    snprintf(folder, sizeof folder, "%s/own", test_folder);
    sl_tenant_trace_to(folder);
    sl_trace_decide();
    call();
    file_t file = own_ring();
    struct stat status;
    CHECK(file.ring->mode == SL_TRACE_MODE_SPOOL && file.ring->generation == 0);
    CHECK(sl_os_lstat(folder, &status) && (status.st_mode & 0777) == 0700 && sl_trace_is_wanted());
}

int main(void) {
    use_fake_gpus("traced", "512m");
    real.cuFuncGetName = fake_name;
    RUN(should_report_a_directory_that_is_not_there);
    RUN(should_record_a_call_and_the_clock);
    RUN(should_record_a_question_the_short_way);
    RUN(should_tell_the_time_again_and_again);
    RUN(should_say_how_much_memory_is_used);
    RUN(should_record_the_name_of_a_kernel);
    RUN(should_tell_what_kernels_are_known_to_take);
    RUN(should_tell_that_a_time_is_only_a_bound);
    RUN(should_drop_and_count_events_without_a_reader);
    RUN(should_lose_no_event_with_a_reader);
    RUN(should_keep_every_event_of_a_long_spool);
    RUN(should_drop_and_count_when_the_disk_is_full);
    RUN(should_survive_a_full_file_system);
    RUN(should_begin_anew_in_a_forked_child);
    RUN(should_close_the_ring_of_a_thread_that_ends);
    RUN(should_count_events_without_a_ring);
    RUN(should_begin_new_rings_for_another_trace);
    RUN(should_end_by_itself);
    RUN(should_tell_waits_turns_and_batches);
    RUN(should_cost_little);
    RUN(should_trace_where_the_environment_says);
    return 0;
}
