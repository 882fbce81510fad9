/* A program's NVTX ranges are in the trace, and our waits reach a profiler. This test is both: the program's side of NVTX, and
 * as a library the profiler. */
#include "check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <wchar.h>

#include "fakes/fake_gpus.h"

#include "trace/nvtx.h"
#include "os/os.h"
#include "trace/ring.h"
#include "trace/trace.h"

static sl_nvtx_function_t core[SL_NVTX_CORE_SIZE], core2[SL_NVTX_CORE2_SIZE];
static sl_nvtx_function_t *core_table[SL_NVTX_CORE_SIZE], *core2_table[SL_NVTX_CORE2_SIZE];
static char folder[64];

static int functions_of(int module, sl_nvtx_function_t ***table, unsigned *size) {
    *table = module == SL_NVTX_CORE ? core_table : core2_table;
    *size = SL_NVTX_CORE_SIZE;
    return 1;
}

static const void *export_table(uint32_t id) {
    static const sl_nvtx_callbacks_t callbacks = {sizeof callbacks, functions_of};
    return id == SL_NVTX_CALLBACKS ? &callbacks : NULL;
}

#define CALL(type, table, function) ((type)(void *)(table)[function])
typedef int (*push_t)(const char *);
typedef int (*pop_t)(void);
typedef uint64_t (*start_t)(const wchar_t *);
typedef void (*end_t)(uint64_t);
typedef void (*mark_t)(const char *);
typedef void *(*create_t)(const char *);
typedef void *(*keep_t)(void *, const char *);
typedef int (*domain_push_t)(void *, const sl_nvtx_attributes_t *);
typedef int (*domain_pop_t)(void *);

static int push(const char *text) { return CALL(push_t, core, SL_NVTX_PUSH_A)(text); }
static int pop(void) { return CALL(pop_t, core, SL_NVTX_POP)(); }

static void trace(void) {
    static int number;
    snprintf(folder, sizeof folder, "%s/trace%d", test_folder, number++);
    sl_tenant_trace_to(folder);
    sl_trace_decide();
    CHECK(sl_trace_is_on());
}

static unsigned read_events(sl_trace_event_t *events) {
    char path[128];
    sl_trace_writer_t writer;
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/ring-%d-%d", folder, getpid(), getpid());
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, &writer, sizeof writer, SL_TRACE_WRITER_OFFSET) == sizeof writer);
    for (uint64_t i = 0; i < writer.head; i++) {
        CHECK(pread(fd, &events[count], sizeof *events, (off_t)(SL_TRACE_EVENT_OFFSET + i * sizeof *events)) == sizeof *events);
        count += events[count].kind == SL_TRACE_KIND_RANGE || events[count].kind == SL_TRACE_KIND_MARK;
    }
    close(fd);
    return count;
}

static bool is_named(const sl_trace_event_t *event, const char *name) {
    char path[128], line[128], names[4096];
    snprintf(path, sizeof path, "%s/names-%d", folder, getpid());
    snprintf(line, sizeof line, "%lu\t%s\n", (unsigned long)event->a, name);
    return sl_os_read(path, names, sizeof names) > 0 && strstr(names, line);
}

static void should_write_nested_ranges(void) {
    sl_trace_event_t events[64];
    trace();
    CHECK(push("outer") == 0 && push("inner\nline") == 1 && pop() == 1 && pop() == 0 && pop() < 0);
    CHECK(read_events(events) == 2);
    CHECK(is_named(&events[0], "inner line") && events[0].b == 1 && events[0].d == 0 && is_named(&events[1], "outer") && events[1].b == 0);
    CHECK(events[1].begin_ticks <= events[0].begin_ticks && events[0].end_ticks <= events[1].end_ticks);
}

static void should_write_ranges_that_are_not_nested_and_marks(void) {
    sl_trace_event_t events[64];
    trace();
    start_t start = CALL(start_t, core, SL_NVTX_START_W);
    end_t end = CALL(end_t, core, SL_NVTX_END);
    uint64_t one = start(L"gr\u00f6\u00dfer"), two = start(L"two");
    CHECK(one && two && one != two);
    end(one);
    end(one);
    end(0);
    end(12345678);
    CALL(mark_t, core, SL_NVTX_MARK_A)("here");
    end(two);
    CHECK(read_events(events) == 3);
    CHECK(is_named(&events[0], "größer") && events[0].d == 1 && is_named(&events[1], "here") && is_named(&events[2], "two"));
    CHECK(events[1].kind == SL_TRACE_KIND_MARK && events[1].begin_ticks == events[1].end_ticks);
}

static void should_tell_domains_apart(void) {
    sl_trace_event_t events[64];
    trace();
    void *domain = CALL(create_t, core2, SL_NVTX_CREATE_A)("NCCL"), *text = CALL(keep_t, core2, SL_NVTX_REGISTER_A)(domain, "allreduce");
    sl_nvtx_attributes_t attributes = {.version = 3, .size = sizeof attributes, .message_type = SL_NVTX_REGISTERED, .message = text};
    CHECK(push("step") == 0 && CALL(domain_push_t, core2, SL_NVTX_DOMAIN_PUSH)(domain, &attributes) == 0);
    CHECK(pop() == 0 && CALL(domain_pop_t, core2, SL_NVTX_DOMAIN_POP)(domain) == 0);
    CHECK(read_events(events) == 2 && is_named(&events[0], "step") && events[0].c == 0);
    sl_trace_event_t in_domain = {.a = events[1].c};
    CHECK(is_named(&events[1], "allreduce") && is_named(&in_domain, "NCCL"));
}

static void should_stand_ranges_that_are_too_deep_or_old(void) {
    sl_trace_event_t events[256];
    trace();
    for (int i = 0; i < 100; i++)
        push("deep");
    for (int i = 0; i < 100; i++)
        CHECK(pop() >= 0);
    CHECK(pop() < 0 && read_events(events) == 64);
    push("old");
    trace();
    pop();
    push("new");
    pop();
    CHECK(read_events(events) == 1 && is_named(&events[0], "new"));
}

static void should_tell_a_profiler_of_waits(void) {
    setenv("NVTX_INJECTION64_PATH", PROFILER, 1);
    CHECK(!sl_nvtx_listens);
    sl_nvtx_push("nobody");
    sl_nvtx_look();
    CHECK(sl_nvtx_listens);
    sl_nvtx_push("wait");
    sl_nvtx_pop();
    void *profiler = dlopen(PROFILER, RTLD_NOW | RTLD_NOLOAD);
    const char *told = profiler ? dlsym(profiler, "told") : NULL;
    CHECK(told && strcmp(told, "wait;pop;") == 0, "%s", told);
}

int main(void) {
    use_fake_gpus("nvtx", "512m");
    for (unsigned i = 0; i < SL_NVTX_CORE_SIZE; i++) {
        core_table[i] = &core[i];
        core2_table[i] = &core2[i];
    }
    CHECK(!InitializeInjectionNvtx2(NULL) && InitializeInjectionNvtx2(export_table));
    CHECK(push("before") == 0 && pop() == 0, "without a trace ranges are counted and not told");
    RUN(should_write_nested_ranges);
    RUN(should_write_ranges_that_are_not_nested_and_marks);
    RUN(should_tell_domains_apart);
    RUN(should_stand_ranges_that_are_too_deep_or_old);
    RUN(should_tell_a_profiler_of_waits);
    return 0;
}
