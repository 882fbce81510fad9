/* What the environment says becomes one record, and nonsense is refused with its name. */
#include "check.h"
#include "options.h"

static sl_options_t options;
static sl_reason_t reason;

static bool read_with(const char *name, const char *value) {
    setenv(name, value, 1);
    bool ok = sl_options_read(&options, &reason);
    unsetenv(name);
    return ok;
}

static void should_want_nothing_without_variables(void) {
    CHECK(sl_options_read(&options, &reason) && !options.wanted);
    CHECK(read_with("SLUICE_LOG", "nonsense") && !options.wanted);
    CHECK(read_with("SLUICE_MEMORY", "") && !options.wanted);
}

static void should_read_limits(void) {
    CHECK(read_with("SLUICE_MEMORY", "4g") && options.memory_bytes[0] == 4ull << 30 && options.memory_bytes[15] == 4ull << 30);
    CHECK(read_with("SLUICE_MEMORY", "0=4g, 1 = 8g") && options.memory_bytes[0] == 4ull << 30);
    CHECK(options.memory_bytes[1] == 8ull << 30 && options.memory_bytes[2] == 0);
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT", "1g") && options.memory_bytes[7] == 1ull << 30);
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT_1", "512m") && options.memory_bytes[1] == 512u << 20 && !options.memory_bytes[0]);
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT", "0") && options.wanted && options.memory_bytes[0] == 0);
    setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
    CHECK(read_with("CUDA_DEVICE_MEMORY_LIMIT_0", "2g") && options.memory_bytes[0] == 2ull << 30);
    CHECK(options.memory_bytes[1] == 1ull << 30);
    CHECK(read_with("SLUICE_MEMORY", "3g") && options.memory_bytes[0] == 3ull << 30, "SLUICE_MEMORY goes before");
    unsetenv("CUDA_DEVICE_MEMORY_LIMIT");
}

static void should_refuse_nonsense(void) {
    static const char *const bad[] = {"abc", "0", "-1", "4gg", "0=4g,", "0=4g,0=5g", "16=1g", "=4g", "0=", "x=4g", "0=4g;1=4g"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!read_with("SLUICE_MEMORY", bad[i]), "SLUICE_MEMORY=%s was accepted", bad[i]);
        CHECK(options.wanted && strstr(reason.text, "SLUICE_MEMORY") && strstr(reason.text, bad[i]), "%s", reason.text);
    }
    CHECK(!read_with("CUDA_DEVICE_MEMORY_LIMIT_3", "2 bytes") && strstr(reason.text, "CUDA_DEVICE_MEMORY_LIMIT_3"));
    CHECK(!read_with("SLUICE_TENANT", "../x") && !read_with("SLUICE_TENANT", ".hidden"));
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(!read_with("SLUICE_ON_ERROR", "explode") && !options.fail_on_error && strstr(reason.text, "explode"));
    CHECK(read_with("SLUICE_ON_ERROR", "fail") && options.fail_on_error);
    CHECK(read_with("SLUICE_ON_ERROR", "run") && !options.fail_on_error);
    unsetenv("SLUICE_MEMORY");
}

int main(void) {
    RUN(should_want_nothing_without_variables);
    RUN(should_read_limits);
    RUN(should_refuse_nonsense);
    return 0;
}
