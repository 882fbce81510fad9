/* What the environment says becomes one record, and nonsense is refused with its name. */
#include "check.h"
#include "tenant/switches/options.h"

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

static void should_trace_without_limits(void) {
    CHECK(read_with("SLUICE_TRACE", "/tmp/trace") && options.wanted && strcmp(options.trace, "/tmp/trace") == 0);
    CHECK(!options.memory_bytes[0] && !sl_shares_any(&options.shares) && !options.region);
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(read_with("SLUICE_TRACE", "/tmp/trace") && options.memory_bytes[0] == 1ull << 30 && options.trace);
    unsetenv("SLUICE_MEMORY");
    CHECK(read_with("SLUICE_TRACE", "") && !options.wanted && !options.trace);
}

static void should_read_limits(void) {
    CHECK(read_with("SLUICE_MEMORY", "4g") && options.memory_bytes[0] == 4ull << 30 && options.memory_bytes[15] == 4ull << 30);
    CHECK(read_with("SLUICE_MEMORY", "0=4g, 1 = 8g") && options.memory_bytes[0] == 4ull << 30);
    CHECK(options.memory_bytes[1] == 8ull << 30 && options.memory_bytes[2] == 0);
}

static void should_read_shares_of_gpu_time(void) {
    const sl_shares_t *shares = &options.shares;
    CHECK(read_with("SLUICE_COMPUTE", "12.5%") && options.wanted && !options.memory_bytes[0] && !shares->turns);
    CHECK(shares->compute_permille[0] == 125 && shares->compute_permille[15] == 125);
    CHECK(read_with("SLUICE_COMPUTE", "0=25%,1=100%") && shares->compute_permille[0] == 250);
    CHECK(!shares->compute_permille[1] && !shares->compute_permille[2]);
    CHECK(read_with("SLUICE_WEIGHT", "3") && options.wanted && shares->turns && shares->weight == 3);
    CHECK(read_with("SLUICE_PRIORITY", "low") && shares->turns && shares->priority == -1 && !shares->weight);
    CHECK(read_with("SLUICE_PRIORITY", "normal") && shares->turns && shares->priority == 0);
    CHECK(read_with("SLUICE_EXCLUSIVE", "yes") && shares->turns && shares->exclusive);
    CHECK(read_with("SLUICE_EXCLUSIVE", "no") && !shares->turns && !shares->exclusive);
    CHECK(read_with("SLUICE_TURN", "500us") && shares->turns && shares->turn_micros == 500);
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(read_with("SLUICE_COMPUTE", "25%") && options.memory_bytes[0] == 1ull << 30 && shares->compute_permille[0] == 250);
    unsetenv("SLUICE_MEMORY");
    setenv("SLUICE_COMPUTE", "10%", 1);
    CHECK(read_with("SLUICE_STRICT", "1") && shares->strict && shares->compute_permille[0] == 100 && !shares->turns);
    CHECK(read_with("SLUICE_STRICT", "no") && !shares->strict && shares->compute_permille[0] == 100);
    unsetenv("SLUICE_COMPUTE");
    CHECK(!read_with("SLUICE_STRICT", "true") && options.wanted && strstr(reason.text, "SLUICE_STRICT=true: ") && strstr(reason.text, "SLUICE_COMPUTE=10%"));
    CHECK(read_with("SLUICE_STRICT", "0") && !shares->strict);
    static const struct { const char *name, *value; } bad[] = {
        {"SLUICE_COMPUTE", "0"}, {"SLUICE_COMPUTE", "25"}, {"SLUICE_COMPUTE", "0.25"}, {"SLUICE_COMPUTE", "0=25%,1=50"},
        {"SLUICE_COMPUTE", "0=25%,0=5%"}, {"SLUICE_WEIGHT", "1.5"}, {"SLUICE_PRIORITY", "urgent"}, {"SLUICE_EXCLUSIVE", "maybe"}, {"SLUICE_STRICT", "maybe"}, {"SLUICE_TURN", "5"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!read_with(bad[i].name, bad[i].value) && options.wanted && strstr(reason.text, bad[i].name) &&
              strstr(reason.text, bad[i].value), "%s: %s", bad[i].name, reason.text);
    CHECK(sl_options_read(&options, &reason) && !options.wanted && !shares->turns);
}

static void should_read_what_an_allocation_over_the_quota_does(void) {
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(read_with("SLUICE_ON_OOM", "fail") && !options.wait_on_oom);
    CHECK(read_with("SLUICE_ON_OOM", "wait") && options.wait_on_oom && options.oom_wait_millis == 60000);
    CHECK(read_with("SLUICE_ON_OOM", "wait:30s") && options.wait_on_oom && options.oom_wait_millis == 30000);
    CHECK(read_with("SLUICE_ON_OOM", "wait:250ms") && options.oom_wait_millis == 250);
    CHECK(read_with("SLUICE_ON_OOM", "wait:2m") && options.oom_wait_millis == 120000);
    CHECK(read_with("SLUICE_SLICES", "auto") && sl_options_slices == SL_OPTIONS_SLICES_AUTO);
    CHECK(read_with("SLUICE_SLICES", "on") && sl_options_slices == SL_OPTIONS_SLICES_ON);
    CHECK(read_with("SLUICE_SLICES", "0") && sl_options_slices == SL_OPTIONS_SLICES_OFF);
    CHECK(read_with("SLUICE_SLICES", "perhaps") && sl_options_slices == SL_OPTIONS_SLICES_DEFAULT);
    CHECK(read_with("SLUICE_MAPPED", "1") && options.mapped && read_with("SLUICE_MAPPED", "0") && !options.mapped);
    CHECK(!read_with("SLUICE_MAPPED", "maybe") && strstr(reason.text, "SLUICE_MAPPED=maybe"));
    static const char *const bad[] = {"Wait", "wait:", "wait:30", "wait:0s", "wait:-1s", "wait:2h", "wait:61m",
                                      "wait:99999999999999999999s", "fail:3s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!read_with("SLUICE_ON_OOM", bad[i]) && strstr(reason.text, bad[i]), "SLUICE_ON_OOM=%s", bad[i]);
    unsetenv("SLUICE_MEMORY");
    CHECK(sl_options_read(&options, &reason) && !options.wait_on_oom);
}

static void should_read_the_log_level(void) {
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(read_with("SLUICE_LOG", "error") && sl_report_level == SL_ERROR);
    CHECK(read_with("SLUICE_LOG", "debug") && sl_report_level == SL_DEBUG && sl_report_shows(SL_INFO));
    CHECK(read_with("SLUICE_LOG", "warn") && sl_report_level == SL_WARN && !sl_report_shows(SL_INFO));
    unsetenv("SLUICE_MEMORY");
}

static void should_refuse_nonsense(void) {
    static const char *const bad[] = {"abc", "0", "4", "4294967296", "0=4", "0=4g,1=4", "-1", "4gg", "0=4g,", "0=4g,0=5g", "16=1g", "=4g", "0=", "x=4g", "0=4g;1=4g"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!read_with("SLUICE_MEMORY", bad[i]), "SLUICE_MEMORY=%s was accepted", bad[i]);
        CHECK(options.wanted && strstr(reason.text, "SLUICE_MEMORY") && strstr(reason.text, bad[i]), "%s", reason.text);
    }
    CHECK(!read_with("SLUICE_MEMORY", "4") && strstr(reason.text, "needs a unit") && strstr(reason.text, "4GB"), "%s", reason.text);
    CHECK(!read_with("SLUICE_TENANT", "../x") && !read_with("SLUICE_TENANT", ".hidden"));
    setenv("SLUICE_MEMORY", "1g", 1);
    CHECK(!read_with("SLUICE_ON_ERROR", "explode") && !options.fail_on_error && strstr(reason.text, "explode"));
    CHECK(read_with("SLUICE_ON_ERROR", "fail") && options.fail_on_error);
    CHECK(read_with("SLUICE_ON_ERROR", "run") && !options.fail_on_error);
    unsetenv("SLUICE_MEMORY");
}

int main(void) {
    RUN(should_want_nothing_without_variables);
    RUN(should_trace_without_limits);
    RUN(should_read_limits);
    RUN(should_read_shares_of_gpu_time);
    RUN(should_read_what_an_allocation_over_the_quota_does);
    RUN(should_read_the_log_level);
    RUN(should_refuse_nonsense);
    return 0;
}
