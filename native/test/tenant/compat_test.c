/* The switches of older tools become the same record of limits, and keep their meaning. */
#include "check.h"

#include <fcntl.h>

#include "tenant/switches/compat.h"
#include "tenant/switches/options.h"

#define GIB (1ull << 30)

static sl_options_t options;
static sl_reason_t reason;
static char override_path[64], log_path[64];

static bool read_now(void) {
    return sl_options_read(&options, &reason);
}

static bool read_with(const char *name, const char *value) {
    setenv(name, value, 1);
    bool ok = read_now();
    unsetenv(name);
    return ok;
}

static void load_as(const char *file_name) {
    sl_options_file_name = file_name;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *read_file(const char *path) {
    static char text[4096];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    return text;
}

/* What a piece of work writes on standard error. */
static const char *errors_of(void (*work)(void)) {
    char path[64];
    snprintf(path, sizeof path, "%s/stderr", test_folder);
    int saved = dup(STDERR_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDERR_FILENO);
    close(fd);
    work();
    dup2(saved, STDERR_FILENO);
    close(saved);
    return read_file(path);
}

static void should_want_nothing_of_tools_that_are_not_there(void) {
    CHECK(read_now() && !options.wanted && !options.source);
    CHECK(read_with("LIBCUDA_LOG_LEVEL", "4") && !options.wanted && sl_report_level == SL_WARN);
    CHECK(read_with("ALNAIR_WORKSPACE_PATH", test_folder) && !options.wanted);
}

static void should_read_hami_limits(void) {
    static const struct { const char *text; uint64_t bytes; } sizes[] = {
        {"2Gi", 2 * GIB}, {"4GB", 4 * GIB}, {"1.5g", 3 * GIB / 2}, {"3000m", 3000ull << 20}, {"1073741824", GIB},
        {"0", 0}, {"0m", 0}, {"0x40000000", GIB}, {"0x2g", 2 * GIB}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT", sizes[i].text) && options.wanted &&
              options.memory_bytes[0] == sizes[i].bytes && options.memory_bytes[15] == sizes[i].bytes, "%s", sizes[i].text);
    static const char *const bad[] = {"abc", "2 bytes", "-1", "0x", "0xg", "0y", "4gg", "0xfffffffffffg"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!read_with("CUDA_DEVICE_MEMORY_LIMIT_3", bad[i]) && options.wanted &&
              strstr(reason.text, "CUDA_DEVICE_MEMORY_LIMIT_3") && strstr(reason.text, bad[i]), "%s", bad[i]);
    setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT_0", "2g") && options.memory_bytes[0] == 2 * GIB);
    CHECK(options.memory_bytes[1] == GIB);
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT_1", "0") && options.memory_bytes[0] == GIB && !options.memory_bytes[1]);
    CHECK(read_with("SLUICE_TENANT", "mine") && options.memory_bytes[0] == GIB && strcmp(options.tenant, "mine") == 0);
    unsetenv("CUDA_DEVICE_MEMORY_LIMIT");
}

static void should_read_hami_shares(void) {
    static const struct { const char *text; uint32_t permille; } caps[] = {
        {"30", 300}, {"1", 10}, {"99", 990}, {"30%", 300}, {"12.5", 125}, {"0", 0}, {"100", 0}, {"250", 0}, {"100000000000", 0}};
    const uint32_t *permille = options.shares.compute_permille;
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
        CHECK(read_with("CUDA_DEVICE_SM_LIMIT", caps[i].text) && options.wanted && permille[0] == caps[i].permille &&
              permille[15] == caps[i].permille && !options.shares.turns && !options.memory_bytes[0], "%s", caps[i].text);
    CHECK(!read_with("CUDA_DEVICE_SM_LIMIT_2", "-5") && strstr(reason.text, "CUDA_DEVICE_SM_LIMIT_2=-5"));
    CHECK(!read_with("CUDA_DEVICE_SM_LIMIT", "half") && options.wanted);
    setenv("CUDA_DEVICE_SM_LIMIT", "30", 1);
    CHECK(read_with("CUDA_DEVICE_SM_LIMIT_1", "50") && permille[0] == 300 && permille[1] == 500 && permille[2] == 300);
    CHECK(read_with("CUDA_DEVICE_SM_LIMIT_1", "0") && permille[0] == 300 && permille[1] == 0);
    CHECK(read_now() && options.shares.cap_when_shared, "HAMi's default");
    CHECK(read_with("GPU_CORE_UTILIZATION_POLICY", "default") && permille[0] == 300 && options.shares.cap_when_shared);
    CHECK(read_with("GPU_CORE_UTILIZATION_POLICY", "FORCE") && permille[0] == 300 && !options.shares.cap_when_shared);
    CHECK(read_with("GPU_CORE_UTILIZATION_POLICY", "disable") && options.wanted && permille[0] == 0 && !options.shares.cap_when_shared);
    CHECK(read_with("SLUICE_COMPUTE", "10%") && permille[0] == 100 && !options.shares.cap_when_shared, "Sluice's own goes before");
    setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
    CHECK(read_with("SLUICE_WEIGHT", "2") && permille[0] == 0 && options.shares.weight == 2);
    CHECK(options.memory_bytes[0] == GIB, "the older tool still limits memory");
    setenv("SLUICE_WEIGHT", "2", 1);
    CHECK(read_with("CUDA_DISABLE_CONTROL", "true") && options.wanted && options.shares.weight == 2 && !options.memory_bytes[0]);
    unsetenv("SLUICE_WEIGHT");
    unsetenv("CUDA_DEVICE_MEMORY_LIMIT");
    unsetenv("CUDA_DEVICE_SM_LIMIT");
    CHECK(read_with("GPU_CORE_UTILIZATION_POLICY", "force") && !options.wanted, "it limits nothing by itself");
}

static void should_read_hami_priorities(void) {
    CHECK(read_with("CUDA_TASK_PRIORITY", "0") && options.wanted && options.shares.turns && options.shares.priority == 1);
    CHECK(read_with("CUDA_TASK_PRIORITY", "1") && options.wanted && options.shares.turns && options.shares.priority == 0);
    CHECK(!read_with("CUDA_TASK_PRIORITY", "high") && options.wanted && strstr(reason.text, "CUDA_TASK_PRIORITY=high"));
}

static void should_take_the_shared_cache_as_the_tenant(void) {
    char first[64];
    CHECK(read_with("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/usr/local/vgpu/3f2a b.cache") && options.wanted);
    strcpy(first, options.tenant);
    CHECK(strncmp(first, "hami-", 5) == 0 && strstr(first, "-3f2a_b.cache"), "%s", first);
    CHECK(read_with("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/usr/local/vgpu/3f2a b.cache"));
    CHECK(strcmp(options.tenant, first) == 0);
    CHECK(read_with("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/usr/local/other/3f2a b.cache"));
    CHECK(strcmp(options.tenant, first) != 0);
    CHECK(access("/usr/local/vgpu/3f2a b.cache", F_OK) != 0);
    setenv("SLUICE_TENANT", "mine", 1);
    CHECK(read_with("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/x.cache") && strcmp(options.tenant, "mine") == 0);
    unsetenv("SLUICE_TENANT");
}

static void should_read_hami_log_levels(void) {
    static const int levels[] = {SL_ERROR, SL_WARN, SL_WARN, SL_INFO, SL_DEBUG};
    setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
    for (int i = 0; i < 5; i++) {
        char text[2] = {(char)('0' + i), 0};
        CHECK(read_with("LIBCUDA_LOG_LEVEL", text) && sl_report_level == levels[i]);
    }
    setenv("SLUICE_LOG", "warn", 1);
    CHECK(read_with("LIBCUDA_LOG_LEVEL", "4") && sl_report_level == SL_WARN, "SLUICE_LOG goes before");
    unsetenv("SLUICE_LOG");
    unsetenv("CUDA_DEVICE_MEMORY_LIMIT");
}

static void should_pass_everything_with_control_disabled(void) {
    setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
    setenv("WRAPPER_MAX_MEMORY", "1g", 1);
    CHECK(read_with("CUDA_DISABLE_CONTROL", "true") && !options.wanted);
    CHECK(read_with("CUDA_DISABLE_CONTROL", "false") && options.wanted);
    setenv("SLUICE_MEMORY", "2g", 1);
    CHECK(read_with("CUDA_DISABLE_CONTROL", "true") && options.wanted && options.memory_bytes[0] == 2 * GIB);
    unsetenv("SLUICE_MEMORY");
    unsetenv("WRAPPER_MAX_MEMORY");
    unsetenv("CUDA_DEVICE_MEMORY_LIMIT");
}

static void should_let_the_override_file_go_before_the_environment(void) {
    write_file(override_path, "CUDA_DEVICE_MEMORY_LIMIT=1g\r\n  CUDA_DEVICE_MEMORY_LIMIT_1=2Gi\nSLUICE_MEMORY=5g\n"
                              "nonsense\nCUDA_DEVICE_MEMORY_LIMIT=3g");
    CHECK(read_now() && options.wanted && options.memory_bytes[0] == 3 * GIB && options.memory_bytes[1] == 2 * GIB);
    CHECK(!getenv("CUDA_DEVICE_MEMORY_LIMIT") && !getenv("CUDA_DEVICE_MEMORY_LIMIT_1"), "the environment is the host's");
    CHECK(strstr(options.tenant, "cudevshr.cache"), "who sees the file shares a quota");
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT_1", "4g") && options.memory_bytes[1] == 2 * GIB);
    CHECK(read_with("SLUICE_MEMORY", "4g") && options.memory_bytes[0] == 4 * GIB);
    write_file(override_path, "CUDA_DEVICE_MEMORY_LIMIT=\n");
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT", "1g") && !options.wanted);
    unlink(override_path);
}

static void should_read_wrapper_quotas(void) {
    CHECK(read_with("WRAPPER_MAX_MEMORY", "1000000001") && options.wanted && options.memory_bytes[3] == 1000000001);
    CHECK(read_with("WRAPPER_MAX_MEMORY", "4g") && options.memory_bytes[0] == 4 * GIB);
    CHECK(!read_with("WRAPPER_MAX_MEMORY", "lots") && options.wanted && strstr(reason.text, "WRAPPER_MAX_MEMORY=lots"));
    CHECK(!read_with("WRAPPER_MAX_MEMORY", "0"));
    load_as("/opt/libcuda2.so");
    CHECK(read_now() && options.wanted && options.memory_bytes[0] == 4217928960u);
    load_as("libcuda3.so");
    CHECK(read_now() && options.memory_bytes[0] == 4217928960u - 500000000u);
    CHECK(read_with("WRAPPER_MAX_MEMORY", "600000000") && options.memory_bytes[0] == 100000000);
    CHECK(read_with("WRAPPER_MAX_MEMORY", "500000000") && options.memory_bytes[0] == 1, "it must not become no limit");
    load_as("libcuda.so.1");
    CHECK(read_now() && !options.wanted);
    load_as("");
}

static void refuse(void) {
    sl_compat_wrapper_note(SL_COMPAT_REFUSED, 300, 200, 400);
}

static void should_print_the_lines_of_cuda_wrapper(void) {
    unlink(log_path);
    CHECK(read_with("WRAPPER_MAX_MEMORY", "400"));
    CHECK(strcmp(errors_of(refuse), "alloc 300 failed, total_mem 200, quota 400\n") == 0);
    CHECK(access(log_path, F_OK) != 0, "the log belongs to the file name");
    load_as("libcuda3.so");
    CHECK(read_with("WRAPPER_MAX_MEMORY", "500000400"));
    CHECK(strcmp(errors_of(refuse), "alloc 300 failed, total_mem 200, quota 500000400\n") == 0);
    unlink(log_path);
    load_as("libcuda2.so");
    CHECK(read_with("WRAPPER_MAX_MEMORY", "400"));
    errors_of(refuse);
    const char *text = read_file(log_path);
    int year, day, used, bytes, quota, start_quota, pid;
    CHECK(sscanf(text, "Init!\nTime: %d-%*d-%d %*d:%*d:%*d  total_quota: %d pid: %d\ncuMemAlloc_v2\nTime: %*s %*s  "
                 "total_mem: %d bytesize: %d total_quota: %d", &year, &day, &start_quota, &pid, &used, &bytes, &quota) == 7, "%s",
          text);
    CHECK(year > 2020 && day >= 1 && day <= 31 && start_quota == 400 && used == 200 && bytes == 300 && quota == 400 &&
          pid == (int)getpid(), "%s", text);
    load_as("");
    CHECK(read_now() && strcmp(errors_of(refuse), "") == 0);
}

static void should_read_alnair_workspaces(void) {
    char path[96];
    snprintf(path, sizeof path, "%s/limits", test_folder);
    write_file(path, "vmem:2147483648");
    setenv("ALNAIR_WORKSPACE_PATH", test_folder, 1);
    CHECK(read_with("ALNAIR_ID", "ab1de") && options.wanted && options.memory_bytes[0] == 2 * GIB);
    CHECK(strcmp(options.tenant, "ab1de") == 0 && options.memory_bytes[15] == 2 * GIB);
    load_as("libcuinterpose.so");
    CHECK(read_now() && !options.wanted, "ALNAIR_ID is required");
    CHECK(read_with("ALNAIR_VGPU_COMPUTE_PERCENTILE", "30") && !options.wanted, "ALNAIR_ID is required");
    load_as("");
    CHECK(!read_with("ALNAIR_ID", "../up") && strstr(reason.text, "ALNAIR_ID"));
    write_file(path, "vmem:lots\n");
    CHECK(!read_with("ALNAIR_ID", "ab1de") && options.wanted && strstr(reason.text, "vmem:lots"));
    write_file(path, "other:1\n");
    CHECK(!read_with("ALNAIR_ID", "ab1de") && strstr(reason.text, "vmem:"));
    unlink(path);
    CHECK(read_with("ALNAIR_ID", "ab1de") && options.wanted && options.memory_bytes[0] == 0, "no file, no limit");
    setenv("SLUICE_ON_ERROR", "fail", 1);
    CHECK(!read_with("ALNAIR_ID", "ab1de") && strstr(reason.text, path));
    unsetenv("SLUICE_ON_ERROR");
    unsetenv("ALNAIR_WORKSPACE_PATH");
}

static void should_read_alnair_shares(void) {
    static const struct { const char *text; uint32_t permille; } caps[] = {
        {"30", 300}, {"1", 10}, {"99", 990}, {"100", 0}, {"101", 0}, {"0", 0}, {"-1", 0}};
    setenv("ALNAIR_ID", "ab1de", 1);
    setenv("ALNAIR_WORKSPACE_PATH", test_folder, 1);
    setenv("SLUICE_LOG", "error", 1);
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
        CHECK(read_with("ALNAIR_VGPU_COMPUTE_PERCENTILE", caps[i].text) && options.wanted && !options.memory_bytes[0] &&
              options.shares.compute_permille[0] == caps[i].permille, "%s", caps[i].text);
    CHECK(!read_with("ALNAIR_VGPU_COMPUTE_PERCENTILE", "30%") && strstr(reason.text, "ALNAIR_VGPU_COMPUTE_PERCENTILE=30%"));
    unsetenv("SLUICE_LOG");
    unsetenv("ALNAIR_WORKSPACE_PATH");
    unsetenv("ALNAIR_ID");
}

static void should_read_locker_windows(void) {
    CHECK(read_now() && !options.windows);
    load_as("/opt/cuda_override.so");
    CHECK(read_now() && options.wanted && options.windows && options.each_process && options.shares.exclusive);
    CHECK(options.windows->mode == SL_WINDOWS_COUNT && options.windows->operations == 10 && options.windows->skips == 0);
    load_as("");
    static const struct { const char *text; uint64_t operations; } counts[] = {
        {"3", 3}, {"0", 0}, {"abc", 10}, {"00", 10}, {"", 10}, {"7up", 7}, {"-1", 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        CHECK(read_with("CUDA_OVERRIDE_KERNEL_N_SYNC", counts[i].text) && options.windows->mode == SL_WINDOWS_COUNT &&
              options.windows->operations == counts[i].operations, "%s", counts[i].text);
    static const struct { const char *text; uint64_t nanos; } times[] = {
        {"2", 2000000}, {"0.001", 1000}, {"1e-3", 1000}, {"0.0125 ms", 12500}, {"0", 0}, {"-1", 0}, {"nan", 0}, {"x", 0}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        CHECK(read_with("CUDA_OVERRIDE_MAX_SYNC_MS", times[i].text) && options.windows->window_nanos == times[i].nanos &&
              options.windows->mode == (times[i].nanos ? SL_WINDOWS_TIME : SL_WINDOWS_COUNT), "%s", times[i].text);
    setenv("CUDA_OVERRIDE_MAX_SYNC_MS", "2", 1);
    CHECK(read_with("CUDA_OVERRIDE_ALWAYS_LOCK", "") && options.windows->mode == SL_WINDOWS_ALWAYS);
    CHECK(read_with("CUDA_OVERRIDE_ALWAYS_LOCK", "false") && options.windows->mode == SL_WINDOWS_ALWAYS);
    CHECK(read_with("CUDA_OVERRIDE_ALWAYS_LOCK", "0") && options.windows->mode == SL_WINDOWS_TIME);
    CHECK(read_with("CUDA_OVERRIDE_SYNC_LOCK_SKIPS", "1") && options.windows->skips == 1);
    CHECK(read_with("SLUICE_MEMORY", "1g") && options.windows && options.memory_bytes[0] == GIB);
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT", "1g") && options.windows && options.memory_bytes[0] == GIB);
    CHECK(read_with("CUDA_DEVICE_SM_LIMIT", "30") && !options.windows, "the first that speaks of GPU time says all of it");
    CHECK(read_with("SLUICE_COMPUTE", "30%") && !options.windows && !options.shares.exclusive);
    CHECK(read_with("CUDA_DISABLE_CONTROL", "true") && !options.wanted && !options.windows);
    unsetenv("CUDA_OVERRIDE_MAX_SYNC_MS");
}

static void should_know_the_tools_by_names_with_versions(void) {
    static const char *const wrappers[] = {"/opt/libcuda2.so.10.1", "libcuda2.so.1", "./libcuda2.so.10.1-rc1", "libcuda2.so.v1.0.0-alpha.4"};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        load_as(wrappers[i]);
        CHECK(read_now() && options.wanted && options.memory_bytes[0] == 4217928960u, "%s", wrappers[i]);
    }
    load_as("libcuda3.so.10.0");
    CHECK(read_now() && options.memory_bytes[0] == 4217928960u - 500000000u);
    load_as("/usr/local/vgpu/libvgpu.so.v2.9.0");
    CHECK(read_now() && options.source && strcmp(options.source, "HAMi's switches") == 0);
    load_as("cuda_override.so.1");
    CHECK(read_now() && options.windows);
    load_as("libpfinterpose.so.2");
    CHECK(sl_compat_alnair_profiles());
    static const char *const others[] = {"libcuda.so.1", "libcuda2.so.", "libcuda2.so.old", "libcuda2.so.10.1/x", "libcuda2.so.v", "libcuda2.so10",
                                         "libcuda2.so.1 (deleted)", "xlibcuda2.so", "libcuda20.so.1", "libsluice.so.2"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        load_as(others[i]);
        CHECK(read_now() && !options.wanted, "%s", others[i]);
    }
    load_as("");
}

static void read_quietly(void) {
    CHECK(read_now());
}

static void should_let_the_first_tool_win_and_say_so(void) {
    char path[96];
    snprintf(path, sizeof path, "%s/limits", test_folder);
    write_file(path, "vmem:1073741824");
    setenv("SLUICE_LOG", "info", 1);
    setenv("ALNAIR_WORKSPACE_PATH", test_folder, 1);
    setenv("ALNAIR_ID", "ab1de", 1);
    CHECK(strstr(errors_of(read_quietly), "limits: Alnair's switches; tenant ab1de") && options.memory_bytes[0] == GIB);
    setenv("WRAPPER_MAX_MEMORY", "2g", 1);
    CHECK(strstr(errors_of(read_quietly), "limits: cuda-wrapper's switches") && options.memory_bytes[0] == 2 * GIB);
    setenv("CUDA_DEVICE_MEMORY_LIMIT", "3g", 1);
    CHECK(strstr(errors_of(read_quietly), "limits: HAMi's switches") && options.memory_bytes[0] == 3 * GIB);
    setenv("SLUICE_WEIGHT", "2", 1);
    CHECK(strstr(errors_of(read_quietly), "limits: HAMi's switches and SLUICE_WEIGHT") && options.memory_bytes[0] == 3 * GIB);
    unsetenv("SLUICE_WEIGHT");
    setenv("SLUICE_MEMORY", "4g", 1);
    CHECK(strstr(errors_of(read_quietly), "limits: SLUICE_MEMORY") && options.memory_bytes[0] == 4 * GIB);
    CHECK(!options.tenant[0]);
}

int main(void) {
    use_test_folder();
    snprintf(override_path, sizeof override_path, "%s/overrideEnv", test_folder);
    snprintf(log_path, sizeof log_path, "%s/wrapper-log", test_folder);
    sl_compat_hami_override = override_path;
    sl_compat_wrapper_log = log_path;
    RUN(should_want_nothing_of_tools_that_are_not_there);
    RUN(should_read_hami_limits);
    RUN(should_read_hami_shares);
    RUN(should_read_hami_priorities);
    RUN(should_take_the_shared_cache_as_the_tenant);
    RUN(should_read_hami_log_levels);
    RUN(should_pass_everything_with_control_disabled);
    RUN(should_let_the_override_file_go_before_the_environment);
    RUN(should_read_wrapper_quotas);
    RUN(should_print_the_lines_of_cuda_wrapper);
    RUN(should_read_alnair_workspaces);
    RUN(should_read_alnair_shares);
    RUN(should_read_locker_windows);
    RUN(should_know_the_tools_by_names_with_versions);
    RUN(should_let_the_first_tool_win_and_say_so);
    return 0;
}
