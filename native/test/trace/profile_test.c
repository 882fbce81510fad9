/* The files of Alnair's profiler: what is in them, and that writing them does no harm. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tenant/switches/compat.h"
#include "cuda_entries.h"
#include "driver/entry.h"
#include "os/clock.h"
#include "entry/watch.h"
#include "trace/profile.h"
#include "trace/profile_file.h"
#include "trace/profile_sums.h"
#include "trace/profile_workspace.h"

#define TERA 1000000000000ull

static char folder[64];

static const char *read_file(const char *name) {
    static char text[1 << 17];
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    return text;
}

static void write_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_folder(const char *name) {
    snprintf(folder, sizeof folder, "%s/%s", test_folder, name);
    CHECK(mkdir(folder, 0700) == 0);
}

static void should_write_sums_of_64_bits(void) {
    char text[SL_PROFILE_TEXT_BYTES];
    sl_profile_sum_t sums[SL_PROFILE_NAMES] = {{0, 0}};
    sums[SL_PROFILE_INIT] = (sl_profile_sum_t){1, 1999};
    sums[SL_PROFILE_LAUNCH] = (sl_profile_sum_t){5 * TERA, 7 * TERA * 1000};
    CHECK(sl_profile_text_metrics(text, SL_COMPAT_PROFILE_V1, sums, 3) == strlen(text));
    CHECK(strcmp(text, "name:cuInit\ncount:1\nburst:1\nname:cuMemAlloc\ncount:0\nburst:0\nname:cuMemFree\ncount:0\nburst:0\n"
                 "name:cuLaunchKernel\ncount:5000000000000\nburst:7000000000000\nname:cuMemcpyH2D\ncount:0\nburst:0\n"
                 "name:cuMemcpyD2H\ncount:0\nburst:0\nname:cuGetProcAddress\ncount:0\nburst:0\n") == 0, "%s", text);
    char other[SL_PROFILE_TEXT_BYTES];
    sl_profile_text_metrics(text, SL_COMPAT_PROFILE_V1_5, sums, 9 * TERA);
    sl_profile_text_metrics(other, SL_COMPAT_PROFILE_V2, sums, 9 * TERA);
    CHECK(strcmp(text, other) == 0);
    CHECK(strcmp(text, "name:mem_used,count:9000000000000\nname:cuInit,count:1,burst:1\nname:cuMemAlloc,count:0,burst:0\n"
                 "name:cuMemFree,count:0,burst:0\nname:cuLaunchKernel,count:5000000000000,burst:7000000000000\n"
                 "name:cuMemcpyH2D,count:0,burst:0\nname:cuMemcpyD2H,count:0,burst:0\nname:cuGetProcAddress,count:0,burst:0\n"
                 "name:cuMemcpyH2D_ASYNC,count:0,burst:0\nname:cudaMemcpy,count:0,burst:0\n"
                 "name:cudaMemcpyAsync,count:0,burst:0\n") == 0, "%s", text);
    memset(sums, 0xff, sizeof sums);
    CHECK(sl_profile_text_metrics(text, SL_COMPAT_PROFILE_V2, sums, UINT64_MAX) < sizeof text - 1);
    CHECK(strstr(text, "name:cudaMemcpyAsync,count:18446744073709551615,burst:18446744073709551\n"));
}

static void should_write_the_timeline_of_each_generation(void) {
    char line[SL_PROFILE_LINE_BYTES];
    sl_profile_event_t event = {SL_PROFILE_TO_GPU, 1662500000123456789u, 41999, 4096, -1};
    CHECK(sl_profile_text_event(line, SL_COMPAT_PROFILE_V1, &event) == strlen(line));
    CHECK(strcmp(line, "name:cuMemcpyH2D start:1662500000123456789 burst:41\n") == 0, "%s", line);
    sl_profile_text_event(line, SL_COMPAT_PROFILE_V1_5, &event);
    CHECK(strcmp(line, "name:cuMemcpyH2D, start:1662500000123456789, burst:41, bytes:4096\n") == 0, "%s", line);
    sl_profile_text_event(line, SL_COMPAT_PROFILE_V2, &event);
    CHECK(strcmp(line, "name:cuMemcpyH2D, start:1662500000123456789, burst:41, bytes:4096, kind:-1\n") == 0, "%s", line);
    event = (sl_profile_event_t){SL_PROFILE_COPY_ASYNC, 1, 2000, 3, 1};
    sl_profile_text_event(line, SL_COMPAT_PROFILE_V2, &event);
    CHECK(strcmp(line, "name:cudaMemcpyAsync, start:1, burst:2, bytes:3, kind:1\n") == 0, "%s", line);
    CHECK(sl_profile_text_event(line, SL_COMPAT_PROFILE_V1, &event) == 0);
    event = (sl_profile_event_t){SL_PROFILE_COPY_ASYNC, UINT64_MAX, UINT64_MAX, UINT64_MAX, -1};
    CHECK(sl_profile_text_event(line, SL_COMPAT_PROFILE_V2, &event) < sizeof line - 1);
    for (unsigned name = 0; name <= SL_PROFILE_NAMES; name++) {
        event.name = name;
        bool old = name == SL_PROFILE_INIT || name == SL_PROFILE_TO_GPU || name == SL_PROFILE_FROM_GPU;
        bool never = name == SL_PROFILE_LAUNCH || name == SL_PROFILE_LOOK_UP || name == SL_PROFILE_NAMES;
        CHECK((sl_profile_text_event(line, SL_COMPAT_PROFILE_V1, &event) > 0) == old, "%u", name);
        CHECK((sl_profile_text_event(line, SL_COMPAT_PROFILE_V1_5, &event) > 0) == !never, "%u", name);
        CHECK((sl_profile_text_event(line, SL_COMPAT_PROFILE_V2, &event) > 0) == !never, "%u", name);
    }
}

static void should_know_every_version_of_a_function(void) {
    unsigned counted = 0;
    sl_profile_sums_prepare();
    for (unsigned entry = 0; entry < SL_ENTRY_COUNT; entry++) {
        const char *symbol = sl_entry_cuda.names[entry];
        const sl_profile_rule_t *rule = sl_profile_sums_rule(entry);
        counted += rule->name != SL_PROFILE_NOTHING;
        if (strcmp(symbol, "cuMemcpyHtoD") == 0 || strcmp(symbol, "cuMemcpyHtoD_v2") == 0 ||
            strcmp(symbol, "cuMemcpyHtoD_v2_ptds") == 0)
            CHECK(rule->name == SL_PROFILE_TO_GPU && rule->as_well == SL_PROFILE_COPY && rule->shown == SL_PROFILE_TO_GPU);
        if (strcmp(symbol, "cuMemcpyDtoHAsync_v2_ptsz") == 0)
            CHECK(rule->name == SL_PROFILE_COPY_ASYNC && rule->shown == SL_PROFILE_COPY_ASYNC && rule->kind == 2);
        if (strcmp(symbol, "cuLaunchKernelEx_ptsz") == 0)
            CHECK(rule->name == SL_PROFILE_LAUNCH && rule->shown == SL_PROFILE_NOTHING);
        if (strcmp(symbol, "cuLaunchHostFunc") == 0 || strcmp(symbol, "cuMemAllocHost_v2") == 0 ||
            strcmp(symbol, "cuMemcpy2D_v2") == 0)
            CHECK(rule->name == SL_PROFILE_NOTHING);
    }
    CHECK(counted >= 36, "%u", counted);
    CHECK(sl_profile_sums_rule(SL_ENTRY_COUNT)->name == SL_PROFILE_NOTHING);
}

static void should_replace_a_file_whole(void) {
    make_folder("replace");
    CHECK(sl_profile_file_replace(folder, "metrics.log", "a long text\n", 12));
    CHECK(sl_profile_file_replace(folder, "metrics.log", "short\n", 6) && strcmp(read_file("metrics.log"), "short\n") == 0);
    CHECK(!sl_profile_file_replace("/proc/none", "metrics.log", "short\n", 6));
    CHECK(!sl_profile_file_replace("/proc", "metrics.log", "short\n", 6));
    char path[128];
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK(mkfifo(path, 0600) == 0 && !sl_profile_file_append(folder, "pipe", "x\n", 2, false, true), "it would wait for a reader");
    snprintf(path, sizeof path, "%s/link", folder);
    CHECK(symlink("metrics.log", path) == 0 && !sl_profile_file_append(folder, "link", "x\n", 2, false, true));
    CHECK(strcmp(read_file("metrics.log"), "short\n") == 0);
}

static void should_append_whole_lines(void) {
    make_folder("append");
    write_file("timeline.log", "one\ntwo\nhalf a li");
    int lock = sl_profile_file_lock(folder, 0);
    CHECK(lock >= 0);
    CHECK(sl_profile_file_append(folder, "timeline.log", "three\n", 6, false, true));
    CHECK(strcmp(read_file("timeline.log"), "one\ntwo\nthree\n") == 0, "half a line of one who was killed is cut off");
    CHECK(sl_profile_file_lock(folder, 1000000) == SL_PROFILE_FILE_BUSY);
    sl_profile_file_unlock(lock);
    CHECK((lock = sl_profile_file_lock(folder, 0)) >= 0);
    CHECK(sl_profile_file_lock("/proc/none", 0) == SL_PROFILE_FILE_NO_LOCK);
    sl_profile_file_unlock(lock);
    CHECK(sl_profile_file_append(folder, "timeline.log", "four\n", 5, true, true));
    CHECK(strcmp(read_file("timeline.log"), "four\n") == 0);
}

/* A lock that a forked child inherits ends with its owner. */
static void should_not_leave_the_lock_to_a_child(void) {
    make_folder("lock");
    int lock = sl_profile_file_lock(folder, 0);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    sl_profile_file_unlock(lock);
    CHECK((lock = sl_profile_file_lock(folder, 0)) >= 0);
    sl_profile_file_unlock(lock);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void pass_the_limit_on_files(void) {
    struct rlimit files = {10, 10};
    CHECK(setrlimit(RLIMIT_FSIZE, &files) == 0);
    CHECK(sl_profile_file_append(folder, "timeline.log", "12345678\n", 9, true, true));
    CHECK(!sl_profile_file_append(folder, "timeline.log", "9\n", 2, false, true));
    CHECK(!sl_profile_file_replace(folder, "metrics.log", "12345678901\n", 12));
    CHECK(strcmp(read_file("timeline.log"), "12345678\n") == 0);
}

static void should_keep_below_the_limit_on_files(void) {
    make_folder("limit");
    CHECK(in_child(pass_the_limit_on_files) == 0, "it is a signal that ends the host");
}

static void should_leave_tokens_as_the_cap_does(void) {
    const uint64_t now = 5000000000u;
    CHECK(sl_profile_workspace_left(now + 1, 250, now) == 0 && sl_profile_workspace_left(now, 250, now) == 0);
    CHECK(sl_profile_workspace_left(now - 4000000, 250, now) == 1000000);
    CHECK(sl_profile_workspace_left(0, 250, now) == 15000000);
    char text[SL_PROFILE_TEXT_BYTES];
    sl_profile_workspace_t workspace = {42, 5 * TERA, 3ull << 30, 15000000};
    CHECK(sl_profile_text_workspace(text, &workspace) == strlen(text));
    CHECK(strcmp(text, "pid:42\nkernel-cnt:5000000000000\nmem-used:3221225472\ntoken-cnt:15000000\n") == 0, "%s", text);
}

static void should_find_its_folder(void) {
    static sl_compat_profile_t settings;
    char path[96];
    struct stat status;
    CHECK(!sl_compat_alnair_profiles() && !sl_compat_alnair_profile(&settings));
    snprintf(path, sizeof path, "%s/made", test_folder);
    setenv("PFLOG", path, 1);
    CHECK(sl_compat_alnair_profile(&settings) && strcmp(settings.folder, path) == 0 && settings.format == SL_COMPAT_PROFILE_V1);
    CHECK(stat(path, &status) == 0 && S_ISDIR(status.st_mode), "a folder that was named is made");
    setenv("SLUICE_PROFILE_FORMAT", "v1.5", 1);
    CHECK(sl_compat_alnair_profile(&settings) && settings.format == SL_COMPAT_PROFILE_V1_5);
    setenv("SLUICE_PROFILE_FORMAT", "v3", 1);
    CHECK(sl_compat_alnair_profile(&settings) && settings.format == SL_COMPAT_PROFILE_V1);
    unsetenv("SLUICE_PROFILE_FORMAT");
    setenv("PFLOG", "/proc/none/such", 1);
    CHECK(!sl_compat_alnair_profile(&settings) && sl_compat_alnair_profiles());
    unsetenv("PFLOG");
    CHECK(chdir(test_folder) == 0);
    sl_options_file_name = "/opt/alnair/libpfinterpose.so";
    CHECK(sl_compat_alnair_profiles() && !sl_compat_alnair_profile(&settings), "the default is not made");
    CHECK(mkdir("test", 0700) == 0 && sl_compat_alnair_profile(&settings));
    snprintf(path, sizeof path, "%s/./test", test_folder);
    CHECK(strcmp(settings.folder, path) == 0, "%s", settings.folder);
    sl_options_file_name = "libsluice.so";
}

static void should_find_the_workspace(void) {
    static sl_compat_profile_t settings;
    setenv("ALNAIR_WORKSPACE_PATH", test_folder, 1);
    CHECK(!sl_compat_alnair_profile(&settings), "nobody said which container this is");
    setenv("ALNAIR_ID", "ab1de", 1);
    CHECK(sl_compat_alnair_profile(&settings) && !settings.folder[0] && strcmp(settings.workspace, test_folder) == 0);
    setenv("ALNAIR_WORKSPACE_PATH", "/proc/none", 1);
    CHECK(!sl_compat_alnair_profile(&settings));
    unsetenv("ALNAIR_ID");
    unsetenv("ALNAIR_WORKSPACE_PATH");
}

static unsigned entry_of(const char *symbol) {
    for (unsigned entry = 0; entry < SL_ENTRY_COUNT; entry++)
        if (strcmp(sl_entry_cuda.names[entry], symbol) == 0)
            return entry;
    CHECK(false, "%s", symbol);
    return 0;
}

static void *copy_often(void *count) {
    unsigned entry = entry_of("cuMemcpyHtoD_v2");
    sl_detail_t detail = {.bytes = 4096};
    for (int i = 0; i < *(int *)count; i++) {
        uint64_t begin = sl_clock_ticks();
        sl_profile_call(entry, begin, sl_clock_ticks(), 0, &detail);
    }
    return NULL;
}

static unsigned lines_in(const char *text) {
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void profile_in_threads(void) {
    enum { THREADS = 4, ROUNDS = 2, EACH = 300 };
    pthread_t threads[THREADS];
    int each = EACH / ROUNDS; /* lines of one round fit without being written, so none is lost */
    char expected[80], name[40];
    sl_detail_t memory = {.bytes = 1000, .address = 0x7000};
    setenv("PFLOG", folder, 1);
    setenv("SLUICE_PROFILE_FORMAT", "v1.5", 1);
    sl_profile_start();
    CHECK(sl_watch_is_told());
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, copy_often, &each);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        sl_profile_write();
    }
    sl_profile_call(entry_of("cuMemAlloc_v2"), 1, 2, 0, &memory);
    memory.bytes = 0;
    sl_profile_call(entry_of("cuMemFree_v2"), 1, 2, 0, &memory);
    sl_profile_write();
    const char *text = read_file("timeline.log");
    CHECK(lines_in(text) == THREADS * EACH + 2, "%u", lines_in(text));
    CHECK(strstr(text, "name:cuMemAlloc, start:") && strstr(strstr(text, "name:cuMemFree, start:"), ", bytes:1000\n"),
          "a free gives back what was allocated there");
    snprintf(name, sizeof name, "metrics-%d.log", (int)getpid());
    snprintf(expected, sizeof expected, "name:cuMemcpyH2D,count:%d,burst:", THREADS * EACH);
    CHECK(strstr(read_file(name), expected), "%s", read_file(name));
    snprintf(name, sizeof name, "timeline-%d.log", (int)getpid());
    CHECK(lines_in(read_file(name)) == THREADS * EACH + 2);
}

static void should_profile_calls_of_all_threads(void) {
    make_folder("threads");
    CHECK(in_child(profile_in_threads) == 0);
}

static void profile_beside_another(void) {
    int lines = 3;
    setenv("PFLOG", folder, 1);
    sl_profile_start();
    int lock = sl_profile_file_lock(folder, 0);
    copy_often(&lines);
    CHECK(lines_in(read_file("timeline.log")) == 0, "the first call found that it was time to write");
    sl_profile_file_unlock(lock);
    sl_profile_write();
    CHECK(lines_in(read_file("timeline.log")) == 3);
    lock = sl_profile_file_lock(folder, 0);
    copy_often(&lines);
    sl_profile_write();
    CHECK(lines_in(read_file("timeline.log")) == 6, "a process that ends writes its lines although the lock stays taken");
    sl_profile_file_unlock(lock);
}

static void should_keep_its_lines_while_another_writes(void) {
    make_folder("busy");
    CHECK(in_child(profile_beside_another) == 0);
}

int main(void) {
    use_test_folder();
    sl_options_file_name = "libsluice.so";
    RUN(should_write_sums_of_64_bits);
    RUN(should_write_the_timeline_of_each_generation);
    RUN(should_know_every_version_of_a_function);
    RUN(should_replace_a_file_whole);
    RUN(should_append_whole_lines);
    RUN(should_not_leave_the_lock_to_a_child);
    RUN(should_keep_below_the_limit_on_files);
    RUN(should_leave_tokens_as_the_cap_does);
    RUN(should_find_its_folder);
    RUN(should_find_the_workspace);
    RUN(should_profile_calls_of_all_threads);
    RUN(should_keep_its_lines_while_another_writes);
    return 0;
}
